"""OpenAI's form of a list: newest first, paged by `limit` and `after`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sketchmark.serve.wire_errors import WireError


def page(items: Iterable[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
    rows = list(items)[::-1]
    after = query.get("after")
    if after:
        ids = [row["id"] for row in rows]
        if after not in ids:
            raise WireError(f"after: there is no {after}", param="after")
        rows = rows[ids.index(after) + 1 :]
    limit = query.get("limit", "100")
    if not limit.isdecimal() or not 1 <= int(limit) <= 10_000:
        raise WireError("limit must be a whole number from 1 to 10000", param="limit")
    shown = rows[: int(limit)]
    return {
        "object": "list",
        "data": shown,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
        "has_more": len(shown) < len(rows),
    }
