"""MMSI-Bench's score: the answer letter, right or wrong. No letter found is wrong, with a note."""

from __future__ import annotations

from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.choices import read_choice
from sketchmark.scoring.listed import options_of
from sketchmark.tasks.mmsi.published import letter


def accuracy(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    expected = sample.target["answer"]
    if grading.scoring == "strict":
        answer = read_choice(episode.answer, _options(sample)).value
    else:
        answer = letter(episode.answer, grading.scoring)
    notes: dict[str, Any] = {"answer": answer, "expected": expected}
    if answer is None:
        notes["no_letter"] = "cannot find answer"
    return Scores({"accuracy": float(answer == expected)}, notes, unparsed=answer is None)


def _options(sample: Sample) -> dict[str, str]:
    """As the question lists them; where it does not list the right one, the letters alone."""
    listed = dict(options_of(sample.fields.get("question", "")))
    return listed if sample.target["answer"] in listed else dict.fromkeys("ABCDEF", "")
