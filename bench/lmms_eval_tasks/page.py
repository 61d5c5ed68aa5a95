"""The count as a section of docs/lmms-eval-tasks.md.

    python -m bench.lmms_eval_tasks.page ALONE.json MORE.json docs/lmms-eval-tasks.md

Both files are what `bench.lmms_eval_tasks --json` wrote: with lmms-eval alone installed, and with the packages that
its folders import besides.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from bench.lmms_eval_tasks.finding import FAILS, NO_MODULE, PLAYS, Finding
from bench.lmms_eval_tasks.known_rows import known_rows

HEADING = "## How many of lmms-eval's own folders play\n"

Findings = dict[str, Finding]


def read(file: Path) -> Findings:
    return {name: Finding(**one) for name, one in json.loads(file.read_text()).items()}


def write(found: Findings, file: Path) -> None:
    file.write_text(json.dumps({name: one.as_dict() for name, one in found.items()}, indent=1))


def counts(by_label: dict[str, Findings]) -> str:
    """How many load and play, as Markdown."""
    lines = ["| | folders | load | play |", "|---|---:|---:|---:|"]
    for label, found in by_label.items():
        if found:
            loads = sum(one.state != FAILS for one in found.values())
            plays = sum(one.state == PLAYS for one in found.values())
            lines.append(f"| {label} | {len(found)} | {_share(loads, found)} | {_share(plays, found)} |")
    return "\n".join(lines)


def reasons(found: Findings) -> str:
    """Those that do not play, by what they stop at."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, one in sorted(found.items()):
        if one.state != PLAYS:
            kinds.setdefault((one.state, one.kind), []).append(name)
    lines = ["| | stops at | folders | which |", "|---|---|---:|---|"]
    for (state, kind), names in sorted(kinds.items(), key=lambda one: (-len(one[1]), one[0])):
        lines.append(f"| {state} | {kind} | {len(names)} | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines)


def packages(found: Findings) -> str:
    """What is not installed, with how many stop at it."""
    kinds = (one.kind.removeprefix(NO_MODULE) for one in found.values() if one.kind.startswith(NO_MODULE))
    return ", ".join(f"`{name.strip(': ')}` ({count})" for name, count in Counter(kinds).most_common())


def section(alone: Findings, more: Findings) -> str:
    known = known_rows().values()
    by_hand = sum(any(not name.startswith("@") for name in one) for one in known)
    loaded = sum("@models" in one for one in known)
    lacking = sum(one.kind.startswith(NO_MODULE) for one in alone.values())
    table = counts(
        {
            "lmms-eval 0.7.3 installed": alone,
            "… and what its folders import besides": more,
        }
    )
    return f"""{HEADING}
Of every folder that has a task of the type `generate_until` one is taken, and played on made-up rows of its schema
(`make lmms-eval-tasks`; how: `bench/lmms_eval_tasks`). *Loads* means that its file is understood and all functions
that it names are there; *plays*, that a run ends and gives a metric of its list a value, or the file that a server
wants in its place. Nobody has the data here: the rows are guessed from the code that reads them, and for
{by_hand} folders, where that fails, some columns were written by hand after reading that code. What packages load
besides is made up as well (words of nltk for all, weights and word lists for {loaded} folders), and judges agree with
everything. So it says that the code runs, and nothing of real rows. What plays in the first row is not tried again
for the second.

{table}

In the first row {lacking} stop at a package that does not come with lmms-eval and that the error names:
{packages(alone)}.

Those that do not play in the second row, and why:

{reasons(more)}
"""


def _share(number: int, of: Findings) -> str:
    return f"{number} ({number / len(of):.1%})"


def main() -> None:
    alone, more, page = map(Path, sys.argv[1:])
    before, _, _ = page.read_text().partition(HEADING)
    page.write_text(before + section(read(alone), read(more)))


if __name__ == "__main__":
    main()
