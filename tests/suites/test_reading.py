"""What a run file may say, and what is refused of it before anything is played."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from sketchmark import run
from sketchmark.errors import BadInput
from sketchmark.settings.run_file import OF_THE_COMMAND, ModelEntry, RunFile, Suite, TaskEntry, of_models, read_suite
from tests.command_line import sketchmark

WHOLE = """
models:
  - player/random
  - {model: player/sketcher, name: clumsy, model_args: {lookahead: 2}, gen_kwargs: {temperature: 1}, mode: direct}
tasks:
  - maze
  - {task: [sliding, jigsaw], limit: 3, task_args: {rows: 3}, gen_kwargs: {seed: 4}}
  - mmsi
mode: [direct, visual_cot]
limit: 20
gen_kwargs: {temperature: 0.5, max_new_tokens: 64}
prices: {player/random: {input: 1}}
max_cost: 5
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "suite.yaml"
    path.write_text(text)
    return path


def read(folder: Path, text: str, **over: Any) -> Suite:
    return read_suite(write(folder, text), **over)


def test_every_model_plays_every_task_with_the_nearest_settings(tmp_path: Path) -> None:
    suite = read(tmp_path, WHOLE)
    assert (suite.parent, suite.max_cost) == (Path("runs/suite"), 5)
    assert [(entry.name, entry.model) for entry in suite.entries] == [
        ("player-random", "player/random"),
        ("clumsy", "player/sketcher"),
    ]
    plain, own = suite.entries[1].starts
    assert (plain.tasks, own.tasks) == ("maze,mmsi", "sliding,jigsaw")
    assert plain.options["gen_kwargs"] == {"temperature": 1, "max_new_tokens": 64}
    assert own.options["gen_kwargs"] == {"temperature": 1, "max_new_tokens": 64, "seed": 4}
    assert (plain.options["limit"], own.options["limit"]) == (20, 3)
    assert "task_args" not in plain.options and own.options["task_args"] == {"rows": 3}
    assert plain.options["mode"] == "direct" and plain.options["model_args"] == {"lookahead": 2}
    assert suite.entries[0].starts[0].options["mode"] == ["direct", "visual_cot"]


def test_the_command_line_goes_over_the_file_for_every_model(tmp_path: Path) -> None:
    suite = read(tmp_path, WHOLE, output_path=Path("here"), limit=0.1, gen_kwargs={"temperature": 0}, max_cost=1.0)
    starts = [start for entry in suite.entries for start in entry.starts]
    assert [start.options["limit"] for start in starts] == [0.1] * 4
    assert [start.options["gen_kwargs"]["temperature"] for start in starts] == [0] * 4
    assert (suite.parent, suite.max_cost) == (Path("here"), 1.0)


MAZE = "models: [player/random]\ntasks: maze\n"
REFUSED = [
    (MAZE + "limits: 3", "line 3: unknown key limits", "did you mean limit?"),
    (
        "models:\n  - model: player/random\n    modle_args: {seed: 1}\ntasks: maze",
        "line 3: unknown key models[0].modle_args",
        "did you mean model_args?",
    ),
    ("models:\n  - player/random\ntasks:\n  - {tsk: maze}", "line 4: unknown key tasks[0].tsk", "task?"),
    (MAZE + "modes: direct", "line 3: unknown key modes", "did you mean mode?"),
    ("model: a\nmodels: [b]\ntasks: maze", "has both model: and models:", "under models:"),
    (MAZE + "seed: many", "line 3: seed must be a whole number", ""),
    ("models: []\ntasks: maze", "line 1: models", ""),
    ("tasks: maze", "models is missing", ""),
    (MAZE + "tasks: jigsaw", "the key 'tasks' twice", ""),
    (
        "models:\n  - model: openai/gpt-4o\n    model_args:\n      api_key: sk-0123\ntasks: maze",
        "line 4: models[0].model_args.api_key is a key",
        "api_key_env: NAME",
    ),
    (MAZE + "prompts: sk-0123456789abcdefghij", "line 3: prompts is a key", "api_key_env"),
    (MAZE + "trust_code: true", "line 3: trust_code is not", "--trust-code"),
    ("models:\n  - {model: player/random, fresh: true}\ntasks: maze", "models[0].fresh is not", "--fresh"),
    (MAZE + "output_path: /tmp", "output_path is not", "--output-path"),
    ("models:\n  - {model: hf/x, model_args: {trust_remote_code: true}}\ntasks: maze", "code run", "--trust-code"),
    ("models:\n  - {model: bagel, model_args: {code: evil}}\ntasks: maze", "code run", "--trust-code"),
    (MAZE + "judge: bagel\njudge_args: {code: evil}", "line 4: judge_args.code has code run", "--trust-code"),
    (MAZE + "include: own.py", "include names code", "--trust-code"),
    (MAZE + "include: ../elsewhere", "include leads out of its folder", "--include"),
    (MAZE + "data: /etc", "line 3: data leads out of its folder", "--data"),
    ("models: [player/random]\ntasks:\n  - {task: maze, data: .ssh}", "tasks[0].data leads out", "--data"),
    *(
        (
            f"models: [player/random]\ntasks: jigsaw\ntask_args: {{pictures: {path}}}",
            "task_args.pictures",
            "--task-args",
        )
        for path in ("~/private", "/etc", "..", "../private", "own/../../private")
    ),
    ("models: [player/random]\ntasks: [maze, /home/me/mine.csv]", "tasks[1] leads out", "next to the run file"),
    ("models: [player/random]\ntasks: 'maze,../mine.jsonl'", "leads out of its folder", "next to the run file"),
    (MAZE + "prices: ../prices.yaml", "prices leads out", "--prices"),
    ("models: [player/random, player/random]\ntasks: maze", "would share the run folder player-random", "`name:`"),
    ("models:\n  - {model: player/random, name: ../up}\ntasks: maze", "models[0].name must be written as", ""),
    ("source: {use: a:b}\nmodes: {direct: {}}", "is a task file", "--include"),
    ("- models", "is not a mapping", ""),
]


