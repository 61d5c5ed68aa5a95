"""MedEvalKit's grading of one item (docs/benchmarks/medical.md, "Visual question answering sets")."""

from __future__ import annotations

from typing import Any, Literal

from sketchmark.scoring.graded import Graded
from sketchmark.tasks.medical.medevalkit import Code
from sketchmark.tasks.medical.medevalkit.extract import box_or_tag, parse_response
from sketchmark.tasks.medical.medevalkit.judges import bare, judge_closed, judge_yes_no, yes_or_no
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
        rule, read = (judge_yes_no, yes_or_no) if wanted in ("yes", "no") else (judge_closed, bare)
        return Graded(right=rule(wanted, reply), closed=True, judged=judged, answer=read(reply))
    try:
        metrics = open_metrics(wanted, reply, code=code)
    except UpstreamStops:
        zeros = dict.fromkeys(METRICS, 0.0)
        return Graded(right=False, closed=False, metrics=zeros, judged=judged, stopped=True)
    right, answer = metrics["em"] == 1.0, parse_response(reply)
    return Graded(right=right, closed=False, metrics=metrics, judged=judged, answer=answer)
