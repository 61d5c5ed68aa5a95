"""Options that people bring along from other tools, and those that all commands share."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.models.arguments import KNOWN, refuse_misspelt
from sketchmark.models.providers import bagel, openai, openai_chat
from sketchmark.models.providers import hf as transformers_chat
from sketchmark.runs import prepare
from sketchmark.runs.plan import cells_of
from tests.command_line import sketchmark as say

SPELLINGS = {"--output-path", "--output", "--out", "-o"}


def _commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield name, found
        if isinstance(found, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in _commands(found, context))


def test_every_command_that_writes_where_it_is_told_spells_it_alike() -> None:
    commands = dict(_commands(root, click.Context(root)))
    writing = {
        name: {spelling for option in command.params for spelling in option.opts if spelling in SPELLINGS}
        for name, command in commands.items()
    }
    writing = {name: found for name, found in writing.items() if found}
    assert {"run", "compare", "merge", "card", "demo", "export", "make maze", "voila make"} <= writing.keys()
    assert all(found == SPELLINGS for found in writing.values()), writing


@pytest.mark.parametrize("spelling", ["--output_path", "--output-path", "--output", "--out", "-o"])
def test_each_spelling_is_read(tmp_path: Path, spelling: str) -> None:
    asked = ["make", "maze", "--count", "1", spelling, str(tmp_path / "out")]
    assert CliRunner().invoke(root, asked).exit_code == 0
    assert (tmp_path / "out").is_dir()


@pytest.mark.parametrize("spelling", ["--include", "--include_path"])
def test_tasks_of_ones_own_are_included_as_lmms_eval_spells_it_too(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "mine.yaml").write_text("task: mine\ndataset_path: json\ntest_split: test\ndoc_to_text: q\n")
    commands = dict(_commands(root, click.Context(root)))
    opts = {name: [o.opts for o in command.params if "--include" in o.opts] for name, command in commands.items()}
    assert all(found == [["--include", "--include-path"]] for found in opts.values() if found), opts
    assert "mine" in CliRunner().invoke(root, ["list", "tasks", "mine", spelling, str(tmp_path)]).output


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("temperatur", "temperature"),
        ("max_tokens", "max_new_tokens"),
        ("max_gen_toks", "max_new_tokens"),
        ("cfg_text_scal", "cfg_text_scale"),
        ("topp", "top_p"),
        ("temp", "temperature"),
        ("TEMPERATURE", "temperature"),
        ("max_output_tokens", "max_new_tokens"),
    ],
)
def test_a_generation_setting_that_is_nearly_one_is_refused(given: str, meant: str) -> None:
    with pytest.raises(BadInput, match=f"did you mean {meant}"):
        prepare("player/solver", "maze", limit=1, gen_kwargs={given: 1})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temperature": "abc"}, "temperature is 'abc', and no number"),
        ({"temperature": True}, "temperature is True, and no number"),
        ({"max_new_tokens": 1.5}, "max_new_tokens is 1.5, and no whole number"),
        ({"max_new_tokens": -5}, r"max_new_tokens is -5 \(it must be at least 1\)"),
        ({"": 1}, "a setting without a name"),
    ],
)
def test_a_generation_setting_that_can_be_none_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        prepare("player/solver", "maze", limit=1, gen_kwargs=given)


def test_a_setting_that_only_a_model_of_ones_own_can_know_is_said_to_be_one() -> None:
    prepared = prepare("player/solver", "maze", limit=1, gen_kwargs={"my_own_knob": 1, "temperature": 1})
    told = "--gen_kwargs my_own_knob: player/solver does not receive it in answers (maze.direct)"
    assert prepared.warnings == (told,)


def test_a_list_that_is_given_twice_is_one_longer_list(tmp_path: Path) -> None:
    twice = ["--tasks", "maze", "-t", "sliding", "--mode", "direct", "--mode", "text_cot", "--limit", "1"]
    assert say("run", "-m", "player/solver", *twice, "-o", str(tmp_path), "-q").returncode == 0
    cells = [f"{task}.{mode}.jsonl" for task in ("maze", "sliding") for mode in ("direct", "text_cot")]
    assert sorted(file.name for file in (tmp_path / "episodes").iterdir()) == sorted(cells)


@pytest.mark.parametrize("asked", [["run", "-m", "player/solver", "-t", "maze"], ["make", "maze"], ["card", "."]])
def test_nothing_is_no_place_to_write_to(asked: list[str]) -> None:
    refused = CliRunner().invoke(root, [*asked, "-o", ""])
    assert refused.exit_code == 2 and "it is empty" in refused.output


def test_settings_that_somebody_knows_or_nobody_can_mistake_are_passed_on() -> None:
    refuse_misspelt(dict.fromkeys((*KNOWN, "my_own_knob"), 1))


def test_the_known_settings_are_all_that_the_adapters_read() -> None:
    read = {
        *transformers_chat._SAMPLING,
        *transformers_chat._DECODING,
        *openai._IMAGE_SETTINGS,
        *openai_chat._CHAT_SETTINGS,
        *bagel.SETTINGS,
        *bagel.OTHER_SPELLINGS,
    }
    assert read <= set(KNOWN)


def test_a_limit_between_0_and_1_is_a_share_of_each_tasks_samples(tmp_path: Path) -> None:
    run = prepare("player/solver", "maze,jigsaw", limit=0.1)
    sizes = {cell.task.name: cell.task.declared.default_limit or 0 for cell in run.cells}
    assert {cell.task.name: cell.limit for cell in run.cells} == {
        name: -(-size // 10) for name, size in sizes.items()
    }


def test_a_worker_counts_a_share_as_the_run_does() -> None:
    """Who lends whom a drawing depends on how many there are."""
    run = prepare("player/sketcher", "maze", mode="visual_cot", canvas="other", limit=0.015)
    assert [cell.limit for cell in cells_of(run.settings, Catalog())] == [cell.limit for cell in run.cells] == [3]


def test_a_share_is_written_down_as_the_count_that_it_was_and_resumes(tmp_path: Path) -> None:
    first = sketchmark.run("player/solver", "maze", limit=0.01, output_path=tmp_path / "run")
    about = json.loads((tmp_path / "run/run.json").read_text())
    (count,) = about["limits"].values()
    assert about["asked"]["maze.direct"]["limit"] == 0.01
    assert first.results.tasks["maze.direct"].n == count > 1
    before = (tmp_path / "run/episodes/maze.direct.jsonl").read_bytes()
    again = sketchmark.run("player/solver", "maze", limit=0.02, output_path=tmp_path / "run")
    now = (tmp_path / "run/episodes/maze.direct.jsonl").read_bytes()
    assert now.startswith(before) and again.results.tasks["maze.direct"].n == 2 * count


def test_the_card_repeats_a_share_as_a_share(tmp_path: Path) -> None:
    folder = sketchmark.run("player/solver", "maze", limit=0.01, output_path=tmp_path / "run")
    card = CliRunner().invoke(root, ["card", str(folder.path)])
    assert "--limit 0.01" in card.output


def test_a_share_of_data_that_are_read_is_counted(tmp_path: Path) -> None:
    task = "source: {use: rows:samples}\nmodes: {direct: {prompts: {inputs: [hello]}}}\nheadline: right\n"
    code = "from sketchmark import Sample\n\ndef samples(*, seed, data):\n"
    (tmp_path / "rows.yaml").write_text(task)
    (tmp_path / "rows.py").write_text(code + "    yield from (Sample(str(place)) for place in range(100))\n")
    run = prepare("player/random", "rows", limit=0.07, include=[tmp_path], trust_code=True)
    assert [cell.limit for cell in run.cells] == [7]
    assert len(list(run.cells[0].samples())) == 7


@pytest.mark.parametrize("limit", [0, -1, 1.0, 2.5, float("nan")])
def test_a_limit_that_is_neither_count_nor_share_is_refused(limit: float) -> None:
    with pytest.raises(BadInput, match="neither a count nor a share"):
        prepare("player/solver", "maze", limit=limit)


def test_options_of_lmms_eval_mean_something_or_are_refused_with_a_hint(tmp_path: Path) -> None:
    asked = ("run", "--model", "player/solver", "--tasks", "maze", "--limit", "0.01")
    assert say(*asked, "--verbosity", "ERROR", "--log_samples", cwd=tmp_path).returncode == 0
    refused = say(*asked, "--log_samples_suffix", "mine", cwd=tmp_path)
    assert refused.returncode == 2 and "--output_path names it" in refused.stderr


def test_verbosity_is_the_level_of_log_records(tmp_path: Path) -> None:
    before = logging.getLogger().level
    try:
        asked = ["run", "--model", "player/solver", "--tasks", "maze", "--limit", "1", "--dry-run"]
        CliRunner().invoke(root, [*asked, "--verbosity", "debug"])
        assert logging.getLogger().level == logging.DEBUG
    finally:
        logging.getLogger().setLevel(before)


def test_defaults_come_from_the_environment_and_from_a_file_and_are_shown_with_their_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sketchmark.toml").write_text('model = "player/solver"\nlimit = 2\ntask_args = {rows = 5}\nseed = 3\n')
    variables = {"SKETCHMARK_SEED": "4", "SKETCHMARK_TASKS": "maze", "COLUMNS": "100"}
    done = CliRunner(env=variables).invoke(root, ["run", "--show-settings", "--tag", "a,b"])
    rows = {line.split()[0]: line.split()[1:] for line in done.output.splitlines()[3:] if line.strip()}
    assert rows["model"] == ["player/solver", "sketchmark.toml"] and rows["limit"] == ["2", "sketchmark.toml"]
    assert rows["seed"] == ["4", "SKETCHMARK_SEED"], "the environment goes before the file"
    assert rows["tag"] == ["a,b", "command", "line"] and rows["mode"] == ["direct", "default"]
    assert rows["task_args"] == ["rows=5", "sketchmark.toml"] and rows["tasks"] == ["maze", "SKETCHMARK_TASKS"]
    ran = CliRunner(env=variables).invoke(root, ["run", "-o", "out", "--tag", "a,b", "-q", "--no-cache"])
    assert ran.exit_code == 0, ran.output
    about = json.loads(Path("out/run.json").read_text())
    assert about["asked"]["maze.direct"]["tag"] == "a,b" and about["asked"]["maze.direct"]["seed"] == 4
    assert RunFolder.open("out").about().tags == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("modell = 'x'", "there is no setting 'modell' (did you mean model"),
        ("fresh = true", "fresh is not for a file to say (give --fresh on the command line)"),
        ("trust-code = true", "is not for a file to say"),
        ("model_args = {api_key = 'sk-abcdefghijklmnop1234'}", "is a key or looks like one"),
        ("include = ['mine.py']", "include names code"),
        ("model = ", "sketchmark.toml cannot be read"),
    ],
)
def test_a_file_of_defaults_is_refused_for_what_it_must_not_say(
    tmp_path: Path, text: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sketchmark.toml").write_text(text)
    done = say("run", "-m", "player/solver", "-t", "maze", "--limit", "1", cwd=tmp_path)
    assert done.returncode == 2 and told in done.stderr and len(done.stderr.splitlines()) == 1


def test_pyproject_holds_defaults_too_and_a_tag_filters_the_leaderboard(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.sketchmark]\nmodel = "player/solver"\ntasks = ["maze"]\nlimit = 1\n'
    )
    for name, tag in (("a", "first"), ("b", "second,first"), ("c", "")):
        assert say("run", "-o", f"runs/{name}", "--tag", tag, "-q", cwd=tmp_path).returncode == 0
    found = say("compare", "runs", "--tag", "second", cwd=tmp_path)
    assert "second, first" in found.stdout and "(a)" not in found.stdout
    assert say("compare", "runs", "--tag", "third", cwd=tmp_path).returncode == 2
    ordered = say("compare", "runs", "--sort", "tag", "--format", "json", cwd=tmp_path)
    assert [row["run"] for row in json.loads(ordered.stdout)["rows"]] == ["c", "a", "b"]
