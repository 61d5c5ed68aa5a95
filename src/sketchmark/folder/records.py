"""Episodes and samples as lines of a run folder, and back; the newest of several lines, and sets of many keys."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast

from msgspec import UNSET

from sketchmark.episode import Act, Episode, Turn
from sketchmark.episode.model import Reply
from sketchmark.episode.sample import Author, Content, Part, Sample
from sketchmark.folder.format import EpisodeLine, PartLine, SampleLine, Score, TurnLine
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.models.cache import pack_reply, unpack_reply

Save = Callable[[Picture | Sound], str]


class Shelf(Protocol):
    """Store of the media that an episode line names."""

    def load(self, name: str) -> Picture: ...

    def load_sound(self, name: str) -> Sound: ...


Row = TypeVar("Row", bound=Score)

_SETTINGS = ("mode", "canvas", "steps")


def pack_episode(episode: Episode, index: int, save: Save) -> EpisodeLine:
    save = _once(save)
    return EpisodeLine(
        index=index,
        sample=pack_sample(episode.sample, save, with_frames=episode.draw_attempts > 0),
        turns=[_pack_turn(turn, save) for turn in episode.turns],
        failure=episode.failure,
        started=round(episode.started, 3),
        seconds=round(episode.seconds, 4),
        repeat=episode.repeat,
        branch=episode.branch,
        seeds=dict(episode.seeds),
        **{name: episode.settings[name] for name in _SETTINGS if name in episode.settings},
    )


def _once(save: Save) -> Save:
    """Save each image once per episode: a sample's image is also shown, and saving looks at the disk."""
    names: dict[str, str] = {}

    def saved(shown: Picture | Sound) -> str:
        if shown.digest not in names:
            names[shown.digest] = save(shown)
        return names[shown.digest]

    return saved


def unpack_episode(line: EpisodeLine, shelf: Shelf) -> Episode:
    settings = {name: getattr(line, name) for name in _SETTINGS}
    return Episode(
        sample=unpack_sample(line.sample, shelf),
        turns=tuple(_unpack_turn(turn, shelf) for turn in line.turns),
        failure=line.failure,
        started=line.started,
        seconds=line.seconds,
        settings={name: value for name, value in settings.items() if value},
        repeat=line.repeat,
        branch=line.branch,
        seeds=line.seeds,
    )


def pack_sample(sample: Sample, save: Save, *, with_frames: bool) -> SampleLine:
    return SampleLine(
        id=sample.id,
        fingerprint=sample.fingerprint(),
        fields=dict(sample.fields),
        pictures={
            name: save(value) if isinstance(value, Picture) else [save(picture) for picture in value]
            for name, value in sample.pictures.items()
        },
        sounds={name: [save(sound) for sound in sounds] for name, sounds in sample.sounds.items()} or UNSET,
        target=dict(sample.target),
        groups=dict(sample.groups),
        steps=sample.steps,
        frames=[save(frame) for frame in sample.frames()] if with_frames and sample.frames else None,
    )


def unpack_sample(line: SampleLine, shelf: Shelf) -> Sample:
    load, frames = shelf.load, line.frames
    return Sample(
        id=line.id,
        pictures={
            name: load(value) if isinstance(value, str) else [load(picture) for picture in value]
            for name, value in line.pictures.items()
        },
        fields=line.fields,
        target=line.target,
        groups=line.groups,
        steps=line.steps,
        frames=(lambda: [load(name) for name in frames]) if frames else None,
        sounds={name: [shelf.load_sound(one) for one in names] for name, names in (line.sounds or {}).items()},
    )


def media_names(line: EpisodeLine) -> Iterator[str]:
    """Yield the name of every image and sound in an episode line."""
    yield from input_names(line.sample)
    yield from line.sample.frames or ()
    yield from sound_names(line.sample)
    for turn in line.turns:
        yield from (name for part in turn.added if (name := part.picture or part.sound))
        if turn.reply and turn.reply.picture:
            yield turn.reply.picture


