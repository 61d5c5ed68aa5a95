"""The data of a task file of lmms-eval's shape: its dataset, and images, sounds and video frames of documents.

The dataset is a file or folder next to the task file, a dataset on the hub, or what the user gives with `--data`. The
file may be untrusted. So variables and `~` stay as they are written, no address is followed, no loading script runs,
and only builders that parse are known (`pandas` would unpickle, `sql` connect).

Sounds are `{"array", "sampling_rate", "path"}`, with a method that returns all samples. Since version 4, `datasets`
returns an object of `torchcodec`, which needs torch and FFmpeg. Older task code expects the former, newer code the
latter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sketchmark.errors import BadInput, DataMissing, MissingExtra, SketchmarkError
from sketchmark.files import hub, tables
from sketchmark.files.tables import as_picture, inside
from sketchmark.media import Picture
from sketchmark.media.sound import FORMATS, Sound, is_sound


class AudioDecoder(dict[str, Any]):
    """A decoded sound. It has the class name that `datasets` uses, because some code checks it."""

    def get_all_samples(self) -> AudioSamples:
        return AudioSamples(np.atleast_2d(self["array"]).view(_Numbers), int(self["sampling_rate"]))


@dataclass(frozen=True)
class AudioSamples:
    data: _Numbers
    """Shape (channels, length)."""

    sample_rate: int


class _Numbers(np.ndarray[Any, Any]):
    """An array with the methods by which task code turns a tensor into NumPy."""

    def cpu(self) -> _Numbers:
        return self

    def numpy(self) -> Any:
        return self.view(np.ndarray)


def decode_sounds(documents: Any) -> Any:
    """Return the same documents with sounds that are decoded on access."""
    from datasets import Audio  # type: ignore[import-untyped]

    columns = {name: kind for name, kind in documents.features.items() if isinstance(kind, Audio)}
    for name in columns:
        documents = documents.cast_column(name, Audio(decode=False))

    def decoded(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        for name, kind in columns.items():
            if name in batch:
                batch[name] = [_decoded(one, kind.sampling_rate) for one in batch[name]]
        return batch

    return documents.with_transform(decoded) if columns else documents


def _decoded(one: Any, rate: int | None) -> Any:
    """Decode to one channel, as `datasets` did. A value that is not a file's content stays unchanged."""
    if not isinstance(one, dict) or not one.get("bytes"):
        return one
    samples, rate = Sound.from_bytes(one["bytes"]).samples(rate)
    return AudioDecoder(array=samples.mean(axis=0), sampling_rate=rate, path=one.get("path"))


