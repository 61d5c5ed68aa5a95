"""Players of a run's episodes: this process, worker processes or a Ray cluster.

All give the same episodes. Only the run itself writes its folder. Workers on other machines are sent the files of
--include.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from sketchmark.engines.crew import Crew, JobLost, Worker
from sketchmark.episode import Episode, Failure
from sketchmark.episode.model import Model, Usage
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.folder.format import ScoreRow
from sketchmark.models.wrappers import CallCount, CountedModel
from sketchmark.runs import worker as travel
from sketchmark.runs.episodes import play_wanted
from sketchmark.runs.jobs import Job
from sketchmark.runs.plan import Cell, drawer_arguments, model_arguments
from sketchmark.runs.worker import ENTRY
from sketchmark.secrets import find_key
from sketchmark.settings import FIELDS, Settings
from sketchmark.worlds import task_files

_MOST_BYTES = 32_000_000
"""Code and task files are small. Larger files are data, which are read here and sent as samples."""


def shipped(include: Sequence[Path], trust_code: bool) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """Return the names by which a worker includes them, and the files under such names."""
    files: dict[str, bytes] = {}
    size = 0
    roots = [path.resolve() for path in include]
    for number, path in enumerate(roots):
        for file in _files(path, trust_code):
            size += file.stat().st_size
            if size > _MOST_BYTES:
                raise BadInput(
                    f"--include {path} is more than {_MOST_BYTES // 1_000_000} MB, too much to send to every worker",
                    "keep data out of the folder, and name it with --data",
                )
            files[_name(number, path, file)] = file.read_bytes()
    return tuple(_name(number, path, path) for number, path in enumerate(roots)), files


def _files(path: Path, trust_code: bool) -> Iterator[Path]:
    """A folder goes whole, a Python file with the task file of its name, and a task file with what is in its folder
    and it may name."""
    if path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file() and not _is_hidden(file, path))
        return
    yield path
    if path.suffix == ".py":
        yield from task_files(path)
    else:
        beside = [*path.parent.glob("*.yaml"), *(path.parent.glob("*.py") if trust_code else ())]
        yield from (file for file in sorted(beside) if file != path)


def _is_hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in file.relative_to(root).parts)


def _name(number: int, root: Path, file: Path) -> str:
    return f"{number}/{file.relative_to(root.parent).as_posix()}"


ENGINES = FIELDS["engine"].about.choices

_PAYS = 200
"""Answers of a scripted player that take longer than starting two workers."""


def resolve_engine(settings: Settings, cells: list[Cell]) -> str:
    """Return what `auto` means here: processes if scripted players have much to compute, else local."""
    if settings.engine != "auto":
        return settings.engine
    answers = sum(
        cell.repeats * (cell.weight + cell.answers - 1) * (cell.limit or cell.task.declared.default_limit or 0)
        for cell in cells
    )
    scripted = all(one.startswith("player/") for one in (settings.model, settings.drawer) if one)
    if answers < _PAYS or not scripted or not all(cell.generated for cell in cells):
        return "local"
    from sketchmark.engines.processes import cores

    return "processes" if cores() > 1 else "local"


def key_variables(model: Model) -> tuple[str, ...]:
    """Return the environment variables that an API model reads its key from."""
    found = getattr(model, "keys", ())
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, tuple) else ()


@dataclass(frozen=True)
class Played:
    """Episodes of a job: one, or one for each answer; and their scores if a worker made them."""

    episodes: Sequence[Episode]
    rows: Sequence[ScoreRow | None]
    paid: Usage = field(default_factory=lambda: Usage(calls=0))
    """Usage that a worker has paid for since its last outcome. In this process calls are charged as they are made."""


class LocalPlayers:
    """Players on the event loop of the run."""

    def __init__(self, model: Model, concurrency: int, time_limit: float | None) -> None:
        self._tally = CallCount()
        self._model, self._time_limit = CountedModel(model, self._tally), time_limit
        self.at_once = concurrency
        model.expect(concurrency)

    def ready(self, job: Job) -> Job:
        """Make the sample and the digests of its images, in another thread than the event loop's."""
        _ = job.draft.sample.fingerprint(), job.donor and job.donor.sample
        return job

    async def play(self, job: Job) -> Played:
        donor = job.donor.sample if job.donor else None
        sample, cell = job.draft.sample, job.at.cell
        episodes = await play_wanted(self._model, cell, sample, donor, self._time_limit, job.wanted)
        return Played(episodes, [None] * len(episodes))

    async def tally(self) -> CallCount:
        """Return the calls so far."""
        return self._tally


