"""How an optional dependency is installed here: from the checkout that this installation is, or from the index.

Every error Sketchmark raises on purpose: one small tree.

The message is written for the person who reads it at 2 a.m.: what happened, to what, and what to type next.
The command line prints it as one line and exits with the class's `exit_code`; it never shows a traceback for these.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_REQUIRED = re.compile(r"""^([\w.-]+)[^;]*;.*\bextra == ["']([\w-]+)["']""")


def install_command(extra: str) -> str:
    """What to type. A checkout installed with `pip install -e` has its extras from the same place: the index may not
    know this version, or may know another."""
    checkout = _checkout()
    return f"pip install -e '{checkout}[{extra}]'" if checkout else f"pip install 'sketchmark[{extra}]'"


def is_installed(extra: str) -> bool:
    """Whether every package of the extra is there: then another install would change nothing."""
    from importlib import metadata  # 20 ms that a command without an error need not pay

    found = [_REQUIRED.match(line) for line in metadata.requires("sketchmark") or ()]
    packages = [one[1] for one in found if one and one[2] == extra]
    return bool(packages) and all(map(_is_there, packages))


def _is_there(package: str) -> bool:
    from importlib import metadata

    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _checkout() -> str:
    """The folder of an editable install, as short as it can be typed from here; nothing for any other install."""
    import json
    from importlib import metadata
    from urllib.parse import unquote, urlsplit

    try:
        about = json.loads(metadata.distribution("sketchmark").read_text("direct_url.json") or "{}")
        if not about.get("dir_info", {}).get("editable"):
            return ""
        folder = Path(unquote(urlsplit(about["url"]).path))
    except (metadata.PackageNotFoundError, ValueError, KeyError, AttributeError):
        return ""
    return "." if folder == Path.cwd() else str(folder)


class SketchmarkError(Exception):
    """Anything the user can act on. `hint` is the next thing to try."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.hint})" if self.hint else message


class BadInput(SketchmarkError):
    """A file, a row or an option that cannot be used as it is."""


class BadPicture(BadInput):
    """Bytes that are not a picture, or are one too large to decode safely."""


class UnknownName(BadInput):
    """A task, model, world or mode that does not exist."""


class DataMissing(BadInput):
    """A data set that cannot be found; the hint lists the ways to provide it."""


class TotalsFailed(BadInput):
    """Some of a task's own totals could not be made; `made` are the others, which nothing is wrong with."""

    def __init__(self, message: str, made: dict[str, object]) -> None:
        super().__init__(message)
        self.made = made


class MissingExtra(SketchmarkError):
    """A feature whose optional dependency is not there; the hint is the install command. Where it is installed and
    does not load, another install would not help, and what it said is told instead."""

    def __init__(self, feature: str, extra: str) -> None:
        cause = sys.exception()
        if cause and is_installed(extra):
            why = " ".join(f"{type(cause).__name__}: {cause}".split())[:300]
            super().__init__(f"{feature} needs sketchmark[{extra}], which is installed but cannot be used: {why}")
        else:
            super().__init__(f"{feature} needs an optional dependency, sketchmark[{extra}]", install_command(extra))


class CannotPlay(BadInput):
    """The model lacks an ability that the mode needs. Raised before the first call."""


class RunConflict(SketchmarkError):
    """The run folder holds something else than what is asked for now."""


class RunStopped(SketchmarkError):
    """A run that ended early because no further episode would fare better. All that was played is kept, scored and
    summed up."""


class CallFailed(SketchmarkError):
    """One call to a model did not return a usable reply.

    `kind` is what the run's failure table counts. `blames_model` separates a model that did not deliver (scored as
    wrong: it had its chance) from a harness, network or provider failure (not evidence about the model: not scored).
    `stops_run` marks what no other call will escape (a refused key, an unknown model, an empty account).
    `retry_after` is for how many seconds the far end asked to be left alone, if it did.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        blames_model: bool = False,
        stops_run: bool = False,
        hint: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.blames_model = blames_model
        self.stops_run = stops_run
        self.retry_after = retry_after


class JudgeFailed(CallFailed):
    """A judge that gave no verdict. It says nothing about the model: not scored, counted, and asked again by the next
    start."""

    def __init__(self, message: str) -> None:
        super().__init__("judge_failed", message)
