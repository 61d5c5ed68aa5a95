"""Protocols, the prompts of a mode filled in for a sample, and the combined prompt of both stages.

A protocol is a short coroutine over a desk and does not know the model. The same protocol serves visual_cot and
text_cot: at a text_cot desk, `draw` returns a description instead.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sketchmark.episode.desk import Desk
from sketchmark.episode.sample import Content, Sample
from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.media.sound import Sound

_BEGIN, _END = "[GEN_PROMPT]", "[/QUESTION]"
_MIDDLE = re.compile(r"\[/GEN_PROMPT\]\s*\[QUESTION\]")


def join(generation_prompt: str, question: str) -> str:
    return f"{_BEGIN}{generation_prompt}[/GEN_PROMPT][QUESTION]{question}{_END}"


def split(text: str) -> tuple[str, str] | None:
    """Return (generation prompt, question), or None if the text does not have this form.

    The question runs to the last closing tag, so that a question that quotes the tags stays whole. A literal
    `{question}` in the generation prompt is replaced by the question, as in the models that introduced this form.
    """
    begin, end = text.find(_BEGIN), text.rfind(_END)
    middle = _MIDDLE.search(text, begin + len(_BEGIN)) if begin >= 0 else None
    if middle is None or middle.end() > end:
        return None
    question = text[middle.end() : end].strip()
    return text[begin + len(_BEGIN) : middle.start()].strip().replace("{question}", question), question


_FIELD = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_PICTURE = re.compile(r"<([a-z_][a-z0-9_]*)>")

MOST_CHARACTERS = 2_000_000
MOST_DEEP = 40
"""Prompts that use prompts multiply: a few lines of a task file could expand to more text than fits in memory."""


@dataclass(frozen=True)
class FilledPrompts:
    """One sample with the prompts of one mode.

    A template is a text in which `{name}` is replaced by a field of the sample, another prompt, or a value of the
    protocol. An unknown name stays as it is, because published prompts contain literal braces. Prompts may use
    prompts, but a field of a dataset is never read as a template. A layout is a list of templates, one part each; an
    entry `<name>` is the sample's image(s) and sounds of that name. `{each: name, parts: [...]}` repeats its parts
    for each image, with `<it>` and the number `{i}`. `{when: name, parts: [...]}` shows them if the sample has such
    an image or field, `unless` if it does not (with several names: any of them).
    """

    sample: Sample
    prompts: Mapping[str, Any]
    steps: str = "truth"
    settings: Mapping[str, Any] = field(default_factory=dict)
    blind: bool = False
    """The prompts are filled in as if the sample had no images (mode `blind`)."""

    def text(self, name: str, **values: object) -> str:
        """Return the prompt `name`, filled in; empty if the mode has no such prompt.

        A sample with a field `variant` gets the prompt `name@variant` if there is one, so the wording in the YAML can
        depend on the kind of item.
        """
        varied = f"{name}@{self.sample.fields.get('variant', '')}"
        return self._fill(str(self.prompts.get(varied, self.prompts.get(name, ""))), values, (name,))

    def parts(self, name: str = "inputs") -> list[Content]:
        """Return the layout `name`, filled in, without empty texts."""
        layout = self.prompts.get(name)
        if not isinstance(layout, list):
            raise BadInput(f"mode has no layout {name!r}", "give a list of parts under prompts")
        return [part for entry in layout for part in self._entry(entry) if part != ""]

    @property
    def true_steps(self) -> int:
        """The number of steps that the published protocol grants: the answer's length, or `num_images` if unknown."""
        steps = self.sample.steps
        return steps if steps is not None else int(self.settings.get("num_images", 0))

    @property
    def max_steps(self) -> int:
        return int(self.settings.get("max_steps", 20))

    def _entry(self, entry: object) -> list[Content]:
        if isinstance(entry, Mapping):
            return self._block(entry)
        text = str(entry)
        if match := _PICTURE.fullmatch(text):
            return [*self._pictures(match[1]), *self._sounds(match[1])]
        return [self._fill(text, {})]

    def _block(self, entry: Mapping[str, Any]) -> list[Content]:
        if "each" in entry:
            repeated: list[Content] = []
            for i, picture in enumerate(self._pictures(str(entry["each"])), start=1):
                for part in entry["parts"]:
                    repeated.append(picture if part == "<it>" else self._fill(str(part), {"i": i}))
            return repeated
        names = entry.get("when", entry.get("unless"))
        known = [names] if isinstance(names, str) else names
        there = any(self._pictures(name) or self._sounds(name) or self.sample.fields.get(name) for name in known)
        wanted = there if "when" in entry else not there
        return [part for inner in entry["parts"] for part in self._entry(inner)] if wanted else []

    def _pictures(self, name: str) -> Sequence[Picture]:
        value = () if self.blind else self.sample.pictures.get(name, ())
        return [value] if isinstance(value, Picture) else list(value)

    def _sounds(self, name: str) -> Sequence[Sound]:
        return self.sample.sounds.get(name, ())

    def _fill(self, template: str, values: Mapping[str, object], inside: tuple[str, ...] = ()) -> str:
        """Fill in a template. `inside` is this prompt's name: a prompt that names itself shows its name."""
        return _Filling(self, values).filled(template, inside)


