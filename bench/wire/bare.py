"""The bare client that all others are held against: nothing but the requests.

    python -m bench.wire.bare URL FOLDER COUNT AT_ONCE [spliced | storing]

For each sample it reads the picture's file, encodes it in base64, makes the body with `json.dumps`, posts it with
aiohttp and reads the reply's JSON. Nothing is kept but the letters. `spliced` puts the base64 between the ready-made
halves of the body instead: what a client could save if somebody took the trouble. `storing` does that, and keeps what
no evaluation can be checked without: the image as a file named by its SHA-256, the reply as a file, and a line per
sample.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp

from bench.wire.questions import Row, ask_all


def body(picture: bytes, prompt: str) -> bytes:
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    return json.dumps(request(url, prompt)).encode()


def spliced(picture: bytes, prompt: str) -> bytes:
    before, _, after = json.dumps(request("HERE", prompt)).encode().partition(b"HERE")
    return b"".join((before, b"data:image/png;base64,", base64.b64encode(picture), after))


def request(url: str, prompt: str) -> dict[str, Any]:
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": prompt}]
    return {
        "model": "bench",
        "messages": [{"role": "user", "content": content}],
        "temperature": 0.0,
        "max_tokens": 16,
    }


def store(number: int, picture: bytes, prompt: str, reply: dict[str, Any], lines: int) -> None:
    """Keep a sample in the working folder."""
    name = hashlib.sha256(picture).hexdigest() + ".png"
    for path, data in ((f"images/{name}", picture), (f"replies/{number}.json", json.dumps(reply).encode())):
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.write(file, data)
        os.close(file)
    line = {"sample": number, "image": name, "prompt": prompt, "reply": reply}
    os.write(lines, json.dumps(line).encode() + b"\n")


async def main() -> None:
    kind = sys.argv[5] if len(sys.argv) > 5 else ""
    make = spliced if kind else body
    lines = -1
    if kind == "storing":
        for folder in ("images", "replies"):
            Path(folder).mkdir()
        lines = os.open("lines.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(folder: Path, row: Row) -> bool:
            picture = (folder / row["picture"]).read_bytes()
            data = make(picture, row["prompt"])
            async with session.post(f"{sys.argv[1]}/chat/completions", data=data) as response:
                reply = json.loads(await response.read())
            if kind == "storing":
                store(row["id"], picture, row["prompt"], reply, lines)
            return bool(reply["choices"][0]["message"]["content"] == row["answer"])

        await ask_all(ask)


if __name__ == "__main__":
    asyncio.run(main())
