"""One language for the strict reader: idioms and the cue words of other languages are put into plain English words.

Only what surrounds an answer is put so; the options' own words have been taken out before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_IDIOMS = {
    "answer": "ans",
    "answer is": "answer's",
    "exclude": "rule_out ruled_out rules_out ruling_out",
    "not": "anything_but all_but everything_but anything_except other_than rather_than instead_of as_opposed_to"
    " unlike absence_of lack_of free_of free_from opposite_of negative_for far_from",
    "clearly": "no_doubt_that no_doubt without_a_doubt without_doubt without_any_doubt no_question_that no_question"
    " beyond_doubt not_only none_other_than nothing_but",
    "choose": "go_with going_with went_with opt_for settle_on settle_for vote_for opting_for going_for go_for",
    "cannot": "can_not",
    "and": "as_well_as",
    "might": "it_is_possible_that it's_possible_that there_is_a_chance_that there's_a_chance_that",
    "therefore": "if_i_had_to_guess if_i_had_to_choose if_i_have_to_choose if_forced_to_choose if_i_must_choose"
    " if_i_had_to_pick if_i_had_to_answer if_pressed if_i_have_to_guess to_sum_up in_conclusion in_summary"
    " in_short ergo",
    "versus": "vs.",
    "for example": "e.g. eg. z.b. p.ex.",
    "namely": "i.e.",
    "figure": "fig. figs.",
}
"""What is meant: how it is put, `_` for a space."""

_SPACED = {
    "answer": "respuesta réponse antwort resposta risposta ответ جواب odpowiedź svar yanıt cevap उत्तर đáp_án"
    " câu_trả_lời الإجابة الجواب jawaban",
    "correct": "correcta correcto correcte richtige corretta correta corretto correto richtig certa cierto juste"
    " bonne"
    " правильный верный الصحيحة đúng सही benar",
    "final": "finale endgültige",
    "is": "es est ist lautet é è هي هو là है adalah",
    "option": "opción opção opzione вариант lựa_chọn",
    "therefore": "donc deshalb portanto quindi поэтому por_tanto por_lo_tanto",
    "not": "nicht kein не pas não",
    "or": "oder ou или",
}

_UNSPACED = {
    "answer is": "答案应该是 答案应为 答案应是 答案是 答案为 答案选 答案選 正确的是 正解は 答えは 정답은 답은",
    "answer": "答案 正解 答え 正答 정답 답변 答",
    "final": "最终 最後の 최종",
    "correct": "正确的 正确 正確的 正確",
    "option": "选项 選項",
    "this is": "这是 此为",
    "i": "我们 我",
    "think": "认为",
    " ": "本题 此题 该题 这道题",
    "not choose": "不选",
    "choose": "選擇 應選 選 应该选择 应当选择 应选择 应该选 应当选 应选 故选 选择 选",
    ", not": "而不是 而非",
    "cannot be": "不可能是 不可能为 不会是",
    ", it is": "而是 ,是",
    "is not": "不是 并非 并不是",
    "is incorrect": "不正确 不对 错误 有误 不符合 不成立 不符 不合适",
    "exclude": "排除 可以排除",
    "therefore": "综上所述 因此 所以 因而 综上 故",
    "if": "如果 假如 假设 若",
    "might": "也可能 可能 也许 或许",
    "or": "还是 或者 或",
    "and": "以及 和 与 及 、",
    "because": "因为 由于",
    "but": "但是 然而 但 不过",
    "cannot": "无法 不能",
    "not": "没有 不 未",
    "?": "吗",
    "is": "是 为",
    "wait": "等等 等一下",
    "": "です 입니다 이다",
}


def _pattern(*tables: Mapping[str, str]) -> tuple[re.Pattern[str], dict[str, str]]:
    ours = {
        unicodedata.normalize("NFKC", word).replace("_", " ").casefold(): meaning
        for table in tables
        for meaning, words in table.items()
        for word in words.split()
    }
    longest = sorted(ours, key=len, reverse=True)
    either = "|".join(re.escape(word).replace(r"\ ", r"\s") for word in longest)
    return re.compile(either if tables == (_UNSPACED,) else rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE), ours


_WORDS = (_pattern(_UNSPACED), _pattern(_IDIOMS, _SPACED))
_APOSTROPHE = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})


def in_our_words(text: str) -> str:
    """The text with what the tables know put into our words; all else stays."""
    text = text.translate(_APOSTROPHE)
    for pattern, ours in _WORDS:
        text = pattern.sub(lambda found, ours=ours: f" {ours[' '.join(found[0].casefold().split())]} ", text)  # type: ignore[misc]
    return text
