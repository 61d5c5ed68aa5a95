"""Reproduction card: one page of Markdown on what was run, how it was scored, and how to repeat it.

All facts come from the run folder, which may be untrusted: its texts are escaped in tables, and the command is built
here from typed values and quoted for a shell.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import quote

from msgspec.structs import replace

from sketchmark.comparison.formats import markdown_text
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder
from sketchmark.folder.columns import Episodes
from sketchmark.folder.format import PEOPLE, CellRecord, RunRecord, condition
from sketchmark.folder.results_format import CellResult, Metric
from sketchmark.models.cache import ReplyRecord
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.results.aggregate import own_numbers, why_none
from sketchmark.results.repeats import sample_count
from sketchmark.settings import Settings, command
from sketchmark.stats.intervals import as_bracket, as_percent

_MOST = 5
"""Versions and reasons to name; the others are counted."""
_LONGEST = 200
NOT_REPORTED = "not reported"


def card(folder: RunFolder, path: str) -> str:
    """Write the card. `path` is the run folder relative to the card, for links and the command."""
    about, results = folder.about(), folder.results().tasks
    cells = {name: about.cells[name] for name in folder.cells}
    told = _told(folder, list(cells))
    blocks = [
        f"# Reproduction card: {_text(about.model.name or 'a model')}",
        _table(("", ""), [(name, _text(value)) for name, value in _facts(about, told).items()]),
        "## What was run",
        _table(
            ("task.mode", "protocol", "canvas", "steps", "data", "samples", "prompts (SHA-256)"),
            [_played(name, cell, folder.attempts(name), about, path) for name, cell in cells.items()],
        ),
        f"Prompts are in {_link('run.json', path, 'run.json')} under `cells`, NAME, `play`, `prompts`; the "
        "exact requests and replies are in the episodes file that each task links to.",
        "## Scores",
        _table(("task.mode", "score", "percent [95%]", "guessing", "n", "scoring"), list(_scores(cells, results))),
        "## What went wrong, and what was left out",
        _table(
            ("task.mode", "episodes", "not scored", "trouble", "context left out"), list(_trouble(cells, results))
        ),
        *(f"* {_text(f'left out {count} times: {why}')}" for why, count in told.left_out.most_common(_MOST)),
        "## Cost",
        _table(
            ("task.mode", "calls", "tokens in", "tokens out", "pictures in", "pictures out"),
            list(_usage(cells, results)),
        ),
        "## To repeat it",
        *_commands(about, list(cells), path),
    ]
    return "\n\n".join(blocks) + "\n"


@dataclass
class _Told:
    """Facts from the replies and scores that results.json does not have."""

    versions: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    judges: Counter[str] = field(default_factory=Counter)
    extractors: Counter[str] = field(default_factory=Counter)


def _told(folder: RunFolder, cells: Sequence[str]) -> _Told:
    found = _Told()
    for name in cells:
        for line in folder.episodes(name):
            for turn in line.turns:
                if turn.reply:
                    found.versions.update(_versions(turn.reply))
                    found.left_out.update(why[:_LONGEST] for why in turn.reply.left_out)
        rows = folder.scored(name).values()
        found.judges.update(row.judge for row in rows if row.judge)
        found.extractors.update(row.extractor for row in rows if row.extractor and "extracted" in row.flags)
    return found


def _versions(reply: ReplyRecord) -> Iterator[str]:
    """Yield the model's name as the server reports it with a reply, with the build if reported."""
    raw = reply.raw if isinstance(reply.raw, Mapping) else {}
    name = next((raw[key] for key in ("model", "model_version", "modelVersion") if isinstance(raw.get(key), str)), "")
    build = raw.get("system_fingerprint")
    if name:
        yield (f"{name} ({build})" if isinstance(build, str) and build else name)[:_LONGEST]


def _facts(about: RunRecord, told: _Told) -> dict[str, str]:
    asked = next(iter(about.asked.values()), None)
    return {
        "model": about.model.name,
        "arguments": json.dumps(about.model.args, ensure_ascii=False) if about.model.args else "none",
        "version, as the server reports it": _counted(told.versions, "replies"),
        "announced retirement": "; ".join(f"{name}: {day}" for name, day in about.model.retires.items())
        or NOT_REPORTED,
        "judge": _counted(told.judges, "scores") if told.judges else "none",
        **({"extractor": _counted(told.extractors, "scores")} if told.extractors else {}),
        "seed": str(about.seed),
        "scored by": asked.scoring if asked else "see below",
        "started": about.started,
        "versions": ", ".join(
            [f"Sketchmark {about.sketchmark}", *(f"{key} {value}" for key, value in about.machine.items())]
        ),
    }


def _counted(found: Counter[str], of: str) -> str:
    if not found:
        return NOT_REPORTED
    named = [f"{name}, {count} {of}" for name, count in found.most_common(_MOST)]
    return "; ".join([*named, *([f"and {len(found) - _MOST} more"] if len(found) > _MOST else [])])


def _played(name: str, cell: CellRecord, episodes: Episodes, about: RunRecord, path: str) -> tuple[str, ...]:
    limit = about.limits.get(name)
    samples = f"{sample_count(episodes)}{f' (--limit {limit})' if limit is not None else ''}"
    samples += f", {len(episodes)} episodes" * episodes.repeats
    source = {key: value for key, value in cell.source.items() if key != "seed"}
    return (
        _link(name, path, "episodes", f"{name}.jsonl"),
        _text(cell.play.protocol + ", described in text" * cell.play.in_words + _way(cell)),
        _text(cell.canvas),
        _text(cell.steps),
        _text(json.dumps(source, ensure_ascii=False)[:_LONGEST]),
        _text(samples),
        f"`{digest(cell)[:16]}`",
    )


