"""Pairs of samples, and the names under which the others are missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sketchmark.comparison import compare
from sketchmark.comparison.tables import to_terminal
from sketchmark.folder.format import Score
from sketchmark.results.gains import Pair, pair
from tests.comparison.folders import rows, write_run


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
