"""VOILA by rule: steps 1 to 3 from the answers, step 4 from the drawing where the built-in reader can read it."""

from __future__ import annotations

from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.tasks.voila import rules
from sketchmark.worlds.voila import Scene
from sketchmark.worlds.voila.statement import read_statement


def by_rule(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`voila_step{k}_{number,subject,action,overall}`; the headline is step 3 overall, as in the paper.

    A step that the mode does not ask for has no score; one that was asked for and not reached is wrong. The published
    scores are the judge's: under `official` these stand in the place of the rule's.
    """
    if grading.scoring == "official":
        return Scores({})
    first, second, third = (Scene(*scene) for scene in sample.target["scenes"])
    answer = Scene(*sample.target["answer"])
    stepwise = episode.settings.get("mode") != "direct"
    says = dict(zip((1, 2, 3) if stepwise else (3,), [*episode.says, "", "", ""], strict=False))
    values: dict[str, float | None] = {}
    notes: dict[str, Any] = {}
    if stepwise:
        values |= _named(1, rules.right_step1(rules.read_step1(says[1]), (first, second, third)))
        values |= _named(2, rules.right_step2(rules.read_step2(says[2]), first, second))
    final = read_statement(says[3])
    values |= _named(3, rules.right_step3(final, answer))
    notes |= {"answer": dict(final) if final else None, "expected": sample.target["answer_text"]}
    if episode.draw_attempts:
        drawn = _read_drawing(episode)
        values |= {f"voila_step4_reader_{key}": value for key, value in _right_drawing(drawn, answer).items()}
        notes["drawn"] = drawn.describe() if drawn else None
        notes["frames_right"] = [values["voila_step4_reader_overall"] == 1.0]
    return Scores(values, notes, unparsed=final is None)


def _named(step: int, right: dict[str, float]) -> dict[str, float | None]:
    return {f"voila_step{step}_{key}": value for key, value in right.items()}


def _read_drawing(episode: Episode) -> Scene | None:
    from sketchmark.worlds.voila import reader

    return reader.read(episode.drawings[-1]) if episode.drawings else None


def _right_drawing(drawn: Scene | None, answer: Scene) -> dict[str, float]:
    """Where the answer is `any`, no drawing can be wrong: our choice, step 4 has no published score
    (docs/benchmarks/voila.md, "Scores")."""
    right = {
        name: float(drawn is not None and (due is None or getattr(drawn, name) == due))
        for name, due in zip(rules.PROPERTIES, answer, strict=True)
    }
    return {**right, "overall": float(all(right.values()))}
