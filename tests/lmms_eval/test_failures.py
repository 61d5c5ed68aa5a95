"""What goes wrong in a task's own code, or with every call, is told in words and loses nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sketchmark import Context, Options, Reply
from sketchmark.errors import BadInput, CallFailed
from sketchmark.folder.results_format import CellResult
from tests.command_line import sketchmark
from tests.lmms_eval.test_own_tasks import Eye, run


def append(folder: Path, code: str) -> None:
    """Add code to the folder's `utils.py`."""
    with (folder / "utils.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\n{code}\n")


def shades(folder: Path, out: Path, model: Eye | None = None) -> CellResult:
    return run(folder, "shades", model or Eye(), out).results().tasks["shades.direct"]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("def doc_to_text(doc):\n    return doc['no such column']\n", "doc_to_text of document 0 of .* KeyError"),
        ("def doc_to_visual(doc):\n    raise ValueError('no picture')\n", "doc_to_visual .* ValueError: no picture"),
    ],
)
def test_an_error_in_a_users_function_is_one_line_that_names_it(
    folder: Path, tmp_path: Path, broken: str, message: str
) -> None:
    append(folder, broken)
    with pytest.raises(BadInput, match=message):
        run(folder, "shades", Eye(), tmp_path / "out")


def test_an_aggregation_that_fails_costs_only_its_own_number(folder: Path, tmp_path: Path) -> None:
    text = (folder / "_template.yaml").read_text("utf-8")
    broken = "  - {metric: right, aggregation: !function utils.broken}\n"
    (folder / "_template.yaml").write_text(text.replace("metric_list:\n", f"metric_list:\n{broken}"), "utf-8")
    append(folder, "def broken(results):\n    return 1 / 0")
    cell = shades(folder, tmp_path / "out")
    assert (cell.n, cell.aggregate) == (4, {"by_shade": 1.0})
    assert cell.problem.startswith("its own totals failed: the aggregation of right")
    assert cell.problem.endswith("ZeroDivisionError: division by zero")


def test_an_error_in_process_results_leaves_the_run_alone_and_shows_no_score(folder: Path, tmp_path: Path) -> None:
    code = (folder / "utils.py").read_text("utf-8")
    (folder / "utils.py").write_text(
        code.replace("right = results[0]", 'doc["number"] == 2 and doc["nothing"]\n    right = results[0]'), "utf-8"
    )
    out = run(folder, "shades", Eye(), tmp_path / "out")
    cell = out.results().tasks["shades.direct"]
    assert (cell.n, cell.episodes, cell.metrics) == (3, 4, {})
    assert cell.failures == {"scorer_failed": 1}
    assert cell.reasons["scorer_failed"].endswith("KeyError: 'nothing'")


class Down(Eye):
    async def say(self, context: Context, options: Options) -> Reply:
        raise CallFailed("connection", "nobody answers at http://127.0.0.1:1")


