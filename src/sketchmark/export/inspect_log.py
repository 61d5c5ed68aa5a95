"""Logs for Inspect's viewer (`inspect view --log-dir OUT`), images included: one file per task and mode.

They are written in its JSON format, one sample at a time, without Inspect itself. Images and sounds are kept once per
sample, as attachments to which the messages refer.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sketchmark.export import answer_of, episodes, how_scored, means, names_of, repeats_in, samples_of, started
from sketchmark.files import PictureStore
from sketchmark.folder.format import EpisodeLine, PartLine, ScoreRow
from sketchmark.folder.index import CellView, RunView
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.results.repeats import averaged

_HEARD = ("wav", "mp3")
"""Inspect supports no other sound formats."""
_STOP = {"length": "max_tokens", "refused": "content_filter"}


def write(run: RunView, out: Path) -> list[Path]:
    names = names_of(run)
    return [_write_log(run, cell, names[cell.name], out) for cell in run.cells.values() if cell.episodes]


def _write_log(run: RunView, cell: CellView, name: str, out: Path) -> Path:
    begun = started(run).isoformat()
    identity = _identity(run.key, cell.name, begun)
    path = out / f"{begun.replace(':', '-')}_{re.sub(r'[^A-Za-z0-9]+', '-', name)}_{identity}.json"
    log = {
        "version": 2,
        "status": "success" if run.folder.results_file.exists() else "cancelled",
        "eval": _spec(run, cell, name, begun, identity),
        "plan": {
            "name": cell.about.play.protocol or cell.mode,
            "steps": [{"solver": cell.mode, "params": {"canvas": cell.canvas, "steps": cell.about.steps}}],
            "config": {},
        },
        "results": _results(cell),
        **({"reductions": _reductions(cell)} if cell.rows.repeats else {}),
        "stats": {"started_at": begun, "completed_at": "", "model_usage": {run.model: _usage_of(cell)}},
    }
    head, (_, answers) = json.dumps(log, ensure_ascii=False), repeats_in(cell)
    with path.open("w", encoding="utf-8") as file:
        file.write(head[:-1] + ', "samples": [')
        for number, (line, score) in enumerate(episodes(cell)):
            file.write("," if number else "")
            sample = _Sample(run.model, run.folder.pictures, cell.headline, answers).of(line, score)
            file.write(json.dumps(sample, ensure_ascii=False))
        file.write("]}\n")
    return path


def _identity(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:22]


def _spec(run: RunView, cell: CellView, name: str, begun: str, identity: str) -> dict[str, Any]:
    ids, epochs = list(samples_of(cell)), math.prod(repeats_in(cell))
    return {
        "eval_id": _identity(identity, "eval"),
        "run_id": _identity(identity, "run"),
        "task_id": identity,
        "created": begun,
        "task": name,
        "task_version": 0,
        "task_args": {},
        "dataset": {"name": cell.task, "samples": len(ids), "sample_ids": ids, "shuffled": False},
        "model": run.model or "none",
        "model_args": run.about.model.args,
        "config": {"epochs": epochs, "epochs_reducer": ["mean"]} if epochs > 1 else {},
        "packages": {"sketchmark": run.about.sketchmark},
        "metadata": {"mode": cell.mode, "canvas": cell.canvas, "headline": cell.headline, **how_scored(cell)},
    }


def _results(cell: CellView) -> dict[str, Any]:
    found = means(cell)
    first = sorted(found, key=lambda name: name != cell.headline)
    scores = []
    for name in first:
        mean, error, n = found[name]
        metrics = {"mean": {"name": "mean", "value": mean, "params": {}}}
        if error is not None:
            metrics["stderr"] = {"name": "stderr", "value": error, "params": {}}
        scores.append({"name": name, "scorer": name, "scored_samples": n, "params": {}, "metrics": metrics})
    return {
        "total_samples": len(cell.episodes),
        "completed_samples": int(cell.rows.scored.sum()),
        "scores": scores,
    }


def _usage(tokens_in: int, tokens_out: int) -> dict[str, int]:
    return {"input_tokens": tokens_in, "output_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}


def _usage_of(cell: CellView) -> dict[str, int]:
    return _usage(cell.rows.total("u.tokens_in"), cell.rows.total("u.tokens_out"))


def _reductions(cell: CellView) -> list[dict[str, Any]]:
    """Return each sample's mean over its epochs: over the repeats, of the means over the answers to a drawing."""
    found = []
    for name in sorted(means(cell), key=lambda name: name != cell.headline):
        at, values = averaged(cell.rows, cell.rows.metric(name))
        ids = cell.rows.samples.take(at)
        samples = [{"sample_id": one, "value": value} for one, value in zip(ids, values.tolist(), strict=True)]
        found.append({"scorer": name, "reducer": "mean", "samples": samples})
    return found


