"""Paths as people type them. On a command line the shell reads `~`; in Python nobody has."""

from __future__ import annotations

import os
from pathlib import Path


def from_home(path: str | os.PathLike[str]) -> Path:
    """With a leading `~` read as the home folder; a folder that has such a name is `./~`."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  (a Path's own fails where there is no such user)
