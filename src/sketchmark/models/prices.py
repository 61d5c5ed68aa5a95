"""What calls cost, by a price table the user gives. None comes with Sketchmark: a stale price is a wrong one.

openai/gpt-6-luna:
  input: 2.50      # per million tokens in
  output: 10.00    # per million tokens out
openai/gpt-image-2:
  picture: 0.04    # per picture returned

A run file that holds such a table (`prices:`) is taken for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput

_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """Of one model: per million tokens in and out, and per picture returned."""

    input: float = 0.0
    output: float = 0.0
    picture: float = 0.0

    def __call__(self, usage: Mapping[str, int]) -> float:
        """The cost of a `Usage`, or of a sum of them, by field name."""
        tokens = usage.get("tokens_in", 0) * self.input + usage.get("tokens_out", 0) * self.output
        return tokens / _MILLION + usage.get("pictures_out", 0) * self.picture


_KEYS = [field.name for field in fields(Price)]


def price_of(prices: Path | str | Mapping[str, Any], model: str) -> Price:
    """The model's entry in a table or in the file of one, which must have it: an unknown price is not a price of
    nothing."""
    if isinstance(prices, Mapping):
        where, table = "price table", prices
    else:
        where, table = f"price table {prices}", _read(Path(prices))
    if model not in table:
        raise BadInput(f"{where} has no entry {model!r}", f"it has: {', '.join(map(str, table))}")
    entry = table[model]
    if not isinstance(entry, dict) or set(entry) - set(_KEYS):
        raise BadInput(f"{where}: {model} is {entry!r}", f"it takes: {', '.join(_KEYS)}")
    for key, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise BadInput(f"{where}: {model}: {key} is {value!r}, not a price")
    return Price(**entry)


def _read(path: Path) -> dict[Any, Any]:
    import yaml

    try:
        table = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"cannot read price table {path}: {error}") from error
    if not isinstance(table, dict):
        raise BadInput(
            f"price table {path} is not a mapping of model names", f"a line each: NAME: {{{', '.join(_KEYS)}}}"
        )
    return _of_run_file(path, table) if {"models", "tasks"} <= table.keys() else table


def _of_run_file(path: Path, file: dict[Any, Any]) -> dict[Any, Any]:
    """What it names is not followed: the file may be a stranger's."""
    prices = file.get("prices")
    if isinstance(prices, str):
        raise BadInput(f"run file {path} names its price table: {prices}", "give that file instead")
    if not isinstance(prices, dict):
        raise BadInput(f"run file {path} has no table of prices", "give the file of one, or add `prices:`")
    return prices
