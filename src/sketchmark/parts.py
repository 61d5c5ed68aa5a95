"""What a model is shown: pictures, texts, sounds, and the ordered context they form."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sketchmark import pixels
from sketchmark.errors import BadPicture
from sketchmark.sounds import Sound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL import Image

MAX_PIXELS = 64_000_000
"""A picture is untrusted input: beyond this many pixels it is refused instead of decoded."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpeg"),
    (b"GIF8", "gif"),
    (b"BM", "bmp"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
)


def _format_of(data: bytes) -> str:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    raise BadPicture(f"not a picture: {len(data)} bytes starting {data[:8]!r}", "PNG, JPEG, WebP, GIF, BMP or TIFF")


def _has_exif(png: bytes) -> bool:
    """From chunk to chunk: looking through all the bytes for four of them takes longer than sending them."""
    place = 8
    while (name := png[place + 4 : place + 8]) and name != b"eXIf":
        place += 12 + int.from_bytes(png[place : place + 4], "big")
    return bool(name)


DEEPEST = 100
"""Levels of lists and dicts that are looked into; what is written down goes no deeper."""

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def well_formed(value: Any, depth: int = 0) -> Any:
    """The value with texts that can be written as UTF-8, also inside dicts and lists.

    Half a character (a lone surrogate: a reply cut in the middle of an emoji, a file name in another encoding) has no
    UTF-8. It becomes the six characters by which JSON and Python write it, `\\ud83d`: seen by whoever looks, and not
    lost. Two halves that belong together become their character. This is done where texts come in (a sample, a part,
    a reply), so that what is asked, scored and shown is what is written down.
    """
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub(_whole, value)
    if depth > DEEPEST:
        return value
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item, depth + 1) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(well_formed(item, depth + 1) for item in value)
    return value


