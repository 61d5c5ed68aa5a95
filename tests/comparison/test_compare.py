"""Choice of the cells to compare, and the rows of a comparison."""

import csv
import io
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sketchmark.comparison import compare
from sketchmark.comparison.formats import to_csv, to_json, to_markdown
from sketchmark.comparison.tables import to_terminal
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder.format import Score
from sketchmark.results.gains import Pair, pair
from sketchmark.stats.differences import holm, mcnemar_exact
from tests.comparison.folders import row, rows, write_run

DIRECT = [0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0]
DRAWN = [1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1]


def test_the_drawing_gain_is_visual_cot_minus_direct_on_the_same_samples(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", {"maze.direct": rows(DIRECT), "maze.visual_cot": rows(DRAWN)})
    (found,) = compare([run]).rows
    assert found.label == "visual_cot − direct"
    assert found.difference.mean == pytest.approx((sum(DRAWN) - sum(DIRECT)) / 12)
    assert (found.difference.helped, found.difference.hurt, found.difference.same) == (8, 1, 3)
    assert found.difference.p == found.p_holm == mcnemar_exact(8, 1)


def test_text_cot_is_compared_with_both_other_modes(tmp_path: Path) -> None:
    modes = {"maze.direct": rows(DIRECT), "maze.text_cot": rows(DIRECT[::-1]), "maze.visual_cot": rows(DRAWN)}
    found = compare([write_run(tmp_path / "a", modes)])
    assert [one.label for one in found.rows] == ["visual_cot − direct", "text_cot − direct", "visual_cot − text_cot"]
    assert [one.p_holm for one in found.rows] == holm([one.difference.p for one in found.rows])


def test_holm_counts_the_rows_of_all_tasks(tmp_path: Path) -> None:
    cells = {f"{task}.{mode}": rows(values) for task in "xy" for mode, values in
             (("direct", DIRECT), ("visual_cot", DRAWN))}  # fmt: skip
    for found in compare([write_run(tmp_path / "a", cells)]).rows:
        assert found.p_holm == pytest.approx(2 * mcnemar_exact(8, 1))


def test_further_runs_are_compared_with_the_first(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", {"maze.direct": rows(DIRECT)}, model="m/1")
    others = [write_run(tmp_path / name, {"maze.direct": rows(DRAWN)}, model=f"m/{name}") for name in ("b", "c")]
    found = compare([first, *others]).rows
    assert [one.label for one in found] == ["b − first, direct", "c − first, direct"]
    assert found[0].kind == "runs"
    assert (found[0].before.model, found[0].after.model) == ("m/1", "m/b")


def test_modes_of_one_model_in_two_folders_are_compared(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"maze.direct": rows(DIRECT)})
    b = write_run(tmp_path / "b", {"maze.visual_cot": rows(DRAWN)})
    for order in ([a, b], [b, a]):
        (found,) = compare(order).rows
        assert (found.label, found.before.run, found.after.run) == ("visual_cot − direct", "a", "b")


def test_modes_of_two_models_in_two_folders_are_not_mixed(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"maze.direct": rows(DIRECT)}, model="m/1")
    b = write_run(tmp_path / "b", {"maze.visual_cot": rows(DRAWN)}, model="m/2")
    with pytest.raises(BadInput, match="nothing to compare"):
        compare([a, b])


@pytest.mark.parametrize(
    ("changes", "play", "conflict"),
    [
        ({}, {"prompts": {"ask": "What is it?"}}, r'prompts\.ask: "What\?" -> "What is it\?".*--anyway'),
        ({"scoring": "published"}, {}, 'scoring: "" -> "published"'),
        ({"fingerprint": "another"}, {}, r"12 of the shared samples differ .*\(s0, s1, s2, …\)"),
    ],
)
def test_runs_with_other_prompts_scoring_or_data_are_refused_with_the_difference(
    tmp_path: Path, changes: dict[str, str], play: dict[str, Any], conflict: str
) -> None:
    a = write_run(tmp_path / "a", {"maze.direct": rows(DIRECT)})
    b = write_run(tmp_path / "b", {"maze.direct": rows(DRAWN, **changes)}, play=play)
    with pytest.raises(RunConflict, match=conflict):
        compare([a, b])
    found = compare([a, b], anyway=True)
    assert found.rows[0].difference.n == 12 and any("compared anyway" in note for note in found.notes)


