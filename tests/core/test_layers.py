"""The layers of docs/design.md: each module imports only from layers above its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sketchmark

ROOT = Path(sketchmark.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "design.md"


def layers(page: str) -> list[str]:
    """The layers in the order of the page's only list: lines of `name` or `name/` with what is in it."""
    block = re.search(r"^## Layers\n.*?```text\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert block, "docs/design.md has no list under `## Layers`"
    return [line.split()[0].rstrip("/") for line in block[1].splitlines() if line and not line[0].isspace()]


LAYERS = layers(PAGE.read_text("utf-8"))
RANK = {name: number for number, name in enumerate(LAYERS)}

SHARED_BENCHMARKS: set[tuple[str, str]] = set()
"""(benchmark, other benchmark): none may import another."""


def imported(source: str, path: Path) -> Iterator[str]:
    """Every `sketchmark.…` module that a file imports, in functions and under TYPE_CHECKING too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "sketchmark")
        elif isinstance(node, ast.ImportFrom):
            above = ("sketchmark", *path.with_suffix("").parts)[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module.split(".")[0] == "sketchmark":
                yield from (f"{module}.{alias.name}" for alias in node.names)


def breaches(path: Path, source: str) -> list[str]:
    """The imports of a file (its path from the package's root) that point the wrong way."""
    own = path.parts[0].removesuffix(".py")
    found = []
    for module in imported(source, path):
        _, _, inner = module.partition(".")
        other, _, rest = inner.partition(".")
        if other in ("", "__version__"):
            continue
        if other not in RANK:
            found.append(f"{path} imports {module}, which is not a layer: the public names are for users")
        elif other != own and RANK[other] >= RANK[own]:
            found.append(f"{path} imports {module}, but {own} comes before {other}")
        elif other == own == "benchmarks":
            found += _between_benchmarks(path, rest.partition(".")[0], module)
    return found


def _between_benchmarks(path: Path, other: str, module: str) -> list[str]:
    own = path.parts[1] if len(path.parts) > 2 else ""
    is_benchmark = other != own and (ROOT / "benchmarks" / other).is_dir()
    if not own or not is_benchmark or (own, other) in SHARED_BENCHMARKS:
        return []
    return [f"{path} imports {module}: a benchmark may not use another one's folder"]


def _files() -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def test_each_module_imports_only_from_the_layers_above_its_own() -> None:
    files = [path for path in _files() if path != Path("__init__.py")]
    assert len(files) > 100
    assert [line for path in files for line in breaches(path, (ROOT / path).read_text("utf-8"))] == []


def test_modules_of_one_package_do_not_import_each_other_in_a_circle() -> None:
    edges: dict[str, set[str]] = {}
    names = {_name(path) for path in _files()}
    for path in _files():
        own = _name(path)
        found = set()
        for module in imported((ROOT / path).read_text("utf-8"), path):
            inner = module.partition(".")[2]
            target = inner if inner in names else inner.rpartition(".")[0]
            if target != own and target and target.split(".")[0] == own.split(".")[0]:
                found.add(target)
        edges[own] = found
    assert [circle for name in sorted(edges) if (circle := _circle(name, edges))] == []


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__").removesuffix("__init__")


def _circle(start: str, edges: dict[str, set[str]]) -> list[str]:
    """A way from a module back to itself, if there is one."""
    waiting, seen = [[start]], set()
    while waiting:
        way = waiting.pop()
        for following in edges.get(way[-1], ()):
            if following == start:
                return [*way, start]
            if following not in seen:
                seen.add(following)
                waiting.append([*way, following])
    return []


def test_the_public_interface_imports_nothing_until_it_is_used() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text("utf-8"))
    at_once = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in at_once] == [
        "from __future__ import annotations",
        "from typing import TYPE_CHECKING, Any",
    ]


def test_the_list_of_layers_names_every_module_and_package() -> None:
    modules = {path.stem for path in ROOT.glob("*.py")} - {"__init__"}
    packages = {path.name for path in ROOT.iterdir() if any(path.rglob("*.py"))}
    assert modules | packages == set(LAYERS)
    assert all((ROOT / name / "__init__.py").is_file() for name in packages)


def test_a_folder_has_at_most_twenty_modules() -> None:
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in [ROOT, *ROOT.rglob("*/")] if folder.is_dir()}
    assert {folder.name: size for folder, size in sizes.items() if size > 20} == {}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("stats/power.py", "from sketchmark.models.cache import CallCache"),
        ("stats/power.py", "from sketchmark.worlds import maze"),
        ("stats/power.py", "from sketchmark import worlds"),
        ("stats/power.py", "import sketchmark.folder.format"),
        ("stats/power.py", "from ..folder import format"),
        ("stats/power.py", "from .. import folder"),
        ("stats/power.py", "from sketchmark import Model"),
        ("report/card.py", "def lazily() -> None:\n    from sketchmark.view import views"),
        ("media/pixels.py", "if TYPE_CHECKING:\n    from sketchmark.episode.model import Reply"),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.benchmarks.voila.rules import PROPERTIES"),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.benchmarks import voila"),
        ("benchmarks/mmmu/scores.py", "from ..voila import totals"),
    ],
)
def test_a_planted_import_the_wrong_way_is_found(path: str, source: str) -> None:
    assert len(breaches(Path(path), source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("runs/runner.py", "from sketchmark import __version__"),
        ("runs/runner.py", "from sketchmark.folder import RunFolder"),
        ("stats/power.py", "from .intervals import interval\nimport numpy"),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.answers import choices\nfrom . import data"),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.benchmarks import get_image_index_info"),
    ],
)
def test_an_import_along_the_layers_is_allowed(path: str, source: str) -> None:
    assert breaches(Path(path), source) == []
