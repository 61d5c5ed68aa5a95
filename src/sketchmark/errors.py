"""Every error Sketchmark raises on purpose: one small tree.

The message is written for the person who reads it at 2 a.m.: what happened, to what, and what to type next.
The command line prints it as one line and exits with the class's `exit_code`; it never shows a traceback for these.
"""

import sys

from sketchmark.extras import install_command, is_installed


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
