"""There is one gain: results.json, the viewer, the report and a comparison tell the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from sketchmark.comparison import compare
from sketchmark.files import write_json
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ScoreRow
from sketchmark.folder.index import RunView
from sketchmark.folder.results_format import Results
from sketchmark.results import live as summary
from sketchmark.results.summary import gains, pair
from tests.runs.making import make_folder, make_row


def _rows(seed: int, *, clusters: bool, shares: bool) -> list[ScoreRow]:
    """In the order they finished in, which is not that of the samples; some failed, some were scored twice."""
    rng = Random(seed)
    rows = []
    for place in range(60):
        value = rng.choice([0.0, 0.25, 0.5, 1.0]) if shares else float(rng.random() < 0.3 + 0.3 * seed)
        groups = {"cluster": place // 3} if clusters and place < 45 else {}
        rows.append(make_row(f"s{place}", value, place, groups=groups, scored=rng.random() < 0.9))
    rng.shuffle(rows)
    return [*rows, make_row(rows[0].sample, 1.0, rows[0].index)]


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("shares", [False, True])
def test_all_who_tell_of_a_gain_tell_the_same(tmp_path: Path, clusters: bool, shares: bool) -> None:
    names = ("shades.direct", "shades.visual_cot")
    scores = {name: _rows(seed, clusters=clusters, shares=shares) for seed, name in enumerate(names)}
    folder = make_folder(tmp_path / "run", scores)
    (gain,) = gains(folder.about().cells, folder.scored)
    write_json(folder.path / "results.json", Results(tasks={}, gains=[gain]))
    index = RunView(folder, "run")
    index.refresh()
    (row,) = compare([folder.path]).rows
    found = row.difference
    assert folder.results().gains == summary.gains(index) == [gain]
    cells = (index.cells[names[0]], index.cells[names[1]])
    assert summary.paired(*cells, [cells]) == gain
    assert (found.mean, (found.low, found.high), found.p) == (gain.gain, gain.ci95, gain.p)
    assert (found.helped, found.hurt, found.same, found.n) == (gain.helped, gain.hurt, gain.same, gain.n)
    assert 0 < gain.n < 60


def test_two_tasks_are_paired_each_in_its_own_score(tmp_path: Path) -> None:
    folder = make_folder(
        tmp_path,
        {"a.direct": [make_row("s0", 0.0)], "b.direct": [make_row("s0", values={"other": 1.0, "right": 0.0})]},
        b_direct={"headline": "other"},
    )
    index = RunView(RunFolder(tmp_path), "run")
    index.refresh()
    found = summary.paired(index.cells["a.direct"], index.cells["b.direct"], [])
    assert (found.gain, found.metric, found.n) == (1.0, "other", 1)
    assert (found.p_holm, found.verdict) == (None, "unclear"), "nothing else is compared with it"
    assert pair(folder.scored("a.direct"), folder.scored("b.direct"), "right").difference().mean == 0.0
