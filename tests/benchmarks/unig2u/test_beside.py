"""UniG2U's figures beside a whole run's overall; and what one gets at VSP's collisions without a look at the map."""

from __future__ import annotations

from pathlib import Path

import pytest

import sketchmark
from sketchmark.comparison import compare
from sketchmark.files import write_json
from sketchmark.folder.results_format import Results
from sketchmark.results.aggregate import warned
from tests.benchmarks.uni_mmmu.published import write_parquet
from tests.benchmarks.unig2u.published import collision
from tests.benchmarks.unig2u.test_totals import Played
from tests.comparison.folders import rows, write_run


def test_the_overall_stands_beside_the_published_ones(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"chart.direct": rows([1.0, 0.0])})
    totals = Played(direct=0.36, drawn=0.5).totals()
    write_json(run / "results.json", Results(model="player/x", tasks={}, gains=[], totals=totals))
    direct, drawn = compare([run], published=True).published
    assert (direct.task, direct.mode, drawn.mode) == ("UniG2U", "direct", "visual_cot")
    by_model = {row.model: row for row in direct.rows}
    bagel = by_model["BAGEL"]
    assert (bagel.value, bagel.n, bagel.yours.n) == (0.3584, 3000, 3000)
    assert bagel.apart is not None and bagel.apart.verdict == "compatible"
    assert by_model["FUDOK"].apart is not None and by_model["FUDOK"].apart.verdict == "differs"
    assert any("read by strict" in note for note in direct.notes)
    assert {row.model: row.value for row in drawn.rows}["GPT-4o + GPT-image"] == 0.3544


def test_a_constant_pair_of_seconds_is_found_and_warned_of(tmp_path: Path) -> None:
    """One second for the car and three for the person are right on most of these maps, within one second."""
    truths = [(1, 3), (2, 2), (0.5, 4), (1.5, 3.5), (1, 2.5)] * 8 + [(7, 9)] * 10
    data = write_parquet(tmp_path / "vsp_collision_50.parquet", [collision(n, *one) for n, one in enumerate(truths)])
    folder = sketchmark.run(
        "player/random", "vsp_collision", data=data, output_path=tmp_path / "run", no_cache=True
    ).folder
    tasks = folder.results().tasks
    found = tasks["unig2u_vsp_collision.direct"].baselines["collision_acc"]
    assert found.reply == "Car: 1.0\nPerson: 3.0" and found.majority == pytest.approx(0.8) and found.n == 50
    example = sum((abs(car - 2) <= 1) + (abs(person - 2) <= 1) for car, person in truths) / 100
    assert found.constant == pytest.approx(example)
    assert any("Car: 1.0" in line for line in warned(tasks))
