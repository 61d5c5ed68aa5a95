"""MedEvalKit's own arithmetic, accidents included, so that numbers made with it can be reproduced.

`upstream` is its main branch, `fork` the fork with the image-index protocol. Nothing here is a recommendation: the
default scoring (`strict`) lives beside this package. Every accident is one rule; they are listed
in docs/benchmarks/medical.md, "Accidents".

How MedEvalKit finds the answer in a reply (docs/benchmarks/medical.md, "Finding the answer in a reply").

MedEvalKit's rule-based judges. They return right or wrong, never an answer.

MedEvalKit's open-answer metrics (docs/benchmarks/medical.md, "Open-answer metrics").

The fork's mix-up of records (docs/benchmarks/medical.md, "Shared replies").

MedEvalKit's grading of one item (docs/benchmarks/medical.md, "Visual question answering sets").
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from difflib import SequenceMatcher
from string import ascii_lowercase
from typing import Any, Literal, TypeVar

from sketchmark.answers.reply import NO_BOX, boxed, tagged
from sketchmark.answers.text_metrics import Rouge, bleu, rouge, token_overlap
from sketchmark.benchmarks import Graded
from sketchmark.errors import BadInput

Code = Literal["upstream", "fork"]
"""Whose accidents: MedEvalKit's main branch, or the fork's."""


_PATTERNS = (
    "**answer**:",
    "**answer**",
    "*answer*:",
    "**answer:**",
    "answer is",
    "answer:",
    "答案:",
    "final answer",
    "final answer is",
)
"""Applied in this order, each on what the one before left over; the order is part of the arithmetic."""


def parse_response(response: str) -> str:
    """The lowercased reply, cut down to what follows the answer patterns. Not stripped."""
    text = response.lower()
    if "boxed" in text:
        text = boxed(text)
    elif "<answer>" in text:
        text = tagged(text, "answer")
    for pattern in _PATTERNS:
        text = text.rpartition(pattern)[2]
    return text


def box_or_tag(response: Any) -> str:
    """What the run loops of VQA_RAD, SLAKE, PATH_VQA and Radrestruct hand to their judges: box, else tag, else all.

    A box that was cut off is no box: the reply goes on as it is, and not as the word None, in which there is a `no`.
    """
    text = response if isinstance(response, str) else ""
    found = boxed(text)
    return found if found != NO_BOX else tagged(text, "answer")


def judge_choice(options: Sequence[str], gold: str, response: str) -> bool:
    """`options` are the strings as displayed, letter included; `gold` is a letter or an option's full text
    (docs/benchmarks/medical.md, "The multiple-choice judge").

    What cannot be read is compared by similarity, and what resembles nothing becomes the first option: silence is
    credited as A. A letter counts only before a full stop or after a colon without a space.
    """
    letters = list(ascii_lowercase[: len(options)])
    shown = [option.lower() for option in options]
    wanted = gold.strip().lower()
    reply, short = _cut_down(response, letters)
    if short == wanted:
        return True
    if short in letters:
        return shown[letters.index(short)] == wanted
    if short in shown:
        return wanted in letters and shown[letters.index(wanted)] == short
    closest = _most_similar(shown, reply)
    return wanted in (letters[closest], shown[closest])


def chosen(options: Sequence[str], response: str) -> str:
    """The letter that `judge_choice` takes a reply for."""
    letters = list(ascii_lowercase[: len(options)])
    shown = [option.lower() for option in options]
    reply, short = _cut_down(response, letters)
    if short in letters:
        return short.upper()
    return letters[shown.index(short) if short in shown else _most_similar(shown, reply)].upper()


def _cut_down(response: str, letters: Sequence[str]) -> tuple[str, str]:
    """The reply as it is compared by similarity, and the short form of it that is looked up first."""
    reply = parse_response(_paragraph_letter(response.lower(), letters)).strip().lower().replace("\n", "")
    return reply, reply.partition(".")[0].rpartition(":")[2]


def _paragraph_letter(reply: str, letters: Sequence[str]) -> str:
    paragraphs = reply.split("\n\n")
    for candidate in (paragraphs[0], paragraphs[-1].partition(".")[0]):
        if candidate in letters:
            return candidate
    return reply


def _most_similar(options: Sequence[str], reply: str) -> int:
    """The first of the best, and option 0 when nothing is similar (docs/benchmarks/medical.md, "Silence is A")."""
    ratios = [SequenceMatcher(None, option, reply).ratio() for option in options]
    return ratios.index(max(ratios))


def judge_yes_no(gold: str, response: str) -> bool:
    """By substring, so `normal` is a no and `The eyes` a yes (docs/benchmarks/medical.md, "The yes/no judge")."""
    return yes_or_no(response) is not None and gold.lower() in bare(response)


def yes_or_no(response: str) -> str | None:
    """What `judge_yes_no` takes a reply for; None where it has both in it, or neither."""
    found = [word for word in ("yes", "no") if word in bare(response)]
    return found[0] if len(found) == 1 else None


def judge_closed(gold: str, response: str) -> bool:
    """Exact equality without stripping, so `Answer: CT` and `是。` are wrong
    (docs/benchmarks/medical.md, "The close-ended judge")."""
    return bare(response) == gold.lower()


def bare(response: str) -> str:
    """What the yes/no and the close-ended judge look at."""
    return parse_response(response).replace("\n", "").replace(".", "")


METRICS = (
    "em",
    "bleu1",
    "bleu2",
    "bleu3",
    "bleu4",
    "rouge1",
    "rouge2",
    "rougel",
    "precision",
    "recall",
    "f1",
)

_FORK_ROUGE_WORDS = 500


class UpstreamStops(BadInput):
    """The published code raises here and ends its whole run; there is no number to reproduce for this item."""


def open_metrics(gold: str, response: str, *, code: Code = "upstream") -> dict[str, float]:
    """The metrics of one open answer, by the names the original gives them.

    The names of the last three are rotated: `precision` holds F1, `recall` precision, `f1` recall
    (docs/benchmarks/medical.md, "Rotated names").
    """
    wanted, reply = gold.lower(), parse_response(response)
    rouges = _rouge(wanted, reply, code)
    overlap = token_overlap(wanted.split(), reply.split())
    return dict(
        zip(
            METRICS,
            (
                float(reply == wanted),
                *bleu(_bleu_tokens(wanted), _bleu_tokens(reply)),
                rouges.rouge1,
                rouges.rouge2,
                rouges.rougel,
                overlap.f1,
                overlap.precision,
                overlap.recall,
            ),
            strict=True,
        )
    )


def _bleu_tokens(text: str) -> list[str]:
    """Split at single spaces, so empty tokens are kept and count."""
    return text.lower().replace(".", " .").split(" ")


def _rouge(wanted: str, reply: str, code: Code) -> Rouge:
    """The fork gives 0 for white space, which stops the main branch (in its ROUGE, or, where SLAKE leaves the spaces
    on, in its overlap), and reads 500 words at most. Full stops alone stop both
    (docs/benchmarks/medical.md, "Answers without words")."""
    blank = not (wanted.strip() and reply.strip())
    if blank and code == "upstream":
        raise UpstreamStops("MedEvalKit stops at this item: an answer without words")
    if blank:
        return Rouge()
    if code == "fork":
        wanted, reply = _first_words(wanted), _first_words(reply)
    try:
        return rouge(wanted, reply)
    except ValueError as error:
        raise UpstreamStops(f"MedEvalKit stops at this item: {error}") from error


def _first_words(text: str) -> str:
    words = text.split()
    return " ".join(words[:_FORK_ROUGE_WORDS]) if len(words) > _FORK_ROUGE_WORDS else text


T = TypeVar("T")


def fork_key(question: str, answer: str, own_id: Any = None) -> str:
    """What the fork files a record under: the item's `id`, or else its question and answer, whatever the pictures."""
    if own_id is not None:
        return f"id:{own_id}"
    return hashlib.sha256(f"{question}{answer}".encode()).hexdigest()


