"""Files that belong to a folder: regular ones, that lie where their names say.

A run folder may come from a stranger. A link in it would have us read, or cut off, a file elsewhere; a pipe would
have us wait for ever. So every path below such a folder is made here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from sketchmark.errors import BadInput

_KINDS = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISREG, "a file"), (stat.S_ISFIFO, "a pipe"))


def own_file(root: Path, *names: str) -> Path:
    """`root/names…`, where a regular file stands, or nothing yet, and every folder on the way is a real one."""
    return _checked(own_folder(root, *names[:-1]) / names[-1], stat.S_ISREG, "a file")


def own_folder(root: Path, *names: str) -> Path:
    """`root/names…`, where a folder stands, or nothing yet, and no link on the way."""
    for name in names:
        root = _checked(root / name, stat.S_ISDIR, "a folder")
    return root


def _checked(path: Path, wanted: Callable[[int], bool], called: str) -> Path:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    if not wanted(mode):
        found = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device or a socket")
        raise BadInput(
            f"{path} is {found}, not {called} of its own",
            "it is not followed; remove it",
        )
    return path
