"""Make docs/pictures/episode.png, one episode of the sketcher, and headline.png, the same above a chart of scores.

python docs/make_pictures.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

import sketchmark

SIDE, GAP, BAND = 150, 14, 44
INK, SOFT, ACCENT = (31, 41, 55), (107, 114, 128), (37, 99, 235)


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = sketchmark.run(
            "player/sketcher",
            "maze",
            mode="visual_cot",
            limit=1,
            seed=4,
            output_path=place,
            task_args={"min_steps": 5, "max_steps": 5},
            model_args={"hand_error": 0.0},
        )
        episode = folder.episodes("maze.visual_cot")[0].episode
    shown = episode.turns[0].added[1].picture
    assert shown is not None
    columns = [(shown, "the task shows", "a maze")]
    for plan, picture in zip(episode.says, episode.drawings, strict=False):
        columns.append((picture, "says: " + plan.removeprefix("Next, ").rstrip("."), "then draws, and sees it"))
    strip = Image.new("RGB", (len(columns) * (SIDE + GAP) + GAP, SIDE + 2 * GAP + BAND + 26), "white")
    pen = ImageDraw.Draw(strip)
    small = ImageFont.load_default(11)
    for number, (picture, first, second) in enumerate(columns):
        left = GAP + number * (SIDE + GAP)
        strip.paste(picture.image().resize((SIDE, SIDE), Image.Resampling.LANCZOS), (left, GAP))
        pen.rectangle((left, GAP, left + SIDE, GAP + SIDE), outline=SOFT if number == 0 else ACCENT)
        pen.text((left, GAP + SIDE + 6), first, INK, small)
        pen.text((left, GAP + SIDE + 22), second, SOFT, small)
    pen.text((GAP, GAP + SIDE + BAND + 8), "answers: " + episode.answer, INK, ImageFont.load_default(13))
    path = Path(__file__).parent / "pictures" / "episode.png"
    strip.save(path, optimize=True)
    headline(strip)


BARS = {
    "maze.direct": "answers directly",
    "maze.visual_cot": "draws, sees its drawing",
    "maze.visual_cot.blank": "draws, sees a blank image",
    "maze.visual_cot.oracle": "draws, sees the ground truth",
}


def headline(strip: Image.Image) -> None:
    """Draw the scores of four conditions with their intervals below the film strip."""
    with tempfile.TemporaryDirectory() as place:
        run = sketchmark.run(
            "player/sketcher",
            "maze",
            mode="direct,visual_cot",
            canvas="own,blank,oracle",
            limit=50,
            output_path=place,
            no_cache=True,
        )
        cells = run.results.tasks
    left, row, top = 230, 30, strip.height + 34
    wide = strip.width - left - 90
    made = Image.new("RGB", (strip.width, top + row * len(BARS) + 30), "white")
    made.paste(strip, (0, 0))
    pen, font, small = ImageDraw.Draw(made), ImageFont.load_default(14), ImageFont.load_default(11)
    pen.text((GAP, strip.height + 6), "50 mazes, solved by player/sketcher in percent, with 95% intervals", INK, font)
    for number, (cell, name) in enumerate(BARS.items()):
        found = cells[cell].metrics[cells[cell].headline]
        y = top + number * row
        low, high = (left + wide * (end or 0.0) for end in found.ci95)
        colour = ACCENT if cell != "maze.direct" else SOFT
        pen.text((GAP, y + 4), name, INK, font)
        pen.rectangle((left, y + 4, left + wide * found.mean, y + 20), fill=colour)
        pen.line((low, y + 12, high, y + 12), INK, 2)
        for end in (low, high):
            pen.line((end, y + 7, end, y + 17), INK, 2)
        pen.text((left + wide + 16, y + 4), f"{100 * found.mean:.1f}", INK, font)
    foot = "The gain of 66 points needs the drawing: with a blank image in its place it is gone."
    pen.text((GAP, top + row * len(BARS) + 4), foot, SOFT, small)
    made.save(Path(__file__).parent / "pictures" / "headline.png", optimize=True)


if __name__ == "__main__":
    main()
