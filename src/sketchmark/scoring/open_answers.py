"""Strict scores of open answers: what was answered, whether it equals the gold, and how far the words overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sketchmark.scoring.bleu import bleu
from sketchmark.scoring.final_answer import FIRST_SLOT, UNREAD, Parsed, plain, said
from sketchmark.scoring.text_metrics import rouge, token_overlap, words

_ANNOUNCED = re.compile(
    r"(?:\banswer\b[\"')\]]{0,3}\s{0,3}(?:\b(?:is|was|would be|should be|must be|will be)\b|[:=→]|->|[-–—]\s)"
    r"|答案\s{0,3}(?:是|为|[:=]))[\s:\"'=]{0,8}",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\s{0,9}(?:#{1,6}\s{1,9})?(?:the\s)?(?:final\s{1,9})?(?:answer\s{0,9}(?:is\b|[:=])|答案\s{0,9}(?:是|为|:))",
    re.IGNORECASE,
)


def read_answer(response: Any) -> Parsed[str]:
    """The answer in an open reply: what it marks or announces last, or all of it.

    An announcement in mid-text counts only when it is on the last line: a sentence that goes on is the answer itself.
    """
    heard = said(response)
    text = "".join(heard.slots[ord(sign) - FIRST_SLOT] if ord(sign) >= FIRST_SLOT else sign for sign in heard.text)
    last = heard.text.rfind("\n") + 1
    label = last if _LABEL.match(heard.text, last) else 0 if _LABEL.match(heard.text) else -1
    slot = heard.text.rfind(chr(FIRST_SLOT + len(heard.slots) - 1)) if heard.slots else -1
    answer, how = text, "reply"
    if slot >= max(label, 0):
        answer, how = heard.slots[-1], "marked"
        label = 0 if _LABEL.match(answer) else -1
        if label == 0 and plain(tail := _tail(answer)):
            answer, how = tail, "announced"
    elif label >= 0 and plain(tail := _tail(text)):
        answer, how = tail, "announced"
    return Parsed(answer, how) if plain(answer) else UNREAD


def _tail(text: str) -> str:
    places = list(_ANNOUNCED.finditer(text))
    return text[places[-1].end() :].strip() if places else ""


def same_answer(gold: str, answer: str) -> bool:
    """Equality but for case, spacing and punctuation around the answer: `Lung cancer` is `lung cancer.`"""
    return plain(gold) == plain(answer)


def closed_is_right(gold: str, response: Any) -> Parsed[bool]:
    """Verdict on a word-or-phrase answer; the value is None for a reply without one."""
    read = read_answer(response)
    return UNREAD if read.value is None else Parsed(same_answer(gold, read.value), read.how)


def open_scores(gold: str, response: Any) -> dict[str, float]:
    """Exact match, BLEU-1..4, ROUGE-1/2/L, precision, recall and F1, under their right names.

    All are 0 for a reply without words. Words are compared without case and punctuation, Chinese by character.
    """
    answer = read_answer(response).value or ""
    wanted, given = words(gold), words(answer)
    overlap = token_overlap(wanted, given)
    bleus = bleu(wanted, given)
    scores = {"em": float(bool(answer) and same_answer(gold, answer))}
    scores |= {f"bleu{n}": value for n, value in enumerate(bleus, start=1)}
    scores |= _rouge_scores(wanted, given)
    return scores | {"precision": overlap.precision, "recall": overlap.recall, "f1": overlap.f1}


def _rouge_scores(wanted: Sequence[str], given: Sequence[str]) -> dict[str, float]:
    """The library splits sentences at full stops; the dot of a measurement is none, so it becomes a comma."""
    texts = [" ".join(tokens).replace(".", ",") for tokens in (wanted, given)]
    if not all(texts):
        return {"rouge1": 0.0, "rouge2": 0.0, "rougel": 0.0}
    found = rouge(*texts)
    return {"rouge1": found.rouge1, "rouge2": found.rouge2, "rougel": found.rougel}
