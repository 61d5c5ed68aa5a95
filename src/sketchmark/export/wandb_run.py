"""Weights & Biases run, written offline into OUT: `wandb sync OUT/wandb/offline-run-*` uploads it.

Nothing is sent from here, so you need no key.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.errors import MissingExtra
from sketchmark.export import answer_of, episodes, how_scored, means, names_of
from sketchmark.files import PictureStore
from sketchmark.files.jsonl import plain
from sketchmark.folder.format import EpisodeLine
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import drawn_names, input_names, sound_names
from sketchmark.results.gains import live_gains

if TYPE_CHECKING:
    from PIL import Image


MOST = 100
"""Film strips per task and mode; the numbers cover all episodes."""
_SIDE = 160
_COLUMNS = ("sample", "score", "answer", "flags", "seconds")


def write(run: RunView, out: Path) -> list[Path]:
    try:
        import wandb
    except ModuleNotFoundError as error:
        raise MissingExtra("export --to wandb", "wandb") from error
    upload = wandb.init(
        project="sketchmark",
        name=f"{run.model} {run.about.started}",
        dir=str(out),
        mode="offline",
        config={key: value for key, value in plain(run.about).items() if key in ("model", "seed", "cells")},
        settings=wandb.Settings(silent=True, console="off", disable_git=True, save_code=False, x_disable_stats=True),
    )
    with upload:
        for cell, name in zip(run.cells.values(), names_of(run).values(), strict=True):
            for what, value in how_scored(cell).items():
                upload.summary[f"{name}/{what}"] = value
            for metric, (mean, spread, n) in means(cell).items():
                upload.summary[f"{name}/{metric}"] = mean
                upload.summary[f"{name}/{metric}_stderr"] = spread
                upload.summary[f"{name}/{metric}_n"] = n
            if cell.episodes:
                upload.log({f"{name}/episodes": _table(wandb, cell), f"{name}/strips": _strips(wandb, run, cell)})
        for gain in live_gains(run):
            name = f"gain/{gain.task}_{gain.mode}" + ("" if gain.canvas == "own" else f"_{gain.canvas}")
            name += "" if gain.over == "direct" else f"_over_{gain.over}"
            upload.summary[name] = gain.gain
            upload.summary[f"{name}_low"], upload.summary[f"{name}_high"] = gain.ci95
    # Wait for wandb's helper process, which may still be writing.
    wandb.teardown()
    return sorted(out.glob("wandb/offline-run-*"))


def _table(wandb: Any, cell: CellView) -> Any:
    table = wandb.Table(columns=list(_COLUMNS))
    for line, score in episodes(cell):
        value = score.values.get(cell.headline) if score else None
        flags = ", ".join(score.flags) if score else ""
        table.add_data(line.key, value, answer_of(line) or "", flags, line.seconds)
    return table


def _strips(wandb: Any, run: RunView, cell: CellView) -> list[Any]:
    """Make one image per episode with its inputs and drawings, for the first episodes. Sounds are named. Images
    inside a table would be staged outside the run's folder, and lost if it is moved."""
    lines = [line for line, _ in islice(episodes(cell), MOST)]
    shown = [[*input_names(line.sample), *drawn_names(line)] for line in lines]
    places = max([1, *map(len, shown)])
    return [
        wandb.Image(_strip(run.folder.pictures, names, places), caption=_caption(line, run.folder.pictures))
        for line, names in zip(lines, shown, strict=True)
    ]


def _strip(pictures: PictureStore, names: list[str], places: int) -> Image.Image:
    """Make a strip. All strips of a cell have one width, because W&B crops images to the smallest."""
    from PIL import Image, ImageOps

    strip = Image.new("RGB", (places * _SIDE, _SIDE), "white")
    for number, name in enumerate(names):
        strip.paste(ImageOps.pad(pictures.load(name).image(), (_SIDE, _SIDE), color="white"), (number * _SIDE, 0))
    return strip


def _caption(line: EpisodeLine, pictures: PictureStore) -> str:
    answer = (answer_of(line) or "")[:200]
    heard = "; ".join(map(pictures.sound_in_words, sound_names(line.sample)))
    return f"{line.key}: {answer}" + (f" [{heard}]" if heard else "")
