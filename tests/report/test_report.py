"""report.html: one file, complete, harmless."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from sketchmark.audit import audit
from sketchmark.commands.folders import report_command
from sketchmark.comparison import compare
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.folder.results_format import Mean
from sketchmark.markup import bracket, percent, points
from sketchmark.plots import charts
from sketchmark.report import write_report
from sketchmark.report.gallery import Frames
from sketchmark.report.story import Story, story_of
from tests.comparison.folders import rows, write_run
from tests.core.hearing import tone
from tests.core.helpers import colour
from tests.view import hostile
from tests.view.browsing import Watch, keep, launched, window
from tests.view.making import Maker, fail, heard, play, sample

CONTROLS = ("maze.direct", "maze.visual_cot", "maze.visual_cot.blank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    maker = Maker(tmp_path_factory.mktemp("runs") / "run", cells=CONTROLS).fill(30)
    maker.add("maze.visual_cot", fail(sample(30), "visual_cot", "timeout", "took longer than 60 s"), 30)
    return maker.finish()


class Outline(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def test_the_headline_says_whether_drawing_helped(folder: RunFolder) -> None:
    text = Outline(write_report(folder).read_text("utf-8")).text
    assert "Drawing helped on maze. With a blank image in place of its drawing, the gain is gone" in text
    assert re.search(r"Gain by drawing: maze \+\d+\.\d points \[\d+\.\d, \d+\.\d\]\.", text)
    assert re.search(r"With its own drawing the model scores \d+\.\d%, \d+\.\d points less with a blank image", text)


def test_the_scores_name_their_scoring_and_truncated_and_unparsed_replies(tmp_path: Path) -> None:
    text = Outline(write_report(Maker(tmp_path / "run").fill(4).finish("blind")).read_text("utf-8")).text
    assert "Headline score of each task and condition in percent, by strict" in text
    assert "Truncated" in text and "Unparsed" in text
    assert re.search(r"maze.direct: blind .* all from 2 replies read differently \(2 unparsed by blind\)", text)


def test_an_opened_run_gives_the_same_report_comparison_and_audit_as_its_folder(folder: RunFolder) -> None:
    opened = RunView.whole(folder)
    assert write_report(opened).read_bytes() == write_report(folder).read_bytes()
    assert compare(opened, published=True) == compare(folder.path, published=True)
    assert audit(opened) == audit(folder.path)


def test_nothing_in_the_file_points_outside_it(folder: RunFolder) -> None:
    page = write_report(folder).read_text("utf-8")
    outline = Outline(page)
    assert not outline.all("script") and not outline.all("link") and not outline.all("iframe")
    targets = [a.get(name) or "" for _, a in outline.tags for name in ("src", "href", "xlink:href") if a.get(name)]
    assert targets and all(target.startswith(("#", "data:image/webp;base64,")) for target in targets)
    assert "http" not in page.replace("http-equiv", "") and "@import" not in page and "url(" not in page


def test_every_section_of_the_report_is_there(folder: RunFolder) -> None:
    outline = Outline(write_report(folder).read_text("utf-8"))
    for title in (
        "Scores",
        "Does drawing help?",
        "Score by difficulty",
        "Does the model use its drawings?",
        "Right drawing, right answer?",
        "Failures",
        "Episodes",
        "Settings",
    ):
        assert title in outline.text
    captions = re.findall(r"<caption>(.*?)</caption>", write_report(folder).read_text("utf-8"))
    assert len(captions) == len(set(captions)) >= 5, "every table once"
    assert "timeout" in outline.text and "took longer than 60 s" in outline.text


def test_images_charts_and_tables_are_accessible(folder: RunFolder) -> None:
    outline = Outline(write_report(folder).read_text("utf-8"))
    assert all(image.get("alt") for image in outline.all("img"))
    charts = outline.all("svg")
    assert len(charts) >= 4 and all(chart.get("role") == "img" and chart.get("aria-label") for chart in charts)
    assert outline.all("th") and all(cell.get("scope") in ("col", "row") for cell in outline.all("th"))


def test_a_film_strip_names_its_sounds(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", cells=("maze.direct",))
    maker.add("maze.direct", play(heard(sample(0), tone(), tone(880)), "direct", True), 0)
    folder = maker.finish()
    folder.pictures.path(f"{tone(880).digest}.wav").unlink()
    page = write_report(folder).read_text("utf-8")
    assert re.search(r"input: clip.{,60}>a sound, wav, 8 kB\na sound, missing<", page)
    assert not Outline(page).all("audio") and "data:audio" not in page


def test_a_film_strip_counts_the_inputs_it_leaves_out(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", cells=("maze.direct",))
    views = [colour(shade) for shade in ("red", "blue", "lime", "teal", "gold", "navy")]
    many = replace(sample(0), pictures={**sample(0).pictures, "views": views})
    maker.add("maze.direct", play(many, "direct", True), 0)
    page = write_report(maker.finish()).read_text("utf-8")
    assert page.count("input image views") == 4 and "and 2 more, not shown here" in page


def test_the_gallery_says_if_drawing_changed_nothing(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", cells=("maze.direct", "maze.visual_cot"))
    for cell in ("direct", "visual_cot"):
        maker.add(f"maze.{cell}", play(sample(0), cell, True), 0)
    page = write_report(maker.finish()).read_text("utf-8")
    assert "Drawing changed no answer." in page and "No episode has been scored yet." not in page


def test_a_film_strip_shows_each_drawing_next_to_the_ground_truth(folder: RunFolder) -> None:
    alts = [image.get("alt") for image in Outline(write_report(folder).read_text("utf-8")).all("img")]
    first = alts.index("drawing 1 by the model")
    assert alts[first - 1 : first + 2] == [
        "input image initial",
        "drawing 1 by the model",
        "ground truth of drawing 1",
    ]


def test_pictures_stop_when_the_budget_is_spent(folder: RunFolder) -> None:
    frames = Frames(folder, budget=3_000)
    names = sorted({path.name for path in folder.pictures.folder.rglob("*.png")})
    shown = [frames.show(name, "a picture") for name in names[:20]]
    assert "data:image" in shown[0]
    assert sum(len(one) for one in shown) < 8_000 and "left out to keep this file small" in shown[-1]


def test_a_run_without_scores_still_has_a_report(tmp_path: Path) -> None:
    page = write_report(Maker(tmp_path / "run").folder).read_text("utf-8")
    assert "Nothing has been scored yet." in page


def test_texts_of_models_and_datasets_stay_text(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", model=hostile.SCRIPT)
    for cell in maker.cells:
        maker.add(cell, play(sample(1), cell.split(".")[1], False, text=hostile.ALL + hostile.LONG), 1)
    bad = fail(sample(2), "visual_cot", hostile.IMAGE, hostile.BREAKOUT)
    maker.add("maze.visual_cot", bad, 2)
    page = write_report(maker.finish()).read_text("utf-8")
    outline = Outline(page)
    assert not outline.all("script") and not [a for _, a in outline.tags if any(k.startswith("on") for k in a)]
    assert hostile.SCRIPT in outline.text and "\x00" not in page
    assert len(page) < 400_000


def test_a_browser_fits_the_report_to_a_phone_prints_it_on_white_and_runs_nothing_in_it(
    folder: RunFolder, tmp_path: Path
) -> None:
    maker = Maker(tmp_path / "hostile", model=hostile.ALL)
    for cell in maker.cells:
        maker.add(cell, play(sample(1), cell.split(".")[1], False, text=hostile.ALL), 1)
    background = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    cases = [(write_report(folder), False), (write_report(folder), True), (write_report(maker.finish()), True)]
    with launched() as chromium:
        for path, dark in cases:
            with window(chromium, 390, dark=dark, offline=True) as context:
                page = context.new_page()
                watch = Watch(page, path.as_uri())
                page.goto(path.as_uri())
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
                assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
                assert page.evaluate("window.pwned") is None and not watch.troubles
                keep(page, f"report-{path.parent.name}-{'dark' if dark else 'light'}")
                assert (max(page.evaluate(background)) < 64) == dark
                page.emulate_media(media="print")
                assert min(page.evaluate(background)) > 192


def test_the_command_writes_the_report_and_prints_its_path(folder: RunFolder) -> None:
    (folder.path / "report.html").unlink(missing_ok=True)
    result = CliRunner().invoke(report_command, [str(folder.path)])
    assert result.exit_code == 0 and Path(result.output.strip()) == folder.path / "report.html"
    assert (folder.path / "report.html").exists()


SCORES = ((0.667, (0.5, 0.8)), (66.7, (50.0, 80.0)))


def test_a_score_that_is_not_a_proportion_is_shown_unchanged() -> None:
    """An accuracy in percent; the interval shows it for a small value."""
    assert (percent(0.667, (0.5, 0.8)), percent(66.7, (50, 80)), percent(0.9, (0, 5))) == ("66.7", "66.7", "0.9")
    assert (points(75, (18, 92)), points(-0.5, (-0.9, 0.1))) == ("+75.0", "\u221250.0")
    assert (bracket((0.4, 35.2)), bracket((-0.05, 0.5))) == ("[0.4, 35.2]", "[\u22125.0, 50.0]")
    drawn = [charts.forest({"sums": [charts.Row("direct", Mean(*score, n=9))]}, 400).svg() for score in SCORES]
    assert drawn[0] == drawn[1]


# Sentences about a run: what they claim is what the paired differences show, and no more.


LOW, SOME, HIGH = [0] * 20, [1] * 10 + [0] * 10, [1] * 20
INSTEAD = "With a blank image in place of its drawing, the gain"


def story(path: Path, **cells: list[int]) -> Story:
    named = {name.replace("__", "."): rows(values) for name, values in cells.items()}
    return story_of(RunView.whole(RunFolder.open(write_run(path / "run", named))))


@pytest.mark.parametrize(
    ("blank", "said"),
    [
        (LOW, f"{INSTEAD} is gone: the model uses what it drew."),
        (SOME, f"{INSTEAD} is smaller, but still there."),
        (HIGH, f"{INSTEAD} is not clearly smaller."),
    ],
)
def test_the_blank_control_decides_what_is_said_of_a_gain(tmp_path: Path, blank: list[int], said: str) -> None:
    found = story(tmp_path, maze__direct=LOW, maze__visual_cot=HIGH, maze__visual_cot__blank=blank)
    assert found.headline == f"Drawing helped on maze. {said}"


def test_tasks_are_told_apart(tmp_path: Path) -> None:
    cells = {"a__direct": LOW, "a__visual_cot": HIGH, "b__direct": HIGH, "b__visual_cot": LOW}
    found = story(tmp_path, **cells, c__direct=SOME, c__visual_cot=SOME)
    assert found.headline == "Drawing helped on a; drawing hurt on b; drawing changed no answer on c."
    assert found.lede.startswith("Gain by drawing: a +100.0 points [") and found.controls == ""


def test_controls_differ_by_task(tmp_path: Path) -> None:
    cells = {"a__direct": LOW, "a__visual_cot": HIGH, "a__visual_cot__blank": LOW}
    cells |= {"b__direct": LOW, "b__visual_cot": HIGH, "b__visual_cot__blank": HIGH}
    found = story(tmp_path, **cells)
    assert found.headline == f"Drawing helped on both tasks. {INSTEAD} is gone on a, is not clearly smaller on b."
    assert found.controls.startswith("With its own drawing the model scores 100.0%, not clearly less with a blank")


def test_without_a_gain_no_control_is_named(tmp_path: Path) -> None:
    found = story(tmp_path, maze__direct=SOME, maze__visual_cot=SOME, maze__visual_cot__blank=LOW)
    assert found.headline == "Drawing changed no answer on maze."


def test_ground_truth_images_show_what_wrong_drawings_cost(tmp_path: Path) -> None:
    found = story(tmp_path, maze__direct=LOW, maze__visual_cot=SOME, maze__visual_cot__oracle=HIGH)
    assert "With ground-truth images it scores 50.0 points more: wrong drawings cost that much." in found.lede
    assert found.apart["maze"]["oracle"].verdict == "worse"


def test_a_run_without_drawings_states_its_scores(tmp_path: Path) -> None:
    found = story(tmp_path, maze__direct=SOME)
    assert "50.0% [29.9, 70.1] on maze (direct)" in found.headline and not found.gains
