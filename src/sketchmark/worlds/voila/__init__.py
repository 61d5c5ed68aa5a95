"""VOILA, the visual-analogy benchmark: its scenes, rules, questions, files and pictures.

You see three pictures of one to four subjects doing something; what changes from the first to the second, applied to
the third, gives the fourth.

from sketchmark.worlds import voila
question = next(voila.sample_questions(19, seed=1, distraction=True))
question.scenes[0].describe(), voila.relations_text(question)
"""

from __future__ import annotations

from random import Random

from sketchmark.episode.sample import Context
from sketchmark.media import Picture
from sketchmark.worlds import Play, World
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
    read_statement,
    scene_of_file,
)
from sketchmark.worlds.voila.sets import hidden_scene, largest_count, sample_questions

__all__ = [
    "ACTIONS", "ANY", "NUMBERS", "SCENES", "STRUCTURES", "SUBJECTS", "WORLD", "Question", "Scene", "Structure",
    "Subject", "all_questions", "answer", "answer_without_any", "combined_text", "file_prefix", "hidden_scene",
    "index_of", "largest_count", "parse_description", "question_at", "question_in", "relations_text",
    "sample_questions", "scene_of_file", "space_size", "structure_of", "structures",
]  # fmt: skip


class AnalogyPlay(Play):
    """Replies of the scripted players. The bank and its reader are imported when a player first looks at an image."""

    def answer(self, context: Context) -> str | None:
        """The perfect answer to the last question, from the pixels; None if the pictures cannot be read."""
        scenes = _scenes(context)
        if scenes is None:
            return None
        return _answer(context.texts[-1], scenes)

    def guess(self, context: Context, rng: Random) -> str:
        """An answer of the right form about scenes taken at random."""
        scenes = [Scene(rng.randint(1, 4), rng.randrange(14), rng.randrange(13)) for _ in range(3)]
        return _answer(context.texts[-1], (scenes[0], scenes[1], scenes[2]))

    def draw(self, context: Context) -> Picture | None:
        """The scene that the prompt describes; what is `any` is the player's choice."""
        from sketchmark.worlds.voila import bank

        found = read_statement(context.texts[-1])
        if found is None:
            return None
        number, subject, action = (found[name] for name in ("number", "subject", "action"))
        scene = Scene(
            number if isinstance(number, int) else 2,
            subject if isinstance(subject, int) else 5,
            action if isinstance(action, int) else 3,
        )
        return bank.picture(scene)


def _answer(asked: str, scenes: tuple[Scene, Scene, Scene]) -> str:
    fourth = answer(*scenes)
    question = Question(0, scenes, fourth, 0)
    if asked.startswith("Describe the content"):
        return combined_text(question)
    if asked.startswith("Identify"):
        return relations_text(question).strip()
    if asked.startswith("Describe in words"):
        return f"It shows {fourth.describe()}."
    return (
        f"The answer is number = {fourth.number_word}, subject = {fourth.subject_word}, action = {fourth.action_word}"
    )


def _scenes(context: Context) -> tuple[Scene, Scene, Scene] | None:
    from sketchmark.worlds.voila import reader

    shown = context.pictures
    if not shown:
        return None
    scenes = reader.read_collage(shown[0]) if len(shown) < 3 else [reader.read(picture) for picture in shown[:3]]
    if len(scenes) != 3 or scenes[0] is None or scenes[1] is None or scenes[2] is None:
        return None
    return scenes[0], scenes[1], scenes[2]


WORLD = World(
    name="voila", about=__doc__ or "", told_by=("fourth image", "first three images"), play=AnalogyPlay(), rank=4
)
"""It has no `making`: `sketchmark voila` makes and writes its datasets, in the benchmark's own files."""
