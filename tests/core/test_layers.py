"""The folder list is the data flow: each layer imports only from those before it, and neighbours not each other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import sketchmark

ROOT = Path(sketchmark.__file__).parent

LAYERS = (
    ("extras",),
    ("errors",),
    ("key_values",),
    ("request",),
    ("terminal",),
    ("pixels", "sounds"),
    ("picture",),
    ("svg",),
    ("files", "stats", "engines"),
    ("parts",),
    ("worlds",),
    ("models",),
    ("canvas", "episode"),
    ("desk",),
    ("scores",),
    ("task_files",),
    ("protocols",),
    ("task",),
    ("scoring",),
    ("tasks",),
    ("catalog",),
    ("runs",),
    ("comparison",),
    ("audit",),
    ("report", "view", "export", "serve", "doctor"),
    ("notebook",),
    ("api",),
    ("suites",),
    ("commands",),
    ("cli",),
    ("__main__",),
)
RANK = {name: number for number, layer in enumerate(LAYERS) for name in layer}

MODULES = {
    "__init__",
    "__main__",
    "api",
    "canvas",
    "catalog",
    "cli",
    "desk",
    "episode",
    "errors",
    "extras",
    "parts",
    "picture",
    "pixels",
    "sounds",
}
MODULES |= {"key_values", "protocols", "request", "scores", "task"}
"""Everything else at the top level is a package of the map."""

SHARED_BENCHMARKS = {("uni_mmmu", "worlds")}
"""(folder, other folder under tasks/): Uni-MMMU's puzzles are those of the generated worlds."""


def imported(source: str, path: Path) -> Iterator[str]:
    """Every `sketchmark.…` module that a file names in an import: at the top, inside functions, under
    TYPE_CHECKING, and by a dot."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "sketchmark")
        elif isinstance(node, ast.ImportFrom):
            above = ("sketchmark", *path.with_suffix("").parts)[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            if module.split(".")[0] == "sketchmark":
                yield from (f"{module}.{alias.name}" for alias in node.names)


def breaches(path: Path, source: str) -> list[str]:
    """What in this file (its path from the package's root) goes against the map."""
    own = path.parts[0].removesuffix(".py")
    found = []
    for module in imported(source, path):
        _, _, inner = module.partition(".")
        other, _, rest = inner.partition(".")
        if other in ("", "__version__"):
            continue
        if other not in RANK:
            found.append(f"{path} imports {module}: the public face is for users, and this is no layer")
        elif other != own and RANK[other] >= RANK[own]:
            found.append(f"{path} imports {module}: {own} does not come after {other}")
        elif other == own == "tasks":
            found += _between_benchmarks(path, rest.partition(".")[0], module)
    return found


def _between_benchmarks(path: Path, other: str, module: str) -> list[str]:
    """A folder under tasks/ is one benchmark: what two need lies beside them or below."""
    own = path.parts[1] if len(path.parts) > 2 else ""
    is_benchmark = other != own and (ROOT / "tasks" / other).is_dir()
    if not own or not is_benchmark or (own, other) in SHARED_BENCHMARKS:
        return []
    return [f"{path} imports {module}: one benchmark's folder does not use another's"]


def _files() -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))


def test_each_module_imports_only_from_the_layers_before_its_own() -> None:
    files = [path for path in _files() if path != Path("__init__.py")]
    assert len(files) > 100
    assert [line for path in files for line in breaches(path, (ROOT / path).read_text("utf-8"))] == []


def test_the_public_face_imports_nothing_until_it_is_asked() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text("utf-8"))
    at_once = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in at_once] == [
        "from __future__ import annotations",
        "from typing import TYPE_CHECKING, Any",
    ]


def test_the_top_level_holds_the_map_and_nothing_else() -> None:
    modules = {path.stem for path in ROOT.glob("*.py")}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert modules == MODULES
    assert packages == folders == set(RANK) - MODULES


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("stats/power.py", "from sketchmark.episode.model import Model"),
        ("stats/power.py", "from sketchmark.worlds import maze"),
        ("stats/power.py", "from sketchmark import worlds"),
        ("stats/power.py", "import sketchmark.folder"),
        ("stats/power.py", "from ..runs import store"),
        ("stats/power.py", "from .. import runs"),
        ("stats/power.py", "from sketchmark import Model"),
        ("report/__init__.py", "def lazily() -> None:\n    from sketchmark.view import app"),
        ("episode/sample.py", "if TYPE_CHECKING:\n    from sketchmark.episode.model import Reply"),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.benchmarks.voila import samples"),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.benchmarks import voila"),
        ("benchmarks/mmsi/__init__.py", "from ..voila import data"),
        ("tasks/worlds/data.py", "from sketchmark.benchmarks.uni_mmmu import data"),
        ("benchmarks/mmmu/__init__.py", "from sketchmark.benchmarks.medical.totals import total"),
    ],
)
def test_a_planted_import_against_the_map_is_found(path: str, source: str) -> None:
    assert len(breaches(Path(path), source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("runs/runner.py", "from sketchmark import __version__"),
        ("runs/runner.py", "from sketchmark.folder import RunFolder"),
        ("stats/power.py", "from .paired import pairs\nimport numpy"),
        (
            "benchmarks/mmsi/__init__.py",
            "from sketchmark.answers import choices\nfrom sketchmark.benchmarks.mmsi import scoring",
        ),
        ("benchmarks/mmsi/__init__.py", "from sketchmark.benchmarks import get_image_index_info"),
        ("benchmarks/uni_mmmu/puzzles.py", "from sketchmark.worlds import data"),
    ],
)
def test_an_import_along_the_map_is_allowed(path: str, source: str) -> None:
    assert breaches(Path(path), source) == []
