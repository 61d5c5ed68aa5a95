"""Samples and the contexts that a model sees: ordered texts, images and sounds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sketchmark.files.jsonl import well_formed
from sketchmark.media import Picture
from sketchmark.media.sound import Sound

Content = str | Picture | Sound
Author = Literal["task", "model", "system"]
"""`system` is the author of a judge's instructions, where they are published as a system message."""


@dataclass(frozen=True)
class Part:
    """One text, image or sound in a context, and its author."""

    content: Content
    by: Author = "task"
    native: str = ""
    """The provider's own record of the turn that this came from, as `models/layout.py` writes it."""

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
        """Return a digest of everything a model could see here: equal keys mean equal contexts."""
        return hashlib.sha256(json.dumps([part.key() for part in self.parts]).encode()).hexdigest()


def of(*contents: Content, by: Author = "task") -> Context:
    """Make a context from plain texts, images and sounds: `of("What is this?", picture)`."""
    return Context(tuple(Part(content, by) for content in contents))


Pictures = Picture | Sequence[Picture]


@dataclass(frozen=True)
class Sample:
    """One item of a task.

    `fields`, `pictures` and `sounds` are what prompts may show, by name. `target` is the ground truth; only scorers
    see it. `groups` is how tables group the item (category, difficulty, language...). Its entry `cluster` names items
    that share an image or source, so that intervals are not too narrow. `frames` makes the ground-truth image after
    each drawing step, for the oracle canvas and the image scores.
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
        """Return a digest of the question and its ground truth. A changed dataset changes it."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        pictures = {
            name: [p.identity for p in ([value] if isinstance(value, Picture) else value)]
            for name, value in self.pictures.items()
        }
        body = [self.id, pictures, dict(self.fields), dict(self.target), dict(self.groups), self.steps]
        if self.sounds:
            body.append({name: [sound.digest for sound in sounds] for name, sounds in self.sounds.items()})
        return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Draft:
    """A sample whose id is known before it is made, so that code that needs only the id does not wait for images."""

    def __init__(self, id: str, make: Callable[[], Sample]) -> None:
        self.id = id
        self._make = make

    @classmethod
    def of(cls, sample: Sample) -> Draft:
        """Wrap a sample that is complete already, because it was read from a file."""
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
    """A generator's samples, each made when it is taken. A resumed run takes `drafts` instead, and does not draw
    again what it has finished."""

    def __init__(self, drafts: Iterable[Draft]) -> None:
        self.drafts = iter(drafts)

    def __next__(self) -> Sample:
        return next(self.drafts).sample
