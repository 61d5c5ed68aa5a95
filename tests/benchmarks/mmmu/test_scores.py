"""MMMU and MMMU-Pro, scored item by item and in their tables, strictly and by each published program."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.benchmarks import Graded
from sketchmark.benchmarks.mmmu import DOMAINS, MEDICAL, SUBJECTS, subject_of
from sketchmark.benchmarks.mmmu.scores import medevalkit_totals, official_totals, score, totals
from sketchmark.episode import Grading, Scores, Totals
from sketchmark.errors import UnknownName
from tests.episodes import episode
from tests.tabled import tabled

OPTIONS = ["Right Atrium", "Left Atrium", "Right Ventricle", "Left Ventricle"]
CHOICE: dict[str, Any] = {"kind": "choice", "gold": "B", "options": OPTIONS}
OPEN: dict[str, Any] = {"kind": "open", "gold": ["36", "thirty-six"], "options": []}


def _score(target: dict[str, Any], said: str, scoring: str = "strict", program: str = "mmmu") -> Scores:
    return score(Sample("x", target=target), episode(said), Grading(scoring), program=program)


@pytest.mark.parametrize(("said", "right"), [("B", 1.0), ("(B)", 1.0), ("Left Atrium", 1.0), ("A", 0.0)])
def test_strict_reads_the_option_a_reply_commits_to(said: str, right: float) -> None:
    scores = _score(CHOICE, said)
    assert (scores.values, scores.unparsed) == ({"correct": right}, False)
    assert scores.notes["answer"] == ("B" if right else "A")
    assert scores.notes["gold"] == "B" and scores.notes["read"]


def test_strict_never_guesses() -> None:
    for target in (CHOICE, OPEN):
        scores = _score(target, "")
        assert (scores.values, scores.unparsed) == ({"correct": 0.0}, True)
    assert _score(CHOICE, "A or B").unparsed
    assert _score(CHOICE, "no idea").notes == {"answer": None, "read": "unparsed", "gold": "B"}


@pytest.mark.parametrize(("said", "right"), [("36 watts", 1.0), ("thirty-six", 1.0), ("35", 0.0)])
def test_strict_reads_open_answers(said: str, right: float) -> None:
    scores = _score(OPEN, said)
    assert (scores.values, scores.unparsed) == ({"correct": right}, False)
    assert scores.notes == {"read": "reply", "gold": OPEN["gold"]}


@pytest.mark.parametrize("target", [CHOICE, OPEN])
@pytest.mark.parametrize("scoring", ["strict", "official"])
def test_a_withheld_answer_is_not_scored(target: dict[str, Any], scoring: str) -> None:
    for said, unparsed in (("B", False), ("  ", True)):
        scores = _score({**target, "gold": None}, said, scoring)
        assert (scores.values, scores.notes, scores.unparsed) == ({"correct": None}, {"reply": said}, unparsed)


@tabled
def test_the_published_programs_read_choices_each_in_its_way(
    said: str, scoring: str, program: str, value: float
) -> None:
    scores = _score(CHOICE, said, scoring, program)
    by_lot = value == 0.25
    assert scores.values == {"correct": value}
    assert (scores.notes.get("by_lot", False), scores.unparsed) == (by_lot, by_lot)
    assert scores.notes["reply"] == said
    assert scores.notes["item"] == CHOICE


def test_an_unreadable_choice_is_worth_one_in_as_many_as_there_are_options() -> None:
    assert _score({**CHOICE, "options": OPTIONS[:2]}, "?", "official").values == {"correct": 0.5}


@pytest.mark.parametrize(
    ("scoring", "program", "right"),
    [("official", "mmmu", 1.0), ("code-upstream", "mmmu", 0.0), ("code-upstream", "mmmu_pro", 1.0)],
)
def test_open_answers_are_right_but_for_medevalkit(scoring: str, program: str, right: float) -> None:
    scores = _score(OPEN, "36 watts", scoring, program)
    assert (scores.values, scores.unparsed) == ({"correct": right}, False)
    assert "by_lot" not in scores.notes
    assert _score(OPEN, "35 watts", scoring, program).values == {"correct": 0.0}
    assert _score(OPEN, "thirty-six", scoring, program).values == {"correct": right}


def test_an_unknown_scoring_is_refused() -> None:
    with pytest.raises(UnknownName, match="strict, official, paper, code-upstream, code-fork"):
        _score(CHOICE, "B", "exact")
    with pytest.raises(UnknownName):
        totals([], "exact", program="mmmu")


def _rows(said: Sequence[str], scoring: str, target: dict[str, Any] = CHOICE) -> list[dict[str, Any]]:
    rows = []
    for reply in said:
        scores = _score(target, reply, scoring)
        flags = ["unparsed"] if scores.unparsed else []
        row = {"scored": True, "values": scores.values, "notes": scores.notes, "flags": flags}
        rows.append({**row, "groups": {"subject": "Pharmacy"}})
    return rows


def test_the_table_counts_what_was_right_and_what_could_not_be_read() -> None:
    table = totals(_rows(["B", "A", "?", "B", "B"], "strict"), "strict", program="mmmu")
    assert table["Overall"] == table["Pharmacy"] == {"num": 5, "acc": 0.6}
    assert table["unparsed"] == 1


def test_only_scored_rows_with_a_score_are_in_the_table() -> None:
    rows = _rows(["B", "A", "B"], "strict")
    rows[2]["scored"] = False
    withheld = _rows(["B"], "strict", {**CHOICE, "gold": None})
    assert totals([*rows, *withheld], "strict", program="mmmu")["Overall"] == {"num": 2, "acc": 0.5}
    assert totals([*withheld, *withheld, rows[2]], "strict", program="mmmu") == {"withheld": 2}


@pytest.mark.parametrize("scoring", ["official", "code-upstream"])
def test_published_tables_draw_the_unreadable_by_lot_from_one_stream_in_order(scoring: str) -> None:
    """Every unreadable item has the letter for its gold that the published seed draws; readable and open ones draw
    nothing."""
    rng = random.Random(42)
    rows = _rows(["B", "A"], scoring)
    for _ in range(8):
        rows += _rows(["?"], scoring, {**CHOICE, "gold": rng.choice("ABCD")})
        rows += _rows(["B"], scoring) + _rows(["35"], scoring, OPEN)
    table = totals(rows, scoring, program="mmmu")
    if scoring == "official":
        assert table["Overall"] == {"num": 26, "acc": round(17 / 26, 3)}
    else:
        assert (table["total"]["right"], table["total"]["total"]) == (17, 26)
        assert table["Pharmacy"]["num_example"] == 26
    assert table["unparsed"] == 8


def test_the_printed_table_says_how_lots_enter_the_mean_and_what_the_published_table_has() -> None:
    rows = _rows(["B", "?", "A", "?"], "official")
    table = totals(rows, "official", program="mmmu")
    assert isinstance(table, Totals)
    acc = table["Overall"]["acc"]
    [remark] = table.remarks
    assert "the 2 unparsed choices at the expected value" in remark and remark.endswith(f"accuracy is {acc:.3f}")
    assert not getattr(totals(_rows(["B", "A"], "official"), "official", program="mmmu"), "remarks", [])
    assert not getattr(totals(_rows(["B", "?"], "strict"), "strict", program="mmmu"), "remarks", [])


def test_a_share_of_a_point_by_lot_is_not_right_in_the_strict_table() -> None:
    rows = _rows(["B", "?", "?"], "official")
    assert totals(rows, "strict", program="mmmu")["Overall"] == {"num": 3, "acc": 0.333}
    assert totals(_rows(["\\boxed{B}"], "code-fork"), "code-fork", program="mmmu_pro")["Overall"]["num"] == 1


def graded(subject: str, *verdicts: bool) -> list[Graded]:
    return [Graded(right, groups={"subject": subject}) for right in verdicts]


ITEMS = [*graded("Math", True, False, False), *graded("Physics", True), *graded("Pharmacy", True, True)]


def test_there_are_30_subjects_in_six_domains_and_five_are_medical() -> None:
    assert len(DOMAINS) == 6 and len(SUBJECTS) == len(set(SUBJECTS)) == 30
    assert len(MEDICAL) == 5


def test_official_totals_are_over_instances_and_skip_missing_subjects() -> None:
    assert official_totals(ITEMS) == {
        "Overall-Science": {"num": 4, "acc": 0.5},
        "Math": {"num": 3, "acc": 0.333},
        "Physics": {"num": 1, "acc": 1.0},
        "Overall-Health and Medicine": {"num": 2, "acc": 1.0},
        "Pharmacy": {"num": 2, "acc": 1.0},
        "Overall": {"num": 6, "acc": 0.667},
    }


def test_medevalkit_totals_have_a_table_a_subject() -> None:
    totals = medevalkit_totals(ITEMS)
    assert totals["Pharmacy"] == {"acc": 1.0, "right": 2, "total": 2, "num_example": 2}
    assert totals["total"] == {"total": 6, "right": 4, "acc": 4 / 6}


def test_the_subject_is_read_from_the_id() -> None:
    assert subject_of("validation_Basic_Medical_Science_10") == "Basic_Medical_Science"
    assert subject_of("test_Art_3") == "Art"
    assert subject_of("something else") == ""
