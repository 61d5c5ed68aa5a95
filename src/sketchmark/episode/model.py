"""The interface of models: a model can say, draw or both, given a context.

A new model is one class with one or two methods:

    class Parrot(Model):
        async def say(self, context: Context, options: Options) -> Reply:
            return Reply(text=context.texts[-1])
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from types import MappingProxyType
from typing import Any, Literal, Protocol

from sketchmark.episode.sample import Context
from sketchmark.errors import BadPicture, CannotPlay
from sketchmark.files.jsonl import well_formed
from sketchmark.media import Picture
from sketchmark.secrets import redact_all

Finish = Literal["stop", "length", "refused", "empty", "no_picture"]
"""Why a reply ended. Any other value than `stop` is counted and shown with the scores."""


class CallNotes(Protocol):
    """The part of a model's call count that its adapter updates: only the adapter sees single attempts."""

    retries: int

    def failed(self, words: str) -> None: ...

    def billed(self, usage: Usage) -> bool:
        """Count an attempt that the provider bills and that gave no reply. False: no further one may be paid for."""


@dataclass(frozen=True)
class Options:
    """Generation settings of one call. `extra` holds settings that only some models have (cfg_text_scale, width...).

    `repeat` and `branch` identify the episode. They are not sent to the model; the call cache keeps their replies
    apart.
    """

    max_new_tokens: int | None = None
    temperature: float = 0.0
    seed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    branch: int = 0
    notes: CallNotes | None = field(default=None, kw_only=True, compare=False, repr=False)
    """Set by the model that counts the calls, for Sketchmark's adapters. It does not change the request."""

    def nth(self, repeat: int, branch: int = 0) -> Options:
        """Return the options of another episode of the same sample. Its seed, if there is one, differs."""
        if (repeat, branch) == (self.repeat, self.branch):
            return self
        further = _stride(repeat, branch) - _stride(self.repeat, self.branch)
        seed = None if self.seed is None else _within(self.seed + further, self.seed)
        return replace(self, repeat=repeat, branch=branch, seed=seed)

    @property
    def stream(self) -> int:
        """The seed of a model that always draws from a seeded stream; 0 if none was given for the first episode."""
        return _stride(self.repeat, self.branch) if self.seed is None else self.seed

    def key(self) -> dict[str, Any]:
        return {
            "max_new_tokens": self.max_new_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            "extra": dict(self.extra),
            **({"repeat": self.repeat} if self.repeat else {}),
            **({"branch": self.branch} if self.branch else {}),
        }


_BRANCHES = 1000
"""Seeds between two repeats: answers to one drawing get the seeds in between."""


def _stride(repeat: int, branch: int) -> int:
    return _BRANCHES * repeat + branch


def _within(seed: int, first: int) -> int:
    """Keep a seed in the range of the first: some providers take 32 bits."""
    return seed % 2**31 if 0 <= first < 2**31 else seed


MOST_COUNTED = 2**53
"""The largest count that every reader of JSON has exactly."""


@dataclass(frozen=True)
class Usage:
    """The usage of a call, as the provider counts it. For a cache hit `calls` is 0, and `cached` is the number of
    calls that were paid for when the reply was made.

    Any value is accepted, because a reply must not be lost over its usage. Whole numbers from 0 to 2^53 count. Any
    other value (a negative number, None, a text) is unknown: it counts as 0, and the call as `uncounted`.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    pictures_in: int = 0
    pictures_out: int = 0
    calls: int = 1
    cached: int = 0
    uncounted: int = 0
    """Calls whose usage is unknown, at least in part."""
    drawer_tokens_in: int = 0
    """The drawer's part of `tokens_in`, in a pair of models. The fields below are such parts, too."""
    drawer_tokens_out: int = 0
    drawer_pictures_in: int = 0
    drawer_pictures_out: int = 0
    drawer_calls: int = 0
    """The drawer's calls, also those that the cache answered."""

    def __post_init__(self) -> None:
        given = vars(self)
        counts = given.values()
        if set(map(type, counts)) == {int} and min(counts) >= 0 and max(counts) <= MOST_COUNTED:
            return  # as nearly always
        known = {name: credible(value) for name, value in given.items()}
        if None in known.values():
            unknown = {name: int(name in ("calls", "uncounted")) for name, value in known.items() if value is None}
            known |= {"uncounted": max(1, known["uncounted"] or 0)} | unknown
        for name, value in known.items():
            if value is not given[name]:
                object.__setattr__(self, name, value)

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{name: min(MOST_COUNTED, one + getattr(other, name)) for name, one in vars(self).items()})

    def of_drawer(self) -> Usage:
        """Return the same usage, marked as a drawer's."""
        return replace(
            self,
            drawer_tokens_in=self.tokens_in,
            drawer_tokens_out=self.tokens_out,
            drawer_pictures_in=self.pictures_in,
            drawer_pictures_out=self.pictures_out,
            drawer_calls=self.calls + self.cached,
        )


