"""Scripted players: the puzzle that a context shows, and replies for worlds that are solved move by move.

Everything here comes from the texts and pixels of the context. A player has no other source.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Generic, Literal, TypeVar

from sketchmark.episode.sample import Context, Part, Sample
from sketchmark.media import Picture
from sketchmark.worlds import Play
from sketchmark.worlds.boards import MOVES

State = TypeVar("State")
Wanted = Literal["plan", "describe", "final"]

_LONGEST_GUESS = 12
_BACK = {"up": "down", "down": "up", "left": "right", "right": "left"}
_MOVE = re.compile(r"\b(up|down|left|right)\b", re.IGNORECASE)


def wanted(context: Context) -> Wanted:
    """Return the kind of reply that the last text requests."""
    last = context.texts[-1] if context.texts else ""
    if re.search(r"\bplann?ing for step\b", last):
        return "plan"
    if re.search(r"\bdescri(be|ption) in words\b", last):
        return "describe"
    return "final"


def may_stop(context: Context) -> bool:
    return "DONE" in context.texts[-1]


def next_move_words(move: str) -> str:
    return f"Next, move one step {move}."


def tagged_moves(moves: list[str]) -> str:
    return f"<ANSWER_JSON>{json.dumps(moves)}</ANSWER_JSON>"


def random_moves_are(count: int) -> float:
    """Return the chance that `StepByStep.guess` is one list of this many moves."""
    return float(len(MOVES)) ** -count / _LONGEST_GUESS


def tagged_choice(choice: int, why: str) -> str:
    return f"<FINAL_ANSWER_JSON>{json.dumps({'choice': choice, 'rationale': why})}</FINAL_ANSWER_JSON>"


@dataclass(frozen=True)
class Shown:
    """A puzzle in a context: the newest problem's images, and the parts after them."""

    initial: Picture
    goal: Picture | None
    later: tuple[Part, ...]

    @property
    def drawings(self) -> list[Picture]:
        """Every picture after the problem's own. Not by author: over the wire a drawing comes back in a user's
        message, because most APIs take no pictures from the assistant."""
        return [part.content for part in self.later if isinstance(part.content, Picture)]

    @property
    def plans(self) -> list[str]:
        """The moves of this episode's plans, in order: the player's own words."""
        own = [part.text for part in self.later if part.by == "model" and part.text and "move" in part.text.lower()]
        return [found[1].lower() for text in own if (found := _MOVE.search(text))]


def puzzle_in(context: Context) -> Shown | None:
    """The first picture after the demonstration, if there is one, is the problem."""
    parts = list(context)
    start = max((i for i, part in enumerate(parts) if "DEMONSTRATION" in (part.text or "")), default=-1)
    first = next((i for i, part in enumerate(parts) if i > start and part.picture), None)
    if first is None:
        return None
    initial = parts[first].picture
    assert initial is not None
    goal = labelled(context, "FINAL state:")
    own = [i for i, part in enumerate(parts) if i > first and goal and part.picture == goal][:1]
    later = tuple(parts[(own[0] if own else first) + 1 :])
    return Shown(initial, goal or labelled(context, "final state to reach"), later)


def labelled(context: Context, label: str) -> Picture | None:
    """The picture right behind the last text that says `label`."""
    found = [after.picture for text, after in pairwise(context) if label in (text.text or "") and after.picture]
    return found[-1] if found else None


