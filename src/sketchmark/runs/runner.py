"""Runner: prepare the folder, run the missing episodes, write and score them, write the results.

A folder holds one model's episodes, all with the same settings. A run ends early at its cost limit, or if further
episodes would fail the same way.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import TypeVar

import msgspec

from sketchmark import __version__
from sketchmark.engines import longest_first, play_all
from sketchmark.episode import Episode, Failure, Grading
from sketchmark.episode.model import Model, Usage
from sketchmark.errors import BadInput, CallFailed, RunConflict, RunStopped, SketchmarkError
from sketchmark.files import write_json
from sketchmark.files.jsonl import LineWriter, plain
from sketchmark.folder import EPISODES, SCORES, RunFolder, differences, in_short, unscored
from sketchmark.folder.format import FORMAT, CellRecord, ModelAbout, RunRecord, ScoreRow
from sketchmark.folder.lock import RunLock, note_ending, note_totals, refuse_another_shard
from sketchmark.folder.records import pack_episode
from sketchmark.media import Picture
from sketchmark.models import pair_arguments
from sketchmark.models.wrappers import Metered
from sketchmark.progress import Calls, Watcher, told_of_calls
from sketchmark.results import counted, grade, sealed, to_score
from sketchmark.results.aggregate import aggregate, write_submissions
from sketchmark.results.repeats import told_of_copies
from sketchmark.results.rescore import fill_scores
from sketchmark.runs.checks import played_otherwise, refuse_by_listing, retiring
from sketchmark.runs.engine import Players, Workplace, open_players
from sketchmark.runs.episodes import unwritable
from sketchmark.runs.jobs import CellProgress, Job, remaining_jobs, to_be_played_again
from sketchmark.runs.plan import Cell, drawer_arguments, model_arguments
from sketchmark.secrets import to_write_down
from sketchmark.settings import Settings

Price = Callable[[Mapping[str, int]], float]
"""Usage → its cost, in the currency of the price table."""


_ESTIMATED = (
    "a provider reports no usage for some calls, or none that is credible: their cost is estimated "
    "(4 characters are a token, a picture is 765, and a reply that was lost has as many as it may)"
)


@dataclass
class Budget:
    """Cost limit of one invocation. Finished episodes stay, and the next invocation, which may cost as much again,
    resumes the run."""

    limit: float | None = None
    price: Price | None = None
    spent: float = 0.0
    calls: int = 0
    """Calls to the model that this invocation paid for."""
    judge_price: Price | None = None
    judge_spent: float = 0.0
    """The judge's part of the cost."""
    estimated: int = 0
    """Calls whose usage was unknown, so that their cost is an estimate."""
    extractor_price: Price | None = None
    extractor_spent: float = 0.0
    """The extractor's part of the cost."""

    def charge(self, usage: Usage) -> bool:
        """Add the cost of a call or an attempt. Returns whether another may be paid for."""
        self.calls += usage.calls
        self._add(usage, self.price)
        return not self.used_up

    def charge_judge(self, usage: Usage) -> bool:
        self.judge_spent += self._add(usage, self.judge_price)
        return not self.used_up

    def charge_extractor(self, usage: Usage) -> bool:
        self.extractor_spent += self._add(usage, self.extractor_price)
        return not self.used_up

    def _add(self, usage: Usage, price: Price | None) -> float:
        cost = price(vars(usage)) if price else 0.0
        self.spent += cost
        if usage.uncounted and cost:
            if not self.estimated:
                logging.getLogger("sketchmark").warning(_ESTIMATED)
            self.estimated += usage.uncounted
        return cost

    @property
    def used_up(self) -> bool:
        return self.limit is not None and self.spent >= self.limit


Order = Callable[[Iterator[Job | None]], Iterator[Job | None]]


