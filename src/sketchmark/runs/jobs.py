"""Jobs of a run, in order: all cells in one row, so that no worker waits for a cell to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sketchmark.episode import Failure
from sketchmark.episode.sample import Draft
from sketchmark.errors import RunConflict
from sketchmark.files.jsonl import Tail, line_at
from sketchmark.folder import EPISODES, OPENINGS, RunFolder
from sketchmark.folder.format import EpisodeLine, episode_key
from sketchmark.folder.records import Seen, media_names, unpack_episode
from sketchmark.runs.episodes import FIRST, Wanted
from sketchmark.runs.plan import Cell


@dataclass(eq=False)
class CellProgress:
    """Progress of a cell. The thread that makes jobs and the run write different numbers."""

    cell: Cell
    before: int = 0
    """Repeats of samples that were finished when the run got to this cell."""
    given: int = 0
    """Jobs that were made."""
    drawn_out: bool = False
    """No further job will come."""
    ended: int = 0
    finished: int = 0
    """Ended jobs that need no rerun."""
    samples: int | None = None
    """Number of samples in the cell, of all shards: known once all were seen."""
    _failed: dict[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def most(self) -> int | None:
        """Number of the cell's samples that a run may reach."""
        return self.cell.limit or self.cell.task.declared.default_limit

    @property
    def total(self) -> int | None:
        """Number of jobs of the cell."""
        size = self.cell.shard.size(self.most)
        return None if size is None else size * self.cell.repeats

    @property
    def is_over(self) -> bool:
        return self.drawn_out and self.ended == self.given


@dataclass(frozen=True, eq=False)
class Job:
    """A sample to run: its number in its cell, the sample that lends it drawings, and which repeat and answers."""

    at: CellProgress
    index: int
    draft: Draft
    donor: Draft | None = None
    wanted: Wanted = FIRST
    packed: bytes = b""
    """As it is sent to a worker."""

    @property
    def length(self) -> float | None:
        """Relative length within its cell. None: as long as the others, or unknown before the sample is made."""
        known = self.draft.is_made and self.draft.sample.steps is not None and self.at.cell.weight > 1
        return self.at.cell.length(self.draft.sample) if known else None


def remaining_jobs(
    folder: RunFolder, rows: Sequence[CellProgress], retry_failed: bool, stop: Callable[[], bool]
) -> Iterator[Job | None]:
    """Yield all jobs of a run, and None for each sample that needs none; heavier cells first.

    Samples that failed before come last, behind all cells: a run that stops at them has then run the rest.
    """
    rows = sorted(rows, key=lambda at: -at.cell.weight)
    for at in rows:
        before = played_before(folder, at, retry_failed)
        at._failed, at.before = before.again, len(before.done)
        yield from _jobs(folder, at, before, stop)
        at.drawn_out = not at._failed
    for at in rows:
        if at._failed:
            yield from _failed_jobs(folder, at, stop)
            at.drawn_out = True


