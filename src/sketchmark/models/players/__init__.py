"""Scripted players: stand-ins for models that read and draw pixels, and know only their context.

With them the first run needs no key, no weights and no network. They also calibrate the harness:

random    answers in the right form without knowledge, at chance level.
solver    reads the images, plans and draws perfectly. It must score 1.0 on every score of every generated world. In
          other tasks it guesses like `random`.
sketcher  sees only a few moves ahead and draws with a shaky hand. Drawing helps it: each drawing is a new starting
          point, and at the end it reads its moves off the drawings. A blank canvas, or another puzzle's, removes that
          help. Then it answers exactly as without drawing. It is the positive control: a gain that must vanish with
          the canvas.
flawed    has faults of known size, to calibrate `sketchmark audit`. With the chance `draw_error` one thing in an
          episode's drawings is wrong. With the chance `read_error` the answer is not what the drawings show. With the
          chance `ignores` it does not use them. If it has seen nothing (no drawings, white paper, another puzzle,
          text) it knows the answer with the chance `knows`. Each fault is decided once per puzzle, whatever the mode
          and the canvas. Slips are decided independently: `draw_slip` once per episode, `read_slip` once per answer,
          also of what it knows.
patient   is for `sketchmark doctor`.
quoter    is an extractor (`--extractor player/quoter`): it quotes the last letter or number of a reply.

When asked for code, players write their drawing as SVG with the same pixels, on the most similar image they were
shown.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import UnknownName
from sketchmark.media import Picture
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.providers import Provider
from sketchmark.worlds import Play, Worlds, installed_worlds
from sketchmark.worlds.boards import MOVES
from sketchmark.worlds.play import may_stop, next_move_words, puzzle_in, wanted

PLAYERS = ("random", "solver", "sketcher", "flawed", "patient")


def make(name: str, worlds: Worlds | None = None, /, **model_args: Value) -> Model:
    """Make a player. `sketcher` takes `lookahead` and `hand_error`, `flawed` the chances of `Faults`."""
    args = Arguments(f"player/{name}", model_args)
    seed = args.whole("seed", 0)
    if name == "sketcher":
        lookahead, hand_error = args.whole("lookahead", 3), args.chance("hand_error", 0.02)
        args.refuse_unknown()
        return Sketcher(seed, lookahead, hand_error, worlds)
    if name == "flawed":
        chances = {field.name: args.chance(field.name, getattr(Faults, field.name)) for field in fields(Faults)}
        args.refuse_unknown()
        return Flawed(Faults(**chances), seed, worlds)
    args.refuse_unknown()
    if name == "random":
        return Chance(seed, worlds)
    if name == "solver":
        return Solver(worlds)
    if name == "patient":
        from sketchmark.models.players.patient import Patient

        return Patient()
    if name == "quoter":
        return Quoter()
    raise UnknownName(f"no player named {name!r}", f"there are: {', '.join(PLAYERS)}, quoter")


_ASKS = "Write your drawing as SVG code."
_Pixels = NDArray[np.uint8]
_Mask = NDArray[np.bool_]


def _without_asking_for_code(context: Context) -> Context | None:
    """Return the context before the prompt for SVG, None if there is no such prompt."""
    for place, part in enumerate(context.parts):
        if part.by == "task" and _ASKS in (part.text or ""):
            return Context(context.parts[:place])
    return None


def _as_svg(drawing: Picture, pictures: Sequence[Picture]) -> str:
    """Write a drawing as SVG. `pictures` are the images that the player was shown, in their order."""
    width, height = drawing.size
    wanted, page, inner = drawing.values, np.full_like(drawing.values, 255), []
    for number, picture in enumerate(pictures, start=1):
        if picture.size == drawing.size and _unlike(picture.values, wanted).sum() <= _unlike(page, wanted).sum():
            page, inner = picture.values, [_image(number, 0, 0, picture)]
    left = _unlike(page, wanted)
    for number, picture in enumerate(pictures, start=1):
        if left.any() and (place := _fits(picture.values, wanted, left)) is not None:
            inner.append(_image(number, *place, picture))
            left[place[1] : place[1] + picture.size[1], place[0] : place[0] + picture.size[0]] = False
    inner += _rectangles(wanted, left)
    size = f'width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} shape-rendering="crispEdges">{"".join(inner)}</svg>'


def _unlike(one: _Pixels, other: _Pixels) -> _Mask:
    found: _Mask = (one != other).any(axis=2)
    return found


def _image(number: int, x: int, y: int, picture: Picture) -> str:
    width, height = picture.size
    return f'<image href="picture:{number}" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def _fits(patch: _Pixels, wanted: _Pixels, left: _Mask) -> tuple[int, int] | None:
    """Return the position at which an image, with its lower right corner, shows all that is left to draw."""
    rows, columns = np.flatnonzero(left.any(axis=1)), np.flatnonzero(left.any(axis=0))
    height, width = patch.shape[:2]
    x, y = int(columns[-1]) + 1 - width, int(rows[-1]) + 1 - height
    covers = 0 <= x <= columns[0] and 0 <= y <= rows[0]
    return (x, y) if covers and np.array_equal(wanted[y : y + height, x : x + width], patch) else None


def _rectangles(wanted: _Pixels, left: _Mask) -> Iterator[str]:
    """Yield runs of one colour. Equal lines share a rectangle."""
    colours = wanted.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    colours[~left] = -1
    open_: dict[tuple[int, int, int], int] = {}
    for y, line in enumerate([*colours, np.full(colours.shape[1], -1)]):
        ends = np.append(np.flatnonzero(line[1:] != line[:-1]) + 1, len(line))
        runs = zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        here = {(start, end, int(line[start])) for start, end in runs if line[start] >= 0}
        for run in [run for run in open_ if run not in here]:
            (start, end, colour), top = run, open_.pop(run)
            at = f'x="{start}" y="{top}" width="{end - start}" height="{y - top}"'
            yield f'<rect {at} fill="#{colour:06x}"/>'
        for run in here:
            open_.setdefault(run, y)


_ELSEWHERE = Play()
"""Other tasks than the worlds: players guess and _scribble."""


def _play_of(context: Context, worlds: Worlds) -> Play:
    """Return the player's part of the world whose phrases come first in the context. A player has no other source."""
    for text in context.texts:
        for world in worlds:
            if any(phrase in text for phrase in world.told_by):
                return world.play
    return _ELSEWHERE