def _whole(found: re.Match[str]) -> str:
    if len(found[0]) == 2:
        return found[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    return f"\\u{ord(found[0]):04x}"


_MARK = b"tEXtSoftware\0Sketchmark"
"""What a PNG file of our own making has behind its header."""

_COMPRESSION = 2
"""Of zlib's nine levels. On generated pictures (boards, scenes, VOILA) 6 takes 1.5 to 4 times as long for files that
are 10 % smaller, and of boards, which are a few kilobytes, 60 %."""


_EXIF = "(?i).*corrupt exif"


def _silence_warnings(bomb: type[Warning]) -> None:
    """Only where it is still to be done: it takes longer than opening a small picture."""
    if [(action, _pattern(words), kind) for action, words, kind, *_ in warnings.filters[:2]] != [
        ("ignore", _EXIF, UserWarning),
        ("ignore", None, bomb),
    ]:
        warnings.simplefilter("ignore", bomb)  # MAX_PIXELS is lower
        warnings.filterwarnings("ignore", _EXIF, UserWarning)  # such metadata turns nothing


def _pattern(words: Any) -> Any:
    return getattr(words, "pattern", words)


@dataclass(frozen=True, eq=False)
class Picture:
    """An image; its original bytes are kept as they came.

    Nothing is decoded until someone asks for pixels or shows it to a model, so a million of them cost no more than
    their bytes. One that every decoder shows alike goes to the model as it came.
    """

    data: bytes
    format: str

    @classmethod
    def from_bytes(cls, data: bytes) -> Picture:
        return cls(data, _format_of(data))

    @classmethod
    def from_file(cls, path: Path | str) -> Picture:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise BadPicture(f"cannot read picture {path}: {error.strerror}") from error
        try:
            return cls.from_bytes(data)
        except BadPicture as error:
            raise BadPicture(f"{path}: {error}") from error

    @classmethod
    def from_image(cls, image: Image.Image) -> Picture:
        """A PNG that says that we made it, and is therefore known by its pixels."""
        from PIL.PngImagePlugin import PngInfo

        mark, buffer = PngInfo(), io.BytesIO()
        mark.add_text("Software", "Sketchmark")
        plain = image.mode in ("RGB", "P") and not image.info  # others may be seen differently once they are a file
        rgb = image.convert("RGB") if plain and image.mode == "P" else image
        runs = pixels.flat(rgb) if plain else None
        written = runs.by_palette() if runs and rgb is image else None
        (written or image).save(buffer, "PNG", compress_level=_COMPRESSION, pnginfo=mark)
        made = cls(buffer.getvalue(), "png")
        if plain:
            values = pixels.values(rgb)
            pixels.DECODED.keep(made.digest, runs or values)
            made.__dict__["pixel_digest"] = pixels.digest(values)
            made.__dict__["size"] = image.size
        return made

    @cached_property
    def digest(self) -> str:
        """Of the bytes: what the file is called wherever pictures are stored."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def identity(self) -> str:
        """What makes it this picture, in fingerprints, in cache keys and to `==`: its bytes; of a file of our own
        making its pixels, because zlib writes other bytes for them on another machine. It follows from the bytes
        alone, so that a picture is the same before and after it was stored or sent."""
        if self._is_ours:
            with suppress(BadPicture):  # what shows nothing has nothing but its bytes
                return self.pixel_digest
        return self.digest

    @cached_property
    def pixel_digest(self) -> str:
        """Of what is seen, whatever the file is like."""
        return pixels.digest(self.values)

    @property
    def values(self) -> NDArray[np.uint8]:
        """The pixels of `image()` as (height, width, 3), not to be written to."""
        kept = self._pixels()
        return pixels.values(kept.image()) if isinstance(kept, pixels.Runs) else kept

    @property
    def runs(self) -> pixels.Runs:
        """The same pixels as runs of one colour."""
        from PIL import Image as images

        kept = self._pixels()
        return kept if isinstance(kept, pixels.Runs) else pixels.Runs.of(images.fromarray(kept))

    def _pixels(self) -> pixels.Runs | NDArray[np.uint8]:
        """Of pictures that we made ourselves the newest are kept: who draws, reads and scores them need not decode
        them each time."""
        if not self._is_ours:
            return pixels.values(self._decoded())
        kept = pixels.DECODED.get(self.digest)
        if kept is None:
            image = self._decoded()
            kept = pixels.DECODED.keep(self.digest, pixels.flat(image) or pixels.values(image))
        return kept

    @property
    def _is_ours(self) -> bool:
        return self.data[37 : 37 + len(_MARK)] == _MARK

    @property
    def media_type(self) -> str:
        return f"image/{self.format}"

    @cached_property
    def size(self) -> tuple[int, int]:
        """(width, height) as it is looked at, from the header alone."""
        with self._open() as image:
            return pixels.size(image)

    def image(self) -> Image.Image:
        """The pixels as a fresh RGB image, by the rules of `pixels.py`."""
        from PIL import Image as images

        if not self._is_ours:
            return self._decoded()
        kept = self._pixels()
        return kept.image() if isinstance(kept, pixels.Runs) else images.fromarray(kept)

    def _decoded(self) -> Image.Image:
        with self._open() as image, self._decoding():
            return pixels.rgb(image)

    @property
    def is_plain(self) -> bool:
        """Whether the header alone tells that every decoder shows it alike, as that of most pictures does. Where it
        does not tell, `shown` decodes to find out."""
        if self.format == "png" and _has_exif(self.data):
            return False
        with self._open() as image, self._decoding():
            return image.mode in pixels.OPAQUE and pixels.shown_alike(image)

    @property
    def is_animated(self) -> bool:
        """Whether it has several frames, to be shown one after the other."""
        if self.format not in ("gif", "png", "webp"):  # a telephone's JPEG may hold its preview as a second
            return False
        with self._open() as image, self._decoding():
            return bool(getattr(image, "is_animated", False))

    def shown(self) -> Picture:
        """What goes to a model: this picture, or its `image()` as PNG where decoders may show it differently."""
        with self._open() as image, self._decoding():
            return self if pixels.shown_alike(image) else Picture.from_image(pixels.rgb(image))

    @property
    def data_url(self) -> str:
        """As web APIs and pages take it: `data:image/png;base64,…`."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode('ascii')}"

    def _open(self) -> Image.Image:
        from PIL import Image as images
        from PIL import UnidentifiedImageError

        try:
            _silence_warnings(images.DecompressionBombWarning)
            image = images.open(io.BytesIO(self.data), formats=[self.format.upper()])
        except UnidentifiedImageError as error:  # its words would be those of a buffer and its address
            raise BadPicture(f"broken {self.format} picture: its header cannot be read") from error
        except (OSError, ValueError, SyntaxError, images.DecompressionBombError) as error:
            raise BadPicture(f"broken {self.format} picture: {error}") from error
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise BadPicture(f"picture of {width}x{height} pixels is over the limit of {MAX_PIXELS}")
        if self.format == "png" and _has_exif(self.data):
            with self._decoding():
                image.load()  # the orientation may stand behind the pixels
        return image

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, SyntaxError) as error:
            raise BadPicture(f"broken {self.format} picture: {error}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"Picture({self.format}, {self.identity[:12]})"

    def _repr_png_(self) -> bytes | None:
        """How a notebook shows it; nothing where it cannot be decoded."""
        try:
            picture = self.shown()
            return picture.data if picture.format == "png" else Picture.from_image(self.image()).data
        except BadPicture:
            return None


Content = str | Picture | Sound
Author = Literal["task", "model"]


@dataclass(frozen=True)
class Part:
    """One text, picture or sound in a context, and who put it there."""

    content: Content
    by: Author = "task"
    native: str = ""
    """The provider's own record of the turn that this came from, as `models/native.py` writes it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", well_formed(self.content))

    @property
    def picture(self) -> Picture | None:
        return self.content if isinstance(self.content, Picture) else None

    @property
    def sound(self) -> Sound | None:
        return self.content if isinstance(self.content, Sound) else None

    @property
    def text(self) -> str | None:
        return self.content if isinstance(self.content, str) else None

    def key(self) -> list[str]:
        match self.content:
            case str(value):
                kind = "text"
            case Picture(identity=value):
                kind = "picture"
            case Sound(digest=value):
                kind = "sound"
        return [self.by, kind, value, *([self.native] if self.native else [])]


@dataclass(frozen=True)
class Context:
    """An ordered list of parts. Parts are never merged or reordered between the task and the model."""

    parts: tuple[Part, ...] = ()

    def __add__(self, more: Sequence[Part]) -> Context:
        return Context((*self.parts, *more))

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def pictures(self) -> list[Picture]:
        return [part.content for part in self.parts if isinstance(part.content, Picture)]

    @property
    def sounds(self) -> list[Sound]:
        return [part.content for part in self.parts if isinstance(part.content, Sound)]

    @property
    def texts(self) -> list[str]:
        return [part.content for part in self.parts if isinstance(part.content, str)]

    def key(self) -> str:
        """A digest of everything a model could see here: equal keys mean equal contexts."""
        return hashlib.sha256(json.dumps([part.key() for part in self.parts]).encode()).hexdigest()


def of(*contents: Content, by: Author = "task") -> Context:
    """A context from plain texts, pictures and sounds: `of("What is this?", picture)`."""
    return Context(tuple(Part(content, by) for content in contents))


Pictures = Picture | Sequence[Picture]


@dataclass(frozen=True)
class Sample:
    """One item of a task.

    `fields`, `pictures` and `sounds` are what prompts may show, by name. `target` is what is true of the item and is
    seen by scorers alone. `groups` is how the item is grouped in tables (category, difficulty, language...); the
    entry `cluster` names items that share a picture or source, so that intervals are not too narrow.
    `frames` makes the true picture after each drawing step, for the oracle canvas and the picture scores.
    """

    id: str
    pictures: Mapping[str, Pictures] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    target: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, str | int | float] = field(default_factory=dict)
    steps: int | None = None
    frames: Callable[[], list[Picture]] | None = None
    sounds: Mapping[str, Sequence[Sound]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("id", "fields", "target", "groups"):
            object.__setattr__(self, name, well_formed(getattr(self, name)))

    def fingerprint(self) -> str:
        """A digest of all that is asked and all that is true: a changed data set changes it."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return self._digest(lambda picture: picture.identity)

    def looks_like(self, other: Sample) -> bool:
        """Whether the same is asked and true, with pictures of the same pixels in whatever files."""
        ours, theirs = (sample._digest(lambda picture: picture.pixel_digest) for sample in (self, other))
        return ours == theirs

    def _digest(self, known_by: Callable[[Picture], str]) -> str:
        pictures = {
            name: [known_by(p) for p in ([value] if isinstance(value, Picture) else value)]
            for name, value in self.pictures.items()
        }
        body = [self.id, pictures, dict(self.fields), dict(self.target), dict(self.groups), self.steps]
        if self.sounds:
            body.append({name: [sound.digest for sound in sounds] for name, sounds in self.sounds.items()})
        return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Draft:
    """A sample that is known by its id before it is made: whoever needs the id alone does not wait for pictures."""

    def __init__(self, id: str, make: Callable[[], Sample]) -> None:
        self.id = id
        self._make = make

    @classmethod
    def of(cls, sample: Sample) -> Draft:
        """One that was never a draft, because it was read from a file."""
        draft = cls(sample.id, lambda: sample)
        draft.__dict__["sample"] = sample
        return draft

    @cached_property
    def sample(self) -> Sample:
        return self._make()

    @property
    def is_made(self) -> bool:
        return "sample" in self.__dict__


class Drafts(Iterator[Sample]):
    """What a generator of samples may return: samples for whoever takes them one by one, each made when it is taken;
    `drafts` for a run that resumes and need not paint again what it has played."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        self.drafts = iter(drafts)

    def __next__(self) -> Sample:
        return next(self.drafts).sample
