"""MedEvalKit's own arithmetic, accidents included, to reproduce its numbers.

`upstream` is its main branch, `fork` the fork with the image-index protocol. This is not a recommendation: the
default scoring is `strict`. Every accident is one rule, listed in docs/benchmarks/medical.md, "Accidents". The same
page describes "Finding the answer in a reply", "Open-answer metrics" and "Visual question answering sets".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from difflib import SequenceMatcher
from string import ascii_lowercase
from typing import Any, Literal, TypeVar

from sketchmark.answers import NO_BOX, boxed, tagged
from sketchmark.answers.text_metrics import Rouge, bleu, rouge, token_overlap
from sketchmark.benchmarks import Graded
from sketchmark.errors import BadInput

Code = Literal["upstream", "fork"]
"""MedEvalKit's main branch, or its fork."""

_PATTERNS = (
    *("**answer**:", "**answer**", "*answer*:", "**answer:**", "answer is", "answer:", "答案:"),
    *("final answer", "final answer is"),
)
"""Applied in this order, each to the result of the one before; the order matters."""


def parse_response(response: str) -> str:
    """Return the text after the answer patterns, in lower case, not stripped."""
    text = response.lower()
    if "boxed" in text:
        text = boxed(text)
    elif "<answer>" in text:
        text = tagged(text, "answer")
    for pattern in _PATTERNS:
        text = text.rpartition(pattern)[2]
    return text


def box_or_tag(response: Any) -> str:
    """Return the box, else the tag, else all, as the run loops of VQA_RAD, SLAKE, PATH_VQA and Radrestruct do.

    A truncated box does not count: the reply stays as it is, rather than the word None, which contains `no`.
    """
    text = response if isinstance(response, str) else ""
    found = boxed(text)
    return found if found != NO_BOX else tagged(text, "answer")


def judge_choice(options: Sequence[str], gold: str, response: str) -> bool:
    """Score a choice. `options` are as displayed, with letters; `gold` is a letter or an option's full text
    (docs/benchmarks/medical.md, "The multiple-choice judge").

    An unparsed reply is compared by similarity, and one similar to no option becomes the first: silence counts as A.
    A letter counts only before a full stop or after a colon without a space.
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
    """Return the letter that `judge_choice` parses from a reply."""
    letters = list(ascii_lowercase[: len(options)])
    shown = [option.lower() for option in options]
    reply, short = _cut_down(response, letters)
    if short in letters:
        return short.upper()
    return letters[shown.index(short) if short in shown else _most_similar(shown, reply)].upper()


def _cut_down(response: str, letters: Sequence[str]) -> tuple[str, str]:
    """Return the reply for comparison by similarity, and its short form that is looked up first."""
    reply = parse_response(_paragraph_letter(response.lower(), letters)).strip().lower().replace("\n", "")
    return reply, reply.partition(".")[0].rpartition(":")[2]


def _paragraph_letter(reply: str, letters: Sequence[str]) -> str:
    paragraphs = reply.split("\n\n")
    for candidate in (paragraphs[0], paragraphs[-1].partition(".")[0]):
        if candidate in letters:
            return candidate
    return reply


def _most_similar(options: Sequence[str], reply: str) -> int:
    """Return the first of the most similar options, 0 if none is (docs/benchmarks/medical.md, "Silence is A")."""
    ratios = [SequenceMatcher(None, option, reply).ratio() for option in options]
    return ratios.index(max(ratios))


def judge_yes_no(gold: str, response: str) -> bool:
    """Score by substring: `normal` is a no, `The eyes` a yes (docs/benchmarks/medical.md, "The yes/no judge")."""
    return yes_or_no(response) is not None and gold.lower() in bare(response)


def yes_or_no(response: str) -> str | None:
    """Return what `judge_yes_no` parses from a reply; None if it contains both or neither."""
    found = [word for word in ("yes", "no") if word in bare(response)]
    return found[0] if len(found) == 1 else None


def judge_closed(gold: str, response: str) -> bool:
    """Score by equality without stripping: `Answer: CT` and `是。` are wrong
    (docs/benchmarks/medical.md, "The close-ended judge")."""
    return bare(response) == gold.lower()


def bare(response: str) -> str:
    """Return the text that the yes/no and the close-ended judge compare."""
    return parse_response(response).replace("\n", "").replace(".", "")


METRICS = (*("em", "bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougel"), *("precision", "recall", "f1"))

_FORK_ROUGE_WORDS = 500


class UpstreamStops(BadInput):
    """The published code ends its run here, so it has no number for this sample."""


def open_metrics(gold: str, response: str, *, code: Code = "upstream") -> dict[str, float]:
    """Compute the metrics of one open answer, under the names of the original.

    The names of the last three are rotated: `precision` is F1, `recall` precision, `f1` recall
    (docs/benchmarks/medical.md, "Rotated names").
    """
    wanted, reply = gold.lower(), parse_response(response)
    rouges = _rouge(wanted, reply, code)
    overlap = token_overlap(wanted.split(), reply.split())
    bleus = bleu(_bleu_tokens(wanted), _bleu_tokens(reply))
    overlaps = (rouges.rouge1, rouges.rouge2, rouges.rougel, overlap.f1, overlap.precision, overlap.recall)
    return dict(zip(METRICS, (float(reply == wanted), *bleus, *overlaps), strict=True))


def _bleu_tokens(text: str) -> list[str]:
    """Split at single spaces, so that empty tokens count."""
    return text.lower().replace(".", " .").split(" ")


def _rouge(wanted: str, reply: str, code: Code) -> Rouge:
    """Compute ROUGE. White space stops the main branch (in its ROUGE or, for SLAKE, in its overlap); the fork gives 0
    and reads at most 500 words. Full stops without words stop both
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
    """Return the fork's key of a record: the `id`, or else question and answer, without the images."""
    if own_id is not None:
        return f"id:{own_id}"
    return hashlib.sha256(f"{question}{answer}".encode()).hexdigest()


def fork_records(keys: Sequence[str], records: Sequence[T]) -> list[T]:
    """Return the records that the fork scores: for each key the last one, as often as the key occurs
    (docs/benchmarks/medical.md, "Shared replies").

    The same question about two images, answered `yes` and `no`, is scored as `no` twice.
    """
    last = dict(zip(keys, records, strict=True))
    return [last[key] for key in keys]


VqaSet = Literal["vqa_rad", "path_vqa", "slake"]


def prepared(dataset: str, gold: str, response: Any) -> tuple[str, str]:
    """Prepare gold and reply for rules and judge: unchanged for SLAKE, else in lower case and stripped."""
    reply = box_or_tag(response)
    return (gold, reply) if dataset == "slake" else (gold.lower().strip(), reply.lower().strip())


def grade_vqa(
    dataset: VqaSet, gold: str, response: Any, *, code: Code, closed: bool | None = None, judged: bool | None = None
) -> Graded:
    """Score one sample by rule. `closed` is SLAKE's answer_type; other datasets derive it from the gold.

    If the original would stop at an answer without words, the sample is wrong and has `stopped`.
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