_LETTER = re.compile(r"(?:^|[\s(])([A-L])(?:[.):]|\))", re.MULTILINE)


class Player(Model):
    """Replies with a subclass's answer or drawing, and writes the drawing as SVG if asked for code."""

    def __init__(self, name: str, worlds: Worlds | None = None) -> None:
        super().__init__(name)
        self._worlds = worlds or installed_worlds()

    async def say(self, context: Context, options: Options) -> Reply:
        if (before := _without_asking_for_code(context)) is not None:
            return _said(_as_svg(self._drawing(before, options), before.pictures))
        return _said(self._answer(context, options))

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(picture=self._drawing(context, options), usage=Usage(pictures_out=1))

    def receives(self, act: str) -> Collection[str]:
        """Return the settings of every call. A player has no use for any other."""
        return ("max_new_tokens", "temperature", "seed")

    def _play(self, context: Context) -> Play:
        return _play_of(context, self._worlds)

    def _guess(self, context: Context, seed: int, options: Options) -> str:
        return guess(context, dice(context, seed, options), self._worlds)

    def _answer(self, context: Context, options: Options) -> str:
        raise NotImplementedError

    def _drawing(self, context: Context, options: Options) -> Picture:
        raise NotImplementedError


class Chance(Player):
    hears = True

    def __init__(self, seed: int = 0, worlds: Worlds | None = None) -> None:
        super().__init__("player/random", worlds)
        self._seed = seed

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "seed": self._seed}

    def _answer(self, context: Context, options: Options) -> str:
        return self._guess(context, self._seed, options)

    def _drawing(self, context: Context, options: Options) -> Picture:
        return _scribble(context, dice(context, self._seed, options))


def dice(context: Context, seed: int, options: Options) -> Random:
    """Return random numbers that depend only on the context and the repeat, not on the order of episodes."""
    digest = hashlib.sha256(f"{seed}{nth(options)}:{context.key()}".encode()).digest()
    return Random(int.from_bytes(digest[:8], "big"))


def nth(options: Options) -> str:
    """Name the repeat and the answer; empty for the first."""
    return f":{options.repeat}:{options.branch}" if options.repeat or options.branch else ""


def guess(context: Context, rng: Random, worlds: Worlds) -> str:
    """Choose a random answer of the requested form."""
    want = wanted(context)
    if want == "plan":
        if may_stop(context) and rng.random() < 0.15:
            return "DONE"
        return next_move_words(rng.choice(list(MOVES)))
    if want == "describe":
        return "I cannot picture it."
    return _play_of(context, worlds).guess(context, rng) or _guess_choice(context, rng)


def _guess_choice(context: Context, rng: Random) -> str:
    """Choose one of the options shown, or yes or no, or admit not to know."""
    text = "\n".join(part.text or "" for part in context if part.by == "task")
    letters = sorted(set(_LETTER.findall(text)))
    if len(letters) > 1:
        return f"``{rng.choice(letters)}``" if "within ``" in text else rng.choice(letters)
    if re.search(r"'yes' or 'no'|\"yes\" or \"no\"", text):
        return rng.choice(("yes", "no"))
    return "I do not know."


