"""What a model is to Sketchmark: something that can say and/or draw from a context.

A new model is one class with one or two methods:

    class Parrot(Model):
        async def say(self, context: Context, options: Options) -> Reply:
            return Reply(text=context.texts[-1])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

from sketchmark.episode.sample import Context
from sketchmark.errors import CannotPlay
from sketchmark.files.jsonl import well_formed
from sketchmark.media import Picture
from sketchmark.secrets import redact_all

Finish = Literal["stop", "length", "refused", "empty", "no_picture"]
"""Why a reply ended. Anything but `stop` is counted and shown beside the scores."""


class CallNotes(Protocol):
    """The part of a model's call count that its adapter reports to: single attempts are known only there."""

    retries: int

    def failed(self, words: str) -> None: ...


@dataclass(frozen=True)
class Options:
    """Generation settings of one call. `extra` carries what only some models know (cfg_text_scale, width...).

    `repeat` and `branch` say whose call it is. They are not sent to the model. The call cache keeps the replies of
    each apart.
    """

    max_new_tokens: int | None = None
    temperature: float = 0.0
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    branch: int = 0
    notes: CallNotes | None = field(default=None, kw_only=True, compare=False, repr=False)
    """Set by the model that counts the calls, for Sketchmark's adapters. It does not change the request."""

    def key(self) -> dict[str, Any]:
        return {
            "max_new_tokens": self.max_new_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            "extra": dict(self.extra),
            **({"repeat": self.repeat} if self.repeat else {}),
            **({"branch": self.branch} if self.branch else {}),
        }


@dataclass(frozen=True)
class Usage:
    """What a call cost, as the provider counts it. `calls` is 0 for a reply that came from the cache."""

    tokens_in: int = 0
    tokens_out: int = 0
    pictures_in: int = 0
    pictures_out: int = 0
    calls: int = 1


@dataclass(frozen=True)
class Reply:
    """What came back from one call.

    `left_out` names, in words, each part of the context that the adapter could not pass on ("2 of 3 pictures: the
    server conditions on one"). It is recorded with the episode and counted in the summary: nothing is dropped
    in silence.
    `raw` is the provider's reply, for looking. What JSON cannot say of it is written as text.
    `trouble` says in words why there is no picture, where that is known.
    `native` is the provider's own record of the turn, to be sent back with it (`history=native`); else empty.

    A reply never holds a key, whatever model made it: one that a server echoes is taken out here, before the cache,
    the episode or the next call can see it.
    """

    text: str = ""
    picture: Picture | None = None
    finish: Finish = "stop"
    usage: Usage = field(default_factory=Usage)
    left_out: tuple[str, ...] = ()
    raw: Any = None
    trouble: str = ""
    native: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", well_formed(redact_all(self.text)))
        object.__setattr__(self, "raw", redact_all(self.raw))
        object.__setattr__(self, "trouble", well_formed(redact_all(self.trouble)))
        object.__setattr__(self, "native", redact_all(self.native))


@dataclass(frozen=True)
class Abilities:
    """What a model can take and give. Checked before the first call of a run."""

    say: bool
    draw: bool
    max_pictures: int | None = None
    """How many input pictures a call may carry; None: any number."""

    combined_prompt: bool = False
    """Draws and answers in one `say`, from the combined prompt of `sketchmark.episode.protocol`."""

    draws_code: bool = False
    """A drawing's `Reply.text` is the code that the picture was made of (`draw_with=svg`)."""

    hear: bool = False
    """Listens to sounds."""

    native: bool = False
    """Is sent its own turns back as its provider recorded them (`history=native`)."""


class Model:
    """Base class of all models. Override `say`, `draw`, or both; the abilities follow from what is overridden."""

    max_pictures: int | None = None
    hears: bool = False
    """Set this for a model that takes the sounds of a context; others are never given any."""

    combined_prompt: bool = False
    """Set this for a model that stages drawing and answering itself: two-stage tasks then come as one prompt,
    `[GEN_PROMPT]…[/GEN_PROMPT][QUESTION]…[/QUESTION]`, and its reply carries both the picture and the text."""

    arguments: Mapping[str, Any] = MappingProxyType({})
    """What it was made with (`--model_args`), as it may be written down; set by whoever makes it by name."""

    keys: tuple[str, ...] = ()
    """The environment's variables that it reads its key from: workers elsewhere need them, too."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    async def say(self, context: Context, options: Options) -> Reply:
        raise CannotPlay(f"{self.name or type(self).__name__} does not say anything: it only draws")

    async def draw(self, context: Context, options: Options) -> Reply:
        raise CannotPlay(f"{self.name or type(self).__name__} does not draw")

    @property
    def abilities(self) -> Abilities:
        kind = type(self)
        return Abilities(
            say=kind.say is not Model.say,
            draw=kind.draw is not Model.draw,
            max_pictures=self.max_pictures,
            combined_prompt=self.combined_prompt,
            hear=self.hears,
        )

    def identity(self) -> dict[str, Any]:
        """Everything about this model that could change an answer: the cache key and run.json use it. No secrets.

        Unless a model knows better, all of its arguments count.
        """
        return {"name": self.name, "class": type(self).__name__, **self.arguments}

    def expect(self, at_once: int) -> None:
        """Told before a run how many episodes will be under way at once, for models that ration their calls."""

    def forget(self, context: Context, options: Options) -> None:
        """Told by a judge's scorer that what was said to this is no verdict: a cache must not say it again."""

    async def retirements(self) -> dict[str, str]:
        """Name → the day (`2026-12-01`) from which on its provider says that it will be gone. Asked once, before a
        run; a provider that does not say, or does not answer, announces nothing."""
        return {}

    async def close(self) -> None:
        """Free connections or weights. Called once, at the end of a run."""
