"""The statements of a reply, and the vocabulary of the strict parser.

Idioms and cue words of other languages are first put into English, so one vocabulary is enough. This applies only to
the words around an answer: the options' own words are already marked. A question, a supposition, an instruction or
hearsay is not the model's own statement. "Wait, that is wrong" takes back what was stated before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


def word_set(words: str) -> frozenset[str]:
    """Split a string of words into a set."""
    return frozenset(words.split())


ANSWER = word_set(
    "answer solution response conclusion verdict selection pick guess bet vote prediction result decision"
    " diagnosis statement"
)
OPTION = word_set("option options choice choices letter letters alternative alternatives one ones")
CHOOSE = word_set(
    "choose pick select say answer guess think believe vote conclude suspect prefer choosing selecting picking"
    " answering"
)
COPULA = word_set("is are am be would should must will to has have 's being it's that's shall remains seems appears")
PRONOUN = word_set("it this that which it's that's these")
CONCLUDING = word_set("so thus hence therefore accordingly consequently ∴ ⇒ => → leaving leaves leave")
POINTING = word_set("matches match means indicates suggests supports corresponds fits gives yields namely")
FILLER = word_set(
    "the a an most likely probably clearly indeed definitely obviously simply just actually then now really surely"
    " certainly apparently correct right best final remaining only my proper possible single given labelled labeled"
    " marked me very by with because ultimately finally overall still thus also our us la le el der die das"
    " absolutely first second third fourth last"
)
SEPARATOR = word_set(": = - – — -> → => # > |")
NEGATOR = word_set(
    "not no never cannot neither nor without except excluding exclude excludes excluded eliminate eliminates"
    " eliminated eliminating reject rejects rejected discard discarded dismiss dismissed unable fail fails failed"
    " unlikely hardly unsure unclear uncertain than whether impossible none nobody doubt doubts doubtful"
)
HEDGE = word_set("could may might perhaps maybe possibly can potentially conceivably")
WRONG = word_set(
    "incorrect wrong false excluded exclude eliminated impossible unlikely invalid out mistaken misprint rejected"
    " absent discarded implausible not cannot no ✗ ✘ ❌ × typo unsuitable"
)
RIGHT = word_set("correct right true best answer accurate appropriate only valid likely ✓ ✔ ✅ suitable closest")
BREAK = word_set(
    ", ; but because since although though while whereas however as so thus hence therefore then which leaving ("
    " ) . ! ?"
)
"""Words that end the reach of a negation or a hedge."""
SUBORDINATE = word_set(
    "because since although though while whereas as not exclude but which even despite given compared than for"
)
"""Options after these words are reasons, not answers."""
VERB = word_set(
    "is are was were can could does do seems looks appears must has have would will should cannot fails lacks fits"
    " matches works makes remains isn't aren't doesn't don't can't won't wouldn't shows needs requires represents"
)
_FOLLOWING = word_set(
    "and or / & here based from in on therefore according by if when due rather instead nor too also alone option"
    " choice answer it best correct the"
)
AFTER_LETTER = VERB.union(BREAK, SUBORDINATE, _FOLLOWING)
_LEADING = word_set(
    "or and / & either both between of like on from for if but than not versus take taking mark marks consider"
    " makes make else"
)
_ANNOUNCING = COPULA.union(OPTION, CHOOSE, CONCLUDING, POINTING, ANSWER, PRONOUN)
BEFORE_LETTER = _ANNOUNCING.union(FILLER, NEGATOR, HEDGE, BREAK, SEPARATOR, _LEADING) - {"a", "an"}
"""A letter after any other word belongs to that word: vitamin D, panel B."""


def is_negator(word: str) -> bool:
    return word in NEGATOR or word.endswith("n't")


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
"""English word or phrase -> its variants, with `_` for a space."""

_SPACED = {
    "answer": "respuesta réponse antwort resposta risposta ответ جواب odpowiedź svar yanıt cevap उत्तर đáp_án"
    " câu_trả_lời الإجابة الجواب jawaban",
    "correct": "correcta correcto correcte richtige corretta correta corretto correto richtig certa cierto juste"
    " bonne правильный верный الصحيحة đúng सही benar",
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
    """Replace idioms and words of other languages by the English words of the tables."""
    text = text.translate(_APOSTROPHE)
    for pattern, ours in _WORDS:
        text = pattern.sub(lambda found, ours=ours: f" {ours[' '.join(found[0].casefold().split())]} ", text)  # type: ignore[misc]
    return text


_BULLET = re.compile(r"\s*(?:[-•*+>|#]+\s+)*(?:\d{1,2}[.)]\s+(?=\S))?")
_HEADER = re.compile(r"[ \t]*#{1,6}[ \t]")
_END = re.compile(
    r"(?<=[.!?;])[\"')\]]{0,3}\s+|(?<=[。！？；])|,?\s+(?:but|however)\b,?|(?=\b(?:no,? )?wait\b)", re.I
)
_CONCESSION = re.compile(r"(?:while|although|though|even though)\b[^,]{0,300},\s", re.I)
_LABEL_END = re.compile(r"(?:\A|\s)[\"'(\[]{0,2}[A-Za-z]\.\Z|(?:\A|\s)\d{1,2}\.\Z")

_SUPPOSED = re.compile(
    r"\b(?:if|unless|suppose|supposing|assume|assumes|assuming|imagine|hypothetically|whether|let us say|let's say"
    r"|in case|in that case|provided that|would have been|had it been|were it)\b|\A(?:say|let)\s",
    re.I,
)
_SEEN = re.compile(
    r"\bif (?:we|you|one|i) (?:look|count|follow|compare|trace|examine|zoom|read|start|add|compute|calculate|use"
    r"|apply|rotate|recall|see|observe|face|take a look|consider)\b",
    re.I,
)
_TOLD = re.compile(
    r"\b(?:some|many|most|several|few) (?:people|students|users|models|readers|doctors|experts|might|may|would"
    r"|say|argue|think|claim)\b"
    r"|\b(?:others|people|students?|colleagues?|textbooks?|the user|annotators?|radiologists?|friends?|teachers?)\b"
    r"|\b(?:he|she|they|you|someone|somebody|everyone|anyone|one) (?:might|may|could|would|asked?|mentioned)\b"
    r"|(?<![\w'])(?!(?:i|we|i'd|i'll|would|will|can|must|should|to|do|so|therefore|also|just|not|me|us|still|only"
    r"|then|and|thus|hence|now|clearly)\b)[\w']+ (?:also |often |usually )?"
    r"(?:says?|said|thinks?|thought|claims?|claimed|believes?|argues?|answered|chose|picked|wrote)\b"
    r"|\b(?:tempting|mistake|misconception|distractor|at first|first impression|initial|initially|originally)\b"
    r"|\baccording to (?!(?:the|this) (?:\w+ )?"
    r"(?:picture|image|figure|diagram|graph|table|chart|photo|scene|scan|data|question|map))"
    r"|\bi (?:first |had |once )?(?:thought|assumed|guessed|considered)\b|\bi was (?:going|about) to\b",
    re.I,
)
_ASKED_FOR = re.compile(
    r"\bexamples?:|\b(?:please|format|template|the form|for example|such as|one of|reply with|respond with"
    r"|answer with|end with|your answer|should look like|choose from|select from)\b",
    re.I,
)
_TAKEN_BACK = re.compile(
    r"\bwait\b|\bscratch that\b|\bon second thoughts?\b|\bon reflection\b|\bcorrection\b|\bactually,? no\b"
    r"|\bi take (?:that|it) back\b"
    r"|\blet me (?:reconsider|rethink|recheck|re-check|redo|start over|try again|check again|think again|correct)\b"
    r"|\bi (?:misread|misjudged|miscounted|mixed up|was wrong|made an? (?:mistake|error))\b"
    r"|\b(?:that|this)(?:'s| is| was| seems) (?:not (?:right|correct|it)|wrong|incorrect|a mistake)\b"
    r"|\bthat (?:does not|doesn't) (?:work|make sense)\b"
    r"|\b(?:that|this) (?:cannot|can't) be\b(?! \S+ly\b)(?:[.!]|$| right| correct)",
    re.I,
)
_PLANNED = re.compile(
    r"\b(?:let me|let's|let us|i'll|i need to|we need to|consider|comparing|compare|to decide|to determine|to tell"
    r"|analysis of|look at|looking at|options? (?:are|include)|need to|first,?|find|calculate|determine"
    r"|given that|the question)\b",
    re.I,
)
_REFUSED = re.compile(
    r"\b(?:i|we) (?:cannot|can't|could not|couldn't|am unable to|am not able to|do not|don't) (?:\w+ )?(?:tell"
    r"|see|determine|say|know|view|help|answer|identify|discuss|decide)\b"
    r"|\bunable to\b|\bno idea\b|\bnot possible to\b",
    re.I,
)


@dataclass(frozen=True)
class Statement:
    """One statement. `apart`: an empty line is before it; `heading`: it is a Markdown heading."""

    text: str
    apart: bool
    heading: bool

    @property
    def asked(self) -> bool:
        return self.text.rstrip("\"') ").endswith("?")

    @property
    def own(self) -> bool:
        """True if this is the model's own view: not a question, supposition, hearsay or instruction."""
        supposed = _SUPPOSED.search(_SEEN.sub(" ", self.text))
        return not (self.asked or supposed or _TOLD.search(self.text) or _ASKED_FOR.search(self.text))

    @property
    def planned(self) -> bool:
        """True if it announces a step rather than a finding."""
        return _PLANNED.search(self.text) is not None

    @property
    def stated(self) -> bool:
        """True if it is a finding of the model itself."""
        return self.own and not self.planned and not _REFUSED.search(self.text)

    @property
    def takes_back(self) -> bool:
        return _TAKEN_BACK.search(self.text) is not None


