"""The settings record: all that is derived from it says the same."""

from __future__ import annotations

import importlib.util
import inspect
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

import sketchmark
from sketchmark.commands.run import run_command
from sketchmark.errors import BadInput
from sketchmark.runs import prepare
from sketchmark.settings import FIELDS, Settings, command, fields
from sketchmark.settings.run_file import ModelEntry, RunFile, TaskEntry

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_settings", DOCS / "make_settings.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_text_follows_the_record(maker: ModuleType) -> None:
    for path, make in maker.MADE.items():
        text = path.read_text("utf-8")
        assert make(text) == text, "run docs/make_settings.py"


def test_every_surface_has_the_settings_that_have_a_place_there() -> None:
    keywords = inspect.signature(sketchmark.run).parameters
    assert list(keywords) == ["model", "tasks", *(f.name for f in fields("P") if f.name not in ("model", "tasks"))]
    options = {option.name for option in run_command.params if isinstance(option, click.Option)}
    of_the_command = {
        "dry_run",
        "log_samples",
        "log_samples_suffix",
        "verbosity",
        "details",
        "verbose",
        "log_file",
        "show_settings",
    }
    assert options - of_the_command == {field.name for field in fields("C")}
    for block, where, own in ((RunFile, "F", {"models", "tasks"}), (TaskEntry, "T", {"task"})):
        assert set(block.__struct_fields__) - own == {field.name for field in fields(where)} - {"tasks"}
    assert set(ModelEntry.__struct_fields__) - {"name"} == {field.name for field in fields("M")}


def test_run_json_keeps_the_settings_that_have_a_place_there(tmp_path: Path) -> None:
    sketchmark.run("player/solver", "maze", limit=1, output_path=tmp_path, no_cache=True, quiet=True)
    (asked,) = json.loads((tmp_path / "run.json").read_text())["asked"].values()
    assert asked == {"model": "player/solver", "tasks": "maze", "limit": 1}
    values: dict[str, Any] = {name: object() for name in FIELDS}
    everything = Settings(**values)
    kept = {name for name in FIELDS if getattr(everything.only("J"), name) != getattr(Settings(), name)}
    assert kept == {field.name for field in fields("J")}


def test_a_command_holds_every_setting_of_run_json() -> None:
    samples: dict[str, Any] = {"arguments": {"a": 1}, "paths": ("a",), "flag": True, "number": 2.0, "whole": 2}
    for field in fields("CJ"):
        value = samples.get(field.kind, "x")
        words = command(Settings(**{field.name: value}), "run")
        assert words is not None and field.option in words


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"concurrency": 0}, "concurrency is 0 (it must be at least 1)"),
        ({"max_cost": -1}, "max_cost is -1 (it must be at least 0)"),
        ({"time_limit": 0}, "time_limit is 0 (it must be above 0)"),
        ({"seed": 1.5}, "seed is 1.5 (it must be a whole number)"),
        ({"limit": 10**20}, f"limit is {10**20} (it must be at most {2**53})"),
        ({"limit": 10**5000}, f"limit is a number of more than 30 digits (it must be at most {2**53})"),
        ({"limit": float("inf")}, f"limit is a number of more than 30 digits (it must be at most {2**53})"),
        ({"max_cost": float("nan")}, f"max_cost is nan (it must be at most {2**53})"),
        ({"seed": -(10**20)}, f"seed is {-(10**20)} (it must be at most {2**53})"),
        *(
            ({name: 10**17}, f"{name} is {10**17} (it must be at most {2**53})")
            for name in ("concurrency", "replicas")
        ),
        ({"replicas": "two"}, "replicas is 'two', which is not a number"),
        ({"steps": 3}, "these settings cannot be used: Expected `str`, got `int` - at `$.steps`"),
        ({"repeats": 0}, "repeats is 0 (it must be at least 1)"),
        ({"answers": 1.5}, "answers is 1.5 (it must be a whole number)"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_in_one_line(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput) as refused:
        prepare("player/solver", "maze", **given)
    assert str(refused.value) == told


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(TypeError, match="there is no setting 'limits'"):
        prepare("player/solver", "maze", limits=3)
