"""A task file that does not say what it seems to say is refused, in one line that helps."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.lmms_eval import read_config
from sketchmark.tasks import Task, published
from sketchmark.tasks.files import yaml_files
from tests.tabled import tabled

GOOD = """
source: {use: "maze", rows: 5, cols: 5, min_steps: 2, max_steps: 6}
default_limit: 3
modes:
  direct: {prompts: {inputs: ["go", <initial>]}}
  visual_cot: {protocol: draw_then_answer, prompts: {inputs: [<initial>], generation_prompt: draw, ask: go}}
scorers: ["maze.score"]
headline: maze_text_exact
"""


def refused(tmp_path: Path, text: str) -> str:
    """The line with which a file is refused as soon as it is included, or at the latest when it is opened."""
    file = tmp_path / "mine.yaml"
    file.write_text(text, "utf-8")
    read_config.cache_clear()
    with pytest.raises(BadInput) as caught:
        task = Catalog((file,)).task("mine")
        for mode in task.modes:
            task.mode(mode)
        next(task.samples(limit=1))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_every_built_in_file_passes_and_leaves_the_memory_sound() -> None:
    files = sorted((Path(sketchmark.__file__).parent / "benchmarks").rglob("*.yaml"))
    read_config.cache_clear()
    assert len(files) > 60
    gc.freeze()  # what was there before is not looked at again with every file
    for file in files:
        if file.name == published.FILE:
            published.read(file)
        else:
            read_config(file)
        gc.collect()
    gc.unfreeze()


@tabled
def test_a_near_miss_is_answered_with_the_key_that_was_meant(
    tmp_path: Path, old: str, new: str, path: str, meant: str
) -> None:
    message = refused(tmp_path, GOOD.replace(old, new))
    assert f"mine.yaml: {path}" in message and f"did you mean {meant}?" in message


def test_a_key_that_resembles_nothing_is_answered_with_those_there_are(tmp_path: Path) -> None:
    message = refused(tmp_path, GOOD + "zzz: 1\n")
    assert "unknown key zzz (known: include, about, source" in message


@tabled
def test_a_value_of_the_wrong_kind_is_refused_by_its_path(tmp_path: Path, lines: str, message: str) -> None:
    key = lines.partition(":")[0]
    rest = "\n".join(line for line in GOOD.splitlines() if not line.startswith(key))
    if key == "modes":
        rest = rest.partition("  direct:")[0] + rest[rest.index("scorers:") :]
    assert message in refused(tmp_path, f"{rest}\n{lines}\n")


def test_a_group_says_what_it_is(tmp_path: Path) -> None:
    assert "group is missing" in refused(tmp_path, "tasks: [maze]\n")
    assert "unknown key headline" in refused(tmp_path, "group: x\ntasks: [maze]\nheadline: y\n")


def test_a_task_made_in_python_is_checked_too() -> None:
    with pytest.raises(BadInput, match=r"task 'mine': unknown key headlin \(did you mean headline\?\)"):
        Task("mine", {"source": {"use": "maze"}, "modes": {"direct": {}}, "headlin": "x"})
    with pytest.raises(BadInput, match="needs `source` and `modes`"):
        Task("mine", {"headline": "x"})


def test_in_a_file_of_lmms_evals_shape_only_the_keys_we_read_are_checked(tmp_path: Path) -> None:
    shape = "dataset_path: json\ndoc_to_text: question\ntest_split: test\nmetric_list: [{metric: exact_match}]\n"
    file = tmp_path / "theirs.yaml"
    file.write_text(shape + "repeats: 1\nmetadata: [{since: 2024-01-01}]\n")
    assert Catalog((file,)).task("theirs").headline == "exact_match"
    for line, message in (
        ("filter_list: [x]", "filter_list[0] must be a mapping"),
        ("generation_kwargs: [x]", "generation_kwargs must be a mapping or nothing, not a list"),
        ("metric_list: [x]", "metric_list names no metric"),
        ("doc_to_visual: {f: x}", "unknown key doc_to_visual.f"),
    ):
        kept = "".join(f"{one}\n" for one in shape.splitlines() if not one.startswith(line.partition(":")[0]))
        assert message in refused(tmp_path, f"{kept}{line}\n")


def test_yaml_in_a_folder_that_is_no_task_file_is_let_be(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    (tmp_path / "prices.yaml").write_text("openai/x: {input: 1}\n")
    assert [path.stem for path in yaml_files(tmp_path)] == ["mine", "prices"]
    names = Catalog((tmp_path,)).task_names()
    assert "mine" in names and "prices" not in names
