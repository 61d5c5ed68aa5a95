"""Errors that Sketchmark raises on purpose, and the install commands of optional dependencies.

A message says what happened, to what, and what to type next. The command line prints it as one line and exits with
the class's `exit_code`. It never shows a traceback for these.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_REQUIRED = re.compile(r"""^([\w.-]+)[^;]*;.*\bextra == ["']([\w-]+)["']""")


def install_command(extra: str) -> str:
    """Return the command that installs an extra: from the checkout if it is editable, because the index may lag."""
    checkout = _checkout()
    return f"pip install -e '{checkout}[{extra}]'" if checkout else f"pip install 'sketchmark[{extra}]'"


def is_installed(extra: str) -> bool:
    """Return whether every package of the extra is installed: then another install would change nothing."""
    from importlib import metadata  # takes 20 ms, which a command without an error saves

    found = [_REQUIRED.match(line) for line in metadata.requires("sketchmark") or ()]
    packages = [one[1] for one in found if one and one[2] == extra]
    return bool(packages) and all(next(iter(metadata.distributions(name=package)), None) for package in packages)


def _checkout() -> str:
    """Return the folder of an editable install, as short as it can be typed from here; else an empty text."""
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
    """An error that the user can act on. `hint` is the next thing to try."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.hint})" if self.hint else message


class BadInput(SketchmarkError):
    """A file, row or option that cannot be used."""


class BadPicture(BadInput):
    """Bytes that are not an image, or an image that is too large to decode safely."""


class UnknownName(BadInput):
    """A task, model, world or mode that does not exist."""


class DataMissing(BadInput):
    """A dataset that cannot be found. The hint lists the ways to provide it."""


class TotalsFailed(BadInput):
    """Some totals of a task could not be computed. `made` are the others, which are correct."""

    def __init__(self, message: str, made: dict[str, object]) -> None:
        super().__init__(message)
        self.made = made


class MissingExtra(SketchmarkError):
    """A feature whose optional dependency is missing: the hint is the install command, or the error of a package
    that is installed and fails to load."""

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
    """The run folder holds a different run from the requested one."""


class RunStopped(SketchmarkError):
    """A run that ended early because further episodes would fail the same way. Finished ones are kept and scored."""


class CallFailed(SketchmarkError):
    """A call to a model that returned no usable reply.

    `kind` is what the run's failure table counts. `blames_model` separates a model failure (scored as wrong) from a
    failure of harness, network or provider (not scored). `stops_run` marks an error that affects every call (a
    refused key, an unknown model, an empty account). `retry_after` is the number of seconds that the server asked to
    wait, if it did.
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
    """A judge that gave no verdict: counted, never scored, and asked again by the same command."""

    def __init__(self, message: str) -> None:
        super().__init__("judge_failed", message)


class ExtractorFailed(CallFailed):
    """An extractor that gave no reply. The episode is not scored; the failure is counted, and the same command asks
    again."""

    def __init__(self, message: str) -> None:
        super().__init__("extractor_failed", message)
