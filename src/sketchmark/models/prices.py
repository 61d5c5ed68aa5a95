"""What calls cost, by a price table the user gives. None comes with Sketchmark: a stale price is a wrong one.

openai/gpt-4o:
  input: 2.50        # per million tokens in
  output: 10.00      # per million tokens out
  draw:              # where drawing is billed otherwise (another model draws): used for calls that draw
    input: 5.00
    output: 40.00
openai/gpt-image-2:
  picture: 0.04      # per picture returned
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.models.base import Usage

_MILLION = 1_000_000
_KEYS = ("input", "output", "picture")


@dataclass(frozen=True)
class Price:
    """Of one model: per million tokens in and out, and per picture returned."""

    input: float = 0.0
    output: float = 0.0
    picture: float = 0.0

    def cost(self, usage: Usage) -> float:
        tokens = usage.tokens_in * self.input + usage.tokens_out * self.output
        return tokens / _MILLION + usage.pictures_out * self.picture


class PriceTable:
    """Prices by model name, as `Model.name` spells it."""

    def __init__(self, saying: Mapping[str, Price], drawing: Mapping[str, Price]) -> None:
        self._saying = saying
        self._drawing = drawing

    @classmethod
    def from_file(cls, path: Path | str) -> PriceTable:
        import yaml

        try:
            table = yaml.safe_load(Path(path).read_text("utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise BadInput(f"cannot read price table {path}: {error}") from error
        if not isinstance(table, dict):
            raise BadInput(f"price table {path} is not a mapping of model names", "see docs/models.md")
        saying: dict[str, Price] = {}
        drawing: dict[str, Price] = {}
        for model, entry in table.items():
            if not isinstance(entry, dict):
                raise BadInput(f"price table {path}: {model} is not a mapping", f"it takes: {', '.join(_KEYS)}, draw")
            entry = dict(entry)
            draw = entry.pop("draw", None)
            saying[str(model)] = _price(f"{path}: {model}", entry)
            drawing[str(model)] = saying[str(model)] if draw is None else _price(f"{path}: {model}: draw", draw)
        return cls(saying, drawing)

    def cost(self, model: str, usage: Usage, *, drawing: bool = False) -> float | None:
        """What these calls cost; None for a model without a price: unknown is not free."""
        price = (self._drawing if drawing else self._saying).get(model)
        return None if price is None else price.cost(usage)


def _price(where: str, entry: Any) -> Price:
    if not isinstance(entry, dict) or set(entry) - set(_KEYS):
        raise BadInput(f"price table {where}: unknown entry in {entry!r}", f"it takes: {', '.join(_KEYS)}")
    for key, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise BadInput(f"price table {where}: {key} is {value!r}, not a price")
    return Price(**entry)