class StepByStep(ABC, Play, Generic[State]):
    """Worlds in which moves lead from state to state until a goal is reached, asked for as `<ANSWER_JSON>[…]`. A
    world says how a state is read, drawn, changed and solved; the rest is the same for all of them."""

    unpictured = "I cannot picture the next state."
    """The sketcher's description of a state that it has not drawn."""

    @abstractmethod
    def begin(self, shown: Shown) -> State | None:
        """The state in which the puzzle begins; None if the picture cannot be read."""

    @abstractmethod
    def solve(self, state: State) -> list[str]: ...

    @abstractmethod
    def after(self, state: State, move: str) -> State:
        """A move that is not possible changes nothing."""

    @abstractmethod
    def render(self, state: State) -> Picture: ...

    @abstractmethod
    def shows(self, picture: Picture, state: State) -> bool: ...

    @abstractmethod
    def in_words(self, state: State) -> str: ...

    def choices(self, state: State) -> Sequence[str]:
        """The moves that a drawing may show from here."""
        return list(MOVES)

    def slips(self, state: State) -> Sequence[str]:
        """The moves that a shaky hand may draw instead of the planned one."""
        return self.choices(state)

    def parse(self, text: str) -> State | None:
        """The state that a prompt of the mode text_input describes; None if the text describes none."""
        return None

    def conclude_from(self, first: State, moves: Sequence[str]) -> list[str]:
        """The answer to a puzzle if these are its moves."""
        return list(moves)

    def plan(self, move: str) -> str:
        """The sentence that plans a move."""
        return next_move_words(move)

    def plans(self, shown: Shown) -> list[str]:
        """The moves that the sentences of this episode plan."""
        return shown.plans

    def blindly(self, state: State) -> list[str]:
        """The moves with which the sketcher ends its answer, from where it sees no further."""
        return []

    def corrupted(self, sample: Sample) -> list[Picture]:
        """The true frames but for the last, which shows another move than the true one; none at all where there was
        no other move. The moves that the frames show are therefore right up to the last."""
        initial, moves = sample.pictures["initial"], sample.target["moves"]
        state = self.begin(Shown(initial, None, ())) if isinstance(initial, Picture) else None
        if state is None or not moves:
            return []
        *right, last = moves
        frames = [self.render(state := self.after(state, move)) for move in right]
        wrong = self.astray(state, last, right[-1] if right else "", Random(sample.id))
        return [] if wrong is None else [*frames, self.render(wrong)]

    def astray(self, state: State, move: str, before: str, rng: Random) -> State | None:
        """Return where a move other than `move` leads; back only if there is no other, None if there is none."""
        ends = {other: self.after(state, other) for other in self.choices(state) if other != move}
        wrong = {other: end for other, end in ends.items() if end != state}
        onward = [end for other, end in wrong.items() if other != _BACK.get(before)]
        choices = onward or list(wrong.values())
        return rng.choice(choices) if choices else None

    def moves_in(self, state: State, pictures: Iterable[Picture]) -> list[str] | None:
        """The moves that lead from picture to picture; None where one of them shows no next state."""
        moves = []
        for picture in pictures:
            if self.shows(picture, state):
                continue
            move = next((move for move in self.choices(state) if self.shows(picture, self.after(state, move))), None)
            if move is None:
                return None
            moves.append(move)
            state = self.after(state, move)
        return moves

    def answer(self, context: Context) -> str | None:
        shown, state = self._begin(context)
        if shown is None or state is None:
            return None
        moves, done = self.solve(state), len(self.plans(shown))
        if wanted(context) == "plan":
            return self.plan(moves[done]) if done < len(moves) else "DONE"
        if wanted(context) == "describe":
            return self.in_words(self._after_all(state, self.plans(shown)))
        return tagged_moves(self.conclude_from(state, moves))

    def draw(self, context: Context) -> Picture | None:
        shown, state = self._begin(context)
        return self.render(self._after_all(state, self.plans(shown))) if shown and state is not None else None

    def guess(self, context: Context, rng: Random) -> str:
        return tagged_moves([rng.choice(list(MOVES)) for _ in range(rng.randint(1, _LONGEST_GUESS))])

    def glance(self, context: Context, lookahead: int, seed: int) -> str | None:
        shown, first = self._begin(context)
        if shown is None or first is None:
            return None
        done, now = self._followed(first, shown)
        ahead = self.solve(now)[:lookahead]
        if wanted(context) == "plan":
            return self.plan(ahead[0]) if ahead else "DONE"
        if wanted(context) == "describe":
            return self.unpictured
        return tagged_moves(self.conclude_from(first, done + ahead + self.blindly(self._after_all(now, ahead))))

    def sketch(self, context: Context, shaky: bool, rng: Random) -> Picture | None:
        shown, first = self._begin(context)
        if shown is None or first is None:
            return None
        now = self._followed(first, shown)[1]
        planned = next(iter(self.plans(shown)[-1:]), "")
        slips = self.slips(now) if shaky else ()
        return self.render(self.after(now, rng.choice(slips) if slips else planned))

    def conclude(self, context: Context, by_drawings: bool, wrong: bool) -> str | None:
        """A wrong one lacks the last move, which is never the truth, whatever the drawings show."""
        shown, state = self._begin(context)
        if shown is None or state is None:
            return None
        moves = self.moves_in(state, shown.drawings) if by_drawings else self.solve(state)
        return tagged_moves(self.conclude_from(state, moves[:-1] if wrong else moves)) if moves else None

    def misdraw(self, context: Context) -> Picture | None:
        """All right but for the last drawing, which shows another move than the planned one."""
        shown, first = self._begin(context)
        if shown is None or first is None:
            return None
        plans = self.plans(shown)
        *right, last = plans or [""]
        state, ends = self._after_all(first, right), len(plans) >= len(self.solve(first))
        dice = Random(shown.initial.identity)
        wrong = self.astray(state, last, right[-1] if right else "", dice) if ends else None
        return self.render(self.after(state, last) if wrong is None else wrong)

    def _begin(self, context: Context) -> tuple[Shown | None, State | None]:
        shown = puzzle_in(context) or self._in_text(context)
        return shown, self.begin(shown) if shown else None

    def _in_text(self, context: Context) -> Shown | None:
        """The puzzle that a text describes, as its image: from there on a player works as if it had been shown."""
        found = (state for text in reversed(context.texts) if (state := self.parse(text)) is not None)
        return next((Shown(self.render(state), None, ()) for state in found), None)

    def _after_all(self, state: State, moves: Iterable[str]) -> State:
        for move in moves:
            state = self.after(state, move)
        return state

    def _followed(self, first: State, shown: Shown) -> tuple[list[str], State]:
        """Return the planned moves that the drawings show, and where they lead. The first one that shows anything
        else (a slip of the hand, white paper, another puzzle) ends it: a page that does not fit is not trusted, nor
        are those behind it."""
        done, now = list[str](), first
        for move, picture in zip(self.plans(shown), shown.drawings, strict=False):
            expected = self.after(now, move)
            if not self.shows(picture, expected):
                break
            done.append(move)
            now = expected
        return done, now