@dataclass(frozen=True)
class Resources:
    """All that a run uses and that is not plain data, as its settings are."""

    judge: Model | None = None
    extractor: Model | None = None
    budget: Budget = field(default_factory=Budget)
    workplace: Workplace = field(default_factory=Workplace)
    warnings: tuple[str, ...] = ()
    """Findings of the checks before the first call, for the summary."""
    order: Order | None = None
    """Chooses and orders the jobs, where that matters: a person takes them one by one. None: longest first."""


def stopped_by_cost(folder: RunFolder, cells: Sequence[Cell], settings: Settings, budget: Budget) -> bool:
    """Check that the limit is reached while episodes or verdicts are missing. A run that reaches it with its last
    episode is finished."""
    if not budget.used_up:
        return False
    jobs = remaining_jobs(folder, [CellProgress(cell) for cell in cells], settings.retry_failed, lambda: False)
    return any(job is not None for job in jobs) or _lacks_verdicts(folder, cells)


def _lacks_verdicts(folder: RunFolder, cells: Sequence[Cell]) -> bool:
    """Look for verdicts and quotes that were not given, because the limit was reached."""
    tasks = folder.results().tasks
    found = [tasks[cell.name] for cell in cells if cell.name in tasks]
    kinds = {"judge_failed", "extractor_failed"}
    return any(kinds & one.failures.keys() for cell in found for one in (cell, *cell.scorings.values()))


T = TypeVar("T")

_HELD = ("episodes", "scores", "pictures")
_NEW = "use another --output_path"
_ELSEWHERE = "use another --output_path, or --fresh to start over"


def prepare(settings: Settings, cells: list[Cell], model: Model, path: Path, retires: dict[str, str]) -> RunFolder:
    folder = RunFolder(path)
    if settings.fresh and folder.run_file.exists():  # only in a run folder: ~/pictures is not ours
        for name in _HELD:
            shutil.rmtree(path / name, ignore_errors=True)
        for name in ("run.json", "results.json", "report.html"):
            (path / name).unlink(missing_ok=True)
    descriptions = {cell.name: cell.describe(model) for cell in cells}
    before = RunRecord(FORMAT)
    if folder.run_file.exists():
        before = folder.about()
        refuse_another_shard(folder, before, settings.part)
    elif not any(path.glob("episodes/*.jsonl")):  # a run that lost its run.json has these
        for name in _HELD:
            if (path / name).exists():
                raise RunConflict(f"{path} is not a run folder, and holds {name}: --fresh would remove it", _NEW)
    known = _of_this_model(folder, before.cells, descriptions)
    for name, description in descriptions.items():
        changed = differences(plain(known[name]), plain(description)) if name in known else []
        if changed and not _answered(folder, name):  # a corrected address: there are no replies to mix
            _forget(folder, name)
        elif changed:
            raise RunConflict(f"{path} holds {name} with other settings; changed: {in_short(changed)}", _ELSEWHERE)
    kept = known.keys() - descriptions.keys()
    limits = {cell.name: cell.limit for cell in cells if cell.limit is not None}
    now = RunRecord(
        format=FORMAT,
        sketchmark=__version__,
        model=ModelAbout(
            settings.model_and_drawer,
            pair_arguments(to_write_down(settings.model_args), to_write_down(settings.drawer_args)),
            retires or before.model.retires,
        ),
        seed=settings.seed,
        started=before.started or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine={"python": platform.python_version(), "system": platform.system()},
        cells={**known, **descriptions},
        limits=_of(kept, before.limits) | limits,
        totals=_of(kept, before.totals),
        shard=str(settings.part or ""),
        asked=_of(kept, before.asked) | {cell.name: _written(cell) for cell in cells},
    )
    try:
        msgspec.convert(plain(now), RunRecord)
    except msgspec.ValidationError as error:  # a run whose folder cannot be read back is lost
        raise BadInput(f"this run could not be written down: {error}") from error
    write_json(folder.run_file, now)
    return folder


