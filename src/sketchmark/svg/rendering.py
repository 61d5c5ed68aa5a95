"""From SVG text to a picture, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sketchmark.errors import BadPicture, MissingExtra
from sketchmark.picture import Picture
from sketchmark.svg.checking import MOST_SIDE, check
from sketchmark.svg.showing import with_pictures

SECONDS = 10
"""Of computing time. An honest drawing takes a tenth of one."""

_PATIENCE = 6
"""Seconds on the clock for each of computing time: a busy machine is no hostile drawing."""

_WORKER = Path(__file__).with_name("worker.py")
_ENVIRONMENT = ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMPDIR")


def require_renderer(what: str) -> None:
    """Raises MissingExtra where it is not installed."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtra(what, "svg")


def render(text: str, *, seconds: int = SECONDS, pictures: Sequence[Picture] = ()) -> Picture:
    """The drawing at its own size, as PNG; what it leaves free stays transparent.

    It may show `pictures` by number, from 1: `<image href="picture:1" …/>`; nothing else outside of it. Text is
    set in one font for all families. Raises BadPicture in one line for what is refused, cannot be read or takes too
    long.
    """
    require_renderer("rendering SVG")
    places = check(text, len(pictures))
    picture = Picture.from_bytes(_rendered(with_pictures(text, places, pictures), seconds))
    if max(picture.size) > MOST_SIDE:
        raise BadPicture(
            f"an SVG canvas of {picture.size[0]}x{picture.size[1]} pixels", f"at most {MOST_SIDE} either way"
        )
    return picture


def _rendered(text: str, seconds: int) -> bytes:
    """No key goes along: the environment is cut to what Python needs to start."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    with tempfile.TemporaryDirectory() as empty:
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(_WORKER), str(seconds)],
                input=text.encode("utf-8"),
                capture_output=True,
                timeout=seconds * _PATIENCE,
                cwd=empty,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise BadPicture(f"the SVG was not rendered within {seconds * _PATIENCE} s") from error
    if done.returncode == 1 and (said := done.stderr.decode("utf-8", "replace").strip()):
        raise BadPicture(f"the SVG cannot be rendered: {said.splitlines()[-1][:300]}")
    if done.returncode:
        raise BadPicture(
            "the SVG cannot be rendered: the renderer was stopped or broke off",
            f"at most {seconds} s of computing and 1 GB of memory",
        )
    return done.stdout