def test_runs_without_a_shared_sample_are_refused_with_the_cause(tmp_path: Path) -> None:
    cells = {"maze.direct": rows(DIRECT), "maze.visual_cot": rows(DRAWN)}
    a = write_run(tmp_path / "a", cells, source={"rows": 6, "seed": 0})
    other = {name: [{**line, "sample": f"other-{line['sample']}"} for line in lines] for name, lines in cells.items()}
    b = write_run(tmp_path / "b", other, model="m/2", source={"rows": 6, "seed": 7})
    with pytest.raises(RunConflict, match=r"data: no sample in common; source\.seed: 0 -> 7"):
        compare([a, b])
    within = compare([a, b], anyway=True)
    assert {one.kind for one in within.rows} == {"modes"}


def test_rows_with_equal_labels_name_their_run(tmp_path: Path) -> None:
    cells = {"maze.direct": rows(DIRECT), "maze.visual_cot": rows(DRAWN)}
    runs = [write_run(tmp_path / name, cells, model=f"m/{name}") for name in "ab"]
    labels = [one.label for one in compare(runs).rows if one.kind == "modes"]
    assert labels == ["visual_cot − direct (a)", "visual_cot − direct (b)"]


def test_modes_of_one_run_on_other_data_are_refused_too(tmp_path: Path) -> None:
    cells = {"maze.direct": rows(DIRECT), "maze.visual_cot": rows(DRAWN, fingerprint="x")}
    with pytest.raises(RunConflict, match="data: 12 of the shared samples differ"):
        compare([write_run(tmp_path / "a", cells)])


def test_an_empty_cell_does_not_block_others(tmp_path: Path) -> None:
    scored = {"scoring": "official"}
    cells = {"maze.direct": rows([0, 1], **scored), "maze.visual_cot": rows([1, 1], **scored)}
    first = write_run(tmp_path / "a", {**cells, "maze.visual_cot.blank": []})
    second = write_run(tmp_path / "b", {"maze.direct": [], "maze.visual_cot": rows([0, 1], **scored)})
    found = compare([first, second])
    assert [row.label for row in found.rows] == ["b − a, visual_cot", "visual_cot − direct"]
    assert any("no sample is scored on both sides" in note for note in found.notes)


def test_another_temperature_makes_a_note(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"maze.direct": rows(DIRECT)})
    b = write_run(tmp_path / "b", {"maze.direct": rows(DRAWN)}, play={"saying": {"temperature": 1}})
    assert any("saying.temperature: 0 -> 1" in note for note in compare([a, b]).notes)


def test_samples_that_only_one_side_has_are_counted_and_left_out(tmp_path: Path) -> None:
    direct, drawn = rows(DIRECT), rows(DRAWN[:10])
    direct[0] |= {"scored": False, "values": {}}
    (found,) = compare([write_run(tmp_path / "a", {"maze.direct": direct, "maze.visual_cot": drawn})]).rows
    assert (found.difference.n, found.unpaired, found.unscored) == (9, 2, 1)


def test_failures_are_counted_below_the_table(tmp_path: Path) -> None:
    drawn = rows(DRAWN)
    drawn[0]["flags"], drawn[1]["flags"] = ["no_picture", "unparsed"], ["unparsed"]
    found = compare([write_run(tmp_path / "a", {"maze.direct": rows(DIRECT), "maze.visual_cot": drawn})])
    assert found.rows[0].before.trouble == {}
    assert found.rows[0].after.trouble == {"no_picture": 1, "unparsed": 2}
    assert "Failures in maze.visual_cot of a: no_picture 1, unparsed 2." in to_terminal(found)


