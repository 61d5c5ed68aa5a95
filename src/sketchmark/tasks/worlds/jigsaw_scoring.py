"""Uni-MMMU's scores of jigsaws (docs/benchmarks/uni-mmmu.md, "Picture scores"), and our own of drawings.

Published: `jigsaw_text_acc`, and with `+dreamsim` `jigsaw_img_dreamsim`. Ours: `jigsaw_img_similarity`. Scores of
drawings apply only to episodes that were asked to draw. RA and AL without a judge: `answer_as_drawn` is whether the
answer is the candidate that looks better in the two drawings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.picture import Picture
from sketchmark.scores import Grading, Scores
from sketchmark.scoring import tagged
from sketchmark.tasks.worlds import answers
from sketchmark.tasks.worlds.following import FOLLOWS, shown
from sketchmark.tasks.worlds.move_scores import DREAMSIM, STRICT, rules
from sketchmark.worlds import jigsaw as jigsaws
from sketchmark.worlds.jigsaw_world import better_shown

_SAME = 0.95
"""How alike a drawn completion and a true one must be to be the same."""


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """`jigsaw_img_similarity` is our weight-free measure of the two drawn completions, `jigsaw_img_dreamsim` the
    published one (1 - mean distance). Both give nothing for anything but exactly two drawings."""
    chosen = rules(grading)
    answer = answers.strict_choice(episode.answer) if chosen == STRICT else tagged.choice(episode.answer, chosen)
    label = int(sample.target["label"])
    values: dict[str, float | None] = {"jigsaw_text_acc": float(answer == label)}
    notes: dict[str, Any] = {"answer": answer, "expected": label}
    values |= _followed_choice(sample, episode, answer)
    if tagged.echoes_template(episode.answer):
        notes["echo"] = "the prompt's own template was repeated"
    if episode.draw_attempts:
        pairs = _pairs(sample, episode)
        likeness = [jigsaws.similarity(true, drawn) for true, drawn in pairs] or [0.0, 0.0]
        values["jigsaw_img_similarity"] = sum(likeness) / 2
        notes["frames_right"] = [value >= 0.95 for value in likeness]
        if grading.scoring.endswith(DREAMSIM):
            from sketchmark.scoring.dreamsim import distance

            values["jigsaw_img_dreamsim"] = 1 - sum(distance(*pair) for pair in pairs) / 2 if pairs else 0.0
    return Scores(values, notes, unparsed=answer is None)


def score_drawings(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    if not episode.drawings:
        return Scores({})
    found = score(sample, episode, Grading())
    right = found.notes["frames_right"]
    answer = found.notes["answer"]
    better = _better_looking(episode.drawings, sample.frames() if sample.frames else [])
    agrees = float(answer == better) if answer is not None and better is not None else None
    notes = {"drawn": better, "answer": answer}
    return Scores({"drawing_right": sum(right) / len(right), "answer_as_drawn": agrees}, notes)


def _followed_choice(sample: Sample, episode: Episode, answer: int | None) -> dict[str, Any]:
    """`{}` unless the canvas is corrupt."""
    if episode.settings.get("canvas") != "corrupt":
        return {}
    reference = sample.pictures["ref"]
    implied = better_shown(shown(episode), reference) if isinstance(reference, Picture) else None
    if implied is None or implied == int(sample.target["label"]):
        return {FOLLOWS: None}
    return {FOLLOWS: float(answer == implied)}


def _pairs(sample: Sample, episode: Episode) -> list[tuple[Picture, Picture]]:
    """(true, drawn) completions; none unless exactly two were drawn."""
    if len(episode.drawings) != 2 or not sample.frames:
        return []
    return list(zip(sample.frames(), episode.drawings, strict=True))


def _better_looking(drawn: Sequence[Picture], true: Sequence[Picture]) -> int | None:
    """Which of two drawn completions runs on more smoothly; None unless both show the panel completed."""
    if len(drawn) != 2 or not true:
        return None
    if any(max(jigsaws.similarity(one, picture) for one in true) < _SAME for picture in drawn):
        return None
    costs = [jigsaws.seam_cost(picture) for picture in drawn]
    return costs.index(min(costs))
