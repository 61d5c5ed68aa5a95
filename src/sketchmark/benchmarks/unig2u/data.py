"""Rows of UniG2U-Bench's files as samples: one parquet file per task, with all images of a question.

Fields are those that the published programs read (docs/benchmarks/unig2u.md, "Rows"). An unusable row is not sent to
the model and counts as `broken_row`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from sketchmark.answers.choices import options_of
from sketchmark.benchmarks import build_all, checked_letter, checked_options, text
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from sketchmark.files.tables import Row, as_picture, rows
from sketchmark.media import Picture

Origin = Mapping[str, str]
LETTERS = "ABCD"

IN_THE_PICTURE = " Choose from (A) (B) (C) (D) in the image."
_LEVELS = ("easy", "medium", "hard")


def _loader(name: str) -> Callable[[Callable[[int, Row], Sample]], Callable[..., Iterator[Sample]]]:
    """Make the source of a task from the function that builds the sample of a row."""

    def loader(build: Callable[[int, Row], Sample]) -> Callable[..., Iterator[Sample]]:
        def load(*, seed: int, data: Path | None, origin: Origin, limit: int | None = None) -> Iterator[Sample]:
            return build_all(name, rows(data, **origin, limit=limit), build)

        return load

    return loader


@_loader("visualpuzzles")
def visual_puzzles(number: int, row: Row) -> Sample:
    """Yield samples with four options as text, or none: then they are in the image."""
    options = None if row.get("options") is None else checked_options(row["options"])
    if options is not None and len(options) != len(LETTERS):
        raise BadInput(f"{len(options)} options, not four")
    fields = {"question": text(row, "question").strip(), "choices": IN_THE_PICTURE}
    if options:
        fields["options"] = "\n".join(f"({letter}) {option}" for letter, option in zip(LETTERS, options, strict=True))
        fields["choices"] = f"\n{fields['options']}"
    return Sample(
        id=_name(row, number, "id", "idx"),
        pictures={"image": _picture(row, "image")},
        fields=fields,
        target={
            "answer": checked_letter(row["answer"], LETTERS),
            "options": options or dict.fromkeys(LETTERS, ""),
        },
    )


def illusions(
    *, seed: int, data: Path | None, origin: Origin, asks: str, shapes: str, scenes: str, limit: int | None = None
) -> Iterator[Sample]:
    """`asks` is shape or scene; `shapes` and `scenes` are the options, as the prompt lists them."""
    options = [*shapes.split(", "), *scenes.split(", ")]

    def build(number: int, row: Row) -> Sample:
        name = text(row, "image_name")
        shape, scene, level = hidden_in(name)
        label = shape if asks == "shape" else scene
        listed = next((option for option in options if folded(option) == folded(label)), "")
        return Sample(
            id=name,
            pictures={"image": _picture(row, "image")},
            fields={"shapes": shapes, "scenes": scenes},
            target={"answer": listed or label, "label": label, "options": options if listed else [*options, label]},
            groups={"difficulty": level},
        )

    return build_all("illusion", rows(data, **origin, limit=limit), build)


def hidden_in(name: str) -> tuple[str, str, str]:
    """(shape, scene, difficulty) from a file's name: `animal-1-Medieval_Village-Easy-1.5-90.png`."""
    parts = [part for part in re.sub(r"\.[A-Za-z]{2,5}$", "", Path(name).name).split("-") if part]
    place = next((n for n, part in enumerate(parts) if part.lower() in _LEVELS), 0)
    shape = parts[: max(0, place - 1)]
    if len(shape) > 1 and shape[-1].isdigit():
        shape = shape[:-1]
    if not shape:
        raise BadInput(f"the name {name[:80]!r} does not give shape, scene and difficulty")
    return "-".join(shape), parts[place - 1], parts[place].lower()


