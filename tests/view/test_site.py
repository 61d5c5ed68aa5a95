"""The exported viewer: static files on a plain file server, in a real browser."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

import sketchmark
from sketchmark.commands.folders import view_command
from sketchmark.view import site
from tests.view import hostile
from tests.view.browsing import Watch, launched, window
from tests.view.making import Maker, play, sample

CONTROLS = ("maze.direct", "maze.visual_cot", "maze.visual_cot.blank")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    Maker(root / "alpha", cells=CONTROLS).fill(12).finish()
    maker = Maker(root / "bé <ta>", model=f"player/{hostile.SCRIPT}").fill(12, seed=9)
    for cell in maker.cells:
        maker.add(cell, play(sample(12), cell.split(".")[1], False, text=hostile.ALL), 12)
    maker.finish()
    return root


@pytest.fixture(scope="module")
def exported(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "site"
    result = CliRunner().invoke(view_command, [str(runs), "--export", str(out)])
    assert result.exit_code == 0, result.output
    before, after = result.output.splitlines()
    told = [float(re.search(r"([\d.]+) MB", line)[1]) for line in (before, after)]  # type: ignore[index]
    assert before.startswith("about 2 runs, 62 episodes") and after.startswith("written: 2 runs, 62 episodes")
    assert told[1] / 2 <= told[0] <= told[1] * 2, "the size is stated beforehand"
    return out


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None: ...


@contextmanager
def plain_server(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@pytest.mark.parametrize("below", ["", "/papers/supplement"], ids=["root", "folder"])
def test_every_page_of_the_export_works_from_a_plain_file_server(exported: Path, tmp_path: Path, below: str) -> None:
    root = exported
    if below:
        root = tmp_path
        (tmp_path / "papers").mkdir()
        (tmp_path / "papers" / "supplement").symlink_to(exported)
    with plain_server(root) as home, launched() as chromium, window(chromium) as context:
        page = context.new_page()
        watch = Watch(page, home)
        page.goto(f"{home}{below}/")
        expect(page.locator("tr.row")).to_have_count(2)
        page.locator("tr.row", has_text="player/test").get_by_role("link").first.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("on maze.")
        expect(page.get_by_role("img", name=re.compile("maze: Answers directly"))).to_be_visible()
        page.get_by_role("link", name="Samples").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("12 episodes · maze · own drawing")
        page.get_by_role("button", name=re.compile("▲ Helped")).click()
        expect(page.locator(".gallery .card .pill.good").first).to_be_visible()
        expect(page.locator(".gallery .card:not(:has(.pill.good))")).to_have_count(0)
        helped = page.locator(".gallery .card").count()
        page.locator(".gallery .card").first.click()
        expect(page.get_by_text(f"1 of {helped}", exact=True)).to_be_visible()
        page.keyboard.press("m")
        expect(page.get_by_role("link", name=re.compile("^blank image"))).to_have_attribute("aria-current", "page")
        page.keyboard.press("j")
        expect(page.get_by_text(f"2 of {helped}", exact=True)).to_be_visible()
        page.wait_for_function("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        page.keyboard.press("c")
        expect(page.locator(".result")).to_contain_text(re.compile(r"→.*points \["))
        page.goto(f"{home}{below}/index.html?view=compare&a=alpha&b=bé <ta>")
        expect(page.locator(".result")).to_contain_text(re.compile(r"→.*points \["))
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("against player/test, on maze$"))
        page.get_by_role("button", name="Swap A and B").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^player/test against"))
        expect(page.locator(".result")).to_contain_text(re.compile(r"→.*points \["))
        page.goto(f"{home}{below}/index.html?view=several&r1=alpha&r2=bé <ta>")
        expect(page.get_by_role("heading", level=1)).to_have_text("2 runs compared")
        assert page.evaluate("window.pwned") is None and not watch.troubles
        page.goto(f"{home}{below}/index.html?view=run&run=none")
        page.get_by_role("link", name="All runs").click()
        expect(page.locator("tr.row")).to_have_count(2)


def test_the_export_holds_reports_and_no_code_from_elsewhere(exported: Path) -> None:
    assert len(list(exported.glob("report/*/report.html"))) == 2
    page = (exported / "index.html").read_text("utf-8")
    assert "http" not in page.replace("http-equiv", "") and "default-src 'none'; script-src 'self'" in page
    assert {path.suffix for path in exported.rglob("*") if path.is_file()} <= {
        ".html",
        ".js",
        ".css",
        ".svg",
        ".json",
        ".png",
        ".webp",
    }


def test_an_export_never_overwrites_and_leaves_nothing_half_written(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("kept")
    result = CliRunner().invoke(view_command, [str(runs), "--export", str(tmp_path / "full")])
    assert result.exit_code and "is not an empty folder" in str(result.exception)
    assert (tmp_path / "full" / "mine").read_text() == "kept"

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(site, "_media", full_disk)
    with pytest.raises(OSError, match="No space left"):
        site.export(runs, tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(view_command, [str(tmp_path), "--export", str(tmp_path / "site")])
    assert result.exit_code and "holds no run that can be read" in str(result.exception)


def test_an_export_has_the_repeats_of_a_sample_and_its_size_is_estimated_with_them(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "site"
    sketchmark.run(
        "player/flawed", "maze", mode="visual_cot", limit=4, repeats=4, answers=3, output_path=runs / "r",
        model_args="draw_slip=0.4", no_cache=True, quiet=True, engine="local",
    )  # fmt: skip
    guessed, made = site.estimate(runs), site.export(runs, out)
    found = [json.loads(path.read_bytes()) for path in out.glob("data/0/episodes/*.json")]
    assert len(found) == 48 and {len(one["repeats"]) for one in found} == {12}
    assert all(one["sample"] in {each["sample"] for each in one["repeats"]} for one in found)
    assert made.size / 2 < guessed.size < 2 * made.size
