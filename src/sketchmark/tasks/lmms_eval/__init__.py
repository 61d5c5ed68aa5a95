"""Task files of lmms-eval's shape, played as they are: people bring their own tasks.

What such a file may say: docs/benchmarks/lmms-eval-tasks.md, "Task files".

What such a file names with `!function` is the user's own Python and can do anything the user can, so it runs only
when the user said so, and only once the task is played. What would change a score and is known not to be understood
is refused, never ignored.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NoReturn

from sketchmark.task_files.code import CodeNames
from sketchmark.tasks.lmms_eval import aggregating, playing
from sketchmark.tasks.lmms_eval.adopting import adopt
from sketchmark.tasks.lmms_eval.opened import AdoptedFile, not_adopted

__all__ = ["AdoptedFile", "AdoptedNames", "adopt", "documents", "influences", "score", "submission", "totals"]

_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "lmms_eval.documents": playing.documents,
        "lmms_eval.score": playing.score,
        "lmms_eval.influences": aggregating.influences,
        "lmms_eval.totals": aggregating.totals,
        "lmms_eval.submission": aggregating.submission,
    }
)


class AdoptedNames(CodeNames):
    """The names in an adopted task: those of this package stand for functions of its file."""

    def __init__(self, file: AdoptedFile) -> None:
        super().__init__()
        self._file = file

    def find(self, dotted: str) -> Any:
        if function := _FUNCTIONS.get(dotted):
            return partial(function, self._file)
        return super().find(dotted)


def documents(*_: Any, task_file: str, **__: Any) -> NoReturn:
    """Refuse what a task of our own shape names; an adopted one has `AdoptedNames`."""
    raise not_adopted(task_file)


score = influences = totals = submission = documents

ALIASES = {
    "documents": "sketchmark.tasks.lmms_eval:documents",
    "score": "sketchmark.tasks.lmms_eval:score",
    "influences": "sketchmark.tasks.lmms_eval:influences",
    "totals": "sketchmark.tasks.lmms_eval:totals",
    "submission": "sketchmark.tasks.lmms_eval:submission",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
