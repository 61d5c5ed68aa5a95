"""What is refused of an SVG before anything renders it, each with a line that says what."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from sketchmark.errors import BadPicture

MOST_CHARACTERS = 1_000_000
MOST_ELEMENTS = 10_000
"""Also with every reference (`<use>`, patterns, masks, …) replaced by what it stands for."""

DEEPEST = 100
MOST_SIDE = 4096
"""Pixels of the canvas, either way."""

_UNITS = {"": 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4}
_LENGTH = re.compile(r"\s{0,9}(\+?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?)([a-z]{0,4})\s{0,9}\Z")
_TARGET = re.compile(r"url\(\s*['\"]?([^'\")]*)", re.IGNORECASE)
_IMPORT = re.compile(r"@import", re.IGNORECASE)


@dataclass
class _Element:
    children: list[_Element] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    """Ids that it refers to."""

    drawn: int | None = None
    """Elements that it stands for, itself included; None: not counted yet."""


def check(text: str) -> None:
    """Raises BadPicture for what no honest drawing needs."""
    if len(text) > MOST_CHARACTERS:
        raise BadPicture(f"an SVG of {len(text)} characters", f"at most {MOST_CHARACTERS}")
    document = _Document()
    try:
        document.read(text)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise BadPicture(f"the SVG is not well-formed: {error}") from error
    if document.root is not None:
        _drawn(document.root, document.named, 0, set())


class _Document:
    """The elements of one document, with what they refer to."""

    def __init__(self) -> None:
        self.root: _Element | None = None
        self.named: dict[str, _Element] = {}
        self._open: list[_Element] = []
        self._count = 0

    def read(self, text: str) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda name: self._open.pop()
        parser.CharacterDataHandler = self._text
        parser.ProcessingInstructionHandler = self._instruction
        parser.Parse(text, True)

    def _doctype(self, name: str, system: str | None, public: str | None, declares: int) -> None:
        """A bare DOCTYPE names a file that nobody reads; declarations of its own could hold entities."""
        if declares:
            raise BadPicture("the SVG declares a document type of its own", "entities are not read: write them out")

    def _instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet":
            raise BadPicture("the SVG refers to a style sheet outside of it")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MOST_ELEMENTS:
            raise BadPicture(f"an SVG of more than {MOST_ELEMENTS} elements")
        if len(self._open) >= DEEPEST:
            raise BadPicture(f"an SVG whose elements lie more than {DEEPEST} deep in each other")
        element = _Element()
        if self.root is None:
            if name.rpartition(":")[2] != "svg":
                raise BadPicture(f"not an SVG: its first element is <{name[:40]}>")
            self.root = element
            _check_canvas(attributes)
        else:
            self._open[-1].children.append(element)
        for key, value in attributes.items():
            local = key.rpartition(":")[2]
            found = [value.strip()] if local == "href" else _targets(value)
            element.targets += [_inner(target, name) for target in found]
        if identifier := attributes.get("id"):
            self.named.setdefault(identifier, element)
        self._open.append(element)

    def _text(self, text: str) -> None:
        """Only a style sheet's matters, but any text that looks like one is looked at."""
        if _IMPORT.search(text):
            raise BadPicture("the SVG imports a style sheet")
        for target in _targets(text):
            _inner(target, "style")


def _targets(value: str) -> list[str]:
    return [found.strip() for found in _TARGET.findall(value)]


def _inner(target: str, name: str) -> str:
    if not target.startswith("#"):
        shown = target if len(target) <= 60 else f"{target[:60]}…"
        raise BadPicture(f"the SVG refers to something outside of it: <{name[:40]}> to {shown!r}")
    return target[1:]


def _check_canvas(attributes: dict[str, str]) -> None:
    """What the root says of its size. Where it says nothing in pixels, the picture that comes back is measured."""
    box = re.split(r"[\s,]+", attributes.get("viewBox", "").strip())
    for name, otherwise in (("width", box[2:3]), ("height", box[3:4])):
        found = _LENGTH.match(attributes.get(name, "")) or _LENGTH.match("".join(otherwise))
        if found and found[2] in _UNITS and float(found[1]) * _UNITS[found[2]] > MOST_SIDE:
            raise BadPicture(f"an SVG canvas whose {name} is {found[0].strip()[:40]}", f"at most {MOST_SIDE} pixels")


def _drawn(element: _Element, named: dict[str, _Element], depth: int, inside: set[int]) -> int:
    """How many elements one stands for when each reference is replaced by its target: ten groups that use each other
    ten times are ten lines and ten milliards of shapes."""
    if element.drawn is not None:
        return element.drawn
    if id(element) in inside:
        raise BadPicture("an element of the SVG refers to itself")
    if depth > 2 * DEEPEST:
        raise BadPicture(f"references of the SVG lead more than {2 * DEEPEST} deep")
    inside.add(id(element))
    meant = [named[target] for target in element.targets if target in named]
    total = 1
    for one in (*element.children, *meant):
        total += _drawn(one, named, depth + 1, inside)
        if total > MOST_ELEMENTS:
            raise BadPicture(f"an SVG that stands for more than {MOST_ELEMENTS} elements")
    inside.discard(id(element))
    element.drawn = total
    return total