@pytest.mark.parametrize(("text", "said", "hint"), REFUSED)
def test_what_a_run_file_must_not_say_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, text)
    assert said in str(refused.value) and hint in refused.value.hint
    assert "sk-0" not in str(refused.value)


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "data").symlink_to(outside)
    with pytest.raises(BadInput, match="data leads out of its folder"):
        read(inside, "models: [player/random]\ntasks: mmsi\ndata: data")


def test_what_lies_beside_the_file_is_found_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    suite = read(tmp_path, "models: [player/random]\ntasks: mmsi\ndata: data\nprices: prices.yaml\ninclude: own.yaml")
    (start,) = suite.entries[0].starts
    assert start.options["data"] == tmp_path / "data" and start.options["include"] == [tmp_path / "own.yaml"]
    assert suite.prices == tmp_path / "prices.yaml"
    (start,) = read(tmp_path, "models: [player/random]\ntasks: 'maze, mine.jsonl'").entries[0].starts
    assert start.tasks == f"maze,{tmp_path / 'mine.jsonl'}"


@pytest.mark.parametrize("path", ["own", "own/deep", "two..dots", ".hidden"])
def test_a_folder_below_the_file_may_be_an_argument_of_a_task(tmp_path: Path, path: str) -> None:
    (start,) = (
        read(tmp_path, f"models: [player/random]\ntasks: jigsaw\ntask_args: {{pictures: {path}}}").entries[0].starts
    )
    assert start.options["task_args"] == {"pictures": path}


def test_code_is_trusted_on_the_command_line_only(tmp_path: Path) -> None:
    text = "models:\n  - {model: hf/x, model_args: {trust_remote_code: true}}\ntasks: maze\ninclude: own.py"
    (start,) = read(tmp_path, text, trust_code=True).entries[0].starts
    assert start.options["trust_code"] is True and start.options["include"] == [tmp_path / "own.py"]
    assert read(tmp_path, "models: [player/random]\ntasks: maze").entries[0].starts[0].options["trust_code"] is False


def test_models_by_name_have_the_folders_that_each_would_have_alone() -> None:
    suite = of_models(["player/random", "openai/gpt-4o"], "maze", None, limit=2, max_cost=3.0)
    assert [suite.path(entry) for entry in suite.entries] == [Path("runs/player-random"), Path("runs/openai-gpt-4o")]
    assert suite.max_cost == 3.0 and "max_cost" not in suite.entries[0].starts[0].options
    with pytest.raises(BadInput, match="share the run folder"):
        of_models(["player/random", "player/random"], "maze", None)


def test_shards_of_a_suite_do_not_meet(tmp_path: Path) -> None:
    suite = read(tmp_path, "models: [player/random]\ntasks: maze", shard="1/3")
    assert suite.entries[0].name == "player-random-shard-1-of-3"


def test_every_option_of_a_run_is_a_key_of_the_file_or_refused_there() -> None:
    keys = {*RunFile.__struct_fields__, *TaskEntry.__struct_fields__, *ModelEntry.__struct_fields__}
    assert inspect.signature(run).parameters.keys() - keys == OF_THE_COMMAND


@pytest.mark.parametrize(
    "models", ["model: player/random", "model: player/random,player/solver", "models: player/random",
               "model: {model: player/random, concurrency: 3}", "model: [player/random, player/solver]"],
)  # fmt: skip
def test_one_or_many_models_are_named_by_either_key(tmp_path: Path, models: str) -> None:
    (tmp_path / "run.yaml").write_text(f"{models}\ntasks: maze\n")
    found = [entry.model for entry in read_suite(tmp_path / "run.yaml").entries]
    assert found == ["player/random", "player/solver"][: 1 + ("solver" in models)]


# docs/several-models.md and the example it shows, as printed.


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/several-models.md").read_text("utf-8")
EXAMPLE = ROOT / "examples/three_players.yaml"


def test_the_page_shows_the_example_that_lies_in_the_repository() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.yaml")} == {EXAMPLE.name, "prices.yaml"}
    assert f"```yaml\n{EXAMPLE.read_text('utf-8')}```" in PAGE


@pytest.mark.slow
def test_the_run_file_prints_the_leaderboard_of_the_page(tmp_path: Path) -> None:
    (tmp_path / EXAMPLE.name).write_bytes(EXAMPLE.read_bytes())

    def say(*words: str) -> str:
        done = sketchmark(*words, cwd=tmp_path, env={"COLUMNS": "80"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    (printed,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert "all models" in say("run", EXAMPLE.name, "--dry-run")
    assert printed in say("run", EXAMPLE.name, "-o", "runs/three", "--engine", "local")
