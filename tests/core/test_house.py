"""Limits on the shape of the code base: number of files, size of folders, modules with a single importer, names."""

from __future__ import annotations

import re
from pathlib import Path

from sketchmark.commands import COMMANDS
from tests.core.test_layers import ROOT, imported

WORLD_FILES = 9
"""Worlds of one file each: `worlds/NAME.py` is a plug-in, and counts beyond the limit."""
TRAINING_FILES = 9
"""The core of `training/` and its adapters, one file per package that they serve."""
HUMAN_FILES = 7
"""`human/` and its command: people in the browser."""
FILES, PER_FOLDER, SINGLE_IMPORTERS = 242 + WORLD_FILES + HUMAN_FILES + TRAINING_FILES, 20, 35
NOUNS = {
    "drawing": "an image that a model made",
    "published": "published scores",
    "sliding": "the sliding puzzle",
    "testing": "test doubles, as in NumPy",
    "training": "games of trainers",
}
"""Words that look like participles -> what they name."""


def module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__").removesuffix("__init__")


MODULES = {module(path): path for path in sorted(each.relative_to(ROOT) for each in ROOT.rglob("*.py"))}


def importers() -> dict[str, set[str]]:
    """Return the modules that import each module, by any import statement."""
    found: dict[str, set[str]] = {name: set() for name in MODULES}
    for own, path in MODULES.items():
        for target in imported((ROOT / path).read_text("utf-8"), path):
            inner = target.partition(".")[2]
            other = inner if inner in MODULES else inner.rpartition(".")[0]
            if other != own and other in found:
                found[other].add(own)
    return found


def registered() -> set[str]:
    """Return the modules that a table of names refers to: commands, worlds, models, aliases, public names."""
    named = {f"commands.{entry.module}" for entry in COMMANDS.values()}
    for path in MODULES.values():
        named.update(re.findall(r'"sketchmark\.([\w.]+)(?::\w+)?"', (ROOT / path).read_text("utf-8")))
    return named


def may_have_one_importer(name: str) -> bool:
    """Return whether a module is a process entry point, a provider or an export."""
    return name == "cli" or name.split(".")[-1].startswith("_") or name.startswith(("models.providers.", "export."))


def test_the_package_has_at_most_242_files_without_plug_ins_and_20_per_folder() -> None:
    folders: dict[str, int] = {}
    for path in MODULES.values():
        folders[str(path.parent)] = folders.get(str(path.parent), 0) + 1
    crowded = {folder: count for folder, count in folders.items() if count > PER_FOLDER}
    assert len(MODULES) <= FILES, f"{len(MODULES)} files, at most {FILES}"
    assert not crowded, f"at most {PER_FOLDER} modules per folder: {crowded}"


def test_few_modules_have_a_single_importer() -> None:
    known = registered()
    single = {name: min(by) for name, by in importers().items() if len(by) == 1}
    single = {name: by for name, by in single.items() if name not in known and not may_have_one_importer(name)}
    listed = "\n".join(f"  {name} ← {by or 'sketchmark'}" for name, by in sorted(single.items()))
    assert len(single) <= SINGLE_IMPORTERS, (
        f"{len(single)} modules with one importer, at most {SINGLE_IMPORTERS}:\n{listed}"
    )


def test_no_module_is_named_by_a_participle() -> None:
    words = {word for name in MODULES for part in name.split(".") for word in part.split("_")}
    assert {word for word in words if re.fullmatch(r"\w{2,}(ing|[^e]ed)", word)} - set(NOUNS) == set()
