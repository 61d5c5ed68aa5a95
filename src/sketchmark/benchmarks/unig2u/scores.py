"""Scores of UniG2U's subtasks.

`strict` uses the parsers of all tasks, so that `12,000` and a sentence count. `official` parses as UniG2U's programs
do (`published`). VisualPuzzles has a third scoring, `lenient`: the published patterns without their accidents, and
the strict parser if they find nothing.

- VisualPuzzles, RealUnify, IllusionBench and PhyX ask for an option.
- ChartQA has relaxed accuracy: numbers within 5%, words equal.
- BabyVision, Geometry3K and AuxSolidMath need a judge, any model that reads. Its questions are the published ones,
  in the task files. A judge without a verdict fails and is asked again; the published programs count that as a wrong
  answer. Without a judge nothing is scored.
- VSP asks for a route on a street map, and for when a car and a person reach the goal. `strict` takes the last
  answer of a reply, in Markdown too. The published tolerance of one second is as large as the answers:
  `collision_exact` is ours, and the baselines show the score of one constant answer (docs/benchmarks/unig2u.md, "A
  constant answer").
- UniG2U's port of Uni-MMMU has other rules and reverses the ground-truth moves of a sliding puzzle before it
  compares ("Uni-MMMU in UniG2U"). These scores enter the overall score only by `official`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sketchmark.answers import plain, without_thinking
from sketchmark.answers.candidates import Words
from sketchmark.answers.choices import lettered, read_choice
from sketchmark.answers.cleanup import said
from sketchmark.answers.decision import Reader
from sketchmark.answers.judge import ask, filled, first_json_object, label, question_to_judge, verdict
from sketchmark.answers.numbers import read_number
from sketchmark.answers.phrases import answers_with, read_answer
from sketchmark.answers.vocabulary import number
from sketchmark.answers.yes_no import read_yes_no
from sketchmark.benchmarks import unig2u as published
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.model import Options
from sketchmark.episode.sample import Sample
from sketchmark.worlds import moves as tagged

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
    """`0.25` and `25` both mean 25%: if only one side has the sign, a hundredth or a hundredfold may be meant."""
    meant = (said, said / 100.0**percent) if percent else (said,)
    return any(abs(one - true) <= _CLOSE * abs(true) for one in meant)


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
    spellings = (label, label.replace("_", " "), label.replace("-", " "))
    found = any(spelling in reply for spelling in spellings)
    notes = {"answer": sample.target["answer"] if found else None, "expected": sample.target["answer"]}
    return Scores({score: float(found)}, notes)


def _named(reply: str, options: Sequence[str]) -> str | None:
    """Return the one option that a reply commits to by name.

    There are more options than letters, so each has a sign that no reply can contain.
    """
    signs = {chr(_FIRST_SIGN + place): _JOINED.sub(" ", option) for place, option in enumerate(options)}
    verdict = Reader("".join(signs), Words(signs)).read(said(_JOINED.sub(" ", reply)))
    return options[ord(min(verdict.letters)) - _FIRST_SIGN] if verdict.letters else None


def labels(sample: Sample) -> Sequence[str]:
    """Return the replies of a guesser about an image: there are more options than letters."""
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
    filed = target.get("as_filed", {})
    question = question_to_judge(judge, sample.fields["question"], filed.get("answer", target["answer"]), said_so)
    judged = await ask(grading.judge, [question], Options(max_new_tokens=16), verdict)
    notes = {"answer": said_so, "expected": target["answer"], "judge": judged.reply}
    return Scores({name: float(judged.verdict)}, notes)


def _option_with(words: str, options: dict[str, str]) -> str | None:
    return next((letter for letter, option in options.items() if option and plain(option) == plain(words)), None)


def _scores(name: str, sample: Sample, answer: str | None) -> Scores:
    expected = sample.target["answer"]
    notes = {"answer": answer, "expected": expected}
    return Scores({name: float(answer == expected)}, notes, unparsed=answer is None)


_LONGEST = 50_000
"""Characters of a solution that a judge is shown: its last ones."""

_CUT = "...[truncated]...\n"
_UNSCORED = {"unscored": "these answers are scored by a judge: add --judge MODEL"}


async def babyvision(sample: Sample, episode: Episode, grading: Grading, *, judge: str) -> Scores:
    """Score options by letter. Other answers need no judge if they are equal except for blanks."""
    if grading.judge is None:
        return Scores({"accuracy": None}, _UNSCORED)
    truth, options = str(sample.target["answer"]), sample.target.get("options")
    strict = grading.scoring == "strict"
    answer: str | None
    if strict:
        answer = read_choice(episode.answer, options).value if options else read_answer(episode.answer).value
    else:
        answer = published.extracted(episode.answer, "A-D" if options else "")
    notes: dict[str, Any] = {"answer": answer or None, "expected": truth}
    if not answer:
        return Scores({"accuracy": 0.0}, notes, unparsed=True)
    if _squeezed(answer) == _squeezed(truth) or (options and len(answer) == 1):
        return Scores({"accuracy": float(_squeezed(answer) == _squeezed(truth))}, notes)
    filed = {} if strict else sample.target.get("as_filed", {})
    asked, told = filed.get("question", sample.fields["question"]), filed.get("answer", truth)
    question = question_to_judge(judge, asked, told, answer)
    judged = await ask(grading.judge, [question], Options(max_new_tokens=512 if strict else 16), verdict)
    return Scores({"accuracy": float(judged.verdict)}, {**notes, "judge": judged.reply})


def _squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


async def solution(
    sample: Sample, episode: Episode, grading: Grading, *, score: str, says: str, system: str, user: str
) -> Scores:
    """A whole solution, judged: `says` is the entry of the judge's JSON object that decides."""
    if grading.judge is None:
        return Scores({score: None}, _UNSCORED)
    reply = episode.answer
    if not reply.strip():
        return Scores({score: 0.0}, {"answer": None}, unparsed=True)
    if grading.scoring == "strict":
        system = system.replace("\f", "\\f")  # published with a form feed for the `\f` of `\frac`
    question = filled(
        user,
        problem=sample.fields.get("problem", ""),
        question=sample.fields.get("question", ""),
        gt_auxiliary=sample.target.get("lines", ""),
        gt_answer=sample.target["answer"],
        result_text=reply if len(reply) <= _LONGEST else _CUT + reply[-_LONGEST:],
    )
    read = partial(_entry, says)
    judged = await ask(grading.judge, [question], Options(max_new_tokens=512), read, system)
    return Scores({score: float(judged.verdict)}, {"expected": sample.target["answer"], "judge": judged.reply})


