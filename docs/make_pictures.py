"""Makes docs/pictures/episode.png: one visual-CoT episode of the sketcher, as it was played.

python docs/make_pictures.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

import sketchmark
from sketchmark.folder.records import unpack_episode

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
        record = next(folder.episodes("maze.visual_cot"))
        episode = unpack_episode(record, folder.pictures.load)
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


if __name__ == "__main__":
    main()
