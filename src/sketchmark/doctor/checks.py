"""The checks of the doctor, their findings, and the model under examination."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import CallFailed
from sketchmark.media import Picture
from sketchmark.worlds import cards
from sketchmark.worlds.cards import Shape, number_card

Health = Literal["yes", "in part", "no", "failed", "not asked"]
"""`failed`: a call ended in an error, so nothing is known. `not asked`: the model does not have this ability."""


@dataclass(frozen=True)
class Seen:
    """Result of one check. `means` is the consequence for a run, if not all is well."""

    verdict: Health
    seen: str
    means: str = ""


@dataclass(frozen=True)
class Check(Seen):
    check: str = ""


@dataclass(frozen=True)
class Calls:
    """Calls of one kind, with their time and tokens."""

    calls: int = 0
    seconds: float = 0.0
    """Median seconds per call."""
    tokens_in: int = 0
    tokens_out: int = 0
    pictures_out: int = 0


@dataclass(frozen=True)
class Examination:
    model: str
    findings: tuple[Check, ...]
    modes: dict[str, str]
    """Mode → `ready`, or the reason why not."""
    says: Calls = field(default_factory=Calls)
    draws: Calls = field(default_factory=Calls)
    cost: float | None = None
    notes: tuple[str, ...] = ()
    """Notes on the model, such as the day on which its provider retires it."""

    @property
    def is_healthy(self) -> bool:
        return all(finding.verdict in ("yes", "not asked") for finding in self.findings)


ABOUT = "This is a check-up."
"""Start of every prompt, so that it is not taken for a task."""


_DRAWING_TOKENS = 4096
"""Enough for an image in tokens, with thoughts before it."""
_CODE_TOKENS = 1024
"""A shape takes some hundred tokens of SVG."""


class Bedside:
    """The model under examination, without a cache: an old reply says nothing about today."""

    def __init__(self, model: Model, extra: Mapping[str, object] | None = None) -> None:
        """`extra` are settings of every call."""
        self.model = model
        self.only_edits = False
        """It refused to draw without an image. Each drawing without one is then asked on a white page."""
        self._extra = dict(extra or {})
        self._took: dict[str, list[tuple[float, Usage]]] = {"say": [], "draw": []}

    async def say(self, *parts: str | Picture | Part, most: int = 512) -> Reply:
        return await self._ask("say", parts, Options(max_new_tokens=most, seed=1, extra=self._extra))

    async def draw(
        self, *parts: str | Picture | Part, seed: int | None = 1, extra: Mapping[str, object] | None = None
    ) -> Reply:
        """Ask for a drawing with a token limit: a model that never ends its reply would hold up the check-up."""
        most = _CODE_TOKENS if self.model.abilities.draws_code else _DRAWING_TOKENS
        options = Options(max_new_tokens=most, seed=seed, extra={**self._extra, **(extra or {})})
        shown = any(isinstance(part, Picture) for part in parts)
        if shown or not self.only_edits:
            try:
                return await self._ask("draw", parts, options)
            except CallFailed as error:
                if shown or error.kind != "needs_image":
                    raise
                self.only_edits = True
        return await self._ask("draw", (cards.blank_page(), *parts), options)

    async def _ask(self, act: str, parts: tuple[str | Picture | Part, ...], options: Options) -> Reply:
        context = Context(tuple(part if isinstance(part, Part) else Part(part) for part in parts))
        started = time.perf_counter()
        reply = await (self.model.say if act == "say" else self.model.draw)(context, options)
        self._took[act].append((time.perf_counter() - started, reply.usage))
        return reply

    def calls(self, act: str) -> Calls:
        took = self._took[act]
        return Calls(
            calls=len(took),
            seconds=round(median(seconds for seconds, _ in took), 3) if took else 0.0,
            tokens_in=sum(usage.tokens_in for _, usage in took),
            tokens_out=sum(usage.tokens_out for _, usage in took),
            pictures_out=sum(usage.pictures_out for _, usage in took),
        )


_ASKED = (Shape("red", "circle"), Shape("blue", "triangle"))
_SIZE = (1536, 1024)
"""A size that most image models know and none draws by default."""
_KEPT = 0.95


def _no_picture(reply: Reply) -> Seen:
    said = f", said “{' '.join(reply.text.split())[:60]}”" if reply.text.strip() else ""
    return Seen("no", f"no picture ({reply.finish}{said})", "visual_cot cannot be run")


def _prompt(shape: Shape) -> str:
    return f"{ABOUT} Draw one solid {shape.colour} {shape.kind} in the middle of plain white paper, and nothing else."


async def draws(bed: Bedside) -> Seen:
    reply = await bed.draw(_prompt(_ASKED[0]))
    if reply.picture is None:
        return _no_picture(reply)
    return Seen("yes", "{}×{} {}".format(*reply.picture.size, reply.picture.format))


async def follows_the_prompt(bed: Bedside) -> Seen:
    found = []
    for shape in _ASKED:
        reply = await bed.draw(_prompt(shape))
        if reply.picture is None:
            return _no_picture(reply)
        found.append(cards.read_shape(reply.picture))
    if found == list(_ASKED):
        return Seen("yes", "a red circle and a blue triangle, as asked")
    shown = ", ".join(f"{one.colour} {one.kind or 'something'}" if one else "no colour" for one in found)
    if [one and one.colour for one in found] == [shape.colour for shape in _ASKED]:
        return Seen("in part", f"the colours are right: {shown}", "it draws roughly; shapes may be lost")
    means = "drawings do not show what was planned: no gain can come from them"
    return Seen("no", f"asked for a red circle and a blue triangle, drew {shown}", means)


async def hears_what_was_said(bed: Bedside) -> Seen:
    plan = Part("I choose green.", "model")
    reply = await bed.draw(
        f"{ABOUT} Choose a colour.",
        plan,
        "Now draw one solid circle in the colour that you chose, in the middle of plain white paper.",
    )
    if reply.picture is None:
        return _no_picture(reply)
    shape = cards.read_shape(reply.picture)
    if shape and shape.colour == "green":
        return Seen("yes", "drew in the colour that it had said")
    means = "what the model says before it draws is not seen by its drawing: visual_cot's plans are lost"
    return Seen("no", f"had said green, drew {shape.colour if shape else 'no colour'}", means)


async def edits(bed: Bedside) -> Seen:
    before = cards.number_card("2749")
    reply = await bed.draw(
        before,
        f"{ABOUT} Keep this picture just as it is, and add one small solid blue square near its lower right corner.",
    )
    if reply.picture is None:
        return _no_picture(reply)
    share, added = cards.kept(before, reply.picture), cards.main_colour(reply.picture, left=0.5)
    if added != "blue":
        means = "it cannot change a picture it was shown: step by step drawings do not build on each other"
        return Seen("no", "the blue square is not there", means)
    if share >= _KEPT:
        return Seen("yes", f"{share:.0%} of the rest as it was, and the square added")
    means = "it redraws instead of editing: earlier steps may be lost in each drawing"
    return Seen("no", f"{share:.0%} of the rest as it was", means)


async def sees_several(bed: Bedside) -> Seen:
    colours = ("yellow", "blue")
    reply = await bed.draw(
        *(cards.shape_card(Shape(colour, "square")) for colour in colours),
        f"{ABOUT} Two pictures. Draw one whose left half has the colour of the first one's square, and whose right "
        "half has the colour of the second's.",
    )
    if reply.picture is None:
        return _no_picture(reply)
    found = cards.main_colour(reply.picture, right=0.4), cards.main_colour(reply.picture, left=0.6)
    if found == colours:
        return Seen("yes", "yellow from the first and blue from the second")
    means = "drawings use at most one image: other inputs and earlier drawings are ignored"
    shown = " and ".join(colour or "no colour" for colour in found)
    return Seen("no", f"asked for yellow and blue, drew {shown}", means)


async def has_the_size(bed: Bedside) -> Seen:
    width, height = _SIZE
    extra = {"size": f"{width}x{height}", "width": width, "height": height}
    reply = await bed.draw(_prompt(_ASKED[0]), extra=extra)
    if reply.picture is None:
        return _no_picture(reply)
    found = "{}×{}".format(*reply.picture.size)
    if reply.picture.size == _SIZE:
        return Seen("yes", found)
    means = "width, height and size are dropped without a word: pictures come as the server likes"
    return Seen("no", f"asked for {width}×{height}, got {found}", means)


async def has_a_seed(bed: Bedside) -> Seen:
    asked = f"{ABOUT} Draw any colourful pattern you like."
    replies = [await bed.draw(asked, seed=seed) for seed in (1, 1, 2)]
    pictures = [reply.picture for reply in replies if reply.picture]
    if len(pictures) < len(replies):
        return _no_picture(next(reply for reply in replies if reply.picture is None))
    one, same, other = (picture.pixel_digest for picture in pictures)
    if one != same:
        means = "a drawing cannot be repeated: without the cache a run gives other numbers"
        return Seen("no", "two drawings with one seed differ", means)
    if one == other:
        return Seen("in part", "another seed, the same drawing", "the seed has no effect on drawings")
    return Seen("yes", "one seed, one drawing; another seed, another")


NUMBER = re.compile(r"\d+")
_SHORT = 16
_ORDER = ("48", "17", "92", "35")


def _quoted(text: str) -> str:
    """Quote untrusted text, short enough for a table."""
    flat = " ".join(text.split())
    return f"“{flat[:60]}{'…' if len(flat) > 60 else ''}”" if flat else "nothing"


async def says(bed: Bedside) -> Seen:
    reply = await bed.say(f"{ABOUT} Reply with the word ready and nothing else.")
    said = reply.text.strip().strip(".\"'*`").lower()
    if said == "ready":
        return Seen("yes", "said what it was asked to")
    if reply.text.strip():
        means = "answers may come wrapped in other words: check that `strict` reads them"
        return Seen("in part", f"asked for one word, said {_quoted(reply.text)}", means)
    return Seen("no", f"an empty reply ({reply.finish})", "no mode can be run")


async def reads(bed: Bedside) -> Seen:
    number = "5072"
    reply = await bed.say(
        number_card(number), f"{ABOUT} Which number does the picture show? Reply with its digits alone."
    )
    if number in NUMBER.findall(reply.text):
        return Seen("yes", f"read {number}")
    means = "it answers without seeing: scores say nothing about pictures"
    return Seen("no", f"shown {number}, said {_quoted(reply.text)}", means)


async def sees_all(bed: Bedside) -> Seen:
    question = (
        f"{ABOUT} Four pictures. Which number does each show, in their order? Reply with the four numbers alone."
    )
    reply = await bed.say(*map(number_card, _ORDER), question)
    found = [number for number in NUMBER.findall(reply.text) if number in _ORDER]
    if found == list(_ORDER):
        return Seen("yes", f"read {' '.join(found)}")
    seen = list(dict.fromkeys(found))
    if len(seen) == len(_ORDER):
        means = "tasks that speak of “the second picture” are answered about another"
        return Seen("in part", f"all four, but as {' '.join(found)}", means)
    which = f"only {' '.join(seen)} of {' '.join(_ORDER)}" if seen else f"said {_quoted(reply.text)}"
    return Seen("no", which, "tasks with several images, or with drawings, are answered without seeing all of them")


async def sees_the_second(bed: Bedside) -> Seen:
    reply = await bed.say(
        number_card("26"),
        number_card("74"),
        f"{ABOUT} Which number does the second picture show? Reply with its digits alone.",
    )
    found = NUMBER.findall(reply.text)
    if found == ["74"]:
        return Seen("yes", "read 74")
    means = "a question about two images is answered from one of them"
    return Seen("no", f"first 26, second 74, said {_quoted(reply.text)}", means)


async def sees_the_ends(bed: Bedside) -> Seen:
    """Show strips: an image that is cropped loses its ends, and one that is stretched to a square garbles them."""
    lost = []
    for name, wide, numbers in (("wide", True, ("38", "91")), ("tall", False, ("52", "67"))):
        ends = "left, then right" if wide else "top, then bottom"
        reply = await bed.say(
            cards.strip_card(*numbers, wide=wide),
            f"{ABOUT} A long strip has a number at each end. Which are they, {ends}? "
            "Reply with the two numbers alone.",
        )
        if NUMBER.findall(reply.text) != list(numbers):
            lost.append(f"{name}: {' '.join(numbers)}, said {_quoted(reply.text)}")
    if not lost:
        return Seen("yes", "read both ends of a wide and of a tall strip")
    means = "long images lose their ends or are stretched: boards, charts and film strips are misread"
    return Seen("in part" if len(lost) == 1 else "no", "; ".join(lost), means)


_OVALS = (((1280, 320), (200, 200)), ((320, 1280), (200, 200)), ((640, 640), (400, 200)))
"""Sizes of a page and of the oval on it."""


async def keeps_proportions(bed: Bedside) -> Seen:
    """Show a circle on a wide and on a tall page, and a wide oval on a square one: not every answer is equal."""
    said = []
    for page, oval in _OVALS:
        reply = await bed.say(
            cards.oval_card(page, oval),
            f"{ABOUT} Is the blue shape wider than it is tall, taller than it is wide, or equally wide and tall? "
            "Reply with one word: wide, tall or equal.",
        )
        words = re.findall(r"\b(wide|tall|equal)\b", reply.text.lower())
        said.append(words[0] if len(words) == 1 else _quoted(reply.text))
    if said == ["equal", "equal", "wide"]:
        return Seen("yes", "a circle is one on a wide and on a tall page")
    if said[:2] == ["tall", "wide"]:
        means = "images are stretched to a square before the model sees them: shapes and boards are distorted"
        return Seen("no", "a circle looks tall on a wide page and wide on a tall page", means)
    means = "it is not known whether images keep their proportions"
    return Seen("no", f"circle, circle and wide oval, said {', '.join(said)}", means)


async def reads_small_print(bed: Bedside) -> Seen:
    number = "8365"
    reply = await bed.say(
        cards.print_card(number),
        f"{ABOUT} A small number is printed on this page. Which one? Reply with its digits alone.",
    )
    if number in NUMBER.findall(reply.text):
        return Seen("yes", f"read {number}, 14 of 1024 pixels high")
    means = "large images are shrunk before the model sees them: labels and fine lines are lost"
    return Seen("no", f"shown {number}, 14 of 1024 pixels high, said {_quoted(reply.text)}", means)


async def follows_places(bed: Bedside) -> Seen:
    reply = await bed.say(
        f"{ABOUT} Two pictures, each followed by its name.",
        number_card("63"),
        "The picture above is called kilo.",
        number_card("81"),
        "The picture above is called lima.",
        "Which number does the picture called lima show? Reply with its digits alone.",
    )
    found = NUMBER.findall(reply.text)
    if found == ["81"]:
        return Seen("yes", "knew which name belongs to which picture")
    means = "captions, steps and image indices may be taken for another picture's"
    return Seen("no", f"lima is 81, said {_quoted(reply.text)}", means)


async def is_cut(bed: Bedside) -> Seen:
    reply = await bed.say(f"{ABOUT} Count from 1 to 300, in digits, with spaces between.", most=_SHORT)
    words = len(reply.text.split())
    if reply.finish == "length":
        return Seen("yes", f"cut after {words} of 300 words, and says so (length)")
    if words > 2 * _SHORT:
        means = (
            "--gen-kwargs max_new_tokens has no effect: replies are as long, and cost as much, as the server likes"
        )
        return Seen("no", f"{words} words for {_SHORT} tokens", means)
    means = "an answer that was cut off counts as wrong, not as cut"
    return Seen("in part", f"{words} words, and a finish of {reply.finish}", means)


async def repeats(bed: Bedside) -> Seen:
    asked = f"{ABOUT} Name six animals that live in different places, each with a colour, on one line."
    one, two = await bed.say(asked), await bed.say(asked)
    if one.text == two.text:
        return Seen("yes", "twice the same, word for word")
    means = "a run that is repeated without its cache gives other numbers: quote the interval"
    return Seen("no", "another reply to the same request at temperature 0", means)
