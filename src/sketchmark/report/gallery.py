"""A few episodes as film strips: inputs, drawings and replies, next to the ground-truth images."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sketchmark.errors import SketchmarkError
from sketchmark.files import small
from sketchmark.folder import RunFolder
from sketchmark.folder.columns import Floats, Rows
from sketchmark.folder.format import EpisodeLine, SampleLine
from sketchmark.folder.index import CellView, RunView, change, outcome
from sketchmark.folder.records import drawings_right, drawn_names, input_names
from sketchmark.markup import Html, join, tag, words
from sketchmark.models.cache import ReplyRecord

EACH = 6
"""Episodes per heading. A report must fit a mail: the viewer shows the rest."""
STEPS = 8
_INPUTS = 4
"""Images per input name."""
SIDE = 200
BUDGET = 3 * 2**20
"""Bytes of all images together."""

HEADINGS = {
    "helped": "Wrong without drawing, right with it",
    "hurt": "Right without drawing, wrong with it",
    "failed": "Ended in a failure, or with an unparsed answer",
    "right": "Right",
    "wrong": "Wrong",
}


class Frames:
    """Small images of one report as data addresses, until the budget is spent."""

    def __init__(self, folder: RunFolder, budget: int = BUDGET) -> None:
        self._folder = folder
        self._left = budget
        self._made: dict[str, str] = {}

    def show(self, name: str, alt: str) -> Html:
        if name not in self._made:
            try:
                data = small(self._folder.pictures.load(name), SIDE)
            except SketchmarkError:
                return tag("div", "image missing", class_="missing")
            if len(data) > self._left:
                return tag("div", "left out to keep this file small", class_="missing")
            self._left -= len(data)
            self._made[name] = "data:image/webp;base64," + base64.b64encode(data).decode()
        # Each use counts, since the file repeats the bytes.
        self._left -= len(self._made[name]) if self._left > 0 else 0
        return tag("img", src=self._made[name], alt=alt)

    def in_words(self, sound: str) -> str:
        """Describe a sound, which would make the file too large."""
        return self._folder.pictures.sound_in_words(sound)


def pick(run: RunView) -> dict[str, list[tuple[CellView, str]]]:
    """Choose episodes for each heading, in turn from each task."""
    found: dict[str, list[Iterator[tuple[CellView, str]]]] = {}
    drawing = [cell for cell in run.cells.values() if cell.mode == "visual_cot" and cell.canvas == "own"]
    for cell in drawing or run.cells.values():
        kinds: dict[str, list[tuple[CellView, str]]] = {}
        base = run.baseline(cell)
        rows = cell.rows
        played = rows.align(cell.episodes)[0]
        failed = ~(rows.unflagged() | _only_left_out(rows))[played]
        values = rows.metric(cell.headline)[played]
        before = np.full(len(played), np.nan)
        if base is not None:
            mine, theirs = rows.align(base.rows)
            of_row = np.full(len(rows), np.nan)
            of_row[mine] = base.rows.metric(base.headline)[theirs]
            before = of_row[played]
        for at in _first_of_each(failed, before, values):
            value = None if np.isnan(values[at]) else float(values[at])
            if failed[at]:
                kind: str | None = "failed"
            elif base is not None:
                kind = change(None if np.isnan(before[at]) else float(before[at]), value)
            else:
                kind = outcome(value)
            if kind in HEADINGS and len(kinds.setdefault(kind, [])) < EACH:
                kinds[kind].append((cell, rows.key(int(played[at]))))
        for kind, episodes in kinds.items():
            found.setdefault(kind, []).append(iter(episodes))
    return {kind: list(_in_turn(found[kind]))[:EACH] for kind in HEADINGS if kind in found}


def _only_left_out(rows: Rows) -> npt.NDArray[np.bool_]:
    alone = np.array([flags == ["left_out"] for flags in rows.lists["flags"]], bool)
    return alone[rows.arrays["flag"]] if len(alone) else np.zeros(len(rows), bool)


def _first_of_each(failed: npt.NDArray[np.bool_], before: Floats, values: Floats) -> list[int]:
    """Return the first rows of each kind that `pick` distinguishes, in order: enough for every heading."""
    kinds = failed.astype(np.int8)
    with np.errstate(invalid="ignore"):
        changes = np.nan_to_num(np.sign(values - before), nan=2.0).astype(np.int8) + 1
    for bit, tested in enumerate((changes & 1, changes >> 1, values >= 1, values <= 0, np.isnan(values)), start=1):
        kinds |= tested.astype(np.int8) << bit
    chosen: set[int] = set()
    for kind in np.unique(kinds).tolist():
        chosen.update(np.flatnonzero(kinds == kind)[:EACH].tolist())
    return sorted(chosen)


def _in_turn(sources: list[Iterator[tuple[CellView, str]]]) -> Iterator[tuple[CellView, str]]:
    while sources:
        for source in list(sources):
            try:
                yield next(source)
            except StopIteration:
                sources.remove(source)


def opening_strips(run: RunView, frames: Frames) -> Html | None:
    """Show one episode that drawing helped and one that it hurt, small, with the first wrong drawing outlined."""
    picked = pick(run)
    strips = [_small_strip(run, *picked[kind][0], kind, frames) for kind in ("helped", "hurt") if picked.get(kind)]
    return tag("section", *strips, class_="slide", aria_label="Two episodes") if strips else None


def _small_strip(run: RunView, cell: CellView, sample: str, kind: str, frames: Frames) -> Html:
    record, score = cell.episode(sample), cell.score(sample)
    true, drawn = record.sample.frames or [], drawn_names(record)
    right = drawings_right(record, score.notes if score else {})
    wrong = right.index(False) if False in right else None
    base = run.baseline(cell)
    stills = [
        _small(frames.show(name, "input image"), f"direct {_SIGNS[kind]}" if base else "input", "in")
        for name in list(input_names(record.sample))[:1]
    ]
    for at, name in enumerate(drawn[:STRIP]):
        bad = right[at] is False
        caption = f"✕ {at + 1}" if bad else str(at + 1)
        stills.append(
            _small(frames.show(name, f"drawing {at + 1}{', wrong' if bad else ''}"), caption, _kind(at, wrong, bad))
        )
    if wrong is not None and wrong < len(true) and wrong < STRIP:
        stills.append(
            _small(frames.show(true[wrong], f"ground truth of drawing {wrong + 1}"), "ground truth", "true")
        )
    more = f" ({len(drawn) - STRIP} more drawings)" if len(drawn) > STRIP else ""
    glyph = "▲" if kind == "helped" else "▼"
    return tag(
        "article",
        tag(
            "p",
            tag("span", f"{glyph} {kind}", class_=f"mark {'right' if kind == 'helped' else 'wrong'}"),
            " ",
            tag("strong", tag("bdi", sample)),
            f" {_happened(kind, len(drawn), wrong)}{more}",
        ),
        tag("ol", *stills, class_="mini"),
        class_="told",
    )


STRIP = 14
_SIGNS = {"helped": "✕", "hurt": "✓"}


def _kind(at: int, wrong: int | None, bad: bool) -> str:
    return "first" if at == wrong else "bad" if bad else ""


def _small(image: Html, caption: str, kind: str) -> Html:
    return tag("li", image, tag("span", caption, class_="label"), class_=kind or None)


def _happened(kind: str, drawn: int, wrong: int | None) -> str:
    """Describe an episode in one sentence, without naming a cause."""
    direct = "is wrong" if kind == "helped" else "is right"
    answer = "right" if kind == "helped" else "wrong"
    if wrong is not None:
        which = f"drawing {wrong + 1} of {drawn} is wrong" if drawn > 1 else "the drawing is wrong"
        joined = "and so is" if answer == "wrong" else "but"
        rest = f"{which}, {joined} the answer{'' if answer == 'wrong' else ' is right'}"
    else:
        rest = f"after {drawn} drawing{'s' * (drawn != 1)} the answer is {answer}"
    return f"The direct answer {direct}; {rest}."


def gallery(run: RunView, frames: Frames) -> Html:
    sections = []
    for kind, episodes in pick(run).items():
        strips = [film_strip(run, cell, sample, frames) for cell, sample in episodes]
        told = f"{HEADINGS[kind]} ({len(strips)})"
        sections.append(tag("details", tag("summary", told), *strips))
    if sections:
        return join(*sections)
    scored = any(len(cell.rows) for cell in run.cells.values())
    return tag("p", "Drawing changed no answer." if scored else "No episode has been scored yet.", class_="empty")


def film_strip(run: RunView, cell: CellView, sample: str, frames: Frames) -> Html:
    record, row = cell.episode(sample), cell.rows[sample]
    base = run.baseline(cell)
    marks = [tag("span", outcome(cell.value(sample)), class_=f"mark {outcome(cell.value(sample))}")]
    if base is not None and base.value(sample) is not None:
        marks.append(tag("span", f"direct: {outcome(base.value(sample))}", class_="mark"))
    marks += [tag("span", flag, class_="mark trouble") for flag in row.flags]
    failure = record.failure
    scores = [f"{name} {value:g}" for name, value in row.values.items() if value is not None]
    return tag(
        "article",
        tag("h4", tag("bdi", sample), " ", tag("span", cell.name, class_="quiet"), " ", *marks),
        tag(
            "ol",
            *_inputs(record.sample, frames),
            *_steps(record, frames),
            class_="strip",
            tabindex="0",
            aria_label=f"What happened in {sample}, step by step",
        ),
        tag("p", f"Failed ({failure.kind}): {failure.message}", class_="failure") if failure else None,
        tag(
            "p",
            "Scores: " + (", ".join(scores) or "none"),
            " · Ground truth: ",
            tag("code", _short(record.sample.target)),
            class_="quiet",
        ),
        class_="episode",
    )


def _inputs(sample: SampleLine, frames: Frames) -> Iterator[Html]:
    for name, value in sample.pictures.items():
        several = [value] if isinstance(value, str) else value
        for picture in several[:_INPUTS]:
            yield _still(f"input: {name}", frames.show(picture, f"input image {name}"))
        if len(several) > _INPUTS:
            yield _still(f"input: {name}", words(f"and {len(several) - _INPUTS} more, not shown here", 600))
    for name, sounds in (sample.sounds or {}).items():
        yield _still(f"input: {name}", words("\n".join(map(frames.in_words, sounds)), 600))


def _steps(record: EpisodeLine, frames: Frames) -> Iterator[Html]:
    """Show every reply in order; only the first and the last of a long episode."""
    true = record.sample.frames or []
    stills = []
    drawn = 0
    for turn in record.turns:
        reply = turn.reply
        if turn.act == "skip":
            stills.append(_still("left out", words(turn.note, 300)))
        elif turn.act == "draw" and reply:
            stills.append(_drawing(reply, drawn, true, frames))
            drawn += 1
        elif reply:
            label = "described" if turn.act == "describe" else "said"
            stills.append(_still(label, words(reply.text or "(nothing)", 600)))
    if len(stills) <= STEPS * 2:
        yield from stills
        return
    yield from stills[: STEPS * 2 - 2]
    yield _still("…", tag("p", f"{len(stills) - STEPS * 2 + 1} more steps", class_="quiet"))
    yield stills[-1]


def _missing(reply: ReplyRecord) -> str:
    return f"no image ({reply.finish}{f': {reply.trouble}' if reply.trouble else ''})"


def _drawing(reply: ReplyRecord, number: int, true: list[str], frames: Frames) -> Html:
    if not reply.picture:
        return _still(f"drawing {number + 1}", tag("div", _missing(reply), class_="missing"))
    pair = [frames.show(reply.picture, f"drawing {number + 1} by the model")]
    label = f"drawing {number + 1}"
    if number < len(true):
        same = true[number] == reply.picture
        pair.append(frames.show(true[number], f"ground truth of drawing {number + 1}"))
        label += " = ground truth" if same else " | ground truth"
    return _still(label, tag("div", *pair, class_="pair"))


def _still(label: str, content: Html) -> Html:
    return tag("li", tag("span", label, class_="label"), content)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 240 else f"{text[:237]}..."
