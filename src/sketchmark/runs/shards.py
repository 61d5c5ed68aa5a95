"""A part of a run: every n-th sample of each cell, for machines that share nothing but a disk, or not even that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from sketchmark.errors import BadInput, RunConflict
from sketchmark.files.atomic import write_json
from sketchmark.runs.format import RunAbout
from sketchmark.runs.store import RunFolder

_SPELLING = re.compile(r"(\d{1,9})/(\d{1,9})")
_MERGE = "`sketchmark merge` puts shards together"


@dataclass(frozen=True)
class Shard:
    """`index` of `of`, counted from 0. By its number and not by a random draw, so that every machine knows its part
    without asking, and easy and hard samples of a sorted set are spread over all."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        found = _SPELLING.fullmatch(text.strip())
        if not found:
            raise BadInput(f"--shard {text[:40]!r} is no shard", "write 0/3, 1/3 and 2/3 for the parts of three")
        index, of = int(found[1]), int(found[2])
        if index >= of:
            last = f"0/{of} to {of - 1}/{of}" if of > 1 else "0/1"
            raise BadInput(
                f"there is no shard {index}/{of}", f"shards are counted from 0: {last}" if of else "the whole is 0/1"
            )
        return cls(index, of)

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def suffix(self) -> str:
        """Of a folder's name: shards on one disk must not meet."""
        return f"-shard-{self.index}-of-{self.of}"

    def plays(self, number: int) -> bool:
        return number % self.of == self.index

    def size(self, total: int | None) -> int | None:
        """How many of so many samples are its own."""
        return None if total is None else len(range(self.index, total, self.of))


WHOLE = Shard(0, 1)


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
