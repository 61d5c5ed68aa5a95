"""Uni-MMMU (https://arxiv.org/abs/2510.13759): puzzles, code, geometry and science, each with drawings."""

from __future__ import annotations

ALIASES = {
    "mazes": "sketchmark.tasks.uni_mmmu.data:mazes",
    "slidings": "sketchmark.tasks.uni_mmmu.data:slidings",
    "jigsaws": "sketchmark.tasks.uni_mmmu.data:jigsaws",
    "code": "sketchmark.tasks.uni_mmmu.code_data:sources",
    "code_text": "sketchmark.tasks.uni_mmmu.code_scores:text",
    "code_image": "sketchmark.tasks.uni_mmmu.code_scores:image",
    "code_pixels": "sketchmark.tasks.uni_mmmu.code_scores:pixels",
    "geometry": "sketchmark.tasks.uni_mmmu.geometry_data:problems",
    "geometry_number": "sketchmark.tasks.uni_mmmu.geometry:number",
    "geometry_overlay": "sketchmark.tasks.uni_mmmu.geometry:overlay",
    "geometry_solution": "sketchmark.tasks.uni_mmmu.geometry:solution",
    "science": "sketchmark.tasks.uni_mmmu.science_data:scenes",
    "science_form": "sketchmark.tasks.uni_mmmu.science:form",
    "science_image": "sketchmark.tasks.uni_mmmu.science:image",
    "science_text": "sketchmark.tasks.uni_mmmu.science:text",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
