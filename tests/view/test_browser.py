"""The viewer in a real browser: what a person does with it, and what a stranger's run must not do to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import sketchmark
from sketchmark.markup import bracket, p_value, percent, points
from sketchmark.report import write_report
from sketchmark.view import serving
from tests.comparison.folders import rows, write_run
from tests.view import hostile
from tests.view.browsing import Watch, keep, launched, window
from tests.view.making import Maker, fail, play, sample

CONTROLS = ("maze.direct", "maze.visual_cot", "maze.visual_cot.blank")
MODES = ("direct", "visual_cot")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    maker = Maker(root / "alpha", cells=CONTROLS).fill(60)
    maker.add("maze.visual_cot", fail(sample(60), "visual_cot", "timeout", "took longer than 60 s"), 60)
    write_report(maker.finish())
    Maker(root / "beta", model="player/other").fill(60, seed=9).finish()
    return root


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as chromium:
        yield chromium


@pytest.fixture
def page(chromium: Browser, runs: Path) -> Iterator[Page]:
    with serving(runs) as address, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        yield page
        assert not watch.troubles


def home(page: Page) -> str:
    return re.match(r"https?://[^/]+", page.url)[0]  # type: ignore[index]


def test_the_leaderboard_has_a_sortable_row_per_run_and_opens_one(page: Page) -> None:
    expect(page.get_by_role("heading", name="Does drawing help them think?")).to_be_visible()
    rows = page.locator("tr.row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"\d+\.\d → \d+\.\d"))
    expect(rows.first.get_by_role("img", name=re.compile(r"maze: direct \d+\.\d%, drawn"))).to_be_visible()
    assert "token" not in page.url
    page.get_by_role("button", name="Model").click()
    expect(rows.first).to_contain_text("player/other")
    page.keyboard.press("1")
    expect(page.get_by_role("columnheader", name="maze")).to_have_attribute("aria-sort", "descending")
    page.get_by_label("Filter the runs").fill("ALPHA")
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="player/test alpha").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Drawing helped on maze.")
    expect(page.get_by_role("img", name=re.compile(r"maze: Answers directly \d+\.\d \["))).to_be_visible()
    expect(page.get_by_role("heading", name="See it happen")).to_be_visible()
    expect(page.locator(".card .pill.good, .card .pill.bad")).to_have_count(2)
    assert page.url.endswith("/run?run=alpha")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    expect(opened.value.get_by_text("Does drawing help it think?")).to_be_visible()


def test_the_chart_is_saved_as_svg_and_png(page: Page) -> None:
    page.goto(f"{home(page)}/run?run=alpha")
    for button, opening in (("Save SVG", b"<svg "), ("Save PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            page.get_by_role("button", name=button).click()
        assert Path(saved.value.path()).read_bytes().startswith(opening)
        assert saved.value.suggested_filename == f"player-test-scores.{button[-3:].lower()}"


def test_samples_open_on_drawn_strips_are_filtered_and_the_address_keeps_the_filter(page: Page) -> None:
    page.goto(f"{home(page)}/samples?run=alpha")
    expect(page.get_by_role("heading", level=1)).to_contain_text("61 episodes · maze · own drawing")
    headings = page.locator(".change-head")
    expect(headings.first).to_contain_text("▲ Helped")
    first = page.locator(".gallery .card").first
    expect(first).to_contain_text("helped")
    expect(first.locator(".mini img").nth(1)).to_be_visible()
    expect(first.locator(".answers")).to_contain_text(re.compile("direct ✕.*drawn ✓", re.S))
    page.get_by_role("button", name=re.compile("▼ Hurt")).click()
    page.wait_for_url(re.compile("change=hurt"))
    expect(page.locator(".gallery .card .pill.good")).to_have_count(0)
    hurt = page.locator(".gallery .card").count()
    assert 0 < hurt < 48
    page.reload()
    expect(page.locator(".gallery .card")).to_have_count(hurt)
    expect(page.get_by_label("Mode")).to_have_value("visual_cot")
    page.get_by_role("button", name="Clear all filters").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("181 episodes")
    page.get_by_label("Failure").select_option("timeout")
    expect(page.locator(".gallery .card")).to_have_count(1)
    page.get_by_role("button", name="Clear all filters").click()
    page.get_by_label("Search").fill("maze-00042")
    expect(page.locator(".gallery .card")).to_have_count(3)
    page.get_by_label("Search").fill("nothing says this")
    expect(page.get_by_text("No episode matches")).to_be_visible()


def test_replies_on_which_scorings_disagree_are_filtered_and_show_both_answers(
    chromium: Browser, tmp_path: Path
) -> None:
    Maker(tmp_path / "run").fill(4).finish("blind")
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        expect(
            page.get_by_text(re.compile("Headline score of each task and condition in percent, by strict"))
        ).to_be_visible()
        expect(page.get_by_role("columnheader", name="Unparsed")).to_be_visible()
        expect(page.get_by_text(re.compile(r"maze.direct: .*2 unparsed by blind"))).to_be_visible()
        page.get_by_role("link", name="Replies that scorings read differently").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("4 episodes")
        page.get_by_label("Read differently").select_option("")
        expect(page.get_by_role("heading", level=1)).to_contain_text("8 episodes")
        page.get_by_label("Read differently").select_option("blind")
        expect(page.get_by_role("heading", level=1)).to_contain_text("4 episodes")
        page.locator(".gallery .card").first.click()
        page.get_by_text("Scores, cost and ground truth").click()
        readings = page.get_by_role("region", name="Read differently")
        expect(readings.get_by_role("row", name=re.compile("^strict <ANSWER_JSON>"))).to_be_visible()
        expect(readings.get_by_role("row", name=re.compile("^blind unparsed 0"))).to_be_visible()
        expect(page.get_by_text("1 of 4")).to_be_visible()
        assert not watch.troubles


def test_an_episode_fits_one_screen_and_opens_on_its_first_wrong_drawing(page: Page) -> None:
    page.goto(f"{home(page)}/samples?run=alpha&mode=visual_cot&canvas=own&outcome=wrong&sort=steps:down")
    page.locator(".gallery .card").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        re.compile(r"^Drawing \d of 5 went wrong; so did the answer.$")
    )
    strip = page.get_by_label("The drawings, step by step")
    first = strip.locator(".frame.first")
    expect(first).to_be_focused()
    expect(first.get_by_text("ground truth")).to_be_visible()
    expect(first.get_by_text(re.compile(r"of 25 cells differ"))).to_be_visible()
    expect(first.locator(".marks rect").first).to_be_attached()
    expect(strip.locator(".frame").first).not_to_contain_text("ground truth")
    expect(page.get_by_role("heading", name=re.compile("Answered directly"))).to_be_visible()
    expect(page.get_by_label("Answers")).to_be_in_viewport(ratio=0.9)
    widths = strip.locator(".peek").evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    assert all(100 <= width <= 180 for width in widths), widths
    page.get_by_text(re.compile("Every call with its exact context")).click()
    contexts = page.get_by_text(re.compile(r"exact context: \d+ parts"))
    contexts.last.click()
    expect(page.locator(".turn").last.locator(".parts")).to_contain_text("You are a precise maze solver.")
    expect(page.locator(".turn").last.locator(".parts")).to_contain_text("Emit the final move list.")
    page.locator(".turn").last.get_by_text("raw reply").click()
    expect(page.locator(".turn").last).to_contain_text('"choices"')
    page.get_by_text("Scores, cost and ground truth").click()
    expect(page.get_by_text("maze_text_exact")).to_be_visible()
    assert page.evaluate("[...document.images].filter(i => i.complete).every(image => image.naturalWidth > 0)")


def test_the_ground_truth_of_later_drawings_shows_while_a_key_is_held(chromium: Browser, tmp_path: Path) -> None:
    sketchmark.run(
        "player/sketcher",
        "maze",
        mode="direct,visual_cot",
        limit=12,
        output_path=tmp_path / "run",
        quiet=True,
        model_args={"hand_error": 0.4},
        engine="local",
    )
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        page.goto(f"{home(page)}/samples?run=run&outcome=wrong")
        page.locator(".card", has_text=re.compile(r"from drawing [1-3] of ([5-9]|1\d)")).first.click()
        over = page.locator(".frame.amiss:not(.first) .over").first
        expect(over).to_have_css("opacity", "0")
        page.keyboard.down("t")
        expect(over).to_have_css("opacity", "1")
        page.keyboard.up("t")
        expect(over).to_have_css("opacity", "0")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".frame.first")).not_to_be_focused()
        page.keyboard.press("w")
        expect(page.locator(".frame.first")).to_be_focused()
        expect(page.locator(".ribbon li.x").first).to_be_visible()


def test_keys_walk_through_the_list_and_back(page: Page) -> None:
    page.goto(f"{home(page)}/samples?run=alpha&mode=direct")
    page.locator(".gallery .card").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".gallery .card").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".gallery .card").first).to_be_focused()
    page.keyboard.press("Enter")
    trail = page.locator("#trail [aria-current]")
    expect(trail).to_have_text("maze-00000")
    page.keyboard.press("j")
    expect(trail).to_have_text("maze-00001")
    page.keyboard.press("k")
    expect(trail).to_have_text("maze-00000")
    page.keyboard.press("m")
    expect(page.get_by_role("link", name=re.compile("^own drawing"))).to_have_attribute("aria-current", "page")
    page.keyboard.press("j")
    expect(trail).to_have_text("maze-00001")
    expect(page.get_by_role("link", name=re.compile("^own drawing"))).to_have_attribute("aria-current", "page")
    page.keyboard.press("u")
    page.wait_for_url(re.compile(r"/samples\?run=alpha&mode=direct"))
    page.locator(".gallery .card").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("jj")
    expect(page.get_by_label("Search")).to_have_value("jj")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("next, previous")


def test_two_runs_are_shown_on_the_same_sample(page: Page) -> None:
    for run in ("alpha", "beta"):
        page.get_by_label(f"Choose {run} to compare").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("player/other against player/test, on maze")
    expect(page.get_by_text(re.compile("of 60 shared samples changed"))).to_be_visible()
    expect(page.locator(".side")).to_have_count(2)
    expect(page.locator(".side .strip").last).to_be_visible()
    page.get_by_role("button", name=re.compile("▼ Hurt")).click()
    page.wait_for_url(re.compile("change=hurt"))
    expect(page.locator(".pair-list h3")).to_have_text(["▼ Hurt"])
    expect(page.locator(".side-a .sign.right").first).to_be_visible()
    expect(page.locator(".side-b .sign.wrong").first).to_be_visible()
    first = page.locator(".pair-list [aria-current]").inner_text()
    page.keyboard.press("j")
    page.wait_for_url(re.compile("sample="))
    expect(page.locator(".pair-list [aria-current]")).not_to_have_text(first)


def test_a_run_is_compared_with_itself_direct_against_drawn(page: Page) -> None:
    page.goto(f"{home(page)}/compare?a=alpha&b=alpha")
    expect(page.get_by_role("heading", level=1)).to_have_text("Own drawing against direct, on maze")
    expect(page.locator(".pair-list h3").first).to_contain_text("Hurt")
    expect(page.locator(".result")).to_contain_text(re.compile(r"\d%.*→.*\+\d+\.\d points"))
    page.keyboard.press("x")
    expect(page.get_by_role("heading", level=1)).to_have_text("Direct against own drawing, on maze")


def test_three_runs_are_compared_at_once(chromium: Browser, tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two", "three")):
        Maker(tmp_path / name, model=f"player/{name}").fill(8, seed=number).finish()
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        for name in ("one", "two", "three"):
            page.get_by_label(f"Choose {name} to compare").check()
        page.keyboard.press("c")
        expect(page.get_by_role("heading", level=1)).to_have_text("3 runs compared")
        expect(page.get_by_role("img", name=re.compile("one .*three "))).to_be_visible()
        expect(page.get_by_role("region", name="Right and wrong answers by run")).to_contain_text("maze-0000")


def test_a_page_that_cannot_be_shown_has_ways_back(chromium: Browser, runs: Path) -> None:
    with serving(runs) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        page.goto(f"{home(page)}/episode?run=alpha&cell=maze.direct&sample=none")
        expect(page.get_by_text("This cannot be shown")).to_be_visible()
        page.get_by_role("link", name="The run").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Drawing helped")
        page.goto(f"{home(page)}/run?run=gone")
        page.get_by_role("link", name="All runs").click()
        expect(page.locator("tr.row")).to_have_count(2)


def test_a_growing_run_is_followed_without_reloading(chromium: Browser, tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.get_by_text("4 episodes")).to_be_visible()
        expect(page.locator("#live")).to_have_text("live")
        maker.add("maze.direct", play(sample(2), "direct", True), 2)
        expect(page.get_by_text("5 episodes")).to_be_visible()
        page.get_by_role("link", name="Samples").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("2 episodes")
        page.wait_for_timeout(2500)
        maker.add("maze.visual_cot", play(sample(2), "visual_cot", True), 2)
        expect(page.locator(".gallery .card")).to_have_count(3)
        maker.finish()
        expect(page.locator("#live")).to_have_text("")


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder in which everything that can hold text holds an attack."""
    root = tmp_path_factory.mktemp("strange")
    cells = ("maze.direct", "maze.visual_cot", "../../etc.passwd", "..")
    maker = Maker(root / "<img src=x onerror=alert(1)>", model=hostile.ALL, cells=cells)
    of = sample(1)
    attacked = replace(
        of,
        id=f"../../{hostile.SCRIPT}{hostile.RIGHT_TO_LEFT}",
        fields={hostile.IMAGE: hostile.ALL},
        groups={hostile.LINK: hostile.BREAKOUT, "steps": 2, "other": hostile.RIGHT_TO_LEFT},
    )
    plain = replace(sample(2), groups={hostile.LINK: "plain", "steps": 3})
    for cell in ("maze.direct", "maze.visual_cot"):
        mode = cell.split(".")[1]
        maker.add(cell, play(attacked, mode, False, text=hostile.ALL + "\n" + hostile.LONG), 0)
        maker.add(cell, play(plain, mode, True), 1)
    maker.add("maze.visual_cot", fail(sample(3), "visual_cot", hostile.IMAGE, hostile.ALL), 2)
    (root / "broken").mkdir()
    (root / "broken" / "run.json").write_text("{")
    return root


