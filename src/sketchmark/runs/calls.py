"""What is told of a run's calls while they are made: how many, what they cost, what goes wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sketchmark.models.tally import Tally

Price = Callable[[Mapping[str, int]], float]


@dataclass
class Calls:
    """Those to the model and those to the judge, as they stand now."""

    model: Tally = field(default_factory=Tally)
    judge: Tally = field(default_factory=Tally)
    price: Price | None = None
    judge_price: Price | None = None
    own_failures: Counter[str] = field(default_factory=Counter)
    """What the model itself failed, by kind: results, not faults of the run."""
    awaited: bool = False
    """There will be calls: that there is none yet is worth a word."""
    silence: float = 0.0
    """Seconds since something came of a call, while some are under way."""
    _came: int = 0
    _since: float = 0.0

    def look(self, now: float) -> None:
        """Before a slow server's time limit is over no try has failed: only the clock tells that nobody answers."""
        tallies = (self.model, self.judge)
        came = sum(one.answered + one.from_cache + one.retries for one in tallies)
        if came != self._came or not any(one.under_way for one in tallies) or not self._since:
            self._came, self._since = came, now
        self.silence = now - self._since

    def told(self) -> str:
        """All of it in one line; what there is none of is left out."""
        model, judge = self.model, self.judge
        if not (model.begun or judge.begun):
            return "no call yet: samples are being read or made" if self.awaited else ""
        told = [_number(model.answered, "call")] if model.begun else []
        told += [f"{model.from_cache:,} from the cache"] if model.from_cache else []
        told += [f"{judge.answered + judge.from_cache:,} of the judge"] if judge.begun else []
        told.append(f"{model.under_way + judge.under_way:,} under way")
        told += [f"no answer for {self.silence // 10 * 10:.0f} s"] if self.silence >= 10 else []
        told += [_number(model.retries + judge.retries, "retry", "retries")] if model.retries + judge.retries else []
        tokens = sum(one.tokens_in + one.tokens_out for one in (model, judge))
        told += [f"{_short(tokens)} tokens"] if tokens else []
        told += [f"cost {self.cost:.4f}"] if self.price or self.judge_price else []
        told += [f"{count} {kind}" for kind, count in self.own_failures.most_common(3)]
        return ", ".join(told)

    @property
    def cost(self) -> float:
        paid = ((self.price, self.model), (self.judge_price, self.judge))
        return sum(price(tally.usage) for price, tally in paid if price)

    @property
    def error(self) -> str:
        """What tries meet just now, in words; empty once somebody answers again."""
        for who, tally in (("", self.model), ("the judge: ", self.judge)):
            if tally.silent:
                never = not tally.answered and not tally.from_cache
                since = "no answer yet" if never else f"no answer to the last {_number(tally.silent, 'try', 'tries')}"
                return f"{who}{since}: {tally.error}"
        return ""

    @property
    def last_error(self) -> str:
        """What the last try that failed met, though others were answered since."""
        return self.error or next((f"last error: {one.error}" for one in (self.model, self.judge) if one.error), "")


def _number(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def _short(count: int) -> str:
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"
