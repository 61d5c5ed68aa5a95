"""What a folder says of the shard that it holds, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from sketchmark.errors import RunConflict
from sketchmark.files.atomic import write_json
from sketchmark.request import Shard
from sketchmark.runs.format import RunAbout
from sketchmark.runs.store import RunFolder

_MERGE = "`sketchmark merge` puts shards together"


def refuse_another_shard(folder: RunFolder, about: RunAbout, shard: Shard | None) -> None:
    """A folder that holds two shards, or a shard and some, could no longer say what is missing."""
    now = str(shard) if shard else ""
    if about.shard != now:
        holds = f"shard {about.shard}" if about.shard else "a run without --shard"
        asked = f"shard {now}" if now else "the whole run"
        same = f"give --shard {about.shard}" if about.shard else "leave --shard out"
        raise RunConflict(
            f"{folder.path} holds {holds}, and {asked} is asked for",
            f"{same}, use another --output_path, or --fresh to start over; {_MERGE}",
        )


def note_totals(folder: RunFolder, totals: Mapping[str, int]) -> None:
    """How many samples there are is known once all were gone through; it is what a merge measures gaps by."""
    about = folder.about()
    if any(about.totals.get(cell) != total for cell, total in totals.items()):
        write_json(folder.run_file, replace(about, totals={**about.totals, **totals}))


def part_in_words(about: RunAbout, played: Mapping[str, int]) -> str:
    """That a run is a shard, and how much of each cell it holds; empty for a whole run. `played`: cell → episodes."""
    if not about.shard:
        return ""
    counts: dict[str, list[str]] = {}
    for cell, count in played.items():
        of = f" of {about.totals[cell]}" if cell in about.totals else ""
        counts.setdefault(f"{count}{of} samples", []).append(cell)
    told = "; ".join(
        count if len(counts) == 1 else f"{count} of {', '.join(cells)}" for count, cells in counts.items()
    )
    return f"shard {about.shard} only, a part of the run: {told or 'no samples'}; {_MERGE}"