def _scribble(context: Context, rng: Random) -> Picture:
    """Return the newest image with a mark at a random place."""
    from PIL import Image, ImageDraw

    image = context.pictures[-1].image() if context.pictures else Image.new("RGB", (256, 256), "white")
    width, height = image.size
    x, y = rng.randrange(max(1, width - 8)), rng.randrange(max(1, height - 8))
    ImageDraw.Draw(image).rectangle((x, y, x + width // 6, y + height // 6), outline=(220, 40, 40), width=3)
    return Picture.from_image(image)


def _said(text: str) -> Reply:
    return Reply(text=text, usage=Usage(tokens_out=len(text.split())))


@dataclass(frozen=True)
class Faults:
    """Chances of faults, from 0 to 1. Errors are decided per puzzle, slips per episode or answer."""

    draw_error: float = 0.0
    read_error: float = 0.0
    ignores: float = 0.0
    knows: float = 0.2
    draw_slip: float = 0.0
    read_slip: float = 0.0


class Flawed(Player):
    def __init__(self, faults: Faults, seed: int = 0, worlds: Worlds | None = None) -> None:
        super().__init__("player/flawed", worlds)
        self._faults, self._seed = faults, seed

    def identity(self) -> dict[str, Any]:
        faults = {name: chance for name, chance in asdict(self._faults).items() if chance or "slip" not in name}
        return {"name": self.name, "seed": self._seed, **faults}

    def _answer(self, context: Context, options: Options) -> str:
        play = self._play(context)
        answer = play.answer(context) if wanted(context) != "final" else None
        slips = answer is None and self._happens("read_slip", context, f"{options.repeat}:{options.branch}")
        if answer is None and not self._happens("ignores", context):
            answer = play.conclude(context, by_drawings=True, wrong=slips or self._happens("read_error", context))
        if answer is None:
            answer = play.conclude(context, by_drawings=False, wrong=slips or not self._happens("knows", context))
        return answer or self._guess(context, self._seed, options)

    def _drawing(self, context: Context, options: Options) -> Picture:
        play = self._play(context)
        wrong = self._happens("draw_error", context) or self._happens("draw_slip", context, str(options.repeat))
        picture = play.misdraw(context) if wrong else play.draw(context)
        return picture or _scribble(context, dice(context, self._seed, options))

    def _happens(self, fault: str, context: Context, again: str = "") -> bool:
        """Decide a fault once per puzzle, or once for each `again`."""
        shown = puzzle_in(context)
        puzzle = shown.initial.identity if shown else ""
        chance: float = getattr(self._faults, fault)
        return Random(f"{self._seed}:{fault}:{puzzle}" + (again and f":{again}")).random() < chance


class Sketcher(Player):
    hears = True

    def __init__(
        self, seed: int = 0, lookahead: int = 3, hand_error: float = 0.02, worlds: Worlds | None = None
    ) -> None:
        super().__init__("player/sketcher", worlds)
        self._seed, self._lookahead, self._hand_error = seed, lookahead, hand_error

    def identity(self) -> dict[str, Any]:
        return {
            "name": self.name, "seed": self._seed, "lookahead": self._lookahead, "hand_error": self._hand_error
        }  # fmt: skip

    def _answer(self, context: Context, options: Options) -> str:
        answer = self._play(context).glance(context, self._lookahead, self._seed)
        return answer or self._guess(context, self._seed, options)

    def _drawing(self, context: Context, options: Options) -> Picture:
        rng = dice(context, self._seed, options)
        shaky = rng.random() < self._hand_error
        return self._play(context).sketch(context, shaky, rng) or _scribble(context, rng)


class Solver(Player):
    def __init__(self, worlds: Worlds | None = None) -> None:
        super().__init__("player/solver", worlds)

    def _answer(self, context: Context, options: Options) -> str:
        return self._play(context).answer(context) or self._guess(context, 0, options)

    def _drawing(self, context: Context, options: Options) -> Picture:
        return self._play(context).draw(context) or _scribble(context, dice(context, 0, options))


PROVIDER = Provider(make, f"player/NAME: {', '.join(PLAYERS)}", by_world=True)


class Quoter(Model):
    """An extractor without a model: it quotes the last capital letter from A to J or the last number of a reply."""

    _REPLY = re.compile(r"^(=+\w+=+) reply\n(.*)\n\1$", re.DOTALL | re.MULTILINE)
    _ANSWER = re.compile(r"(?<![\w-])(?:[A-J]|-?\d+(?:\.\d+)?)(?!\w)")

    def __init__(self) -> None:
        super().__init__("player/quoter")

    async def say(self, context: Context, options: Options) -> Reply:
        shown = self._REPLY.search(context.texts[-1] if context.texts else "")
        found = self._ANSWER.findall(shown[2]) if shown else []
        return Reply(json.dumps({"quote": found[-1] if found else None}))
