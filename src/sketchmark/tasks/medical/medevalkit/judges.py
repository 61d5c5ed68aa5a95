"""MedEvalKit's rule-based judges. They return right or wrong, never an answer."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from string import ascii_lowercase

from sketchmark.tasks.medical.medevalkit.extract import parse_response


def judge_choice(options: Sequence[str], gold: str, response: str) -> bool:
    """`options` are the strings as displayed, letter included; `gold` is a letter or an option's full text
    (docs/benchmarks/medical.md, "The multiple-choice judge").

    What cannot be read is compared by similarity, and what resembles nothing becomes the first option: silence is
    credited as A. A letter counts only before a full stop or after a colon without a space.
    """
    letters = list(ascii_lowercase[: len(options)])
    shown = [option.lower() for option in options]
    wanted = gold.strip().lower()
    reply = parse_response(_paragraph_letter(response.lower(), letters)).strip().lower().replace("\n", "")
    short = reply.partition(".")[0].rpartition(":")[2]
    if short == wanted:
        return True
    if short in letters:
        return shown[letters.index(short)] == wanted
    if short in shown:
        return wanted in letters and shown[letters.index(wanted)] == short
    closest = _most_similar(shown, reply)
    return wanted in (letters[closest], shown[closest])


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
    reply = parse_response(response).replace("\n", "").replace(".", "")
    return ("yes" in reply) != ("no" in reply) and gold.lower() in reply


def judge_closed(gold: str, response: str) -> bool:
    """Exact equality without stripping, so `Answer: CT` and `是。` are wrong
    (docs/benchmarks/medical.md, "The close-ended judge")."""
    return parse_response(response).replace("\n", "").replace(".", "") == gold.lower()
