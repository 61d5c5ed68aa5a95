"""Figures for papers: kinds, sizes, formats, numbers next to them, and what they refuse."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from sketchmark import Run
from sketchmark.commands.folders import plot_command
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import Mean
from sketchmark.markup import percent
from sketchmark.plots import COLOURS, Disc, Drawing, charts
from sketchmark.plots.figures import KINDS, figure, opened
from tests.comparison.folders import rows, write_run
from tests.tabled import tabled
from tests.view import hostile
from tests.view.making import Maker, play, sample

CONTROLS = ("maze.direct", "maze.visual_cot", "maze.visual_cot.blank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    root = tmp_path_factory.mktemp("runs")
    Maker(root / "beta", model="player/other").fill(12, seed=9).finish()
    return Maker(root / "alpha", cells=CONTROLS).fill(24).finish()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_every_kind_is_written_in_every_format_with_its_numbers(
    folder: RunFolder, tmp_path: Path, kind: str, ending: str
) -> None:
    out = tmp_path / f"figure.{ending}"
    result = CliRunner().invoke(plot_command, [str(folder.path), "--kind", kind, "--out", str(out), "--width", "4"])
    assert result.exit_code == 0, result.output
    assert result.output.split() == [str(out), str(out.with_suffix(".csv"))]
    if ending == "svg":
        root = ET.fromstring(out.read_text("utf-8"))
        assert root.get("width") == "288" and root.get("role") == "img" and root.get("aria-label")
        colours = {one.get(key) for one in root.iter() for key in ("fill", "stroke")} - {None, "none"}
        assert colours <= set(COLOURS.values())
    elif ending == "png":
        image = Image.open(out)
        assert image.width == pytest.approx(4 * 300, abs=2) and len(image.getcolors(1 << 20) or []) > 20
    else:
        data = out.read_bytes()
        assert data.startswith(b"%PDF") and b"/FontFile2" in data, "the fonts are embedded"
        assert re.search(rb"/MediaBox \[ ?0 0 288", data)
    with out.with_suffix(".csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) >= 1


def test_the_numbers_next_to_a_figure_are_those_of_the_results(folder: RunFolder) -> None:
    found = Run(folder.path).plot("scores")
    table = {(row["mode"], row["canvas"]): row for row in csv.DictReader(found.csv().splitlines())}
    for cell in folder.results().tasks.values():
        metric, row = cell.metrics[cell.headline], table[cell.mode, cell.canvas]
        assert float(row["score"]) == pytest.approx(100 * metric.mean, abs=5e-4)
        assert int(row["n"]) == metric.n and percent(metric.mean) in found.drawing.svg()
    gains = {row["canvas"]: row for row in csv.DictReader(Run(folder.path).plot("gain").csv().splitlines())}
    for gain in folder.results().gains:
        assert float(gains[gain.canvas]["p_holm"]) == gain.p_holm and gains[gain.canvas]["verdict"] == gain.verdict


def test_several_runs_are_rows_of_one_forest_and_one_leaderboard(folder: RunFolder) -> None:
    runs = list(opened([folder.path.parent]))
    assert len(runs) == 2
    gain = figure(runs)
    assert sorted(str(row[0]) for row in gain.rows) == ["player/other", "player/test"]
    assert all(name in gain.drawing.svg() for name in (">test<", ">other<"))
    board = figure(runs, "leaderboard")
    scores = [float(str(row[7])) for row in board.rows]
    assert scores == sorted(scores, reverse=True)


def test_a_notebook_shows_a_figure_as_svg(folder: RunFolder) -> None:
    shown = Run(folder.path).plot()._repr_svg_()
    assert shown.startswith("<svg ") and "var(" not in shown and ">own drawing</text>" in shown


def test_a_strip_outlines_the_first_wrong_drawing_and_shows_its_ground_truth(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run")
    for cell, right in (("direct", True), ("visual_cot", False)):
        maker.add(f"maze.{cell}", play(sample(3), cell, right), 0)
    found = Run(maker.finish().path).plot("strip", sample="maze-00003")
    svg = found.drawing.svg()
    assert "ground truth" in svg and COLOURS["wrong"] in svg and "stroke-dasharray" in svg
    assert [row[-1] for row in found.rows].count(0) >= 1


def test_marks_differ_without_colour() -> None:
    shapes = [(mark, colour) for *_, colour, mark in charts.MARKS.values()]
    assert len(set(shapes)) == len(shapes)
    marks = {place: mark for place, (*_, mark) in charts.MARKS.items()}
    basic = ("direct", "text_cot", "blank", "other", "oracle", "corrupt")
    assert len({marks[place] for place in basic}) == len(basic)


def test_a_clear_gain_is_filled_and_an_unclear_one_hollow() -> None:
    for clear, fill in ((True, "own"), (False, "card")):
        drawing = charts.forest({"": [charts.Row("a", Mean(0.5, (0.2, 0.7), 9), clear)]}, 300)
        assert [shape.fill for shape in drawing.shapes if isinstance(shape, Disc)] == [fill]


def test_marks_stay_inside_their_scale() -> None:
    """A score of 100 with its interval, a negative gain, and a sum beyond 100."""
    for score, signed in (
        (Mean(1.0, (0.9, 1.0), 9), False),
        (Mean(-0.8, (-1, -0.3), 9), True),
        (Mean(700, (650, 720), 9), False),
    ):
        drawing = charts.forest({"": [charts.Row("a", score)]}, 300, signed=signed)
        assert all(0 <= shape.x <= 300 for shape in drawing.shapes if isinstance(shape, Disc))


def test_a_hostile_name_stays_text_in_an_svg(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", model=hostile.ALL).fill(2)
    for kind in KINDS:
        root = ET.fromstring(Run(maker.finish().path).plot(kind)._repr_svg_())
        names = {one.tag.rpartition("}")[2] for one in root.iter()}
        assert names <= {"svg", "rect", "text", "circle", "polygon", "polyline", "image"}
        assert not [name for one in root.iter() for name in one.attrib if name.startswith("on")]


@tabled
def test_a_wrong_option_is_refused_with_what_is_possible(folder: RunFolder, given: list[str], words: str) -> None:
    result = CliRunner().invoke(plot_command, [str(folder.path), *given])
    assert isinstance(result.exception, BadInput) and words in str(result.exception)
    assert not Path("g.svg").exists()


def test_a_run_without_a_gain_is_refused(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"maze.direct": rows([0, 1])})
    with pytest.raises(BadInput, match="no gain over direct"):
        Run(run).plot("gain")
    with pytest.raises(BadInput, match="holds no run"):
        list(opened([tmp_path / "run" / "scores"]))


def test_a_placed_drawing_is_moved_and_scaled() -> None:
    inner, outer = Drawing(10, 10, "inner"), Drawing(100, 100, "outer")
    inner.mark("circle", 2, 4, 1, "own")
    inner.line(0, 0, 10, 10, "ink", 2)
    outer.place(inner, 50, 20, 3)
    disc, line = outer.shapes
    assert (disc.x, disc.y, disc.radius) == (56, 32, 3)  # type: ignore[union-attr]
    assert line.points == ((50, 20), (80, 50)) and line.width == 6  # type: ignore[union-attr]
