"""MMSI-Bench's score: the answer letter, right or wrong. No letter found is wrong, with a note."""

from __future__ import annotations

from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scoring.letters import letter
from sketchmark.task import Grading, Scores


def accuracy(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    answer = letter(episode.answer, grading.scoring)
    notes: dict[str, Any] = {"answer": answer, "expected": sample.target["answer"]}
    if answer is None:
        notes["no_letter"] = "cannot find answer"
    return Scores({"accuracy": float(answer == sample.target["answer"])}, notes, unparsed=answer is None)
