"""The folder of a run before it is played: what it holds already must be of the same model, played the same way."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from sketchmark import __version__
from sketchmark.errors import BadInput, RunConflict
from sketchmark.files.atomic import write_json
from sketchmark.files.plain import plain
from sketchmark.models.base import Model
from sketchmark.models.secrets import to_write_down
from sketchmark.request import Request
from sketchmark.runs.format import FORMAT, CellAbout, ModelAbout, RunAbout
from sketchmark.runs.plan import Cell
from sketchmark.runs.shards import refuse_another_shard
from sketchmark.runs.store import RunFolder, differences

T = TypeVar("T")

_HELD = ("episodes", "scores", "pictures")
_NEW = "use another --output_path"
_ELSEWHERE = "use another --output_path, or --fresh to start over"


def prepare(
    request: Request, cells: list[Cell], model: Model, path: Path, fresh: bool, retires: dict[str, str]
) -> RunFolder:
    folder = RunFolder(path)
    if fresh and folder.run_file.exists():  # never another folder's: ~/pictures is somebody's
        for name in _HELD:
            shutil.rmtree(path / name, ignore_errors=True)
        for name in ("run.json", "results.json", "report.html"):
            (path / name).unlink(missing_ok=True)
    descriptions = {cell.name: cell.describe(model) for cell in cells}
    before = RunAbout(FORMAT)
    if folder.run_file.exists():
        before = folder.about()
        refuse_another_shard(folder, before, request.shard)
    elif not any(path.glob("episodes/*.jsonl")):  # a run that lost its run.json has these
        for name in _HELD:
            if (path / name).exists():
                raise RunConflict(f"{path} is no run folder, and holds {name}: --fresh would remove it", _NEW)
    known = _of_this_model(folder, before.cells, descriptions)
    for name, description in descriptions.items():
        changed = differences(plain(known[name]), plain(description)) if name in known else []
        if changed and not _answered(folder, name):  # a wrong address that is mended: there is nothing to mix
            _forget(folder, name)
        elif changed:
            raise RunConflict(
                f"{path} holds {name} played differently; changed: {'; '.join(changed[:3])}"
                + (f" and {len(changed) - 3} more" if len(changed) > 3 else ""),
                _ELSEWHERE,
            )
    kept = known.keys() - descriptions.keys()
    limits = {cell.name: cell.limit for cell in cells if cell.limit is not None}
    now = RunAbout(
        format=FORMAT,
        sketchmark=__version__,
        model=ModelAbout(request.model, to_write_down(request.model_args), retires or before.model.retires),
        seed=request.seed,
        started=before.started or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine={"python": platform.python_version(), "system": platform.system()},
        cells={**known, **descriptions},
        limits=_of(kept, before.limits) | limits,
        totals=_of(kept, before.totals),
        shard=str(request.shard or ""),
        asked=_of(kept, before.asked) | (dict.fromkeys(descriptions, request.asked) if request.asked else {}),
    )
    try:
        msgspec.convert(plain(now), RunAbout)
    except msgspec.ValidationError as error:  # a folder that could not be read again would be played for nothing
        raise BadInput(f"this run could not be written down: {error}") from error
    write_json(folder.run_file, now)
    return folder


def _of(cells: Collection[str], noted: Mapping[str, T]) -> dict[str, T]:
    return {name: what for name, what in noted.items() if name in cells}


def _of_this_model(
    folder: RunFolder, known: Mapping[str, CellAbout], asked: Mapping[str, CellAbout]
) -> dict[str, CellAbout]:
    """One folder is one model's: a gain between the cells of two would be taken for that of drawing. A name that was
    mended before anything was answered is forgotten with its failures."""
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
    """Whether any call of the cell brought a reply."""
    return any(turn.reply for line in folder.episodes(cell) for turn in line.turns)
