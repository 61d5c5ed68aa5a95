"""Which column is which: documented names, others that mean the same, and near misses, which are refused.

A column of the documented name counts, whatever else there is. Of two others that mean the same neither does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from sketchmark.errors import BadInput

COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("question_id", "sample_id", "qid", "uid", "idx", "index"),
    "question": ("prompt", "query"),
    "pictures": ("picture", "image", "images", "image_path", "image_paths"),
    "options": ("choices",),
    "answer": ("answers", "label", "gt", "gold", "target", "ground_truth", "groundtruth", "correct_answer"),
    "type": ("answer_type",),
    "tolerance": ("tol",),
    "category": ("subject",),
    "cluster": (),
    "generation_prompt": ("drawing_prompt",),
}
"""Our name -> others that are taken for it."""

_MEANING = {other: name for name, others in COLUMNS.items() for other in (name, *others)}
_LONGEST_NAME = 40
"""Of a column that may be a misspelt one."""

_ONE_OPTION = re.compile(r"(?:(?:option|choice)s?_?)?[a-e]|(?:option|choice)s?_?[1-5]")


@dataclass(frozen=True)
class Columns:
    """Our names -> the file's, and the file's columns that are not used."""

    named: Mapping[str, str]
    unused: tuple[str, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Columns:
        """Of those in which the row has something."""
        return _columns(tuple(name for name, value in row.items() if _is_there(value)))

    def values(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """What the row has, by our names."""
        return {ours: row[theirs] for ours, theirs in self.named.items()}


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> Columns:
    meant: dict[str, list[str]] = {}
    unused = []
    for name in names:
        if ours := _MEANING.get(_bare(name)):
            meant.setdefault(ours, []).append(name)
        else:
            unused.append(name)
    named: dict[str, str] = {}
    for ours, theirs in meant.items():
        counted = [name for name in theirs if _bare(name) == ours] or theirs
        if len(counted) > 1:
            both = " and ".join(map(repr, counted[:3]))
            raise BadInput(f"the columns {both} can each be the {ours}", f"call the right one `{ours}`, or drop one")
        named[ours] = counted[0]
        unused += [name for name in theirs if name != counted[0]]
    _refuse_near_misses(named, unused)
    return Columns(named, tuple(unused))


def _is_there(value: object) -> bool:
    """An empty cell is None, an empty text or list, or what pandas writes for it, which is not equal to itself."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value == value and value != [] and value != {}


def _refuse_near_misses(named: Mapping[str, str], unused: Iterable[str]) -> None:
    bare = {_bare(name): name for name in unused}
    single = [name for short, name in bare.items() if _ONE_OPTION.fullmatch(short)]
    if len(single) > 1 and "options" not in named:
        raise BadInput(
            f"the columns {', '.join(map(repr, single[:5]))} seem to hold one option each",
            "put them into one column `options`: a JSON list, or separated by ` | `",
        )
    missing = {other: ours for other, ours in _MEANING.items() if ours not in named}
    for short, name in bare.items():
        like = [other for other in missing if not short.startswith(f"{other}_")]  # `answer_id` is something else
        if len(short) <= _LONGEST_NAME and (close := get_close_matches(short, like, n=1, cutoff=0.8)):
            raise BadInput(f"there is no column {name!r} here", f"did you mean {missing[close[0]]}?")


def _bare(name: str) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())
