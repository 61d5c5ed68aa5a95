"""The viewer in a real browser: what a person does with it, and what a stranger's run must not do to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

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


def test_a_run_is_opened_from_the_leaderboard(page: Page) -> None:
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    expect(page.get_by_role("table").get_by_text("n 60", exact=True).first).to_be_visible()
    assert "token" not in page.url
    keep(page, "viewer-runs")
    page.get_by_role("link", name="player/test alpha").click()
    expect(page.get_by_role("heading", name="player/test")).to_be_visible()
    expect(page.get_by_role("heading", name="Does drawing help?")).to_be_visible()
    expect(page.get_by_role("img", name=re.compile(r"maze, visual_cot: \+\d"))).to_be_visible()
    expect(page.get_by_role("heading", name="Does it use what it drew?")).to_be_visible()
    assert page.url.endswith("/run?run=alpha")
    keep(page, "viewer-run")
    page.get_by_role("combobox", name="Mode").select_option("direct")
    expect(page.get_by_role("heading", name="Does drawing help?")).not_to_be_visible()
    assert page.url.endswith("/run?run=alpha&mode=direct")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    expect(opened.value.get_by_text("Does drawing help it think?")).to_be_visible()


def test_samples_are_filtered_and_the_address_keeps_the_filter(page: Page) -> None:
    page.goto(f"{home(page)}/samples?run=alpha")
    expect(page.get_by_text("181 episodes")).to_be_visible()
    page.get_by_label("Mode").select_option("visual_cot")
    page.get_by_label("Against direct").select_option("hurt")
    page.wait_for_url(re.compile("change=hurt"))
    expect(page.locator(".grid .card .pill.right")).to_have_count(0)
    hurt = page.locator(".grid .card").count()
    assert 0 < hurt < 48
    page.reload()
    expect(page.locator(".grid .card")).to_have_count(hurt)
    expect(page.get_by_label("Mode")).to_have_value("visual_cot")
    page.get_by_role("button", name="Clear all filters").click()
    expect(page.get_by_text("181 episodes")).to_be_visible()
    page.get_by_label("Trouble").select_option("timeout")
    expect(page.locator(".grid .card")).to_have_count(1)
    page.get_by_role("button", name="Clear all filters").click()
    page.get_by_label("Search").fill("maze-00042")
    expect(page.locator(".grid .card")).to_have_count(3)
    keep(page, "viewer-samples")
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
        expect(page.get_by_text(re.compile("Headline score of each task and mode, by strict"))).to_be_visible()
        expect(page.get_by_role("columnheader", name="Unparsed")).to_be_visible()
        expect(page.get_by_text(re.compile(r"maze.direct: .*2 unparsed by blind"))).to_be_visible()
        page.get_by_role("link", name="Replies that scorings read differently").click()
        expect(page.get_by_text("4 episodes")).to_be_visible()
        page.get_by_label("Read differently").select_option("")
        expect(page.get_by_text("8 episodes")).to_be_visible()
        page.get_by_label("Read differently").select_option("blind")
        expect(page.get_by_text("4 episodes")).to_be_visible()
        page.locator(".grid .card").first.click()
        readings = page.get_by_role("region", name="Read differently")
        expect(readings.get_by_role("row", name=re.compile("^strict <ANSWER_JSON>"))).to_be_visible()
        expect(readings.get_by_role("row", name=re.compile("^blind unparsed 0"))).to_be_visible()
        expect(page.get_by_text("1 of 4")).to_be_visible()
        assert not watch.troubles


def test_an_episode_shows_the_strip_the_difference_and_the_exact_context(page: Page) -> None:
    page.goto(f"{home(page)}/samples?run=alpha&mode=visual_cot&canvas=own&outcome=wrong&sort=steps:down")
    page.locator(".grid .card").first.click()
    strip = page.get_by_label("What happened, step by step")
    expect(strip.get_by_text("drawing 2", exact=True)).to_be_visible()
    expect(strip.get_by_text(re.compile(r"of 25 cells differ")).first).to_be_attached()
    expect(strip.get_by_text("exactly the true picture")).to_have_count(1)
    contexts = page.get_by_text(re.compile(r"exact context: \d+ parts"))
    contexts.last.click()
    expect(page.locator(".turn").last.locator(".parts")).to_contain_text("You are a precise maze solver.")
    expect(page.locator(".turn").last.locator(".parts")).to_contain_text("Emit the final move list.")
    page.locator(".turn").last.get_by_text("raw reply").click()
    expect(page.locator(".turn").last).to_contain_text('"choices"')
    expect(page.get_by_text("maze_text_exact")).to_be_visible()
    assert page.evaluate("[...document.images].filter(i => i.complete).every(image => image.naturalWidth > 0)")
    keep(page, "viewer-episode")


def test_keys_walk_through_the_list_and_back(page: Page) -> None:
    page.goto(f"{home(page)}/samples?run=alpha&mode=direct")
    page.locator(".grid .card").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".grid .card").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".grid .card").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="maze-00000")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name="maze-00001")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="maze-00000")).to_be_visible()
    page.keyboard.press("m")
    expect(page.get_by_role("link", name="visual_cot right")).to_have_attribute("aria-current", "page")
    page.keyboard.press("u")
    page.wait_for_url(re.compile(r"/samples\?run=alpha&mode=direct"))
    page.locator(".grid .card").first.wait_for()
    page.keyboard.press("/")
    page.keyboard.type("jj")
    expect(page.get_by_label("Search")).to_have_value("jj")


def test_two_runs_are_shown_on_the_same_sample(page: Page) -> None:
    for run in ("alpha", "beta"):
        page.get_by_label(f"Choose {run} to compare").check()
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.get_by_role("heading", name="Side by side")).to_be_visible()
    expect(page.get_by_text("60 shared samples")).to_be_visible()
    page.get_by_label("Task and mode").first.select_option("maze.visual_cot")
    page.get_by_label("Task and mode").last.select_option("maze.visual_cot")
    page.wait_for_url(re.compile("cell_b=maze.visual_cot"))
    expect(page.locator(".side")).to_have_count(2)
    expect(page.locator(".side .strip").last).to_be_visible()
    page.get_by_label("Show").select_option("hurt")
    page.wait_for_url(re.compile("change=hurt"))
    expect(page.locator(".side .pill.right")).to_have_count(1)
    expect(page.locator(".side .pill.wrong")).to_have_count(1)
    first = page.locator(".pair-list [aria-current]").inner_text()
    page.keyboard.press("j")
    page.wait_for_url(re.compile("sample="))
    expect(page.locator(".pair-list [aria-current]")).not_to_have_text(first)
    keep(page, "viewer-compare")


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
        expect(page.get_by_text("5 episodes")).to_be_visible()
        page.wait_for_timeout(2500)
        maker.add("maze.visual_cot", play(sample(2), "visual_cot", True), 2)
        expect(page.locator(".grid .card")).to_have_count(6)
        keep(page, "viewer-live")
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
        page.locator("a.card").first.click()
        expect(page.get_by_role("link", name="Samples")).to_be_visible()
        harmless(page, "run", width)
        page.get_by_role("link", name="Samples").click()
        expect(page.locator(".grid .card")).to_have_count(5)
        harmless(page, "samples", width)
        page.locator(".grid .card").nth(2).click()
        expect(page.locator(".strip")).to_contain_text("<script>window.pwned = 1</script>")
        expect(page.get_by_role("heading", level=1)).to_contain_text("../../<script>")
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
    }
    with window(chromium, width, dark=dark) as context, serving(runs) as address:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        for name, path in views.items():
            page.goto(home(page) + path)
            page.locator("#view h1, .grid .card").first.wait_for()
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
        expect(page.locator(".standing").get_by_text(f"visual_cot {words}")).to_be_visible()
        page.get_by_role("link", name="player/test two").click()
        expect(page.get_by_role("cell", name=words)).to_be_visible()
        expect(page.get_by_role("heading", name="Does drawing help?")).to_have_count(0)
        page.goto(f"{home(page)}/compare?a=two&b=two&cell_a=maze.direct&cell_b=maze.visual_cot")
        expect(page.locator(".result")).to_contain_text(words)
        expect(page.locator(".result .pill")).to_have_count(0)


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
        result, pill = page.locator(".result"), page.locator(".result .pill")
        for runs, words, colour in (
            ("a=one&b=one", "p (Holm) 0.063", "pill"),
            ("a=two&b=two", "p (Holm) 0.008", "pill good"),
            ("a=one&b=two", "p 0.008, not corrected", "pill"),
        ):
            page.goto(f"{home(page)}/compare?{runs}&cell_a=a.direct&cell_b=a.visual_cot")
            expect(result).to_contain_text(words)
            expect(pill).to_have_class(re.compile(rf"^{colour}\s*$"))


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
        expect(row).to_contain_text("visual_cot18.1n 149")
        expect(row.get_by_role("checkbox")).to_have_count(0)
        expect(page.get_by_text("a <b>paper</b>").first).to_be_visible()
        expect(page.get_by_text("Model B")).to_have_count(0)
        expect(page.get_by_text("in no statistic here")).to_be_visible()
        keep(page, "viewer-published")
        assert not watch.troubles


def test_a_score_that_is_not_a_proportion_is_shown_unchanged(page: Page) -> None:
    """An accuracy in percent; the interval shows it for a small value."""
    shown = page.evaluate("""async () => {
        const { bracket, percent, points } = await import("/static/format.js");
        return [percent(0.667, [0.5, 0.8]), percent(66.7, [50, 80]), percent(0.9, [0, 5]), points(75, [18, 92]),
                points(-0.5, [-0.9, 0.1]), bracket([0.4, 35.2]), bracket([0.4, 0.5])];
    }""")
    assert shown == ["66.7", "66.7", "0.9", "+75", "\u221250", "[0, 35]", "[40, 50]"]
