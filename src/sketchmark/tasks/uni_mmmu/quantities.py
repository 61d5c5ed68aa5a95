"""Numbers as geometry writes them: `3\\sqrt{3}/2`, `2√5 cm`, `30°`, `\\frac{5\\pi}{3}`, `x = 12`."""

from __future__ import annotations

import math
import re

_LONGEST = 200
_DEEPEST = 40
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_OPTION = re.compile(r"\s*\(?[A-Z]\)?\s*[.:)、]\s*(?=\S)")
_LAST = (
    r"(?:(?<![a-z])(?:square|cubic|sq)\.?\s*)?(?:cm|mm|dm|km|m|degrees?|units?|radians?|rad|inches|feet)"
    r"(?:\s*(?:\^?\{?[23]\}?|[²³]))?"
)
_UNIT = re.compile(rf"(?<![a-z]){_LAST}\.?\s*\Z", re.IGNORECASE)
_SPELLINGS = (
    (re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\[dt]frac"), r"\\frac"),
    (re.compile(r"\\(?:left|right|,|;|!|quad|displaystyle)"), " "),
    (re.compile(r"\^\s*(?:\{\s*)?\\(?:circ|degree)(?:\s*\})?|°|\\degree"), " "),
    (re.compile(r"\\pi|π"), "p"),
    (re.compile(r"\\sqrt\s*|√\s*|\bsqrt\s*"), "r"),
    (re.compile(r"\\(?:times|cdot)|[×·⋅]"), "*"),
    (re.compile(r"\\div|÷"), "/"),
    (re.compile(r"[−–]"), "-"),
    (re.compile(r"²"), "^2"),
    (re.compile(r"³"), "^3"),
    (re.compile(r"[$`*_]{2,}|[$`]|\\[()\[\]]"), " "),
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), ""),
)


def quantity(text: str) -> float | None:
    """The finite number that a short text stands for, its unit and option letter taken off; None if it is none."""
    if not text or len(text) > _LONGEST:
        return None
    text = _OPTION.sub("", text, count=1)
    for spelling, plain in _SPELLINGS:
        text = spelling.sub(plain, text)
    text = text.rpartition("=")[2].rpartition("≈")[2].strip().rstrip(".").strip()
    try:
        value = _Reading(_UNIT.sub("", text).strip()).value()
    except (ValueError, ArithmeticError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def same(one: float, other: float) -> bool:
    """Whole numbers are equal or not; others may be rounded: 6.93 is 4√3."""
    if one.is_integer() and other.is_integer():
        return one == other
    return math.isclose(one, other, rel_tol=1e-3)


class _Reading:
    """One pass from left to right: sums of products of powers, a product's sign left out or not (`3√2`, `2π`)."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def value(self) -> float:
        found = self._sum()
        if self._next():
            raise ValueError("something is left over")
        return found

    def _next(self) -> str:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, expected: str) -> bool:
        if self._next() and self._text.startswith(expected, self._at):
            self._at += len(expected)
            return True
        return False

    def _sum(self) -> float:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("nested too deep")
        found = -self._product() if self._take("-") else self._product()
        while (sign := self._next()) in ("+", "-"):
            self._at += 1
            found += self._product() if sign == "+" else -self._product()
        self._depth -= 1
        return found

    def _product(self) -> float:
        found = self._power()
        while following := self._next():
            if self._take("/"):
                found /= self._power()
            elif self._take("*") or following in "(pr\\{" or following.isdigit():
                found *= self._power()
            else:
                break
        return found

    def _power(self) -> float:
        base = self._atom()
        if not self._take("^"):
            return base
        found = base ** (-self._atom() if self._take("-") else self._atom())
        if isinstance(found, complex):
            raise ValueError("no real number")
        return float(found)

    def _atom(self) -> float:
        if self._take("p"):
            return math.pi
        if self._take("r"):
            return math.sqrt(self._atom())
        if self._take("\\frac"):
            above = self._atom()
            return above / self._atom()
        for opening, closing in (("(", ")"), ("{", "}")):
            if self._take(opening):
                found = self._sum()
                if not self._take(closing):
                    raise ValueError(f"no {closing}")
                return found
        self._next()
        number = _NUMBER.match(self._text, self._at)
        if not number:
            raise ValueError("no number")
        self._at = number.end()
        return float(number[0])
