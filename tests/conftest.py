"""Fixtures of all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from sketchmark import testing
from sketchmark.folder import RunFolder

with suppress(ImportError):  # some environments have no hypothesis, and no test that needs it
    from hypothesis import settings

    # The same examples on every machine, however slow it is at the moment
    settings.register_profile("tests", deadline=None, derandomize=True, database=None)
    settings.load_profile("tests")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A script that runs the tests in the background passes on that SIGINT is ignored, also to processes that a test
    # starts in order to interrupt them.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Modules are compiled once, while the tests are collected. From then on no bytecode is written, here and in processes
# that a test starts: that of a plug-in which a test changes within a second would be taken for the new one's.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take longest, so that no worker is left alone with one of them at the end."""
    seconds = Counter[Path]()
    for item in items:
        seconds[item.path] += 100 if item.get_closest_marker("slow") else 1
    items.sort(key=lambda item: -seconds[item.path])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty call cache."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RunFolder]:
    """Return `sketchmark.testing.played` for this session: each run is executed once for all tests and workers."""
    base = tmp_path_factory.getbasetemp()
    return partial(testing.played, base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
