"""Findings of an audit from score lines: differences, verdicts, corrections, missing conditions."""

from __future__ import annotations

from pathlib import Path

import pytest

import sketchmark
from sketchmark.audit import Look, as_json, audit, difference, gain_sequence
from sketchmark.audit.contrasts import WIDTH, Contrast, all_contrasts, lines
from sketchmark.episode.desk import CANVASES
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.markup import text
from sketchmark.report import write_report
from sketchmark.results.gains import Pair, Pairs
from tests.audit.making import SMALL, finding, only_task, played

DRAWN = next(one for one in all_contrasts() if one.name == "lost by drawing")


def measured(
    helped: int, hurt: int, same: int, p: float | None = None, tests: int = 1
) -> tuple[str, int | None, str]:
    values = [(0.0, 1.0)] * helped + [(1.0, 0.0)] * hurt + [(1.0, 1.0)] * same
    pairs = Pairs.of([Pair(before, after, number, {}, None) for number, (before, after) in enumerate(values)])
    found = pairs.difference()
    made = difference(DRAWN, pairs, found, found.p if p is None else p, Look(0.1, tests))
    return made.verdict, made.more_needed, made.sentence


def test_a_clear_difference_has_its_size_interval_and_sign() -> None:
    verdict, more, sentence = measured(20, 0, 20)
    assert (verdict, more) == ("more", None)
    assert sentence.startswith("Wrong drawings cost 50.0 points [35.")
    verdict, _, sentence = measured(0, 20, 20)
    assert verdict == "less"
    assert "score 50.0 points [35.2, 64.8] less than its own drawings" in sentence


def test_no_difference_needs_the_whole_interval_near_zero() -> None:
    assert measured(0, 0, 60)[0] == "none"
    assert measured(1, 1, 10)[0] == "open"


def test_an_unsettled_difference_names_the_samples_that_would_settle_it() -> None:
    verdict, more, sentence = measured(3, 0, 27)
    assert verdict == "open" and more is not None and more > 20
    assert "is not settled" in sentence and sentence.endswith("more samples would settle it.")


def test_a_correction_over_more_tests_needs_more_samples_or_leaves_a_difference_unsettled() -> None:
    few, many = measured(3, 0, 27)[1], measured(3, 0, 27, tests=20)[1]
    assert few is not None and many is not None and many > few
    assert measured(7, 0, 30)[0] == "more"
    assert measured(7, 0, 30, p=0.2)[0] == "open"


def test_the_sequence_is_wider_if_tasks_share_the_error_rate() -> None:
    pairs = Pairs.of([Pair(0.0, float(number % 3 > 0), number, {}, None) for number in range(30)])
    one, three = gain_sequence(pairs, 1), gain_sequence(pairs, 3)
    assert one and three and three.low < one.low < one.high < three.high


def test_the_first_sample_of_a_source_counts() -> None:
    pairs = Pairs.of([Pair(0.0, value, source, {}, None) for source, value in [("a", 1.0), ("a", 0.0), ("b", 0.0)]])
    found = gain_sequence(pairs, 1)
    assert found and (found.n, found.mean) == (2, 0.5)
    assert gain_sequence(Pairs.of([Pair(0.0, 3.0, "a", {}, None)]), 1) is None, "a score beyond one"


def test_every_canvas_has_a_contrast_also_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(CANVASES) <= {place for one in all_contrasts() for place in (one.before, one.after)}
    monkeypatch.setattr("sketchmark.audit.contrasts.CANVASES", (*CANVASES, "mirror"))
    added = list(all_contrasts())[-1]
    assert isinstance(added, Contrast)
    assert (added.before, added.after) == ("mirror", "own")
    assert "the canvas mirror" in added.more.format(size="", span="")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("audited"), 10, draw_error=0.5, read_error=0.2)


def test_the_audit_has_every_condition_and_contrast(run: Path) -> None:
    task = only_task(run)
    places = [one.place for one in task.scores]
    assert {"direct", "text_cot", "own", "blank", "other", "oracle", "corrupt", "caption"} == set(places)
    possible = {one.name for one in all_contrasts() if {one.before, one.after} <= set(places)}
    assert {one.name for one in task.findings if one.kind == "difference"} == possible
    assert {"lost by reading", "drawn wrongly", "follows corrupt"} < {one.name for one in task.findings}
    assert {one.n for one in task.findings} == {10}
    assert task.anytime and task.anytime.mean == finding(task, "gain").mean


