"""VOILA: visual analogies, answered in four steps."""

from __future__ import annotations

ALIASES = {
    "generated": "sketchmark.tasks.voila.data:generated",
    "published": "sketchmark.tasks.voila.data:published",
    "score_by_rule": "sketchmark.tasks.voila.scoring:by_rule",
    "score_by_judge": "sketchmark.tasks.voila.judge_scores:score",
    "drawn": "sketchmark.tasks.voila.alignment:drawn",
    "agreement": "sketchmark.tasks.voila.agreement:agreement",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
