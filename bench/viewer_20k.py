"""Speed and memory of the viewer with 20,000 episodes.

Runs 250 mazes in two modes, then writes each episode's line 40 times under new ids: 20,000 episodes with transcripts
of real size. The server is a separate process. Times are those of its answers, cold and warm, and of a browser (if
Playwright and chromium are installed).

    python bench/viewer_20k.py [FOLDER]
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from sketchmark.files import write_json
from sketchmark.files.jsonl import LineWriter, whole_lines
from sketchmark.folder import RunFolder

SAMPLES, COPIES = 250, 40


def make(path: Path) -> None:
    run = [sys.executable, "-m", "sketchmark", "run", "--model", "player/sketcher", "--tasks", "maze"]
    options = ["--mode", "direct,visual_cot", "--limit", str(SAMPLES), "--output_path", str(path)]
    subprocess.run([*run, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder = RunFolder.open(path)
    for cell in folder.cells:
        for file in (folder.episodes_file(cell), folder.scores_file(cell)):
            records = [json.loads(line) for _, line in whole_lines(file)]
            file.unlink()
            writer = LineWriter(file)
            for copy in range(COPIES):
                for record in records:
                    writer.write(_renamed(record, copy))
            writer.close()
    about = json.loads(folder.run_file.read_text())  # its limit would hide the copies
    write_json(folder.run_file, {**about, "limits": {}, "totals": {}})


def _renamed(record: dict[str, Any], copy: int) -> dict[str, Any]:
    index = record["index"] + copy * SAMPLES
    sample = record["sample"]
    if isinstance(sample, str):
        return {**record, "index": index, "sample": f"{sample}-{copy:02d}"}
    return {**record, "index": index, "sample": {**sample, "id": f"{sample['id']}-{copy:02d}"}}


def timed(what: str, ask: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    answer = ask()
    print(f"  {what:<58} {1000 * (time.perf_counter() - started):8.0f} ms")
    return answer


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "run"
    if not (path / "run.json").exists():
        make(path)
    folder = RunFolder.open(path)
    size = sum(folder.episodes_file(cell).stat().st_size for cell in folder.cells)
    episodes = sum(sum(1 for _ in folder.episodes_file(cell).open("rb")) for cell in folder.cells)
    print(f"{episodes:,} episodes, {size / 1e6:.0f} MB of transcripts")
    command = [sys.executable, "-m", "sketchmark", "view", str(path), "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = re.findall(r"http://\S+", timed("start until the address is printed", server.stdout.readline))[0]
        _ask_the_server(address)
        _open_a_browser(address)
        status = Path(f"/proc/{server.pid}/status").read_text()
        print(f"  server memory: {_megabytes(status, 'VmRSS')} MB, at most {_megabytes(status, 'VmHWM')} MB")
    finally:
        server.terminate()
        server.wait(10)
    timed("report.html", lambda: _report(folder))
    print(f"  report.html: {(path / 'report.html').stat().st_size / 1e6:.2f} MB")


def _ask_the_server(address: str) -> None:
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    home = address.partition("?")[0]
    opener.open(address).read()

    def get(path: str) -> bytes:
        return bytes(opener.open(home + path).read())

    opened = "api/samples?run=.&mode=visual_cot&canvas=own&sort=change"
    first = json.loads(timed("first page of samples, nothing indexed yet", lambda: get(opened)))
    names = {one["name"] for item in first["items"] for one in item["strip"]}
    timed(
        f"its {len(names)} thumbnails, made for the first time",
        lambda: [get(f"thumbnail?run=.&side=160&name={name}") for name in names],
    )
    for what, query in {
        "first page again": "&mode=visual_cot&canvas=own&sort=change",
        "filter: visual_cot, wrong": "&mode=visual_cot&outcome=wrong",
        "filter: hurt by drawing": "&change=hurt",
        "sort by score": "&sort=score:up",
        "search for an id": "&text=maze-0-000123-17",
        "search for words in every transcript": "&text=precise+maze+solver",
        "page 200": "&page=200",
    }.items():
        timed(what, lambda query=query: get(f"api/samples?run=.{query}"))  # type: ignore[misc]
    timed("the leaderboard", lambda: get("api/runs"))
    timed("the run's page", lambda: get("api/run?run=."))
    timed("direct against drawn", lambda: get("api/compare?a=.&b=."))
    timed("an episode", lambda: get("api/episode?run=.&cell=maze.visual_cot&sample=maze-0-000123-17"))
    timed("has anything changed?", lambda: get("api/version?run=."))


def _open_a_browser(address: str) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        print("  (no Playwright: the browser is left out)")
        return
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        page = chromium.new_page()
        page.goto(address)
        home = address.partition("?")[0]
        cards = page.locator(".gallery .card")

        def open_samples() -> None:
            page.goto(f"{home}samples?run=.")
            cards.nth(47).wait_for(state="attached")

        def choose() -> None:
            page.get_by_label("Answer").select_option("wrong")
            page.locator(".gallery .card:first-child .sign.wrong").first.wait_for()

        timed("browser: first page of samples", open_samples)
        timed("browser: filter by wrong answers", choose)
        chromium.close()


def _report(folder: RunFolder) -> None:
    from sketchmark.report import write_report

    write_report(folder)


def _megabytes(status: str, key: str) -> int:
    return int(re.findall(rf"{key}:\s+(\d+) kB", status)[0]) // 1024


if __name__ == "__main__":
    main()
