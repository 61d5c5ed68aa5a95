"""The base of worlds that are solved in steps: samples, scores, canvases and scripted players from a world's rules.

A world is a subclass of `StepWorld`: a scene, its rules, a painter, an image reader and a text form. Its level, from
1 to 5, is the least number of steps and thus the number of ground-truth images. All its modes use the prompts of
`_steps.yaml`, into which its task file puts the rules.

Scores: `NAME_right` (every right answer counts, by `accepts`), `NAME_shortest` if the answer is a list of moves, and
with drawings `NAME_img_exact`, `NAME_img_frame_acc`, `NAME_img_legal` (drawn frames that follow from the one before
by one legal step), `NAME_parse_*`. An image counts as read only if a rendering of what was read in it explains all of
it: marks, collages and half-drawn scenes are unread.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from PIL import Image, ImageDraw

from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Context, Sample
from sketchmark.errors import BadInput, BadPicture
from sketchmark.media import Picture
from sketchmark.media.pixels import Recent
from sketchmark.worlds import (
    LEVELS,
    MIXED,
    Argument,
    Making,
    World,
    boards,
    check_level,
    look_in_turn,
    moves,
    numbered_drafts,
    renderings,
)
from sketchmark.worlds.boards import Values
from sketchmark.worlds.play import Shown, StepByStep, tagged_moves

SIZE = 512
_SMALLEST, _LARGEST = 192, 2048
_MISTAKES, _TRIES = 3, 8
"""Wrong steps of which a drawing may have no trace, at most, and how many are drawn at random to find them."""
_PLAN = re.compile(r"^[^\w\n]*next: (.+)", re.IGNORECASE | re.MULTILINE)
_BETWEEN_WORDS = re.compile(r"[\s:_-]+")


@dataclass(frozen=True)
class Scene:
    """Everything that an image shows. Two scenes are equal if they show the same, in whatever look."""

    look: str = field(default="", compare=False, kw_only=True)


Some = TypeVar("Some", bound=Scene)


class StepWorld(StepByStep[Some]):
    """A world of scenes. Moves, steps and answers are lists of short texts in lower case.

    A step is something that a drawing may show: `choices` also lists wrong ones, `legal` knows which follow the
    rules.
    """

    name: str
    palettes: Mapping[str, boards.Palette]
    """The colours of each look."""
    chances: tuple[float, ...]
    """Expected proportion of right answers of `player/random` at each level."""
    about: str
    """One sentence: what `sketchmark make` writes."""
    answers_in_moves = True
    """Whether the answer is the list of steps itself."""
    synonyms: Mapping[str, str] = MappingProxyType({})
    """Other words for those of answers: a regular expression of lower-case words with single spaces → our word."""
    unpictured = "I see the puzzle before me, but I cannot picture the next step."

    def __init__(self) -> None:
        self._seen: Recent[tuple[Some | None]] = Recent(512)
        self._drawn: Recent[Picture] = Recent(64)
        self._rivals: Recent[tuple[Some, ...]] = Recent(512)
        self._pages: Recent[Image.Image] = Recent(8_000_000, lambda page: page.width * page.height)
        self._rendered: Recent[renderings.Rendering] = Recent(8_000_000, lambda kept: kept.nbytes)

    @abstractmethod
    def generate(self, dice: Random, level: int, look: str) -> Some:
        """Make a puzzle that takes `level` steps, with one shortest list of steps."""

    @abstractmethod
    def choices(self, state: Some) -> Sequence[str]:
        """The steps that a drawing may show from here, wrong ones included."""

    def back(self, pen: ImageDraw.ImageDraw, look: str, size: int) -> None:
        """Draw what all scenes of a look have in common on an empty page. It is drawn once for many scenes."""

    @abstractmethod
    def paint_on(self, pen: ImageDraw.ImageDraw, state: Some, size: int) -> None:
        """Draw a scene on what `back` has drawn, a page of this many pixels a side."""

    @abstractmethod
    def see(self, values: Values, name: str) -> Some | None:
        """Read a scene from pixels in the look of this name; None if they show none."""

    @abstractmethod
    def write(self, state: Some) -> str:
        """Write a scene as text, for the mode text_input; `parse` reads it back."""

    @abstractmethod
    def parse(self, text: str) -> Some | None: ...

    @abstractmethod
    def guessed(self, rng: Random) -> list[str]:
        """An answer at random, in the requested form."""

    @property
    def looks(self) -> tuple[str, ...]:
        return tuple(self.palettes)

    def legal(self, state: Some, step: str) -> bool:
        return self.after(state, step) != state

    def accepts(self, first: Some, answer: Sequence[str]) -> bool:
        """Return whether an answer is right. Override it if there may be several right ones."""
        return list(answer) == self.conclude_from(first, self.solve(first))

    def in_words(self, state: Some) -> str:
        return f"The state is now:\n{self.write(state)}"

    def paint(self, state: Some, size: int) -> Image.Image:
        """Draw a scene as a square image with a palette."""
        key = look, _ = (state.look or self.looks[0], size)
        page = self._pages.get(key)
        if page is None:
            page = Image.new("P", (size, size), self.palettes[look].page)
            self.back(ImageDraw.Draw(page), look, size)
            self._pages.keep(key, page)
        image = page.copy()
        self.paint_on(ImageDraw.Draw(image), state, size)
        return image

    def render(self, state: Some, size: int = SIZE) -> Picture:
        key = (state, state.look, size)
        return self._drawn.get(key) or self._drawn.keep(key, Picture.from_image(self.paint(state, size)))

    def read(self, picture: Picture, *rivals: Some) -> Some | None:
        """Return the scene that an image shows, and nothing else; None if it does not. It may have no trace of the
        `rivals`, scenes that it could show at the same time."""
        key = (picture.digest, *rivals)
        found = self._seen.get(key) or self._seen.keep(key, (self._read(picture, rivals),))
        return found[0]

    def _read(self, picture: Picture, rivals: Sequence[Some]) -> Some | None:
        if min(picture.size) < _SMALLEST // 2:
            return None
        shown = picture.reduced(renderings.READ_AT)
        values = np.asarray(shown)
        name = boards.look_of(values, self.palettes)
        seen = self.see(values, name)
        if seen is None:
            return None
        scene = replace(seen, look=name)
        blocks = renderings.blocks_of(shown)
        sizes = dict.fromkeys((SIZE, renderings.READ_AT, min(_LARGEST, max(picture.size))))  # each rounds edges
        others = [replace(one, look=name) for one in dict.fromkeys(rivals) if one != scene]
        drawn = ((self._rendering(scene, size), (self._rendering(one, size) for one in others)) for size in sizes)
        return scene if renderings.explain(drawn, blocks) else None

    def _rendering(self, scene: Some, size: int) -> renderings.Rendering:
        """Return a scene as blocks. The newest are kept: a group of rollouts draws the same scenes."""
        key = (scene, scene.look, size)
        return self._rendered.get(key) or self._rendered.keep(
            key, renderings.Rendering(partial(self.paint, scene, size))
        )

    def puzzle(self, seed: int, level: int, look: str) -> Some:
        """Return the puzzle of a seed: the same in every process."""
        check_level(self.name, level)
        seen = look_in_turn(self.name, self.looks, look, 0)
        return self.generate(Random(f"{self.name}:{seed}:{level}"), level, seen)

    def samples(
        self, *, seed: int, data: Path | None, level: int = 0, look: str = MIXED, size: int = SIZE
    ) -> Iterator[Sample]:
        """Yield samples of one level and look; by default all levels in turn, then the next look. Samples of one
        level have all looks in turn."""
        if not _SMALLEST <= size <= _LARGEST:
            raise BadInput(f"images of {size} pixels a side", f"{_SMALLEST} to {_LARGEST}")
        self.puzzle(seed, level or LEVELS[0], look)  # refuses what cannot be

        def make(id: str, number: int, own_seed: int) -> Sample:
            chosen = level or LEVELS[number % len(LEVELS)]
            turn = number if level else number // len(LEVELS)
            seen = look_in_turn(self.name, self.looks, look, turn)
            return self.sample(id, self.puzzle(own_seed, chosen, seen), size)

        return numbered_drafts(self.name, seed, make)

    def sample(self, id: str, puzzle: Some, size: int = SIZE) -> Sample:
        steps, text = self.solve(puzzle), self.write(puzzle)
        return Sample(
            id=id,
            pictures={"initial": self.render(puzzle, size)},
            fields={"puzzle": text},
            target={
                "world": self.name,
                "puzzle": text,
                "moves": steps,
                "answer": self.conclude_from(puzzle, steps),
            },
            groups={"level": len(steps), "look": puzzle.look},
            steps=len(steps),
            frames=partial(self._frames, puzzle, steps, size),
        )

    def _frames(self, state: Some, steps: Sequence[str], size: int) -> list[Picture]:
        return [self.render(state := self.after(state, step), size) for step in steps]

    def begin(self, shown: Shown) -> Some | None:
        try:
            return self.read(shown.initial)
        except BadPicture:
            return None

    def shows(self, picture: Picture, state: Some) -> bool:
        return self.read(picture) == state

    def plan(self, move: str) -> str:
        return f"Next: {move}."

    def plans(self, shown: Shown) -> list[str]:
        own = [part.text for part in shown.later if part.by == "model" and part.text]
        return [found[1].strip().removesuffix(".").lower() for text in own if (found := _PLAN.search(text))]

    def astray(self, state: Some, move: str, before: str, rng: Random) -> Some | None:
        """Return where another step leads than the right one."""
        right = self.after(state, move)
        ends = [self.after(state, other) for other in self.choices(state)]
        wrong = [end for end in ends if end not in (state, right)]
        return rng.choice(wrong) if wrong else None

    def guess(self, context: Context, rng: Random) -> str:
        return tagged_moves(self.guessed(rng))

    def caption(self, sample: Sample, drawing: Picture) -> str:
        found = self.read(drawing)
        if found is None:
            return "The drawing cannot be read."
        return f"The drawing shows this state:\n{self.write(found)}"

    def reading(self, picture: Picture) -> str | None:
        """Return the scene in an image as text, for `sketchmark read` and the viewer."""
        found = self.read(picture)
        return None if found is None else self.write(found)

    def answered(self, episode: Episode) -> list[str] | None:
        """Return the entries of the answer, with single spaces between words."""
        found = moves.strict_moves(episode.answer, self._is_entry)
        return None if found is None else [self._entry(text) for text in found]

    def _entry(self, text: str) -> str:
        said = _BETWEEN_WORDS.sub(" ", text).strip()
        for other, ours in self.synonyms.items():
            said = re.sub(rf"\b{other}\b", ours, said)
        return said

    def _is_entry(self, text: str) -> bool:
        """Return whether a text can be an entry of an answer without its tag: it has the words of one."""
        words = set(self._entry(text).split())
        return bool(words) and words <= self.vocabulary

    @property
    @abstractmethod
    def vocabulary(self) -> frozenset[str]:
        """The words of which the entries of answers consist."""

    def score(self, sample: Sample, episode: Episode, grading: Grading) -> Scores:
        first, truth = self._first(sample), list(sample.target["answer"])
        answer = self.answered(episode)
        right = answer is not None and self.accepts(first, answer)
        values: dict[str, float | None] = {f"{self.name}_right": float(right)}
        if self.answers_in_moves:
            values[f"{self.name}_shortest"] = float(right and len(answer or ()) == len(truth))
        notes: dict[str, Any] = {"answer": answer, "expected": truth}
        if episode.draw_attempts:
            drawn, state = self._drawings(sample, episode, grading), first
            expected = [state := self.after(state, step) for step in sample.target["moves"]]
            legal = moves.share_legal(first, drawn, self._follows)
            found, notes["frames_right"] = moves.frame_scores(
                self.name, drawn, expected, legal, [one is not None for one in drawn]
            )
            values |= found
        return Scores(values | self._follows_corrupt(first, episode, answer), notes, unparsed=answer is None)

    def score_drawings(self, sample: Sample, episode: Episode, grading: Grading) -> Scores:
        """Score the drawings for RA and AL without a judge."""
        if not episode.drawings:
            return Scores({})
        found, drawn = self.score(sample, episode, Grading()), self._drawings(sample, episode, Grading())
        implied, answer = self._implied(self._first(sample), episode.drawings), found.notes["answer"]
        agrees = None if answer is None or implied is None else float(answer == implied)
        read = sum(state is not None for state in drawn)
        return Scores(
            {"drawing_right": found.values[f"{self.name}_img_frame_acc"], "answer_as_drawn": agrees},
            {"answer": answer, "drawn": implied, "drawings_read": f"{read} of {len(drawn)}"},
        )

    def _first(self, sample: Sample) -> Some:
        found = self.parse(str(sample.target["puzzle"]))
        if found is None:
            raise BadInput(f"{sample.id}: its target is not a puzzle of {self.name}")
        return found

    def _drawings(self, sample: Sample, episode: Episode, grading: Grading) -> list[Some | None]:
        """Read the drawings. None may have a trace of what a cheat would show at the same time."""
        first = before = self._first(sample)
        found = list[Some | None]()
        for picture, step in zip_longest(episode.drawings, sample.target["moves"][: len(episode.drawings)]):
            rivals = self.rivals(first, before, step)
            found.append(None if moves.is_refused(picture, grading) else self.read(picture, *rivals))
            before = self.after(before, step) if step else before
        return found

    def rivals(self, first: Some, before: Some, step: str | None) -> tuple[Some, ...]:
        """Return the scenes of which a drawing of a step may have no trace: the first one, the one before, and some
        in which the step is drawn wrongly, always the same. The newest are kept: a group of rollouts has the same."""
        key = (first, before, step)
        kept = self._rivals.get(key)
        if kept is None:
            wrong = (self.astray(before, step, "", Random(seed)) for seed in range(_TRIES) if step)
            distinct = tuple(dict.fromkeys(one for one in wrong if one))
            kept = self._rivals.keep(key, (first, before, *distinct[:_MISTAKES]))
        return kept

    def _follows(self, before: Some, after: Some) -> bool:
        return any(self.legal(before, step) and self.after(before, step) == after for step in self.choices(before))

    def _implied(self, first: Some, pictures: Sequence[Picture]) -> list[str] | None:
        """Return the answer that drawings imply; None if they cannot be read or show no step."""
        steps = self.moves_in(first, pictures)
        return self.conclude_from(first, steps) if steps else None

    def _follows_corrupt(
        self, first: Some, episode: Episode, answer: Sequence[str] | None
    ) -> dict[str, float | None]:
        """`{}` unless the canvas is corrupt. An answer follows if it begins with what the images imply."""
        if episode.settings.get("canvas") != "corrupt":
            return {}
        implied, truth = self._implied(first, moves.shown(episode)), self.conclude_from(first, self.solve(first))
        if not implied or implied == truth[: len(implied)]:
            return {moves.FOLLOWS: None}
        return {moves.FOLLOWS: float(answer is not None and list(answer[: len(implied)]) == implied)}

    def world(self, about: str) -> World:
        """Return the description of this world; `about` is its module's docstring."""
        return World(
            name=self.name,
            about=about,
            told_by=(f"The puzzle is of the kind {self.name}.",),
            play=self,
            making=Making(
                about=self.about,
                samples=self.samples,
                arguments=(
                    Argument("level", 0, "Steps of the shortest solution, 1 to 5; 0: all levels in turn."),
                    Argument("look", MIXED, "Look of the images.", among=(*self.looks, MIXED)),
                    Argument("size", SIZE, "Pixels a side."),
                ),
                answer="answer",
            ),
            reading=self.reading,
            corrupt=self.corrupted,
            caption=self.caption,
            scorers={"score": self.score, "drawn": self.score_drawings},
            chances=self.chances,
        )
