"""The way of one sample through the code: every module of ours, in the order in which its code first runs.

    python bench/walk.py

docs/design.md draws the walk from what this prints. Importing a module does not count, only calling into it.
The exit code is 1 if there are more than 60.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

import sketchmark
from sketchmark.cli import main

ROOT = Path(sketchmark.__file__).parent
MOST = 60
"""Modules that a newcomer has to read to follow one sample."""


def walk(arguments: list[str]) -> list[str]:
    """Modules in the order of their first call, threads included."""
    seen: dict[str, None] = {}

    def look(frame: FrameType, event: str, argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(ROOT)) and file not in seen and not _importing(frame):
            seen[file] = None

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        main(arguments)
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [Path(file).relative_to(ROOT).with_suffix("").as_posix() for file in seen]


def _importing(frame: FrameType | None) -> bool:
    """Whether this runs only because a module is being loaded: its body, its classes, its constants."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(ROOT)):
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", "--model", "player/solver", "--tasks", "maze", "--mode", "visual_cot", "--limit", "1"]
        found = walk([*command, "--output-path", f"{folder}/run", "--cache", f"{folder}/cache", "--quiet"])
    for number, name in enumerate(found, start=1):
        print(f"{number:>3}  {name}")
    if len(found) > MOST:
        sys.exit(f"{len(found)} modules take part in one sample: at most {MOST} should")