def fork_records(keys: Sequence[str], records: Sequence[T]) -> list[T]:
    """The records that the fork scores: where several have one key, the last of them, as often as there are items.

    Two CT questions about different pictures, answered `yes` and `no`, are both scored as the second.
    """
    last = dict(zip(keys, records, strict=True))
    return [last[key] for key in keys]


VqaSet = Literal["vqa_rad", "path_vqa", "slake"]


def prepared(dataset: str, gold: str, response: Any) -> tuple[str, str]:
    """Gold and reply as the rules and the LLM judge get them: SLAKE's as they are, others lowercased and stripped."""
    reply = box_or_tag(response)
    return (gold, reply) if dataset == "slake" else (gold.lower().strip(), reply.lower().strip())


def grade_vqa(
    dataset: VqaSet, gold: str, response: Any, *, code: Code, closed: bool | None = None, judged: bool | None = None
) -> Graded:
    """One item by the rules. `closed` is SLAKE's answer_type; the other sets decide it by the gold.

    Where the original would stop at an answer without words, the item counts as wrong and is noted in `stopped`.
    """
    wanted, reply = prepared(dataset, gold, response)
    if closed is None:
        closed = wanted in ("yes", "no")
    if closed:
        # SLAKE's golds are `Yes` and `No`, so the yes/no rule never runs there
        rule, read = (judge_yes_no, yes_or_no) if wanted in ("yes", "no") else (judge_closed, bare)
        return Graded(right=rule(wanted, reply), closed=True, judged=judged, answer=read(reply))
    try:
        metrics = open_metrics(wanted, reply, code=code)
    except UpstreamStops:
        zeros = dict.fromkeys(METRICS, 0.0)
        return Graded(right=False, closed=False, metrics=zeros, judged=judged, stopped=True)
    right, answer = metrics["em"] == 1.0, parse_response(reply)
    return Graded(right=right, closed=False, metrics=metrics, judged=judged, answer=answer)
