"""A task file that does not say what it seems to say is refused, in one line that helps."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.lmms_eval.shape import read_config
from sketchmark.tasks import Task, published
from sketchmark.tasks.files import yaml_files

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
    for file in files:
        if file.name == published.FILE:
            published.read(file)
        else:
            read_config(file)
        gc.collect()


@pytest.mark.parametrize(
    ("old", "new", "path", "meant"),
    [
        ("scorers:", "scorer:", "unknown key scorer ", "scorers"),
        ("headline:", "headlin:", "unknown key headlin ", "headline"),
        ("protocol:", "protocl:", "unknown key modes.visual_cot.protocl ", "protocol"),
        ("default_limit:", "limit:", "unknown key limit ", "default_limit"),
        ("{prompts: {inputs: [\"go\"", "{prompt: {inputs: [\"go\"", "unknown key modes.direct.prompt ", "prompts"),
    ],
)  # fmt: skip
def test_a_near_miss_is_answered_with_the_key_that_was_meant(
    tmp_path: Path, old: str, new: str, path: str, meant: str
) -> None:
    message = refused(tmp_path, GOOD.replace(old, new))
    assert f"mine.yaml: {path}" in message and f"did you mean {meant}?" in message


def test_a_key_that_resembles_nothing_is_answered_with_those_there_are(tmp_path: Path) -> None:
    message = refused(tmp_path, GOOD + "zzz: 1\n")
    assert "unknown key zzz (known: include, about, source" in message


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("headline: 3", "headline must be a text, not a whole number"),
        ("breakdown: colour", "breakdown must be a list, not a text"),
        ("breakdown: [1]", "breakdown[0] must be a text, not a whole number"),
        ("scorers:", "scorers must be a list, not nothing"),
        ("scorers: \"a:b\"", "scorers must be a list, not a text"),
        ("scorers: [nowhere]", "scorers[0] must be written as module:name"),
        ("scorers: [{dataset: x}]", "scorers[0].use is missing"),
        ("scorers: {\"evil:f\": 1}", "scorers must be a list, not a mapping"),
        ("source: [[use, \"x:y\"]]", "source must be a mapping, not a list"),
        ("source: {use: [\"x:y\"]}", "source.use must be a text, not a list"),
        ("source: {use: \"maze\", since: 2024-01-01}", "source.since must be a text or a number"),
        ("source: {use: \"maze\", n: .nan}", "source.n must be a text or a number"),
        ("modes: [direct]", "modes must be a mapping, not a list"),
        ("modes: {direct: [[protocol, \"evil:f\"]]}", "modes.direct must be a mapping, not a list"),
        ("modes: {direct: }", "modes.direct must be a mapping, not nothing"),
        ("modes: {1: {}}", "the name modes[1] must be a text"),
        ("modes: {../../up: {}}", "the name modes.'../../up' must be written as letters"),
        ("modes: {direct: {in_words: 1}}", "modes.direct.in_words must be true or false"),
        ("modes: {direct: {prompts: {ask: yes}}}", "modes.direct.prompts.ask must be"),
        ("modes: {direct: {prompts: {inputs: [{each: x}]}}}", "modes.direct.prompts.inputs[0].parts is missing"),
        ("modes: {direct: {prompts: {inputs: [{parts: []}]}}}", "needs exactly one of each, when, unless"),
        ("modes: {direct: {prompts: {inputs: [{eech: x, parts: []}]}}}", "inputs[0].eech (did you mean each?)"),
        ("modes: {direct: {settings: {max_steps: many}}}", "modes.direct.settings.max_steps must be a whole number"),
        ("modes: {direct: {lmms_eval_specific_kwargs: {default: {max_steps: many}}}}", "max_steps must be a whole"),
        ("modes: {direct: {lmms_eval_specific_kwargs: {default: {inputs: [{each: x}]}}}}", "[0].parts is missing"),
        ("generation: {temperature: cold}", "generation.temperature must be a number, not a text"),
        ("generation: {max_new_tokens: 0}", "generation.max_new_tokens"),
        ("default_limit: -1", "default_limit"),
        ("prompt_sets: {terse: {drect: {}}}", "prompt_sets.terse names the mode 'drect' (there are: direct,"),
        ("modes: {direct: {like: drect}}", "modes.direct.like names the mode 'drect'"),
        ("modes: {direct: {protocol: drect}}", "no protocol named 'drect'"),
        ("modes: {direct: {protocol: 'maze.samples'}}", "maze.samples is not a protocol"),
        ("aggregate: 3", "aggregate must be"),
        ("submission: [x]", "submission must be a text"),
        ("needs_judge: often", "needs_judge must be true or false"),
        ("source: {use: \"maze\", rowz: 5}", "source: missing a required argument: 'rows'"),
        ("3: x", "unknown key 3"),
        ("[a]: x", "cannot read task file"),
        ("about: !!python/object/apply:os.system [ls]", "cannot read task file"),
        ("about: !!int ''", "cannot read task file"),
        ("about: 2024-13-45", "cannot read task file"),
        ("include: 3", "include must be a file's name"),
        ("include: [\"\\0\"]", "include must be a file's name"),
        ("include: nowhere.yaml", "nowhere.yaml: no such file"),
        ("include: /dev/zero", "include '/dev/zero' leads out of its folder"),
        ("include: ../../x/y.yaml", "leads out of its folder"),
        ("include: ../.ssh/config.yaml", "leads out of its folder"),
        ("include: .hidden.yaml", "leads out of its folder"),
        ("include: ''", "leads out of its folder"),
    ],
)  # fmt: skip
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
