"""The official `openai` SDK and nothing else, for the same requests as the bare client.

python -m bench.wire.sdk URL FOLDER COUNT AT_ONCE
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI


async def main() -> None:
    url, folder, count, at_once = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    places = asyncio.Semaphore(at_once)
    client = AsyncOpenAI(api_key="none", base_url=url, max_retries=0)

    async def ask(row: dict[str, Any]) -> bool:
        async with places:
            picture = base64.b64encode((folder / row["picture"]).read_bytes()).decode()
            content: Any = [
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
                {"type": "text", "text": row["prompt"]},
            ]
            reply = await client.chat.completions.create(
                model="bench", messages=[{"role": "user", "content": content}], temperature=0.0, max_tokens=16
            )
            return bool(reply.choices[0].message.content == row["answer"])

    with (folder / "questions.jsonl").open() as rows:
        asked = [json.loads(line) for _, line in zip(range(count), rows, strict=False)]
    right = await asyncio.gather(*map(ask, asked))
    assert all(right) and len(right) == count


if __name__ == "__main__":
    asyncio.run(main())