class _Sample:
    """One episode as an Inspect sample: the task's parts are user messages, the model's are assistant messages. Every
    repeat and every answer to its drawing is an epoch; `answers` is the largest number of answers."""

    def __init__(self, model: str, pictures: PictureStore, headline: str, answers: int) -> None:
        self.answers = answers
        self.model = model
        self.headline = headline
        self.attachments: dict[str, str] = {}
        self._pictures = pictures

    def of(self, line: EpisodeLine, score: ScoreRow | None) -> dict[str, Any]:
        sample, failure = line.sample, line.failure
        messages = self._messages(line)
        usage = score.usage if score else {}
        tokens = _usage(usage.get("tokens_in", 0), usage.get("tokens_out", 0))
        begun = datetime.fromtimestamp(line.started, UTC)
        return {
            "id": sample.id,
            "epoch": 1 + line.repeat * self.answers + line.branch,
            "input": [message for message in messages if message["role"] == "user"][:1],
            "target": json.dumps(sample.target, ensure_ascii=False),
            "messages": messages,
            "output": self._output(line, messages, tokens),
            "scores": self._scores(line, score),
            "metadata": {
                "groups": sample.groups,
                "fields": sample.fields,
                "true_frames": [self._picture(name) for name in sample.frames or ()],
                "flags": score.flags if score else [],
                **({"repeat": line.repeat, "branch": line.branch} if line.repeat or line.branch else {}),
                "notes": score.notes if score else {},
            },
            "store": {},
            "events": [],
            "model_usage": {self.model: tokens},
            "started_at": begun.isoformat(),
            "completed_at": (begun + timedelta(seconds=line.seconds)).isoformat(),
            "total_time": line.seconds,
            "working_time": line.seconds,
            "error": {"message": f"{failure.kind}: {failure.message}", "traceback": "", "traceback_ansi": ""}
            if failure
            else None,
            "attachments": self.attachments,
        }

    def _messages(self, line: EpisodeLine) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []

        def add(role: str, content: list[dict[str, Any]], **more: Any) -> None:
            if content:
                name = _identity(line.key, str(len(messages)))
                messages.append({"id": name, "role": role, "content": content, **more})

        for turn in line.turns:
            if turn.act == "show":
                add("user", [self._content(part) for part in turn.added])
            elif reply := turn.reply:
                add("user", [_text(turn.suffix)] if turn.suffix else [])
                made = [_text(reply.text)] if reply.text else []
                made += [self._picture(reply.picture)] if reply.picture else []
                add("assistant", made, model=self.model, source="generate")
                shown = [self._picture(p.picture) for p in turn.added if p.picture and p.picture != reply.picture]
                if shown:
                    add("user", [_text("(shown instead of the drawing)"), *shown])
        return messages

    def _content(self, part: PartLine) -> dict[str, Any]:
        if part.picture:
            return self._picture(part.picture)
        return self._sound(part.sound) if part.sound else _text(part.text or "")

    def _picture(self, name: str) -> dict[str, Any]:
        return {"type": "image", "image": self._attached(self._pictures.load(name)), "detail": "auto"}

    def _sound(self, name: str) -> dict[str, Any]:
        sound = self._pictures.load_sound(name)
        if sound.format not in _HEARD:
            return _text(f"({self._pictures.sound_in_words(name)}: {name})")
        return {"type": "audio", "audio": self._attached(sound), "format": sound.format}

    def _attached(self, shown: Picture | Sound) -> str:
        key = shown.digest[:32]
        if key not in self.attachments:
            encoded = base64.b64encode(shown.data).decode()
            self.attachments[key] = f"data:{shown.media_type};base64,{encoded}"
        return f"attachment://{key}"

    def _output(self, line: EpisodeLine, messages: list[dict[str, Any]], tokens: dict[str, int]) -> dict[str, Any]:
        answers = [message for message in messages if message["role"] == "assistant"]
        replies = [turn.reply for turn in line.turns if turn.reply]
        choices = [{"message": answers[-1], "stop_reason": _STOP.get(replies[-1].finish, "stop")}] if answers else []
        return {"model": self.model, "choices": choices, "usage": tokens, "time": line.seconds}

    def _scores(self, line: EpisodeLine, score: ScoreRow | None) -> dict[str, Any]:
        if score is None:
            return {}
        answer = answer_of(line)
        names = sorted(score.values, key=lambda name: name != self.headline)
        return {
            name: {"value": score.values[name], "answer": answer, "metadata": {}}
            for name in names
            if score.values[name] is not None
        }


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