def input_names(sample: SampleLine) -> Iterator[str]:
    """Yield the names of a sample's images."""
    for value in sample.pictures.values():
        yield from [value] if isinstance(value, str) else value


def sound_names(sample: SampleLine) -> Iterator[str]:
    """Yield the names of a sample's sounds."""
    for names in (sample.sounds or {}).values():
        yield from names


def drawn_names(line: EpisodeLine) -> list[str]:
    """Return the names of the model's drawings."""
    return [turn.reply.picture for turn in line.turns if turn.reply and turn.reply.picture]


def drawings_right(line: EpisodeLine, notes: Mapping[str, Any]) -> list[bool | None]:
    """Return whether each drawing is right, as the scorer noted it (`frames_right`).

    Without its verdict, an image identical to the ground truth is right; of any other it is not known (None).
    """
    judged, true = notes.get("frames_right"), line.sample.frames or []
    judged = judged if isinstance(judged, list) else []
    return [
        bool(judged[at]) if at < len(judged) else True if name in true[at : at + 1] else None
        for at, name in enumerate(drawn_names(line))
    ]


def said(line: EpisodeLine) -> list[str]:
    return [turn.reply.text for turn in line.turns if turn.act == "say" and turn.reply]


def _pack_turn(turn: Turn, save: Save) -> TurnLine:
    return TurnLine(
        act=turn.act,
        added=[_pack_part(part, save) for part in turn.added],
        suffix=turn.suffix,
        note=turn.note,
        reply=pack_reply(turn.reply, save) if turn.reply else None,
        seconds=turn.seconds if turn.reply else None,
    )


def _unpack_turn(turn: TurnLine, shelf: Shelf) -> Turn:
    reply = unpack_reply(turn.reply, shelf.load) if turn.reply else None
    return Turn(
        act=cast(Act, turn.act),
        added=tuple(_unpack_part(part, reply, shelf) for part in turn.added),
        suffix=turn.suffix,
        reply=reply,
        seconds=turn.seconds or 0.0,
        note=turn.note,
    )


def _pack_part(part: Part, save: Save) -> PartLine:
    line = PartLine(part.by, native=bool(part.native))
    match part.content:
        case str(text):
            line.text = text
        case Picture() as picture:
            line.picture = save(picture)
        case Sound() as sound:
            line.sound = save(sound)
    return line


def _unpack_part(part: PartLine, reply: Reply | None, shelf: Shelf) -> Part:
    content: Content = part.text or ""
    if part.picture:
        content = shelf.load(part.picture)
    elif part.sound:
        content = shelf.load_sound(part.sound)
    return Part(content, cast(Author, part.by), reply.native if part.native and reply else "")


def newest(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the last row of each key, in the order of the samples."""
    found = {row.key: row for row in rows}
    return dict(sorted(found.items(), key=lambda item: item[1].place))


class Seen:
    """A set of many texts or numbers in some 16 bytes each, where Python's takes 150: it holds only their hashes, of
    64 bits with a random key. Among a million, one is taken for another with a probability of 1 in 20 million."""

    def __init__(self) -> None:
        self._table = array("Q", [0]) * 64
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, one: Hashable) -> bool:
        return self._table[self._place(hash(one) & _ALL_BITS or _ZERO)] != 0

    def add(self, one: Hashable) -> bool:
        """Add to the set. Returns whether it is new."""
        wanted = hash(one) & _ALL_BITS or _ZERO
        place = self._place(wanted)
        if self._table[place]:
            return False
        self._table[place] = wanted
        self._size += 1
        if 2 * self._size > len(self._table):
            before, self._table = self._table, array("Q", [0]) * (2 * len(self._table))
            for known in before:
                if known:
                    self._table[self._place(known)] = known
        return True

    def _place(self, wanted: int) -> int:
        """Return where the hash is, or else the free place for it."""
        table, last = self._table, len(self._table) - 1
        place = wanted & last
        while table[place] and table[place] != wanted:
            place = place + 1 & last
        return place


_ALL_BITS = 2**64 - 1
_ZERO = 0x9E3779B97F4A7C15
"""Stands for the hash 0, which marks a free place."""
