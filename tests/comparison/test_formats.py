"""`sketchmark compare` and its formats, with untrusted names."""

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from sketchmark.commands.compare import compare_command
from sketchmark.comparison import compare, findings, formats
from sketchmark.comparison.findings import COLUMNS, Column
from sketchmark.comparison.formats import BOARD_FORMATS, FORMATS, to_csv, to_latex, to_markdown
from sketchmark.comparison.leaderboard import leaderboard
from sketchmark.comparison.tables import to_terminal
from tests.command_line import sketchmark
from tests.comparison.folders import printed, row, rows, write_run

NASTY = ["=1+1|x", "[bold]a[/bold]", "<img onerror=x>", "[l](javascript:x)", "a_b & 50 % \\ $x$", "line\nbreak"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    filed = [{"kind": NASTY[place % len(NASTY)]} for place in range(36)]
    cells = {
        f"maze.{mode}": [row(place, float(place % modulus == 0), groups=filed[place]) for place in range(36)]
        for mode, modulus in (("direct", 3), ("visual_cot", 2), ("visual_cot.blank", 5))
    }
    return write_run(tmp_path / "run", cells)


def test_the_command_prints_differences_and_controls(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = printed(capsys, run, "--power", "0.1")
    assert code == 0 and "by kind" not in text
    assert text.startswith("Drawn against direct") and text.index("drawing helps") < text.index("Controls")
    assert "n needed" in text
    code, text = printed(capsys, run, "--details")
    for words in ("visual_cot − direct", "by kind", "p (Holm)", "what the model sees of its drawing"):
        assert words in text


def test_runs_that_differ_are_refused_in_one_line(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_run(tmp_path / "other", {"maze.direct": rows([1] * 36)}, play={"prompts": {"ask": "How?"}})
    code, text = printed(capsys, run, other)
    assert code == 2 and text.count("\n") == 1
    assert text.startswith("sketchmark: maze: other − run, direct cannot be paired; what differs: prompts.ask")
    assert printed(capsys, run, other, "--anyway")[0] == 0


def test_a_column_is_one_record(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = Column("difference.method", "how", place=135)
    monkeypatch.setattr(findings, "COLUMNS", (*COLUMNS, added))
    monkeypatch.setattr(formats, "COLUMNS", (*COLUMNS, added))
    found = compare([run])
    for form in (to_terminal, to_markdown, to_latex):
        assert "how" in form(found) and "tango, mcnemar-exact" in form(found)
    assert to_csv(found).splitlines()[0].endswith("verdict,difference_method")


def test_every_format_of_the_command_can_be_made(run: Path) -> None:
    (option,) = (one for one in compare_command.params if one.name == "form")
    assert list(option.type.choices) == list(FORMATS)  # type: ignore[attr-defined]
    found = compare([run])
    for make in FORMATS.values():
        assert "maze" in make(found)


def test_csv_has_every_difference_with_all_digits_and_no_formula(run: Path) -> None:
    found = compare([run])
    lines = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [line["table"] for line in lines] == ["difference"] + ["category"] * 6 + ["canvas"]
    assert float(lines[0]["difference_mean"]) == found.rows[0].difference.mean
    assert lines[-1]["compared"] == "own − blank"
    assert not any(str(value).startswith("=") for line in lines for value in line.values())


def test_markdown_keeps_its_columns_and_opens_no_tag_or_link(run: Path) -> None:
    text = to_markdown(compare([run]), details=True)
    table = [line for line in text.split("by kind")[1].split("###")[0].splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in table} == {table[0].count("|")}
    assert "<img" not in text.replace("\\<", "")
    assert "[l](" not in text.replace("\\[", "")


def test_latex_escapes_what_would_not_compile(run: Path) -> None:
    text = to_latex(compare([run]), details=True)
    assert r"a\_b \& 50 \% \textbackslash{} \$x\$" in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == text.count(r"\begin{tabular}")
    assert text.count(r"\begin{table") == text.count(r"\label{tab:sketchmark-") == 4


def test_a_latex_row_protects_a_bracket_at_its_start(run: Path) -> None:
    text = to_latex(compare([run]), details=True)
    assert "{}[bold]a[/bold] & " in text and not any(line.startswith("[") for line in text.splitlines())


def test_control_characters_are_escaped_in_tables(tmp_path: Path) -> None:
    cells = {
        f"maze.{mode}": [
            row(place, place % modulus, groups={"kind": f"\x1b[2J\u202e{place % 2}"}) for place in range(12)
        ]
        for mode, modulus in (("direct", 2), ("visual_cot", 3))
    }
    found = compare([write_run(tmp_path / "run", cells)])
    for make in (to_markdown, to_latex, to_terminal):
        text = make(found, details=True)
        assert "\x1b" not in text and "\u202e" not in text and "u001b" in text


def test_markup_in_names_is_printed_as_text(run: Path) -> None:
    assert "[bold]a[/bold]" in compare([run]).details()


_PAPER = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pdflatex"), reason="needs pdflatex (apt-get install texlive-latex-recommended)")
@pytest.mark.parametrize("details", [False, True])
def test_latex_compiles_in_a_two_column_paper_without_an_overfull_box(
    run: Path, tmp_path: Path, details: bool
) -> None:
    name = "a_maze_of_a_lab_that_likes_its_names_long_and_whole_and_then_some_more"
    cells = {f"{name}.{mode}": rows([0, 1] * 18) for mode in ("direct", "visual_cot", "visual_cot.blank")}
    other = write_run(tmp_path / "the-other-run-with-a-long-name-too", cells, model="lab/模型-with-a-long-name")
    again = write_run(tmp_path / "again", cells, model="lab/two")
    boards = [leaderboard(tmp_path)]
    texts = [to_latex(compare([one]), details) for one in (run, other)] + [to_latex(compare([other, again]), details)]
    texts += [BOARD_FORMATS["latex"](board, details) for board in boards]
    (tmp_path / "paper.tex").write_text(_PAPER % "\n".join(texts), "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True
    )
    log = (tmp_path / "paper.log").read_text("latin-1")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log, [line for line in log.splitlines() if "Overfull" in line]


def test_latex_is_one_narrow_table_with_a_label_small_intervals_and_the_best_in_bold(run: Path) -> None:
    text = to_latex(compare([run]))
    assert text.count(r"\begin{table") == 1 and r"\label{tab:sketchmark-1}" in text
    assert r"maze & 33.3 & \textbf{50.0} & +16.7 & {\scriptsize [" in text


def test_csv_and_markdown_are_narrow_without_details(run: Path) -> None:
    found = compare([run])
    lines = list(csv.DictReader(io.StringIO(to_csv(found, details=False))))
    assert len(lines) == 2 and len(lines[0]) == 10 and "key" not in lines[0]
    assert max(line.count("|") for line in to_markdown(found).splitlines()) <= 9


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_terminal_table_fits_the_terminal(run: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = to_terminal(compare([run]), details=True)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


@pytest.mark.slow
def test_a_sketcher_gains_from_its_drawings(tmp_path: Path) -> None:
    """From the run to the comparison."""
    options = (
        "--model player/sketcher --tasks maze --mode direct,visual_cot --canvas own,blank --limit 16 --engine local"
    )
    played = sketchmark("run", *options.split(), "--output_path", tmp_path / "run")
    assert played.returncode == 0, played.stderr
    found = compare([tmp_path / "run"])
    assert found.rows[0].p_holm is not None
    assert found.rows[0].p_holm < 0.05
    assert (found.rows[0].difference.mean or 0) > 0.3
    assert "The answer depends on the drawing" in found.canvases[0].sentence
    assert found.rows[0].drawing is not None
    (steps,) = (one for one in found.rows[0].breakdowns if one.key == "steps")
    assert steps.trend is not None
    assert steps.trend.slope > 0, "the longer the path, the more a drawing helps"
