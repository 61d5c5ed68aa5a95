from __future__ import annotations

from sketchmark.benchmarks import Graded
from sketchmark.benchmarks.mmmu import DOMAINS, MEDICAL, SUBJECTS, subject_of
from sketchmark.benchmarks.mmmu.scores import medevalkit_totals, official_totals


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