def _written(cell: Cell) -> Settings:
    """Return what run.json holds of a cell's settings, without secrets."""
    settings = cell.settings
    return msgspec.structs.replace(
        settings.only("J"),
        repeats=cell.repeats if cell.repeats > 1 else settings.repeats,
        model_args=to_write_down(model_arguments(settings)),
        drawer_args=to_write_down(drawer_arguments(settings)),
        judge_args=to_write_down(settings.judge_args),
    )


def _of(cells: Collection[str], noted: Mapping[str, T]) -> dict[str, T]:
    return {name: what for name, what in noted.items() if name in cells}


def _of_this_model(
    folder: RunFolder, known: Mapping[str, CellRecord], asked: Mapping[str, CellRecord]
) -> dict[str, CellRecord]:
    """Refuse another model's cells in the folder: a gain between two models would look like a gain of drawing. A name
    that was corrected before the first reply is dropped with its failures."""
    names = {cell.model.get("name") for cell in asked.values()}
    others = [name for name, cell in known.items() if name not in asked and cell.model.get("name") not in names]
    for name in others:
        if _answered(folder, name):
            whose = known[name].model.get("name")
            raise RunConflict(f"{folder.path} holds {name} of another model, {whose}", _ELSEWHERE)
    for name in others:
        _forget(folder, name)
    return {name: cell for name, cell in known.items() if name not in others}


def _forget(folder: RunFolder, cell: str) -> None:
    folder.episodes_file(cell).unlink(missing_ok=True)
    folder.scores_file(cell).unlink(missing_ok=True)


def _answered(folder: RunFolder, cell: str) -> bool:
    """Check for a reply to any call of the cell."""
    return any(turn.reply for line in folder.episodes(cell) for turn in line.turns)


ALIKE_IN_A_ROW = 20
"""So many episodes in a row with the same failure, none of them a model failure, end the run; with more episodes at
once, as many as those. The rest would only cost time and money: the server is down, memory is too small, a plug-in
has a bug."""

REFUSED_FROM_THE_FIRST = 3
"""So many refused requests (`bad_request`) without one accepted end the run: the next would be refused, too. With
more episodes at once, as many as those, since a refusal arrives sooner than a reply."""

PATIENCE = 60.0
"""Seconds for running episodes to end once a run stops. Unfinished ones are run by the next invocation."""


class Stopping:
    """Decision to stop early, from how episodes end."""

    def __init__(self, concurrency: int) -> None:
        self.why = ""
        self.without_judge = False
        self._most = max(ALIKE_IN_A_ROW, concurrency)
        self._most_refused = max(REFUSED_FROM_THE_FIRST, concurrency)
        self._answered = False
        self._kind = ""
        self._alike = 0
        self._last = Failure("", "")

    def ended(self, episode: Episode, *, worked_before: bool = False) -> None:
        """Count an ended episode. `worked_before`: an earlier invocation got replies in the same cell."""
        failure = episode.failure
        self._answered = self._answered or worked_before
        if failure is None or failure.blames_model:  # the endpoint responds
            self._kind, self._alike, self._answered = "", 0, True
            return
        self._alike = self._alike + 1 if failure.kind == self._kind else 1
        self._kind = failure.kind
        if self.why:
            return
        if episode.stops_run:
            self.why = _told(failure)
        elif self._alike >= (self._most_refused if self._only_refused else self._most):
            self.why = f"{self._alike} episodes in a row failed alike, the last: {_told(failure)}"
        self._last = failure

    def over(self) -> None:
        """Decide after the last episode: there may have been fewer than run at once."""
        if not self.why and self._only_refused and self._alike >= REFUSED_FROM_THE_FIRST:
            self.why = f"all {self._alike} episodes failed alike, the last: {_told(self._last)}"

    @property
    def _only_refused(self) -> bool:
        return self._kind == "bad_request" and not self._answered

    def judge_refused(self, error: CallFailed) -> None:
        self.without_judge = True
        self.why = self.why or f"the judge or extractor: {error}"

    def told(self, cell: str, finished: int, total: int | None) -> str:
        """Say in one line what happened and what to do."""
        of = f" of {total}" if total is not None else ""
        kept = "finished episodes are kept; fix this and run the same command to resume"
        return f"{cell}: stopped after {finished}{of}: {self.why}; {kept}"


