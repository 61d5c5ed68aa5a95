"""The viewer as static files: pages, data and images for a plain web server or the supplement of a paper.

The pages are those of the live viewer; `static/site.js` answers them from the data files instead of a server.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import small
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import media_names
from sketchmark.media.sound import FORMATS
from sketchmark.report import page as report_page
from sketchmark.results.repeats import sample_codes
from sketchmark.terminal import counted
from sketchmark.view import STATIC, media
from sketchmark.view.query import Query, card
from sketchmark.view.runs import RunList, gain_forest
from sketchmark.view.views import MOST_REPEATS, Views

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
_LARGE = 32 * 2**10
"""Bytes from which an image gets a small copy for strips and lists."""
_PAIRS = 400
"""Comparisons between runs that are computed beforehand; an exported page cannot compute intervals."""


@dataclass(frozen=True)
class Extent:
    """Contents of an export: estimated before it is written, counted afterwards."""

    runs: int
    episodes: int
    files: int
    size: int

    def in_words(self) -> str:
        runs = f"{self.runs} run{'s' * (self.runs != 1)}"
        return f"{runs}, {self.episodes:,} episodes, {self.size / 1e6:.1f} MB in {self.files:,} files"


def estimate(root: Path) -> Extent:
    """Estimate an export from the sizes of the run folders, without reading transcripts."""
    runs = RunList(root).look()
    if not runs:
        raise BadInput(f"{root} holds no run that can be read", "give a run folder, or a folder of runs")
    episodes = sum(len(cell.episodes) for run in runs for cell in run.cells.values())
    images = [path.stat().st_size for run in runs for path in run.folder.pictures.folder.rglob("*") if path.is_file()]
    lines = sum(
        run.folder.episodes_file(cell).stat().st_size
        for run in runs
        for cell in run.cells
        if run.cells[cell].episodes
    )
    pages = sum(path.stat().st_size for path in STATIC.iterdir())
    cards = 2200 * (episodes + sum(_beside(cell) for run in runs for cell in run.cells.values()))
    reports = 400_000 * len(runs)
    files = len(images) + episodes + 4 * len(runs) + 16
    return Extent(len(runs), episodes, files, sum(images) + int(1.4 * lines) + cards + pages + reports)


def _beside(cell: CellView) -> int:
    """Return the cards on the pages of repeated episodes, each of which shows all repeats of its sample."""
    if not cell.episodes.repeats:
        return 0
    counts = np.bincount(sample_codes(cell.episodes))
    return int((counts * np.minimum(counts, MOST_REPEATS)).sum())


def export(root: Path, out: Path) -> Extent:
    """Write the site into a new or empty folder; it appears there whole or not at all."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} is not an empty folder", "choose another --export")
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=out.parent, prefix=f".{out.name}-"))
    try:
        episodes = _write(root, made)
        made.chmod(0o755)
        if out.exists():
            out.rmdir()
        made.replace(out)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    files = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
    return Extent(len(list((out / "data").glob("*/run.json"))), episodes, len(files), sum(files))


def _write(root: Path, out: Path) -> int:
    views = Views(root)
    listed = views.runs({})
    opened = {row["run"]: views.open(row["run"]) for row in listed["runs"]}
    _pages(out)
    folders: dict[str, Any] = {}
    total = 0
    for number, (key, run) in enumerate(opened.items()):
        place = out / "data" / str(number)
        place.mkdir(parents=True)
        whole = views.run({"run": key})
        whole["has_report"] = _report(run, out / "report" / str(number))
        _json(place / "run.json", whole)
        count, names = _episodes(views, run, place)
        total += count
        folders[key] = {"folder": str(number), "large": _media(run, names, out, str(number))}
    compared = {json.dumps(pair): found for pair, found in _compared(views, opened)}
    _json(
        out / "data" / "runs.json",
        {**listed, **gain_forest(listed["runs"]), "folders": folders, "compared": compared},
    )
    return total


def _pages(out: Path) -> None:
    """Copy the pages, with addresses relative to index.html and the policy that the server would send."""
    shutil.copytree(STATIC, out / "static", ignore=shutil.ignore_patterns("index.html"))
    page = (
        (STATIC / "index.html")
        .read_text("utf-8")
        .replace('"/static/', '"static/')
        .replace('href="/"', 'href="index.html"')
    )
    marks = (
        '<meta name="sketchmark-export" content="1">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
    )
    (out / "index.html").write_text(page.replace("<title>", "\n    ".join((*marks, "<title>"))), "utf-8")


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")), "utf-8")


def _report(run: RunView, place: Path) -> bool:
    """Make the report again: the one in the folder may be old, or not ours."""
    try:
        made = report_page(run)
    except SketchmarkError:
        return False
    place.mkdir(parents=True)
    (place / "report.html").write_text(made, "utf-8")
    return True


def _episodes(views: Views, run: RunView, place: Path) -> tuple[int, set[str]]:
    """Write one file per episode and a list of all; return their number and the names of their media."""
    hits = Query().hits(run, {})
    items, names = [], set[str]()
    (place / "episodes").mkdir()
    with counted(hits, len(hits), "exporting") as rows:
        for number, hit in enumerate(rows):
            items.append(card(run, hit))
            found = views.episode({"run": run.key, "cell": hit.cell.name, "sample": hit.sample})
            _json(place / "episodes" / f"{number}.json", found)
            names.update(media_names(hit.cell.episode(hit.sample)))
    facets = views.samples({"run": run.key})["facets"]
    _json(place / "samples.json", {"run": run.key, "model": run.model, "facets": facets, "items": items})
    return len(hits), names


def _media(run: RunView, names: set[str], out: Path, folder: str) -> list[str]:
    """Write every image and sound once; return the names of images with a small copy."""
    large = []
    for name in sorted(names):
        place = out / "media" / folder
        place.mkdir(parents=True, exist_ok=True)
        try:
            data = (media.recording if _is_sound(name) else media.original)(run.folder, name)[0]
            (place / name).write_bytes(data)
            if not _is_sound(name) and len(data) > _LARGE:
                thumbs = out / "small" / folder
                thumbs.mkdir(parents=True, exist_ok=True)
                (thumbs / name).write_bytes(small(run.folder.pictures.load(name), 320))
                large.append(name)
        except (SketchmarkError, OSError):
            continue  # the page shows that it is missing
    return large


def _is_sound(name: str) -> bool:
    return name.rpartition(".")[2] in FORMATS


def _compared(views: Views, runs: dict[str, RunView]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """Yield the differences that a reader may open: a run's cells against direct, and the same cell of two runs."""
    keep = ("difference", "family", "differs", "summary")
    for key, run in runs.items():
        for cell in run.cells.values():
            if base := run.baseline(cell):
                found = views.compare({"a": key, "b": key, "cell_a": base.name, "cell_b": cell.name})
                yield [key, key, base.name, cell.name], {name: found[name] for name in keep}
    pairs = [
        (a, b, name)
        for at, a in enumerate(runs)
        for b in list(runs)[at + 1 :]
        for name in runs[a].cells
        if name in runs[b].cells
    ]
    for a, b, name in pairs[:_PAIRS]:
        found = views.compare({"a": a, "b": b, "cell_a": name, "cell_b": name})
        yield [a, b, name, name], {one: found[one] for one in keep}
