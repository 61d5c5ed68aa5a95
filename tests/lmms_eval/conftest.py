"""No test asks the hub for anything: a data set that is not here must be an error at once."""

import os
import shutil
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The task folder `shades`, to be changed at will."""
    shades = Path(__file__).parent / "shades"
    return Path(shutil.copytree(shades, tmp_path / "mine", ignore=shutil.ignore_patterns("__pycache__")))