def test_a_task_whose_episodes_all_failed_says_why_and_says_it_again(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        cell = shades(folder, tmp_path / "out", Down())
        assert (cell.n, cell.episodes, cell.failures, cell.metrics) == (0, 4, {"connection": 4}, {})
        assert cell.problem == "" and cell.aggregate == {}


def test_an_aggregation_is_not_asked_about_documents_that_none_of_its_metric_is_of(
    folder: Path, tmp_path: Path
) -> None:
    text = (folder / "_template.yaml").read_text("utf-8")
    metric = "  - {metric: elsewhere, aggregation: !function utils.worst_shade}\n"
    (folder / "_template.yaml").write_text(text.replace("metric_list:\n", f"metric_list:\n{metric}"), "utf-8")
    cell = shades(folder, tmp_path / "out")
    assert cell.problem == "" and set(cell.metrics) == {"right", "by_shade"}


DOWN = """
from sketchmark import Model


class Down(Model):
    async def say(self, context, options):
        raise ConnectionError("nobody answers")
"""


def test_the_command_line_says_why_nothing_was_scored_and_says_it_again(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "down.py").write_text(DOWN)
    typed = f"run --model down/x --tasks shades --trust-code --no-cache --include {folder} -o {tmp_path}/out"
    for _ in range(2):
        done = sketchmark(*typed.split(), "--include", tmp_path / "down.py")
        assert done.returncode == 1
        assert "shades.direct: nothing scored" in done.stdout and "ConnectionError: nobody answers" in done.stderr
        assert "ZeroDivisionError" not in done.stdout + done.stderr
        cell = json.loads((tmp_path / "out" / "results.json").read_text())["tasks"]["shades.direct"]
        assert (cell["n"], cell["failures"], cell["metrics"]) == (0, {"error": 4}, {})


def _reduced_by(folder: Path, code: str, more: str = "") -> None:
    """A numeric metric with an aggregation of its own, which `code` defines."""
    (folder / "own.yaml").write_text(
        "include: shades_direct.yaml\ntask: own\n"
        f"metric_list: [{{metric: right, aggregation: !function utils.own}}]\n{more}",
        "utf-8",
    )
    append(folder, f"def own(results):\n    {code}")


@pytest.mark.parametrize(
    ("code", "made", "problem"),
    [
        ("return 1 / 0", {}, "ZeroDivisionError"),
        ("return {'easy': 0.25, 'hard': 0.1}", {"right": {"easy": 0.25, "hard": 0.1}}, ""),
        ("return None", {"right": None}, ""),
    ],
)
def test_no_mean_stands_in_for_an_aggregation_that_gives_no_number(
    folder: Path, tmp_path: Path, code: str, made: dict[str, object], problem: str
) -> None:
    _reduced_by(folder, code)
    out = run(folder, "own", Eye(), tmp_path / "out")
    cell = out.results().tasks["own.direct"]
    assert (cell.n, cell.metrics, cell.aggregate) == (4, {}, made) and problem in cell.problem
    assert [row.value("right") for row in out.scores("own.direct")] == [None] * 4


def test_every_pipeline_of_filters_is_aggregated_by_the_files_function(folder: Path, tmp_path: Path) -> None:
    pipelines = "filter_list: [{filter: [{function: take_first}]}, {name: none, filter: [{function: map}]}]\n"
    _reduced_by(folder, "return 100 * sum(results) / len(results)", pipelines)
    cell = run(folder, "own", Eye(), tmp_path / "out").results().tasks["own.direct"]
    assert cell.aggregate == {"right": 100.0, "right,none": 0.0}
    assert {name: metric.mean for name, metric in cell.metrics.items()} == cell.aggregate


def test_metrics_that_the_file_does_not_list_or_bypasses_have_no_number(folder: Path, tmp_path: Path) -> None:
    (folder / "own.yaml").write_text(
        "include: shades_direct.yaml\ntask: own\nprocess_results: !function utils.many\n"
        "metric_list: [{metric: kept, aggregation: bypass}, {metric: right}]\n",
        "utf-8",
    )
    append(folder, "def many(doc, results):\n    return {'unlisted': 5.0, 'kept': 3.0, 'right': 1.0}")
    out = run(folder, "own", Eye(), tmp_path / "out")
    assert {name: metric.mean for name, metric in out.results().tasks["own.direct"].metrics.items()} == {"right": 1.0}
    assert out.about().cells["own.direct"].headline == "right"
    [first, *_] = out.scores("own.direct")
    assert first.notes["results"] == {"unlisted": 5.0, "kept": 3.0, "right": 1.0}, "and are there to be looked at"


def test_a_filter_that_finds_nothing_gives_an_empty_reply(folder: Path, tmp_path: Path) -> None:
    """As lmms-eval hands it to `process_results`, and compares it."""
    mapped = "filter_list: [{filter: [{function: map, mapping_dict: {Light: ' Light '}}, {function: take_first}]}]\n"
    (folder / "plain.yaml").write_text(f"include: shades_plain.yaml\ntask: plain\ndoc_to_target: ''\n{mapped}")
    (folder / "code.yaml").write_text(
        f"include: shades_direct.yaml\ntask: code\nprocess_results: !function utils.heard\n{mapped}"
        "metric_list: [{metric: heard}]\n"
    )
    append(folder, "def heard(doc, results):\n    return {'heard': float(results[0] in ('', 'Light'))}")
    found = run(folder, "plain,code", Eye(), tmp_path / "out").results().tasks
    assert found["code.direct"].metrics["heard"].mean == 1.0
    assert found["plain.direct"].metrics["exact_match"].mean == 0.5, "half of them are dark, and said to be nothing"