def _entry(name: str, reply: str) -> bool | None:
    found = first_json_object(reply)
    return label(found.get(name)) if found else None


_MARKS = re.compile(r"[*_`\"'<>]")
"""Of Markdown, quotes and tags."""

_MOVE = (
    r"(?:go |move |head )?(north|south|east|west|[nsew])(?:\s?[:=]\s?|\s(?:by\s)?)(\d{1,6})"
    r"(?:\s(?:crossroads?|blocks?|steps?))?"
)
_MOVES = re.compile(
    rf"\s*(?:\d{{1,2}}[.)]\s*|[-•]\s*)?{_MOVE}(?:(?:\s?[,;]\s?|\s)(?:and\s|then\s)?{_MOVE}){{0,9}}\s*[.,;]?\s*"
)
_ONE = re.compile(_MOVE)
_SAYS = re.compile(r"\b(car|person)\b[^:=\n]{0,20}[:=][ \t]*\n?([^\n]{1,200})", re.IGNORECASE)
WHO = ("car", "person")
TOLERANCE = 1.0


def pairs_of_seconds(sample: Sample) -> Sequence[str]:
    """Return the replies of a guesser about a collision: the prompt's example, then all pairs up to eight."""
    example = (2, 2)
    pairs = [example, *((car, person) for car in range(1, 9) for person in range(1, 9) if (car, person) != example)]
    return [f"Car: {car}.0\nPerson: {person}.0" for car, person in pairs]


def route(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth = (sample.target["north"], sample.target["east"])
    answer = _route(episode.answer) if grading.scoring == "strict" else published.route(episode.answer)
    notes = {"answer": list(answer) if answer else None, "expected": list(truth)}
    return Scores({"gmap_acc": float(answer == truth)}, notes, unparsed=answer is None)


def _route(reply: str) -> tuple[int, int] | None:
    """(north - south, east - west) of the last lines in a row that are nothing but moves."""
    block: list[str] = []
    last: list[str] = []
    for line in _MARKS.sub("", without_thinking(reply)).lower().split("\n"):
        if _MOVES.fullmatch(line[:400]):
            block.append(line)
            last = block
        elif line.strip():
            block = []
    if not last:
        return None
    sums = dict.fromkeys("nsew", 0)
    for direction, count in _ONE.findall("\n".join(last)):
        sums[direction[0]] += int(count)
    return sums["n"] - sums["s"], sums["e"] - sums["w"]


def collision(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Each of the two is worth a half."""
    truth: Mapping[str, float] = {who: float(sample.target[who]) for who in WHO}
    said = _times(episode.answer) if grading.scoring == "strict" else published.times(episode.answer)
    notes: dict[str, Any] = {"answer": dict(said) or None, "expected": dict(truth)}
    return Scores(_worth(said, truth), notes, unparsed=not all(who in said for who in WHO))


def _times(reply: str) -> dict[str, float]:
    """Return the last time given for each, by the parser of numbers: `3 / 0.5 = 6.0` gives 6."""
    found = {}
    for who, rest in _SAYS.findall(_MARKS.sub("", without_thinking(reply))):
        seconds = read_number(rest).value
        if seconds is not None:
            found[who.lower()] = seconds
    return found


def _worth(said: Mapping[str, float], truth: Mapping[str, float]) -> dict[str, float | None]:
    near = sum(who in said and abs(said[who] - truth[who]) <= TOLERANCE for who in WHO)
    exact = sum(who in said and abs(said[who] - truth[who]) <= 1e-6 + 0.05 * abs(truth[who]) for who in WHO)
    return {"collision_acc": near / 2, "collision_exact": exact / 2}


_TURNED = {"up": "down", "down": "up", "left": "right", "right": "left"}


def jigsaw(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    right = published.jigsaw(episode.answer) == int(sample.target["label"])
    return Scores({"jigsaw_text_acc_unig2u": float(right)})


def maze(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Score the moves by UniG2U's port: only a tagged list in JSON counts, as under Uni-MMMU's `official`."""
    return Scores({"maze_text_frame_acc_unig2u": _agreeing(episode, sample.target["moves"])})


def sliding(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    truth = sample.target["moves"]
    turned = None if truth is None else [_TURNED.get(move, move) for move in truth]
    return Scores({"sliding_text_frame_acc_unig2u": _agreeing(episode, turned)})


def _agreeing(episode: Episode, truth: list[str] | None) -> float | None:
    if truth is None:
        return None
    said = tagged.tagged_moves(episode.answer, tagged.OFFICIAL) or []
    return sum(one == other for one, other in zip(said, truth, strict=False)) / len(truth) if truth else 0.0
