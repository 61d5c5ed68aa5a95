"""A run in other tools' formats: `export(folder, to, out)`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from sketchmark.errors import BadInput, UnknownName
from sketchmark.runs.complete import refuse_partial_scores
from sketchmark.runs.index import RunIndex
from sketchmark.runs.store import RunFolder

__all__ = ["FORMATS", "export"]

_MODULES = {"lmms-eval": "lmms_eval", "inspect": "inspect_log", "wandb": "wandb_run", "hf": "hf_dataset"}
FORMATS = tuple(_MODULES)

Write = Callable[[RunIndex, Path], list[Path]]


def export(folder: RunFolder, to: str, out: Path | None = None) -> list[Path]:
    """Write the run to the folder `out` (RUN-FORMAT beside the run) and return the files made.

    Nothing that is already there is overwritten.
    """
    to = to.replace("_", "-")
    if to not in _MODULES:
        raise UnknownName(f"there is no export to {to!r}", f"there are: {', '.join(FORMATS)}")
    out = out or folder.path.resolve().with_name(f"{folder.path.resolve().name}-{to}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} is not an empty folder", "choose another --out")
    refuse_partial_scores(folder)
    run = RunIndex.whole(folder)
    if not any(cell.episodes for cell in run.cells.values()):
        raise BadInput(f"{folder.path} has no episodes to export")
    out.mkdir(parents=True, exist_ok=True)
    write: Write = import_module(f"sketchmark.export.{_MODULES[to]}").write
    return write(run, out)