@dataclass
class PlayedBefore:
    """Episodes of a cell in the folder, within the limit. A key is of a sample and a repeat (`episode_key`)."""

    samples: Seen = field(default_factory=Seen)
    """Ids of samples with an episode."""
    finished: Seen = field(default_factory=Seen)
    """Those with an episode that need not be rerun."""
    prints: Seen = field(default_factory=Seen)
    """Their ids with their fingerprints."""
    done: Seen = field(default_factory=Seen)
    """Keys with all answers."""
    again: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Keys to rerun → the answers that are missing, all if the first is: they failed, were not asked for before, or
    some of their images are missing."""
    numbers: Seen = field(default_factory=Seen)
    """Numbers of the samples in the data."""
    last: int = -1
    """The largest of them."""


def _counted(folder: RunFolder, at: CellProgress) -> Iterator[EpisodeLine]:
    """Yield the lines within the limit. Further repeats and answers than were asked for stay as they are."""
    for line in folder.episodes(at.cell.name):
        within = at.most is None or line.index < at.most
        if within and line.repeat < at.cell.repeats and line.branch < at.cell.answers:
            yield line


def played_before(folder: RunFolder, at: CellProgress, retry_failed: bool) -> PlayedBefore:
    before = PlayedBefore()
    answers, answered = at.cell.answers, dict[str, set[int]]()
    for line in _counted(folder, at):
        before.numbers.add(line.index)
        before.last = max(before.last, line.index)
        sample, key = line.sample.id, episode_key(line.sample.id, line.repeat)
        whole = all(map(folder.pictures.holds, media_names(line)))
        finished = whole and not to_be_played_again(line.failure, retry_failed)
        before.samples.add(sample)
        if finished:
            before.finished.add(sample)
            before.prints.add((sample, line.sample.fingerprint))
        if finished and not line.branch and (answers == 1 or line.failure):  # a failed drawing has no answers
            before.done.add(key)
        elif answers > 1:
            answered.setdefault(key, set()).update({line.branch} if finished else ())
        else:
            before.again[key] = (0,)
    for key, found in answered.items():
        missing = tuple(branch for branch in range(answers) if branch not in found)
        if not missing:
            before.done.add(key)
        elif key not in before.done:
            before.again[key] = missing if 0 in found else tuple(range(answers))
    return before


def to_be_played_again(failure: Failure | None, retry_failed: bool) -> bool:
    """Rerun failures of the network or the provider, which say nothing about the model. A model failure is a result:
    it is rerun only with `retry_failed`."""
    return failure is not None and (retry_failed or not failure.blames_model)


def _jobs(
    folder: RunFolder, at: CellProgress, before: PlayedBefore, stop: Callable[[], bool]
) -> Iterator[Job | None]:
    """Yield the samples of a cell that never ran."""
    compared = looked = False
    known, met = before.samples, Seen()
    every = tuple(range(at.cell.answers))
    index = -1
    for index, (draft, donor) in enumerate(at.cell.pairs()):
        if stop():
            return
        if not at.cell.shard.plays(index):
            yield None
            continue
        if draft.id in known:
            met.add(draft.id)
        elif len(met) < len(known) and not looked and (index > before.last or index in before.numbers):
            _refuse_lost(folder, at, met)
            looked = True
        # A sample that is made by its id and the cell's settings need not be made to know that it is the same;
        # the first one is, to notice a generator that has changed.
        if draft.id in before.finished and (draft.is_made or not compared):
            compared = True
            if (draft.id, draft.sample.fingerprint()) not in before.prints:
                raise _changed(f"sample {draft.id} of {at.cell.name} is not the one that was run before")
        for repeat in range(at.cell.repeats):
            key = episode_key(draft.id, repeat)
            there = key in before.done or key in at._failed
            yield None if there else _given(at, index, draft, donor, Wanted(repeat, every))
    if len(met) < len(known) and not looked:
        _refuse_lost(folder, at, met)
    at.samples = index + 1


def _refuse_lost(folder: RunFolder, at: CellProgress, met: Seen) -> None:
    """Refuse data that lost samples. Another sample has their number: either samples before them are new, or they
    are gone and would count forever. To find out, all ids are read once more before a new episode. This is not
    reached while the data only grow at their end."""
    cell, index = at.cell, -1
    unmet = {line.sample.id for line in _counted(folder, at) if line.sample.id not in met}
    for index, draft in enumerate(cell.drafts()):
        if cell.shard.plays(index):
            unmet.discard(draft.id)
        if not unmet:
            return
    first, rest = min(unmet), len(unmet) - 1
    where = "there" if index + 1 != at.most else f"among the first {at.most}"
    where = f"in shard {cell.shard}" if cell.settings.shard else where
    more = f" (nor are {rest} more)" if rest else ""
    raise _changed(f"sample {first} of {cell.name} was run before and is not {where} any more{more}")


def _changed(what: str) -> RunConflict:
    return RunConflict(f"{what}: the data changed", "use another --output_path, or --fresh to start over")


def _failed_jobs(folder: RunFolder, at: CellProgress, stop: Callable[[], bool]) -> Iterator[Job | None]:
    """Yield the episodes of a cell to rerun, and those of which some answers are missing."""
    path = folder.episodes_file(at.cell.name)
    continued = {key for key, branches in at._failed.items() if branches[0]}
    begins = _begins(path, continued) if continued else {}
    for index, (draft, donor) in enumerate(at.cell.pairs()):
        if stop():
            return
        for repeat in range(at.cell.repeats):
            key = episode_key(draft.id, repeat)
            if key not in at._failed:
                yield None
                continue
            first = EPISODES.one(line_at(path, begins[key]), str(path)) if key in begins else None
            begun = unpack_episode(first, folder.pictures) if first else None
            yield _given(at, index, draft, donor, Wanted(repeat, at._failed[key], begun))


def _begins(path: Path, keys: set[str]) -> dict[str, int]:
    """Return where the newest lines of these episodes begin."""
    found = ((OPENINGS.one(line, str(path)).key, begin) for begin, line in Tail(path))
    return {key: begin for key, begin in found if key in keys}


def _given(at: CellProgress, index: int, draft: Draft, donor: Draft | None, wanted: Wanted) -> Job:
    at.given += 1
    return Job(at, index, draft, donor, wanted)
