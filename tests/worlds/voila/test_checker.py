"""`voila check` accepts what is right and names each kind of fault at its row."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sketchmark.worlds import voila
from sketchmark.worlds.voila.make import BankShelf
from sketchmark.worlds.voila.sets import check_file, check_rows
from sketchmark.worlds.voila.table import Columns, QuestionRow, make_row

PUBLISHED = Path(__file__).parent / "data" / "published_nd_rows.csv"


def _rows(columns: Columns = "released", count: int = 38) -> list[list[str]]:
    shelf = BankShelf("testing", seed=0)
    rows = []
    for number, question in enumerate(voila.sample_questions(count, 0, distraction=True), 1):
        first, second, third = (shelf.files(scene)[0] for scene in question.scenes)
        rows.append(list(make_row(question, (first, second, third), None, f"image_questions_{number}.png", columns)))
    return rows


def test_the_published_rows_have_no_violations() -> None:
    assert list(check_file(PUBLISHED)) == []


@pytest.mark.parametrize("columns", ["released", "generator"])
def test_our_own_rows_have_no_violations_in_either_spelling(columns: Columns) -> None:
    assert list(check_rows(_rows(columns, 19 * 50), columns)) == []


def _set(column: str, change: Callable[[str], str]) -> Callable[[list[list[str]]], None]:
    def fault(rows: list[list[str]]) -> None:
        at = QuestionRow._fields.index(column)
        rows[20][at] = change(rows[20][at])

    return fault


def _swap_pictures_1_and_2(rows: list[list[str]]) -> None:
    row = rows[20]
    row[0], row[1] = row[1], row[0]
    row[4], row[5] = row[5], row[4]


def _repeat_row(rows: list[list[str]]) -> None:
    rows[20] = [*rows[21][:9], rows[20][9], *rows[21][10:]]
    rows[20], rows[21] = rows[21], rows[20]
    rows[20][9], rows[21][9] = rows[21][9], rows[20][9]


FAULTS: dict[str, tuple[str, Callable[[list[list[str]]], None]]] = {
    "unknown subject": ("description", _set("text1", lambda text: "two ghosts walking")),
    "wrong plural": ("description", _set("text3", lambda text: "one cats walking")),
    "any in a shown picture": ("description", _set("text2", lambda text: "any cats walking")),
    "another rule's number": ("rule", _set("rule", lambda text: "1")),
    "a rule that does not exist": ("rule", _set("rule", lambda text: "20")),
    "a wrong answer": ("rule", _set("text4", lambda text: "four bears typing")),
    "pictures that follow no rule": ("rule", _set("text1", lambda text: "four bears typing")),
    "an answer column that disagrees": ("img4", _set("image4", lambda text: text + " now")),
    "a file of another scene": ("file", _set("image1", lambda text: "four_bears_typing_0.png")),
    "a file without digits": ("file", _set("image2", lambda text: text.replace("0.png", "x.png"))),
    "a file of another type": ("file", _set("image3", lambda text: text.replace(".png", ".gif"))),
    "a combined text with another end": ("combined", _set("combined", lambda text: text + ".")),
    "relations without the last space": ("relations", _set("relations", str.rstrip)),
    "a collage name of another form": ("collage", _set("collage", lambda text: "collage_1.png")),
    "a collage used twice": ("collage", _set("collage", lambda text: "image_questions_1.png")),
    "a collage left out": ("collage", _set("collage", lambda text: "")),
    "a stray space": ("space", _set("text4", lambda text: text + " ")),
    "a question asked twice": ("duplicate", _repeat_row),
    "a field too many": ("header", lambda rows: rows[20].append("more")),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_reported_at_its_row_under_its_own_name(name: str) -> None:
    check, plant = FAULTS[name]
    rows = _rows()
    plant(rows)
    found = list(check_rows(rows, "released"))
    assert check in {violation.check for violation in found}
    assert {violation.row for violation in found} <= {21, 22}


def test_every_kind_of_check_has_a_planted_fault() -> None:
    from sketchmark.worlds.voila.sets import CHECKS

    assert {check for check, _ in FAULTS.values()} == set(CHECKS)


def test_swapped_pictures_are_caught_by_rule_or_relations() -> None:
    rows = _rows()
    _swap_pictures_1_and_2(rows)
    assert {violation.check for violation in check_rows(rows, "released")} & {"rule", "relations", "combined"}


def test_an_unknown_header_is_reported_and_the_rows_are_still_checked(tmp_path: Path) -> None:
    lines = PUBLISHED.read_bytes().split(b"\r\n")
    lines[0] = lines[0].replace(b"desc_im4", b"answer")
    lines[3] = lines[3].replace(b"Image 1: ", b"Image 1 ")
    (tmp_path / "odd.csv").write_bytes(b"\r\n".join(lines))
    assert [(v.row, v.check) for v in check_file(tmp_path / "odd.csv")] == [(0, "header"), (3, "combined")]


def test_a_file_without_rows_does_not_pass(tmp_path: Path) -> None:
    header = PUBLISHED.read_bytes().partition(b"\n")[0]
    (tmp_path / "bare.csv").write_bytes(header + b"\n")
    assert [str(found) for found in check_file(tmp_path / "bare.csv")] == ["header: no rows below it"]
