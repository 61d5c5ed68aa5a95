"""docs/run-folder.md says what is in a run folder: every field, and nothing that is not there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BASES = {"Mean", "Score"}
"""Stand in a run folder only as a part of what is made of them."""


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_run_folder", DOCS / "make_run_folder.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_fields_that_the_types_have(maker: ModuleType) -> None:
    text = maker.PAGE.read_text("utf-8")
    assert maker.page(text) == text, "run docs/make_run_folder.py"


def test_every_type_of_a_run_folder_is_on_the_page(maker: ModuleType) -> None:
    text = maker.PAGE.read_text("utf-8")
    missing = {name for name in maker.kinds() if f"<!-- fields of {name} -->" not in text}
    assert missing == BASES


def test_every_field_says_what_it_means(maker: ModuleType) -> None:
    for name, kind in maker.kinds().items():
        for field, meaning in maker.meanings(kind).items():
            assert meaning, f"{name}.{field} has no text under it"
            assert f"| `{field}` | {meaning} |" in maker.PAGE.read_text("utf-8") or name in BASES


def test_the_page_names_the_format_that_is_written(maker: ModuleType) -> None:
    from sketchmark.folder.format import FORMAT

    assert f"`format: {FORMAT}` is written" in maker.PAGE.read_text("utf-8").replace("\n", " ")
