"""The bare client that all others are held against: nothing but the requests.

    python -m bench.wire.bare URL FOLDER COUNT AT_ONCE [spliced]

For each sample it reads the picture's file, encodes it in base64, makes the body with `json.dumps`, posts it with
aiohttp and reads the reply's JSON. Nothing is kept but the letters. `spliced` puts the base64 between the ready-made
halves of the body instead: what a client could save if somebody took the trouble.
"""

from __future__ import annotations

import asyncio
import base64
import json
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


async def main() -> None:
    make = spliced if "spliced" in sys.argv[5:] else body
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(folder: Path, row: Row) -> bool:
            data = make((folder / row["picture"]).read_bytes(), row["prompt"])
            async with session.post(f"{sys.argv[1]}/chat/completions", data=data) as response:
                reply = json.loads(await response.read())
            return bool(reply["choices"][0]["message"]["content"] == row["answer"])

        await ask_all(ask)


if __name__ == "__main__":
    asyncio.run(main())
