"""Jobs and outcomes as they travel between a run and its workers.

Records go as the JSON that a run folder holds, pictures and sounds as their bytes. Nothing is pickled: whatever a
model, a data set or a plug-in put into a record arrives as plain data, and what is scored elsewhere is what is
written down here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import msgspec.structs
from msgspec import Struct

from sketchmark import __version__
from sketchmark.episode import Episode
from sketchmark.errors import BadInput
from sketchmark.files.lines import LineReader, encode
from sketchmark.files.pictures import PictureStore
from sketchmark.models.tally import Tally, together
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.request import Request
from sketchmark.runs.format import EpisodeLine, SampleLine, ScoreRow
from sketchmark.runs.plan import Cell
from sketchmark.runs.record import pack_episode, pack_sample, unpack_episode, unpack_sample
from sketchmark.sounds import Sound

Record = TypeVar("Record")


class Parcel(Struct):
    """A record and the files that go with it."""

    record: bytes
    files: dict[str, bytes] = {}


class Recipe(Struct):
    """All that a worker needs to make the model and the cells for itself."""

    request: dict[str, Any]
    model_args: dict[str, Any] = {}
    at_once: int = 1
    """Episodes that it plays at once."""
    time_limit: float | None = None
    scoring: str | None = None
    """By what rules it scores; None: whoever asked does, because that takes a judge."""
    cache: str | None = None
    """Folder of the call cache; empty: the machine's own; None: there is none."""
    sketchmark: str = __version__


class JobLine(Struct):
    """One sample to play."""

    cell: str
    index: int
    sample: SampleLine | None = None
    """None: it is made by its number."""
    donor: SampleLine | None = None


class OutcomeLine(Struct):
    """What became of a job."""

    episode: EpisodeLine | None = None
    row: ScoreRow | None = None
    stops_run: bool = False
    cannot_play: str = ""
    """Nothing is wrong with this episode: no episode can be played."""
    not_made: bool = False
    """The sample could not be made here."""


class Pictures:
    """The pictures and sounds of a parcel, by their names."""

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
_TALLY = msgspec.json.Decoder(Tally)
_JOB = LineReader(JobLine, "a job")
_OUTCOME = LineReader(OutcomeLine, "an outcome")


def wrapped(record: Struct, files: dict[str, bytes]) -> bytes:
    return msgspec.msgpack.encode(Parcel(encode(record), files))


def pack_recipe(recipe: Recipe, files: dict[str, bytes]) -> bytes:
    """Model arguments that JSON cannot say cannot be said to another process."""
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


def plain_request(request: Request) -> dict[str, Any]:
    """Without the data's place and the shard: what is read, and which samples are played, is seen to where the run
    is."""
    fields = {
        **vars(request),
        "data": None,
        "shard": None,
        "include": [str(path.resolve()) for path in request.include],
    }
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def request_of(plain: dict[str, Any]) -> Request:
    fields: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()}
    return Request(**{**fields, "include": tuple(map(Path, plain["include"]))})


def pack_job(cell: Cell, index: int, sample: Sample, donor: Sample | None) -> bytes:
    pictures = Pictures()
    frames = not cell.mode.in_words and bool((cell.length(sample) or 2) > 1)
    line = JobLine(
        cell.name,
        index,
        pack_sample(sample, pictures.save, with_frames=frames),
        pack_sample(donor, pictures.save, with_frames=frames) if donor else None,
    )
    return wrapped(line, pictures.files)


def pack_numbered_job(cell: Cell, index: int) -> bytes:
    return wrapped(JobLine(cell.name, index), {})


def unpack_job(parcel: bytes) -> tuple[JobLine, Pictures]:
    found = _PARCEL.decode(parcel)
    return _JOB.one(found.record, "a job"), Pictures(found.files)


def samples_in(job: JobLine, pictures: Pictures) -> tuple[Sample, Sample | None]:
    assert job.sample is not None
    return (
        unpack_sample(job.sample, pictures),
        unpack_sample(job.donor, pictures) if job.donor else None,
    )


def pack_tally(tally: Tally) -> bytes:
    return msgspec.json.encode(tally)


def tally_of(said: Iterable[bytes], gone: Iterable[bytes]) -> Tally:
    """What the calls of all workers come to; of those that are gone none is under way."""
    left = [msgspec.structs.replace(_TALLY.decode(news), under_way=0, silent=0) for news in gone if news]
    return together([*(_TALLY.decode(news) for news in said if news), *left])


def pack_outcome(job: JobLine, known: Pictures, episode: Episode, row: ScoreRow | None) -> bytes:
    """Pictures that came with the job do not go back."""
    pictures = Pictures()
    line = pack_episode(episode, job.index, pictures.save)
    if job.sample is not None:  # what JSON made of odd values must not make it another sample
        line.sample.fingerprint = job.sample.fingerprint
        if row is not None:
            row.fingerprint = job.sample.fingerprint
    new = {name: data for name, data in pictures.files.items() if name not in known.files}
    return wrapped(OutcomeLine(line, row, episode.stops_run), new)


def unpack_outcome(parcel: bytes) -> tuple[OutcomeLine, Pictures]:
    found = _PARCEL.decode(parcel)
    return _OUTCOME.one(found.record, "an outcome"), Pictures(found.files)


def episode_in(outcome: OutcomeLine, new: Pictures, job: bytes, sent: Sample | None) -> Episode:
    """The episode, on the very sample that was sent; without one, on that which the worker made."""
    assert outcome.episode is not None
    pictures = Pictures({**_PARCEL.decode(job).files, **new.files})
    episode = unpack_episode(outcome.episode, pictures)
    sample = replace(sent, frames=episode.sample.frames) if sent else episode.sample
    return replace(episode, sample=sample, stops_run=outcome.stops_run)
