"""What `sketchmark doctor` prints, and its exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from sketchmark.catalog import Catalog
from sketchmark.doctor import CHECKS, Examination, Finding, examine
from sketchmark.doctor.findings import Calls
from sketchmark.engines.loop import run_async
from sketchmark.key_values import parse_arguments
from sketchmark.models.prices import price_of
from sketchmark.terminal import notice, tell, tell_all
from sketchmark.terminal.tables import wrapped

_VERDICT, _CHECK = 10, 34


def examine_and_print(
    name: str, model_args: str, include: tuple[Path, ...], prices: Path | None, *, as_json: bool
) -> int:
    price = price_of(prices, name) if prices else None
    model = Catalog(include, notify=notice).model(name, parse_arguments(model_args))
    done = 0

    def told(finding: Finding) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            tell(f"{done}/{len(CHECKS)} {finding.check}: {finding.verdict}", err=True)

    async def look() -> Examination:
        try:
            return await examine(model, price, told)
        finally:
            await model.close()

    found = run_async(look())
    if as_json:
        tell_all(json.dumps({**asdict(found), "healthy": found.is_healthy}, indent=1, ensure_ascii=False))
    else:
        from sketchmark.terminal.console import columns

        for line in in_lines(found, columns()):
            tell(line)
    return 0 if found.is_healthy else 1


def in_lines(found: Examination, width: int) -> Iterator[str]:
    yield f"{found.model}: {'all well' if found.is_healthy else 'not all is well'}"
    yield ""
    for finding in found.findings:
        head = f"{finding.verdict:<{_VERDICT}}{finding.check:<{_CHECK}}"
        yield from wrapped(finding.seen, width, head)
        if finding.means:
            yield from wrapped(finding.means, width, f"{'':<{_VERDICT}}→ ")
    yield ""
    for mode, state in found.modes.items():
        yield from wrapped(state, width, f"{mode:<{_VERDICT + 2}}")
    yield ""
    for act, calls in (("says", found.says), ("draws", found.draws)):
        if calls.calls:
            yield f"{act:<11} {_took(calls)}"
    if found.cost is not None:
        yield f"{'cost':<11} {found.cost:.4f}"


def _took(calls: Calls) -> str:
    return (
        f"{calls.calls} calls, {calls.seconds:.2f} s the one in the middle, "
        f"{calls.tokens_in:,} tokens in, {calls.tokens_out:,} out"
    )
