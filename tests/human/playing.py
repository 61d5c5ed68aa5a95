"""`sketchmark play` in a process of its own, and a person at its pages by Chromium."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from sketchmark.media import Picture
from sketchmark.worlds.maze import board as maze

ANSWER = re.compile(r"<ANSWER_JSON>")


class Playing:
    """A command in another process, by what it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, f"no address: {line}{process.communicate()}"
        self.address = found[0]

    @property
    def home(self) -> str:
        return self.address.partition("/?")[0]

    def finish(self) -> tuple[int, str]:
        """Wait for the end and return the exit code and all output."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out + err


@contextmanager
def playing(folder: Path, *words: str, variables: dict[str, str] | None = None) -> Iterator[Playing]:
    command = [sys.executable, "-m", "sketchmark", "play", *words, "--no-browser"]
    environment = {**os.environ, **(variables or {}), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield Playing(process)
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=30)


def shown_maze(page: Page, last: bool = False) -> maze.Maze:
    """Read the maze on the page: from the pixels of its first or last image."""
    images = page.locator(".prompt img")
    source = (images.last if last else images.first).get_attribute("src")
    answer = page.request.get(f"{re.match(r'https?://[^/]+', page.url)[0]}{source}")  # type: ignore[index]
    found = maze.to_maze(maze.read(Picture.from_bytes(answer.body()), 6, 6))
    assert found
    return found


def solution(moves: list[str] | None) -> str:
    return "<ANSWER_JSON>[" + ",".join(f'"{move}"' for move in moves or []) + "]</ANSWER_JSON>"


def reply(page: Page, text: str, button: str = "Send answer") -> None:
    page.get_by_role("textbox").fill(text)
    if button == "Send answer":
        expect(page.locator("#read")).to_contain_text("Read as")
    press(page, button)


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


def at(page: Page, text: str) -> None:
    """Wait for the progress to say this."""
    expect(page.locator("#progress")).to_have_text(text)


def cell(page: Page, place: tuple[int, int]) -> tuple[float, float]:
    """Return the middle of a cell of a 6 x 6 maze on the drawing surface, in the window."""
    box = page.locator("canvas.surface").bounding_box()
    assert box
    margin, side = 0.051, 0.898  # of the image: 20 pixels of page around the board
    row, column = place
    x = box["x"] + box["width"] * (margin + side * (column + 0.5) / 6)
    return x, box["y"] + box["height"] * (margin + side * (row + 0.5) / 6)


def stamp_step(page: Page, before: tuple[int, int], after: tuple[int, int], by: str) -> None:
    """Move the dot on a maze: floor where it was, the agent where it goes."""
    for stamp, place in (("floor", before), ("agent", after)):
        page.get_by_role("button", name=stamp, exact=True).click()
        if by == "keyboard":
            page.keyboard.press("d")
            page.keyboard.press("ArrowRight")
            for key in ["ArrowUp"] * 6 + ["ArrowLeft"] * 6 + ["ArrowDown"] * place[0] + ["ArrowRight"] * place[1]:
                page.keyboard.press(key)
            page.keyboard.press(" ")
        elif by == "touch":
            page.locator("canvas.surface").scroll_into_view_if_needed()
            page.touchscreen.tap(*cell(page, place))
        else:
            page.mouse.click(*cell(page, place))
