"""From verdicts to tables: percentages with intervals, per structure, and how far rule and judge agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sketchmark.stats import interval
from sketchmark.tasks.voila.judge import PROPERTIES, StepVerdict
from sketchmark.tasks.voila.marks import Marked
from sketchmark.tasks.voila.results_file import AnsweredQuestion


def summarise(items: Sequence[AnsweredQuestion], marked: Marked) -> dict[str, Any]:
    """By step: percentages over the questions that have a verdict; those without are counted beside."""
    rules = sorted({item.rule for item in items}, key=lambda rule: (len(rule), rule))
    return {
        "steps": _steps(items, marked),
        "by_rule": {rule: _steps([item for item in items if item.rule == rule], marked) for rule in rules},
        "failed_verdicts": {
            str(step): dict(Counter(verdict.problem for verdict in verdicts.values() if verdict.failed))
            for step, verdicts in marked.items()
        },
    }


def _steps(items: Sequence[AnsweredQuestion], marked: Marked) -> dict[str, Any]:
    return {str(step): _step([verdicts[item.question] for item in items]) for step, verdicts in marked.items()}


def _step(verdicts: Sequence[StepVerdict]) -> dict[str, Any]:
    scores = [verdict.scores() for verdict in verdicts if not verdict.failed]
    found = {name: interval([score[name] for score in scores]) for name in (*PROPERTIES, "overall")}
    return {
        name: {"percent": _percent(at.mean), "ci95": [_percent(at.low), _percent(at.high)], "n": at.n}
        for name, at in found.items()
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def agreement(one: Marked, other: Marked) -> dict[str, Any]:
    """Raw agreement and Cohen's kappa on each mark that both gave; in step 1 a question has three of each.

    Failed verdicts are no opinion and are left out.
    """
    table: dict[str, Any] = {}
    for step, verdicts in one.items():
        both = [
            pair
            for question, verdict in verdicts.items()
            if not verdict.failed and not other[step][question].failed
            for pair in zip(verdict.marks, other[step][question].marks, strict=True)
        ]
        table[str(step)] = {
            **{name: agreed([(a[i], b[i]) for a, b in both]) for i, name in enumerate(PROPERTIES)},
            "overall": agreed([(int(all(a)), int(all(b))) for a, b in both]),
        }
    return table


def agreed(pairs: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Kappa is undefined where both say the same of everything: chance alone explains that."""
    n = len(pairs)
    if not n:
        return {"n": 0, "raw": None, "kappa": None}
    raw = sum(a == b for a, b in pairs) / n
    first, second = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    chance = first * second + (1 - first) * (1 - second)
    return {"n": n, "raw": raw, "kappa": (raw - chance) / (1 - chance) if chance < 1 else None}
