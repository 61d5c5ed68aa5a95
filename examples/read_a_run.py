"""Everything that happened is in the run folder: read an episode and save its drawings as one film strip.

python examples/read_a_run.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

import sketchmark
from sketchmark import Episode, RunFolder

SIDE = 160


def film_strip(episode: Episode) -> Image.Image:
    """Join the inputs and the drawings, from left to right."""
    shown = [part.picture for part in episode.turns[0].added if part.picture]
    frames = [picture.image().resize((SIDE, SIDE)) for picture in [*shown, *episode.drawings]]
    strip = Image.new("RGB", (SIDE * len(frames), SIDE), "white")
    for number, frame in enumerate(frames):
        strip.paste(frame, (SIDE * number, 0))
    return strip


def main() -> None:
    path = sketchmark.run("player/solver", "maze", mode="visual_cot", limit=3, output_path="runs/solver").path
    folder = RunFolder.open(path)  # from here on nothing but the folder is needed
    for cell in folder.cells:
        for row in folder.scores(cell):
            print(cell, row.sample, row.values)
    _, episode = next(folder.played("maze.visual_cot"))
    print(f"{episode.sample.id}: {len(episode.drawings)} drawings, answer {episode.answer!r}")
    strip = Path("film_strip.png")
    film_strip(episode).save(strip)
    print(f"wrote {strip}")


if __name__ == "__main__":
    main()
