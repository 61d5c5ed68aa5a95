"""Both stages of a two-stage visual chain of thought in one text, as lmms-eval's tasks and models pass it around."""

from __future__ import annotations

import re

_BEGIN, _END = "[GEN_PROMPT]", "[/QUESTION]"
_MIDDLE = re.compile(r"\[/GEN_PROMPT\]\s*\[QUESTION\]")


def join(generation_prompt: str, question: str) -> str:
    return f"{_BEGIN}{generation_prompt}[/GEN_PROMPT][QUESTION]{question}{_END}"


def split(text: str) -> tuple[str, str] | None:
    """(generation prompt, question), or None if the text is not of this form.

    The question runs to the last closing tag, so that a question that quotes the tags stays whole. A literal
    `{question}` in the generation prompt stands for the question, as in the models that made up this form.
    """
    begin, end = text.find(_BEGIN), text.rfind(_END)
    middle = _MIDDLE.search(text, begin + len(_BEGIN)) if begin >= 0 else None
    if middle is None or middle.end() > end:
        return None
    question = text[middle.end() : end].strip()
    return text[begin + len(_BEGIN) : middle.start()].strip().replace("{question}", question), question
