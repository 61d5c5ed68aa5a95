"""Models for UniG2U's tests: one answer for each task, known by the text that it is asked."""

from __future__ import annotations

import io

from PIL import Image

from sketchmark import Context, Model, Options, Reply
from sketchmark.media import Picture
from tests.benchmarks.unig2u.published import RIGHT


class Says(Model):
    """Always says the same, draws a white page, and keeps what it was shown."""

    def __init__(self, answer: str, page: Picture | None = None) -> None:
        super().__init__("says")
        self._answer, self._page = answer, page or white()
        self.asked: list[tuple[str, Context]] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(("say", context))
        return Reply(text=self._answer)

    async def draw(self, context: Context, options: Options) -> Reply:
        self.asked.append(("draw", context))
        return Reply(picture=self._page)


class Knows(Says):
    """Right in every task that UniG2U brings, told apart by their wording; elsewhere it passes."""

    def __init__(self, *, when_drawn: bool = True) -> None:
        super().__init__("")
        self._when_drawn = when_drawn

    async def say(self, context: Context, options: Options) -> Reply:
        drawn = any(part.by == "model" and part.picture for part in context)
        text = "\n".join(context.texts)
        return Reply(text=_answer(text) if self._when_drawn or not drawn else "I pass.")


_SIGNS = {
    "find a route from the starting location": "unig2u_vsp_google_map",
    "navigation agent": "unig2u_vsp_collision",
    "What comes next?": "unig2u_VisualPuzzles_spatial",
    "Which colour is it": "unig2u_realunify_mental_tracking",
    "How many?": "unig2u_chartqa100",
    "A ball falls": "unig2u_phyx_optics100",
    "Choices:": "unig2u_babyvision_fine_grained",
    "Where is the odd one?": "unig2u_babyvision_visual_tracking",
    "Identify the background": "unig2u_illusionbench_arshia_in_scene_test",
    "Find AD": "unig2u_geometry3k",
    "Find the volume": "unig2u_geometry3k",
    "Identify the icon": "unig2u_illusionbench_arshia_icon_shape_test",
    "Identify the logo": "unig2u_illusionbench_arshia_logo_shape_test",
    "Identify the shape": "unig2u_illusionbench_arshia_in_shape_test",
}


def _answer(text: str) -> str:
    return next((RIGHT[task] for sign, task in _SIGNS.items() if sign in text), "``B``")


def white() -> Picture:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(buffer, "PNG")
    return Picture.from_bytes(buffer.getvalue())
