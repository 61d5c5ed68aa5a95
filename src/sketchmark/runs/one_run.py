"""Whether several folders are parts of one run, and what that run is. Whatever shaped an answer must agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from sketchmark import __version__
from sketchmark.errors import RunConflict
from sketchmark.files.plain import plain
from sketchmark.runs.format import FORMAT, CellAbout, RunAbout
from sketchmark.runs.store import RunFolder, differences

ADDRESSES = ("base_url", "azure_endpoint")
"""Where a model answers. Each machine of a cluster has a server of its own, so these may differ, and that is said."""

_PLAYED_ALIKE = "only runs of the same model, tasks and settings can be merged"


def one_run(runs: Sequence[RunFolder]) -> tuple[RunAbout, list[str]]:
    """The run that these are parts of, and what is worth knowing about it, in words."""
    abouts = [run.about() for run in runs]
    first = abouts[0]
    cells: dict[str, CellAbout] = {}
    whose: dict[str, RunFolder] = {}
    limits: dict[str, int | None] = {}
    totals: dict[str, int] = {}
    for run, about in zip(runs, abouts, strict=True):
        _refuse(runs[0], run, "the run", _with_seed(first), _with_seed(about))
        for name in run.cells:
            kept = cells.setdefault(name, about.cells[name])
            other = whose.setdefault(name, run)
            _refuse(other, run, name, _comparable(kept), _comparable(about.cells[name]))
            limit = about.limits.get(name)
            if limits.setdefault(name, limit) != limit:
                _refuse(other, run, name, {"limit": limits[name]}, {"limit": limit})
            total = about.totals.get(name)
            if total is not None and totals.setdefault(name, total) != total:
                raise RunConflict(
                    f"{name} has {totals[name]} samples in {other.path} and {total} in {run.path}: the data differ",
                    "play both on the same data",
                )
    merged = RunAbout(
        format=FORMAT,
        sketchmark=__version__,
        model=first.model,
        seed=first.seed,
        started=min(about.started for about in abouts),
        machine=first.machine,
        cells=cells,
        limits={name: limit for name, limit in limits.items() if limit is not None},
        totals=totals,
        asked={
            name: structs.replace(asked, shard="")
            for name, run in whose.items()
            if (asked := run.about().asked.get(name)) is not None
        },
    )
    return merged, [*_said_of_addresses(abouts), *_said_of_versions(abouts)]


def _with_seed(about: RunAbout) -> dict[str, Any]:
    args = {name: value for name, value in about.model.args.items() if name not in ADDRESSES}
    return {"model": about.model.name, "model_args": args, "seed": about.seed}


def _comparable(cell: CellAbout) -> dict[str, Any]:
    described: dict[str, Any] = plain(cell)
    model = {name: value for name, value in described["model"].items() if name not in ADDRESSES}
    return {**described, "model": model}


def _refuse(one: RunFolder, other: RunFolder, what: str, before: Any, now: Any) -> None:
    changed = differences(before, now)
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise RunConflict(
            f"{what} was played differently in {one.path} and {other.path}: {'; '.join(changed[:3])}{more}",
            _PLAYED_ALIKE,
        )


def _said_of_addresses(abouts: Sequence[RunAbout]) -> list[str]:
    found = dict.fromkeys(
        str(about.model.args[name]) for about in abouts for name in ADDRESSES if about.model.args.get(name)
    )
    if len(found) < 2:
        return []
    return [f"played at different addresses, taken for the same model because all else agrees: {', '.join(found)}"]


def _said_of_versions(abouts: Sequence[RunAbout]) -> list[str]:
    found = dict.fromkeys(about.sketchmark for about in abouts)
    return [f"played by different versions of Sketchmark: {', '.join(found)}"] if len(found) > 1 else []
