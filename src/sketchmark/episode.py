"""The finished transcript of one model on one sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from sketchmark.models.base import Reply
from sketchmark.models.secrets import redact
from sketchmark.parts import Context, Part, Sample
from sketchmark.picture import Picture

Act = Literal["show", "say", "draw", "describe", "skip"]


@dataclass(frozen=True)
class Turn:
    """One thing that happened at the desk.

    `added` is what the turn left in the context. `suffix` was sent with this one call and then taken away again,
    so the exact context of any call is: all that earlier turns added, plus its own suffix.
    `describe` is a drawing put into words (text_cot); `skip` records something the protocol left out, and why.
    """

    act: Act
    added: tuple[Part, ...] = ()
    suffix: str = ""
    reply: Reply | None = None
    seconds: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """Why an episode ended early. `kind` is what the failure table counts."""

    kind: str
    message: str
    blames_model: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", redact(self.message))  # an exception of a plug-in may quote its key


@dataclass(frozen=True)
class Episode:
    """Everything shown, said and drawn, in order. Scorers, statistics and viewers need nothing else."""

    sample: Sample
    turns: tuple[Turn, ...]
    failure: Failure | None = None
    started: float = 0.0
    """Unix time; it also tells a retried episode from the failed one before it."""

    seconds: float = 0.0
    settings: dict[str, str] = field(default_factory=dict)
    """What the episode was played with: mode, canvas, steps."""

    stops_run: bool = False
    """No other episode will escape what ended this one. Of use while a run plays; not written down."""

    repeat: int = 0
    """Which of several episodes of the sample this is."""

    branch: int = 0
    """Which of several answers on the same drawings this is."""

    def contexts(self) -> Iterator[tuple[Turn, Context]]:
        """Every call with the exact context that was sent."""
        context = Context()
        for turn in self.turns:
            if turn.reply is not None:
                yield turn, context + ([Part(turn.suffix)] if turn.suffix else [])
            context = context + turn.added

    @property
    def says(self) -> list[str]:
        return [turn.reply.text for turn in self.turns if turn.act == "say" and turn.reply]

    @property
    def answer(self) -> str:
        """The last thing said; empty when the episode did not get that far."""
        if self.failure or not self.says:
            return ""
        return self.says[-1]

    @property
    def drawings(self) -> list[Picture]:
        """What the model drew itself, in order (never the canvas it was shown instead)."""
        return [turn.reply.picture for turn in self.turns if turn.act == "draw" and turn.reply and turn.reply.picture]

    @property
    def draw_attempts(self) -> int:
        return sum(turn.act == "draw" for turn in self.turns)
