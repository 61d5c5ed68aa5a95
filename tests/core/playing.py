"""Makers of small tasks, cells, scripts and models for the tests of how an episode is played."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sketchmark import Context, FilledPrompts, Model, Options, Protocol, Reply, Sample, Usage
from sketchmark.media import Picture
from sketchmark.runs.plan import Cell
from sketchmark.settings import Settings
from sketchmark.tasks import Task, TaskOptions
from sketchmark.testing import Recorder, colour

SHADES = ("navy", "teal", "olive", "purple", "maroon")

STEPS = {"inputs": ["start"], "plan": "plan {i}", "step": "step {i}", "final": "final"}
CANDIDATES = {"inputs": ["panel"], "complete_0": "with 0", "complete_1": "with 1", "completed": "COMPLETED {i}:"}
TWO_STAGES = {"inputs": ["look"], "generation_prompt": "draw", "drawing_label": "DRAWN:", "ask": "ask"}
FOUR_STEPS = {
    "inputs": ["analogy"],
    "describe": "describe!",
    "identify": "identify!",
    "apply": "apply!",
    "draw": "draw {output}",
}
PROMPTS: dict[str, Mapping[str, Any]] = {
    "direct": {"inputs": ["start"], "ask": "ask"},
    "steps_then_answer": STEPS,
    "candidates_then_answer": {**CANDIDATES, "final": "final"},
    "draw_then_answer": TWO_STAGES,
    "say_then_draw": {"inputs": ["start"], "ask": "ask", "generation_prompt": "picture!"},
    "four_steps": FOUR_STEPS,
}


def script(
    prompts: Mapping[str, Any], *, steps: str = "truth", true_steps: int | None = None, **settings: object
) -> FilledPrompts:
    return FilledPrompts(Sample("s", steps=true_steps), prompts, steps, settings)


def items(
    *, seed: int, data: Path | None, count: int = 3, steps: int | None = 2, frames: int = 0, shown: int = 1
) -> Iterator[Sample]:
    """Samples `s0`, `s1`…, told apart by the picture that is shown first."""
    for i in range(count):
        pictures = [colour(SHADES[i])] * shown
        true = (lambda: [colour("lime", (8, 8 + n)) for n in range(frames)]) if frames else None
        yield Sample(f"s{i}", {"it": pictures}, {"name": f"s{i}"}, steps=steps, frames=true)


def task(
    modes: Mapping[str, Any],
    choices: TaskOptions | None = None,
    *,
    source: Mapping[str, Any] | None = None,
    **config: object,
) -> Task:
    use = {"use": "tests.core.playing:items", **(source or {})}
    return Task("toy", {"source": use, "modes": modes, **config}, choices)


def protocol(name: str) -> Protocol:
    """The protocol that a task file calls by this name."""
    return task({"mode": {"protocol": name}}).mode("mode").protocol


def cell(
    protocol: str = "steps_then_answer",
    *,
    canvas: str = "own",
    steps: str = "truth",
    block: Mapping[str, Any] | None = None,
    source: Mapping[str, Any] | None = None,
    on_draw_failure: str = "fail",
    limit: int | None = None,
) -> Cell:
    """A cell of a toy task whose mode plays `protocol` on samples that show their picture and their name."""
    prompts = {**PROMPTS[protocol], "inputs": ["<it>", "{name}"]}
    toy = task({"mode": {"protocol": protocol, "prompts": prompts, **(block or {})}}, source=source)
    request = Settings(model="toy", tasks="toy", on_draw_failure=on_draw_failure, limit=limit)
    return Cell("toy.mode", toy, toy.mode("mode"), canvas, steps, request)


class Talker(Model):
    """Speaks and does not draw."""

    def __init__(self, answer: str = "word") -> None:
        super().__init__("talker")
        self.answer = answer
        self.contexts: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.contexts.append(context)
        return Reply(text=self.answer)


class Stager(Recorder):
    """Draws and answers in one `say`, when it is asked for both; the drawing can be left out."""

    combined_prompt = True

    def __init__(self, picture: Picture | None = None, text: str = "B") -> None:
        super().__init__()
        self.reply = Reply(text, picture, usage=Usage(tokens_out=7, pictures_out=1))

    async def say(self, context: Context, options: Options) -> Reply:
        self.calls.append(("say", context, options))
        return self.reply


def numbered() -> Callable[[int, Context], Reply]:
    """A drawing function for `Recorder`: no two drawings are alike, and each is as wide as its number."""
    drawn = 0

    def draw(_call: int, _context: Context) -> Reply:
        nonlocal drawn
        drawn += 1
        return Reply(picture=colour("red", (drawn, 5)))

    return draw


def acts(model: Recorder) -> list[str]:
    return [act for act, _, _ in model.calls]


def last_texts(model: Recorder) -> list[str]:
    """What each call ended with: its suffix."""
    return [context.texts[-1] for _, context, _ in model.calls]
