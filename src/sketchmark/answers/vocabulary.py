"""Vocabulary of the strict parser, from `words.yaml`.

Idioms and cue words of other languages are first put into plain English, so one grammar is enough. This applies only
to the words around an answer: candidates are already marked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sketchmark.files.yaml import load

TABLES = load(Path(__file__).with_name("words.yaml"), "vocabulary")


def word_set(words: str) -> frozenset[str]:
    """Split a string of words into a set."""
    return frozenset(word.replace("_", " ") for word in words.split())


SETS = {name: word_set(words) for name, words in TABLES["sets"].items()}
"""Sets of words that one module uses."""
_CLASSES = {name: word_set(words) for name, words in TABLES["classes"].items()}

ANSWER, OPTION, CHOOSE, COPULA = (_CLASSES[name] for name in ("answer", "option", "choose", "copula"))
PRONOUN, CONCLUDING, POINTING = (_CLASSES[name] for name in ("pronoun", "concluding", "pointing"))
FILLER, SEPARATOR, HEDGE = (_CLASSES[name] for name in ("filler", "separator", "hedge"))
NEGATOR, WRONG, RIGHT, FITS = (_CLASSES[name] for name in ("negator", "wrong", "right", "fits"))
BREAK = _CLASSES["break"]
"""Words that end the reach of a negation or a hedge."""
SUBORDINATE = _CLASSES["subordinate"]
"""Options after these words are reasons, not answers."""
VERB = _CLASSES["verb"]
AFTER_LETTER = VERB.union(BREAK, SUBORDINATE, _CLASSES["following"])
_ANNOUNCING = COPULA.union(OPTION, CHOOSE, CONCLUDING, POINTING, ANSWER, PRONOUN)
BEFORE_LETTER = _ANNOUNCING.union(FILLER, NEGATOR, HEDGE, BREAK, SEPARATOR, _CLASSES["leading"]) - {"a", "an"}
"""A letter after any other word belongs to that word: vitamin D, panel B."""


def is_negator(word: str) -> bool:
    return word in NEGATOR or word.endswith("n't")


def is_wide(word: str) -> bool:
    """Return whether a word is of a script without spaces, whose words cannot be separated."""
    return word[:1] > "\u2e7f"


def any_word(words: frozenset[str] | Mapping[str, object]) -> str:
    """Build a pattern of whole words, the longest first; words of scripts without spaces need no edges."""
    longest = sorted(words, key=lambda word: (-len(word), word))
    spaced = "|".join(re.escape(word).replace(r"\ ", r"\s") for word in longest if not any(map(is_wide, word)))
    wide = "|".join(re.escape(word).replace(r"\ ", r"\s") for word in longest if any(map(is_wide, word)))
    parts = ([rf"(?<!\w)(?:{spaced})(?!\w)"] if spaced else []) + ([wide] if wide else [])
    return "|".join(parts)


_SAME_SIGN = str.maketrans("ıſµ", "isμ")


def key(word: str) -> str:
    """Fold a word as IGNORECASE compares it: sign by sign, so that a match is always found in its table.

    `casefold` writes İ as two signs and ß as ss, which the pattern does not match.
    """
    return "".join(sign.lower()[0] for sign in word).translate(_SAME_SIGN)


def _pattern(*tables: Mapping[str, str]) -> tuple[re.Pattern[str], dict[str, str]]:
    ours = {
        folded(unicodedata.normalize("NFKC", word).replace("_", " ")): meaning
        for table in tables
        for meaning, words in table.items()
        for word in words.split()
        for folded in (str.casefold, key)
    }
    return re.compile(any_word(ours), re.IGNORECASE), ours


_SHORTEST_TYPO = 6


def _mistyped(word: str) -> str:
    """Return a word with two letters exchanged, or with one left out if it is long enough."""
    swapped = {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    shorter = {word[:at] + word[at + 1 :] for at in range(1, len(word)) if len(word) >= _SHORTEST_TYPO}
    return " ".join((swapped | shorter) - {word} - word_set(TABLES["mistyped"]["other words"]))


_WORDS = (
    _pattern(TABLES["unspaced"], {"i cannot tell": TABLES["unknown"]}),
    _pattern(
        TABLES["idioms"], TABLES["spaced"], {word: _mistyped(word) for word in TABLES["mistyped"]["words"].split()}
    ),
)
APOSTROPHE = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})


_SUFFIX = re.compile(r"(?<=\b[A-Z])'(?:[dt][iıuü]r|y?[iıuüea]|[dt][ae]n?)\b")
"""Turkish endings after a letter: `B'dir`."""


_BLANKS = re.compile(" {2,}")


def in_our_words(text: str) -> str:
    """Replace idioms and words of other languages by the plain English words of the tables."""
    text = _SUFFIX.sub(" ", text.translate(APOSTROPHE))
    for pattern, ours in _WORDS:
        text = pattern.sub(lambda found, ours=ours: f" {ours[key(' '.join(found[0].split()))]} ", text)  # type: ignore[misc]
    return _BLANKS.sub(" ", text)


LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[,;:]")
_SHORT = {f"{word}'s": f"{word} is" for word in ("there", "it", "that", "here", "he", "she", "this", "what")}
_SHORT |= {f"{word}'re": f"{word} are" for word in ("they", "we", "you")} | {"i've": "i have", "i'm": "i am"}
_STEMS = {"ca": "can", "wo": "will", "sha": "shall"}


def written_out(text: str) -> list[str]:
    """Return the words and commas of a text in small letters, with "isn't" as is not."""
    words: list[str] = []
    for word in _WORD.findall(text.translate(APOSTROPHE).casefold()):
        if word.endswith("n't"):
            words += ["cannot"] if word == "can't" else [_STEMS.get(word[:-3], word[:-3]), "not"]
        else:
            words += _SHORT.get(word, word).split()
    return words


def stem(word: str) -> str:
    """Return a word without the ending of its plural or its third person."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")) else word


@cache
def foreign_numbers() -> tuple[re.Pattern[str], dict[str, int]]:
    """Return a pattern of number words of other languages, and their values."""
    tables = {name: row.split() for name, row in TABLES["numbers"].items() if name not in ("en", "tens", "zh")}
    values = {key(word): value for row in tables.values() for value, word in enumerate(row)}
    return re.compile(any_word(values), re.IGNORECASE), values


_HAN = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2}


def han_value(spelt: str) -> float:
    """Return the value of a Chinese number such as 二十三."""
    total = current = 0
    for sign in spelt:
        if sign in "十百千":
            total += max(current, 1) * {"十": 10, "百": 100, "千": 1000}[sign]
            current = 0
        else:
            current = current * 10 + _HAN[sign]
    return float(total + current)
