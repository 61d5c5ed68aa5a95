"""One difference or share: its interval, whether it is settled, and how many samples it would take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from sketchmark.audit.contrasts import Contrast
from sketchmark.audit.findings import Finding
from sketchmark.comparison.verdicts import verdict
from sketchmark.comparison.wording import span
from sketchmark.runs.gains import Pairs, Rows
from sketchmark.runs.rows import ScoredSample
from sketchmark.stats import CLEAR, Difference, Interval, Pilot, interval, samples_needed


class Look(NamedTuple):
    """How closely one looks: what counts as no difference, and over how many tests it is corrected."""

    margin: float
    tests: int


def difference(contrast: Contrast, pairs: Pairs, found: Difference, p_holm: float | None, look: Look) -> Finding:
    seen = verdict(found, p_holm, look.margin)
    words: str = getattr(contrast, seen)
    more = _more_needed(pairs, found, look) if seen == "open" else None
    return Finding(
        name=contrast.name,
        label=contrast.label,
        kind="difference",
        mean=found.mean or 0.0,
        low=found.low,
        high=found.high,
        p=found.p,
        p_holm=p_holm,
        n=found.n,
        left_out=pairs.unpaired + pairs.unscored,
        verdict=seen,
        more_needed=more,
        sentence=words.format(span=span(found), size=_size(found)) + _would_settle(more),
    )


def share(
    name: str, label: str, words: str, rows: Rows, value: Callable[[ScoredSample], float | None], look: Look
) -> Finding | None:
    """The mean of a value from 0 to 1 over those rows that have it; None: no row has."""
    found = [(row, number) for row in rows.values() if (number := value(row)) is not None]
    if not found or any(not 0 <= number <= 1 for _, number in found):
        return None
    measured = interval([number for _, number in found], [row.cluster for row, _ in found])
    assert measured.mean is not None and measured.low is not None and measured.high is not None
    half = (measured.high - measured.low) / 2
    more = max(1, math.ceil(measured.n * (half / look.margin) ** 2) - measured.n) if half > look.margin else None
    wide = f" It is not settled to within {100 * look.margin:.0f} points." if more else ""
    return Finding(
        name=name,
        label=label,
        kind="share",
        mean=measured.mean,
        low=measured.low,
        high=measured.high,
        p=None,
        p_holm=None,
        n=measured.n,
        left_out=len(rows) - len(found),
        verdict="open" if more else "more",
        more_needed=more,
        sentence=words.format(share=_percent(measured), n=measured.n) + wide + _would_settle(more),
    )


def _more_needed(pairs: Pairs, found: Difference, look: Look) -> int | None:
    """To show the difference that was seen (corrected, in four of five audits), or that it is within the margin:
    whichever takes fewer."""
    assert found.mean is not None
    pilot = Pilot.of(pairs.before, pairs.after, pairs.clusters)
    ways = []
    if 0 < abs(found.mean) <= 1:
        effect, kind = pilot.design_effect, pilot.right_wrong
        alpha = CLEAR / look.tests
        ways.append(
            samples_needed(found.mean, pilot.discordance, alpha=alpha, design_effect=effect, right_wrong=kind)
        )
    if found.low is not None and found.high is not None and abs(found.mean) < look.margin:
        half = (found.high - found.low) / 2
        ways.append(math.ceil(found.n * (half / (look.margin - abs(found.mean))) ** 2))
    return max(1, min(ways) - found.n) if ways else None


def _would_settle(more: int | None) -> str:
    if more is None:
        return ""
    rounded = more if more < 20 else round(more, -1) if more < 1000 else round(more, -2)
    return f" About {rounded:,} more samples would settle it."


def _size(found: Difference) -> str:
    if found.low is None or found.high is None:
        return f"{100 * abs(found.mean or 0):.1f} points"
    low, high = (found.low, found.high) if (found.mean or 0) > 0 else (-found.high, -found.low)
    return f"{100 * abs(found.mean or 0):.1f} points [{100 * low:.1f}, {100 * high:.1f}]"


def _percent(found: Interval) -> str:
    assert found.mean is not None and found.low is not None and found.high is not None
    return f"{100 * found.mean:.1f} % [{100 * found.low:.1f}, {100 * found.high:.1f}]"
