// Addresses of pages and data. Every view is an address; what it shows comes from one request to /api, or, in an
// exported viewer, from the files next to index.html.

/** Set in an exported viewer, whose pages all are index.html. */
export const exported = document.querySelector('meta[name="sketchmark-export"]') !== null;

function withQuery(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** The address of a page: "" is the leaderboard, the others are named. */
export function address(page, parameters = {}) {
  if (exported) return withQuery("index.html", { view: page, ...parameters });
  return withQuery(`/${page}`, parameters);
}

/** The page that an address names; undefined for an address of something else. */
export function pageOf(url) {
  if (url.origin !== location.origin) return undefined;
  if (!exported) return url.pathname.slice(1);
  const folder = (path) => path.replace(/[^/]*$/, "");
  const here = /(\/|\/index\.html)$/.test(url.pathname) && folder(url.pathname) === folder(location.pathname);
  return here ? (new URLSearchParams(url.search).get("view") ?? "") : undefined;
}

/** What the address says now: a second filter set before the first has answered must not undo it. */
export function asked() {
  const { view: _, ...parameters } = Object.fromEntries(new URLSearchParams(location.search));
  return exported ? parameters : Object.fromEntries(new URLSearchParams(location.search));
}

export async function get(path, parameters = {}) {
  if (exported) return (await import("./site.js")).answer(path, parameters);
  const answer = await fetch(withQuery(`/api/${path}`, parameters));
  if (answer.headers.get("content-type")?.includes("json")) {
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error ?? answer.statusText);
    return data;
  }
  throw new Error(await answer.text());
}

let folders = {};
/** Folder of each run in an exported viewer, since names of runs may hold anything, and its images with a small copy. */
export const nameFolders = (known) => (folders = known);
export const runFolder = (run) => folders[run]?.folder ?? "";
const file = (folder, run, name) => `${folder}/${runFolder(run)}/${encodeURIComponent(name)}`;
const hasSmall = (run, name) => folders[run]?.large.includes(name);

export const picture = (run, name) => (exported ? file("media", run, name) : withQuery("/picture", { run, name }));
export const sound = (run, name) => (exported ? file("media", run, name) : withQuery("/sound", { run, name }));
export const thumbnail = (run, name, side) =>
  exported ? file(hasSmall(run, name) ? "small" : "media", run, name) : withQuery("/thumbnail", { run, name, side });
export const report = (run) => (exported ? file("report", run, "report.html") : withQuery("/report", { run }));
export const overlay = (parameters) => (exported ? null : withQuery("/overlay", parameters));
