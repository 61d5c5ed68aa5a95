"""Rendering of untrusted SVG, written by a dataset or a model.

    picture = render(text)                          # BadPicture gives the reason in one line
    picture = render(text, pictures=[one, two])     # may show them: <image href="picture:2" …/>

There are two guards. `check` refuses by name what can be seen in the text: declarations, external references,
canvases and numbers of elements beyond reason. The process that renders (`_svg_process`) limits the rest: it has a
time limit, a memory limit, no keys and, unless there is text to set, no right to open a file. The renderer is resvg,
which has no scripts and no network. In our own process it could still crash us: a few hundred nested groups are
enough.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from sketchmark.errors import BadPicture, MissingExtra
from sketchmark.media import Picture

MOST_CHARACTERS = 1_000_000
_MOST_ELEMENTS = 10_000
"""Also after every reference (`<use>`, patterns, masks, …) is replaced by its target."""

DEEPEST = 100
MOST_SIDE = 4096
"""Pixels of the canvas in either direction."""

MOST_SHOWN = 20
"""Times that a drawing may show the images that it was given."""

_UNITS = {"": 1.0, "px": 1.0, "pt": 96 / 72, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4}
_LENGTH = re.compile(r"\s{0,9}(\+?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?)([a-z]{0,4})\s{0,9}\Z")
_TARGET = re.compile(r"url\(\s*['\"]?([^'\")]*)", re.IGNORECASE)
_NUMBERED = re.compile(r"picture:(\d{1,4})")
_IMPORT = re.compile(r"@import", re.IGNORECASE)


@dataclass
class _Element:
    children: list[_Element] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    """Ids that it refers to."""

    drawn: int | None = None
    """Elements after expansion, including itself. None if not counted yet."""


def check(text: str, pictures: int = 0) -> list[int]:
    """Raise BadPicture for anything that no honest drawing needs.

    Return the places (in bytes) of the tags that show one of the `pictures` by number: `<image href="picture:1">`.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadPicture(f"an SVG of {len(text)} characters", f"at most {MOST_CHARACTERS}")
    document = _Document(pictures)
    try:
        document.read(text)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise BadPicture(f"the SVG is not well-formed: {error}") from error
    if document.root is not None:
        _drawn(document.root, document.named, 0, set())
    return document.showing


class _Document:
    """Elements of one document, with their references."""

    def __init__(self, pictures: int) -> None:
        self.root: _Element | None = None
        self.named: dict[str, _Element] = {}
        self.showing: list[int] = []
        self._pictures = pictures
        self._parser = expat.ParserCreate()
        self._open: list[_Element] = []
        self._count = 0

    def read(self, text: str) -> None:
        parser = self._parser
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = lambda name: self._open.pop()
        parser.CharacterDataHandler = self._text
        parser.ProcessingInstructionHandler = self._instruction
        parser.Parse(text, True)

    def _doctype(self, name: str, system: str | None, public: str | None, declares: int) -> None:
        """Refuse declarations, which could hold entities. A bare DOCTYPE names a file that is not read."""
        if declares:
            raise BadPicture("the SVG declares its own document type", "entities are not read: write them out")

    def _instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet":
            raise BadPicture("the SVG refers to a style sheet outside of it")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise BadPicture(f"an SVG of more than {_MOST_ELEMENTS} elements")
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
            if local == "href" and self._shows(name, value.strip()):
                continue
            element.targets += [_inner(target, name) for target in found]
        if identifier := attributes.get("id"):
            self.named.setdefault(identifier, element)
        self._open.append(element)

    def _shows(self, name: str, target: str) -> bool:
        """Return whether an element shows one of the images by number."""
        number = _NUMBERED.fullmatch(target)
        if number is None or name.rpartition(":")[2] != "image" or not self._pictures:
            return False
        if not 1 <= int(number[1]) <= self._pictures:
            raise BadPicture(f"the SVG shows picture {number[1]}", f"there are 1 to {self._pictures}")
        if len(self.showing) == MOST_SHOWN:
            raise BadPicture(f"an SVG that shows pictures more than {MOST_SHOWN} times")
        self.showing.append(self._parser.CurrentByteIndex)
        return True

    def _text(self, text: str) -> None:
        """Check text. Only style sheets matter, but any text that looks like one is checked."""
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
    """Check the size that the root gives in pixels. If it gives none, the rendered image is measured."""
    box = re.split(r"[\s,]+", attributes.get("viewBox", "").strip())
    for name, otherwise in (("width", box[2:3]), ("height", box[3:4])):
        found = _LENGTH.match(attributes.get(name, "")) or _LENGTH.match("".join(otherwise))
        if found and found[2] in _UNITS and float(found[1]) * _UNITS[found[2]] > MOST_SIDE:
            raise BadPicture(f"an SVG canvas whose {name} is {found[0].strip()[:40]}", f"at most {MOST_SIDE} pixels")


