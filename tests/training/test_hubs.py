"""What each hub wants declared, checked by the hub's own loader where its package is installed."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

import sketchmark
from sketchmark.training import worlds

ROOT = Path(__file__).parents[2]
HUBS = ROOT / "hubs"
ADDRESS, COMMIT = "https://github.com/someone/sketchmark", "0" * 40


def declared(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def entries(folder: Path) -> list[Path]:
    """Write the entries for inspect_evals' register with the command that the docs give."""
    subprocess.run([sys.executable, str(HUBS / "inspect_evals.py"), ADDRESS, COMMIT, str(folder)], check=True)
    return sorted(folder.glob("*/eval.yaml"))


def test_every_declaration_has_the_version_and_the_extra_of_the_package() -> None:
    own = declared(ROOT / "pyproject.toml")["project"]
    for folder in ("verifiers", "openenv"):
        made = declared(HUBS / folder / "pyproject.toml")["project"]
        assert made["version"] == own["version"] == sketchmark.__version__
        assert f"sketchmark[{folder}]>={own['version']}" in made["dependencies"]
        assert own["optional-dependencies"][folder][0] in made["dependencies"], "the hub looks for its own package"
        assert made["requires-python"] == own["requires-python"]
    assert yaml.safe_load((HUBS / "openenv" / "openenv.yaml").read_text("utf-8"))["version"] == own["version"]


def test_inspect_finds_every_world_by_the_entry_point() -> None:
    from sketchmark.training import inspect_tasks

    (point,) = metadata.entry_points(group="inspect_ai", name="sketchmark")
    assert point.load() is inspect_tasks
    assert all(inspect.isfunction(getattr(inspect_tasks, world)) for world in worlds())


def test_the_register_of_inspect_evals_gets_one_entry_per_world(tmp_path: Path) -> None:
    from sketchmark.training import inspect_tasks

    files = entries(tmp_path)
    assert [file.parent.name for file in files] == sorted(f"sketchmark_{world}" for world in worlds())
    for file in files:
        entry = yaml.safe_load(file.read_text("utf-8"))
        (task,) = entry["tasks"]
        assert (ROOT / task["task_path"]).is_file() and task["name"] in worlds()
        assert "\n" not in entry["description"]
        default = inspect.signature(getattr(inspect_tasks, task["name"])).parameters["samples"].default
        assert task["dataset_samples"] == default


@pytest.mark.trainers
def test_inspect_evals_own_model_accepts_the_entries(tmp_path: Path) -> None:
    listing = pytest.importorskip("inspect_evals.metadata", reason="another trainer's environment")
    for file in entries(tmp_path):
        found = listing._metadata_from_entry(listing._load_single_eval_yaml(file))
        assert isinstance(found, listing.ExternalEvalMetadata)
        assert (found.package, found.source.maintainers) == ("sketchmark", ["someone"])


@pytest.mark.trainers
def test_openenv_push_accepts_the_folder(tmp_path: Path) -> None:
    pytest.importorskip("openenv", reason="another trainer's environment")
    from openenv.cli.commands import push

    name, _ = push._validate_openenv_directory(HUBS / "openenv")
    push._prepare_staging_directory(HUBS / "openenv", name, tmp_path / "staged", [], enable_interface=False)
    assert name == "sketchmark" and (tmp_path / "staged" / "Dockerfile").is_file()


@pytest.mark.trainers
def test_the_package_for_verifiers_builds_and_holds_its_module(tmp_path: Path) -> None:
    pytest.importorskip("verifiers", reason="another trainer's environment")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path)]
    subprocess.run([*command, str(HUBS / "verifiers")], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("sketchmark_worlds-*.whl")
    from zipfile import ZipFile

    assert "sketchmark_worlds.py" in ZipFile(wheel).namelist()
