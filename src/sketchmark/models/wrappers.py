"""Models around other models: counted calls, a cost limit with a price table, and pairs.

The user gives the price table, because a stale price would be wrong. A run file with a table (`prices:`) also serves:

provider/model:
  input: 2.50      # per million tokens in
  output: 10.00    # per million tokens out
provider/image-model:
  picture: 0.04    # per image returned
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from msgspec import Struct

from sketchmark.episode.model import Abilities, CallNotes, Listing, Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CallFailed, CannotPlay
from sketchmark.models import layout
from sketchmark.secrets import redacted
from sketchmark.settings import AND, pair_name

Ask = Callable[[Context, Options], Coroutine[Any, Any, Reply]]


class Wrapped(Model):
    """A model around another one, and the same model to all other code."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.name)
        self._model = model
        self.keys = model.keys

    @property
    def abilities(self) -> Abilities:
        return self._model.abilities

    def identity(self) -> dict[str, Any]:
        return self._model.identity()

    def expect(self, at_once: int) -> None:
        self._model.expect(at_once)

    def receives(self, act: str) -> Collection[str] | None:
        return self._model.receives(act)

    def forget(self, context: Context, options: Options) -> None:
        self._model.forget(context, options)

    async def retirements(self) -> dict[str, str]:
        return await self._model.retirements()

    async def listing(self) -> Listing:
        return await self._model.listing()

    async def close(self) -> None:
        await self._model.close()


CHARACTERS_A_TOKEN = 4
TOKENS_A_REPLY = 1024
TOKENS_A_PICTURE = 765
"""A 1024-pixel picture as OpenAI counts it. An estimate says how it was made, and is no more than that."""
SOUND_BYTES_A_TOKEN = 1000
"""A WAV of 16 kHz has 32 of these in a second, which is what Gemini counts."""

Charge = Callable[[Usage], bool]
"""Takes the usage of one call or attempt, and returns whether another may be paid for."""


def tokens_of(context: Context) -> int:
    """Estimate the tokens of a context."""
    text = sum(map(len, context.texts)) // CHARACTERS_A_TOKEN
    heard = sum(len(sound.data) for sound in context.sounds) // SOUND_BYTES_A_TOKEN
    return text + heard + TOKENS_A_PICTURE * len(context.pictures)


_NO_REPORT = Usage(), Usage().of_drawer()
"""Usage of a model that reports nothing."""


