"""What a task's own files may import: what is installed, what is provided for what is not, and their neighbours."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from sketchmark.errors import BadInput
from sketchmark.lmms_eval.functions import Functions
from sketchmark.lmms_eval.stand_ins import MODULES
from sketchmark.tasks.imports import Imports, spare_imports
from tests.tabled import tabled

PROVIDED = {
    "not_installed": "sketchmark.errors",
    "not_installed.deep": "sketchmark.media.pixels",
    "json": "sketchmark.episode.sample",
}


def run(folder: Path, code: str, provided: dict[str, str] | None = None) -> ModuleType:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "code.py").write_text(code)
    return Imports(folder, provided or {}).run(folder / "code.py")


def test_what_is_provided_stands_in_for_what_is_not_installed_and_for_nothing_else(tmp_path: Path) -> None:
    found = run(tmp_path, "import json, not_installed.deep\nfrom not_installed import BadInput\n", PROVIDED)
    assert vars(found)["json"] is sys.modules["json"], "an installed module is never replaced"
    assert vars(found)["not_installed"].deep is sys.modules["sketchmark.media.pixels"]
    assert vars(found)["BadInput"] is BadInput


def test_nobody_else_sees_what_is_provided_or_lies_beside(tmp_path: Path) -> None:
    before, path, finders = set(sys.modules), list(sys.path), list(sys.meta_path)
    (tmp_path / "neighbour.py").write_text("x = 1\n")
    run(tmp_path, "import not_installed, neighbour\ndef late():\n    import not_installed.deep\n", PROVIDED).late()
    assert (sys.path, sys.meta_path) == (path, finders)
    assert all(name.startswith("sketchmark") for name in set(sys.modules) - before)
    for name in ("not_installed", "neighbour"):
        with pytest.raises(ModuleNotFoundError):
            __import__(name)


def test_two_folders_have_neighbours_of_the_same_name(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "neighbour.py").write_text(f"x = {name!r}\n")
        found.append(vars(run(tmp_path / name, "from neighbour import x\n"))["x"])
    assert found == ["one", "two"]


def test_neighbours_are_also_imported_with_a_dot(tmp_path: Path) -> None:
    (tmp_path / "dotted.py").write_text("x = 1\n")
    found = run(tmp_path, "from . import dotted\nfrom .dotted import x\n")
    assert vars(found)["x"] == 1 and vars(found)["dotted"].x == 1
    with pytest.raises(ImportError, match="beyond the folder"):
        run(tmp_path / "deeper", "from ..dotted import x\n")


def test_a_folder_in_a_copy_of_its_package_finds_the_rest_of_it_without_running_what_is_around(
    tmp_path: Path,
) -> None:
    package = tmp_path / "big_package"
    for place in ("tasks/mine", "tasks/shared/inner"):
        (package / place).mkdir(parents=True)
    for around in (package, package / "tasks"):
        (around / "__init__.py").write_text("raise SystemExit('needs two gigabytes')\n")
    (package / "tasks/shared/__init__.py").write_text("from .inner.more import deep\n")
    (package / "tasks/shared/inner/more.py").write_text("from .. import inner\ndeep = 3\n")
    found = run(package / "tasks/mine", "import big_package.tasks.shared as s\nx = s.deep, s.inner.more.deep\n")
    assert vars(found)["x"] == (3, 3)


def test_a_file_that_fails_is_forgotten_and_fails_again(tmp_path: Path) -> None:
    imports = Imports(tmp_path)
    (tmp_path / "code.py").write_text("import bad_neighbour\n")
    (tmp_path / "bad_neighbour.py").write_text("1 / 0\n")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            imports.run(tmp_path / "code.py")
    assert not [name for name in sys.modules if name.startswith("sketchmark_included_bad_neighbour")]


def test_a_file_is_read_once_however_often_its_functions_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "utils.py").write_text("def f():\n    return 1\n")
    read: list[Path] = []

    def reads(file: Path, wanted: frozenset[str]) -> frozenset[int]:
        read.append(file)
        return spare_imports(file, wanted)

    monkeypatch.setattr("sketchmark.tasks.imports.spare_imports", reads)
    functions = Functions(["utils.f"], tmp_path, {})
    assert [functions[{"!function": "utils.f"}]() for _ in range(3)] == [1, 1, 1]
    assert len(read) == 1


@tabled
def test_code_that_cannot_be_loaded_is_one_line_that_says_what_to_do(tmp_path: Path, code: str, told: str) -> None:
    (tmp_path / "utils.py").write_text(f"{code}\n\ndef f():\n    return cv7, lmms_eval\n")
    with pytest.raises(BadInput) as refused:
        Functions(["utils.f"], tmp_path, MODULES)[{"!function": "utils.f"}]
    assert str(refused.value).startswith("!function utils.f cannot be loaded: ") and told in str(refused.value)


CODE = """
import cv7
from cv8.more import thing as other
import json
try:
    import cv9
