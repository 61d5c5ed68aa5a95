"""One hub for all tests here, and a `sketchmark` in a separate process: the clients read their settings when they
are imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.hub import published
from tests.hub.loopback import Hub, serving


@pytest.fixture(scope="session")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with serving() as hub:
        published.publish_all(hub, tmp_path_factory.mktemp("published"))
        yield hub


@pytest.fixture
def hub(_served: Hub) -> Iterator[Hub]:
    _served.forget()
    before = dict(_served.repositories)
    yield _served
    _served.repositories = before


@dataclass
class Machine:
    """A computer with separate caches that knows no hub but ours."""

    home: Path
    hub: Hub
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        own = ("hf_", "sketchmark_", "hugging", "xdg_", "http_proxy", "https_proxy", "all_proxy")
        kept = {name: value for name, value in os.environ.items() if not name.lower().startswith(own)}
        return kept | {
            "HF_ENDPOINT": self.hub.url,
            "HF_HOME": str(self.home / "hf"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "PYTHONWARNINGS": "ignore",
            "NO_COLOR": "1",
            **self.settings,
        }

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        how: Any = {"env": self.environment, "cwd": self.home, "capture_output": True, "text": True, "timeout": 300}
        return subprocess.run([sys.executable, *arguments], check=False, **how)

    def play(self, tasks: str, *more: str, out: str = "run") -> subprocess.CompletedProcess[str]:
        """`sketchmark run` with a model that needs nothing."""
        run = ("-m", "sketchmark", "run", "--model", "player/random", "--tasks", tasks, "--output_path", out)
        return self.python(*run, *more)


@pytest.fixture
def machine(tmp_path: Path, hub: Hub) -> Machine:
    return Machine(tmp_path, hub)
