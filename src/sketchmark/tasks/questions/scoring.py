"""Right or wrong, as the question's type asks for it: by the strict reader of all tasks, or by a judge."""

from __future__ import annotations

from sketchmark.episode import Episode
from sketchmark.models.base import Options
from sketchmark.parts import Sample
from sketchmark.scores import Grading, Scorer, Scores
from sketchmark.scoring.judging import ask
from sketchmark.scoring.open_answers import read_answer, same_answer
from sketchmark.tasks import strict_answers
from sketchmark.tasks.same_meaning import question_to_judge, verdict

_BY_RULE: dict[str, Scorer] = {
    "choice": strict_answers.choice,
    "yes_no": strict_answers.yes_no,
    "number": strict_answers.number,
    "exact": strict_answers.phrase,
}


async def right(sample: Sample, episode: Episode, grading: Grading, *, judge: str) -> Scores:
    """`judge` is the question to the judge."""
    by_rule = _BY_RULE.get(str(sample.target["type"]))
    if by_rule is None:
        return await _judged(sample, episode, grading, judge)
    found = by_rule(sample, episode, grading)
    assert isinstance(found, Scores)
    return found


async def _judged(sample: Sample, episode: Episode, grading: Grading, judge: str) -> Scores:
    """An answer in the reference's own words needs no verdict. Without a judge none is scored, not even those: the
    mean would be of the right ones alone."""
    if grading.judge is None:
        return Scores({"right": None}, {"unscored": "these answers are scored by a judge: add --judge MODEL"})
    reference = sample.target["answer"]
    accepted = [str(one) for one in (reference if isinstance(reference, list) else [reference])]
    answer = read_answer(episode.answer).value
    notes = {"answer": answer, "expected": reference}
    if answer is None:
        return Scores({"right": 0.0}, notes, unparsed=True)
    if any(same_answer(one, answer) for one in accepted):
        return Scores({"right": 1.0}, {**notes, "read": "the same words"})
    question = question_to_judge(judge, str(sample.fields["question"]), " or ".join(accepted), answer)
    judged = await ask(grading.judge, [question], Options(max_new_tokens=512), verdict)
    return Scores({"right": float(judged.verdict)}, {**notes, "judge": judged.reply})