class RemotePlayers:
    """Players in a crew of workers."""

    def __init__(self, crew: Crew, at_once: int) -> None:
        self._crew = crew
        self.at_once = at_once

    def ready(self, job: Job) -> Job:
        """Pack a job. A worker makes samples by their number; samples that were read are sent."""
        cell, donor, wanted = job.at.cell, job.donor, job.wanted
        by_number = not job.draft.is_made and cell.generated and not cell.settings.data
        sample = None if by_number else job.draft.sample
        lent = donor.sample if donor and not by_number else None
        return replace(job, packed=travel.pack_job(cell, job.index, sample, lent, wanted))

    async def play(self, job: Job) -> Played:
        try:
            outcome, pictures = travel.unpack_outcome(await self._crew.play(job.packed))
        except JobLost as lost:
            return Played([await self._lost(job, str(lost))], [None])
        if outcome.not_made and not job.draft.is_made:
            await asyncio.to_thread(lambda: job.draft.sample)
            return await self.play(await asyncio.to_thread(self.ready, job))
        if outcome.not_made:
            raise CannotPlay(f"a worker cannot read sample {job.draft.id} of {job.at.cell.name}")
        if outcome.cannot_play:
            raise CannotPlay(outcome.cannot_play)
        sent = job.draft.sample if job.draft.is_made else None
        episodes = travel.episodes_in(outcome, pictures, job.packed, sent)
        return Played(episodes, outcome.rows, Usage(**outcome.paid))

    async def tally(self) -> CallCount:
        return travel.tally_of(*await self._crew.news())

    async def _lost(self, job: Job, why: str) -> Episode:
        cell = job.at.cell
        sample = await asyncio.to_thread(lambda: job.draft.sample)
        settings = {"mode": cell.mode.name, "canvas": cell.canvas, "steps": cell.steps}
        wanted, failure = job.wanted, Failure("worker_lost", why)
        branch = 0 if wanted.begun is None else wanted.branches[0]
        return Episode(
            sample, (), failure, time.time(), 0.0, settings, repeat=wanted.repeat, branch=branch
        )  # fmt: skip


Players = LocalPlayers | RemotePlayers


@dataclass(frozen=True)
class Workplace:
    """All that workers need beyond the settings."""

    cache: str | None = None
    """Folder of the call cache. Empty: the default of the worker's machine. None: no cache."""
    key_variables: tuple[str, ...] = ()
    """Environment variables of the model's key, for workers on other machines."""
    notices: list[str] = field(default_factory=list)
    """Filled when the workers have ended."""


@asynccontextmanager
async def open_players(
    settings: Settings, model: Model, workplace: Workplace, *, with_judge: bool
) -> AsyncIterator[Players]:
    """Open the players of a run. Workers score, too, unless that takes a judge."""
    concurrency = settings.concurrency
    if settings.engine in ("auto", "local"):
        yield LocalPlayers(model, concurrency, settings.time_limit)
        return
    include = tuple(str(path.resolve()) for path in settings.included)
    sent = structs.replace(
        settings.only("W"),
        model_args=model_arguments(settings),
        drawer_args=drawer_arguments(settings),
        include=include,
    )
    recipe = travel.Recipe(sent, scores=not with_judge, cache=workplace.cache)
    hiring = _on_ray if settings.engine == "ray" else _in_processes
    with hiring(settings, recipe, workplace) as (hire, size, at_once):
        async with Crew(hire, size, at_once) as crew:
            try:
                yield RemotePlayers(crew, concurrency)
            finally:
                if crew.lost:
                    workers = "1 worker was" if crew.lost == 1 else f"{crew.lost} workers were"
                    episodes = "1 episode" if crew.again == 1 else f"{crew.again} episodes"
                    workplace.notices.append(f"{workers} lost; {episodes} had to be rerun elsewhere")


Hiring = tuple[Callable[[], Awaitable[Worker]], int, int]
"""Function that starts a worker, number of workers, and episodes at once of each."""


@contextmanager
def _in_processes(settings: Settings, recipe: travel.Recipe, workplace: Workplace) -> Iterator[Hiring]:
    from sketchmark.engines.processes import ProcessWorker, cores

    recipe, size = _shared_out(recipe, settings.replicas or cores(), settings.concurrency)
    packed = travel.pack_recipe(recipe, {})
    yield lambda: ProcessWorker.start(ENTRY, packed), size, recipe.at_once


@contextmanager
def _on_ray(settings: Settings, recipe: travel.Recipe, workplace: Workplace) -> Iterator[Hiring]:
    from sketchmark.engines.ray_cluster import Cluster, Needs, RayWorker

    include, files = shipped(settings.included, settings.trust_code)
    recipe = structs.replace(recipe, settings=structs.replace(recipe.settings, include=include))
    keys = {name: key for name in workplace.key_variables if (key := find_key([name]))}
    with Cluster(settings.ray_address) as cluster:
        room = settings.replicas or max(1, cluster.room_for(Needs(settings.num_gpus)))
        recipe, size = _shared_out(recipe, room, settings.concurrency)
        needs = Needs(settings.num_gpus, recipe.at_once)
        packed = travel.pack_recipe(recipe, files)
        yield lambda: RayWorker.start(ENTRY, packed, keys, needs), size, recipe.at_once


def _shared_out(recipe: travel.Recipe, most: int, concurrency: int) -> tuple[travel.Recipe, int]:
    """Decide how many replicas there are; each gets its part of the limits of the whole run."""
    parts = {name: dict(getattr(recipe.settings, name)) for name in ("model_args", "drawer_args")}
    limits = [int(arguments["max_concurrent"]) for arguments in parts.values() if arguments.get("max_concurrent")]
    size = min(most, concurrency, *limits)
    for arguments in parts.values():
        if at_once := arguments.get("max_concurrent"):
            arguments["max_concurrent"] = int(at_once) // size
        if a_minute := arguments.get("max_requests_per_minute"):
            arguments["max_requests_per_minute"] = float(a_minute) / size
    settings = structs.replace(recipe.settings, **parts)
    return structs.replace(recipe, settings=settings, at_once=math.ceil(concurrency / size)), size
