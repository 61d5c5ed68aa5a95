"""Screenshots of the pages of `sketchmark play`, as files to look at: 1400 and 390 pixels, light and dark.

python -m tests.human.shots [FOLDER]             # build/shots
python -m tests.human.shots --pictures           # also the few that docs/pictures shows
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from tests.human.playing import playing, press, reply
from tests.human.test_study import TOKEN, WORDS, begin, open_study, step
from tests.view.browsing import launched, window

ROOT = Path(__file__).parents[2]
PICTURES = {"human-maze": "play-maze-1400-light", "human-phone": "play-paper-fold-390-light"}
"""Name in docs/pictures → screenshot."""


def shoot(chromium: Browser, out: Path, width: int, dark: bool) -> None:
    def keep(page: Page, name: str) -> None:
        page.wait_for_timeout(400)
        file = out / f"play-{name}-{width}-{'dark' if dark else 'light'}.png"
        page.screenshot(path=file)
        if width == 390:
            page.screenshot(path=file.with_name(f"{file.stem}-whole.png"), full_page=True)

    with (
        tempfile.TemporaryDirectory() as place,
        playing(Path(place), *WORDS, variables={"STUDY_TOKEN": TOKEN}) as game,
        window(chromium, width, dark=dark) as context,
    ):
        page, _ = open_study(context, game, "ann")
        keep(page, "consent")
        press(page, "I agree and take part")
        page.get_by_role("button", name="Start").wait_for()
        keep(page, "start")
        begin(page, consented=True)
        kept: set[str] = set()
        while True:
            page.locator("#view:not(.waiting) :is(.sheet, .desk)").first.wait_for()
            kind = page.locator("body").get_attribute("data-kind") or ""
            practice = "Practice" in page.locator("#progress").inner_text()
            name = {"call": "practice" if practice else "answer"}.get(kind, kind)
            if page.locator("canvas.surface").count() and not practice:
                name = "maze"
                page.get_by_role("button", name="agent", exact=True).click()
            if name not in kept:
                kept.add(name)
                keep(page, name)
            if step(page):
                break
    words = ("paper_fold", "--limit", "1", "--mode", "visual_cot", "--task-args", "level=2")
    with (
        tempfile.TemporaryDirectory() as place,
        playing(Path(place), *words) as game,
        window(chromium, width, dark=dark) as context,
    ):
        page = context.new_page()
        page.goto(game.address)
        press(page, "Start")
        reply(page, "Next: unfold the strip that was folded last.", "Send")
        surface = page.locator("canvas.surface")
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        assert box
        for ends in (((0.2, 0.25), (0.3, 0.2), (0.45, 0.3), (0.6, 0.22)), ((0.35, 0.65), (0.35, 0.65))):
            points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in ends]
            page.mouse.move(*points[0])
            page.mouse.down()
            for point in points[1:]:
                page.mouse.move(*point, steps=8)
            page.mouse.up()
        keep(page, "paper-fold")


def main() -> None:
    named = [word for word in sys.argv[1:] if not word.startswith("-")]
    out = Path(named[0]) if named else ROOT / "build" / "shots"
    out.mkdir(parents=True, exist_ok=True)
    with launched() as chromium:
        for width in (1400, 390):
            for dark in (False, True):
                shoot(chromium, out, width, dark)
    if "--pictures" in sys.argv:
        for name, shot in PICTURES.items():
            image = Image.open(out / f"{shot}.png").convert("RGB")
            image.thumbnail((1200, 2400), Image.Resampling.LANCZOS)
            image.quantize(128, dither=Image.Dither.NONE).save(ROOT / "docs/pictures" / f"{name}.png", optimize=True)
    sys.stdout.write(f"{len(list(out.glob('play-*')))} files in {out}\n")


if __name__ == "__main__":
    main()
