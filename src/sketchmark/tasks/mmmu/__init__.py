"""MMMU (https://arxiv.org/abs/2311.16502) and MMMU-Pro (https://arxiv.org/abs/2409.02813)."""

from __future__ import annotations

ALIASES = {
    "questions": "sketchmark.tasks.mmmu.data:mmmu",
    "pro_questions": "sketchmark.tasks.mmmu.data:mmmu_pro",
    "sample_of": "sketchmark.tasks.mmmu.replies:sample_of",
    "score": "sketchmark.tasks.mmmu.scoring:score",
    "totals": "sketchmark.tasks.mmmu.scoring:totals",
    "submission": "sketchmark.tasks.mmmu.submission:write",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
