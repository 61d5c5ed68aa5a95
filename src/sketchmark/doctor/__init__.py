"""Checks of what a model and its server really do, by some twenty small calls before a run costs money."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from sketchmark.doctor import checks
from sketchmark.doctor.checks import Bedside, Check, Examination, Seen
from sketchmark.episode.model import Model
from sketchmark.errors import CallFailed
from sketchmark.models.wrappers import PairPrice, Price
from sketchmark.runs.checks import retiring

_AT_ONCE = 4


@dataclass(frozen=True)
class CheckFunction:
    name: str
    act: Literal["say", "draw"]
    ask: Callable[[Bedside], Awaitable[Seen]]


CHECKS = (
    CheckFunction("says something", "say", checks.says),
    CheckFunction("reads a picture", "say", checks.reads),
    CheckFunction("sees four pictures, in order", "say", checks.sees_all),
    CheckFunction("sees the second of two", "say", checks.sees_the_second),
    CheckFunction("sees both ends of a strip", "say", checks.sees_the_ends),
    CheckFunction("keeps proportions", "say", checks.keeps_proportions),
    CheckFunction("reads small print", "say", checks.reads_small_print),
    CheckFunction("text between pictures", "say", checks.follows_places),
    CheckFunction("keeps to max_new_tokens", "say", checks.is_cut),
    CheckFunction("same request, same reply", "say", checks.repeats),
    CheckFunction("draws a picture", "draw", checks.draws),
    CheckFunction("the drawing follows the prompt", "draw", checks.follows_the_prompt),
    CheckFunction("the drawing follows the plan", "draw", checks.hears_what_was_said),
    CheckFunction("an edit keeps the rest", "draw", checks.edits),
    CheckFunction("several pictures shape a drawing", "draw", checks.sees_several),
    CheckFunction("keeps to the size", "draw", checks.has_the_size),
    CheckFunction("keeps to the seed", "draw", checks.has_a_seed),
)
_DIRECT = (
    "says something",
    "reads a picture",
    "sees four pictures, in order",
    "sees both ends of a strip",
    "keeps proportions",
)
_VISUAL = (
    "draws a picture",
    "the drawing follows the prompt",
    "the drawing follows the plan",
    "an edit keeps the rest",
    "several pictures shape a drawing",
)


async def examine(
    model: Model,
    price: Price | PairPrice | None = None,
    told: Callable[[Check], None] = lambda finding: None,
    settings: Mapping[str, object] | None = None,
) -> Examination:
    """Run all checks, and pass each finding to `told`. A wrong address or key ends it at the first call.

    `settings` are sent with every call, as far as the model takes them."""
    bed = Bedside(model, settings)
    retires = await model.retirements()
    says_its_list = (await model.listing()).says
    able = {"say": model.abilities.say and says_its_list is not False, "draw": model.abilities.draw}
    found: dict[str, Check] = {}
    places = asyncio.Semaphore(_AT_ONCE)

    def note(check: CheckFunction, seen: Seen) -> None:
        found[check.name] = Check(**vars(seen), check=check.name)
        told(found[check.name])

    async def one(check: CheckFunction) -> None:
        if not able[check.act]:
            note(check, Seen("not asked", "it only draws" if check.act == "say" else "it does not draw"))
            return
        async with places:
            try:
                note(check, await check.ask(bed))
            except CallFailed as error:
                note(check, _refused(error))

    first = next(check for check in CHECKS if able[check.act])
    note(first, await first.ask(bed))
    await asyncio.gather(*(one(check) for check in CHECKS if check is not first))
    findings = tuple(found[check.name] for check in CHECKS)
    says, draws = bed.calls("say"), bed.calls("draw")
    cost = _cost(price, vars(says), vars(draws)) if price else None
    modes = _modes(findings) if able["say"] else {"--drawer": _lacking(_verdicts(findings), _VISUAL)}
    notes = (*retiring(retires), *[_ONLY_EDITS] * bed.only_edits)
    return Examination(model.name, findings, modes, says, draws, cost, notes)


_ADDRESS = re.compile(r" at https?://\S+$")
_ONLY_EDITS = "It draws on an image only, so drawings without one were asked on a white page."
_CANNOT = ("no_images", "needs_image", "bad_request", "not_found", "retired")
"""Kinds of failures in which the server itself says that it cannot do this. It would say so every time."""


def _refused(error: CallFailed) -> Seen:
    if error.kind not in _CANNOT:
        return Seen("failed", str(error)[:200], "nothing is known of it")
    means = error.hint if error.kind in ("no_images", "needs_image", "retired") else "the server refuses such a call"
    said = _ADDRESS.sub("", str(error.args[0]).partition(f"{error.kind}: ")[2] or str(error.args[0]))
    return Seen("no", f"refused: {said}"[:200], means or "")


def _cost(price: Price | PairPrice, says: Mapping[str, int], draws: Mapping[str, int]) -> float:
    """Return the cost of both kinds of calls. In a pair the drawer makes the drawings."""
    if isinstance(price, PairPrice):
        return price.thinker(says) + price.drawer(draws)
    return price(says) + price(draws)


def _modes(findings: Iterable[Check]) -> dict[str, str]:
    verdicts = _verdicts(findings)
    direct = _lacking(verdicts, _DIRECT)
    return {
        "blind": _lacking(verdicts, _DIRECT[:1]),
        "direct": direct,
        "text_cot": direct,
        "visual_cot": _lacking(verdicts, (*_DIRECT, *_VISUAL)),
    }


def _verdicts(findings: Iterable[Check]) -> dict[str, str]:
    return {finding.check: finding.verdict for finding in findings}


def _lacking(verdicts: Mapping[str, str], needed: Iterable[str]) -> str:
    lacking = [f"{name}: {verdicts[name]}" for name in needed if verdicts[name] != "yes"]
    return "; ".join(lacking) or "ready"


__all__ = ["CHECKS", "Check", "Examination", "examine"]
