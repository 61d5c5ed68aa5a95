"""UniG2U's overall: its constant weights give the published figures, and there is none unless all of it was run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sketchmark
from sketchmark.benchmarks.unig2u import total
from sketchmark.catalog import Catalog
from sketchmark.commands.tables import print_totals
from sketchmark.files import write_json
from sketchmark.folder.format import CellRecord, Score
from sketchmark.folder.results_format import BenchmarkTotal, Results
from sketchmark.report import write_report
from sketchmark.results.aggregate import totals
from sketchmark.stats.differences import paired_difference
from tests.benchmarks.unig2u import published
from tests.benchmarks.unig2u.players import Knows
from tests.episodes import Judge
from tests.tabled import tabled

NAMES = ("Real-world", "Geometry", "Physics", "Puzzles", "Chart", "Spatial", "Perception")
WEIGHTS = dict(zip(NAMES, (200, 200, 200, 537, 100, 500, 1263), strict=True))


def test_the_weights_are_the_published_constants() -> None:
    assert total().weights == WEIGHTS
    assert sum(WEIGHTS.values()) == 3000


@tabled
def test_the_weights_reproduce_the_published_overall(categories: tuple[float, ...], overall: float) -> None:
    found = total().overall(dict(zip(WEIGHTS, categories, strict=True)))
    assert found == pytest.approx(overall, abs=0.0051)


def rows(share_task: str, items: int, right: int, scoring: str, score: str) -> dict[str, Score]:
    """The first `right` samples are right."""
    return {
        f"{n:03d}": Score(index=n, sample=f"{n:03d}", scored=True, values={score: float(n < right)}, scoring=scoring)
        for n in range(items)
    }


class Played:
    """All tasks in both modes, each with the same share of right answers in a mode."""

    def __init__(self, direct: float = 0.25, drawn: float = 0.5, scoring: str = "strict") -> None:
        self.cells: dict[str, CellRecord] = {}
        self.scores: dict[str, dict[str, Score]] = {}
        for share in total().shares:
            for mode, level in (("direct", direct), ("visual_cot", drawn)):
                name = f"{share.task}.{mode}"
                self.cells[name] = CellRecord(task=share.task, mode=mode, headline="right")
                right = round(level * share.items)
                self.scores[name] = rows(share.task, share.items, right, scoring, "right")

    def totals(self, *scorings: str) -> list[BenchmarkTotal]:
        task = Catalog().task("unig2u_chartqa100")
        return totals([task], self.cells, lambda cell, suffix: self.scores.get(cell, {}), scorings or ("strict",))


def test_overall_categories_and_gain_of_a_whole_run() -> None:
    direct, drawn = Played().totals()
    assert (direct.mode, direct.missing, direct.gains) == ("direct", {}, {})
    assert direct.overall is not None and drawn.overall is not None
    assert direct.overall.n == 3000
    assert {name: mean.n for name, mean in drawn.categories.items()} == WEIGHTS
    assert direct.categories["Chart"].mean == 0.25
    assert direct.categories["Real-world"].mean == pytest.approx((25 + 12 + 12) / 200)
    means = {name: mean.mean or 0.0 for name, mean in drawn.categories.items()}
    assert drawn.overall.mean == pytest.approx(total().overall(means)), "weighted by constants"
    gain = drawn.gains["overall"]
    assert gain.gain == pytest.approx((drawn.overall.mean or 0) - (direct.overall.mean or 0))
    low, high = gain.ci95
    assert low is not None and high is not None and gain.gain is not None and 0 < low < gain.gain < high < 0.3
    assert set(drawn.gains) == {*WEIGHTS, "overall"}
    assert (gain.task, gain.mode, gain.metric, gain.n, gain.hurt) == ("UniG2U", "visual_cot", "overall", 3000, 0)


def test_one_sample_too_few_and_there_is_no_overall() -> None:
    played = Played()
    del played.scores["unig2u_vsp_collision.visual_cot"]["007"]
    direct, drawn = played.totals()
    assert direct.overall is not None
    assert drawn.missing == {"unig2u_vsp_collision": "49 of 50 samples scored"}
    assert (drawn.overall, drawn.categories, drawn.gains) == (None, {}, {})


def test_a_sample_without_a_score_or_scored_by_other_rules_counts_as_missing() -> None:
    played = Played()
    played.scores["unig2u_geometry3k.direct"]["000"].values = {"right": None}
    for row in played.scores["unig2u_chartqa100.direct"].values():
        row.scoring = "official"
    direct, drawn = played.totals()
    assert direct.missing == {
        "unig2u_geometry3k": "99 of 100 samples scored",
        "unig2u_chartqa100": "0 of 100 samples scored",
    }
    assert drawn.overall is not None and drawn.gains == {}, "nothing to compare it with"


def test_a_failed_scorer_and_a_task_that_was_not_played_are_named() -> None:
    played = Played()
    played.scores["unig2u_mmsi_msr.direct"]["000"].flags = ["scorer_failed"]
    del played.cells["unig2u_phyx_optics100.direct"]
    direct, _ = played.totals()
    assert direct.missing == {
        "unig2u_phyx_optics100": "not run",
        "unig2u_mmsi_msr": "no score is shown: 1 scorer failure",
    }


def test_other_samples_in_the_two_modes_give_no_gain() -> None:
    played = Played()
    scores = played.scores["unig2u_chartqa100.direct"]
    scores["other"] = scores.pop("000")
    scores["other"].sample = "other"
    _, drawn = played.totals()
    assert drawn.overall is not None and drawn.gains == {}


def test_by_official_the_puzzles_count_as_unig2us_port_scores_them() -> None:
    played = Played(scoring="official")
    for task, score in (
        ("unig2u_uni_mmmu_jigsaw100", "jigsaw_text_acc_unig2u"),
        ("unig2u_uni_mmmu_maze100", "maze_text_frame_acc_unig2u"),
        ("unig2u_uni_mmmu_sliding54", "sliding_text_frame_acc_unig2u"),
    ):
        for mode in ("direct", "visual_cot"):
            for row in played.scores[f"{task}.{mode}"].values():
                row.values = {"right": 0.0, score: 1.0}
    direct, _ = played.totals("official")
    assert direct.categories["Puzzles"].mean == pytest.approx((25 + 25 + 21 + 100 + 100 + 54) / 537)


def test_pictures_that_two_tasks_ask_about_widen_the_interval() -> None:
    def width(found: BenchmarkTotal) -> float:
        low, high = found.categories["Perception"].ci95
        assert low is not None and high is not None
        return high - low

    together = Played()
    apart = Played()
    for kind in ("icon", "logo", "in"):
        name = f"unig2u_illusionbench_arshia_{kind}_scene_test.direct"
        for row in apart.scores[name].values():
            row.sample = f"other-{row.sample}"
    assert width(together.totals()[0]) > 1.05 * width(apart.totals()[0])


def test_the_gain_is_the_paired_difference_over_all_items() -> None:
    played = Played()
    _, drawn = played.totals()
    before: list[float] = []
    after: list[float] = []
    labels: list[str] = []
    for share in total().shares:
        first, second = (played.scores[f"{share.task}.{mode}"] for mode in ("direct", "visual_cot"))
        before += [row.values["right"] or 0.0 for row in first.values()]
        after += [second[name].values["right"] or 0.0 for name in first]
        labels += [f"{share.source or share.task}/{name}" for name in first]
    found = paired_difference(before, after, labels)
    assert drawn.gains["overall"].ci95 == pytest.approx((found.low, found.high))


def test_what_is_missing_is_one_line_and_a_whole_total_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    played = Played()
    print_totals(Results(tasks={}, gains=[], totals=played.totals()))
    shown = capsys.readouterr().out
    assert "UniG2U visual_cot by strict, weighted" in shown and "Perception" in shown
    assert max(map(len, shown.splitlines())) <= 80
    for name in list(played.cells)[:12:2]:
        del played.cells[name]
    parts = [one for one in played.totals() if one.mode == "direct"]
    print_totals(Results(tasks={}, gains=[], totals=parts))
    shown = " ".join(capsys.readouterr().out.split())
    assert "no overall score, 6 of its tasks are missing: unig2u_realunify_attentional_focusing (not run)" in shown
    assert shown.endswith("and 3 more")


def test_a_run_of_some_tasks_says_what_is_missing_and_keeps_it_in_its_results(tmp_path: Path) -> None:
    data = published.everything(tmp_path / "data")
    folder = sketchmark.run(
        Knows(), "chartqa100,unig2u_phyx_optics100", data=data, output_path=tmp_path / "run"
    ).folder
    [found] = folder.results().totals
    assert len(found.missing) == 31 and found.overall is None
    assert found.missing["unig2u_chartqa100"] == "2 of 100 samples scored"
    assert found.missing["unig2u_mmsi_msr"] == "not run"


@pytest.mark.slow
def test_the_whole_benchmark_played_in_both_modes(tmp_path: Path) -> None:
    """All three thousand items from files of the published sizes: the model is right where it did not draw."""
    data = published.everything(tmp_path / "data", rows=None)
    folder = sketchmark.run(
        Knows(when_drawn=False),
        "unig2u,unig2u_GtA",
        data=data,
        judge=Judge('False {"answer_correct": 1, "text_ok": 1}'),
        output_path=tmp_path / "run",
        concurrency=16,
        prompts="unig2u",
    ).folder
    results = folder.results()
    direct, drawn = results.totals
    assert direct.missing == drawn.missing == {}
    assert direct.overall is not None and drawn.overall is not None and direct.overall.n == 3000
    assert direct.categories["Chart"].mean == 1.0 and drawn.categories["Chart"].mean == 0.0
    means = {name: mean.mean or 0.0 for name, mean in direct.categories.items()}
    assert direct.overall.mean == pytest.approx(total().overall(means))
    gain = drawn.gains["overall"].gain
    assert gain is not None and gain == pytest.approx((drawn.overall.mean or 0) - (direct.overall.mean or 0))
    assert gain < -0.5


def test_the_report_has_a_section_on_the_overall(tmp_path: Path) -> None:
    data = published.everything(tmp_path / "data")
    folder = sketchmark.run(Knows(), "chartqa100", data=data, output_path=tmp_path / "run").folder
    page = folder.report_file.read_text("utf-8")
    assert "UniG2U (direct, strict) has no overall score: 31 of its tasks are missing." in page
    assert "unig2u_chartqa100: 2 of 100 samples scored" in page
    results = folder.results()
    results.totals = Played().totals()
    write_json(folder.results_file, results)
    whole = write_report(folder).read_text("utf-8")
    assert "UniG2U (visual_cot, strict): means weighted by the benchmark&#x27;s constants" in whole
    assert re.search(r"\+25\.0 \[2[23]\.\d, 2[67]\.\d\]", whole)
