"""MedEvalKit's grading of one item (docs/benchmarks/medical.md, "Visual question answering sets")."""

from __future__ import annotations

from typing import Any, Literal

from sketchmark.scoring.graded import Graded
from sketchmark.tasks.medical.medevalkit import Code
from sketchmark.tasks.medical.medevalkit.extract import box_or_tag
from sketchmark.tasks.medical.medevalkit.judges import judge_closed, judge_yes_no
from sketchmark.tasks.medical.medevalkit.open_end import METRICS, UpstreamStops, open_metrics

VqaSet = Literal["vqa_rad", "path_vqa", "slake"]


def prepared(dataset: str, gold: str, response: Any) -> tuple[str, str]:
    """Gold and reply as the rules and the LLM judge get them: SLAKE's as they are, others lowercased and stripped."""
    reply = box_or_tag(response)
    return (gold, reply) if dataset == "slake" else (gold.lower().strip(), reply.lower().strip())


def grade_vqa(
    dataset: VqaSet, gold: str, response: Any, *, code: Code, closed: bool | None = None, judged: bool | None = None
) -> Graded:
    """One item by the rules. `closed` is SLAKE's answer_type; the other sets decide it by the gold.

    Where the original would stop at an answer without words, the item counts as wrong and is noted in `stopped`.
    """
    wanted, reply = prepared(dataset, gold, response)
    if closed is None:
        closed = wanted in ("yes", "no")
    if closed:
        # SLAKE's golds are `Yes` and `No`, so the yes/no rule never runs there
        rule = judge_yes_no if wanted in ("yes", "no") else judge_closed
        return Graded(right=rule(wanted, reply), closed=True, judged=judged)
    try:
        metrics = open_metrics(wanted, reply, code=code)
    except UpstreamStops:
        zeros = dict.fromkeys(METRICS, 0.0)
        return Graded(right=False, closed=False, metrics=zeros, judged=judged, stopped=True)
    return Graded(right=metrics["em"] == 1.0, closed=False, metrics=metrics, judged=judged)
