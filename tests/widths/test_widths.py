"""Every table at 80, 100 and 120 columns and in a pipe: nothing cut, nothing wrapped, every number whole.

The folders `80`, `100` and `120` show them as they are printed. After a change that is meant,
`SKETCHMARK_WRITE_GOLDEN=1 pytest tests/widths` writes them again; read the difference.
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from sketchmark.cli import root as cli
from sketchmark.commands.tables import print_all, print_totals
from sketchmark.comparison import compare
from sketchmark.comparison.findings import bounds, mean_of
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import Gain, Metric, Results
from sketchmark.results.scorings import with_replies
from sketchmark.stats.differences import Difference
from tests.benchmarks.unig2u.test_totals import Played
from tests.widths.played import LONG, play

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
WIDTHS = (80, 100, 120)
CASES = {
    "run": "sketcher",
    "run_details": "sketcher",
    "run_with_failures": "clumsy",
    "dry_run": f"run --model player/sketcher --tasks maze,{LONG} --mode direct,visual_cot --canvas own,blank "
    "--limit 8 --dry-run --include RUNS/mine --output_path RUNS/no",
    "dry_run_with_judge_and_prices": "run --model player/solver --judge player/random --mode direct,visual_cot "
    "--tasks uni_mmmu_science,maze --limit 8 --data RUNS/science --prices RUNS/prices.yaml --dry-run "
    "--output_path RUNS/no",
    "demo": "demo --limit 2 --output_path RUNS/demo",
    "compare_within_a_run": "compare RUNS/sketcher --power 0.05",
    "compare_runs": "compare RUNS/random RUNS/sketcher",
    "compare_details": "compare RUNS/random RUNS/sketcher --details",
    "compare_with_failures": "compare RUNS/clumsy",
    "compare_published": "compare RUNS/published --published",
    "voila_score": "voila score --json_file_name RUNS/voila/results.json --csv_file_name RUNS/voila/questions.csv "
    "--distraction no --by rule",
    "voila_count": "voila count",
    "list_tasks": "list tasks",
    "list_models": "list models",
    "list_worlds": "list worlds",
}


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("widths")
    play(root)
    said("demo", root, 80)
    return root


def said(name: str, runs: Path, width: int | None) -> str:
    """What the command prints, or the end of the run of that name, without the lines that name a folder: they are as
    long as its path."""
    words = CASES[name].replace("RUNS", str(runs)).split()
    command = cli if len(words) > 1 else _the_end_of_a_run
    done = CliRunner(env={"COLUMNS": str(width) if width else None}).invoke(
        command, words if command is cli else [str(runs / words[0]), name], standalone_mode=False
    )
    assert done.exception is None, done.output
    return "".join(line for line in done.stdout.splitlines(keepends=True) if str(runs) not in line)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("name")
def _the_end_of_a_run(run: Path, name: str) -> None:
    folder = RunFolder.open(run)
    results = with_replies(folder, folder.results())
    print_all(results, "the viewer shows them", folder, details="details" in name)


@pytest.mark.parametrize("name", CASES)
def test_every_table_fits_and_has_every_number(name: str, runs: Path) -> None:
    everything = numbers(said(name, runs, 400))
    for width in WIDTHS:
        text = said(name, runs, width)
        assert max(map(cell_len, text.splitlines())) <= width
        assert "…" not in text.replace("=…", "")
        assert not everything - numbers(text), "the same numbers as where there is room for all"
        file = HERE / str(width) / f"{name}.txt"
        if os.environ.get("SKETCHMARK_WRITE_GOLDEN"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        assert text == file.read_text("utf-8")
    piped = said(name, runs, None)
    assert piped == text or name == "list_tasks", "120 columns wide, but a list has one line per task"


def numbers(text: str) -> Counter[str]:
    """An interval counts as one, and one that is torn over two lines as something else."""
    whole = re.sub(r"\[[^\]\n]*\]", lambda found: found[0].replace(" ", ""), text)
    return Counter(word.rstrip(".,;:)") for word in whole.split() if any(sign.isdigit() for sign in word))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_numbers_of_the_folder_are_those_in_the_table(runs: Path, width: int) -> None:
    results = RunFolder.open(runs / "sketcher").results()
    text = said("run_details", runs, width)
    for label, cell in results.tasks.items():
        assert label in text
        for metric in cell.metrics.values():
            assert beside(metric) in together(text)
    for gain in results.gains:
        assert beside(gain) in together(text)
    compared = said("compare_details", runs, width)
    found = compare([runs / "random", runs / "sketcher"])
    assert "< 0.001" in compared
    for row in found.rows:
        assert row.label in compared and row.task in compared
        assert beside(row.difference) in together(compared)


def beside(found: Metric | Gain | Difference) -> str:
    return f"{mean_of(found)} {bounds(found)}"


def together(text: str) -> str:
    return " ".join(text.split())


def test_rows_of_several_canvases_have_their_names(runs: Path) -> None:
    lines = said("run_details", runs, 80).splitlines()
    for canvas in ("", ".blank", ".oracle"):
        assert lines.count(f"{LONG}.visual_cot{canvas}") == 2, "its scores, and whether they follow the drawing"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_totals_of_a_benchmark_fit(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    totals = Played().totals()
    print_totals(Results(tasks={}, gains=[], totals=totals))
    text = capsys.readouterr().out
    assert max(map(cell_len, text.splitlines())) <= width and "…" not in text
    for total in totals:
        assert total.overall is not None and mean_of(total.overall) in text
        for gain in total.gains.values():
            assert beside(gain) in together(text)


def test_a_terminal_sets_the_width(runs: Path) -> None:
    """Without COLUMNS, as in a shell that keeps it to itself."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"NO_COLOR": "1"}
    started = [sys.executable, "-m", "sketchmark", "compare", str(runs / "published")]
    with subprocess.Popen(started, stdout=theirs, env=environment) as process:
        os.close(theirs)
        printed = b""
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            printed += read
            if not read:
                break
        os.close(ours)
    assert process.returncode == 0
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["compare", str(runs / "published")], standalone_mode=False)
    assert printed.decode().replace("\r\n", "\n") == shown.stdout


def test_every_golden_file_is_checked() -> None:
    for width in WIDTHS:
        assert {file.stem for file in (HERE / str(width)).glob("*")} == set(CASES)
