"""VOILA, the visual-analogy benchmark: its scenes, rules, questions, files and pictures.

You see three pictures of one to four subjects doing something; what changes from the first to the second, applied to
the third, gives the fourth.

from sketchmark.worlds import voila
question = next(voila.sample_questions(19, seed=1, distraction=True))
question.scenes[0].describe(), voila.relations_text(question)
"""

from __future__ import annotations

from sketchmark.worlds import World
from sketchmark.worlds.voila.play import AnalogyPlay
from sketchmark.worlds.voila.questions import (
    STRUCTURES,
    Question,
    Structure,
    all_questions,
    answer,
    answer_without_any,
    combined_text,
    index_of,
    question_at,
    question_in,
    relations_text,
    space_size,
    structure_of,
    structures,
)
from sketchmark.worlds.voila.scenes import (
    ACTIONS,
    ANY,
    NUMBERS,
    SCENES,
    SUBJECTS,
    Scene,
    Subject,
    file_prefix,
    parse_description,
    scene_of_file,
)
from sketchmark.worlds.voila.sets import hidden_scene, largest_count, sample_questions

__all__ = [
    "ACTIONS",
    "ANY",
    "NUMBERS",
    "SCENES",
    "STRUCTURES",
    "SUBJECTS",
    "WORLD",
    "Question",
    "Scene",
    "Structure",
    "Subject",
    "all_questions",
    "answer",
    "answer_without_any",
    "combined_text",
    "file_prefix",
    "hidden_scene",
    "index_of",
    "largest_count",
    "parse_description",
    "question_at",
    "question_in",
    "relations_text",
    "sample_questions",
    "scene_of_file",
    "space_size",
    "structure_of",
    "structures",
]

WORLD = World(
    name="voila",
    about=__doc__ or "",
    told_by=("fourth image", "first three images"),
    play=AnalogyPlay(),
    rank=4,
)
"""It has no `making`: `sketchmark voila` makes and writes its datasets, in the benchmark's own files."""
