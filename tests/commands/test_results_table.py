"""The table at the end of a run: scoring, truncated and unparsed replies; numbers are never broken."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from sketchmark.commands.tables import print_details, print_summary
from sketchmark.folder.results_format import CellResult, Results
from sketchmark.results.summary import summarise
from tests.runs.making import make_row, make_task


def _cell(*flags: list[str], scoring: str = "strict", values: tuple[float, ...] = ()) -> CellResult:
    rows = [
        make_row(f"s{number}", (values or (1.0,) * len(flags))[number], number, flags=of)
        for number, of in enumerate(flags)
    ]
    cell = summarise(rows, None)
    cell.headline, cell.scoring = "right", scoring
    return cell


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return the lines of the table on a terminal of 80 columns."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")

    def lines(cell: CellResult, name: str = "quiz.direct") -> list[str]:
        results = Results(model="player/test", tasks={name: cell}, gains=[])
        print_details(results)
        print_summary(results, None, {})
        return [line for line in capsys.readouterr().out.splitlines() if line]

    return lines


def test_the_table_names_its_scoring_and_shows_truncated_and_unparsed(printed: Callable[..., list[str]]) -> None:
    cell = _cell(["truncated", "unparsed"], ["truncated"], [], ["refused"], scoring="lenient")
    title, head, _, row, *_, refused, truncated, unparsed = printed(cell)
    assert title == "player/test: scores in percent by lenient, with 95% intervals"
    assert head.split()[-3:] == ["n", "cut", "unparsed"]
    assert row.split()[-3:] == ["4", "50.0%", "25.0%"]
    assert truncated == "truncated 2 of 4 episodes (reply truncated at the token limit): quiz.direct 2"
    assert unparsed == "unparsed 1 of 4 episodes (answer not parsed, scored as wrong): quiz.direct 1"
    assert refused == "refused 1 of 4 episodes (refused by the model, scored as wrong): quiz.direct 1"


def test_a_group_is_counted_by_the_scores_that_it_has(printed: Callable[..., list[str]]) -> None:
    values = {"a": (1.0, None, 1.0), "b": (0.0, 1.0), "c": (None,)}
    rows = [
        make_row(f"{kind}{at}", value, groups={"kind": kind})
        for kind, of in values.items()
        for at, value in enumerate(of)
    ]
    cell = summarise(rows, make_task([], breakdown=["kind"]))
    cell.headline = "right"
    lines = printed(cell)
    groups = [line.split() for line in lines[lines.index("By group, in percent") + 3 :]]
    assert [(line[-5] if at else line[2], line[-1]) for at, line in enumerate(groups[:2])] == [("a", "2"), ("b", "2")]
    assert groups[2][-1] == "0"


def test_several_scorings_have_separate_rows_and_proportions(printed: Callable[..., list[str]]) -> None:
    cell = _cell([], [])
    cell.scorings = {"official": _cell(["unparsed"], [], scoring="official", values=(0.0, 1.0))}
    cell.cut = None
    title, head, _, own, other, *rest = printed(cell)
    assert " by " not in title and head.split()[:4] == ["task.mode", "score", "scoring", "mean"]
    assert own.split()[:4] == ["quiz.direct", "right", "strict", "100.0"] and own.split()[-3:] == ["2", "-", "0%"]
    assert other.split()[:2] == ["official", "50.0"] and other.split()[-1] == "50.0%"
    at = rest.index("The same replies by other scorings")
    assert rest[at + 1].split() == ["task.mode", "strict", "official"]
    assert rest[at + 3].split() == ["quiz.direct", "100.0", "50.0"]


def test_numbers_never_break_in_eighty_columns(printed: Callable[..., list[str]]) -> None:
    cell = _cell(*([["truncated", "unparsed"]] * 1000))
    cell.headline = "a_score_with_quite_a_long_name_of_its_own"
    cell.metrics = {cell.headline: cell.metrics["right"]}
    cell.scorings = {name: _cell(*([["unparsed"]] * 1000), scoring=name) for name in ("code-upstream", "code-fork")}
    for other in cell.scorings.values():
        other.metrics = cell.metrics
    lines = printed(cell, "a_task_with_a_long_name_of_its_own.visual_cot")
    numbers = [line for line in lines if re.search(r"100\.0  \[99\.6, 100\.0\]  1000 ", line)]
    assert len(numbers) == 3 and max(map(len, lines)) <= 80
    assert sum("100.0%  100.0%" in re.sub(r" +", "  ", line) for line in numbers) == 1


def test_a_cell_without_a_score_says_why(printed: Callable[..., list[str]]) -> None:
    cell = summarise([], None)
    cell.problem = "no score is shown"
    assert any(line == "quiz.direct: no score is shown" for line in printed(cell))