def test_p_values_are_corrected_over_all_differences(run: Path) -> None:
    found = [one for one in only_task(run).findings if one.kind == "difference"]
    smallest = min(found, key=lambda one: one.p or 1)
    assert smallest.p is not None and smallest.p_holm == pytest.approx(min(1, smallest.p * len(found)))


def test_the_same_difference_in_results_and_audit_names_the_family_of_its_correction(run: Path) -> None:
    gain = next(one for one in RunFolder(run).results().gains if (one.mode, one.canvas) == ("visual_cot", "own"))
    found = finding(only_task(run), "gain")
    assert (found.mean, found.p) == (gain.gain, gain.p)
    tests = sum(one.kind == "difference" for one in only_task(run).findings)
    assert found.family == f"differences of this audit: {tests}"
    assert gain.family == "differences of modes in this run: 3"
    blank = next(one for one in RunFolder(run).results().gains if one.canvas == "blank")
    assert blank.family.startswith("gains on other canvases and of other modes in this run: ")
    assert as_json(audit(run))["tasks"][0]["findings"][0]["family"] == found.family


def test_every_line_fits_eighty_columns_and_the_chart_aligns_with_its_scale(run: Path) -> None:
    text = list(lines(audit(run)))
    assert max(map(len, text)) <= WIDTH
    scale = next(line for line in text if line.endswith("+100"))
    follows = next(line for line in text if line.startswith("  follows corrupt"))
    assert scale.index(" 0 ") + 1 == follows.index("│")
    for one in only_task(run).findings:
        assert one.sentence.split()[0] in " ".join(text)


def test_the_report_has_the_sentences(run: Path) -> None:
    page = write_report(RunFolder(run)).read_text("utf-8")
    assert "Where does the gain come from?" in page
    for one in only_task(run).findings:
        assert text(one.sentence) in page


def test_a_run_without_drawings_is_not_audited(tmp_path: Path) -> None:
    folder = sketchmark.run("player/solver", "maze", limit=2, output_path=tmp_path, task_args=SMALL)
    with pytest.raises(BadInput, match=r"nothing to audit.*maze was not run in visual_cot"):
        audit(folder.path)


def test_cells_with_other_data_are_not_compared(tmp_path: Path) -> None:
    for mode, rows in (("direct", 4), ("visual_cot", 5)):
        sketchmark.run(
            "player/solver", "maze", mode=mode, limit=2, output_path=tmp_path, task_args={"rows": rows, "cols": 4}
        )
    with pytest.raises(RunConflict, match=r"cannot be compared; what differs: data: 2 of the shared samples"):
        audit(tmp_path)


def test_a_margin_above_one_is_refused(run: Path) -> None:
    with pytest.raises(BadInput, match="a margin of 3"):
        audit(run, 3)


# An audit of faults of known size: its intervals hold the size that a player was given.


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "reads", "ignores"), [(0.3, 0.2, 0.0), (0.5, 0.0, 0.0), (0.2, 0.1, 0.5)])
def test_an_audit_finds_faults_in_their_size(tmp_path: Path, draws: float, reads: float, ignores: float) -> None:
    task = only_task(played(tmp_path, 60, draw_error=draws, read_error=reads, ignores=ignores, knows=0))
    looks = 1 - ignores
    truth = {
        "drawn wrongly": draws,
        "lost by drawing": looks * draws * (1 - reads),
        "lost by reading": 1 - looks * (1 - reads),
        "follows corrupt": looks * (1 - reads),
        "content": looks * (1 - draws) * (1 - reads),
    }
    for name, value in truth.items():
        found = finding(task, name)
        assert found.low is not None and found.high is not None
        assert found.low - 1e-9 <= value <= found.high + 1e-9, f"{name} is {value:.2f}, found {found}"


def test_a_player_that_ignores_drawings_gains_nothing_and_follows_none(tmp_path: Path) -> None:
    task = only_task(played(tmp_path, 40, draw_error=0.5, ignores=1, knows=0.5))
    for name in ("gain", "lost by drawing", "content", "picture over words", "led astray"):
        found = finding(task, name)
        assert (found.mean, found.verdict) == (0, "none"), found.sentence
    assert finding(task, "follows corrupt").mean == 0
    assert "adds a negligible amount over a blank canvas" in finding(task, "content").sentence


def test_a_faultless_player_loses_nothing_and_follows_every_drawing(tmp_path: Path) -> None:
    task = only_task(played(tmp_path, 40, knows=0))
    lost = {name: finding(task, name).mean for name in ("lost by drawing", "lost by reading", "drawn wrongly")}
    assert set(lost.values()) == {0}
    assert finding(task, "follows corrupt").mean == 1
    assert finding(task, "gain").verdict == finding(task, "content").verdict == "more"
