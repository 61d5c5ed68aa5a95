"""UniG2U-Bench (https://arxiv.org/abs/2603.03241): thirty subtasks, each asked directly and after a drawing."""

from __future__ import annotations

ALIASES = {
    "babyvision": "sketchmark.tasks.unig2u.data:babyvision",
    "charts": "sketchmark.tasks.unig2u.data:charts",
    "collisions": "sketchmark.tasks.unig2u.data:collisions",
    "geometry": "sketchmark.tasks.unig2u.data:geometry",
    "illusions": "sketchmark.tasks.unig2u.data:illusions",
    "maps": "sketchmark.tasks.unig2u.data:maps",
    "physics": "sketchmark.tasks.unig2u.data:physics",
    "realunify": "sketchmark.tasks.unig2u.data:realunify",
    "solids": "sketchmark.tasks.unig2u.data:solids",
    "visual_puzzles": "sketchmark.tasks.unig2u.data:visual_puzzles",
    "score_charts": "sketchmark.tasks.unig2u.charts:relaxed",
    "score_illusions": "sketchmark.tasks.unig2u.choices:illusions",
    "score_physics": "sketchmark.tasks.unig2u.choices:physics",
    "score_realunify": "sketchmark.tasks.unig2u.choices:realunify",
    "score_visual_puzzles": "sketchmark.tasks.unig2u.choices:visual_puzzles",
    "score_babyvision": "sketchmark.tasks.unig2u.judged:babyvision",
    "score_solution": "sketchmark.tasks.unig2u.judged:solution",
    "score_collision": "sketchmark.tasks.unig2u.planning:collision",
    "score_route": "sketchmark.tasks.unig2u.planning:route",
    "score_jigsaw": "sketchmark.tasks.unig2u.uni_mmmu_scores:jigsaw",
    "score_maze": "sketchmark.tasks.unig2u.uni_mmmu_scores:maze",
    "score_sliding": "sketchmark.tasks.unig2u.uni_mmmu_scores:sliding",
    "labels": "sketchmark.tasks.unig2u.choices:labels",
    "pairs_of_seconds": "sketchmark.tasks.unig2u.planning:pairs_of_seconds",
    "total": "sketchmark.tasks.unig2u.totals:total",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