class _Filling:
    """The characters of one prompt that were read so far. It is a class because a function that holds itself, and the
    sample with its images, would stay in memory until Python looks for such circles."""

    def __init__(self, prompts: FilledPrompts, values: Mapping[str, object]) -> None:
        self._prompts, self._values = prompts, values
        self._read = 0

    def filled(self, template: str, inside: tuple[str, ...]) -> str:
        return _FIELD.sub(lambda match: self._known(match, inside), self._counted(template))

    def _known(self, match: re.Match[str], inside: tuple[str, ...]) -> str:
        name = match[1]
        for place in (self._values, self._prompts.sample.fields):
            if name in place:
                return self._counted(str(place[name]))
        prompt = self._prompts.prompts.get(name)
        if not isinstance(prompt, str) or name in inside:
            return match[0]
        if len(inside) == MOST_DEEP:
            raise BadInput(f"prompts that use prompts more than {MOST_DEEP} deep: {name!r}")
        return self.filled(prompt, (*inside, name))

    def _counted(self, text: str) -> str:
        self._read += len(text)
        if self._read > MOST_CHARACTERS:
            raise BadInput(f"a prompt of more than {MOST_CHARACTERS} characters", "prompts that use prompts multiply")
        return text


Play = Callable[[Desk, FilledPrompts], Awaitable[None]]


@dataclass(frozen=True)
class Protocol:
    """A coroutine that runs an episode, and what it needs of a model, so that a model without it is refused before
    the first call."""

    play: Play
    draws: Callable[[FilledPrompts], int]
    """The number of drawings that an episode asks for (0: none)."""

    must_draw: bool = False
    skips_drawing: bool = False
    """The drawing comes last. A model that does not draw runs the rest, and the run reports it."""

    in_combined_prompt: bool = False
    """A model that stages drawing and answering itself (`Model.combined_prompt`) runs this in a single call."""


async def direct(desk: Desk, prompts: FilledPrompts) -> None:
    desk.show(*prompts.parts())
    await desk.say(prompts.text("ask"))


async def steps_then_answer(desk: Desk, prompts: FilledPrompts) -> None:
    """Plan a step, draw it, look at it, take the next; then give the whole answer."""
    desk.show(*prompts.parts())
    for i in _steps(prompts):
        plan = await desk.say(prompts.text("plan", i=i), limit=prompts.settings.get("plan_tokens"))
        if prompts.steps == "model" and says_done(plan):
            break
        await desk.draw(prompts.text("step", i=i))
    await desk.say(prompts.text("final"))


async def draw_then_answer(desk: Desk, prompts: FilledPrompts) -> None:
    """Draw an image from all inputs, then answer from the inputs and the drawing."""
    desk.show(*prompts.parts())
    if desk.wants_combined_prompt:
        await desk.draw_and_say(join(prompts.text("generation_prompt"), prompts.text("ask")))
        return
    await desk.draw(prompts.text("generation_prompt"), label=prompts.text("drawing_label"))
    await desk.say(prompts.text("ask"))


def _steps(prompts: FilledPrompts) -> range:
    """Return the step numbers. `truth` reveals the length of the answer, as published; `model` has only the task's
    maximum."""
    return range(1, 1 + (prompts.true_steps if prompts.steps == "truth" else prompts.max_steps))


def says_done(plan: str) -> bool:
    """Return whether the plan has the word DONE, in capitals as the prompt asks ("done" inside a sentence is a
    plan)."""
    return re.search(r"\bDONE\b", plan) is not None


PROTOCOLS: dict[str, Protocol] = {
    "direct": Protocol(direct, draws=lambda prompts: 0),
    "steps_then_answer": Protocol(steps_then_answer, draws=lambda prompts: len(_steps(prompts)), must_draw=True),
    "draw_then_answer": Protocol(draw_then_answer, draws=lambda prompts: 1, must_draw=True, in_combined_prompt=True),
}
"""The general protocols. A benchmark or world brings its own, which task files name by an alias."""