def test_every_format_names_the_scoring(tmp_path: Path) -> None:
    cells = {"maze.direct": rows(DIRECT), "maze.visual_cot": rows(DRAWN), "maze.visual_cot.blank": rows(DIRECT)}
    for one in (one for cell in cells.values() for one in cell):
        one["scoring"] = "lenient"
    found = compare([write_run(tmp_path / "a", cells)])
    assert "in percent by lenient" in to_markdown(found) and "lenient)" in to_markdown(found, details=True)
    lines = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert {(line["table"], line["scoring_before"], line["scoring_after"]) for line in lines} >= {
        ("difference", "lenient", "lenient"),
        ("canvas", "lenient", "lenient"),
    }
    assert json.loads(to_json(found))["rows"][0]["after"]["scoring"] == "lenient"


def test_a_sample_scored_again_counts_by_its_newest_line(tmp_path: Path) -> None:
    direct = [*rows([0, 0, 0]), row(1, 1)]
    (found,) = compare([write_run(tmp_path / "a", {"maze.direct": direct, "maze.visual_cot": rows([0, 1, 0])})]).rows
    assert found.difference.same == 3


def test_samples_that_share_an_image_are_one_cluster(tmp_path: Path) -> None:
    filed = [{"cluster": f"picture {index // 4}"} for index in range(12)]
    cells = {
        f"maze.{mode}": [row(index, value, groups=filed[index]) for index, value in enumerate(values)]
        for mode, values in (("direct", [0] * 12), ("visual_cot", [1] * 12))
    }
    (found,) = compare([write_run(tmp_path / "a", cells)]).rows
    assert found.difference.p == 2 / 2**3
    assert found.breakdowns == ()


def test_another_score_can_be_compared(tmp_path: Path) -> None:
    cells = {
        "maze.direct": rows(DIRECT, values={"other": 0.25}),
        "maze.visual_cot": rows(DRAWN, values={"other": 0.75}),
    }
    run = write_run(tmp_path / "a", cells)
    assert compare([run], metric="other").rows[0].difference.mean == pytest.approx(0.5)
    with pytest.raises(BadInput, match="maze: nothing is scored by missing"):
        compare([run], metric="missing")


def test_the_plan_says_how_many_samples_a_gain_needs(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", {"maze.direct": rows(DIRECT * 9), "maze.visual_cot": rows(DRAWN * 9)})
    plan = compare([run], power=0.1).rows[0].plan
    assert plan is not None
    assert plan.needed > 400, "three quarters of the samples change, most of them for the better"
    assert plan.smallest is not None
    assert 0.1 < plan.smallest < 0.4


def test_a_single_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nothing to compare.*run direct and visual_cot"):
        compare([write_run(tmp_path / "a", {"maze.direct": rows(DIRECT)})])


def test_a_broken_score_line_is_named(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", {"maze.direct": [{"sample": "x"}], "maze.visual_cot": rows(DRAWN)})
    with pytest.raises(BadInput, match=r"maze.direct.jsonl, line 1: not a score row"):
        compare([run])


def test_a_cell_without_a_task_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"format": 3, "cells": {"maze.direct": {}}}))
    with pytest.raises(BadInput, match=r"the cell maze\.direct has no task"):
        compare([tmp_path])


def test_folders_of_the_same_name_are_labelled_by_their_paths(tmp_path: Path) -> None:
    a = write_run(tmp_path / "x" / "run", {"maze.direct": rows(DIRECT)})
    b = write_run(tmp_path / "y" / "run", {"maze.direct": rows(DRAWN)})
    assert compare([a, b]).rows[0].before.run == str(a)


def test_twenty_thousand_samples_with_long_notes_are_compared_in_seconds(tmp_path: Path) -> None:
    cells = {
        f"maze.{mode}": [
            row(index, (index * step) % 7 / 6, groups={"steps": index % 12}, notes={"said": "x" * 500})
            for index in range(20_000)
        ]
        for mode, step in (("direct", 3), ("visual_cot", 5))
    }
    run = write_run(tmp_path / "a", cells)
    start = time.process_time()
    assert compare([run]).rows[0].difference.n == 20_000
    assert time.process_time() - start < 8


