"""One folder per benchmark: task files, data, protocols and scorers."""

from __future__ import annotations

ALIASES = {
    "candidates_then_answer": "sketchmark.tasks.worlds.jigsaw_protocol:candidates_then_answer",
    "say_then_draw": "sketchmark.tasks.uni_mmmu.science_protocol:say_then_draw",
    "four_steps": "sketchmark.tasks.voila.four_steps:four_steps",
    "worlds.scoring:maze": "sketchmark.tasks.worlds.maze_scoring:score",
    "worlds.scoring:sliding": "sketchmark.tasks.worlds.sliding_scoring:score",
    "worlds.scoring:jigsaw": "sketchmark.tasks.worlds.jigsaw_scoring:score",
    "worlds.alignment:maze": "sketchmark.tasks.worlds.maze_scoring:score_drawings",
    "worlds.alignment:sliding": "sketchmark.tasks.worlds.sliding_scoring:score_drawings",
    "worlds.alignment:jigsaw": "sketchmark.tasks.worlds.jigsaw_scoring:score_drawings",
}
"""Names in task files -> the code they stand for. Nothing is imported until a task file names it."""
