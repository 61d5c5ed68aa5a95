"""The benchmarks. A benchmark is a folder; what several of them share is beside the folders."""

from __future__ import annotations

ALIASES = {
    "guarded.direct": "sketchmark.tasks.guarded_play:direct",
    "guarded.draw_then_answer": "sketchmark.tasks.guarded_play:draw_then_answer",
    "strict_answers:choice": "sketchmark.tasks.strict_answers:choice",
    "strict_answers:yes_no": "sketchmark.tasks.strict_answers:yes_no",
    "strict_answers:number": "sketchmark.tasks.strict_answers:number",
    "strict_answers:phrase": "sketchmark.tasks.strict_answers:phrase",
    "candidates_then_answer": "sketchmark.tasks.worlds.jigsaw_protocol:candidates_then_answer",
    "say_then_draw": "sketchmark.tasks.uni_mmmu.science_protocol:say_then_draw",
    "four_steps": "sketchmark.tasks.voila.four_steps:four_steps",
}
"""What several benchmarks share, and the scorers that are ready for users' task files (docs/add-a-task.md)."""