def _way(cell: CellRecord) -> str:
    return f", {'drawn ' * (cell.draw_with != NATIVE_HISTORY)}{condition(cell.draw_with)}" if cell.draw_with else ""


def digest(cell: CellRecord) -> str:
    """Return the digest of the unfilled prompts, the same on every machine."""
    return hashlib.sha256(json.dumps(plain(cell.play.prompts), sort_keys=True).encode()).hexdigest()


def _scores(cells: Mapping[str, CellRecord], results: Mapping[str, CellResult]) -> Iterator[tuple[str, ...]]:
    for name, about in cells.items():
        cell = results.get(name)
        if cell is None:
            yield _text(name), _text(about.headline), "no results yet", "", "", ""
            continue
        ways = {cell.scoring or "strict": cell, **cell.scorings}
        for scoring, way in ways.items():
            shown = [cell.headline] if cell.headline in way.metrics else list(way.metrics)
            for metric in shown:
                guess = way.baselines.get(metric)
                found = way.metrics[metric]
                guessed = as_percent(guess.best) if guess else ""
                yield _text(name), _text(metric), _mean(found), guessed, str(found.n), _text(scoring)
        own = {} if cell.metrics else own_numbers(cell, cell.headline)
        for metric, value in own.items():
            n, scoring = str(cell.samples_of(metric)), cell.scoring or "strict"
            yield _text(name), _text(metric), as_percent(value), "", n, _text(scoring)
        if not (cell.metrics or own):
            yield _text(name), _text(about.headline), _text(why_none(cell)), "", "", ""


def _mean(found: Metric) -> str:
    return f"{as_percent(found.mean, found.ci95)} {as_bracket(found.ci95)}".rstrip()


def _trouble(cells: Mapping[str, CellRecord], results: Mapping[str, CellResult]) -> Iterator[tuple[str, ...]]:
    for name in cells:
        if (cell := results.get(name)) is not None:
            counts = ", ".join(f"{kind} {count}" for kind, count in cell.failures.items()) or "none"
            left_out = f"{cell.left_out} episodes, {cell.calls_left_out} calls" if cell.left_out else "nothing"
            yield _text(name), str(cell.episodes), str(cell.episodes - _scored(cell)), _text(counts), left_out


def _scored(cell: CellResult) -> int:
    """Count the episodes with a headline score; the scored rows of repeats, or if the score is joint or withheld."""
    if cell.headline in cell.metrics and not cell.repeats:
        return cell.metrics[cell.headline].n
    return cell.n if cell.repeats or cell.problem or cell.aggregate or not cell.headline else 0


def _usage(cells: Mapping[str, CellRecord], results: Mapping[str, CellResult]) -> Iterator[tuple[str, ...]]:
    names = ("calls", "tokens_in", "tokens_out", "pictures_in", "pictures_out")
    for name in cells:
        if (cell := results.get(name)) is not None:
            spent = cell.spent
            yield _text(name), *(_paid(cell.usage.get(kind, 0), spent.get(kind, 0)) for kind in names)


def _paid(used: int, paid: int) -> str:
    """Return what the episodes used, and what was paid for when they ran if the cache had a part of it."""
    return f"{used:,}" if paid == used else f"{used:,} ({paid:,} paid for, the rest from the cache)"


def _commands(about: RunRecord, cells: Sequence[str], path: str) -> Iterator[str]:
    """Yield one command per group of cells with the same settings. It resumes the folder, or repeats it elsewhere."""
    starts: list[tuple[Settings | None, list[str]]] = []
    for name in cells:
        asked = about.asked.get(name)
        known = next((names for other, names in starts if other == asked), None)
        if known is None:
            starts.append((asked, [name]))
        else:
            known.append(name)
    for asked, names in starts:
        words = command(asked, path) if asked else None
        if about.people:
            yield f"{_text(', '.join(names))}: people answered. {_to_repeat_with_people(about, asked, path)}"
            continue
        if words is None:
            why = "its model or an argument was an object in Python" if asked else "the folder does not say how"
            yield f"{_text(', '.join(names))}: no command repeats this ({why})."
            continue
        if asked and asked.include:
            yield "It runs code or tasks of others (`--include`): check them first."
        yield f"```sh\n{shlex.join(words)}\n```"


def _to_repeat_with_people(about: RunRecord, asked: Settings | None, path: str) -> str:
    """Write the command that shows the same samples to another person, which is not a `sketchmark run`."""
    if "people" in about.model.args:
        return "`sketchmark play --study FILE` with the study file of the digest below asks others."
    words = command(replace(asked, named=True), path) if asked else None
    if words is None or asked is None:
        return "`sketchmark play` asks others."
    dropped = {place + more for place, word in enumerate(words) if word in ("--model", "--tasks") for more in (0, 1)}
    kept = [word for place, word in enumerate(words[2:], start=2) if place not in dropped]
    shown = ["sketchmark", "play", *asked.tasks.split(","), "--name", about.model.name.removeprefix(PEOPLE), *kept]
    return f"To ask another person, with another name and folder:\n\n```sh\n{shlex.join(shown)}\n```"


def _text(value: str) -> str:
    return markdown_text(value)


def _link(label: str, path: str, *names: str) -> str:
    address = quote(os.fsencode("/".join([*PurePath(path).parts, *names]).replace("//", "/")), safe="/")
    return f"[{markdown_text(label)}](<{address}>)"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
