"""Exports of a run to other tools' formats: `export(folder, to, out)`."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, UnknownName
from sketchmark.files import file_names
from sketchmark.folder import RunFolder, refuse_partial_scores
from sketchmark.folder.format import EpisodeLine, ScoreRow
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.lock import new_folder
from sketchmark.folder.records import said
from sketchmark.results import summary
from sketchmark.results.repeats import averaged
from sketchmark.results.summary import withheld
from sketchmark.terminal import counted

__all__ = ["FORMATS", "export"]

_MODULES = {
    "lmms-eval": "lmms_eval",
    "inspect": "inspect_log",
    "wandb": "wandb_run",
    "hf": "hf_dataset",
}
_CSV = "csv"
FORMATS = (*_MODULES, _CSV)

_DOING = "exporting"

Write = Callable[[RunView, Path], list[Path]]


def export(folder: RunFolder, to: str, out: Path | None = None) -> list[Path]:
    """Write the run to the folder `out` (default RUN-FORMAT next to the run) and return the files.

    Existing files are not overwritten. The folder has its name when it is complete.
    """
    to = to.replace("_", "-")
    if to not in FORMATS:
        raise UnknownName(f"there is no export to {to!r}", f"there are: {', '.join(FORMATS)}")
    out = out or folder.path.resolve().with_name(f"{folder.path.resolve().name}-{to}")
    if out.exists() and (not out.is_dir() or any(one.name != f".{_DOING}" for one in out.iterdir())):
        raise BadInput(f"{out} is not an empty folder", "choose another --out")
    refuse_partial_scores(folder)
    run = RunView.whole(folder)
    if not any(cell.episodes for cell in run.cells.values()):
        raise BadInput(f"{folder.path} has no episodes to export")
    write: Write = write_csv if to == _CSV else import_module(f"sketchmark.export.{_MODULES[to]}").write
    with new_folder(out.resolve(), _DOING) as made:
        files = write(run, made)
    return [out / file.relative_to(made) for file in files]


def episodes(cell: CellView) -> Iterator[tuple[EpisodeLine, ScoreRow | None]]:
    """Yield (episode line, score line) of every sample in the task's order; memory holds one pair."""
    with counted(cell.pairs(), len(cell.episodes), cell.name) as pairs:
        yield from pairs


def samples_of(cell: CellView) -> dict[str, list[str]]:
    """Return sample → the keys of its episodes, in the task's order."""
    ids = dict(zip(cell.episodes, cell.episodes.samples, strict=True))
    found: dict[str, list[str]] = {}
    for key in cell.order():
        found.setdefault(ids[key], []).append(key)
    return found


def repeats_in(cell: CellView) -> tuple[int, int]:
    """Return the largest numbers of repeats and of answers to one drawing."""
    repeats, answers = (1 + int(cell.episodes.arrays[name].max(initial=0)) for name in ("repeat", "branch"))
    return repeats, answers


def names_of(run: RunView) -> dict[str, str]:
    """Return cell → `maze` for direct, else `maze_visual_cot`, as other tools name such tasks. The names are safe as
    file names, even from an untrusted run folder."""
    return file_names({name: _name_of(cell) for name, cell in run.cells.items()})


def _name_of(cell: CellView) -> str:
    parts = [cell.task] + ([cell.mode] if cell.mode != "direct" else [])
    return "_".join(parts + ([cell.canvas] if cell.canvas != "own" else []))


def started(run: RunView) -> datetime:
    """Return the start time in run.json, or the time of that file if it is unreadable."""
    try:
        found = datetime.fromisoformat(run.about.started)
    except ValueError:
        found = datetime.fromtimestamp(int(run.folder.run_file.stat().st_mtime), UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def means(cell: CellView) -> dict[str, tuple[float, float | None, int]]:
    """Return name → (mean, standard error, n) over the scored samples; empty if the scores are withheld."""
    if withheld(cell.rows):
        return {}
    found = {}
    for name in cell.rows.names():
        _, values = averaged(cell.rows, cell.rows.metric(name))
        if n := len(values):
            mean = sum(values.tolist()) / n
            spread = math.sqrt(sum((v - mean) ** 2 for v in values.tolist()) / (n - 1) / n) if n > 1 else None
            found[name] = (mean, spread, n)
    return found


def how_scored(cell: CellView) -> dict[str, str | float]:
    """Return facts to export with the means: scoring, truncated and unparsed replies, reason for missing means."""
    found = summary.live_result(cell)
    told = {"scoring": found.scoring, "cut": found.cut, "unparsed": found.unparsed, "problem": found.problem}
    return {f"sketchmark_{name}": value for name, value in told.items() if value not in (None, "")}


def answer_of(line: EpisodeLine) -> str | None:
    """Return the last reply; None without one, or if the episode failed: a failure is not an answer."""
    answers = said(line)
    return answers[-1] if answers and not line.failure else None


def asked(line: EpisodeLine) -> str:
    """Return the texts of the question."""
    shown = (part.text for turn in line.turns if turn.act == "show" for part in turn.added)
    return "\n".join(text for text in shown if text is not None)


_FIRST = (
    "cell",
    "task",
    "mode",
    "canvas",
    "sample",
    "repeat",
    "branch",
    "answer",
    "failure",
    "flags",
    "scored",
    "seconds",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(run: RunView, out: Path) -> list[Path]:
    """Write `episodes.csv` for spreadsheets and R: one line per episode in the order of the samples, with its answer,
    scores, flags and usage. Scores that are withheld stay empty."""
    columns = dict.fromkeys(_FIRST)
    for cell in run.cells.values():
        for shape, prefix in (("values", "score"), ("groups", "group"), ("usage", "usage")):
            columns |= dict.fromkeys(f"{prefix}.{name}" for name in cell.rows.names(shape))
    path = out / "episodes.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(columns), lineterminator="\n")
        writer.writeheader()
        for cell in run.cells.values():
            writer.writerows(_rows(cell))
    return [path]


def _rows(cell: CellView) -> Iterator[dict[str, Any]]:
    shown = not withheld(cell.rows.values())
    for line, score in episodes(cell):
        row: dict[str, Any] = {
            "cell": cell.name,
            "task": cell.task,
            "mode": cell.mode,
            "canvas": cell.canvas,
            "sample": line.sample.id,
            "repeat": line.repeat,
            "branch": line.branch,
            "answer": next(reversed(said(line)), ""),
            "failure": line.failure.kind if line.failure else "",
            "flags": " ".join(score.flags) if score else "",
            "scored": bool(score and score.scored),
            "seconds": line.seconds,
        }
        if score:
            row |= {f"score.{name}": score.value(name) if shown else None for name in score.values}
            row |= {f"group.{name}": value for name, value in score.groups.items()}
            row |= {f"usage.{name}": value for name, value in score.usage.items()}
        yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Quote a text that a spreadsheet would run as a formula; a reply may be any text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
