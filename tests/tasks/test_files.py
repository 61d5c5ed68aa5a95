"""A folder of somebody's tasks is taken as it lies there: what cannot be read is told to whoever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sketchmark.catalog import Catalog, Pick
from sketchmark.cli import root
from sketchmark.errors import BadInput
from sketchmark.lmms_eval.shape import read_config
from tests.tabled import tabled

TASK = "dataset_path: json\ndoc_to_text: question\nmetric_list: [{metric: exact_match}]\n"
OURS = 'source: {use: "maze"}\nmodes: {direct: {prompts: {inputs: [go]}}}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, good=f"task: good_one\n{TASK}")
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")


def listed(folder: Path, *words: str) -> Result:
    arguments = ["list", "tasks", *words, "--include", str(folder)]
    return CliRunner().invoke(root, arguments, standalone_mode=False)


BROKEN = {
    "a syntax error": (f"task: bad_one\n{TASK}filter_list: [", "cannot read task file"),
    "a wrong value": (f"task: bad_one\n{TASK}repeats: often\n", "repeats must be a whole number"),
    "a file that is not there": ("task: bad_one\ninclude: gone.yaml\n", r"gone\.yaml: no such file"),
    "a tag of somebody else": (f"task: bad_one\n{TASK}metadata: !Ref it\n", "!Ref"),
    "two documents": (f"task: bad_one\n{TASK}---\nmore: 1\n", "expected a single document"),
    "not UTF-8": (f"task: bad_one\n{TASK}description: \udcff\n", "codec can't decode"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_file_that_cannot_be_read_hinders_no_other_and_is_told_to_whoever_asks_for_it(
    folder: Path, what: str
) -> None:
    text, words = BROKEN[what]
    (folder / "file_of_it.yaml").write_bytes(text.encode("utf-8", "surrogateescape"))
    catalog = Catalog((folder,))
    assert "good_one" in catalog.task_names()
    assert catalog.pick("good_one,maze") == [Pick("good_one"), Pick("maze")]
    names = ["file_of_it", "File-of-it", "file_of*"]
    names += ["bad_one", "bad_one_visual_cot", "bad*"] if what != "not UTF-8" else []
    for name in names:
        with pytest.raises(BadInput, match=words):
            catalog.pick(name)
    with pytest.raises(BadInput, match=words):
        catalog.task(names[-3])


def test_a_file_named_by_hand_is_refused_at_once(folder: Path) -> None:
    write(folder, bad=f"{TASK}repeats: often\n")
    with pytest.raises(BadInput, match="repeats must be a whole number"):
        Catalog((folder / "bad.yaml",))


def test_nothing_is_played_in_place_of_a_file_that_cannot_be_read(folder: Path) -> None:
    write(folder, maze="task: maze\ninclude: gone.yaml\n", one=f"task: one\ntag: both\n{TASK}")
    write(folder, two=f"task: two\ntag: [both]\n{TASK}repeats: often\n")
    catalog = Catalog((folder,))
    assert "maze" not in catalog.task_names()
    for name, words in (("maze", "gone.yaml"), ("both", "repeats")):
        with pytest.raises(BadInput, match=words):
            catalog.pick(name)


def test_a_pattern_that_fits_others_too_says_what_it_leaves_out(folder: Path) -> None:
    notices: list[str] = []
    write(folder, good_two=f"task: good_two\n{TASK}repeats: often\n")
    assert Catalog((folder,), notify=notices.append).pick("good*") == [Pick("good_one")]
    [told] = notices
    assert told.startswith("good*: without what could not be read, 1 file: task file") and "repeats" in told


def test_the_list_says_how_many_files_could_not_be_read_and_which_first(folder: Path) -> None:
    write(folder, a_bad=f"{TASK}repeats: often\n", b_bad=f"{TASK}repeats: never\n")
    shown = listed(folder)
    assert shown.return_value == 0 and "good_one" in shown.stdout and "a_bad" not in shown.stdout
    [line] = shown.stderr.splitlines()
    assert line.startswith("could not be read: 2 files, the first: ") and "a_bad.yaml: repeats must" in line
    assert "b_bad.yaml: repeats must" in str(listed(folder, "b_bad").exception)


FOREIGN = {
    "nothing": "",
    "a list": "- hosts: all\n  tasks: [one]\n",
    "other keys": "name: ci\njobs: {build: {tasks: [one]}}\n",
    "tags of its own": "Resources: {Bucket: !Ref Name, Other: !GetAtt [A, b]}\n",
    "several documents": "kind: Service\n---\nkind: Deployment\n",
    "a text": "just words\n",
}


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_yaml_that_is_not_meant_for_us_may_lie_beside_tasks(folder: Path, text: str) -> None:
    write(folder, other=text)
    (folder / "folder.yaml").mkdir()
    shown = listed(folder)
    assert shown.return_value == 0 and "good_one" in shown.stdout and not shown.stderr


def test_of_two_equal_keys_the_last_counts_as_in_lmms_eval(folder: Path) -> None:
    write(folder, _shared=f"{TASK}doc_to_target: first\ndoc_to_target: last\n")
    write(folder, twice="task: twice\ninclude: _shared.yaml\noutput_type: other\noutput_type: generate_until\n")
    Catalog((folder,)).pick("twice")
    config = read_config(folder / "twice.yaml")
    assert (config["doc_to_target"], config["output_type"]) == ("last", "generate_until")


def test_in_files_of_our_own_shape_they_are_refused(folder: Path) -> None:
    write(folder, _shared="about: first\nabout: last\n", ours=f"include: _shared.yaml\n{OURS}")
    write(folder, group="group: some\ntasks: [maze]\ntasks: [jigsaw]\n")
    for name, key in (("ours", "about"), ("group", "tasks")):
        with pytest.raises(BadInput, match=f"'{key}' twice in one mapping, again in line"):
            Catalog((folder,)).pick(name)


def test_groups_may_be_written_inside_groups(folder: Path) -> None:
    notices: list[str] = []
    write(folder, a=f"task: a\n{TASK}", b=f"task: b\n{TASK}", c=f"task: c\n{TASK}")
    deeper = "{group: deeper, task: [b, {task: c, task_alias: sea}]}"
    write(folder, _file=f"group: all_of_it\ntask: [a, {{group: inner, task: [{deeper}]}}]\n")
    catalog = Catalog((folder,), notify=notices.append)
    assert catalog.pick("all_of_it") == [Pick("a"), Pick("b"), Pick("c")]
    assert catalog.group_members("all_of_it") == ["a", "b", "c"] and "all_of_it" in catalog.group_names()
    assert not notices


def test_a_group_and_a_task_file_may_have_each_others_name(folder: Path) -> None:
    write(folder, x=f"task: y\n{TASK}", y="group: x\ntask: [y, good_one]\n")
    catalog = Catalog((folder,))
    assert catalog.pick("y") == [Pick("y")] and catalog.pick("x") == [Pick("y"), Pick("good_one")]
    assert catalog.group_members("x") == ["y", "good_one"] and "y" not in catalog.group_names()


@tabled
def test_settings_that_a_group_gives_its_tasks_are_refused_by_name(folder: Path, group: str, words: str) -> None:
    write(folder, some=group)
    with pytest.raises(BadInput, match=words):
        Catalog((folder,)).pick("some")


def test_a_score_of_a_group_that_is_not_made_is_told_in_one_line(folder: Path) -> None:
    notices: list[str] = []
    scored = "aggregate_metric_list: [{metric: acc, weight_by_size: true}]"
    write(folder, inner=f"group: inner\ntask: [good_one]\n{scored}\n")
    write(folder, outer=f"group: outer\ntask: [inner, {{group: in, task: [maze], {scored}}}]\n")
    catalog = Catalog((folder,), notify=notices.append)
    for _ in range(2):
        assert catalog.pick("outer") == [Pick("good_one"), Pick("maze")]
        assert notices == ["outer, inner: each task has its score, the group has none (aggregate_metric_list)"]
        notices.clear()
    catalog.pick("good_one")
    assert not notices


@tabled
def test_a_key_that_is_nearly_one_that_is_known_is_refused(folder: Path, line: str, meant: str) -> None:
    write(folder, typo=f"{TASK}{line}\n")
    with pytest.raises(BadInput, match=f"did you mean {meant}"):
        Catalog((folder,)).task("typo")


def test_keys_of_lmms_eval_and_of_a_tasks_own_code_are_let_be(folder: Path) -> None:
    theirs = "task_alias: x\nshould_decontaminate: true\nuse_prompt: x\nllm_judge: {model: x}\nmetadata: [1]\n"
    write(folder, fine=f"{TASK}{theirs}")
    Catalog((folder,)).pick("fine")