def statements(text: str, keep: str = "") -> Iterator[Statement]:
    """Yield the statements of a text, line by line. None ends after a label (`B.`) or before a sign in `keep`."""
    apart = False
    for line in text.splitlines():
        if not line.strip():
            apart = True
            continue
        heading = _HEADER.match(line) is not None
        for index, piece in enumerate(_pieces(_BULLET.sub("", line, count=1), keep)):
            yield Statement(piece, apart and index == 0, heading)
        apart = False


def _pieces(line: str, keep: str) -> Iterator[str]:
    """Split off a concession at the start of a sentence: "While B is tempting, the answer is C"."""
    for piece in _sentences(line, keep):
        conceded = _CONCESSION.match(piece)
        if conceded:
            yield conceded[0].strip()
        yield piece[conceded.end() if conceded else 0 :]


def _sentences(line: str, keep: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        piece = line[start : end.start()]
        if not piece.strip():
            continue
        following = line[end.end() : end.end() + 1]
        if _LABEL_END.search(piece[-6:] if start < end.start() - 6 else piece) and (
            len(piece.strip()) <= 6 or (following and following in keep)
        ):
            continue
        yield piece.strip()
        start = end.end() if end.end() > end.start() else end.start()
    if line[start:].strip():
        yield line[start:].strip()