@pytest.mark.parametrize("width", [1400, 390])
def test_hostile_text_is_shown_as_text_on_every_page(chromium: Browser, strange: Path, width: int) -> None:
    with window(chromium, width) as context, serving(strange) as address:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        expect(page.get_by_text("1 folder could not be read")).to_be_visible()
        harmless(page, "runs", width)
        page.locator("tr.row th a").first.click()
        expect(page.get_by_role("link", name="Samples")).to_be_visible()
        harmless(page, "run", width)
        page.get_by_role("link", name="Samples").click()
        page.get_by_role("button", name="Clear all filters").click()
        expect(page.locator(".gallery .card")).to_have_count(5)
        harmless(page, "samples", width)
        page.locator(".gallery .card").nth(2).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Drawing 2 of 3 went wrong"))
        expect(page.locator("#view .meta")).to_contain_text("../../<script>")
        for summary in page.locator("summary").all():
            summary.click()
        page.get_by_role("button", name=re.compile("Show all 200,")).first.click()
        harmless(page, "episode", width)
        assert page.locator("a[href^='javascript:']").count() == 0
        page.get_by_role("link", name="side by side").click()
        expect(page.locator(".side")).to_have_count(2)
        harmless(page, "compare", width)
        assert not watch.troubles


def harmless(page: Page, name: str, width: int) -> None:
    """Nothing ran, nothing was built from text, nothing pushed the page out of shape."""
    page.wait_for_timeout(300)
    assert page.evaluate("window.pwned") is None
    assert page.locator("#view script, #view [onerror], #view [onload], #view iframe").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    keep(page, f"viewer-hostile-{name}-{width}")


