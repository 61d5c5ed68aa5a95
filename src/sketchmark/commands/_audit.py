"""What `sketchmark audit` plays and prints, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sketchmark.api import play
from sketchmark.audit import as_json as in_json
from sketchmark.audit import audit
from sketchmark.audit.contrasts import DRAWING_MODE, MODES
from sketchmark.audit.settling import AT_COST_LIMIT, Settling
from sketchmark.audit.terminal import lines
from sketchmark.catalog import Catalog
from sketchmark.commands._run import exit_code
from sketchmark.errors import BadInput
from sketchmark.runs.cost_limit import cut_short
from sketchmark.runs.prepare import prepare
from sketchmark.terminal import notice, tell, tell_all

_LIMIT, _MOST = 100, 500


def audit_and_print(
    *,
    model: str,
    tasks: str,
    until: str | None,
    limit: int | None,
    block: int,
    margin: float,
    as_json: bool,
    dry_run: bool,
    quiet: bool,
    **options: Any,
) -> int:
    if not model or not tasks:
        raise BadInput("an audit needs --model and --tasks to play, or a RUN to look at", "sketchmark audit --help")
    modes = _modes(tasks, Catalog(options["include"], options["trust_code"], notice))
    most = limit or (_MOST if until else _LIMIT)
    prepared = prepare(
        model,
        [f"{task}_{mode}" for task, found in modes.items() for mode in found],
        canvas="all",
        limit=min(block, most) if until else most,
        quiet=quiet or as_json,
        **options,
    )
    for line in prepared.options.warnings:
        tell(f"warning: {line}", err=True)
    if dry_run:
        from sketchmark.commands._estimate_table import print_estimate

        print_estimate(prepared.cells, prepared.options)
        return 0
    settling = Settling(frozenset(modes), margin, block, most, lambda: prepared.options.budget.used_up)
    folder = play(prepared, settling.grow if until else None)
    print_audit(folder.path, margin=margin, as_json=as_json, quiet=quiet, outcomes=settling.outcomes)
    if not prepared.quiet:
        tell(f"run folder: {folder.path}")
        tell(f"report:     {folder.report_file}")
    out_of_money = (
        AT_COST_LIMIT in settling.outcomes.values() if until else cut_short(folder, prepared.cells, prepared.options)
    )
    return exit_code(folder, prepared, at_cost_limit=out_of_money)


def _modes(tasks: str, catalog: Catalog) -> dict[str, list[str]]:
    """Of each task, those that an audit plays."""
    found = {}
    for name in dict.fromkeys(pick.task for pick in catalog.pick(tasks)):
        has = catalog.task(name).modes
        if DRAWING_MODE not in has or "direct" not in has:
            raise BadInput(
                f"task {name!r} cannot be audited: it has no mode {DRAWING_MODE if 'direct' in has else 'direct'}",
                f"an audit needs direct and {DRAWING_MODE}; `sketchmark show {name}` lists what it has",
            )
        found[name] = [mode for mode in MODES if mode in has]
        if len(found[name]) < len(MODES):
            tell(f"warning: {name} has no mode text_cot: a picture is not held against words", err=True)
    return found


def print_audit(
    run: Path, *, margin: float, as_json: bool, quiet: bool = False, outcomes: Mapping[str, str] | None = None
) -> None:
    found = audit(run, margin)
    if as_json:
        tell_all(json.dumps({**in_json(found), "until": dict(outcomes or {})}, indent=1, ensure_ascii=False))
    elif not quiet:
        tell_all("\n".join(lines(found)))
        for task, outcome in (outcomes or {}).items():
            tell(f"{task}: {outcome}")
