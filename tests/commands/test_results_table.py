"""The table at the end of a run: by which rules, what was cut, what could not be read; and numbers stay whole."""

from __future__ import annotations

import re

import pytest

from sketchmark.commands.tables import print_results
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


def _printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int = 80, **cells: CellResult
) -> list[str]:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "dumb")
    tasks = {name.replace("__", "."): cell for name, cell in cells.items()}
    print_results(Results(model="player/test", tasks=tasks, gains=[]))
    return [line for line in capsys.readouterr().out.splitlines() if line]


def test_the_table_names_its_scoring_and_shows_what_was_cut_and_unparsed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = _cell(["truncated", "unparsed"], ["truncated"], [], ["refused"], scoring="lenient")
    title, head, _, row, trouble = _printed(capsys, monkeypatch, quiz__direct=cell)
    assert title.split() == ["player/test:", "scores", "by", "lenient,", "with", "95", "%", "intervals"]
    assert head.split()[-3:] == ["n", "cut", "unparsed"]
    assert row.split()[-5:] == ["4", "50.0", "%", "25.0", "%"]
    assert trouble.strip() == "quiz.direct: refused 1", "what has a column is not told twice"


def test_a_group_is_counted_by_the_scores_that_it_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"a": (1.0, None, 1.0), "b": (0.0, 1.0), "c": (None,)}
    rows = [
        make_row(f"{kind}{at}", value, groups={"kind": kind})
        for kind, of in values.items()
        for at, value in enumerate(of)
    ]
    cell = summarise(rows, make_task([], breakdown=["kind"]))
    cell.headline = "right"
    lines = _printed(capsys, monkeypatch, quiz__direct=cell)
    groups = [line.split() for line in lines[lines.index(next(line for line in lines if "By group" in line)) + 3 :]]
    assert [(line[-5] if at else line[2], line[-1]) for at, line in enumerate(groups[:2])] == [("a", "2"), ("b", "2")]
    assert groups[2][-1] == "0"


def test_several_scorings_are_rows_of_their_own_with_their_own_shares(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = _cell([], [])
    cell.scorings = {"official": _cell(["unparsed"], [], scoring="official", values=(0.0, 1.0))}
    cell.cut = None
    title, head, _, own, other = _printed(capsys, monkeypatch, quiz__direct=cell)
    assert " by " not in title and head.split()[:4] == ["task.mode", "score", "scoring", "mean"]
    assert own.split()[:4] == ["quiz.direct", "right", "strict", "1.000"] and own.split()[-4:] == ["2", "-", "0", "%"]
    assert other.split()[:2] == ["official", "0.500"] and other.split()[-2:] == ["50.0", "%"]


def test_numbers_never_break_in_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = _cell(*([["truncated", "unparsed"]] * 1000))
    cell.headline = "a_score_with_quite_a_long_name_of_its_own"
    cell.metrics = {cell.headline: cell.metrics["right"]}
    cell.scorings = {name: _cell(*([["unparsed"]] * 1000), scoring=name) for name in ("code-upstream", "code-fork")}
    for other in cell.scorings.values():
        other.metrics = cell.metrics
    lines = _printed(capsys, monkeypatch, a_task_with_a_long_name_of_its_own__visual_cot=cell)
    numbers = [line for line in lines if re.search(r"1\.000  \[0\.996, 1\.000\]  1000 ", line)]
    assert len(numbers) == 3 and max(map(len, lines)) <= 80
    assert sum("100.0 %  100.0 %" in re.sub(r" +", "  ", line).replace("  %", " %") for line in numbers) == 1


def test_a_cell_without_a_score_says_why(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    cell = summarise([], None)
    cell.problem = "no score is shown"
    assert any(line == "quiz.direct: no score is shown" for line in _printed(capsys, monkeypatch, quiz__direct=cell))
