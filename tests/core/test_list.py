"""What there is: a line for each task, under its family; patterns mean the same here and in --tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.errors import UnknownName
from sketchmark.worlds import Worlds


def say(*arguments: str, columns: int = 80) -> str:
    done = _done(*arguments, columns=columns)
    assert (done.exception, done.return_value) == (None, 0), done.output
    return done.output


def _done(*arguments: str, columns: int = 80) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(root, arguments, standalone_mode=False)


def _names(listed: str) -> list[str]:
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)]


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_every_task_and_group_has_lines_that_fit(columns: int) -> None:
    catalog = Catalog()
    listed = say("list", "tasks", columns=columns)
    assert max(map(len, listed.splitlines())) <= columns
    assert sorted(_names(listed)) == sorted([*catalog.task_names(), *catalog.group_names()])


def test_tasks_stand_under_their_family_which_says_how_they_are_played() -> None:
    lines = say("list", "tasks").splitlines()
    place = lines.index("worlds (direct, visual_cot, text_cot, text_input): generated, no data needed")
    first, second, *_ = _names("\n".join(lines[place + 1 :]))
    assert second == f"{first}_hard" and first in Worlds().names
    assert next(line for line in lines if line.startswith("  mmsi_bench")).split()[1] == "(direct)", (
        "no drawing there"
    )


def test_a_long_description_is_wrapped_and_never_cut() -> None:
    narrow, wide = say("list", "tasks"), say("list", "tasks", columns=300)
    assert narrow.split() == wide.split() and "…" not in narrow


def test_a_pipe_gets_every_line_whole() -> None:
    listed = CliRunner(env={"COLUMNS": None}).invoke(root, ("list", "tasks"), standalone_mode=False).output
    assert listed == say("list", "tasks", columns=10_000) and "…" not in listed


def test_a_word_lists_those_that_hold_it_and_all_of_a_family() -> None:
    assert _names(say("list", "tasks", "maze")) == [
        *("maze", "maze_hard", "uni_mmmu_maze", "uni_mmmu_maze100", "unig2u_uni_mmmu_maze100"),
    ]
    worlds = set(_names(say("list", "tasks", "worlds")))
    assert worlds > {"jigsaw", "maze", "maze_hard", "sliding", "worlds", "worlds_hard"} and "voila" not in worlds
    assert _names(say("list", "models", "janus", columns=80)) == [] and "janus/" in say("list", "models", "janus")


def test_json_has_everything_whole() -> None:
    found = json.loads(say("list", "tasks", "voila*", "--json"))
    assert [task["name"] for task in found["tasks"]] == ["voila", "voila_nd", "voila_wd"]
    assert found["tasks"][0]["modes"] == ["direct", "stepwise", "visual_cot", "text_cot"]
    assert found["tasks"][0]["about"] == " ".join(Catalog().summary("voila")["about"].split())
    assert {"name": "janus", "about": "janus/PATH_OR_ID: transformers' Janus, says and draws"} in json.loads(
        say("list", "models", "--json")
    )


@pytest.mark.parametrize("what", ["models", "worlds"])
def test_models_and_worlds_fit_too(what: str) -> None:
    assert max(map(len, say("list", what).splitlines())) <= 80


def test_every_model_has_one_line() -> None:
    assert [line.split()[0] for line in say("list", "models").splitlines()] == Catalog().model_names()


def test_tasks_list_is_understood_as_it_is_typed_elsewhere() -> None:
    assert say("run", "--tasks", "list") == say("list", "tasks")
    assert say("run", "--model", "player/random", "--tasks", "list") == say("list", "tasks")


def test_tasks_of_ones_own_are_listed_under_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my_tasks"
    folder.mkdir()
    (folder / "my_maze.yaml").write_text("task: my_maze\ndataset_path: json\noutput_type: generate_until\n")
    for command in (("list", "tasks"), ("run", "--tasks", "list")):
        lines = say(*command, "--include", str(folder)).splitlines()
        assert lines[lines.index("my_tasks (direct, visual_cot, text_cot): needs data") + 1].strip() == "my_maze"


@pytest.mark.parametrize(
    ("pattern", "tasks"),
    [
        ("uni_mmmu_maze*", ["uni_mmmu_maze", "uni_mmmu_maze100"]),
        ("VOILA_?d", ["voila_nd", "voila_wd"]),
        ("[js]*ing,maze", ["sliding", "maze"]),
        ("medxpertqa_*,medxpertqa", ["medxpertqa_mm", "medxpertqa_text"]),
        ("mmmu-medical*", ["mmmu_med_test", "mmmu_med"]),
    ],
)
def test_a_pattern_means_every_task_that_fits_and_groups_where_none_does(pattern: str, tasks: list[str]) -> None:
    assert [pick.task for pick in Catalog().pick(pattern)] == tasks


def test_a_run_plays_what_a_pattern_means(tmp_path: Path) -> None:
    asked = ("--model", "player/random", "--tasks", "ma*e,slid*g", "--limit", "1", "-q")
    say("run", *asked, "-o", str(tmp_path / "run"))
    assert list(json.loads((tmp_path / "run/run.json").read_text())["cells"]) == ["maze.direct", "sliding.direct"]


@pytest.mark.parametrize(("pattern", "near"), [("uni_mmu*", "uni_mmmu"), ("mase*", "maze"), ("*jigsow", "jigsaw")])
def test_a_pattern_that_fits_nothing_is_one_line_with_near_misses(pattern: str, near: str) -> None:
    for arguments in (["run", "--model", "player/random", "--tasks", pattern], ["list", "tasks", pattern]):
        error = _done(*arguments).exception
        assert isinstance(error, UnknownName) and "\n" not in str(error)
        assert f"no task or group fits '{pattern}' (did you mean {near}" in str(error)
