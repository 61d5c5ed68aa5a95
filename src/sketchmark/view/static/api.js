// Addresses of pages and data. Every view is an address; what it shows comes from one request to /api.

export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** What the address says now: a second filter set before the first has answered must not undo it. */
export const asked = () => Object.fromEntries(new URLSearchParams(location.search));

export async function get(path, parameters) {
  const answer = await fetch(address(`/api/${path}`, parameters));
  if (answer.headers.get("content-type")?.includes("json")) {
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error ?? answer.statusText);
    return data;
  }
  throw new Error(await answer.text());
}

export const picture = (run, name) => address("/picture", { run, name });
export const sound = (run, name) => address("/sound", { run, name });
export const thumbnail = (run, name, side) => address("/thumbnail", { run, name, side });
