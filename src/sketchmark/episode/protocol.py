"""Both stages of a two-stage visual chain of thought in one text, as lmms-eval's tasks and models pass it around.

What a mode says to a sample: the YAML's templates, filled in.

How a task is played: each protocol is a short coroutine over a desk and knows no model.

The same protocol serves visual_cot and text_cot: at a text_cot desk, `draw` returns a description instead.
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
    """(generation prompt, question), or None if the text is not of this form.

    The question runs to the last closing tag, so that a question that quotes the tags stays whole. A literal
    `{question}` in the generation prompt stands for the question, as in the models that made up this form.
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
"""Prompts that use prompts multiply: a few lines of a task file could stand for more text than there is memory."""


@dataclass(frozen=True)
class FilledPrompts:
    """One sample with one mode's prompts.

    A template is a text in which `{name}` stands for a field of the sample, another prompt, or a value the protocol
    gives. A name nobody knows stays as it is, because published prompts are full of literal braces. Prompts may use
    prompts, but what a data set puts into a field is never read as a template.
    A layout is a list of templates, one part each; an entry `<name>` alone is the sample's picture(s) and sounds of
    that name.
    `{each: name, parts: [...]}` repeats its parts for each picture, with `<it>` and the number `{i}`;
    `{when: name, parts: [...]}` shows them if the sample has such a picture or field, `unless` if it has not (of
    several names: any).
    """

    sample: Sample
    prompts: Mapping[str, Any]
    steps: str = "truth"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def text(self, name: str, **values: object) -> str:
        """The prompt `name`, filled in; empty when the mode has none of that name.

        A sample whose fields have a `variant` gets the prompt `name@variant` where there is one: the wording may
        depend on the kind of item, and still stand in the YAML.
        """
        varied = f"{name}@{self.sample.fields.get('variant', '')}"
        return self._fill(str(self.prompts.get(varied, self.prompts.get(name, ""))), values, (name,))

    def parts(self, name: str = "inputs") -> list[Content]:
        """The layout `name`, filled in. Empty texts are left out: a part is something that is there."""
        layout = self.prompts.get(name)
        if not isinstance(layout, list):
            raise BadInput(f"mode has no layout {name!r}", "give a list of parts under prompts")
        return [part for entry in layout for part in self._entry(entry) if part != ""]

    @property
    def true_steps(self) -> int:
        """How many steps the published protocol grants: the answer's length, or `num_images` where it is unknown."""
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
        value = self.sample.pictures.get(name, ())
        return [value] if isinstance(value, Picture) else list(value)

    def _sounds(self, name: str) -> Sequence[Sound]:
        return self.sample.sounds.get(name, ())

    def _fill(self, template: str, values: Mapping[str, object], inside: tuple[str, ...] = ()) -> str:
        """`inside` is the prompt that this is: one that names itself shows its name."""
        read = 0

        def counted(text: str) -> str:
            nonlocal read
            read += len(text)
            if read > MOST_CHARACTERS:
                raise BadInput(
                    f"a prompt of more than {MOST_CHARACTERS} characters", "prompts that use prompts multiply"
                )
            return text

        def filled(template: str, inside: tuple[str, ...]) -> str:
            def known(match: re.Match[str]) -> str:
                name = match[1]
                for place in (values, self.sample.fields):
                    if name in place:
                        return counted(str(place[name]))
                prompt = self.prompts.get(name)
                if not isinstance(prompt, str) or name in inside:
                    return match[0]
                if len(inside) == MOST_DEEP:
                    raise BadInput(f"prompts that use prompts more than {MOST_DEEP} deep: {name!r}")
                return filled(prompt, (*inside, name))

            return _FIELD.sub(known, counted(template))

        return filled(template, inside)


Play = Callable[[Desk, FilledPrompts], Awaitable[None]]


@dataclass(frozen=True)
class Protocol:
    """A way to play, and what it asks of a model, so that a model that cannot is refused before the first call."""

    play: Play
    draws: Callable[[FilledPrompts], int]
    """How many drawings an episode asks for (0: none)."""

    must_draw: bool = False
    skips_drawing: bool = False
    """The drawing comes last: a model that does not draw plays the rest, and the run says so."""

    in_combined_prompt: bool = False
    """A model that stages drawing and answering itself (`Model.combined_prompt`) plays this in a single call."""


async def direct(desk: Desk, prompts: FilledPrompts) -> None:
    desk.show(*prompts.parts())
    await desk.say(prompts.text("ask"))


async def steps_then_answer(desk: Desk, prompts: FilledPrompts) -> None:
    """Maze and sliding: plan a step, draw it, look at it, take the next; then give the whole answer."""
    desk.show(*prompts.parts())
    for i in _steps(prompts):
        plan = await desk.say(prompts.text("plan", i=i), limit=prompts.settings.get("plan_tokens"))
        if prompts.steps == "model" and says_done(plan):
            break
        await desk.draw(prompts.text("step", i=i))
    await desk.say(prompts.text("final"))


async def draw_then_answer(desk: Desk, prompts: FilledPrompts) -> None:
    """Two stages: draw a visualisation of all the pictures, then answer from the pictures and the drawing."""
    desk.show(*prompts.parts())
    if desk.wants_combined_prompt:
        await desk.draw_and_say(join(prompts.text("generation_prompt"), prompts.text("ask")))
        return
    await desk.draw(prompts.text("generation_prompt"), label=prompts.text("drawing_label"))
    await desk.say(prompts.text("ask"))


def _steps(prompts: FilledPrompts) -> range:
    """`truth` leaks the length of the answer, as published; `model` is bounded only by what the task allows."""
    return range(1, 1 + (prompts.true_steps if prompts.steps == "truth" else prompts.max_steps))


def says_done(plan: str) -> bool:
    """The word DONE, in capitals as the prompt asks for it ("done" inside a sentence is a plan, not an end)."""
    return re.search(r"\bDONE\b", plan) is not None


PROTOCOLS: dict[str, Protocol] = {
    "direct": Protocol(direct, draws=lambda prompts: 0),
    "steps_then_answer": Protocol(steps_then_answer, draws=lambda prompts: len(_steps(prompts)), must_draw=True),
    "draw_then_answer": Protocol(draw_then_answer, draws=lambda prompts: 1, must_draw=True, in_combined_prompt=True),
}
"""The general ones. A benchmark or world brings its own, which task files name by an alias."""
