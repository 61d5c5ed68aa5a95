"""Were the two sides asked the same things? If not, what differs, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sketchmark.runs.scored import ScoredCell, ScoredSample
from sketchmark.runs.store import differences

_MUST_AGREE = ("protocol", "prompts", "settings", "in_words")
"""Parts of `play` without which two runs of a mode are not the same test. Temperatures and token limits may differ
on purpose: they are mentioned, not refused."""


def how_asked(before: ScoredCell, after: ScoredCell) -> list[str]:
    """Differences that make two cells of the same mode incomparable."""
    return differences(_asked(before), _asked(after))


def how_generated(before: ScoredCell, after: ScoredCell) -> list[str]:
    """Differences worth a remark."""
    settings = ("saying", "drawing")
    return differences(_part(before, settings), _part(after, settings)) + differences(
        {"on_draw_failure": before.about.get("on_draw_failure")},
        {"on_draw_failure": after.about.get("on_draw_failure")},
    )


def how_sourced(
    before: ScoredCell,
    after: ScoredCell,
    items_before: Mapping[str, ScoredSample],
    items_after: Mapping[str, ScoredSample],
) -> list[str]:
    """Two runs without one sample in common, and where that comes from; a smaller --limit is no such difference."""
    if not items_before or not items_after or items_before.keys() & items_after.keys():
        return []
    source = differences(before.about.get("source"), after.about.get("source"), "source")
    return ["data: no sample in common", *source]


def how_filed(before: Mapping[str, ScoredSample], after: Mapping[str, ScoredSample]) -> list[str]:
    """Samples of the same name that are not the same sample."""
    changed = [name for name, item in before.items() if name in after and after[name].fingerprint != item.fingerprint]
    if not changed:
        return []
    shown = ", ".join(changed[:3]) + (", …" if len(changed) > 3 else "")
    return [f"data: {len(changed)} of the shared samples differ in what is asked or true ({shown})"]


def _asked(cell: ScoredCell) -> dict[str, Any]:
    return {**_part(cell, _MUST_AGREE), "steps": cell.about.get("steps"), "scoring": cell.scoring}


def _part(cell: ScoredCell, keys: tuple[str, ...]) -> dict[str, Any]:
    play = cell.about.get("play", {})
    return {key: play.get(key) for key in keys}