def _drawn(element: _Element, named: dict[str, _Element], depth: int, inside: set[int]) -> int:
    """Count the elements after each reference is replaced by its target.

    Ten groups that use each other ten times are ten lines and ten billion shapes.
    """
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
        if total > _MOST_ELEMENTS:
            raise BadPicture(f"an SVG that stands for more than {_MOST_ELEMENTS} elements")
    inside.discard(id(element))
    element.drawn = total
    return total


LARGEST = 40_000_000
"""Bytes of all images in one drawing, as they are written into it."""

_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_NUMBERED_LINK = re.compile(rb"""([\s:]href\s*=\s*)(["'])\s*picture:(\d{1,4})\s*\2""")
_READ_BY_RESVG = ("png", "jpeg")


def with_pictures(text: str, places: Sequence[int], pictures: Sequence[Picture]) -> str:
    """Put each image in the place of its number. `places` are those of checked, well-formed tags."""
    if not places:
        return text
    data, end, room = text.encode("utf-8"), 0, LARGEST
    pieces: list[bytes] = []
    for place in dict.fromkeys(places):
        found = _TAG.match(data, place)
        tag = found[0] if found else b""
        whole = _NUMBERED_LINK.sub(lambda href: href[1] + _quoted(pictures[int(href[3]) - 1]), tag)
        if whole == tag:  # written in entities, for example
            raise BadPicture("the SVG shows a picture in an unusual spelling", 'write it as href="picture:1"')
        room -= len(whole)
        if room < 0:
            raise BadPicture(f"an SVG that shows more than {LARGEST // 1_000_000} MB of pictures")
        pieces += [data[end:place], whole]
        end = place + len(tag)
    return b"".join([*pieces, data[end:]]).decode("utf-8")


def _quoted(picture: Picture) -> bytes:
    seen = picture.shown()
    if seen.format not in _READ_BY_RESVG:
        seen = Picture.from_image(seen.image())
    return b'"' + seen.data_url.encode("ascii") + b'"'


SECONDS = 10
"""Computing time. An honest drawing takes a tenth of a second."""

_PATIENCE = 6
"""Wall-clock seconds per second of computing time: the machine may be busy."""

_WORKER = Path(__file__).with_name("_svg_process.py")
_ENVIRONMENT = ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT", "TEMP", "TMPDIR")


def require_renderer(what: str) -> None:
    """Raise MissingExtra if the renderer is not installed."""
    if importlib.util.find_spec("resvg_py") is None:
        raise MissingExtra(what, "svg")


def render(text: str, *, seconds: int = SECONDS, pictures: Sequence[Picture] = ()) -> Picture:
    """Render a drawing at its own size, as PNG with a transparent background.

    It may show `pictures` by number, from 1: `<image href="picture:1" …/>`, and nothing else outside of it. Text is
    set in one font for all families. Raises BadPicture with one line if the SVG is refused, invalid or too slow.
    """
    require_renderer("rendering SVG")
    places = check(text, len(pictures))
    picture = Picture.from_bytes(_rendered(with_pictures(text, places, pictures), seconds))
    if max(picture.size) > MOST_SIDE:
        raise BadPicture(
            f"an SVG canvas of {picture.size[0]}x{picture.size[1]} pixels", f"at most {MOST_SIDE} either way"
        )
    return picture


def _rendered(text: str, seconds: int) -> bytes:
    """Render in a separate process, with only the variables that Python needs: it gets no key."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    with tempfile.TemporaryDirectory() as empty:
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(_WORKER), str(seconds)],
                input=text.encode("utf-8"),
                capture_output=True,
                timeout=seconds * _PATIENCE,
                cwd=empty,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise BadPicture(f"the SVG was not rendered within {seconds * _PATIENCE} s") from error
    if done.returncode == 1 and (said := done.stderr.decode("utf-8", "replace").strip()):
        raise BadPicture(f"the SVG cannot be rendered: {said.splitlines()[-1][:300]}")
    if done.returncode:
        raise BadPicture(
            "the SVG cannot be rendered: the renderer was stopped or broke off",
            f"at most {seconds} s of computing and 1 GB of memory",
        )
    return done.stdout


__all__ = ["MOST_CHARACTERS", "MOST_SIDE", "render", "require_renderer"]
