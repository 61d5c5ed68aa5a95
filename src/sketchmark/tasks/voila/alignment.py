"""VOILA's drawing against what the third step said, and against the truth: RA and AL without a judge."""

from __future__ import annotations

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.tasks.voila.rules import PROPERTIES
from sketchmark.tasks.voila.scoring import by_rule
from sketchmark.worlds.voila import reader
from sketchmark.worlds.voila.statement import read_statement


def drawn(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Shares of number, subject and action; `any` is fulfilled by every picture. `answer_as_drawn` is None where the
    picture or the statement cannot be read."""
    if not episode.drawings:
        return Scores({})
    found = by_rule(sample, episode, Grading())
    right = [found.values[f"voila_step4_reader_{name}"] or 0.0 for name in PROPERTIES]
    scene, said = reader.read(episode.drawings[-1]), read_statement(episode.answer)
    agrees = None
    if scene is not None and said is not None:
        agrees = sum(said[name] in ("any", getattr(scene, name)) for name in PROPERTIES) / len(PROPERTIES)
    notes = {"answer": found.notes["answer"], "drawn": found.notes["drawn"]}
    return Scores({"drawing_right": sum(right) / len(right), "answer_as_drawn": agrees}, notes)
