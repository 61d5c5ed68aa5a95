"""A run in other tools' formats: `export(folder, to, out)`.

What all exports ask of a run: its episodes one by one, and the plain standard error that other tools print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from sketchmark.errors import BadInput, UnknownName
from sketchmark.files import file_names
from sketchmark.folder import RunFolder, refuse_partial_scores
from sketchmark.folder.format import EpisodeLine, ScoreRow
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import said
from sketchmark.results import live as summary
from sketchmark.results.summary import withheld
from sketchmark.terminal import counted

__all__ = ["FORMATS", "export"]

_MODULES = {"lmms-eval": "lmms_eval", "inspect": "inspect_log", "wandb": "wandb_run", "hf": "hf_dataset"}
FORMATS = tuple(_MODULES)

Write = Callable[[RunView, Path], list[Path]]


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
    run = RunView.whole(folder)
    if not any(cell.episodes for cell in run.cells.values()):
        raise BadInput(f"{folder.path} has no episodes to export")
    out.mkdir(parents=True, exist_ok=True)
    write: Write = import_module(f"sketchmark.export.{_MODULES[to]}").write
    return write(run, out)


def episodes(cell: CellView) -> Iterator[tuple[EpisodeLine, ScoreRow | None]]:
    """(episode line, score line) of every sample in the task's order; one pair in memory at a time."""
    order = cell.order()
    with counted(order, len(order), cell.name) as samples:
        for sample in samples:
            yield cell.episode(sample), cell.score(sample)


def names_of(run: RunView) -> dict[str, str]:
    """cell → `maze` when answered directly, otherwise `maze_visual_cot`: the way such tasks are named elsewhere. A
    run folder may come from a stranger, and these become names of files."""
    return file_names({name: _name_of(cell) for name, cell in run.cells.items()})


def _name_of(cell: CellView) -> str:
    parts = [cell.task] + ([cell.mode] if cell.mode != "direct" else [])
    return "_".join(parts + ([cell.canvas] if cell.canvas != "own" else []))


def started(run: RunView) -> datetime:
    """When the run was started; where run.json does not say so in a way that can be read, when it was written."""
    try:
        found = datetime.fromisoformat(run.about.started)
    except ValueError:
        found = datetime.fromtimestamp(int(run.folder.run_file.stat().st_mtime), UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def means(cell: CellView) -> dict[str, tuple[float, float | None, int]]:
    """name -> (mean, standard error of the mean, n) over the episodes that say something about the model; nothing
    where the cell's scores are withheld."""
    if withheld(cell.rows.values()):
        return {}
    values: dict[str, list[float]] = {}
    for row in cell.rows.values():
        for name in row.values:
            if (value := row.value(name)) is not None:
                values.setdefault(name, []).append(value)
    found = {}
    for name, all_of in values.items():
        n = len(all_of)
        mean = sum(all_of) / n
        spread = math.sqrt(sum((v - mean) ** 2 for v in all_of) / (n - 1) / n) if n > 1 else None
        found[name] = (mean, spread, n)
    return found


def how_scored(cell: CellView) -> dict[str, str | float]:
    """What belongs beside the means, under the keys it is exported by: by what rules, how many replies were cut or
    could not be read, and why there are no means."""
    found = summary.live_result(cell)
    told = {"scoring": found.scoring, "cut": found.cut, "unparsed": found.unparsed, "problem": found.problem}
    return {f"sketchmark_{name}": value for name, value in told.items() if value not in (None, "")}


def answer_of(line: EpisodeLine) -> str | None:
    """The last thing said; None where nothing was, or the episode failed: a failure must not be read as an answer."""
    answers = said(line)
    return answers[-1] if answers and not line.failure else None


def asked(line: EpisodeLine) -> str:
    """The texts that were put before the model first."""
    shown = (part.text for turn in line.turns if turn.act == "show" for part in turn.added)
    return "\n".join(text for text in shown if text is not None)
