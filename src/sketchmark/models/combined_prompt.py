"""Both stages of a two-stage visual chain of thought in one text, as lmms-eval's tasks and models pass it around."""

from __future__ import annotations

import re

_FORM = re.compile(r"\[GEN_PROMPT\](.*?)\[/GEN_PROMPT\]\s*\[QUESTION\](.*)\[/QUESTION\]", re.DOTALL)


def join(generation_prompt: str, question: str) -> str:
    return f"[GEN_PROMPT]{generation_prompt}[/GEN_PROMPT][QUESTION]{question}[/QUESTION]"


def split(text: str) -> tuple[str, str] | None:
    """(generation prompt, question), or None if the text is not of this form.

    The question runs to the last closing tag, so that a question that quotes the tags stays whole. A literal
    `{question}` in the generation prompt stands for the question, as in the models that made up this form.
    """
    match = _FORM.search(text)
    if match is None:
        return None
    question = match[2].strip()
    return match[1].strip().replace("{question}", question), question
