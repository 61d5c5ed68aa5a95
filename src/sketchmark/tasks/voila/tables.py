"""A score summary as lines to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_COLUMNS = ("number", "subject", "action", "overall")
_STEPS = {"1": "1 describe", "2": "2 identify", "3": "3 apply", "4": "4 draw"}


def lines(summary: Mapping[str, Any], *, by_rule: bool) -> Iterator[str]:
    yield from _unpaired(summary)
    yield f"{summary['questions']} questions; percent right [95 % interval]"
    for who, title in (("rule", "by rule"), ("judge", "by judge")):
        if who not in summary:
            continue
        found = summary[who]
        name = f"{title} {found['model']}" if who == "judge" else title
        yield ""
        yield from _table(name, found["steps"], _STEPS)
        yield from _failed(found)
        if by_rule:
            for rule, steps in found["by_rule"].items():
                n = steps["3"]["overall"]["n"]
                yield from _table(f"{name}, structure {rule} ({n} questions)", steps, _STEPS)
    if "agreement" in summary:
        yield ""
        yield from _agreement(summary["agreement"])


def _unpaired(summary: Mapping[str, Any]) -> Iterator[str]:
    how = "counted as 0" if summary["missing_count_as_0"] else "left out"
    for numbers, what in ((summary["missing"], f"rows without an answer, {how}"),
                          (summary["surplus"], "answers without a row, left out")):  # fmt: skip
        if numbers:
            yield f"{len(numbers)} {what}: {_few(numbers)}"


def _few(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:10])) + (", …" if len(numbers) > 10 else "")


def _table(title: str, steps: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    yield f"{title:<44}" + "".join(f"{column:<21}" for column in _COLUMNS).rstrip()
    for step, name in names.items():
        if step in steps:
            yield f"  step {name:<37}" + "".join(f"{_cell(steps[step][c]):<21}" for c in _COLUMNS).rstrip()


def _cell(value: Mapping[str, Any]) -> str:
    if value["percent"] is None:
        return "    –"
    low, high = value["ci95"]
    return f"{value['percent']:5.1f} [{low:.1f}, {high:.1f}]"


def _failed(found: Mapping[str, Any]) -> Iterator[str]:
    for step, problems in found["failed_verdicts"].items():
        if problems:
            n = found["steps"][step]["overall"]["n"]
            why = ", ".join(f"{problem} ({count})" for problem, count in problems.items())
            yield f"  step {step}: {sum(problems.values())} failed verdicts, not counted (n = {n}): {why}"


def _agreement(table: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'rule and judge agree (kappa)':<44}" + "".join(f"{column:<21}" for column in _COLUMNS).rstrip()
    for step, name in _STEPS.items():
        if step in table:
            yield f"  step {name:<37}" + "".join(f"{_agreed(table[step][c]):<21}" for c in _COLUMNS).rstrip()


def _agreed(value: Mapping[str, Any]) -> str:
    if not value["n"]:
        return "-"
    kappa = "-" if value["kappa"] is None else f"{value['kappa']:.2f}"
    return f"{100 * value['raw']:5.1f} ({kappa})"
