"""Results of `process_results` as a line of scores keeps them, and as an aggregation gets them back: the same.

JSON has no tuples, no sets, no arrays and no keys but texts, and a number that became a text, or a key that did, is
counted wrong by code that nobody here can read. So what JSON cannot say is kept under a key that begins with `!`.
What cannot be kept at all comes back as something that fails, in words, as soon as the aggregation uses it: most such
things are pictures of documents, which none does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

_MARK = "!"
_TUPLE, _SET, _FROZEN, _PAIRS, _FLOAT, _ARRAY, _LOST = (
    "!tuple",
    "!set",
    "!frozenset",
    "!dict",
    "!float",
    "!array",
    "!lost",
)
_KINDS = {_TUPLE: tuple, _SET: set, _FROZEN: frozenset}
_ARRAYS = frozenset(
    ["bool", "float16", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
)

_DEEPEST = 30
"""Levels; each takes up to three of those that a line may have."""

_LARGEST = 2**4000
"""Whole numbers beyond are not written as numbers."""


def written(value: Any, depth: int = 0) -> Any:
    """As JSON can say it; numpy's numbers become Python's."""
    if depth > _DEEPEST:
        return {_LOST: "something too deep to keep"}
    if hasattr(value, "item") and hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int) and abs(value) < _LARGEST:
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {_FLOAT: repr(float(value))}
    if isinstance(value, Mapping):
        pairs = [[written(key, depth + 1), written(one, depth + 1)] for key, one in value.items()]
        plain = all(isinstance(key, str) for key, _ in pairs) and not (len(pairs) == 1 and pairs[0][0][:1] == _MARK)
        return dict(pairs) if plain else {_PAIRS: pairs}
    if isinstance(value, list):
        return [written(one, depth + 1) for one in value]
    if isinstance(value, tuple):
        return {_TUPLE: [written(one, depth + 1) for one in value]}
    if isinstance(value, (set, frozenset)):
        kind = _SET if isinstance(value, set) else _FROZEN
        return {kind: sorted((written(one, depth + 1) for one in value), key=json.dumps)}
    if type(value).__module__.partition(".")[0] == "numpy" and str(getattr(value, "dtype", "")) in _ARRAYS:
        return {_ARRAY: [str(value.dtype), written(value.tolist(), depth + 1)]}
    return {_LOST: f"a {type(value).__module__}.{type(value).__qualname__}"}


def read(value: Any) -> Any:
    """What was written, as often as it is asked for: no two share anything that one of them could change."""
    if isinstance(value, list):
        return [read(one) for one in value]
    if not isinstance(value, dict):
        return value
    held: Any
    mark, held = next(iter(value.items())) if len(value) == 1 else ("", None)
    if mark in _KINDS:
        return _KINDS[mark](map(read, held))
    if mark == _PAIRS:
        return {read(key): read(one) for key, one in held}
    if mark == _FLOAT:
        return float(held)
    if mark == _ARRAY and held[0] in _ARRAYS:
        import numpy

        return numpy.array(read(held[1]), dtype=held[0])
    if mark == _LOST:
        return _Lost(str(held))
    return {key: read(one) for key, one in value.items()}


class _Lost:
    """Anything that is done with it fails."""

    def __init__(self, what: str) -> None:
        self.__dict__["what"] = what

    def __fail(self, *_: object) -> NoReturn:
        raise TypeError(f"process_results gave {self.__dict__['what']} here, which a run cannot keep")

    __getattr__ = __bool__ = __iter__ = __len__ = __getitem__ = __contains__ = __call__ = __fail
    __eq__ = __ne__ = __lt__ = __gt__ = __hash__ = __str__ = __repr__ = __float__ = __int__ = __fail
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __fail
