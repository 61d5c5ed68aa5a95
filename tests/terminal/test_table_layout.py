"""A table is laid out for the width it gets: whatever that is, every number is there whole."""

from __future__ import annotations

import io

import pytest

from sketchmark.terminal.console import written_to
from sketchmark.terminal.tables import Table, wrapped

TASKS = ("maze", "a_task_with_quite_a_long_name_of_its_own")
NUMBERS = ("0.125", "0.875", "+0.750", "[+0.321, +0.979]", "1,234", "56", "2.3e-08", "<0.001")
COLUMNS = ("task", "compared", "before", "after", "difference", "95 %", "helped", "hurt", "p", "p (Holm)")


def a_table() -> Table:
    table = Table("Differences", COLUMNS, texts=2, below=("The answer loses 62.5 points [+10.1, +86.3] without it.",))
    for task in TASKS:
        for compared in ("visual_cot − direct", "text_cot − direct"):
            table.add(task, compared, *NUMBERS)
    return table


def printed(table: Table, width: int) -> list[str]:
    text = io.StringIO()
    written_to(text, width).print(table)
    return text.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_every_number_is_there_whole_and_no_line_is_too_wide(width: int) -> None:
    lines = printed(a_table(), width)
    assert max(map(len, lines)) <= width
    for number in NUMBERS:
        assert sum(line.count(number) for line in lines) == 4, number
    assert "…" not in "".join(lines)


def test_with_room_it_is_one_table_and_a_name_stands_once() -> None:
    lines = printed(a_table(), 200)
    assert [line.split()[0] for line in lines[3:5]] == ["maze", "text_cot"]
    assert sum("difference" in line for line in lines) == 1
    assert lines[5] == "", "another task begins after a gap"


def test_names_become_headings_before_numbers_go_to_another_table() -> None:
    lines = printed(a_table(), 100)
    assert lines[1] == "task"
    assert lines[4] == "maze"
    assert lines[5].split() == ["visual_cot", "−", "direct", *" ".join(NUMBERS).split()]
    assert sum(line == "maze" for line in lines) == 1


def test_an_interval_is_never_torn_from_its_number() -> None:
    for width in range(30, 140):
        lines = printed(a_table(), width)
        assert sum("+0.750  [+0.321, +0.979]" in line for line in lines) == 4, width
        assert "[+10.1, +86.3]" in "".join(f"{line}\n" for line in lines), width


def test_a_second_table_names_its_rows_again() -> None:
    lines = printed(a_table(), 70)
    assert lines.count("maze") == lines.count("task") == 2
    assert sum("visual_cot − direct" in line for line in lines) == 4


def test_columns_stand_under_each_other_whatever_script_a_name_is_in() -> None:
    from rich.cells import cell_len

    table = Table("", ("task", "n"), texts=1)
    table.add("迷路", "10")
    table.add("maze", "10")
    assert {cell_len(line) for line in printed(table, 80)[2:4]} == {cell_len("maze  10")}


def test_a_remark_that_is_too_long_for_any_column_is_folded_and_not_cut() -> None:
    table = Table("", ("task", "n", "trouble"), texts=1)
    kinds = [f"kind_{number} {number}" for number in range(20)]
    table.add("maze", "10", ", ".join(kinds))
    lines = printed(table, 80)
    assert max(map(len, lines)) <= 80
    assert all(kind in " ".join(" ".join(lines).split()) for kind in kinds)


def test_what_a_stranger_wrote_in_a_cell_cannot_steer_the_terminal() -> None:
    table = Table("a\x1b[2Jtitle", ("task", "n"), texts=1, below=("\x1b]0;x\x07",))
    table.add("\x1b[31mred\nnext", "1")
    for width in (4, 80):
        assert "\x1b" not in "".join(printed(table, width))


def test_a_number_stays_with_its_unit_and_an_interval_on_one_line() -> None:
    for width in range(20, 60):
        for line in wrapped("It loses 62.5 points [+10.1, +86.3], and 12 % of all.", width):
            assert line.count("[") == line.count("]")
            assert not line.endswith(("62.5", "12"))
