"""`sketchmark audit` from the command line: run, resume, grow until settled, audit an existing run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click import Option, UsageError
from click.testing import CliRunner, Result

from sketchmark.cli import root
from sketchmark.commands import compare as audit_command
from sketchmark.commands import run as run_command
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.folder import RunFolder
from sketchmark.runs import More, prepare
from tests.audit.making import SMALL


def audit(*arguments: str) -> Result:
    found = CliRunner().invoke(root, ["audit", *arguments], standalone_mode=False)
    if found.exception:
        raise found.exception
    return found


def playing(folder: Path, *more: str, faults: str = "knows=0", tasks: str = "maze") -> Result:
    return audit(
        *("--model", "player/flawed", "--model-args", faults, "--tasks", tasks, "--task-args", SMALL),
        *("--output-path", str(folder), "--no-cache", "--engine", "local", *more),
    )


def test_an_audit_runs_all_modes_and_canvases_on_the_same_samples(tmp_path: Path) -> None:
    found = playing(tmp_path, "--limit", "6")
    assert found.return_value == 0
    cells = RunFolder(tmp_path).cells
    modes = ["maze.direct", "maze.blind", "maze.text_input", "maze.text_cot", "maze.visual_cot"]
    assert cells[:5] == modes and "maze.visual_cot.corrupt" in cells
    assert "direct − blind" in found.stdout
    assert "Follows a corrupted drawing in 100.0%" in found.stdout
    assert (tmp_path / "report.html").exists()


def test_an_existing_run_is_audited_without_calls(tmp_path: Path) -> None:
    told = playing(tmp_path, "--limit", "4", "--json").stdout
    written = (tmp_path / "episodes/maze.direct.jsonl").read_bytes()
    again = audit(str(tmp_path), "--json").stdout
    assert json.loads(again)["tasks"] == json.loads(told)["tasks"]
    assert (tmp_path / "episodes/maze.direct.jsonl").read_bytes() == written


def unplayed(folder: Path, *cells: str) -> None:
    """Remove cells, as a run leaves them that stopped before these."""
    results = json.loads((folder / "results.json").read_text("utf-8"))
    for cell in cells:
        del results["tasks"][cell]
        for kind in ("episodes", "scores"):
            (folder / kind / f"{cell}.jsonl").unlink()
    (folder / "results.json").write_text(json.dumps(results), "utf-8")


def test_an_empty_canvas_is_named_and_the_others_are_audited(tmp_path: Path) -> None:
    playing(tmp_path, "--limit", "4")
    unplayed(tmp_path, "maze.visual_cot.caption")
    found = json.loads(audit(str(tmp_path), "--json").stdout)
    assert "maze was not run with: caption" in str(found["notes"])
    assert len(found["tasks"]) == 1
    with pytest.raises(BadInput, match=r"nothing of maze\.visual_cot, maze\.visual_cot\.caption is scored"):
        unplayed(tmp_path, "maze.visual_cot")
        audit(str(tmp_path), "--json")


def until(folder: Path, *more: str, faults: str, code: int = 0) -> str:
    """Why it ended, in its own words."""
    found = playing(folder, "--until", "settled", "--json", *more, faults=faults)
    assert found.return_value == code
    return str(json.loads(found.stdout)["until"]["maze"])


def test_until_settled_stops_as_soon_as_a_gain_is_settled(tmp_path: Path) -> None:
    outcome = until(tmp_path, "--block", "6", "--limit", "60", faults="knows=0")
    assert outcome.startswith("settled after 12 samples: drawing helps [+")
    limits = {RunFolder(tmp_path).limit(name) for name in RunFolder(tmp_path).cells}
    assert limits == {12}, "all cells grow alike"
    written = (tmp_path / "episodes/maze.visual_cot.jsonl").read_bytes()
    assert until(tmp_path, "--block", "6", "--limit", "60", faults="knows=0") == outcome
    assert (tmp_path / "episodes/maze.visual_cot.jsonl").read_bytes() == written, "nothing is run again"


def test_until_settled_stops_if_the_gain_is_within_the_margin(tmp_path: Path) -> None:
    outcome = until(tmp_path, "--block", "10", "--limit", "60", "--margin", "0.3", faults="ignores=1,knows=0.5")
    assert outcome.startswith("settled after 20 samples: negligible difference [-")


def test_until_settled_stops_at_the_limit(tmp_path: Path) -> None:
    outcome = until(tmp_path, "--block", "4", "--limit", "6", faults="ignores=1")
    assert outcome == "not settled at the limit of 6 samples"
    assert RunFolder(tmp_path).limit("maze.visual_cot") == 6


def test_until_settled_stops_at_the_cost_limit_after_a_whole_block(tmp_path: Path) -> None:
    playing(tmp_path / "block", "--limit", "2", faults="ignores=1")
    drawn = sum(cell.usage.get("pictures_out", 0) for cell in RunFolder(tmp_path / "block").results().tasks.values())
    (tmp_path / "prices.yaml").write_text("player/flawed: {picture: 1.0}\n", "utf-8")
    money = ("--prices", str(tmp_path / "prices.yaml"), "--max-cost", str(drawn))
    outcome = until(tmp_path / "run", "--block", "2", "--limit", "60", *money, faults="ignores=1", code=3)
    assert outcome == "not settled at the cost limit"
    assert len(RunFolder(tmp_path / "run").scored("maze.visual_cot")) == 2
    done = playing(tmp_path / "done", "--limit", "2", *money, faults="ignores=1")
    assert done.return_value == 0, "that much was asked for, and no more"


def test_a_run_grows_only_in_the_chosen_tasks(tmp_path: Path) -> None:
    asked: list[int] = []

    def grow(folder: RunFolder) -> More | None:
        asked.append(len(folder.scored("maze.direct")))
        return More(4, frozenset({"maze"})) if len(asked) == 1 else None

    folder = prepare("player/solver", "maze,sliding", limit=2, output_path=tmp_path).play(grow=grow)
    assert asked == [2, 4]
    assert (len(folder.scored("maze.direct")), len(folder.scored("sliding.direct"))) == (4, 2)
    assert folder.results().tasks.keys() == {"maze.direct", "sliding.direct"}


def test_cells_that_a_task_does_not_support_are_skipped_by_name(tmp_path: Path) -> None:
    own = _worldless(tmp_path / "tasks")
    found = playing(tmp_path / "run", "--limit", "2", "--include", str(own), "--trust-code", tasks="dots")
    assert found.return_value == 0
    assert "dots.visual_cot.corrupt is left out: task 'dots' has no pictures with one thing wrong" in found.stderr
    assert "dots has no mode text_cot" in found.stderr
    assert [name for name in RunFolder(tmp_path / "run").cells if "visual" in name] == [
        *("dots.visual_cot", "dots.visual_cot.blank", "dots.visual_cot.other")
    ]
    (note,) = re.findall(r"Note: dots was not run with: (.*)", found.stdout)
    assert {"text_cot", "oracle", "corrupt", "caption"} <= set(note.split(", "))


def test_until_settled_stops_if_the_scorer_breaks(tmp_path: Path) -> None:
    own = _worldless(tmp_path / "tasks", score="1 / 0")
    more = ("--until", "settled", "--block", "2", "--include", str(own), "--trust-code")
    with pytest.raises(BadInput, match="no score is shown: 2 scorer failures"):
        playing(tmp_path / "run", *more, tasks="dots")
    assert RunFolder(tmp_path / "run").limit("dots.visual_cot") == 2


def _worldless(folder: Path, score: str = "0.0") -> Path:
    """A task whose samples are of no world."""
    folder.mkdir()
    (folder / "dots_data.py").write_text(
        "from sketchmark import Sample, Scores\n\n"
        "def samples(*, seed, data, rows=0, cols=0, min_steps=0, max_steps=0):\n"
        "    yield from (Sample(f's{i}', fields={'q': f'How many dots are {i} dots?'}) for i in range(9))\n\n"
        "def right(sample, episode, grading):\n"
        f"    return Scores({{'right': {score}}})\n",
        "utf-8",
    )
    (folder / "dots.yaml").write_text(
        "source: {use: 'dots_data:samples'}\n"
        "modes:\n"
        "  direct: {protocol: direct, prompts: {inputs: ['{q}'], ask: Answer.}}\n"
        "  visual_cot: {protocol: draw_then_answer, prompts: "
        "{inputs: ['{q}'], generation_prompt: Draw., drawing_label: 'Drawn:', ask: Answer.}}\n"
        "scorers: [{use: 'dots_data:right'}]\n"
        "headline: right\n",
        "utf-8",
    )
    return folder


def test_a_task_without_drawings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot be audited: it has no mode visual_cot"):
        playing(tmp_path, tasks="mmsi_bench")


def test_a_model_that_does_not_draw_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with pytest.raises(CannotPlay, match="needs a model that draws"):
        audit("--model", "anthropic/claude", "--tasks", "maze", "-o", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["--model", "player/solver"], ["--tasks", "maze"]])
def test_an_audit_without_model_or_tasks_is_refused(arguments: list[str]) -> None:
    with pytest.raises(BadInput, match="needs --model and --tasks to run, or a RUN to look at"):
        audit(*arguments)


def test_a_run_and_a_model_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not both"):
        audit(str(tmp_path), "--model", "player/solver")


def test_an_audit_has_the_options_of_a_run() -> None:
    told = {param.name for param in audit_command.audit_command.params}
    options = {param.name for param in run_command.run_command.params if isinstance(param, Option)}
    assert options - told == {"mode", "canvas", "shard", "log_samples", "details", "verbose", "show_settings"}
    assert not any(param.required for param in audit_command.audit_command.params)


def test_a_dry_run_counts_the_calls_of_every_cell(tmp_path: Path) -> None:
    found = playing(tmp_path, "--limit", "2", "--dry-run")
    assert found.return_value == 0 and "maze.visual_cot.caption" in found.stdout
    assert not (tmp_path / "run.json").exists()
