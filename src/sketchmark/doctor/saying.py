"""Does it hear all that is said and see all that is shown?"""

from __future__ import annotations

import re

from sketchmark.doctor.bedside import ABOUT, Bedside
from sketchmark.doctor.findings import Seen
from sketchmark.worlds.cards import number_card

NUMBER = re.compile(r"\d+")
_SHORT = 16
_ORDER = ("48", "17", "92", "35")


def _quoted(text: str) -> str:
    """A stranger's words, short enough for a table."""
    flat = " ".join(text.split())
    return f"“{flat[:60]}{'…' if len(flat) > 60 else ''}”" if flat else "nothing"


async def says(bed: Bedside) -> Seen:
    reply = await bed.say(f"{ABOUT} Reply with the word ready and nothing else.")
    said = reply.text.strip().strip(".\"'*`").lower()
    if said == "ready":
        return Seen("yes", "said what it was asked to")
    if reply.text.strip():
        means = "answers may come wrapped in other words: check that `strict` reads them"
        return Seen("in part", f"asked for one word, said {_quoted(reply.text)}", means)
    return Seen("no", f"an empty reply ({reply.finish})", "no mode can be played")


async def reads(bed: Bedside) -> Seen:
    number = "5072"
    reply = await bed.say(
        number_card(number), f"{ABOUT} Which number does the picture show? Reply with its digits alone."
    )
    if number in NUMBER.findall(reply.text):
        return Seen("yes", f"read {number}")
    means = "it answers without seeing: scores say nothing about pictures"
    return Seen("no", f"shown {number}, said {_quoted(reply.text)}", means)


async def sees_all(bed: Bedside) -> Seen:
    question = (
        f"{ABOUT} Four pictures. Which number does each show, in their order? Reply with the four numbers alone."
    )
    reply = await bed.say(*map(number_card, _ORDER), question)
    found = [number for number in NUMBER.findall(reply.text) if number in _ORDER]
    if found == list(_ORDER):
        return Seen("yes", f"read {' '.join(found)}")
    seen = list(dict.fromkeys(found))
    if len(seen) == len(_ORDER):
        means = "tasks that speak of “the second picture” are answered about another"
        return Seen("in part", f"all four, but as {' '.join(found)}", means)
    which = f"only {' '.join(seen)} of {' '.join(_ORDER)}" if seen else f"said {_quoted(reply.text)}"
    return Seen("no", which, "tasks with several pictures, and drawings beside them, are answered blind")


async def follows_places(bed: Bedside) -> Seen:
    reply = await bed.say(
        f"{ABOUT} Two pictures, each followed by its name.",
        number_card("63"),
        "The picture above is called kilo.",
        number_card("81"),
        "The picture above is called lima.",
        "Which number does the picture called lima show? Reply with its digits alone.",
    )
    found = NUMBER.findall(reply.text)
    if found == ["81"]:
        return Seen("yes", "knew which name belongs to which picture")
    means = "captions, steps and image indices may be taken for another picture's"
    return Seen("no", f"lima is 81, said {_quoted(reply.text)}", means)


async def is_cut(bed: Bedside) -> Seen:
    reply = await bed.say(f"{ABOUT} Count from 1 to 300, in digits, with spaces between.", most=_SHORT)
    words = len(reply.text.split())
    if reply.finish == "length":
        return Seen("yes", f"cut after {words} of 300 words, and says so (length)")
    if words > 2 * _SHORT:
        means = (
            "--gen-kwargs max_new_tokens has no effect: replies are as long, and cost as much, as the server likes"
        )
        return Seen("no", f"{words} words for {_SHORT} tokens", means)
    means = "an answer that was cut off counts as wrong, not as cut"
    return Seen("in part", f"{words} words, and a finish of {reply.finish}", means)


async def repeats(bed: Bedside) -> Seen:
    asked = f"{ABOUT} Name six animals that live in different places, each with a colour, on one line."
    one, two = await bed.say(asked), await bed.say(asked)
    if one.text == two.text:
        return Seen("yes", "twice the same, word for word")
    means = "a run that is repeated without its cache gives other numbers: quote the interval"
    return Seen("no", "another reply to the same request at temperature 0", means)
