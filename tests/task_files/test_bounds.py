"""Files that go in circles, or that stand for more than they show, end in one line: no traceback, hang or crash."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.task import Task
from sketchmark.task_files.reading import read_config
from sketchmark.task_files.schema import GroupFile, ModeBlock, TaskFile
from tests.task_files.test_checking import GOOD, refused


def test_modes_that_are_like_each_other_in_a_circle(tmp_path: Path) -> None:
    head = 'source: {use: "worlds.data:mazes"}\nmodes:\n'
    assert "modes.a.like goes in a circle: a → a" in refused(tmp_path, head + "  a: {like: a}\n")
    circle = head + "  a: {like: b}\n  b: {like: c}\n  c: {like: b}\n"
    assert "modes.a.like goes in a circle: a → b → c → b" in refused(tmp_path, circle)


def test_modes_that_are_like_each_other_in_a_row(tmp_path: Path) -> None:
    def row(last: int) -> str:
        rows = "".join(f"  m{n}: {{like: m{n - 1}}}\n" for n in range(1, last + 1))
        return 'source: {use: "worlds.data:mazes"}\nmodes:\n  m0: {prompts: {ask: first}}\n' + rows

    assert "modes.m40.like leads through more than 40 modes" in refused(tmp_path, row(4000))
    file = tmp_path / "short.yaml"
    file.write_text(row(39))
    assert Catalog((file,)).task("short").mode("m39").prompts == {"ask": "first"}


def test_groups_that_contain_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("group: a\ntasks: [maze, b]\n")
    (tmp_path / "b.yaml").write_text("group: b\ntasks: [a]\n")
    with pytest.raises(BadInput, match="group 'a' contains itself: a → b → a"):
        Catalog((tmp_path,)).pick("a")


def test_files_that_include_too_many_others(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"_{number}.yaml").write_text(f"include: [_{number + 1}.yaml, _{number + 1}.yaml]\n")
    (tmp_path / "_30.yaml").write_text("about: x\n")
    assert "includes more than 50 files" in refused(tmp_path, "include: _0.yaml\n")


def _bomb() -> str:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]", *levels])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_bomb(), "stands for more than 20000 values"),
        ("a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]", "has more than 100 aliases"),
        ("a: &a [*a]", "refers to itself (*a)"),
        ("a: &a {b: {c: *a}}", "refers to itself (*a)"),
        ("a: " + "[" * 100_000, "is nested more than 40 deep"),
        ("a: " + "{b: " * 60 + "1" + "}" * 60, "is nested more than 40 deep"),
        ("a: *nowhere", "cannot read task file"),
        ("a: " + "9" * 10_000, "cannot read task file"),
        ("about: " + "x" * 4_000_001, "is larger than 4 MB"),
        ("- a", "is not a mapping"),
        ("", "is not a mapping"),
    ],
    ids=["bomb", "aliases", "loop", "mapping-loop", "deep", "deeper", "no-anchor", "number", "size", "list", "none"],
)  # fmt: skip
def test_a_text_that_is_too_much_is_refused_before_it_is_built(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_a_few_aliases_are_what_yaml_is_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    text = GOOD.replace('inputs: ["go", <initial>]', 'inputs: &inputs ["go", <initial>]')
    file.write_text(text.replace("inputs: [<initial>]", "inputs: *inputs"))
    assert Catalog((file,)).task("mine").mode("visual_cot").prompts["inputs"] == ["go", "<initial>"]


_KEYS = sorted(
    {*TaskFile.__struct_fields__, *GroupFile.__struct_fields__, *ModeBlock.__struct_fields__} - {"include"}
)
_WORDS = some.sampled_from([*_KEYS, "use", "direct", "default", "parts", "each", "dataset_path", "doc_to_text"])
_NAMES = some.one_of(_WORDS, some.text(max_size=3), some.integers(), some.none(), some.booleans())
_TEXTS = some.one_of(some.sampled_from(["worlds.data:mazes", "os:system", "voila.nowhere:f", "direct"]), _WORDS)
_VALUES = some.recursive(
    some.one_of(
        some.none(), some.booleans(), some.integers(), some.floats(), some.dates(), some.binary(max_size=3), _TEXTS
    ),
    lambda inner: some.one_of(some.lists(inner, max_size=3), some.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=8,
)  # fmt: skip
_SOUND = yaml.safe_load(GOOD)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some.dictionaries(some.one_of(_WORDS, _NAMES), _VALUES, max_size=4), some.booleans())
def test_whatever_a_file_holds_it_is_a_task_or_one_line(
    tmp_path: Path, values: dict[object, object], sound: bool
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump({**_SOUND, **values} if sound else values), "utf-8")
    read_config.cache_clear()
    try:
        catalog = Catalog((file,))
        task = catalog.task("mine") if "mine" in catalog.task_names() else catalog.task(catalog.pick("mine")[0].task)
        assert isinstance(task, Task)
        for mode in task.modes:
            task.mode(mode).describe()
    except BadInput as error:
        assert "\n" not in str(error)
