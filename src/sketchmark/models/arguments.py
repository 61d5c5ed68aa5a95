"""Reading `--model_args`: each value by name and kind, and a clear refusal of any name nobody asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sketchmark.errors import BadInput
from sketchmark.models.secrets import shown

Value = str | int | float | bool


class Arguments:
    """What the user gave a model. Values may come as text (command line) or typed (Python); both read the same.

    The known names are those that were asked for, so the error for a misspelt one can never list stale names.
    """

    def __init__(self, owner: str, given: Mapping[str, Value]) -> None:
        self._owner = owner
        self._given = dict(given)
        self._known: set[str] = set()

    def text(self, name: str) -> str | None:
        self._known.add(name)
        value = self._given.get(name)
        return None if value is None or value == "" else str(value)

    def number(self, name: str) -> float | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            return float(value)
        except ValueError:
            raise self._bad(name, value, "a number") from None

    def above_zero(self, name: str) -> float | None:
        value = self.number(name)
        if value is not None and not value > 0:
            raise self._bad(name, value, "a number above 0")
        return value

    def chance(self, name: str, default: float) -> float:
        value = self.number(name)
        if value is None:
            return default
        if not 0 <= value <= 1:
            raise self._bad(name, value, "a chance from 0 to 1")
        return value

    def whole(self, name: str, default: int, least: int = 0) -> int:
        value = self.number(name)
        if value is None:
            return default
        if value != int(value) or value < least:
            raise self._bad(name, value, f"a whole number from {least}")
        return int(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name)
        if value is None:
            return default
        if value.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise self._bad(name, value, "true or false")
        return value.lower() in ("true", "1", "yes")

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in choices:
            raise self._bad(name, value, " or ".join(choices))
        return value

    def refuse_unknown(self) -> None:
        """Call after the last value was read: a silently ignored setting is a wrong result nobody sees."""
        unknown = sorted(set(self._given) - self._known)
        if unknown:
            raise BadInput(
                f"{self._owner} takes no argument {', '.join(unknown)}", f"it takes: {', '.join(sorted(self._known))}"
            )

    def _bad(self, name: str, value: Value, wanted: str) -> BadInput:
        return BadInput(f"{self._owner}: {name}={shown(value)} is not {wanted}")