def _told(failure: Failure) -> str:
    message = " ".join(failure.message.split())[:400]
    return message if failure.kind in message else f"{failure.kind}: {message}"


_LOOK_AHEAD = 32
"""Samples that are made ahead, to run the longest of them first."""


async def run_plan(
    settings: Settings, cells: list[Cell], model: Model, path: Path, resources: Resources, watcher: Watcher
) -> RunFolder:
    """Run the missing episodes and write the results. A run that stops early gets results, too, before RunStopped is
    raised, unless the judge failed: without one there are no scores."""
    lock, begun = RunLock(path), False
    try:
        retires = await model.retirements()
        await refuse_by_listing(cells, model)
        folder = prepare(settings, cells, model, path, retires)
        begun = True
        budget = resources.budget
        stopping = Stopping(settings.concurrency)
        calls = Calls(price=budget.price, judge_price=budget.judge_price, extractor_price=budget.extractor_price)
        grading = counted(Grading(settings.scorings[0], resources.judge, resources.extractor), calls)
        asks = grading.judge is not None or grading.extractor is not None
        paid = Metered(model, budget.charge)
        playing = open_players(settings, paid, resources.workplace, with_judge=asks)
        async with playing as players, told_of_calls(watcher, calls, players.tally):
            stopped = await _play(
                folder, cells, settings, grading, budget, players, stopping, watcher, calls, resources.order
            )
        if stopping.without_judge:
            raise SketchmarkError(stopped)
        tasks = {cell.name: cell.task for cell in cells}
        async with told_of_calls(watcher, calls):
            lacking = to_score(folder, tasks, grading, settings.scorings[1:])
            if lacking:
                await fill_scores(folder, lacking, grading, settings.scorings[1:], watcher)
        told = [*resources.warnings, *retiring(retires), *played_otherwise(folder.about().cells)]
        if repeated := [cell.name for cell in cells if cell.repeats > 1]:
            told += told_of_copies(folder, repeated)
        told += [
            f"{cell} is left out: {len(episodes)} of its episodes have no scores; `sketchmark score {path}` adds them"
            for cell, episodes in unscored(folder).items()
        ]
        aggregate(folder, tasks, settings.seed, list(settings.scorings), told)
        write_submissions(folder, tasks)
        if stopped:
            raise RunStopped(stopped)
        note_ending(path, at_cost_limit=stopped_by_cost(folder, cells, settings, budget))
        return folder
    except BaseException as error:
        if begun:  # otherwise the folder may be another run's
            note_ending(path, error)
        raise
    finally:
        lock.release()


class _CellFiles:
    """The files of one cell, open from its first episode to its last, and its progress display."""

    def __init__(self, at: CellProgress, folder: RunFolder, watcher: Watcher) -> None:
        self.at = at
        self._folder, self._watcher = folder, watcher
        self._open: tuple[LineWriter, LineWriter] | None = None
        self.begun = self._over = False

    def begin(self) -> tuple[LineWriter, LineWriter]:
        name = self.at.cell.name
        if not self.begun:
            self.begun = True
            self._watcher.begin(name, self.at.total, self.at.before)
        if self._open is None:
            files = (self._folder.episodes_file(name), EPISODES), (self._folder.scores_file(name), SCORES)
            self._open = LineWriter(*files[0]), LineWriter(*files[1])
        return self._open

    def played(self, episodes: Sequence[Episode]) -> None:
        self.at.ended += 1
        broke = any(to_be_played_again(episode.failure, retry_failed=False) for episode in episodes)
        self.at.finished += not broke
        self._watcher.played(self.at.cell.name, broke)
        if self.at.is_over:
            self.end()

    def end(self) -> None:
        self.close()
        if not self._over:
            self._over = True
            self._watcher.end(self.at.cell.name)

    def close(self) -> None:
        for file in self._open or ():
            file.close()
        self._open = None


