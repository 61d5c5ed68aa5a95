"""A clear reply, wrapped or corrected: its reading must stay, change or vanish as the wrapper says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sketchmark.answers.choices import read_choice
from sketchmark.answers.numbers import read_number
from sketchmark.answers.phrases import answers_with
from sketchmark.answers.yes_no import read_yes_no

_OPTIONS = {"A": "cat", "B": "dog", "C": "horse", "D": "rabbit"}
_ANNOUNCED = (
    "{}", "{}.", "**{}**", "The answer is {}.", "Answer: {}", "I'd say {}.", "It is {}.", "So the answer is {}.",
    "Die Antwort ist {}.", "La réponse est {}.", "La respuesta es {}.", "La risposta è {}.", "A resposta é {}.",
    "Het antwoord is {}.", "Ответ: {}.", "Cevap: {}.", "答案是{}。", "答えは{}です。", "정답은 {}입니다.",
)  # fmt: skip
_KINDS: dict[str, tuple[str, str, object, object, Callable[[str], object]]] = {
    "choice": ("B", "C", "B", "C", lambda text: read_choice(text, _OPTIONS).value),
    "number": ("7", "9", 7.0, 9.0, lambda text: read_number(text).value),
    "yes_no": ("yes", "no", True, False, lambda text: read_yes_no(text).value),
    "phrase": ("toaster", "kettle", True, False, lambda text: answers_with(["toaster"], text).value),
}
"""The answer of a reply, another one, their values, and the parser."""

_SAME = (
    "<think>Perhaps {x}. The answer is {x}.</think>\n\n{reply}",
    "It could be {x}. Hmm.\n</think>\n{reply}",
    "<|channel|>analysis<|message|>It is {x}.<|end|><|start|>assistant<|channel|>final<|message|>{reply}<|return|>",
    "Assistant: {reply}",
    "{reply}<|im_end|>",
    "Okay, let me look at the image carefully.\n\n{reply}",
    "{reply}\n\nI hope this helps! Let me know if you have any other questions.",
    "{reply} Espero que esto ayude.",
    "~~{x}~~ {reply}",
    "```\n{reply}\n```",
    "## Answer\n{reply}",
    'A careless student would write: "It is {x}. The answer is {x}." {reply}',
)
_OTHER = (
    "{reply}\n\nWait, no. The answer is {x}.",
    "{reply} Actually, I was wrong: it is {x}.",
    "{reply} Sorry, I meant {x}.",
    "{reply}\nCorrection: {x}",
    "{reply}\n\nFinal answer: {x}",
    "{reply} On second thought, {x}.",
    "{reply} Ach nein, {x}!",
    "{reply} Moment, nein, doch {x}.",
    "{reply} Non, en fait c'est {x}.",
    "{reply} No, perdón, es {x}.",
    "{reply} No, scusa, è {x}.",
    "{reply} Não, desculpe, é {x}.",
    "{reply} Нет, извините, {x}.",
    "{reply} 不对，应该是{x}。",
)
_NONE = (
    "{reply} No, wait, that's wrong.",
    "{reply} Actually, I'm not sure at all; it could just as well be {x}.",
    'A careless student would write: "Sure! {reply}"',
    "<think>{reply}",
    "~~{reply}~~",
)


def _ended(reply: str, wrapper: str) -> str:
    """End a reply with a full stop if another sentence follows on the same line."""
    return f"{reply}." if "{reply} " in wrapper and reply[-1] not in ".。" else reply


def _wrapped(wrappers: tuple[str, ...], kind: str) -> list[tuple[str, object]]:
    answer, other, _, _, read = _KINDS[kind]
    texts = [
        wrapper.format(reply=_ended(form.format(answer), wrapper), x=other)
        for wrapper in wrappers
        for form in _ANNOUNCED
        if "*" not in form or "~" not in wrapper
    ]
    return [(text, read(text)) for text in texts]


@pytest.mark.parametrize("kind", _KINDS)
def test_a_wrapper_around_a_clear_reply_changes_no_answer(kind: str) -> None:
    found = _wrapped(_SAME, kind)
    value = _KINDS[kind][2]
    assert [one for one in found if one[1] not in (value, None)] == []
    assert sum(read == value for _, read in found) >= 0.95 * len(found)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_correction_after_a_clear_reply_takes_its_answer_back(kind: str) -> None:
    found = _wrapped(_OTHER, kind)
    value = _KINDS[kind][3]
    assert [one for one in found if one[1] not in (value, None)] == []
    assert sum(read == value for _, read in found) >= 0.6 * len(found)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_reply_that_is_withdrawn_or_only_quoted_is_not_credited(kind: str) -> None:
    wrong = (None, False) if kind == "phrase" else (None,)
    assert [one for one in _wrapped(_NONE, kind) if one[1] not in wrong] == []
