"""Workers of a run, in other processes or on other machines, and the messages between them and the run.

A worker makes its own model and cells and runs the jobs it is sent. It sees no run folder and no dataset. Records are
sent as the JSON of a run folder, images and sounds as bytes. Nothing is pickled: all that a model, a dataset or a
plug-in put into a record arrives as plain data, and a worker scores exactly what the run records.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import msgspec.structs
from msgspec import Struct

from sketchmark import __version__
from sketchmark.catalog import Catalog
from sketchmark.episode import Episode, Grading
from sketchmark.episode.model import Model, Usage
from sketchmark.episode.sample import Draft, Sample
from sketchmark.errors import BadInput, CannotPlay, MissingExtra, RunConflict
from sketchmark.files import PictureStore
from sketchmark.files.jsonl import LineReader, encode
from sketchmark.folder.format import EpisodeLine, SampleLine, ScoreRow
from sketchmark.folder.records import pack_episode, pack_sample, unpack_episode, unpack_sample
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.models import paired
from sketchmark.models.cache import default_cache, open_cache, with_cache
from sketchmark.models.wrappers import CallCount, CountedModel, Metered, together
from sketchmark.results import grade, one_line
from sketchmark.runs.episodes import FIRST, Wanted, play_wanted, unwritable
from sketchmark.runs.plan import Cell, cells_of
from sketchmark.settings import Settings
from sketchmark.terminal import notice


class Parcel(Struct):
    """A record and the files that go with it."""

    record: bytes
    files: dict[str, bytes] = {}


class Recipe(Struct):
    """All that a worker needs to make its model and cells."""

    settings: Settings
    """Their model_args and drawer_args are complete: the models are made with them."""
    at_once: int = 1
    """Episodes at once."""
    scores: bool = True
    """False: the run scores, since that takes a judge."""
    cache: str | None = None
    """Folder of the call cache. Empty: the machine's default. None: no cache."""
    sketchmark: str = __version__


class JobLine(Struct):
    """One sample to run."""

    cell: str
    index: int
    sample: SampleLine | None = None
    """None: it is made by its number."""
    donor: SampleLine | None = None
    repeat: int = 0
    branches: tuple[int, ...] = (0,)
    begun: EpisodeLine | None = None
    """The episode with the first answer, if only further ones are wanted."""


class OutcomeLine(Struct):
    """Outcome of a job."""

    episodes: list[EpisodeLine] = []
    rows: list[ScoreRow | None] = []
    """Scores of the episodes, in the same order; None: the run scores them."""
    stops_run: bool = False
    cannot_play: str = ""
    """No episode can run, not only this one."""
    not_made: bool = False
    """The sample could not be made here."""
    paid: dict[str, int] = {}
    """Usage of all calls and billed attempts of the worker since its last outcome."""