def credible(value: object) -> int | None:
    """Return a reported count, None if it is unknown."""
    if type(value) is int:
        return value if 0 <= value <= MOST_COUNTED else None
    if isinstance(value, Integral) and not isinstance(value, bool):
        return credible(int(value))
    if isinstance(value, float) and value.is_integer():
        return credible(int(value))
    return credible(int(value)) if isinstance(value, str) and _DIGITS.fullmatch(value) else None


_DIGITS = re.compile(r"[0-9]{1,16}")


@dataclass(frozen=True)
class Reply:
    """The result of one call.

    `left_out` names each part of the context that the adapter could not pass on ("2 of 3 pictures: the server
    conditions on one"). The episode records it and the summary counts it. `raw` is the provider's reply, for
    inspection; values that JSON lacks are written as text. `trouble` explains why there is no image, if known.
    `native` is the provider's own record of the turn, to be sent back with it (`history=native`); otherwise empty.

    A reply never holds a key. If a server echoes one, it is removed here, before the cache, the episode or the next
    call can see it.
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
        if self.picture is not None:
            try:
                clean = self.picture.without_keys()
            except BadPicture:  # it cannot be drawn again without the key
                clean = None
            object.__setattr__(self, "picture", clean)


@dataclass(frozen=True)
class Abilities:
    """Inputs that a model accepts and outputs that it returns. Checked before the first call of a run."""

    say: bool
    draw: bool
    max_pictures: int | None = None
    """Maximum number of input images per call; None: no maximum."""
    combined_prompt: bool = False
    """Draws and answers in one `say`, from the combined prompt of `sketchmark.episode.protocol`."""
    draws_code: bool = False
    """`Reply.text` of a drawing is the code that the image was made from (`draw_with=svg`)."""
    hear: bool = False
    """Accepts sounds."""
    native: bool = False
    """Receives its own turns as its provider recorded them (`history=native`)."""


@dataclass(frozen=True)
class Listing:
    """What a server's list of models says about one of them. None: it does not say."""

    takes_images: bool | None = None
    says: bool | None = None
    """False: it only draws."""


class Model:
    """Base class of all models. Override `say`, `draw`, or both; the abilities follow from what is overridden."""

    max_pictures: int | None = None
    hears: bool = False
    """Set this for a model that accepts the sounds of a context. Other models are never given any."""
    combined_prompt: bool = False
    """Set this for a model that stages drawing and answering itself. Two-stage tasks then send one prompt,
    `[GEN_PROMPT]…[/GEN_PROMPT][QUESTION]…[/QUESTION]`, and the reply holds both the image and the text."""
    arguments: Mapping[str, Any] = MappingProxyType({})
    """The arguments that it was made with (`--model_args`), in a form that may be written to disk. Set by the
    registry."""
    keys: tuple[str, ...] = ()
    """Environment variables that it reads its key from. Workers need them, too."""

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
        """Return everything about this model that could change an answer, without secrets. The cache key and run.json
        use it.

        By default all arguments count.
        """
        return {"name": self.name, "class": type(self).__name__, **self.arguments}

    def expect(self, at_once: int) -> None:
        """Prepare for this number of concurrent episodes. A run calls it once, for models that limit their calls."""

    def receives(self, act: str) -> Collection[str] | None:
        """Return the names of the generation settings that the model gets when it is to `say` or `draw` something:
        `max_new_tokens`, `temperature`, `seed`, and those of `Options.extra` that the adapter passes on. A run names
        all others before its first call. None: the adapter does not declare it, and nothing is named."""
        return None

    def forget(self, context: Context, options: Options) -> None:
        """Discard a cached reply. A judge's scorer calls it if the reply is not a verdict."""

    async def retirements(self) -> dict[str, str]:
        """Return name → the day (`2026-12-01`) on which the provider retires the model. Called once before a run.
        A provider that does not publish it, or does not respond, gives nothing."""
        return {}

    async def listing(self) -> Listing:
        """Return what the server's list of models says about this one. A run calls it once, before the first call, in
        each process."""
        return Listing()

    async def close(self) -> None:
        """Free connections or weights. Called once, at the end of a run."""
