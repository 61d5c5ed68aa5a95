"""Which cells are compared with which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sketchmark.runs.gains import MODE_PAIRS
from sketchmark.runs.scored import ScoredCell


def across_runs(cells: Sequence[ScoredCell], runs: Sequence[str]) -> Iterator[tuple[ScoredCell, ScoredCell]]:
    first = {(cell.mode, cell.canvas): cell for cell in cells if cell.run == runs[0]}
    for cell in cells:
        before = first.get((cell.mode, cell.canvas))
        if before is not None and cell.run != runs[0]:
            yield before, cell


def across_modes(cells: Sequence[ScoredCell], runs: Sequence[str]) -> Iterator[tuple[ScoredCell, ScoredCell]]:
    seen: set[tuple[int, int]] = set()
    for pool in _pools([cell for cell in cells if cell.canvas == "own"], runs):
        for low, high in MODE_PAIRS:
            before, after = pool.get((low, "own")), pool.get((high, "own"))
            if before and after and (id(before), id(after)) not in seen:
                seen.add((id(before), id(after)))
                yield before, after


def across_canvases(cells: Sequence[ScoredCell], runs: Sequence[str]) -> Iterator[dict[str, ScoredCell]]:
    seen: set[frozenset[int]] = set()
    for pool in _pools(cells, runs):
        for mode in dict.fromkeys(mode for mode, _ in pool if mode not in ("direct", "text_cot")):
            group = {canvas: cell for (of, canvas), cell in pool.items() if of == mode}
            key = frozenset(map(id, group.values()))
            if len(group) > 1 and key not in seen:
                seen.add(key)
                yield group


def _pools(cells: Sequence[ScoredCell], runs: Sequence[str]) -> Iterator[dict[tuple[str, str], ScoredCell]]:
    """For each run its cells by (mode, canvas), filled up from other folders in which the same model played."""
    for run in runs:
        own = [cell for cell in cells if cell.run == run]
        players = {cell.player for cell in own}
        others = [cell for cell in cells if cell.run != run and cell.player in players]
        pool: dict[tuple[str, str], ScoredCell] = {}
        for cell in own + others:
            pool.setdefault((cell.mode, cell.canvas), cell)
        yield pool
