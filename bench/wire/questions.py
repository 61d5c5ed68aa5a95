"""What the clients without a harness are told to ask: `URL FOLDER COUNT AT_ONCE` on their command lines."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


async def ask_all(ask: Callable[[Path, Row], Awaitable[bool]]) -> None:
    """All of them, so many at once; every answer must be right."""
    folder, count, places = Path(sys.argv[2]), int(sys.argv[3]), asyncio.Semaphore(int(sys.argv[4]))

    async def one(row: Row) -> bool:
        async with places:
            return await ask(folder, row)

    with (folder / "questions.jsonl").open() as rows:
        asked = [json.loads(line) for _, line in zip(range(count), rows, strict=False)]
    right = await asyncio.gather(*map(one, asked))
    assert all(right) and len(right) == count