@pytest.mark.parametrize("width", [1400, 900, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_view_fits_its_window(chromium: Browser, runs: Path, width: int, dark: bool) -> None:
    views = {
        "runs": "/",
        "run": "/run?run=alpha",
        "samples": "/samples?run=alpha&mode=visual_cot",
        "episode": "/episode?run=alpha&cell=maze.visual_cot&sample=maze-00003",
        "compare": "/compare?a=alpha&b=beta&cell_a=maze.visual_cot",
        "several": "/several?r1=alpha&r2=beta",
    }
    with window(chromium, width, dark=dark) as context, serving(runs) as address:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        for name, path in views.items():
            page.goto(home(page) + path)
            page.locator("#view h1").first.wait_for()
            page.wait_for_timeout(400)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            keep(page, f"viewer-{name}-{width}-{'dark' if dark else 'light'}")
        assert not watch.troubles


def test_a_page_without_the_key_names_the_address(chromium: Browser, runs: Path) -> None:
    with serving(runs) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(f"{address.partition('?')[0]}run?run=alpha&token=wrong")
        expect(page.get_by_text("Open the address that `sketchmark view` printed")).to_be_visible()


def test_a_cell_with_a_broken_scorer_shows_the_reason(chromium: Browser, tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = Maker(tmp_path / name).fill(4).finish()
    broken = folder.scores_file("maze.visual_cot")
    lines = broken.read_text("utf-8").splitlines(keepends=True)
    failed = lines[0].partition(',"crc":')[0].replace('"flags":[', '"flags":["scorer_failed"') + "}\n"
    broken.write_text(failed + "".join(lines[1:]), "utf-8")
    words = "–, no score is shown: 1 scorer failure; sketchmark score RUN"
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("tr.row", has_text="two").get_by_text(words)).to_be_visible()
        page.get_by_role("link", name="player/test two").click()
        expect(page.get_by_role("cell", name=words)).to_be_visible()
        expect(page.get_by_role("heading", name="Does drawing help?")).to_have_count(0)
        page.goto(f"{home(page)}/compare?a=two&b=two&cell_a=maze.direct&cell_b=maze.visual_cot")
        expect(page.locator(".result")).to_contain_text(words)
        expect(page.locator(".result .change")).to_have_count(0)


def test_a_difference_has_a_colour_only_where_the_corrected_test_calls_it_clear(
    chromium: Browser, tmp_path: Path
) -> None:
    few, more = [0] * 8, [1] * 6 + [0] * 2
    one = {f"{task}.{mode}": rows(few if mode == "direct" else more) for task in "ab" for mode in MODES}
    write_run(tmp_path / "one", one)
    write_run(
        tmp_path / "two", {f"a.{mode}": rows(few if mode == "direct" else [1] * 8) for mode in MODES}, model="b"
    )
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        result, change = page.locator(".outcome"), page.locator(".result .change")
        for runs, words, colour in (
            ("a=one&b=one", "p 0.063 (Holm, over 2 comparisons)", "change"),
            ("a=two&b=two", "p 0.008 (Holm, over 1 comparison)", "change good"),
            ("a=one&b=two", "p 0.008, not corrected", "change"),
        ):
            page.goto(f"{home(page)}/compare?{runs}&cell_a=a.direct&cell_b=a.visual_cot")
            expect(result).to_contain_text(words)
            expect(change).to_have_class(re.compile(rf"^{colour}\s*$"))


def test_published_scores_are_marked_in_the_leaderboard(chromium: Browser, tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = Maker(tmp_path / name).fill(20).finish()
        results = json.loads(folder.results_file.read_text())
        figure = {"score": "maze_text_exact", "channel": "text", "source": "a <b>paper</b>", "protocol": "asked once"}
        results["tasks"]["maze.visual_cot"]["published"] = [
            {**figure, "model": "Model A", "value": 0.181, "n": 149},
            {**figure, "model": "<img src=x onerror=alert(1)>", "value": 0.5},
            {**figure, "model": "Model B", "value": 0.9, "score": "another score"},
        ]
        folder.results_file.write_text(json.dumps(results))
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        row = page.get_by_role("row", name=re.compile("published Model A"))
        expect(row).to_have_count(1)
        expect(row).to_contain_text("visual_cot 18.1 n 149")
        expect(row.get_by_role("checkbox")).to_have_count(0)
        expect(page.get_by_text("a <b>paper</b>").first).to_be_visible()
        expect(page.get_by_text("Model B")).to_have_count(0)
        expect(page.get_by_text("they enter no statistic here")).to_be_visible()
        assert not watch.troubles


def test_numbers_are_written_as_python_writes_them(page: Page) -> None:
    """One rounding for terminal, report and viewer; an accuracy in percent stays as it is."""
    cases: list[tuple[float, tuple[float, float]]] = [
        *((k / n, (0.0, 1.0)) for n in (7, 16, 40, 80, 160) for k in range(n + 1)),
        *((-k / 80, (-1.0, 1.0)) for k in range(81)),
        (66.7, (50, 80)),
        (0.9, (0, 5)),
        (75, (18, 92)),
        (-0.0004, (-0.1, 0.1)),
    ]
    shown = page.evaluate(
        """async (cases) => {
        const { bracket, chance, percent, points } = await import("/static/format.js");
        const all = (value, ci) => [percent(value, ci), points(value, ci), bracket(ci), chance(Math.abs(value))];
        return cases.map(([value, ci]) => all(value, ci));
    }""",
        cases,
    )
    assert shown == [[percent(v, ci), points(v, ci), bracket(ci), p_value(abs(v))] for v, ci in cases]
    assert shown[cases.index((5 / 16, (0.0, 1.0)))][:2] == ["31.3", "+31.3"]


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ladders")
    sketchmark.run(
        "player/sketcher",
        "rush_hour",
        mode="direct,text_input,visual_cot",
        limit=10,
        model_args={"lookahead": 2, "hand_error": 0.0},
        output_path=root / "ladder",
        engine="local",
    )
    return root


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_score_by_level_shows_direct_and_drawn_in_viewer_and_report(
    chromium: Browser, ladder: Path, width: int, dark: bool
) -> None:
    scored = "rush_hour: score by level: .*directly 1: 100.0 .*5: 0.0 .*own drawing 1: 100.0 .*5: 100.0 "
    with window(chromium, width, dark=dark) as context, serving(ladder) as address:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        pages = {"viewer": f"{home(page)}/run?run=ladder", "report": (ladder / "ladder/report.html").as_uri()}
        for name, path in pages.items():
            page.goto(path)
            expect(page.get_by_role("heading", name="Score by difficulty")).to_be_visible()
            chart = page.get_by_role("img", name=re.compile(scored)).locator("visible=true")
            chart.scroll_into_view_if_needed()
            expect(chart).to_be_visible()
            places = "all => all.map(one => [one.getAttribute('cx'), one.getAttribute('cy')].join())"
            middles = chart.locator("circle").evaluate_all(places)
            assert len(middles) == len(set(middles)) == 12, "five of direct, five of drawn, two of the legend"
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
            keep(page, f"{name}-ladder-{width}-{'dark' if dark else 'light'}")
        assert all(trouble.endswith("report.html") for trouble in watch.troubles)  # which was opened above


def test_answers_of_several_words_are_separated(chromium: Browser, ladder: Path) -> None:
    with window(chromium) as context, serving(ladder) as address:
        page = context.new_page()
        page.goto(address)
        page.goto(f"{home(page)}/samples?run=ladder")
        expect(page.locator(".card .moves").last).to_have_text(re.compile(r"^\w+ \w+, \w+ \w+"))


def test_repeats_of_a_sample_are_side_by_side_with_their_answers(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("repeated")
    sketchmark.run(
        "player/flawed", "maze", mode="direct,visual_cot", limit=2, repeats=3, answers=2, output_path=root / "run",
        model_args="draw_slip=0.5,read_slip=0.3,knows=0.5", no_cache=True, quiet=True,
    )  # fmt: skip
    with serving(root) as address, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        page.goto(f"{home(page)}/episode?run=run&cell=maze.visual_cot&sample=maze-0-000001")
        shown = page.get_by_role("region", name="Repeats of this sample")
        columns = shown.locator("ol.repeats > li")
        expect(columns).to_have_count(3)
        for number in range(3):
            expect(columns.nth(number).get_by_role("heading")).to_contain_text(f"Repeat {number}")
            expect(columns.nth(number).get_by_role("link")).to_have_count(2)
            expect(columns.nth(number).locator(".still img").first).to_be_visible()
        tops = [columns.nth(number).bounding_box() for number in range(3)]
        assert len({box["y"] for box in tops if box}) == 1  # next to each other
        expect(shown.locator("[aria-current]")).to_have_text(re.compile("answer 0"))
        columns.nth(2).get_by_role("link").nth(1).click()
        expect(page.locator(".meta strong")).to_have_text("maze-0-000001 (repeat 2, branch 1)")
        expect(shown.locator(".now").get_by_role("heading")).to_contain_text("Repeat 2")  # numbers as in the name
        expect(shown.locator("[aria-current]")).to_have_text(re.compile("answer 1"))
        # direct has one answer per repeat, so its first belongs to this one too
        expect(page.get_by_label("The same sample in other conditions").get_by_text("direct")).to_be_visible()
        page.keyboard.press("r")
        expect(page.locator(".meta strong")).to_have_text("maze-0-000001")
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.set_viewport_size({"width": 1400, "height": 900})
        page.goto(f"{home(page)}/run?run=run")
        table = page.get_by_role("region", name=re.compile("Repeated episodes"))
        expect(table.get_by_role("row", name=re.compile(r"maze.visual_cot 3 "))).to_be_visible()
        expect(page.get_by_role("img", name=re.compile(r"maze: pass@k by k"))).to_be_visible()
        assert not watch.troubles