async def _play(
    folder: RunFolder,
    cells: list[Cell],
    settings: Settings,
    grading: Grading,
    budget: Budget,
    players: Players,
    stopping: Stopping,
    watcher: Watcher,
    calls: Calls,
    order: Order | None,
) -> str:
    """Run the missing episodes of all cells in one row. Return why it stopped early, or nothing."""
    files = {cell.name: _CellFiles(CellProgress(cell), folder, watcher) for cell in cells}
    stopped_at: CellProgress | None = None

    async def one(job: Job) -> tuple[CellProgress, list[Episode]]:
        nonlocal stopped_at
        cell = job.at.cell
        episodes, scores = files[cell.name].begin()
        played = await players.play(job)
        budget.charge(played.paid)
        written = list[tuple[Episode, ScoreRow | None]]()
        for episode, row in zip(played.episodes, played.rows, strict=True):
            try:
                episodes.write(pack_episode(episode, job.index, folder.pictures.save))
            except BadInput as error:
                episode, row = unwritable(episode, error), None
                episodes.write(pack_episode(episode, job.index, folder.pictures.save))
            written.append((episode, row))
        await episodes.settle()
        try:
            for episode, row in written:
                scores.append(sealed(row or await grade(cell.task, episode, job.index, grading)))
        except CallFailed as error:  # further calls to the judge would fail, too: the episode waits for its scores
            stopping.judge_refused(error)
            stopped_at = stopped_at or job.at
        return job.at, [episode for episode, _ in written]

    def enough() -> bool:
        return budget.used_up or bool(stopping.why)

    def ready(job: Job) -> Job:
        """Also store the sample's images: it takes as long as a request, and this is not the event loop's thread."""
        job = players.ready(job)
        shown = job.draft.sample.pictures.values() if job.draft.is_made else ()
        with suppress(OSError, BadInput):  # the episode reports it
            for picture in chain.from_iterable([one] if isinstance(one, Picture) else one for one in shown):
                folder.pictures.save(picture)
        return job

    rows = [file.at for file in files.values()]
    remaining = remaining_jobs(folder, rows, settings.retry_failed, enough)
    jobs = (job and ready(job) for job in (order(remaining) if order else remaining))
    ahead = 0 if order else min(_LOOK_AHEAD, players.at_once - 1)
    ordered = longest_first(jobs, lambda job: job.length, ahead)
    patience = asyncio.timeout(None)
    try:
        async with (
            patience,
            aclosing(play_all(takewhile(lambda job: not enough(), ordered), one, players.at_once)) as played,
        ):
            async for at, episodes in played:
                for episode in episodes:
                    stopping.ended(episode, worked_before=at.before > 0)
                    if episode.failure and episode.failure.blames_model:
                        calls.own_failures[episode.failure.kind] += 1
                if stopping.why:
                    stopped_at = stopped_at or at
                files[at.cell.name].played(episodes)
                if stopping.why and patience.when() is None:
                    patience.reschedule(asyncio.get_running_loop().time() + PATIENCE)
            stopping.over()
            if stopping.why:
                stopped_at = stopped_at or at
    except TimeoutError:
        if not patience.expired():
            raise
    finally:
        for file in files.values():
            file.close()
    for file in files.values():
        if not file.begun and not enough():  # all of it was there before
            file.begin()
        if file.begun:
            file.end()
    note_totals(folder, {at.cell.name: at.samples for at in rows if at.samples is not None})
    if stopped_at is None:
        return ""
    return stopping.told(stopped_at.cell.name, stopped_at.before + stopped_at.finished, stopped_at.total)