except ImportError:
    cv9 = None

def reads(doc):
    return helps(doc) and cv9

def helps(doc):
    return json.dumps(doc)

def draws(doc):
    return cv7.draw(doc)

def scores(doc):
    return other(doc)
"""


def test_a_package_that_the_named_functions_do_not_use_need_not_be_installed(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text(CODE)
    functions = Functions(["utils.reads"], tmp_path, {})
    assert functions[{"!function": "utils.reads"}]({}) is None
    for other in ("draws", "scores"):
        with pytest.raises(ModuleNotFoundError, match=r"cv7|cv8"):
            functions[{"!function": f"utils.{other}"}]({})


@pytest.mark.parametrize(("named", "missing"), [("draws", "cv7"), ("scores", "cv8")])
def test_one_that_they_do_use_is_told_before_anything_is_played(tmp_path: Path, named: str, missing: str) -> None:
    (tmp_path / "utils.py").write_text(CODE)
    with pytest.raises(BadInput, match=f"there is no module {missing}"):
        Functions([f"utils.{named}"], tmp_path, {})[{"!function": f"utils.{named}"}]


def test_what_runs_at_import_is_used(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("import cv7\n\n@cv7.slow\ndef other():\n    ...\n\ndef f():\n    ...\n")
    with pytest.raises(BadInput, match="there is no module cv7"):
        Functions(["utils.f"], tmp_path, {})[{"!function": "utils.f"}]


@tabled
def test_a_function_of_a_file_that_is_not_there_is_told_by_that_file(tmp_path: Path, named: str, told: str) -> None:
    functions = Functions([named], tmp_path, MODULES)
    assert "" not in functions.files
    with pytest.raises(BadInput) as refused:
        functions[{"!function": named}]
    assert told.format(folder=tmp_path) in str(refused.value)


def test_a_link_is_a_file_of_the_folder_it_lies_in(tmp_path: Path) -> None:
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "neighbour.py").write_text(f"x = {name!r}\n")
    (tmp_path / "elsewhere" / "real.py").write_text("from neighbour import x\ndef f():\n    return x, __file__\n")
    (tmp_path / "here" / "linked.py").symlink_to(tmp_path / "elsewhere" / "real.py")
    found = Functions(["linked.f"], tmp_path / "here", {})[{"!function": "linked.f"}]()
    assert found == ("here", str(tmp_path / "here" / "linked.py"))
    (tmp_path / "here" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match=r"real\.py is outside .*here \(have its folder there"):
        Functions(["sub.real.f"], tmp_path / "here", {})[{"!function": "sub.real.f"}]


def test_a_file_that_another_one_imports_is_told_before_it_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "neighbour.py").write_text("print('it runs')\n")
    (tmp_path / "code.py").write_text("import json, neighbour\nfrom neighbour import *\n")
    Imports(tmp_path, notify=print).run(tmp_path / "code.py")
    assert capsys.readouterr().out == f"running {tmp_path / 'neighbour.py'} too, which is imported\nit runs\n"
