"""Names of code: what a task file from elsewhere may name, and what a name stands for."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from sketchmark import Protocol
from sketchmark.answers import phrases as strict_answers
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput, UnknownName
from sketchmark.tasks import Task
from sketchmark.tasks.names import CodeNames, by_alias, named_in
from sketchmark.worlds import maze as maze_world
from tests.tabled import tabled
from tests.tasks.test_checking import GOOD, refused


@tabled
def test_code_beside_a_strangers_file_does_not_run_however_it_is_named(
    tmp_path: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it hides in a package that is called like one of ours, and lies on the import path."""
    (tmp_path / "voila").mkdir()
    for place in ("evil.py", "voila/evil2.py", "voila/__init__.py"):
        (tmp_path / place).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n\ndef f(*a, **k): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    key = line.partition(":")[0]
    rest = "\n".join(one for one in GOOD.splitlines() if not one.startswith(key))
    if key == "modes":
        rest = rest.partition("  direct:")[0] + rest[rest.index("scorers:") :]
    message = refused(tmp_path, f"{rest}\n{line}\n")
    assert "names code outside Sketchmark" in message and "--trust-code" in message
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["lmms_eval:os", "lmms_eval:function", "voila.data:evil", "published_files:Path"])
def test_of_our_modules_a_stranger_gets_only_what_tasks_bring(name: str) -> None:
    with pytest.raises(BadInput, match="cannot find"):
        CodeNames(anywhere=False).find(name)


def test_all_that_our_own_files_name_is_there_for_a_strangers_file_too() -> None:
    catalog, names = Catalog(), set[str]()
    for task in catalog.task_names():
        names |= set(named_in(catalog.task(task).declared))
    assert len(names) > 30
    for name in names:
        found = CodeNames(anywhere=False).find(name)
        assert callable(found) or isinstance(found, Protocol)
    assert CodeNames(anywhere=False).find("sketchmark.benchmarks.voila:generated")


def test_an_included_file_called_like_the_sdk_does_not_replace_it(tmp_path: Path) -> None:
    (tmp_path / "openai.py").write_text(
        "from sketchmark import Model, Reply, Sample\n\n"
        "def rows(*, seed, data):\n    yield Sample('mine')\n\n"
        "class Parrot(Model):\n    async def say(self, context, options):\n        return Reply(text='x')\n"
    )
    (tmp_path / "mine.yaml").write_text('source: {use: "openai:rows"}\nmodes: {direct: {prompts: {inputs: [go]}}}\n')
    code = (
        "import json, sys; from pathlib import Path; from sketchmark.catalog import Catalog\n"
        "folder = Path(sys.argv[1]); trusted = sys.argv[2] == 'trusted'\n"
        "catalog = Catalog((folder,) if trusted else (folder / 'openai.py', folder / 'mine.yaml'), trusted)\n"
        "model = catalog.model('parrot'); ids = [s.id for s in catalog.task('mine').samples()]\n"
        "import openai; print(json.dumps([openai.__file__, type(model).__module__, ids]))\n"
    )
    for how in ("named", "trusted"):
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path), how], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        sdk, module, ids = json.loads(done.stdout)
        assert not sdk.startswith(str(tmp_path)) and module.startswith("sketchmark_included_openai_")
        assert ids == ["mine"]


def test_classes_of_an_included_file_can_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "shapes.py").write_text("from sketchmark import Model\n\nclass Mine(Model):\n    pass\n")
    model = Catalog((tmp_path / "shapes.py",)).model("mine")
    assert type(pickle.loads(pickle.dumps(type(model)()))) is type(model)  # noqa: S301 made two lines above


def test_two_trusted_folders_may_both_have_a_utils(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "utils.py").write_text(
            f"from sketchmark import Sample\n\ndef rows(*, seed, data):\n    yield Sample({folder!r})\n"
        )
        (tmp_path / folder / f"{folder}.yaml").write_text('source: {use: "utils:rows"}\nmodes: {direct: {}}\n')
    catalog = Catalog((tmp_path / "one", tmp_path / "two"), trust_code=True)
    assert [next(catalog.task(name).samples()).id for name in ("one", "two")] == ["one", "two"]


def test_a_file_that_cannot_be_loaded_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "broken_code.py").write_text("1 / 0")
    with pytest.raises(BadInput, match=r"broken_code\.py cannot be loaded: ZeroDivisionError"):
        Catalog((tmp_path / "broken_code.py",))
    assert not [name for name in sys.modules if "broken_code" in name]


def test_our_own_files_name_code_by_alias_only() -> None:
    catalog = Catalog()
    for name in catalog.task_names():
        task = catalog.task(name)
        assert not [one for one in named_in(task.declared) if ":" in one]
        assert not [mode for mode in task.modes if ":" in task.mode(mode).protocol_name]


@tabled
def test_a_run_folder_names_our_code_by_its_alias(written: str, alias: str) -> None:
    assert by_alias(written) == alias
    file = {"source": {"use": written}, "modes": {"direct": {"prompts": {"inputs": ["go"]}}}}
    assert Task("mine", file).describe_source(3) == {"use": alias, "seed": 3}


def test_the_name_of_a_world_stands_for_its_samples() -> None:
    names = CodeNames(anywhere=False)
    assert names.find("maze") is names.find("maze.samples") is maze_world.samples
    assert names.find("strict_answers:choice") is strict_answers.choice


@pytest.mark.parametrize(
    "name", ["nowhere", "nowhere.f", "maze.f", "worlds.scoring", "voila", "..", "a.b.c", "a b.c"]
)
def test_an_alias_that_is_not_registered_is_refused(name: str) -> None:
    with pytest.raises(UnknownName, match="cannot find"):
        CodeNames().find(name)


def test_an_unknown_alias_is_refused_before_anything_runs(tmp_path: Path) -> None:
    rest = "\n".join(line for line in GOOD.splitlines() if not line.startswith("scorers"))
    assert "cannot find 'maze.scor'" in refused(tmp_path, f"{rest}\nscorers: [maze.scor]\n")
