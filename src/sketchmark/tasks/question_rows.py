"""From the rows of a published set of questions to samples: what the loaders of several benchmarks share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from sketchmark.errors import BadInput, DataMissing, SketchmarkError
from sketchmark.parts import Sample


def build_all(name: str, rows: Iterable[Any], build: Callable[[int, Any], Sample | None]) -> Iterator[Sample]:
    """A sample for every row. A row that cannot be used becomes a sample that says why, under its own name:
    the run counts it as `broken_row` and continues. `build` returns None for a row the benchmark leaves out."""
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        try:
            sample = build(number, row)
        except DataMissing:  # the network is gone, not a row broken
            raise
        except (SketchmarkError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
            sample = Sample(id=f"{name}-{number:06d}", fields={"broken": f"row {number}: {reason}"})
        if sample is None:
            continue
        seen[sample.id] = seen.get(sample.id, 0) + 1
        if seen[sample.id] > 1:
            sample = _renamed(sample, f"{sample.id}#{seen[sample.id]}")
        yield sample


def _renamed(sample: Sample, name: str) -> Sample:
    return Sample(name, sample.pictures, sample.fields, sample.target, sample.groups, sample.steps, sample.frames)


def text(row: Mapping[str, Any], name: str) -> str:
    """A field that has to be text, with something in it."""
    value = row[name]
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"field {name!r} is {'empty' if value in ('', None) else type(value).__name__}")
    return value


def checked_options(options: Sequence[Any]) -> list[str]:
    if not 1 <= len(options) <= len(ascii_uppercase):
        raise BadInput(f"{len(options)} options")
    return [str(option) for option in options]


def checked_letter(letter: Any, options: Sequence[str]) -> str:
    gold = str(letter).strip().upper()
    if len(gold) != 1 or gold not in ascii_uppercase[: len(options)]:
        raise BadInput(f"answer {str(letter)[:40]!r} is not a letter of {len(options)} options")
    return gold