# Pairs of samples, and the names under which the others are missing.


def _item(
    value: float | None, sample: str = "s", *, scored: bool = True, right: bool | None = None, cluster: str = ""
) -> Score:
    return Score(
        index=0,
        sample=sample,
        scored=scored,
        values={"m": value},
        groups={"cluster": cluster} if cluster else {},
        notes={} if right is None else {"frames_right": (right,)},
    )


def _counts(before: Mapping[str, Score], after: Mapping[str, Score]) -> tuple[int, int, int]:
    found = pair(before, after, "m")
    return len(found.pairs), found.unpaired, found.unscored


def test_a_sample_that_failed_on_either_side_or_both_is_unscored_once() -> None:
    good, failed = _item(1.0), _item(None, scored=False)
    assert _counts({"s": good}, {"s": good}) == (1, 0, 0)
    assert _counts({"s": failed}, {"s": good}) == (0, 0, 1)
    assert _counts({"s": good}, {"s": failed}) == (0, 0, 1)
    assert _counts({"s": failed}, {"s": failed}) == (0, 0, 1)


def test_a_score_that_does_not_apply_is_neither_a_pair_nor_unscored() -> None:
    good, elsewhere = _item(1.0), _item(None)
    assert _counts({"s": elsewhere}, {"s": good}) == (0, 0, 0)
    assert _counts({"s": good}, {"s": elsewhere}) == (0, 0, 0)
    assert _counts({"s": elsewhere}, {"s": elsewhere}) == (0, 0, 0)


def test_samples_of_one_side_only_are_unpaired() -> None:
    some, failed = _item(0.0), _item(None, scored=False)
    assert _counts({"a": some, "b": failed, "c": some}, {"c": some, "d": some}) == (1, 3, 0)
    assert _counts({}, {"a": some}) == (0, 1, 0)


def test_a_pair_runs_from_before_to_after_and_takes_its_drawing_from_after() -> None:
    before = {"x": _item(0.25, right=False, cluster="p"), "y": _item(0.0, "y")}
    after = {"y": _item(1.0, "y"), "x": _item(0.75, right=True, cluster="q")}
    found = pair(before, after, "m")
    assert found.pairs[0] == Pair(0.25, 0.75, "p", {"cluster": "p"}, True)
    assert (found.before.tolist(), found.after.tolist()) == ([0.25, 0.0], [0.75, 1.0])
    assert [one.cluster for one in found.pairs] == ["p", "y"]
    assert found.difference().helped == 2 and found.difference().mean == 0.75
    assert [one.mean for one in found.scores()] == [0.125, 0.875]


def test_a_selection_keeps_the_wanted_pairs_and_counts_none_as_missing() -> None:
    found = pair({"a": _item(0.0), "b": _item(1.0), "c": _item(0.0)}, {"a": _item(1.0), "b": _item(1.0)}, "m")
    chosen = found.where(found.before == 0)
    assert [one.after for one in chosen.pairs] == [1.0]
    assert (chosen.unpaired, chosen.unscored, found.unpaired) == (0, 0, 1)


def test_samples_missing_from_the_pairs_are_counted_below_the_table(tmp_path: Path) -> None:
    direct, drawn = rows([0, 1, 0, 1, 0]), rows([1, 1, 0, 0])
    direct[0] |= {"scored": False, "values": {}}
    told = " ".join(
        to_terminal(compare([write_run(tmp_path / "a", {"m.direct": direct, "m.visual_cot": drawn})])).split()
    )
    assert "1 samples were run on one side only and 1 failed without fault of the model" in told
    whole = to_terminal(
        compare([write_run(tmp_path / "b", {"m.direct": rows([0, 1]), "m.visual_cot": rows([1, 1])})])
    )
    assert "one side only" not in whole and "without fault of the model" not in whole
