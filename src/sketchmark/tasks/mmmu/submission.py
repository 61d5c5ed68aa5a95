"""MMMU's test answers are withheld: the file that its EvalAI page takes, one JSON of id -> answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sketchmark.episode import Episode
from sketchmark.files.atomic import write_json
from sketchmark.scoring.choices import read_choice
from sketchmark.scoring.open_answers import read_answer


def write(episodes: Iterable[Episode], folder: Path) -> list[Path]:
    """A choice that could not be read is submitted empty: nothing is guessed on the model's behalf."""
    answers: dict[str, str] = {}
    for episode in episodes:
        target = episode.sample.target
        if not target or target["gold"] is not None:
            continue
        choice = target["kind"] == "choice"
        read = read_choice(episode.answer, target["options"]) if choice else read_answer(episode.answer)
        answers[episode.sample.id] = read.value or ""
    if not answers:
        return []
    path = folder / "answers.json"
    write_json(path, answers)
    return [path]
