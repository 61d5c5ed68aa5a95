"""The last line of a question: what form the answer is to have, letter for letter as MedEvalKit asks for it
(docs/benchmarks/medical.md, "Prompt templates"). MMMU's prompts there end in the same lines."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh"]
Kind = Literal["choice", "judgement", "closed", "open"]

_PLAIN: dict[tuple[Kind, Language], str] = {
    ("choice", "en"): "Answer with the option's letter from the given choices directly.",
    ("choice", "zh"): "请直接使用给定选项中的选项字母来回答该问题。",
    ("judgement", "en"): "Please output 'yes' or 'no'(no extra output).",
    ("judgement", "zh"): "请输出'是'或'否'(不要有任何其它输出)。",
    ("closed", "en"): "Answer the question using a single word or phrase.",
    ("closed", "zh"): "请用一个单词或者短语回答该问题。",
    ("open", "en"): "Please answer the question concisely.",
    ("open", "zh"): "请简要回答该问题。",
}

_BOXED: dict[tuple[Kind, Language], str] = {
    ("choice", "en"): (
        'Answer with the option\'s letter from the given choices and put the letter in one "\\boxed{}".'
    ),
    ("choice", "zh"): '请直接使用给定选项中的选项字母来回答该问题,并将答案包裹在"\\boxed{}"里',
    ("judgement", "en"): 'Please output "yes" or "no" and put the answer in one "\\boxed{}".',
    ("judgement", "zh"): "请输出'是'或'否'，并将答案放在一个'\\boxed{}'中。",
    ("closed", "en"): ('Answer the question using a single word or phrase and put the answer in one "\\boxed{}".'),
    ("closed", "zh"): "请用一个单词或者短语回答该问题，并将答案放在一个'\\boxed{}'中。",
    ("open", "en"): 'Please answer the question concisely and put the answer in one "\\boxed{}".',
    ("open", "zh"): "请简要回答该问题，并将答案放在一个'\\boxed{}'中。",
}


def instruction(kind: Kind, language: Language = "en", *, reasoning: bool = False) -> str:
    """The last line of a prompt: what form the answer is to have."""
    return (_BOXED if reasoning else _PLAIN)[kind, language]
