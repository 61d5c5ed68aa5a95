"""What a missing extra tells: a command that works where it is typed, and never one that would change nothing."""

from __future__ import annotations

import json
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

from sketchmark import errors as extras
from sketchmark.errors import MissingExtra
from sketchmark.files import tables


class Installed:
    """A distribution as pip leaves it: `direct_url.json` for a folder, nothing for the index."""

    def __init__(self, about: object) -> None:
        self._about = about

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self._about is None else json.dumps(self._about)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> object:
    def install(about: object) -> None:
        monkeypatch.setattr(metadata, "distribution", lambda name: Installed(about))

    return install


def test_from_a_checkout_the_extra_comes_from_the_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: object
) -> None:
    folder = tmp_path / "my clone"
    folder.mkdir()
    assert callable(installed)
    installed({"url": folder.as_uri(), "dir_info": {"editable": True}})
    assert extras.install_command("data") == f"pip install -e '{folder}[data]'"
    monkeypatch.chdir(folder)
    assert extras.install_command("data") == "pip install -e '.[data]'"


@pytest.mark.parametrize(
    "about", [None, {"url": "file:///x.whl", "archive_info": {}}, {"dir_info": {"editable": True}}]
)
def test_from_the_index_or_a_wheel_it_is_named(installed: object, about: object) -> None:
    assert callable(installed)
    installed(about)
    assert extras.install_command("data") == "pip install 'sketchmark[data]'"


def test_this_very_installation_is_a_checkout() -> None:
    """`make test` installs with -e: the command must name the folder that holds pyproject.toml."""
    folder = extras.install_command("data").partition("'")[2].partition("[")[0]
    assert (Path(folder) / "pyproject.toml").is_file()


def test_an_extra_that_is_installed_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extras.is_installed("data") and not extras.is_installed("dreamsim") and not extras.is_installed("nothing")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    try:
        import_module("pyarrow")
    except ImportError:
        told = str(MissingExtra("parquet files", "data"))
    assert "sketchmark[data], which is installed but cannot be used: ModuleNotFoundError" in told
    assert "pip install" not in told


def test_an_extra_that_is_missing_is_proposed() -> None:
    told = str(MissingExtra("the DreamSim metric", "dreamsim"))
    assert "needs an optional dependency, sketchmark[dreamsim]" in told and "pip install" in told


def test_the_ways_to_data_propose_the_extra_only_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tables.ways("Owner/Set").endswith("; without them the hub's Owner/Set is loaded")
    monkeypatch.setattr(tables, "is_installed", lambda extra: False)
    assert tables.ways("Owner/Set").endswith(f", or {extras.install_command('data')} to load Owner/Set")


def test_a_hub_client_that_is_installed_and_broken_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtra, match=r"loading Owner/Broken needs .*cannot be used: ModuleNotFoundError"):
        list(tables.rows(None, hub="Owner/Broken"))
