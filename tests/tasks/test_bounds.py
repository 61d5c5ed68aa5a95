"""Files that go in circles, or that stand for more than they show, end in one line: no traceback, hang or crash."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.lmms_eval.shape import read_config
from sketchmark.tasks import Task
from sketchmark.tasks.files import built_in_files
from sketchmark.tasks.schema import GroupFile, ModeBlock, TaskFile
from tests.tasks.test_checking import GOOD, refused


def test_modes_that_are_like_each_other_in_a_circle(tmp_path: Path) -> None:
    head = 'source: {use: "maze"}\nmodes:\n'
    assert "modes.a.like goes in a circle: a → a" in refused(tmp_path, head + "  a: {like: a}\n")
    circle = head + "  a: {like: b}\n  b: {like: c}\n  c: {like: b}\n"
    assert "modes.a.like goes in a circle: a → b → c → b" in refused(tmp_path, circle)


def test_modes_that_are_like_each_other_in_a_row(tmp_path: Path) -> None:
    def row(last: int) -> str:
        rows = "".join(f"  m{n}: {{like: m{n - 1}}}\n" for n in range(1, last + 1))
        return 'source: {use: "maze"}\nmodes:\n  m0: {prompts: {ask: first}}\n' + rows

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
        ("about: x\nheadline: y\nabout: z", "has the key 'about' twice in one mapping, again in line 3"),
        ("modes: {direct: {prompts: {ask: x, 'ask': y}}}", "has the key 'ask' twice in one mapping"),
        ("modes:\n- {a: 1}\n- {b: 1, c: [1], b: 2}", "has the key 'b' twice"),
        ("about: 9999-99-99", "cannot read task file"),
        ("about: !!binary eA==", "about must be a text, not bytes"),
        ("about: !!timestamp x", "cannot read task file"),
        ("about: 1" + "0" * 400, "about must be a text"),
        ("about: !!float 1e999", "about must be a text"),
        ("", "is not a mapping"),
    ],
    ids=lambda value: value[:24],
)  # fmt: skip
def test_a_text_that_is_too_much_is_refused_before_it_is_built(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, text)


def test_a_few_aliases_are_what_yaml_is_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    text = GOOD.replace('inputs: ["go", <initial>]', 'inputs: &inputs ["go", <initial>]')
    file.write_text(text.replace("inputs: [<initial>]", "inputs: *inputs"))
    assert Catalog((file,)).task("mine").mode("visual_cot").prompts["inputs"] == ["go", "<initial>"]
    merged = "\nmodes:\n  direct: &one {<<: {in_words: true}, <<: {prompts: {inputs: [x]}}}\n  other: {<<: *one}\n"
    file.write_text(GOOD.partition("\nmodes:")[0] + merged)
    read_config.cache_clear()
    assert Catalog((file,)).task("mine").mode("other").in_words


_KEYS = sorted(
    {*TaskFile.__struct_fields__, *GroupFile.__struct_fields__, *ModeBlock.__struct_fields__} - {"include"}
)
_WORDS = some.sampled_from([*_KEYS, "use", "direct", "default", "parts", "each", "dataset_path", "doc_to_text"])
_NAMES = some.one_of(_WORDS, some.text(max_size=3), some.integers(), some.none(), some.booleans())
_TEXTS = some.one_of(some.sampled_from(["maze", "os:system", "voila.nowhere:f", "direct"]), _WORDS)
_VALUES = some.recursive(
    some.one_of(
        some.none(), some.booleans(), some.integers(), some.floats(), some.dates(), some.binary(max_size=3), _TEXTS
    ),
    lambda inner: some.one_of(some.lists(inner, max_size=3), some.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=8,
)  # fmt: skip
_SOUND = yaml.safe_load(GOOD)
_FULL, _THEIRS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8")).values()


def _places(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from _places(one, (*path, key))


def _changed(value: Any, path: tuple[object, ...], new: object) -> Any:
    if not path:
        return new
    changed: Any = list(value) if isinstance(value, list) else dict(value)
    changed[path[0]] = _changed(value[path[0]], path[1:], new)
    return changed


def _opened(file: Path, content: object) -> bool:
    """Whether the file is a task. It is one whole task or one line, and never another error."""
    file.write_text(yaml.safe_dump(content), "utf-8")
    try:
        catalog = Catalog((file,))
        name = file.stem if file.stem in catalog.task_names() else catalog.pick(file.stem)[0].task
        task = catalog.task(name)
        assert isinstance(task, Task)
        for mode in task.modes:
            task.mode(mode).describe()
    except BadInput as error:
        assert "\n" not in str(error)
        return False
    return True


_numbers = itertools.count()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the plug-ins of this machine: looking for them takes longer than everything else."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())


_freely = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_freely
@given(some.dictionaries(some.one_of(_WORDS, _NAMES), _VALUES, max_size=4), some.booleans())
def test_whatever_a_file_holds_it_is_a_task_or_one_line(
    tmp_path: Path, alone: None, values: dict[object, object], sound: bool
) -> None:
    _opened(tmp_path / f"mine{next(_numbers)}.yaml", {**_SOUND, **values} if sound else values)


@_freely
@given(some.sampled_from([(whole, place) for whole in (_FULL, _THEIRS) for place in _places(whole)]), _VALUES)
def test_whatever_stands_in_any_place_of_a_file_it_is_a_task_or_one_line(
    tmp_path: Path, alone: None, spot: tuple[Any, tuple[object, ...]], value: object
) -> None:
    whole, place = spot
    _opened(tmp_path / f"mine{next(_numbers)}.yaml", _changed(whole, place, value))


def test_the_files_that_places_are_changed_in_are_tasks_themselves(tmp_path: Path) -> None:
    for number, whole in enumerate((_SOUND, _FULL, _THEIRS)):
        assert _opened(tmp_path / f"whole{number}.yaml", whole)


def test_a_link_leads_no_further_than_a_name_may(tmp_path: Path) -> None:
    folder, beside, elsewhere = tmp_path / "set" / "mine", tmp_path / "set" / "shared", tmp_path / "elsewhere"
    for path in (folder, beside, elsewhere):
        path.mkdir(parents=True)
        (path / "_base.yaml").write_text("about: hello\n")
    (folder / "out.yaml").symlink_to(elsewhere / "_base.yaml")
    assert "leads out of its folder" in refused(folder, "include: out.yaml\n")
    (folder / "near.yaml").write_text("include: ../shared/_base.yaml\nsource: {use: 'maze'}\n")
    assert read_config(folder / "near.yaml")["about"] == "hello"


def test_a_built_in_task_can_be_included_from_anywhere(tmp_path: Path) -> None:
    maze = next(path for path in built_in_files() if path.name == "maze.yaml")
    (tmp_path / "mine.yaml").write_text(f"include: {maze}\nabout: mine\n")
    assert Catalog((tmp_path / "mine.yaml",)).task("mine").about == "mine"
