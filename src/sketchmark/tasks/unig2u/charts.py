"""ChartQA's relaxed accuracy: numbers within 5 %, words equal.

`strict` reads the reply with the readers of all tasks, so that `12,000` and a sentence count; `official` takes the
whole reply for the answer.
"""

from __future__ import annotations

from typing import Any

from sketchmark.episode import Episode
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scores
from sketchmark.scoring.numbers import number, read_number
from sketchmark.scoring.open_answers import read_answer
from sketchmark.scoring.phrases import answers_with
from sketchmark.scoring.yesno import read_yes_no
from sketchmark.tasks.unig2u import published

_CLOSE = 0.05


def relaxed(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth, reply = str(sample.target["answer"]), episode.answer
    if grading.scoring == "strict":
        right, answer = _strict(truth, reply, sample.fields["question"])
    else:
        right, answer = published.relaxed(reply, truth), reply.strip() or None
    split = "relaxed_human_split" if sample.groups["type"] == "human_test" else "relaxed_augmented_split"
    values = {"relaxed_overall": float(right), split: float(right)}
    return Scores(values, {"answer": answer, "expected": truth}, unparsed=answer is None)


def _strict(truth: str, reply: str, question: str) -> tuple[bool, Any]:
    """(right, what was read)"""
    true = number(truth)
    if true is not None:
        said = read_number(reply).value
        return said is not None and _close(said, true, ("%" in reply) - ("%" in truth)), said
    if truth.lower() in ("yes", "no"):
        answer = read_yes_no(reply, question).value
        return answer is (truth.lower() == "yes"), answer
    given = answers_with([truth], reply)
    return given.value is True, None if given.value is None else read_answer(reply).value


def _close(said: float, true: float, percent: int) -> bool:
    """`0.25` and `25` both say 25 %: where one side alone has the sign, a hundredth or a hundredfold may be meant."""
    meant = (said, said / 100.0**percent) if percent else (said,)
    return any(abs(one - true) <= _CLOSE * abs(true) for one in meant)
