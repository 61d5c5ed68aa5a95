"""A person plays in a real browser: by mouse, touch and keyboard, skips, reloads, stops, resumes and finishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import sketchmark
from sketchmark.comparison import compare
from sketchmark.folder import RunFolder
from sketchmark.worlds.maze import board as maze
from tests.human.playing import at, playing, press, reply, shown_maze, solution, stamp_step
from tests.view.browsing import Watch, keep, launched, window

pytestmark = pytest.mark.slow
RUN, SHORT = "runs/human-ann", "min_steps=2,max_steps=3"
SPOTS = ((0.25, 0.5), (0.5, 0.5), (0.15, 0.15), (0.8, 0.8))
"""Places in a drawing, as proportions of its sides."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as chromium:
        yield chromium


def solve(page: Page) -> None:
    reply(page, solution(maze.solve(shown_maze(page))))


def test_a_person_practises_answers_skips_and_finishes_and_the_run_compares_with_a_players(
    chromium: Browser, tmp_path: Path
) -> None:
    words = ("maze", "--limit", "3", "--name", "ann", "--practice", "1")
    with playing(tmp_path, *words) as game, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, game.home)
        page.goto(game.address)
        assert "token" not in page.url
        press(page, "Start")
        at(page, "Practice 1 of 1")
        practised = shown_maze(page)
        reply(page, solution(["up"]))
        expect(page.get_by_role("heading", level=1)).to_have_text("✕ Not right")
        expect(page.get_by_text("A right answer: " + ", ".join(maze.solve(practised) or []))).to_be_visible()
        press(page, "Continue")
        at(page, "Sample 1 of 3")
        field = page.get_by_role("textbox")
        field.fill("I think it is somewhere on the left.")
        expect(page.locator("#read")).to_contain_text("No answer found")
        press(page, "Send answer")
        expect(page.get_by_role("button", name="Send anyway: it counts as no answer")).to_be_visible()
        page.reload()
        at(page, "Sample 1 of 3")
        expect(field).to_have_value("I think it is somewhere on the left.")
        solve(page)
        at(page, "Sample 2 of 3")
        press(page, "Skip this sample")
        press(page, "Skip: it counts as not solved")
        at(page, "Sample 3 of 3")
        press(page, "Insert the form of the answer")
        expect(field).to_have_value('<ANSWER_JSON>["right","down","left"]</ANSWER_JSON>')
        solve(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("That was all. Thank you!")
        expect(page.locator(".scores")).to_contain_text("66.7% of 3")
        assert not watch.troubles
        code, output = game.finish()
    assert code == 0 and "human/ann" in output
    folder = RunFolder(tmp_path / RUN)
    rows = folder.scored("maze.direct")
    assert sorted(row.values["maze_text_exact"] or 0 for row in rows.values()) == [0, 1, 1]
    assert [row.flags for row in rows.values() if row.flags] == [["skipped"]]
    assert folder.results().tasks["maze.direct"].failures == {"skipped": 1}
    made = [turn.reply.raw["person"] for line in folder.episodes("maze.direct") for turn in line.turns if turn.reply]
    assert all(0 < one["rt"] < 1000 * one["seconds"] < 10**6 and one["window"] == [1400, 900] for one in made)
    notes = json.loads((tmp_path / RUN / "people.json").read_text())
    assert [one["right"] for one in notes["practice"]] == [False] and notes["finished"]
    assert not {one["sample"] for one in notes["practice"]} & set(rows)
    sketchmark.run("player/solver", "maze", limit=3, output_path=tmp_path / "runs/solver", quiet=True, no_cache=True)
    (row,) = compare(folder.path, tmp_path / "runs/solver").rows
    solver = {line.sample.id: line for line in RunFolder(tmp_path / "runs/solver").episodes("maze.direct")}
    for line in folder.episodes("maze.direct"):  # the same parts in the same order, and no others
        assert [one.added for one in line.turns if one.act == "show"] == [solver[line.sample.id].turns[0].added]
        assert [one.suffix for one in line.turns if one.reply] in ([], [solver[line.sample.id].turns[1].suffix])
    assert (row.before.model, row.after.model, row.difference.n) == ("human/ann", "player/solver", 3)
    assert (row.difference.helped, row.difference.hurt) == (1, 0)


@pytest.mark.parametrize("by", ["mouse", "touch", "keyboard"])
def test_a_maze_is_drawn_with_stamps_step_by_step(chromium: Browser, tmp_path: Path, by: str) -> None:
    width = 390 if by == "touch" else 1400
    words = ("maze", "--limit", "1", "--name", "ann", "--mode", "visual_cot", "--task-args", SHORT)
    context = chromium.new_context(
        viewport={"width": width, "height": 844},
        has_touch=by == "touch",
        device_scale_factor=2 if by == "touch" else 1,
    )
    context.set_default_timeout(30_000)
    with playing(tmp_path, *words) as game:
        page = context.new_page()
        watch = Watch(page, game.home)
        page.goto(game.address)
        press(page, "Start")
        puzzle = shown_maze(page)
        moves = maze.solve(puzzle) or []
        where = puzzle.start
        for number, move in enumerate(moves):
            reply(page, f"Next, move one step {move}.", "Send")
            then = maze.step(puzzle, where, move)
            stamp_step(page, where, then, by)
            where = then
            if number == 0:
                keep(page, f"play-maze-{by}")
                page.reload()
                expect(page.get_by_role("button", name="Undo")).to_be_enabled()
            press(page, "Send drawing")
        reply(page, solution(moves))
        expect(page.get_by_role("heading", level=1)).to_have_text("That was all. Thank you!")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0 and not watch.troubles
        assert game.finish()[0] == 0
    context.close()
    folder = RunFolder(tmp_path / RUN)
    row = next(iter(folder.scored("maze.visual_cot").values()))
    assert row.values["maze_text_exact"] == 1 and row.values["maze_img_exact"] == 1
    line = next(iter(folder.episodes("maze.visual_cot")))
    strokes = [turn.reply.raw["person"]["strokes"] for turn in line.turns if turn.act == "draw" and turn.reply]
    assert {one["pointer"] for drawing in strokes for one in drawing} == {by}
    assert [one["stamp"] for one in strokes[0]] == ["floor", "agent"]


def test_pen_line_box_copy_eraser_undo_and_redo_change_the_pixels_that_are_sent(
    chromium: Browser, tmp_path: Path
) -> None:
    words = ("paper_fold", "--limit", "1", "--name", "ann", "--mode", "visual_cot", "--task-args", "level=1")
    with playing(tmp_path, *words) as game, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, game.home)
        page.goto(game.address)
        press(page, "Start")
        reply(page, "Next: unfold left.", "Send")
        surface = page.locator("canvas.surface")
        box = surface.bounding_box()
        assert box

        def drag(*ends: tuple[float, float]) -> None:
            points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in ends]
            page.mouse.move(*points[0])
            page.mouse.down()
            for point in points[1:]:
                page.mouse.move(*point, steps=4)
            page.mouse.up()

        def pixel(x: float, y: float) -> list[int]:
            found: list[int] = page.evaluate(
                "([x, y]) => { const c = document.querySelector('canvas.surface'); return [...c.getContext('2d')"
                ".getImageData(Math.round(x * c.width), Math.round(y * c.height), 1, 1).data.slice(0, 3)] }",
                [x, y],
            )
            return found

        before = pixel(0.5, 0.5)
        page.get_by_role("button", name="Colour 6, ").click()
        chosen = page.locator('[data-colour][aria-pressed="true"]').get_attribute("title") or ""
        colour = list(bytes.fromhex(chosen[1:]))
        page.get_by_role("button", name="Thick").click()
        drag((0.25, 0.5), (0.75, 0.5))
        assert pixel(0.5, 0.5) == colour != before
        page.keyboard.press("z")
        assert pixel(0.5, 0.5) == before
        page.keyboard.press("Control+Shift+z")
        assert pixel(0.5, 0.5) == colour
        page.keyboard.press("e")
        drag((0.45, 0.5), (0.55, 0.5))
        assert pixel(0.5, 0.5) == before and pixel(0.25, 0.5) == colour
        page.keyboard.press("b")
        drag((0.1, 0.1), (0.2, 0.2))
        assert pixel(0.15, 0.15) == colour
        page.keyboard.press("c")
        drag((0.1, 0.1), (0.2, 0.2))
        page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.8 * box["height"])
        assert pixel(0.8, 0.8) == colour
        page.keyboard.press("l")
        page.keyboard.press("d")
        page.keyboard.press("ArrowRight")
        page.keyboard.press(" ")
        for _ in range(6):
            page.keyboard.press("ArrowDown")
        page.keyboard.press(" ")
        page.keyboard.press("Escape")
        keep(page, "play-paper-fold")
        sent = [pixel(x, y) for x, y in SPOTS]
        press(page, "Send drawing")
        expect(page.locator(".part.you img")).to_be_visible()
        assert not watch.troubles
        press(page, "Stop for now")
        press(page, "Stop: this sample begins again later")
        expect(page.get_by_role("heading", level=1)).to_have_text("Stopped for now")
        code, output = game.finish()
    assert code == 1 and "the same command resumes" in output
    folder = RunFolder(tmp_path / RUN)
    (line,) = folder.episodes("paper_fold.visual_cot")
    assert line.failure and line.failure.kind == "left" and not line.failure.blames_model
    reply_ = next(turn.reply for turn in line.turns if turn.act == "draw" and turn.reply)
    image = folder.pictures.load(reply_.picture or "").image()
    there = [image.getpixel((round(x * image.width), round(y * image.height))) for x, y in SPOTS]
    assert there == [tuple(one) for one in sent]
    tools = [one["tool"] for one in reply_.raw["person"]["strokes"]]
    assert tools == ["pen", "eraser", "box", "stamp", "line"] and reply_.raw["person"]["undos"] == 1
    with playing(tmp_path, *words) as game, window(chromium) as context:  # the finished calls are not asked again
        page = context.new_page()
        page.goto(game.address)
        press(page, "Start")
        expect(page.locator(".part.you img")).to_be_visible()
        expect(page.locator(".part.you").first).to_contain_text("Next: unfold left.")


def test_a_sample_that_takes_too_long_is_a_failure_of_its_own_and_scored_as_wrong(
    chromium: Browser, tmp_path: Path
) -> None:
    with (
        playing(tmp_path, "maze", "--limit", "1", "--name", "ann", "--seconds", "5") as game,
        window(chromium) as context,
    ):
        page = context.new_page()
        page.goto(game.address)
        press(page, "Start")
        expect(page.locator("#clock")).to_have_text(re.compile(r"0:0\d left"))
        expect(page.get_by_role("heading", level=1)).to_have_text("That was all. Thank you!")
        assert game.finish()[0] == 0
    assert RunFolder(tmp_path / RUN).results().tasks["maze.direct"].failures == {"out_of_time": 1}