def folded(label: str) -> str:
    """For comparing labels: `Paper_clip` is `paper clip`."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def realunify(
    *, seed: int, data: Path | None, origin: Origin, kind: str, limit: int | None = None
) -> Iterator[Sample]:
    def build(number: int, row: Row) -> Sample:
        prompt = text(row, "evaluation_prompt" if row.get("evaluation_prompt") else "prompt").strip()
        answer = checked_letter(row["answer"], LETTERS)
        return Sample(
            id=_name(row, number, "id", "index"),
            pictures={"image": _picture(row, "image")},
            fields={"question": text(row, "question").strip(), "evaluation_prompt": prompt},
            target={"answer": answer, "options": _listed(prompt, answer)},
        )

    return _of_kind(rows(data, **origin, limit=limit), "task_type", kind, build)


@_loader("chartqa")
def charts(number: int, row: Row) -> Sample:
    return Sample(
        id=_name(row, number, "id"),
        pictures={"image": _picture(row, "image")},
        fields={"question": text(row, "question")},
        target={"answer": str(row["answer"])},
        groups={"type": text(row, "type")},
    )


@_loader("map")
def maps(number: int, row: Row) -> Sample:
    """North and east are positive."""
    return Sample(
        id=_name(row, number, "test_id"),
        pictures=_pictures(row, "example", "test"),
        target={"north": int(row["gt_north_south"]), "east": int(row["gt_east_west"])},
    )


@_loader("collision")
def collisions(number: int, row: Row) -> Sample:
    return Sample(
        id=_name(row, number, "test_id"),
        pictures=_pictures(row, "icon", "example", "test"),
        fields={name: str(row[name]) for name in ("car_dir", "car_speed", "person_dir", "person_speed")},
        target={"car": float(row["gt_car"]), "person": float(row["gt_person"])},
    )


@_loader("phyx")
def physics(number: int, row: Row) -> Sample:
    """The picture is a text in base64; the options stand in the question."""
    question, answer = text(row, "question"), str(row["answer"]).strip().upper()
    options = _listed(question, answer)
    return Sample(
        id=_name(row, number, "index"),
        pictures={"image": _picture(row, "image")},
        fields={"question": question},
        target={
            "answer": checked_letter(answer, list(options)),
            "options": options,
            **_as_filed(answer=str(row["answer"])),
        },
        groups={name: str(row[name]) for name in ("subfield", "reasoning_type") if row.get(name)},
    )


def babyvision(
    *, seed: int, data: Path | None, origin: Origin, kind: str, limit: int | None = None
) -> Iterator[Sample]:
    """One file for both tasks: each takes the rows of its `type`."""

    def build(number: int, row: Row) -> Sample:
        options = checked_options(row["options"]) if row["ansType"] == "choice" else []
        choices = "".join(f"\n({chr(65 + place)}) {option}" for place, option in enumerate(options))
        given = "" if row.get("blankAns") is None else str(row["blankAns"])
        answer = checked_letter(chr(65 + int(row["choiceAns"])), options) if options else given.strip()
        if not answer:
            raise BadInput("no answer")
        return Sample(
            id=_name(row, number, "taskId"),
            pictures={"image": _picture(row, "image")},
            fields={
                "question": text(row, "question").strip(),
                "choices": f"\nChoices:{choices}" if options else "",
                "options": choices.strip(),
            },
            target={
                "answer": answer,
                **({"options": options} if options else {}),
                **_as_filed(question=row["question"], answer=answer if options else given),
            },
            groups={"subtype": str(row.get("subtype") or "unknown")},
        )

    return _of_kind(rows(data, **origin, limit=limit), "type", kind, build)


@_loader("geometry3k")
def geometry(number: int, row: Row) -> Sample:
    """Yield samples. The problem keeps the word `<image>` in it."""
    found = row["images"]
    if not isinstance(found, Sequence) or not found:
        raise BadInput("no list of images")
    return Sample(
        id=_name(row, number, "id"),
        pictures={"images": [as_picture(one, f"image {place}") for place, one in enumerate(found, start=1)]},
        fields={"problem": text(row, "problem")},
        target={"answer": str(row["answer"])},
    )


@_loader("auxsolidmath")
def solids(number: int, row: Row) -> Sample:
    """Yield samples. If the file has an image of the ground-truth auxiliary lines, the `oracle` canvas shows it."""
    drawn = row.get("auxiliary_line_image")
    truth = as_picture(drawn, "auxiliary_line_image") if drawn else None
    return Sample(
        id=_name(row, number, "id"),
        pictures={"image": _picture(row, "original_image")},
        fields={"question": text(row, "question")},
        target={"answer": str(row["answer"]), "lines": str(row.get("auxiliary_line_description") or "")},
        frames=partial(list[Picture], [truth]) if truth else None,
    )


def _of_kind(found: Iterator[Row], column: str, kind: str, build: Callable[[int, Row], Sample]) -> Iterator[Sample]:
    """The rows of one kind; a file without any is not the file that was meant."""
    seen: set[str] = set()

    def chosen(number: int, row: Row) -> Sample | None:
        seen.add(str(row.get(column)))
        return build(number, row) if row.get(column) == kind else None

    any_of_it = False
    for sample in build_all(kind, found, chosen):
        any_of_it = True
        yield sample
    if not any_of_it:
        raise BadInput(f"the data has no row with {column} {kind!r}", f"it has: {', '.join(sorted(seen)[:10])}")


def _name(row: Row, number: int, *columns: str) -> str:
    """The row's own name where it has one, else its number."""
    return next((str(row[column]) for column in columns if row.get(column) not in (None, "")), f"{number:05d}")


def _listed(prompt: str, answer: str) -> dict[str, str]:
    """Return the options as the text lists them; if it does not list the right one, only the letters."""
    listed = dict(options_of(prompt))
    return listed if answer in listed else dict.fromkeys(LETTERS, "")


def _as_filed(**texts: str) -> dict[str, dict[str, str]]:
    """The texts that the published judge gets with their blanks, where they have any around them."""
    filed = {name: text for name, text in texts.items() if text != text.strip()}
    return {"as_filed": filed} if filed else {}


def _pictures(row: Row, *names: str) -> dict[str, Picture]:
    return {name: _picture(row, f"{name}_image") for name in names}


def _picture(row: Row, column: str) -> Picture:
    value = row[column]
    if isinstance(value, str):
        try:
            value = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadInput(f"{column} is a text that is not base64") from error
    return as_picture(value, column)
