"""Right answers counted into the small tables that published programs print."""

from __future__ import annotations

Table = dict[str, float]


def share(right: int, total: int) -> float:
    return right / total if total else 0.0


def table(right: int, total: int) -> Table:
    return {"total": total, "right": right, "acc": share(right, total)}