class Pictures:
    """Images and sounds of a parcel, by their names."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files: dict[str, bytes] = files if files is not None else {}

    def save(self, shown: Picture | Sound) -> str:
        name = PictureStore.name_of(shown)
        self.files[name] = shown.data
        return name

    def load(self, name: str) -> Picture:
        return Picture.from_bytes(self.files[name])

    def load_sound(self, name: str) -> Sound:
        return Sound.from_bytes(self.files[name])


_PARCEL = msgspec.msgpack.Decoder(Parcel)
_TALLY = msgspec.json.Decoder(CallCount)
_JOB = LineReader(JobLine, "a job")
_OUTCOME = LineReader(OutcomeLine, "an outcome")


def wrapped(record: Struct, files: dict[str, bytes]) -> bytes:
    return msgspec.msgpack.encode(Parcel(encode(record), files))


def pack_recipe(recipe: Recipe, files: dict[str, bytes]) -> bytes:
    """Pack a recipe. Model arguments must be JSON to be sent to another process."""
    try:
        return msgspec.msgpack.encode(Parcel(msgspec.json.encode(recipe), files))
    except TypeError as error:
        raise BadInput(f"model_args cannot go to another process: {error}", "use --engine local") from error


def unpack_recipe(parcel: bytes) -> tuple[Recipe, dict[str, bytes]]:
    found = _PARCEL.decode(parcel)
    version = msgspec.json.decode(found.record).get("sketchmark")
    if version != __version__:  # before the rest is read: it may have another form
        raise BadInput(
            f"the run is of Sketchmark {version}, and a worker has {__version__}", "install the same version on both"
        )
    return msgspec.json.decode(found.record, type=Recipe), found.files


def pack_job(cell: Cell, index: int, sample: Sample | None, donor: Sample | None, wanted: Wanted = FIRST) -> bytes:
    """Pack a job; without a sample, the worker makes it by its number."""
    pictures = Pictures()
    frames = sample is not None and not cell.mode.in_words and bool((cell.length(sample) or 2) > 1)
    line = JobLine(
        cell.name,
        index,
        pack_sample(sample, pictures.save, with_frames=frames) if sample else None,
        pack_sample(donor, pictures.save, with_frames=frames) if donor else None,
        wanted.repeat,
        wanted.branches,
        pack_episode(wanted.begun, index, pictures.save) if wanted.begun else None,
    )
    return wrapped(line, pictures.files)


def unpack_job(parcel: bytes) -> tuple[JobLine, Pictures]:
    found = _PARCEL.decode(parcel)
    return _JOB.one(found.record, "a job"), Pictures(found.files)


def samples_in(job: JobLine, pictures: Pictures) -> tuple[Sample, Sample | None]:
    assert job.sample is not None
    return unpack_sample(job.sample, pictures), unpack_sample(job.donor, pictures) if job.donor else None


def wanted_in(job: JobLine, pictures: Pictures) -> Wanted:
    return Wanted(job.repeat, job.branches, unpack_episode(job.begun, pictures) if job.begun else None)


def tally_of(said: Iterable[bytes], gone: Iterable[bytes]) -> CallCount:
    """Sum the calls of all workers. Those that have ended have no call under way."""
    left = [msgspec.structs.replace(_TALLY.decode(news), under_way=0, silent=0) for news in gone if news]
    return together([*(_TALLY.decode(news) for news in said if news), *left])


def pack_outcome(
    job: JobLine, known: Pictures, episodes: Sequence[Episode], rows: Sequence[ScoreRow | None], paid: Usage
) -> bytes:
    """Pack an outcome, without the images that came with the job."""
    pictures = Pictures()
    lines = [pack_episode(episode, job.index, pictures.save) for episode in episodes]
    if job.sample is not None:  # what JSON made of odd values must not make it another sample
        for line in lines:
            line.sample.fingerprint = job.sample.fingerprint
        for row in filter(None, rows):
            row.fingerprint = job.sample.fingerprint
    new = {name: data for name, data in pictures.files.items() if name not in known.files}
    stops_run = any(episode.stops_run for episode in episodes)
    return wrapped(OutcomeLine(lines, list(rows), stops_run, paid=vars(paid)), new)


def unpack_outcome(parcel: bytes) -> tuple[OutcomeLine, Pictures]:
    found = _PARCEL.decode(parcel)
    return _OUTCOME.one(found.record, "an outcome"), Pictures(found.files)


def episodes_in(outcome: OutcomeLine, new: Pictures, job: bytes, sent: Sample | None) -> list[Episode]:
    """Return the episodes, on the sample that was sent, or else on the one that the worker made."""
    pictures = Pictures({**_PARCEL.decode(job).files, **new.files})
    found = [unpack_episode(line, pictures) for line in outcome.episodes]
    return [
        replace(
            episode,
            sample=replace(sent, frames=episode.sample.frames) if sent else episode.sample,
            stops_run=outcome.stops_run,
        )
        for episode in found
    ]


ENTRY = f"{__name__}:open_worker"


async def open_worker(recipe: bytes) -> Worker:
    worker = Worker(*unpack_recipe(recipe))
    await worker.model.listing()
    return worker


class Worker:
    def __init__(self, recipe: Recipe, included: dict[str, bytes]) -> None:
        self._recipe = recipe
        self._folder = tempfile.TemporaryDirectory(prefix="sketchmark-") if included else None
        above = Path(self._folder.name) if self._folder else Path()
        for name, content in included.items():
            (above / name).parent.mkdir(parents=True, exist_ok=True)
            (above / name).write_bytes(content)
        settings = recipe.settings
        catalog = Catalog(tuple(above / path for path in settings.include), settings.trust_code, notice)
        kept = Path(recipe.cache) if recipe.cache else None if recipe.cache is None else default_cache()
        self._tally = CallCount()
        self._paid = Usage(calls=0)
        cache = open_cache(kept)
        model = with_cache(catalog.model(settings.model, settings.model_args), cache)
        drawer = with_cache(catalog.model(settings.drawer, settings.drawer_args), cache) if settings.drawer else None
        self.model: Model = CountedModel(Metered(paired(model, drawer), self._pay), self._tally)
        self.model.expect(recipe.at_once)
        self._cells = {cell.name: _Numbered(cell) for cell in cells_of(settings, catalog)}
        # One thread: making two samples at once would not be faster, and calls continue meanwhile.
        self._making = ThreadPoolExecutor(1, thread_name_prefix="samples")

    async def play(self, parcel: bytes) -> bytes:
        job, pictures = unpack_job(parcel)
        of = self._cells[job.cell]
        try:
            sample, donor = await self._samples(of, job, pictures)
        except Exception:  # the run makes it and sees the error
            return wrapped(OutcomeLine(not_made=True), {})
        try:
            settings, wanted = self._recipe.settings, wanted_in(job, pictures)
            episodes = await play_wanted(self.model, of.cell, sample, donor, settings.time_limit, wanted)
            rows = [await self._row(of.cell, episode, job.index) for episode in episodes]
            paid, self._paid = self._paid, Usage(calls=0)
            parcel = pack_outcome(job, pictures, episodes, rows, paid)
            try:
                unpack_outcome(parcel)
            except BadInput as error:
                without = [unwritable(episode, error) for episode in episodes]
                return pack_outcome(job, pictures, without, [None] * len(without), paid)
            return parcel
        except (MissingExtra, CannotPlay) as error:
            return wrapped(OutcomeLine(cannot_play=str(error)), {})
        except Exception as error:  # a bug of ours: shown where the run is
            return wrapped(OutcomeLine(cannot_play=f"a worker broke: {one_line(error)}"), {})

    async def _row(self, cell: Cell, episode: Episode, index: int) -> ScoreRow | None:
        if self._recipe.scores:
            with suppress(RunConflict):  # scoring needs the data, which only the run has
                return await grade(cell.task, episode, index, Grading(self._recipe.settings.scorings[0]))
        return None

    def _pay(self, usage: Usage) -> bool:
        self._paid += usage
        return True

    def news(self) -> bytes:
        return msgspec.json.encode(self._tally)

    async def close(self) -> None:
        await self.model.close()
        self._making.shutdown(wait=False)
        if self._folder is not None:
            self._folder.cleanup()

    async def _samples(self, of: _Numbered, job: JobLine, pictures: Pictures) -> tuple[Sample, Sample | None]:
        if job.sample is not None:
            return samples_in(job, pictures)

        def make() -> tuple[Sample, Sample | None]:
            draft, donor = of.pair(job.index)
            return draft.sample, donor.sample if donor else None

        return await asyncio.get_running_loop().run_in_executor(self._making, make)


class _Numbered:
    """Generated samples of a cell, by their numbers. Jobs come mostly in order."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self._next = 0
        self._pairs: Iterator[tuple[Draft, Draft | None]] = iter(())

    def pair(self, index: int) -> tuple[Draft, Draft | None]:
        if self._next == 0 or index < self._next:
            self._pairs, self._next = self.cell.pairs(), 0
        for found in self._pairs:
            self._next += 1
            if self._next > index:
                return found
        raise LookupError(f"there is no sample {index}")
