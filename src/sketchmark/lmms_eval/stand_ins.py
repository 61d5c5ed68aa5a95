"""Stand-ins for the parts of lmms-eval and loguru that tasks import most often.

lmms-eval itself would install 2.4 GB. A stand-in is used only if the real package is not installed. They are written
from the behaviour of the real ones, and tests/lmms_eval/test_provided.py compares the two where both are there.
"""

from __future__ import annotations

import logging
import re
import string
from collections.abc import Sequence
from functools import partialmethod
from pathlib import Path
from typing import Any, TypeVar

_FILTERS = "sketchmark.lmms_eval.filters"

MODULES = {
    "loguru": __name__,
    "lmms_eval.utils": __name__,
    "lmms_eval.api.filter": _FILTERS,
    "lmms_eval.filters": _FILTERS,
    "lmms_eval.filters.extraction": _FILTERS,
    "lmms_eval.filters.selection": _FILTERS,
    "lmms_eval.filters.transformation": _FILTERS,
    "lmms_eval.api.metrics": __name__,
    "lmms_eval.api.reasoning": _FILTERS,
    "lmms_eval.tasks._task_utils.file_utils": __name__,
}
"""Module that a task imports → the module with its stand-ins, for `sketchmark.tasks.imports`."""


def generate_submission_file(file_name: str, args: Any, subpath: str = "submissions") -> str:
    """Return a path in the run's own folder, which the aggregation gets as `args.output_path`. The folder is made."""
    named = getattr(args, "output_path", None)
    folder = Path(named) / subpath if named is not None else Path(subpath)
    folder.mkdir(parents=True, exist_ok=True)
    return str((folder / file_name).absolute())


_LEVELS = {"TRACE": 5, "SUCCESS": 25}


class _Logger:
    def __init__(self) -> None:
        self._log = logging.getLogger("lmms_eval")

    def log(self, level: str | int, message: object, *args: object, **kwargs: object) -> None:
        number = level if isinstance(level, int) else _LEVELS.get(level) or logging.getLevelName(level)
        self._log.log(number if isinstance(number, int) else logging.INFO, "%s", _filled(message, args, kwargs))

    trace = partialmethod(log, "TRACE")
    debug = partialmethod(log, "DEBUG")
    info = partialmethod(log, "INFO")
    success = partialmethod(log, "SUCCESS")
    warning = partialmethod(log, "WARNING")
    error = exception = critical = partialmethod(log, "ERROR")

    def opt(self, *args: Any, **kwargs: Any) -> _Logger:
        return self

    bind = opt

    def add(self, *args: Any, **kwargs: Any) -> int:
        """Change nothing: the program decides where messages go."""
        return 0

    def remove(self, *args: Any, **kwargs: Any) -> None:
        """Change nothing, as `add`."""


def _filled(message: object, args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    """Fill in a message. Without values it is not a template: it may be a reply with braces."""
    if not args and not kwargs:
        return str(message)
    try:
        return str(message).format(*args, **kwargs)
    except (IndexError, KeyError, ValueError, AttributeError):
        return str(message)


logger = eval_logger = _Logger()


Item = TypeVar("Item")


def mean(arr: Sequence[float]) -> float:
    return sum(arr) / len(arr)


def median(arr: Sequence[Item]) -> Item:
    """Return the middle element of the unsorted list, as lmms-eval does."""
    return arr[len(arr) // 2]


def levenshtein_distance(s1: str, s2: str) -> int:
    """Count the letters to add, drop or replace."""
    row = list(range(len(s2) + 1))
    for i, one in enumerate(s1, start=1):
        corner, row[0] = row[0], i
        for j, other in enumerate(s2, start=1):
            corner, row[j] = row[j], corner if one == other else 1 + min(corner, row[j], row[j - 1])
    return row[-1]


def anls(
    references: Sequence[str], predictions: Sequence[str] | Sequence[Sequence[str]], thresh_hold: float = 0.5
) -> dict[str, float]:
    """Return the average normalised Levenshtein similarity (arXiv 1905.13648) to the best reference, 0 below the
    threshold.

    Lengths are those of the texts before spaces are normalised.
    """
    first = predictions[0]
    said = first if isinstance(first, str) else first[0]
    plain = " ".join(said.lower().split())
    best = max(1 - _distance(" ".join(one.lower().split()), plain, max(len(one), len(said))) for one in references)
    return {"anls": best if best >= thresh_hold else 0}


def _distance(one: str, other: str, length: int) -> float:
    return levenshtein_distance(one, other) / length if length else 0.0


def exact_match_hf_evaluate(
    predictions: Sequence[str],
    references: Sequence[str],
    regexes_to_ignore: Sequence[str] | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
) -> dict[str, float]:
    """Return the proportion of predictions that equal their reference, after ignored parts are removed from both."""
    dropped = string.punctuation * ignore_punctuation + string.digits * ignore_numbers

    def plain(text: str) -> str:
        for pattern in regexes_to_ignore or ():
            text = re.sub(pattern, "", text)
        return (text.lower() if ignore_case else text).translate(str.maketrans("", "", dropped))

    pairs = [plain(said) == plain(true) for said, true in zip(predictions, references, strict=True)]
    return {"exact_match": mean(pairs)}
