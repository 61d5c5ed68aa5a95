"""The official `openai` SDK and nothing else, for the same requests as the bare client.

python -m bench.wire.sdk URL FOLDER COUNT AT_ONCE
"""

from __future__ import annotations

import asyncio
import base64
import sys
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from bench.wire.questions import Row, ask_all


async def main() -> None:
    client = AsyncOpenAI(api_key="none", base_url=sys.argv[1], max_retries=0)

    async def ask(folder: Path, row: Row) -> bool:
        picture = base64.b64encode((folder / row["picture"]).read_bytes()).decode()
        content: Any = [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}},
            {"type": "text", "text": row["prompt"]},
        ]
        reply = await client.chat.completions.create(
            model="bench", messages=[{"role": "user", "content": content}], temperature=0.0, max_tokens=16
        )
        return bool(reply.choices[0].message.content == row["answer"])

    await ask_all(ask)


if __name__ == "__main__":
    asyncio.run(main())
