"""Screenshots of every page of viewer, report and export, and every figure, as files to look at.

    python -m tests.view.shots [FOLDER]              # build/shots: 1400 and 390 pixels, light and dark
    python -m tests.view.shots --pictures            # also the few that docs/pictures shows

It runs scripted players first, so that the pages show real runs.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

import sketchmark
from sketchmark.plots.figures import KINDS, figure, opened
from sketchmark.view import serving, site
from tests.view.browsing import launched, window
from tests.view.test_site import plain_server

ROOT = Path(__file__).parents[2]
PAGES = {
    "home": "/",
    "run": "/run?run=faults/flawed",
    "samples": "/samples?run=faults/flawed",
    "samples-hurt": "/samples?run=players/shaky&change=hurt",
    "episode": "/episode?run=players/shaky&cell=maze.visual_cot&sample={wrong}",
    "episode-direct": "/episode?run=faults/flawed&cell=maze.direct&sample=maze-0-000001",
    "episode-jigsaw": "/episode?run=faults/flawed&cell=jigsaw.visual_cot&sample=jigsaw-0-000000",
    "compare": "/compare?a=faults/flawed&b=faults/flawed",
    "compare-runs": "/compare?a=players/shaky&b=players/sketcher",
    "several": "/several?r1=faults/flawed&r2=players/sketcher&r3=players/shaky",
    "error": "/run?run=gone",
}
PICTURES = {"viewer": "run", "viewer-runs": "home", **{f"viewer-{n}": n for n in ("samples", "episode", "compare")}}
"""Name in docs/pictures → page, in a light window of 1400 pixels."""


def make_runs(root: Path, limit: int = 60) -> None:
    both, every = "direct,visual_cot", "direct,text_cot,visual_cot"
    faults: dict[str, object] = {"draw_error": 0.25, "read_error": 0.1, "knows": 0.3}
    players: dict[str, tuple[str, dict[str, object], str, str]] = {
        "faults/flawed": ("player/flawed", faults, every, "own,blank,other,oracle,corrupt"),
        "players/sketcher": ("player/sketcher", {}, both, "own,blank"),
        "players/shaky": ("player/sketcher", {"lookahead": 4, "hand_error": 0.2}, both, "own,blank"),
        "players/random": ("player/random", {}, both, "own"),
        "players/solver": ("player/solver", {}, both, "own"),
    }
    for name, (model, args, mode, canvas) in players.items():
        tasks, place = "maze,sliding,jigsaw", root / name
        sketchmark.run(
            model, tasks, mode=mode, canvas=canvas, limit=limit, model_args=args, output_path=place, quiet=True
        )


def settled(page: Page) -> None:
    """Wait until the page and its images are there."""
    page.locator("#view h1, .empty-title").first.wait_for()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("[...document.images].every((one) => one.complete || one.loading === 'lazy')")
    page.wait_for_timeout(700)
    page.evaluate("window.scrollTo(0, 0)")
    page.wait_for_timeout(300)


def shoot(chromium: Browser, root: Path, out: Path) -> None:
    with serving(root) as address:
        home = re.match(r"https?://[^/]+", address)[0]  # type: ignore[index]
        for width in (1400, 390):
            for dark in (False, True):
                with window(chromium, width, dark=dark) as context:
                    page = context.new_page()
                    page.goto(address)
                    page.goto(f"{home}/samples?run=players/shaky&task=maze&outcome=wrong")
                    page.locator(".card", has_text=re.compile("from drawing [2-6] of ")).first.click()
                    page.locator(".frame.first").wait_for()
                    wrong = re.findall("sample=([^&]+)", page.url)[0]
                    for name, path in PAGES.items():
                        page.goto(home + path.format(wrong=wrong))
                        settled(page)
                        file = out / f"{name}-{width}-{'dark' if dark else 'light'}.png"
                        page.screenshot(path=file)
                        if width == 390:
                            page.screenshot(path=file.with_name(f"{file.stem}-whole.png"), full_page=True)
                    _report(page, root / "faults/flawed/report.html", out, f"{width}-{'dark' if dark else 'light'}")
                    if width == 1400 and not dark:
                        page.goto(f"{home}/run?run=faults/flawed")
                        settled(page)
                        page.pdf(path=out / "run-print.pdf", prefer_css_page_size=True)


def _report(page: Page, report: Path, out: Path, name: str) -> None:
    page.goto(report.as_uri())
    page.screenshot(path=out / f"report-{name}.png")
    page.screenshot(path=out / f"report-{name}-whole.png", full_page=True)
    page.pdf(path=out / "report-print.pdf", prefer_css_page_size=True)


def export(chromium: Browser, root: Path, out: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        site.export(root / "players", Path(place) / "site")
        with plain_server(Path(place) / "site") as home, window(chromium) as context:
            page = context.new_page()
            page.goto(home)
            settled(page)
            page.screenshot(path=out / "export-1400-light.png")


def figures(root: Path, out: Path) -> None:
    run = list(opened([root / "faults/flawed"]))
    for kind in KINDS:
        runs = list(opened([root])) if kind in ("gain", "leaderboard") else run
        for ending in ("png", "svg", "pdf"):
            figure(runs, kind).save(out / f"figure-{kind}.{ending}")
    figure(run, "gain").save(out / "figure-gain-one-run.png")


def pictures(out: Path) -> None:
    """Copy the chosen few, small, into the documents."""
    chosen = {name: out / f"{page}-1400-light.png" for name, page in PICTURES.items()}
    chosen |= {"report": out / "report-1400-light.png"}
    chosen |= {f"figure-{kind}": out / f"figure-{kind}.png" for kind in ("gain", "scores", "strip", "leaderboard")}
    for name, file in chosen.items():
        image = Image.open(file).convert("RGB")
        image.thumbnail((1200, 2400), Image.Resampling.LANCZOS)
        image.quantize(128, dither=Image.Dither.NONE).save(ROOT / "docs/pictures" / f"{name}.png", optimize=True)


def main() -> None:
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    out = Path(named[0]) if named else ROOT / "build" / "shots"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, launched() as chromium:
        make_runs(Path(place))
        shoot(chromium, Path(place), out)
        export(chromium, Path(place), out)
        figures(Path(place), out)
    if "--pictures" in sys.argv:
        pictures(out)
    sys.stdout.write(f"{len(list(out.iterdir()))} files in {out}\n")


if __name__ == "__main__":
    main()
