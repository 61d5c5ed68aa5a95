"""A score summary as lines and tables to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sketchmark.terminal.tables import Table

_COLUMNS = ("number", "subject", "action", "overall")
_STEPS = {"1": "1 describe", "2": "2 identify", "3": "3 apply", "4": "4 draw"}


def parts(summary: Mapping[str, Any], *, by_rule: bool) -> Iterator[str | Table]:
    """In the order in which they are read: lines, and tables."""
    yield from _unpaired(summary)
    yield f"{summary['questions']} questions; percent right [95 % interval]"
    for who, title in (("rule", "by rule"), ("judge", "by judge")):
        if who not in summary:
            continue
        found = summary[who]
        name = f"{title} {found['model']}" if who == "judge" else title
        yield _table(name, found["steps"], _cell)
        yield from _failed(found)
        if by_rule:
            for rule, steps in found["by_rule"].items():
                n = steps["3"]["overall"]["n"]
                yield _table(f"{name}, structure {rule} ({n} questions)", steps, _cell)
    if "agreement" in summary:
        yield _table("rule and judge agree (kappa)", summary["agreement"], _agreed)


def _unpaired(summary: Mapping[str, Any]) -> Iterator[str]:
    how = "counted as 0" if summary["missing_count_as_0"] else "left out"
    for numbers, what in ((summary["missing"], f"rows without an answer, {how}"),
                          (summary["surplus"], "answers without a row, left out")):  # fmt: skip
        if numbers:
            yield f"{len(numbers)} {what}: {_few(numbers)}"
    if summary["unchecked"]:
        yield (
            f"{summary['unchecked']} answers do not say what their questions showed: whether they belong to this CSV "
            "could not be checked"
        )


def _few(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")


def _table(title: str, steps: Mapping[str, Any], written: Callable[[Mapping[str, Any]], str]) -> Table:
    table = Table(title, ("step", *_COLUMNS), texts=1)
    for step, name in _STEPS.items():
        if step in steps:
            table.add(name, *(written(steps[step][column]) for column in _COLUMNS))
    return table


def _cell(value: Mapping[str, Any]) -> str:
    if value["percent"] is None:
        return "–"
    low, high = value["ci95"]
    return f"{value['percent']:.1f} [{low:.1f}, {high:.1f}]"


def _failed(found: Mapping[str, Any]) -> Iterator[str]:
    for step, problems in found["failed_verdicts"].items():
        if problems:
            n = found["steps"][step]["overall"]["n"]
            why = ", ".join(f"{problem} ({count})" for problem, count in problems.items())
            yield f"  step {step}: {sum(problems.values())} failed verdicts, not counted (n = {n}): {why}"


def _agreed(value: Mapping[str, Any]) -> str:
    if not value["n"]:
        return "-"
    kappa = "-" if value["kappa"] is None else f"{value['kappa']:.2f}"
    return f"{100 * value['raw']:.1f} ({kappa})"
