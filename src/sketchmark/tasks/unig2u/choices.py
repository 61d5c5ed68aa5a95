"""Scores of the subtasks that ask for an option: VisualPuzzles, RealUnify, IllusionBench and PhyX.

`strict` is the reader of all tasks. `official` reads as UniG2U's programs do (`published`). VisualPuzzles has a third
reading, `lenient`: the published patterns without their accidents, and where they find nothing, the strict reader.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from sketchmark.episode import Episode
from sketchmark.models.base import Options
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.choices import lettered, read_choice
from sketchmark.scoring.final_answer import plain, said
from sketchmark.scoring.judging import ask
from sketchmark.scoring.mentions import Words
from sketchmark.scoring.reader import Reader
from sketchmark.tasks.same_meaning import question_to_judge, verdict
from sketchmark.tasks.unig2u import published

SEED = 42
"""Of the lots that `official` draws in VisualPuzzles: published without one."""

_FIRST_SIGN = 0x2460
_JOINED = re.compile(r"(?<=\w)[_-](?=\w)")


def visual_puzzles(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """A reply that the published program cannot read is answered by lot there; the note `by_lot` counts them."""
    options, reply = sample.target["options"], episode.answer
    if grading.scoring == "strict":
        return _scores("accuracy", sample, read_choice(reply, options).value)
    known = options if isinstance(options, Sequence) else None
    if grading.scoring == "lenient":
        letter = published.visual_puzzles(reply, known, inside_words=False)
        return _scores("accuracy", sample, letter or read_choice(reply, options).value)
    letter = published.visual_puzzles(reply, known)
    if letter is None:
        lot = random.Random(f"{SEED} {sample.id} {reply}").choice(published.LETTERS)
        notes = {"answer": None, "expected": sample.target["answer"], "by_lot": lot}
        return Scores({"accuracy": float(lot == sample.target["answer"])}, notes, unparsed=True)
    return _scores("accuracy", sample, letter)


def realunify(sample: Sample, episode: Episode, grading: Grading, *, score: str) -> Scores:
    if grading.scoring == "strict":
        return _scores(score, sample, read_choice(episode.answer, sample.target["options"]).value)
    return _scores(score, sample, published.realunify(episode.answer))


def illusions(sample: Sample, episode: Episode, grading: Grading, *, score: str) -> Scores:
    """Published: the label occurs anywhere in the reply, so that a reply which lists all options is right."""
    if grading.scoring == "strict":
        return _scores(score, sample, _named(episode.answer, sample.target["options"]))
    label, reply = str(sample.target["label"]).lower(), episode.answer.lower()
    spellings = {label, label.replace("_", " "), label.replace("-", " "), label.replace("_", " ").replace("-", " ")}
    found = any(spelling in reply for spelling in spellings)
    notes = {"answer": sample.target["answer"] if found else None, "expected": sample.target["answer"]}
    return Scores({score: float(found)}, notes)


def _named(reply: str, options: Sequence[str]) -> str | None:
    """The one option that a reply commits to in words. There are more options than letters, so each has a sign that
    no reply can name it by."""
    signs = {chr(_FIRST_SIGN + place): _JOINED.sub(" ", option) for place, option in enumerate(options)}
    verdict = Reader("".join(signs), Words(signs)).read(said(_JOINED.sub(" ", reply)))
    return options[ord(min(verdict.letters)) - _FIRST_SIGN] if verdict.letters else None


def labels(sample: Sample) -> Sequence[str]:
    """What a guesser may say of a picture: there are more options than letters."""
    options: Sequence[str] = sample.target["options"]
    return options


async def physics(sample: Sample, episode: Episode, grading: Grading, *, judge: str) -> Scores:
    """`strict` by letter. Published: what is extracted goes to a judge; a letter or an option's own words need none.
    What is neither is wrong where there is no judge to ask."""
    target, name = sample.target, "eval_results"
    options = lettered(target["options"])
    if grading.scoring == "strict":
        return _scores(name, sample, read_choice(episode.answer, options).value)
    said_so = published.extracted(episode.answer, "A-Z")
    letter = said_so if said_so in options else _option_with(said_so, options)
    if letter is not None or grading.judge is None or not said_so:
        return _scores(name, sample, letter)
    question = question_to_judge(judge, sample.fields["question"], target["answer"], said_so)
    judged = await ask(grading.judge, [question], Options(max_new_tokens=16), verdict)
    notes = {"answer": said_so, "expected": target["answer"], "judge": judged.reply}
    return Scores({name: float(judged.verdict)}, notes)


def _option_with(words: str, options: dict[str, str]) -> str | None:
    return next((letter for letter, option in options.items() if option and plain(option) == plain(words)), None)


def _scores(name: str, sample: Sample, answer: str | None) -> Scores:
    expected = sample.target["answer"]
    notes = {"answer": answer, "expected": expected}
    return Scores({name: float(answer == expected)}, notes, unparsed=answer is None)
