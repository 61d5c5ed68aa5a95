"""Results of a cell and gains: counts, means and intervals, the same for every reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sketchmark.comparison import compare
from sketchmark.comparison.tables import scores_table
from sketchmark.files import write_json
from sketchmark.files.jsonl import LineReader, encode, plain
from sketchmark.folder import RunFolder
from sketchmark.folder.format import CellRecord, ScoreRow
from sketchmark.folder.index import RunView
from sketchmark.folder.results_format import Gain, Metric, Results
from sketchmark.results import summary
from sketchmark.results.gains import gains, live_gains, pair, paired
from sketchmark.results.summary import cell_result, describe, summarise
from sketchmark.stats.differences import paired_difference
from sketchmark.stats.intervals import interval
from tests.runs.making import make_folder, make_row, make_task


def _rows(values: Sequence[float | None], **more: Any) -> list[ScoreRow]:
    return [make_row(f"s{place}", value, place, **more) for place, value in enumerate(values)]


def _clustered(values: Sequence[float | None], size: int) -> list[ScoreRow]:
    rows = _rows(values)
    for place, row in enumerate(rows):
        row.groups = {"cluster": f"c{place // size}"}
    return rows


def _width(found: Metric | Gain) -> float:
    low, high = found.ci95
    assert low is not None and high is not None
    return high - low


def test_a_summary_counts_episodes_and_averages_those_that_were_scored() -> None:
    rows = [*_rows([1.0, 1.0, 0.0]), make_row("s3", None, 3, scored=False, values={}, flags=["connection"])]
    wilson = interval([1.0, 1.0, 0.0])
    assert plain(summarise(rows, None)) == {
        "n": 3,
        "episodes": 4,
        "metrics": {"right": {"mean": 2 / 3, "ci95": [wilson.low, wilson.high], "n": 3, "method": "wilson"}},
        "failures": {"connection": 1},
        "cut": 0.0,
        "unparsed": 0.0,
        "left_out": 0,
        "calls_left_out": 0,
        "usage": {},
    }


def test_failures_left_out_parts_and_usage_are_counted_also_of_unscored_episodes() -> None:
    rows = [
        make_row("s0", 1.0, 0, flags=["unparsed", "left_out"], calls_left_out=3, usage={"calls": 2, "tokens_in": 10}),
        make_row("s1", 0.0, 1, flags=["left_out", "empty"], calls_left_out=2, usage={"calls": 1}, scored=False),
        make_row("s2", 1.0, 2, flags=["unparsed"]),
    ]
    summary = summarise(rows, None)
    assert list(summary.failures.items()) == [("empty", 1), ("unparsed", 2)]
    assert (summary.left_out, summary.calls_left_out, summary.usage) == (2, 5, {"calls": 3, "tokens_in": 10})
    assert summary.metrics["right"].mean == 1.0, "a row that is not scored gives no value even if it has one"
    older = {key: value for key, value in plain(make_row("s0")).items() if key != "calls_left_out"}
    assert summarise([LineReader(ScoreRow).one(encode(older), "line")], None).calls_left_out == 0


def test_a_score_that_does_not_apply_to_some_samples_is_averaged_over_the_others() -> None:
    rows = [
        make_row("s0", values={"a": 1.0, "b": None}),
        make_row("s1", values={"a": 0.0, "b": 0.5}, index=1),
        make_row("s2", values={"a": 0.0, "c": None}, index=2),
    ]
    metrics = summarise(rows, None).metrics
    assert {name: (found.mean, found.n) for name, found in metrics.items()} == {"a": (1 / 3, 3), "b": (0.5, 1)}


def _totals(rows: Sequence[Any], scoring: str) -> dict[str, float]:
    return {"share": sum(row["values"]["right"] for row in rows) / len(rows), "scoring": ord(scoring[0])}


def _broken_totals(rows: Sequence[Any], scoring: str) -> dict[str, float]:
    return {"share": float("nan")}


def test_a_tasks_own_totals_cover_scored_rows_or_say_why_they_are_missing() -> None:
    task = make_task([], aggregate="tests.results.test_summary:_totals")
    rows = _rows([1.0, 0.0])
    assert cell_result(rows, lambda: rows, task, "strict").aggregate == {"share": 0.5, "scoring": ord("s")}
    nothing = [make_row("s0", None, scored=False, values={}, flags=["timeout"])]
    empty = cell_result(nothing, lambda: nothing, task, "strict")
    assert (empty.aggregate, empty.problem) == ({}, ""), "of nothing there is no total"
    broken = cell_result(
        rows, lambda: rows, make_task([], aggregate="tests.results.test_summary:_broken_totals"), "strict"
    )
    assert broken.aggregate == {} and broken.metrics["right"].mean == 0.5
    assert broken.problem.startswith("its own totals failed: ValueError")


def test_a_tasks_own_totals_of_repeats_are_of_samples() -> None:
    task = make_task([], aggregate="tests.results.test_summary:_totals")
    rows = [make_row(sample, 1.0, index, repeat=n) for index, sample in enumerate("ab") for n in range(3)]
    found = cell_result(rows, lambda: rows, task, "strict")
    assert (found.n, found.samples, found.metrics["right"].n, found.counts) == (6, 2, 2, {})
    shown = scores_table(Results(tasks={"quiz.direct": describe(found, CellRecord(task="quiz"))}, gains=[]))
    assert {row[1]: row[4] for row in shown.rows} == dict.fromkeys(("right", "share", "scoring"), "2")
    assert cell_result(rows[::3], lambda: rows[::3], task, "strict").samples is None


def test_samples_of_a_cluster_make_the_interval_wider() -> None:
    values = [*[1.0] * 8, *[0.0] * 8, *[1.0] * 4, *[0.0] * 4]
    alone = summarise(_rows(values), None).metrics["right"]
    shared = summarise(_clustered(values, 4), None).metrics["right"]
    exact = interval(values, [f"c{place // 4}" for place in range(24)])
    assert shared.ci95 == (exact.low, exact.high) and shared.method == exact.method
    assert _width(shared) > _width(alone) and shared.mean == alone.mean
    assert summarise(_clustered(values, 1), None).metrics["right"] == alone, "clusters of one sample change nothing"
    rows = _rows([1.0, 1.0, 0.0, 0.0, 1.0])
    for place in (0, 1):
        rows[place].groups = {"cluster": "same"}
    exact = interval([1.0, 1.0, 0.0, 0.0, 1.0], ["same", "same", "s2", "s3", "s4"])
    found = summarise(rows, None).metrics["right"]
    assert found.ci95 == (exact.low, exact.high) and found.method == "wilson-clustered"


def test_the_bootstrap_uses_the_seed_of_the_run() -> None:
    values = [float(place**2 % 17) for place in range(40)]
    for seed in (0, 7):
        exact = interval(values, None, seed=seed)
        assert summarise(_rows(values), None, seed).metrics["right"].ci95 == (exact.low, exact.high)
    assert interval(values, None, seed=0) != interval(values, None, seed=7)
    assert summarise(_rows(values), None) == summarise(_rows(values), None, 0)


def test_a_breakdown_groups_the_scored_samples_that_have_the_entry() -> None:
    rows = [
        make_row("s0", 1.0, 0, groups={"level": 2}),
        make_row("s1", 0.0, 1, groups={"level": 10}),
        make_row("s2", 0.0, 2, groups={"level": 2}),
        make_row("s3", 1.0, 3, groups={"kind": "x"}),
        make_row("s4", 1.0, 4, groups={"level": 2}, scored=False),
    ]
    by = summarise(rows, make_task([], breakdown=["level", "nothing"])).by
    assert list(by) == ["level", "nothing"] and by["nothing"] == {}
    assert list(by["level"]) == ["10", "2"]
    assert by["level"]["2"].n == 2 and by["level"]["2"].metrics["right"].mean == 0.5
    assert "by" not in plain(summarise(rows, make_task([])))


def _gains(folder: RunFolder) -> list[Gain]:
    return list(gains(folder.about().cells, folder.scored))


def test_the_gain_is_the_mode_minus_direct_on_the_same_samples(tmp_path: Path) -> None:
    before, after = [0.0, 0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0, 1.0]
    scores = {"shades.direct": _rows(before), "shades.visual_cot": _rows(after)}
    exact = paired_difference(before, after)
    assert plain(_gains(make_folder(tmp_path, scores))) == [
        {
            "task": "shades", "mode": "visual_cot", "canvas": "own", "metric": "right",
            "gain": pytest.approx(0.4), "ci95": [exact.low, exact.high], "p": exact.p, "p_holm": exact.p,
            "helped": 3, "hurt": 1, "same": 1, "n": 5, "verdict": "unclear",
            "family": "differences of modes in this run: 1",
        }
    ]  # fmt: skip


def test_only_samples_that_both_modes_scored_are_compared(tmp_path: Path) -> None:
    direct = [
        *(make_row("a", 0.0, 0), make_row("b", 1.0, 1), make_row("c", None, 2), make_row("d", 0.0, 3)),
        make_row("e", 1.0, 4, scored=False),
        make_row("f", 1.0, 5, values={"other": 1.0}),
    ]
    drawn = [make_row(id, 1.0, place) for place, id in enumerate("gafecb")]
    (gain,) = _gains(make_folder(tmp_path, {"shades.direct": direct, "shades.visual_cot": drawn}))
    assert (gain.n, gain.helped, gain.same, gain.gain) == (2, 1, 1, 0.5)


def test_samples_of_a_cluster_make_the_gain_less_certain(tmp_path: Path) -> None:
    before = [0.0] * 16
    after = [*[1.0] * 12, *[0.0] * 4]

    def gain(name: str, size: int) -> Gain:
        scores = {"shades.direct": _clustered(before, size), "shades.visual_cot": _rows(after)}
        return _gains(make_folder(tmp_path / name, scores))[0]

    alone, shared = gain("alone", 1), gain("shared", 4)
    exact = paired_difference(before, after, [f"c{place // 4}" for place in range(16)])
    assert shared.ci95 == (exact.low, exact.high) and shared.p == exact.p
    assert alone.p is not None and shared.p is not None
    assert _width(shared) > _width(alone) and alone.p < shared.p
    unclustered = paired_difference(before, after)
    assert alone.ci95 == (unclustered.low, unclustered.high) and alone.p == unclustered.p


def test_every_mode_and_canvas_is_compared_with_direct_and_direct_with_nothing(tmp_path: Path) -> None:
    rows = _rows([1.0, 0.0])
    names = ["a.direct", "a.text_cot", "a.visual_cot", "a.visual_cot.blank", "b.direct", "c.visual_cot"]
    folder = make_folder(tmp_path, dict.fromkeys(names, rows), a_visual_cot_blank={"canvas": "blank"})
    assert [(gain.task, gain.mode, gain.canvas) for gain in _gains(folder)] == [
        ("a", "text_cot", "own"),
        ("a", "visual_cot", "own"),
        ("a", "visual_cot", "blank"),
    ]


def test_a_task_without_a_headline_or_without_shared_samples_has_no_gain(tmp_path: Path) -> None:
    scores = {f"{task}.direct": _rows([1.0]) for task in "abc"}
    scores |= {"a.visual_cot": _rows([1.0]), "b.visual_cot": [make_row("o", 1.0)], "c.visual_cot": _rows([0.0])}
    folder = make_folder(tmp_path, scores, a_visual_cot={"headline": ""})
    assert [(gain.task, gain.gain) for gain in _gains(folder)] == [("c", -1.0)]


def _random_rows(seed: int, *, clusters: bool, shares: bool) -> list[ScoreRow]:
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
def test_results_viewer_and_comparison_have_the_same_gain(tmp_path: Path, clusters: bool, shares: bool) -> None:
    names = ("shades.direct", "shades.visual_cot")
    scores = {name: _random_rows(seed, clusters=clusters, shares=shares) for seed, name in enumerate(names)}
    folder = make_folder(tmp_path / "run", scores)
    (gain,) = gains(folder.about().cells, folder.scored)
    write_json(folder.path / "results.json", Results(tasks={}, gains=[gain]))
    index = RunView(folder, "run")
    index.refresh()
    (row,) = compare([folder.path]).rows
    found = row.difference
    assert folder.results().gains == live_gains(index) == [gain]
    cells = (index.cells[names[0]], index.cells[names[1]])
    assert paired(*cells, [cells]) == gain
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
    found = paired(index.cells["a.direct"], index.cells["b.direct"], [])
    assert (found.gain, found.metric, found.n) == (1.0, "other", 1)
    assert (found.p_holm, found.verdict) == (None, "unclear"), "nothing else is compared with it"
    assert pair(folder.scored("a.direct"), folder.scored("b.direct"), "right").difference().mean == 0.0


def _drawn_folder(path: Path) -> RunFolder:
    """Four questions about each of six pictures, answered alike; a wrong drawing for every other picture."""
    rows = [
        make_row(
            f"s{n}",
            float(n // 4 % 3 == 0),
            n,
            groups={"kind": "ab"[n // 4 % 2], "cluster": f"picture {n // 4}"},
            notes={"frames_right": [n // 4 % 2 == 0]},
        )
        for n in range(24)
    ]
    return make_folder(path, {"quiz.visual_cot": rows}, quiz_visual_cot={"breakdown": ["kind"]})


def test_groups_have_the_same_interval_in_results_and_report(tmp_path: Path) -> None:
    folder = _drawn_folder(tmp_path)
    found = summarise(folder.scored("quiz.visual_cot").values(), make_task([], breakdown=["kind"])).by["kind"]
    (curve,) = summary.curves(RunView.whole(folder))
    (line,) = curve.lines
    assert {point.value: (point.mean, point.ci95, point.n) for point in line.points} == {
        name: (group.metrics["right"].mean, group.metrics["right"].ci95, group.metrics["right"].n)
        for name, group in found.items()
    }
    assert {group.metrics["right"].method for group in found.values()} == {"wilson-clustered"}


def test_answers_by_drawing_take_clusters_into_account(tmp_path: Path) -> None:
    folder = _drawn_folder(tmp_path)
    table = summary.drawing_and_answer(RunView.whole(folder).cells["quiz.visual_cot"])
    assert table is not None
    rows = [row for row in folder.scored("quiz.visual_cot").values() if row.drawing_right]
    found = interval([row.values["right"] or 0 for row in rows], [row.cluster for row in rows])
    assert (table.right.mean, table.right.ci95, table.right.n) == (found.mean, (found.low, found.high), 12)
    assert found.method == "wilson-clustered" and table.right.right == 4