_VIDEOS = frozenset((".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".mpg", ".mpeg", ".flv", ".wmv", ".ts"))
_SOUNDS = frozenset((*(f".{name}" for name in FORMATS), ".opus", ".oga"))
_FORMATS = "mov,mp4,matroska,webm,avi,mpeg,mpegts,flv,asf"
"""Containers that hold a video themselves. Lists of other files and addresses are not opened."""


def to_media(found: Any, where: str, root: Path | None, frames: int) -> Iterator[Picture | Sound]:
    """Yield images and sounds from what `doc_to_visual` returns. Paths must be inside `root`; None allows the
    paths that a trusted function made."""
    for one in found if isinstance(found, (list, tuple)) else [found]:
        if isinstance(one, (list, tuple)):
            yield from to_media(one, where, root, frames)
        elif isinstance(one, Mapping) and "sampling_rate" in one:
            yield _of_samples(one, where)
        elif isinstance(one, (str, Path)):
            yield from _of_path(inside(root, str(one), where) if root else Path(one).absolute(), where, frames)
        elif isinstance(one, Mapping) and (held := one.get("bytes") or one.get("path")):
            yield from to_media([held], where, root, frames)
        elif is_sound(one):
            yield Sound.from_bytes(one)
        elif one is not None:
            yield as_picture(one, where, root or Path("/"))


def _of_samples(one: Mapping[str, Any], where: str) -> Sound:
    """Return a sound from the form of `datasets`, which a function may have changed."""
    try:
        return Sound.from_samples(one["array"], int(one["sampling_rate"]))
    except (BadInput, KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{where}: {error}") from error


def _of_path(path: Path, where: str, frames: int) -> Iterator[Picture | Sound]:
    if not path.is_file():
        raise BadInput(f"{where}: there is no file {path}")
    if path.suffix.lower() in _SOUNDS:
        yield Sound.from_file(path)
    elif path.suffix.lower() in _VIDEOS:
        yield from frames_of(path, where, frames)
    else:
        yield as_picture(path.read_bytes(), where)


def frames_of(path: Path, where: str, count: int) -> Iterator[Picture]:
    """Yield the frames in the middle of `count` equal parts of the video."""
    try:
        av = import_module("av")
    except ImportError as error:
        raise MissingExtra(f"{where}, which is a video,", "video") from error
    if count < 1:
        raise BadInput(f"{count} frames of a video", "--task_args frames=8")
    try:
        with av.open(str(path), options={"protocol_whitelist": "file", "format_whitelist": _FORMATS}) as video:
            stream = video.streams.video[0]
            length = float(video.duration or 0) / av.time_base
            for number in range(count):
                moment = length * (number + 0.5) / count
                video.seek(int(moment * av.time_base))
                shown = None
                for frame in video.decode(stream):
                    shown = frame
                    if frame.time is None or frame.time >= moment:
                        break
                if shown is None:
                    raise BadInput(f"{where}: {path.name} has no picture at {moment:.1f} s")
                yield Picture.from_image(shown.to_image())
    except (av.FFmpegError, IndexError, OSError) as error:
        raise BadInput(f"{where}: {path.name} cannot be read as a video: {error}") from error


_BUILDERS = {
    ".json": "json",
    ".jsonl": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}
_OPTIONS = ("data_files", "data_dir", "revision", "field", "delimiter", "sep", "skipinitialspace", "load_from_disk")
_NOT_FOR_LOADING = (
    "features",
    "From_YouTube",
    "cache_dir",
    "create_link",
    "force_download",
    "force_unzip",
    "local_files_only",
    "max_retries",
    "num_proc",
    "token",
    "trust_remote_code",
    "verification_mode",
    "video",
)
"""Instructions to lmms-eval's downloader, permissions that only the user can give, and values that the task's code
makes."""

_NOTHING_ELSE = (
    "data is next to the task file or under --data PATH, or is a hub id; $NAME, ~ and addresses are not read"
)


class NamedData:
    """The documents of a task file, and the folder of the images that they name by path."""

    def __init__(self, config: Mapping[str, Any], folder: Path, data: Path | None, features: Any = None) -> None:
        """Load the documents. `features` are the columns' types if the file sets them: `datasets.Features`, made
        by trusted code. A dataset that `datasets` saved keeps its own."""
        self._config = config
        self._data = data
        self._typed = {} if features is None else {"features": features}
        self._folder = folder
        self._home = folder if data is None else data
        """The only folder for named files: what the user gives replaces the task file's folder."""
        self.root = folder
        self._from_hub = False
        self._read: dict[str, list[str]] = {}
        self.split = self._split()
        self.documents = self.of(self.split)

    def of(self, split: str) -> Any:
        """Return the documents of a split. Files without a split's name are used for the requested split, and
        never for a second one."""
        path = str(self._config["dataset_path"])
        try:
            documents = self._load(path, split)
        except SketchmarkError:
            raise
        except Exception as error:  # the library raises errors of its file and HTTP layers
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            hint = "check dataset_path and dataset_kwargs"
            lost = DataMissing(f"cannot load {path} ({split}): {reason}", hint)
            raise hub.refused(error, path) or lost from error
        read = self._read.get(split)
        if read and any(read == other for name, other in self._read.items() if name != split):
            raise DataMissing(f"{read[0]} is {self.split!r}, and {split!r} is not there", "give a folder with both")
        return documents

    def rows(self, documents: Any) -> Iterator[tables.Row]:
        """Return documents as the files hold them: `datasets` would fetch an image from any place that a row
        names."""
        return tables.arrow_rows(documents, embed=self._from_hub)

    def _split(self) -> str:
        keys = ("test_split", "validation_split", "training_split")
        split = next((str(self._config[key]) for key in keys if self._config.get(key)), "")
        if not split:
            raise BadInput(f"the task file in {self._folder} names no split", "add test_split")
        return split

    def _load(self, path: str, split: str) -> Any:
        datasets = tables.datasets_library("a task file of lmms-eval's shape")
        name = self._config.get("dataset_name")
        options = _known(self._config.get("dataset_kwargs") or {}) | self._typed
        named = options.pop("data_files", None)
        saved = options.pop("load_from_disk", False)
        if self._data is not None and (mine := self._under_data(path, name, split, named)):
            return self._loaded(datasets, mine, split)
        if path in _BUILDERS.values():
            files = self._files(named, split)
            self._read[split] = files.get(split, [])
            return datasets.load_dataset(path, data_files=files, split=split, **options)
        local = self._local(path)
        if local is None and self._data is not None:
            what = ", ".join(_names(named)) or f"{name or 'data'}/{split}-*.parquet"
            raise self._not_there(what if tables.is_hub_id(path) else path)
        if local is None and not saved and tables.is_hub_id(path) and not Path(path).exists():
            self._from_hub = True
            for one in _names([named, options.get("data_dir")]):
                tables.check_in_repository(one)
            options |= {"data_files": named} if named else {}
            return datasets.load_dataset(path, name, split=split, **options)
        if local is None:
            raise BadInput(f"dataset_path {path!r} {self._why_not(path)}", _NOTHING_ELSE)
        return self._loaded(datasets, [local], split)

    def _under_data(self, path: str, name: str | None, split: str, named: Any) -> list[Path]:
        """Return the user's own copy: `--data` is a file, or a folder as `sketchmark.files.tables.rows` describes."""
        data = self._data
        if data is None or not (data.is_file() or data.is_dir()):
            gone = "is neither a file nor a folder" if data and data.exists() else "does not exist"
            raise DataMissing(f"{data} {gone}", self._ways())
        self.root = data.parent if data.is_file() else data
        if data.is_file():
            return [data]
        if saved := next((one for one in tables.bases(data, path, name) if tables.is_saved(one)), None):
            return [saved]
        files = named.get(split) if isinstance(named, Mapping) else named
        listed = [one for one in _names(files) if ".." not in Path(one).parts and not Path(one).is_absolute()]
        found = {one: tables.files_in(data, path, name, split, one) for one in listed}
        if any(found.values()) and (missing := next((one for one in listed if not found[one]), "")):
            raise self._not_there(missing)
        files = [file for one in listed for file in found[one]]
        return list(dict.fromkeys(files)) or ([] if listed else tables.files_in(data, path, name, split, None))

    def _not_there(self, what: str) -> DataMissing:
        return DataMissing(f"{self._data} holds no {what}", self._ways())

    def _ways(self) -> str:
        path = str(self._config["dataset_path"])
        if tables.is_hub_id(path):
            return tables.ways(path)
        return "give --data the file or folder that holds it; without --data it must be next to the task file"

    def _loaded(self, datasets: Any, places: list[Path], split: str) -> Any:
        """Load files of one kind, or a folder with such files or a dataset that `datasets` saved."""
        first = places[0]
        if first.is_dir() and tables.is_saved(first):
            loaded = datasets.load_from_disk(str(first))
            self._read[split] = [str(first)]
            if isinstance(loaded, dict):
                if split not in loaded and len(loaded) > 1:
                    raise DataMissing(f"{first} has no split {split!r}", f"it has: {', '.join(loaded)}")
                held = split if split in loaded else next(iter(loaded))
                self._read[split], loaded = [str(first / held)], loaded[held]
            return loaded
        name = self._config.get("dataset_name")
        files = (
            tables.files_in(first, str(self._config["dataset_path"]), name, split, None) if first.is_dir() else places
        )
        kind = _BUILDERS.get(files[0].suffix) if files else None
        if kind is None:
            raise BadInput(f"{first} holds no {split} as {', '.join(_BUILDERS)}", _NOTHING_ELSE)
        self._read[split] = [str(file) for file in files]
        return datasets.load_dataset(kind, data_files={split: self._read[split]}, split=split, **self._typed)

    def _files(self, named: Any, split: str) -> dict[str, list[str]]:
        """Return each split's files, as paths inside the allowed folder."""
        by_split = named if isinstance(named, Mapping) else {split: named}
        found: dict[str, list[str]] = {}
        for key, names in by_split.items():
            found[str(key)] = []
            for one in _names(names):
                file = self._local(one)
                if (file is None or not file.is_file()) and self._data is not None:
                    raise self._not_there(one)
                if file is None or not file.is_file():
                    raise BadInput(f"data_files {one!r} {self._why_not(one)}", _NOTHING_ELSE)
                found[str(key)].append(str(file))
        if not any(found.values()):
            raise BadInput("dataset_kwargs names no data_files", _NOTHING_ELSE)
        return found

    def _why_not(self, name: str) -> str:
        """Say why a name is not read. Whether a file outside the folder exists is not looked up: the task file is
        untrusted."""
        inside = Path(os.path.realpath(self._home / name)).is_relative_to(self._home.resolve())
        return "is not there" if inside else "is outside the task's folder, where nothing is read"

    def _local(self, name: str) -> Path | None:
        """Return the file or folder of that name, following links only inside the allowed folder."""
        path = Path(os.path.realpath(self._home / name))
        if path.exists() and path.is_relative_to(self._home.resolve()):
            self.root = self._home
            return path
        return None


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in options.items() if key not in _NOT_FOR_LOADING}
    if unknown := [key for key in kept if key not in _OPTIONS]:
        raise BadInput(f"dataset_kwargs: {unknown[0]!r} is not known", f"known: {', '.join(_OPTIONS)}")
    return kept


def _names(value: Any) -> list[str]:
    """Return every text in a value: a text, a list of texts, or a mapping to either."""
    if isinstance(value, Mapping):
        return [name for one in value.values() for name in _names(one)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [name for one in value for name in _names(one)]
    return [] if value is None else [str(value)]
