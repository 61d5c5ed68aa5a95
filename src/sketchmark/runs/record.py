"""Episodes and samples as JSON lines, and back. The format is public: docs/run-folder.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sketchmark.episode import Episode, Failure, Turn
from sketchmark.models.reply_record import Load, Save, pack_reply, unpack_reply
from sketchmark.parts import Part, Picture, Sample


def pack_episode(episode: Episode, index: int, save: Save) -> dict[str, Any]:
    failure = episode.failure
    return {
        "index": index,
        "sample": pack_sample(episode.sample, save, with_frames=episode.draw_attempts > 0),
        **episode.settings,
        "turns": [_pack_turn(turn, save) for turn in episode.turns],
        "failure": {"kind": failure.kind, "message": failure.message, "blames_model": failure.blames_model}
        if failure
        else None,
        "started": round(episode.started, 3),
        "seconds": round(episode.seconds, 4),
    }


def unpack_episode(record: Mapping[str, Any], load: Load) -> Episode:
    failure = record["failure"]
    return Episode(
        sample=unpack_sample(record["sample"], load),
        turns=tuple(_unpack_turn(turn, load) for turn in record["turns"]),
        failure=Failure(**failure) if failure else None,
        started=record["started"],
        seconds=record["seconds"],
        settings={key: record[key] for key in ("mode", "canvas", "steps") if key in record},
    )


def pack_sample(sample: Sample, save: Save, *, with_frames: bool) -> dict[str, Any]:
    """A run folder holds what is true of its samples, so that it can be scored again without the data set."""
    return {
        "id": sample.id,
        "fingerprint": sample.fingerprint(),
        "fields": dict(sample.fields),
        "pictures": {
            name: save(value) if isinstance(value, Picture) else [save(picture) for picture in value]
            for name, value in sample.pictures.items()
        },
        "target": dict(sample.target),
        "groups": dict(sample.groups),
        "steps": sample.steps,
        "frames": [save(frame) for frame in sample.frames()] if with_frames and sample.frames else None,
    }


def unpack_sample(record: Mapping[str, Any], load: Load) -> Sample:
    frames = record.get("frames")
    return Sample(
        id=record["id"],
        pictures={
            name: load(value) if isinstance(value, str) else [load(picture) for picture in value]
            for name, value in record["pictures"].items()
        },
        fields=record["fields"],
        target=record["target"],
        groups=record["groups"],
        steps=record["steps"],
        frames=(lambda: [load(name) for name in frames]) if frames else None,
    )


def picture_names(record: Mapping[str, Any]) -> Iterator[str]:
    """Every picture that an episode's line speaks of."""
    for value in record["sample"]["pictures"].values():
        yield from [value] if isinstance(value, str) else value
    yield from record["sample"].get("frames") or ()
    for turn in record["turns"]:
        yield from (part["picture"] for part in turn["added"] if "picture" in part)
        reply = turn.get("reply")
        if reply and reply.get("picture"):
            yield reply["picture"]


def _pack_turn(turn: Turn, save: Save) -> dict[str, Any]:
    packed: dict[str, Any] = {"act": turn.act, "added": [_pack_part(part, save) for part in turn.added]}
    if turn.suffix:
        packed["suffix"] = turn.suffix
    if turn.note:
        packed["note"] = turn.note
    if turn.reply:
        packed["reply"] = pack_reply(turn.reply, save)
        packed["seconds"] = turn.seconds
    return packed


def _unpack_turn(turn: Mapping[str, Any], load: Load) -> Turn:
    return Turn(
        act=turn["act"],
        added=tuple(_unpack_part(part, load) for part in turn["added"]),
        suffix=turn.get("suffix", ""),
        reply=unpack_reply(turn["reply"], load) if "reply" in turn else None,
        seconds=turn.get("seconds", 0.0),
        note=turn.get("note", ""),
    )


def _pack_part(part: Part, save: Save) -> dict[str, str]:
    if isinstance(part.content, Picture):
        return {"by": part.by, "picture": save(part.content)}
    return {"by": part.by, "text": part.content}


def _unpack_part(part: Mapping[str, Any], load: Load) -> Part:
    return Part(load(part["picture"]) if "picture" in part else part["text"], part["by"])
