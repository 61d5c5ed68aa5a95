"""What users may import is a list, and everything they are told to write uses nothing else."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import sketchmark
from sketchmark.errors import MissingExtra

ROOT = Path(__file__).parents[2]

FACE = """
    CallFailed Context Desk Episode FilledPrompts Grading Model Options Part Picture Protocol Reply Run RunFolder
    Sample Scores SketchmarkError Sound Task Usage __version__ compare get_image_index_info read_choice read_number
    read_yes_no run
"""

INNER = {
    "sketchmark.suites": "several models from Python (docs/several-models.md)",
    "sketchmark.stats": "a library of its own (docs/statistics.md)",
    "sketchmark.testing": "test doubles for plug-ins (docs/add-a-task.md)",
    "sketchmark.serve": "a server of its own (docs/serve.md)",
    "sketchmark.training": "worlds as environments of trainers (docs/train.md)",
    "sketchmark.worlds": "puzzles without a model (docs/voila.md)",
    "sketchmark.benchmarks": "the rest of the image-index sentence (docs/medical.md)",
    "sketchmark.models.providers": "what an entry point may declare (docs/add-a-model.md)",
    "sketchmark.models.call": "what an adapter may build on (docs/add-a-model.md, docs/models.md)",
    "sketchmark.episode.protocol": "for models that stage drawing and answering themselves (docs/mmsi.md)",
}
"""Inner modules that a page names on purpose; they may change with a version, the face may not."""

ENTRY_POINTS = {"sketchmark.models", "sketchmark.tasks"}
"""Groups under which installed packages are found: names, not modules."""

INSIDE = {"add-a-world.md"}
"""Pages about code that becomes part of the package: it imports its neighbours, not the public face."""

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").rglob("*.py")])
PAGES = [page for page in PAGES if page.name not in INSIDE]

_FROM = re.compile(r"from (sketchmark[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))")
_NAMED = re.compile(r"(?<![\w./-])sketchmark(?!\.toml\b)((?:\.[A-Za-z_]\w*)+)")


def names_used(text: str) -> Iterator[str]:
    """`sketchmark.X`, dotted, for everything that a page imports or names."""
    for module, in_brackets, on_line in _FROM.findall(text):
        for name in (in_brackets or on_line).split(","):
            if name.strip():
                yield f"{module}.{name.split()[0].strip('`')}"
    for dotted in _NAMED.findall(_FROM.sub("", text)):
        yield f"sketchmark{dotted}"


def is_allowed(name: str) -> bool:
    if name.split(".")[1] in FACE.split():
        return True
    return name in ENTRY_POINTS or any(name == inner or name.startswith(f"{inner}.") for inner in INNER)


def test_the_public_names_are_these_and_no_others() -> None:
    assert sorted(sketchmark.__all__) == FACE.split()


@pytest.mark.parametrize("name", FACE.split())
def test_every_public_name_leads_somewhere_and_says_what_it_is(name: str) -> None:
    value = getattr(sketchmark, name)
    assert name == "__version__" or inspect.getdoc(value)


def test_dir_lists_the_public_names_before_any_was_used() -> None:
    code = "import sketchmark, sys; print(*dir(sketchmark)); assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(FACE.split()) <= set(done.stdout.split())


def test_a_name_that_is_not_public_is_refused_in_plain_words() -> None:
    with pytest.raises(AttributeError, match="module 'sketchmark' has no attribute 'Catalog'"):
        _ = sketchmark.Catalog


@pytest.mark.parametrize("first", ["import sketchmark.comparison.formats", "import sketchmark.api", "pass"])
def test_compare_is_a_function_whatever_was_imported_before(first: str) -> None:
    """Python binds the name of a package in its parent: a package called `compare` would hide the function."""
    code = f"{first}\nimport sketchmark\nfor _ in range(2):\n    try:\n        sketchmark.compare([])\n"
    code += "    except sketchmark.SketchmarkError as error:\n        print(error)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "no run to compare (sketchmark compare RUN [RUN ...])\n" * 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_nothing_that_is_not_public(page: Path) -> None:
    assert [name for name in names_used(page.read_text("utf-8")) if not is_allowed(name)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    for name in names_used(page.read_text("utf-8")):
        if name not in ENTRY_POINTS:
            with suppress(MissingExtra):  # it is there, and its package is not
                _resolve(name)


def _resolve(name: str) -> object:
    """A dotted name by import and by attribute, as far as modules and classes go."""
    found: object = sketchmark
    done = "sketchmark"
    for part in name.split(".")[1:]:
        done = f"{done}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(done)
    return found


def test_the_pages_do_use_the_face() -> None:
    """Guards the search itself: if it found nothing, the tests above could not fail."""
    used = {name for page in PAGES for name in names_used(page.read_text("utf-8"))}
    assert {"sketchmark.run", "sketchmark.Model", "sketchmark.Protocol", "sketchmark.stats.Pilot"} <= used


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from sketchmark import (\n    Model,\n    Secret as S,\n)", ["sketchmark.Model", "sketchmark.Secret"]),
        ("from sketchmark.folder import RunFolder", ["sketchmark.folder.RunFolder"]),
        ("read it with `sketchmark.folder.RunFolder`.", ["sketchmark.folder.RunFolder"]),
        ("import sketchmark.api as api", ["sketchmark.api"]),
        ("the command sketchmark. And /src/sketchmark.py", []),
    ],
)
def test_imports_are_found_as_people_write_them(text: str, found: list[str]) -> None:
    assert list(names_used(text)) == found


def test_completion_shows_the_public_names_and_no_others() -> None:
    fresh = "import sketchmark; print(*(name for name in dir(sketchmark) if not name.startswith('__')))"
    done = subprocess.run([sys.executable, "-c", fresh], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted({*FACE.split()} - {"__version__"})
