"""Taking a model's reasoning out of its reply, as lmms-eval does it before it scores."""

from __future__ import annotations

from collections.abc import Sequence

THINKING = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
"""What the filter `strip_thinking` takes out."""

BEFORE_SCORING = (("<think>", "</think>"), ("<analysis>", "</analysis>"))
"""What is taken out of every reply, unless the task file says otherwise (`reasoning_tags`)."""


def strip_reasoning_tags(text: str, tag_pairs: Sequence[Sequence[str]]) -> str:
    """The text without what stands between such tags. A closing tag alone ends a reasoning that the prompt began; an
    opening tag alone stays, with all that follows: nobody knows where the answer begins."""
    for begin, end in tag_pairs:
        kept, at = [], 0
        while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
            kept.append(text[at:start])
            at = stop + len(end)
        text = "".join([*kept, text[at:]])
        if begin not in text:
            text = text.rpartition(end)[2]
    return text.strip()
