"""The ground-truth texts of a question, to the letter (docs/benchmarks/voila.md, "The CSV")."""

from __future__ import annotations

from sketchmark.worlds.voila.questions import Question
from sketchmark.worlds.voila.vocabulary import ANY, Scene


def relations_text(question: Question) -> str:
    """What changes from picture 1 to picture 2: the truth of step 2. It ends with a space, as published."""
    first, second, _ = question.scenes
    return (
        _relation("Number", first.number_word, second.number_word, first.number == second.number)
        + _relation("Action", first.action_word, second.action_word, first.action == second.action)
        + _relation("Subject type", first.subject_word, second.subject_word, first.subject == second.subject)
    )


def _relation(name: str, before: str, after: str, same: bool) -> str:
    return f"{name} remains constant {before}. " if same else f"{name} is changed from {before} to {after}. "


def combined_text(question: Question, *, first_gap: str = " ") -> str:
    """The three descriptions in one line: the truth of step 1. The generator omits the first gap
    (docs/benchmarks/voila.md, "Two spellings")."""
    first, second, third = (scene.describe() for scene in question.scenes)
    return f"Image 1:{first_gap}{first}. Image 2: {second}. Image 3: {third}"


def answer_without_any(answer: Scene, *, trailing_space: bool = False) -> str:
    """The img4 column of a testing file. After a lone subject the generator adds a space."""
    words = [answer.number_word, answer.subject_word, answer.action_word]
    text = " ".join(word for word in words if word != ANY)
    only_subject = answer.number is None and answer.action is None
    return f"{text} " if only_subject and trailing_space else text
