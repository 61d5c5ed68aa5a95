"""The data set that a task file of lmms-eval's shape names: a file or folder beside it or under `--data`, or a data
set of the hub, and nothing else.

The file may be a stranger's. So variables and `~` stay as they are written, no address is followed, no folder is read
by rules of its own, and only builders that parse (`pandas` would unpickle, `sql` connect) are known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, DataMissing, SketchmarkError
from sketchmark.files import hub, tables

_BUILDERS = {
    ".json": "json",
    ".jsonl": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}
_OPTIONS = ("data_files", "data_dir", "revision", "field", "delimiter", "sep", "load_from_disk")
_NOT_FOR_LOADING = (
    "cache_dir",
    "create_link",
    "force_download",
    "force_unzip",
    "local_files_only",
    "num_proc",
    "token",
    "trust_remote_code",
    "video",
)
"""Instructions to lmms-eval's downloader, and permissions that are the user's to give."""

_NOTHING_ELSE = (
    "data lies beside the task file or under --data PATH, or is a hub id; $NAME, ~ and addresses are not read"
)


class NamedData:
    """The documents of a task file, and where pictures that they name by path may lie."""

    def __init__(self, config: Mapping[str, Any], folder: Path, data: Path | None) -> None:
        self._config = config
        self._roots = [folder, *([data] if data is not None and data.is_dir() else [])]
        self.root = folder
        self._from_hub = False
        path = str(config["dataset_path"])
        try:
            self.documents = self._load(path)
        except SketchmarkError:
            raise
        except Exception as error:  # the library raises whatever its file and HTTP layers do
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            hint = "check dataset_path and dataset_kwargs"
            lost = DataMissing(f"cannot load {path} ({self._split()}): {reason}", hint)
            raise hub.refused(error, path) or lost from error

    def rows(self) -> Iterator[tables.Row]:
        """The documents as the files hold them: `datasets` would fetch a picture from wherever a row says it is."""
        return tables.arrow_rows(self.documents, embed=self._from_hub)

    def _split(self) -> str:
        keys = ("test_split", "validation_split", "training_split")
        split = next((str(self._config[key]) for key in keys if self._config.get(key)), "")
        if not split:
            raise BadInput(f"the task file in {self._roots[0]} names no split", "add test_split")
        return split

    def _load(self, path: str) -> Any:
        datasets = tables.datasets_library("a task file of lmms-eval's shape")
        split, name = self._split(), self._config.get("dataset_name")
        options = _known(self._config.get("dataset_kwargs") or {})
        named = options.pop("data_files", None)
        saved = options.pop("load_from_disk", False)
        if path in _BUILDERS.values():
            return datasets.load_dataset(path, data_files=self._files(named, split), split=split, **options)
        local = self._local(path)
        if local is None and not saved and tables.is_hub_id(path) and not Path(path).exists():
            self._from_hub = True
            for one in _names([named, options.get("data_dir")]):
                tables.check_in_repository(one)
            options |= {"data_files": named} if named else {}
            return datasets.load_dataset(path, name, split=split, **options)
        if local is None:
            raise BadInput(f"dataset_path {path!r} is not there", _NOTHING_ELSE)
        if saved or tables.is_saved(local):
            loaded = datasets.load_from_disk(str(local))
            return loaded[split] if isinstance(loaded, dict) else loaded
        files = [str(local)]
        if local.is_dir():
            files = [str(file) for file in tables.files_in(local, path, name, split, None)]
        if not files or Path(files[0]).suffix not in _BUILDERS:
            raise BadInput(f"dataset_path {path!r} holds no {split} as {', '.join(_BUILDERS)}", _NOTHING_ELSE)
        return datasets.load_dataset(_BUILDERS[Path(files[0]).suffix], data_files={split: files}, split=split)

    def _files(self, named: Any, split: str) -> dict[str, list[str]]:
        """Each split's files, as paths that lead nowhere else."""
        by_split = named if isinstance(named, Mapping) else {split: named}
        found: dict[str, list[str]] = {}
        for key, names in by_split.items():
            found[str(key)] = []
            for one in _names(names):
                file = self._local(one)
                if file is None or not file.is_file():
                    raise BadInput(f"data_files {one!r} is not there", _NOTHING_ELSE)
                found[str(key)].append(str(file))
        if not any(found.values()):
            raise BadInput("dataset_kwargs names no data_files", _NOTHING_ELSE)
        return found

    def _local(self, name: str) -> Path | None:
        """The file or folder of that name in one of the places, links followed only inside it."""
        for root in self._roots:
            path = Path(os.path.realpath(root / name))
            if path.exists() and path.is_relative_to(root.resolve()):
                self.root = root
                return path
        return None


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in options.items() if key not in _NOT_FOR_LOADING}
    if unknown := [key for key in kept if key not in _OPTIONS]:
        raise BadInput(f"dataset_kwargs: {unknown[0]!r} is not known", f"known: {', '.join(_OPTIONS)}")
    return kept


def _names(value: Any) -> list[str]:
    """Every text in a value that may be one, a list of them, or a mapping to either."""
    if isinstance(value, Mapping):
        return [name for one in value.values() for name in _names(one)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [name for one in value for name in _names(one)]
    return [] if value is None else [str(value)]