class Metered(Wrapped):
    """A model whose calls are charged, also attempts that were billed and failed. Cache hits are free. Unknown usage
    is estimated, and stays marked as `uncounted`. With `used_up` (inside the cache), no call is made once the limit
    is reached; without it, an episode under way may finish."""

    def __init__(self, model: Model, charge: Charge, used_up: Callable[[], bool] = lambda: False) -> None:
        super().__init__(model)
        self._charge, self._used_up = charge, used_up

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._charged(self._model.say, context, options, draws=False)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._charged(self._model.draw, context, options, draws=True)

    async def _charged(self, ask: Ask, context: Context, options: Options, *, draws: bool) -> Reply:
        if self._used_up():
            raise CallFailed("cost_limit", f"{self.name} was not asked: the cost limit is reached")
        most = 0 if draws else options.max_new_tokens or TOKENS_A_REPLY

        def charge(usage: Usage, came: int = most, drawn: int = int(draws)) -> bool:
            drawers = usage.drawer_calls > 0
            if usage in _NO_REPORT:
                usage = replace(usage, uncounted=1)
            if usage.uncounted:
                guessed = {"tokens_in": tokens_of(context), "tokens_out": came, "pictures_out": drawn}
                usage = replace(usage, **{name: max(count, getattr(usage, name)) for name, count in guessed.items()})
            return self._charge(usage.of_drawer() if drawers else usage)

        reply = await ask(context, replace(options, notes=_Charged(options.notes, charge)))
        if reply.usage.calls:
            charge(reply.usage, len(reply.text) // CHARACTERS_A_TOKEN + 1, int(reply.picture is not None))
        return reply


@dataclass
class PassedNotes:
    """Notes of a call, passed on to the notes behind them."""

    behind: CallNotes | None

    @property
    def retries(self) -> int:
        return self.behind.retries if self.behind else 0

    @retries.setter
    def retries(self, count: int) -> None:
        if self.behind:
            self.behind.retries = count

    def failed(self, words: str) -> None:
        if self.behind:
            self.behind.failed(words)

    def billed(self, usage: Usage) -> bool:
        return self.behind.billed(usage) if self.behind else True


@dataclass
class _Charged(PassedNotes):
    """Notes of a call whose failed attempts are charged."""

    charge: Charge

    def billed(self, usage: Usage) -> bool:
        super().billed(usage)
        return self.charge(usage)


_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Prices of one model: per million tokens in and out, and per image returned."""

    input: float = 0.0
    output: float = 0.0
    picture: float = 0.0

    def __call__(self, usage: Mapping[str, int]) -> float:
        """Return the cost of a `Usage`, or of a sum of them, by field name."""
        tokens = usage.get("tokens_in", 0) * self.input + usage.get("tokens_out", 0) * self.output
        return tokens / _MILLION + usage.get("pictures_out", 0) * self.picture


@dataclass(frozen=True)
class PairPrice:
    """Prices of a thinker and a drawer, whose usage is counted together with the drawer's part marked."""

    thinker: Price
    drawer: Price

    def __call__(self, usage: Mapping[str, int]) -> float:
        thinker, drawer = parts_of(usage)
        return self.thinker(thinker) + self.drawer(drawer)


_OF_DRAWER = "drawer_"


def parts_of(usage: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Split usage into the thinker's, or that of a model without a drawer, and the drawer's."""
    drawer = {
        name.removeprefix(_OF_DRAWER): count for name, count in usage.items() if name.startswith(_OF_DRAWER) and count
    }
    whole = {name: count for name, count in usage.items() if not name.startswith(_OF_DRAWER)}
    return {name: count - drawer.get(name, 0) for name, count in whole.items()}, drawer


_KEYS = [field.name for field in fields(Price)]


def price_of(prices: Path | str | Mapping[str, Any], model: str) -> Price | PairPrice:
    """Return the model's entry in a table or in its file. It must exist: an unknown price is not zero. A pair has an
    entry for each of its models."""
    if isinstance(prices, Mapping):
        where, table = "price table", prices
    else:
        where, table = f"price table {prices}", _read(Path(prices))
    thinker, both, drawer = model.partition(AND)
    if both and model not in table:
        return PairPrice(_entry(table, where, thinker), _entry(table, where, drawer))
    return _entry(table, where, model)


def _entry(table: Mapping[Any, Any], where: str, model: str) -> Price:
    if model not in table:
        raise BadInput(f"{where} has no entry {model!r}", f"it has: {', '.join(map(str, table))}")
    entry = table[model]
    if not isinstance(entry, dict) or set(entry) - set(_KEYS):
        raise BadInput(f"{where}: {model} is {entry!r}", f"it takes: {', '.join(_KEYS)}")
    for key, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise BadInput(f"{where}: {model}: {key} is {value!r}, not a price")
    return Price(**entry)


def _read(path: Path) -> dict[Any, Any]:
    import yaml

    try:
        table = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"cannot read price table {path}: {error}") from error
    if not isinstance(table, dict):
        raise BadInput(
            f"price table {path} is not a mapping of model names", f"a line each: NAME: {{{', '.join(_KEYS)}}}"
        )
    return _of_run_file(path, table) if {"models", "tasks"} <= table.keys() else table


def _of_run_file(path: Path, file: dict[Any, Any]) -> dict[Any, Any]:
    """Return the table in a run file. A file that it names is not opened, because it may be untrusted."""
    prices = file.get("prices")
    if isinstance(prices, str):
        raise BadInput(f"run file {path} names its price table: {prices}", "give that file instead")
    if not isinstance(prices, dict):
        raise BadInput(f"run file {path} has no table of prices", "give the file of one, or add `prices:`")
    return prices


_LONGEST_ERROR = 300
_COUNTED = ("tokens_in", "tokens_out", "pictures_out")
_PRICED = (*_COUNTED, *(f"{_OF_DRAWER}{name}" for name in _COUNTED))


class CallCount(Struct):
    """Live call counts of one model, for progress displays. Cache hits are free and counted separately.

    They are never written to disk, and no result depends on them. Adapters report attempts through `Options.notes`.
    """

    under_way: int = 0
    answered: int = 0
    from_cache: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    pictures_out: int = 0
    retries: int = 0
    error: str = ""
    """Message of the last failed attempt."""
    silent: int = 0
    """Failed attempts since the last reply."""
    drawer_tokens_in: int = 0
    drawer_tokens_out: int = 0
    drawer_pictures_out: int = 0

    def came(self, usage: Usage) -> None:
        self.silent = 0
        if not usage.calls:
            self.from_cache += 1
            return
        self.answered += usage.calls
        self.billed(usage)

    def billed(self, usage: Usage) -> bool:
        for name in _PRICED:
            setattr(self, name, getattr(self, name) + getattr(usage, name))
        return True

    def failed(self, words: str) -> None:
        self.silent += 1
        self.error = " ".join(redacted(words).split())[:_LONGEST_ERROR]

    @property
    def begun(self) -> bool:
        return bool(self.under_way or self.answered or self.from_cache or self.error)

    @property
    def usage(self) -> dict[str, int]:
        """Token and image counts, keyed as `Price` expects."""
        return {name: count for name in _PRICED if (count := getattr(self, name)) or name in _COUNTED}


def together(counts: Iterable[CallCount]) -> CallCount:
    """Sum counts. The error is from the one with most failed attempts since its last reply."""
    total = CallCount()
    for one in counts:
        for name in ("under_way", "answered", "from_cache", *_PRICED, "retries"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
        if one.error and (one.silent > total.silent or not total.error):
            total.error, total.silent = one.error, one.silent
    return total


class CountedModel(Wrapped):
    """A model whose calls are counted. It goes outside the cache, so cache hits count."""

    def __init__(self, model: Model, count: CallCount) -> None:
        super().__init__(model)
        self._count = count

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._counted(self._model.say, context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._counted(self._model.draw, context, options)

    async def _counted(self, ask: Ask, context: Context, options: Options) -> Reply:
        count = self._count
        count.under_way += 1
        try:
            reply = await ask(context, replace(options, notes=count))
        except Exception as error:
            count.failed(str(error) or type(error).__name__)
            raise
        finally:
            count.under_way -= 1
        count.came(reply.usage)
        return reply


class Pair(Model):
    """A thinker and a drawer as one model: the first generates text, the second draws.

    Each part is a whole model with its own address, key, rate limit, cache and concurrency. The drawer is given the
    thinker's context with the thinker's texts in it. `Reply.left_out` names images and sounds that it does not take.
    Its usage is marked, so that each part has its own price. A part that lacks its ability is refused here.
    """

    def __init__(self, thinker: Model, drawer: Model) -> None:
        super().__init__(pair_name(thinker.name, drawer.name))
        if not thinker.abilities.say:
            raise CannotPlay(f"{thinker.name} only draws, and --model must generate text", "give it as --drawer")
        if not drawer.abilities.draw:
            raise CannotPlay(
                f"--drawer {drawer.name} does not draw",
                "name a model that does, or add draw_with=svg to --drawer-args",
            )
        if thinker.abilities.native or drawer.abilities.native:
            raise BadInput("history=native is one model's record of its turns, and a pair has two", "leave it out")
        self.thinker, self.drawer = thinker, drawer
        self.keys = tuple(dict.fromkeys((*thinker.keys, *drawer.keys)))

    @property
    def abilities(self) -> Abilities:
        return replace(
            self.thinker.abilities, draw=True, combined_prompt=False, draws_code=self.drawer.abilities.draws_code
        )

    def identity(self) -> dict[str, Any]:
        """Return both identities. Arguments about drawing begin with `draw`, as in a model that does both."""
        return {**self.thinker.identity(), "name": self.name, "drawer": self.drawer.identity()}

    def expect(self, at_once: int) -> None:
        self.thinker.expect(at_once)
        self.drawer.expect(at_once)

    def receives(self, act: str) -> Collection[str] | None:
        return (self.thinker if act == "say" else self.drawer).receives(act)

    def forget(self, context: Context, options: Options) -> None:
        self.thinker.forget(context, options)

    async def retirements(self) -> dict[str, str]:
        return {**await self.thinker.retirements(), **await self.drawer.retirements()}

    async def listing(self) -> Listing:
        """Return the thinker's. The drawer's is read too: it may change what the drawer is sent."""
        await self.drawer.listing()
        return await self.thinker.listing()

    async def close(self) -> None:
        await asyncio.gather(self.thinker.close(), self.drawer.close())

    async def say(self, context: Context, options: Options) -> Reply:
        return await self.thinker.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        can, left_out = self.drawer.abilities, list[str]()
        if can.max_pictures is not None:
            context, lost = layout.newest_pictures(context, can.max_pictures, f"{self.drawer.name} takes no more")
            left_out += lost
        if not can.hear:
            context, lost = layout.without_sounds(context, self.drawer.name)
            left_out += lost
        reply = await self.drawer.draw(context, replace(options, notes=_OfDrawer(options.notes)))
        return replace(reply, usage=reply.usage.of_drawer(), left_out=(*left_out, *reply.left_out))


class _OfDrawer(PassedNotes):
    """Notes of a call whose billed attempts are the drawer's."""

    def billed(self, usage: Usage) -> bool:
        return super().billed(usage.of_drawer())
