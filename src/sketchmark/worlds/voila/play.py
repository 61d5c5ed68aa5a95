"""VOILA for the scripted players: what they see in the three images, and what follows from it.

The bank of images and its reader are imported when a player first looks at one: every other world does without.
"""

from __future__ import annotations

from random import Random

from sketchmark.episode.sample import Context
from sketchmark.media import Picture
from sketchmark.worlds import Play
from sketchmark.worlds.voila import questions
from sketchmark.worlds.voila.scenes import Scene, read_statement


class AnalogyPlay(Play):
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
    answer = questions.answer(*scenes)
    question = questions.Question(0, scenes, answer, 0)
    if asked.startswith("Describe the content"):
        return questions.combined_text(question)
    if asked.startswith("Identify"):
        return questions.relations_text(question).strip()
    if asked.startswith("Describe in words"):
        return f"It shows {answer.describe()}."
    return (
        f"The answer is number = {answer.number_word}, subject = {answer.subject_word}, action = {answer.action_word}"
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
