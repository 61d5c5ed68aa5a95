"""Several models that are to play the same tasks, each in a run folder of its own under one parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.request import Prices, Shard, default_folder


@dataclass(frozen=True)
class Start:
    """One start of a run: tasks that share their settings."""

    tasks: str
    options: Mapping[str, Any]
    """As `sketchmark.run` takes them."""


@dataclass(frozen=True)
class Entry:
    """A model of the suite and all that it plays, start by start, into one run folder."""

    name: str
    """Of the folder."""

    model: str
    starts: tuple[Start, ...]


@dataclass(frozen=True)
class Suite:
    parent: Path
    entries: tuple[Entry, ...]
    prices: Prices = None
    max_cost: float | None = None
    """Of all models together, in one start."""

    file: Path | None = None
    """The run file, if there is one."""

    def path(self, entry: Entry) -> Path:
        return self.parent / entry.name

    @property
    def prices_file(self) -> Path | str | None:
        """Where the prices stand."""
        return self.file if isinstance(self.prices, Mapping) else self.prices


def of_models(models: Sequence[str], tasks: str, output_path: Path | None, **options: Any) -> Suite:
    """`--model a,b`: the same start for each, into the folders that each would have by itself."""
    prices, max_cost = options.get("prices"), options.pop("max_cost", None)
    shard = options.get("shard", "")
    found = [Entry(folder_name(model, shard), model, (Start(tasks, options),)) for model in models]
    refuse_shared_folders(found, "name every model once; a run file tells two of one name apart by `name:`")
    return Suite(output_path or default_folder("model").parent, tuple(found), prices, max_cost)


def folder_name(model: str, shard: str = "") -> str:
    """As a run of this model alone would call it; never one that leads elsewhere."""
    name = default_folder(model, Shard.parse(shard) if shard else None).name
    return name.lstrip(".") or "model"


def refuse_shared_folders(entries: Iterable[Entry], hint: str) -> None:
    """Two models in one folder would be one run. Some file systems do not tell large letters from small ones."""
    seen: dict[str, Entry] = {}
    for entry in entries:
        other = seen.setdefault(entry.name.lower(), entry)
        if other is not entry:
            raise BadInput(f"{other.model} and {entry.model} would share the run folder {entry.name}", hint)
