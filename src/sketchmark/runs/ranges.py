"""What the numbers of a run may be, for whoever asks from Python; the command line refuses the same, in click's words
(`tests/core/test_notebook.py` holds the two together)."""

from __future__ import annotations

from numbers import Integral, Real

from sketchmark.errors import BadInput

_LEAST = {"concurrency": 1, "max_requests_per_minute": 1, "max_cost": 0, "replicas": 1, "num_gpus": 0}
_ABOVE = {"time_limit": 0}
_WHOLE = ("seed", "concurrency", "max_requests_per_minute", "replicas")


def plain_number(value: object) -> object:
    """A number of another library, such as NumPy's, as Python's own; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def refuse_out_of_range(**given: object) -> None:
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise BadInput(f"{name} is {value!r}, which is no number")
        if name in _WHOLE and not isinstance(value, int):
            raise BadInput(f"{name} is {value}", "it must be a whole number")
        if name in _LEAST and value < _LEAST[name]:
            raise BadInput(f"{name} is {value}", f"it must be at least {_LEAST[name]}")
        if name in _ABOVE and not value > _ABOVE[name]:
            raise BadInput(f"{name} is {value}", f"it must be above {_ABOVE[name]}")
