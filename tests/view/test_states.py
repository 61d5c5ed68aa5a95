"""States of a run: real runs that end in each possible way, in the browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from sketchmark.files import write_json
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.folder.lock import Holder, RunLock, holder_of
from sketchmark.view import serving
from tests.view import hostile
from tests.view.browsing import Watch, launched, window
from tests.view.making import Maker, fail, sample

PLUG_IN = '''
import asyncio
from sketchmark import CallFailed, Model
from sketchmark.models.players import Solver

class Last(Model):
    """Answers twice like the solver, and then hangs, or says that no call will work any more."""

    def __init__(self, name="", hangs=True):
        super().__init__(name)
        self.inner, self.left, self.hangs = Solver(), 2, hangs

    async def say(self, context, options):
        if not self.left:
            if not self.hangs:
                raise CallFailed("refused_key", "the account <b>is</b> empty", stops_run=True)
            print("hangs", flush=True)
            await asyncio.Event().wait()
        self.left -= 1
        return await self.inner.say(context, options)
'''


def started(folder: Path, *more: str, limit: int = 5) -> subprocess.Popen[str]:
    plug_in = folder.parent / "last.py"
    plug_in.write_text(PLUG_IN)
    command = (sys.executable, "-m", "sketchmark", "run", "--include", str(plug_in), "--model", "last", *more)
    asked = ("--tasks", "maze", "--limit", str(limit), "--concurrency", "1", "--no-cache", "-q", "-o", str(folder))
    return subprocess.Popen([*command, *asked], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@contextmanager
def hanging(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run with two episodes that waits for a third reply."""
    with started(folder) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "hangs\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    with started(root / "finished", limit=2):
        pass
    with started(root / "failed", "--model-args", "hangs=false"):
        pass
    with hanging(root / "stopped") as process:
        process.send_signal(signal.SIGINT)
        process.wait(60)
    with hanging(root / "killed"):
        pass
    return root


def state(folder: Path, after: float = 0.0) -> str:
    run = RunView(RunFolder(folder), folder.name)
    run.refresh()
    return run.state(run.folder.run_file.stat().st_mtime + after)


@pytest.mark.slow
@pytest.mark.parametrize("ended", ["finished", "failed", "stopped", "killed"])
def test_an_ended_run_keeps_its_state(runs: Path, ended: str) -> None:
    assert state(runs / ended) == state(runs / ended, after=5_000) == ended


@pytest.mark.slow
def test_the_leaderboard_shows_end_scores_and_failures_of_a_run(chromium: Browser, runs: Path) -> None:
    with serving(runs) as address, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        expect(page.locator("tr.row")).to_have_count(4)
        for ended in ("failed", "stopped", "killed"):
            row = _row(page, f"last {ended}")
            expect(row.locator(".pill")).to_have_text(ended)
            expect(row.locator(".standing")).to_contain_text("100.0[34.2, 100.0]")
            expect(row.locator(".n")).to_have_text("2")
        expect(_row(page, "last finished").locator(".pill")).to_have_count(0)
        expect(_row(page, "last failed")).to_contain_text("the account <b>is</b> empty")
        expect(_row(page, "last failed").locator(".failures")).to_have_text("refused_key 1")
        expect(_row(page, "last stopped").locator(".failures")).to_have_count(0)
        page.get_by_role("link", name="last failed").click()
        expect(page.locator(".bar .pill")).to_have_text("failed")
        expect(page.locator("p.why")).to_contain_text("the account <b>is</b> empty")
        assert not watch.troubles


@pytest.mark.slow
def test_a_run_killed_later_is_shown_as_killed(chromium: Browser, tmp_path: Path) -> None:
    Maker(tmp_path / "other").fill(1).finish()
    with serving(tmp_path) as address, window(chromium) as context, hanging(tmp_path / "run") as process:
        page = context.new_page()
        page.goto(address)
        expect(_row(page, "last run").locator(".pill")).to_have_text("running")
        assert state(tmp_path / "run", after=5_000) == "running", "a reply may take long: the process lives"
        process.kill()
        process.wait(60)
        expect(_row(page, "last run").locator(".pill")).to_have_text("killed")


def test_a_run_that_failed_before_its_first_episode_shows_the_reason(chromium: Browser, tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run")
    about = maker.folder.about()
    write_json(maker.folder.run_file, {**msgspec.to_builtins(about), "ended": {"how": "failed", "why": hostile.ALL}})
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, address.partition("?")[0])
        page.goto(address)
        expect(page.locator(".bar .pill")).to_have_text("failed")
        expect(page.get_by_text("No episode was run")).to_be_visible()
        expect(page.locator("p.why")).to_contain_text("<script>window.pwned = 1</script>")
        assert page.evaluate("window.pwned") is None and not watch.troubles


def test_an_unknown_state_is_ignored(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(1)
    about = maker.folder.about()
    write_json(maker.folder.run_file, {**msgspec.to_builtins(about), "ended": {"how": "splendid"}})
    assert (state(tmp_path / "run"), state(tmp_path / "run", after=5_000)) == ("running", "stopped")


def test_a_reused_process_number_is_not_the_run(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    found = holder_of(tmp_path)
    assert found and found.lives and found.pid == os.getpid()
    if sys.platform == "linux":
        assert found.began and not Holder(found.pid, found.host, f"{found.began}0").lives
    assert Holder(found.pid, "another machine", found.began).lives is None
    assert Holder(-1, found.host).lives is None and Holder(2**40, found.host).lives is None
    lock.release()
    assert holder_of(tmp_path) is None


def test_the_row_of_a_run_with_many_cells_shows_failures(chromium: Browser, tmp_path: Path) -> None:
    canvases = tuple(f"maze.visual_cot.{name}" for name in "abcdef")
    maker = Maker(tmp_path / "many", cells=("maze.direct", "maze.visual_cot", *canvases)).fill(1)
    for number in (1, 2):
        of = fail(sample(number), "direct", "timeout", "took longer than 60 s")
        maker.add("maze.direct", of, number)
    maker.finish()
    Maker(tmp_path / "other").fill(1).finish()
    with serving(tmp_path) as address, window(chromium) as context:
        page = context.new_page()
        page.goto(address)
        row = _row(page, "many")
        expect(row.locator(".failures")).to_have_text("timeout 2")
        expect(row.locator(".task")).to_have_count(1)


def _row(page: Page, name: str) -> Locator:
    return page.locator("tr.row", has=page.get_by_role("link", name=name))
