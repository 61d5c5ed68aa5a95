"""Makes docs/pictures/episode.png: one drawn episode above a chart of the gain and its control, from a real run.

python docs/make_pictures.py

The pictures of viewer, report and figures are made by `python -m tests.view.shots --pictures`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

import sketchmark
from sketchmark.files import small
from sketchmark.notebook import PlayedEpisode
from sketchmark.plots import Drawing
from sketchmark.plots.charts import Frame, film
from sketchmark.plots.figures import figure, opened

WIDTH = 500.0


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        run = sketchmark.run(
            "player/sketcher",
            "maze",
            mode="direct,visual_cot",
            canvas="own,blank",
            limit=50,
            output_path=place,
            quiet=True,
        )
        drawn = run.episodes("maze.visual_cot")
        direct = {one.sample: one for one in run.episodes("maze.direct")}
        helped = (one for one in drawn if _right(one) and not _right(direct[one.sample]) and len(one.drawings) == 6)
        shown = next(helped)
        chart = figure(list(opened([Path(place)])), "scores", width=WIDTH / 72).drawing
    frames = [Frame(small(shown.episode.turns[0].added[1].picture, 320), "the task shows a maze")]  # type: ignore[arg-type]
    for plan, picture in zip(shown.episode.says, shown.drawings, strict=False):
        said = plan.removeprefix("Next, ").rstrip(".")
        frames.append(Frame(small(picture, 320), f"“{said}”, then draws it"))
    strip = film(frames, "The model plans a step, draws it, looks at its drawing and continues", WIDTH)
    whole = Drawing(WIDTH + 20, strip.height + chart.height + 12, f"{strip.label}. {chart.label}")
    whole.place(strip, 10, 10)
    whole.place(chart, 10, strip.height + 4)
    path = Path(__file__).parent / "pictures" / "episode.png"
    whole.save(path)
    image = Image.open(path)
    image.thumbnail((1600, 1600), Image.Resampling.LANCZOS)
    image.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def _right(one: PlayedEpisode) -> bool:
    return one.values["maze_text_exact"] == 1


if __name__ == "__main__":
    main()
