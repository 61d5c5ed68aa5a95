"""Vocabulary of the strict parser, from `words.yaml`.

Idioms and cue words of other languages are first put into plain English, so one grammar is enough. This applies only
to the words around an answer: candidates are already marked.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

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
_SIGN = r"(?-i:[A-Z\ue000-\uf8ff])|\d{1,9}"
"""Signs without case: with it, compiling takes longer than all the rest of a start."""
_COUNTER = r"(?:\s?(?:[个個只匹羽本枚台人名件张張つ개명]|마리)|\s(?=(?-i:[\u2e80-\ud7ff])))?"
_AND = "y|e|en|und|et|ve|и|and|or|o|ou|oder|или|sowie"
_JOINER = rf"(?:\s?[,，、;/]\s?(?:(?:{_AND}) )?| (?:{_AND}) |[和与と]|[와과] )"


def _mention(sign: str) -> str:
    return rf"\s?(?<![A-Za-z0-9])[\"“«「『(*]{{0,3}}{sign}(?![A-Za-z0-9])[\"”»」』)*]{{0,3}}{_COUNTER}"


_ONE = _mention(f"({_SIGN})")
_ANY = _mention(f"(?:{_SIGN})")
_SEVERAL = f"({_ANY}(?:{_JOINER}{_ANY}){{0,8}})"
_ORDERS = [(tuple(order["cues"].split()), order["find"], order["put"]) for order in TABLES["orders"]]
_NAMED_ONE = re.compile(_ONE, re.IGNORECASE)


@cache
def _order(find: str) -> re.Pattern[str]:
    """Compile an order when its cue is first met: all of them take a third of the time of a start."""
    return re.compile(find.replace("{o}", _SEVERAL).replace("{x}", _ONE), re.IGNORECASE)


def _reordered(text: str) -> str:
    """Put sentences into the order of English: `D以外は` is "all except D"."""
    text = _BLANKS.sub(" ", text)
    lowered = text.lower()
    for cues, find, put in _ORDERS:
        if any(cue in lowered for cue in cues):
            text = _order(find).sub(lambda found, put=put: put.format(*map(_listed, found.groups(""))), text)  # type: ignore[misc]
    return text


def _listed(named: str) -> str:
    return " , ".join(found[1] for found in _NAMED_ONE.finditer(named))


def in_our_words(text: str) -> str:
    """Replace idioms and words of other languages by the plain English words of the tables."""
    text = _SUFFIX.sub(" ", _reordered(text.translate(APOSTROPHE)))
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
    values = {
        key(word): value for row in tables.values() for value, forms in enumerate(row) for word in forms.split("/")
    }
    values |= {key(word): value for table in TABLES["compounds"].values() for word, value in _compounds(table)}
    return re.compile(any_word(values), re.IGNORECASE), values


def _compounds(table: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the number words from 20 to 99 of a language."""
    for tenth, ten in enumerate(table["tens"].split(), start=2):
        yield ten, 10 * tenth
        for size, unit in enumerate(table["units"].split(), start=1):
            joined = table.get("first", table["join"]) if size == 1 else table["join"]
            for form in unit.split("/"):
                yield re.sub(table.get("soft", r"\Z"), "", joined.format(ten=ten, unit=form)), 10 * tenth + size
    more = table.get("more", "").split()
    yield from ((word.replace("_", " "), value) for value, word in enumerate(more, start=table.get("from", 0)))


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


_EDGE = r"(?<![0-9A-Za-z_\u00aa-\u1fff.,])(?<!\d:)"
_GROUPED = (
    r"\d{1,3}(?:\.\d{3}){1,12}(?=,\d)|\d{1,3}(?:,\d{3}){1,12}|\d{1,3}(?:'\d{3}){1,12}"
    r"|\d{1,3}(?:[ ]\d{3}){1,12}|\d{1,3}(?:\.\d{3}){2,12}"
)
NUMBER = re.compile(
    rf"(?P<whole>{_EDGE}[-−]?\d{{1,9}}[ ]?)?\\[dt]?frac\{{(?P<above>[-−]?\d{{1,40}})\}}\{{(?P<below>\d{{1,40}})\}}"
    rf"|{_EDGE}(?:(?P<mixed>[-−]?\d{{1,9}})[ ])?(?P<over>[-−]?\d{{1,40}})[ ]?/[ ]?(?P<under>\d{{1,40}})(?!\w|[/.,]\d)"
    rf"|{_EDGE}(?P<sign>(?<![)\d\w])(?:[-−+]|–(?=\d)))?(?:[$€£¥][ ]?)?(?P<size>(?:{_GROUPED})(?:[.,]\d{{1,40}})?"
    r"|\d{1,40}(?:[.,]\d{1,40})?|(?<!\d)\.\d{1,40})"
    r"(?:[eE](?P<power>[-+]?\d{1,3})|[ ]?(?:×|x|\\times|\\cdot|·|\*)[ ]?10\^\{?(?P<ten>[-−]?\d{1,3})\}?"
    r"|\^\{?(?P<raised>\d{1,2})\}?)?"
    r"(?P<many>[ ]?[kK](?!\w)|[ ]?[mbt]n(?!\w)|M(?!\w)|[ ]M(?=[ ][a-z])"
    r"|[ -]?(?i:thousand|million|billion|trillion|mio|mrd|tausend"
    r"|millionen|milliarden|mille|millions?|milliards?|mil|millones|milhões|milioni|bin|milyon|тысяч|миллион(?:а|ов)?)(?!\w)"
    r"|[ ]?[万千亿億만])?"
    r"(?![a-zA-Z]?\d|[.,:]\d)"
)
_MANY = {"k": 1e3, "t": 1e3, "b": 1e9, "万": 1e4, "만": 1e4, "千": 1e3, "亿": 1e8, "億": 1e8, "т": 1e3}
_COMMA_USED = re.compile(r"(?<![\d.,])\d{1,3}(?:[. ]\d{3})*,(?:\d{1,2}|\d{4,})(?![\d,])")
_COMMA_WORDS, _POINT_WORDS = (word_set(TABLES["decimals"][name]) for name in ("comma", "point"))


def number(text: str) -> float | None:
    """Parse a finite number with thousands separators, currency, percent sign or fraction bar; else None."""
    bare = text.strip().lstrip("$€£ ").rstrip("$€£%. ")
    found = NUMBER.fullmatch(bare)
    return value_of(found, comma=False) if found else None


def decimal_comma(text: str) -> bool | None:
    """Return whether a reply writes 3,5 and 12.480; None if its language is not known."""
    if _COMMA_USED.search(text):
        return True
    named = set(LETTERS.findall(text.casefold()))
    commas, points = len(named & _COMMA_WORDS), len(named & _POINT_WORDS)
    commas += any(word.endswith(("zahl", "fläche", "preis", "menge", "umsatz", "höhe", "länge")) for word in named)
    long = [word for word in named if len(word) > 3 and not is_wide(word)]
    return commas > points if commas != points else False if points or len(long) < 3 else None


def value_of(found: re.Match[str], *, comma: bool) -> float | None:
    above, below = found["above"] or found["over"], found["below"] or found["under"]
    if above:
        whole = int((found["whole"] or found["mixed"] or "0").replace("−", "-"))
        try:
            part = int(above.replace("−", "-")) / int(below)
        except (ValueError, ZeroDivisionError, OverflowError):  # int() refuses a number of thousands of digits
            return None
        return whole + math.copysign(part, whole) if whole else part
    power = (found["power"] or found["ten"] or "0").replace("−", "-")
    value = float(f"{_plain_digits(found['size'], comma=comma)}e{power}")
    if found["raised"]:
        try:
            value = value ** int(found["raised"])
        except OverflowError:
            return None
    many = (found["many"] or "").strip(" -")
    value *= _magnitude(many) if many else 1
    return (-value if found["sign"] in ("-", "−", "–") else value) if math.isfinite(value) else None


def _plain_digits(size: str, *, comma: bool) -> str:
    """Write digits with a decimal point and without separators. `comma`: the reply writes 3,5 and 12.480."""
    size = size.replace("'", "").replace(" ", "")
    head, mark, tail = size.rpartition("," if size.rfind(",") > size.rfind(".") else ".")
    if not mark:
        return size
    other = "." if mark == "," else ","
    grouped = len(tail) == 3 and len(head.replace(mark, "")) > 0 and head != "0"
    if mark in head or (grouped and other not in head and (mark == "," if not comma else mark == ".")):
        return size.replace(mark, "").replace(other, ".")
    return f"{head.replace(other, '')}.{tail}"


def _magnitude(many: str) -> float:
    name = many.casefold()
    if name in ("mn", "bn", "tn"):
        return {"mn": 1e6, "bn": 1e9, "tn": 1e12}[name]
    if name.startswith(("mrd", "milliard", "billion")):
        return 1e9
    if name.startswith(("mio", "mill", "milh", "milion", "milyon", "мил")) and name != "mille":
        return 1e6
    return 1e12 if name.startswith("trill") else _MANY.get(name[0], 1e6 if many == "M" else 1e3)


_UNITS = TABLES["numbers"]["en"].split()
_TENS = {name: 10 * ten for ten, name in enumerate(TABLES["numbers"]["tens"].split(), start=2)}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
for _size, _name in enumerate(["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], start=3):
    _PARTS |= {_name: _size, f"{_name}s": _size}
_ENGLISH = {**{word: value for value, word in enumerate(_UNITS)}, **_TENS}
_EN = "|".join(sorted(_ENGLISH, key=len, reverse=True))
_SCALE = "|".join(SCALES)
_PARTED = "|".join(sorted(_PARTS, key=len, reverse=True))
_WORDED = re.compile(
    rf"(?<![\w-])(?P<minus>minus |negative )?(?:(?P<many>(?:(?:{_EN})|a(?=[ ](?:{_SCALE})))"
    rf"(?:[ -](?:and[ ])?(?:{_EN}|{_SCALE})){{0,12}})"
    rf"(?:[ -](?P<part>{_PARTED})(?![\w-])|[ ]point[ ](?P<point>(?:{_EN})(?:[ ](?:{_EN})){{0,6}})"
    r"|(?P<half>[ ]and[ ]a[ ]half))?"
    rf"|(?:(?:a[ ])?(?P<one>half|quarter)|a[ ](?P<third>third))"
    rf"(?:[ ](?:of[ ])?an?[ ](?P<scale>{_SCALE})|(?=[.!]?\s?\Z)))(?![\w-])",
    re.IGNORECASE,
)
_ONE_BEFORE = re.compile(
    r"(?:\A|[\n:.,(\"]|\b(?:is|are|only|just|exactly|see|count|has|have|shows|answer|with|contains|about|one))\s{0,3}\Z",
    re.I,
)
_ONE_AFTER = re.compile(
    r"\s?(?:\Z|[.!)\n\"]|(?!(?:of|can|more|or(?! two)|is|must|could|finds|needs|sees|gets"
    r"|counts|near|with|in|on|at|by|behind|beside|wears|that)\b)[a-z]+\b)",
    re.I,
)
_COUNTED = re.compile(
    r"(?<!\w)([한두세네]|다섯|여섯|일곱|여덟|아홉|열)(?=\s?(?:명|마리|개|대|권|송이|그루|장|병|채|사람|잔))"
)
_KOREAN = dict(zip(("한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열"), range(1, 11), strict=True))
_WIDE = re.compile(
    r"(?:(?<=[是为有共到数はがに])|(?<=总共)|(?<=答案)|(?<=:)|(?<=: )|^)[零一二三四五六七八九十百千两]{1,9}"
    r"(?=[个個只條条人名张張本台羽つ匹枚辆头棵朵次度年元件块支座位艘]|[。.!]?\s?$)",
    re.MULTILINE,
)


_ARTICLES = word_set("un um uno bir on een")
_SHARED = word_set("on once due un um uno sei six null bir otto een elf acht vier")
"""Number words that mean something else in another language; they count only as a whole reply."""


def spelt_numbers(text: str) -> Iterator[tuple[int, int, float]]:
    """Yield the number words of a text: start, end and value."""
    for found in _WORDED.finditer(text):
        value = _spelt(found)
        single = found[0].casefold() == "one"
        if single and not (
            _ONE_BEFORE.search(text[max(0, found.start() - 12) : found.start()])
            and _ONE_AFTER.match(text, found.end())
        ):
            continue
        yield found.start(), found.end(), value
    for found in _WIDE.finditer(text):
        yield found.start(), found.end(), han_value(found[0])
    yield from ((found.start(), found.end(), float(_KOREAN[found[1]])) for found in _COUNTED.finditer(text))
    pattern, values = foreign_numbers()
    whole = text.strip(' .!\n*"')
    for found in pattern.finditer(text):
        word = key(found[0])
        known = word not in _SHARED or whole == found[0] or (word not in _ARTICLES and decimal_comma(text))
        if word not in _ENGLISH and known:
            yield found.start(), found.end(), float(values[word])


def _spelt(found: re.Match[str]) -> float:
    one = found["one"] or found["third"]
    value = 1 / _PARTS[key(one)] if one else float(_counted(found["many"]))
    if found["scale"]:
        value *= SCALES[key(found["scale"])]
    elif found["part"]:
        value /= _PARTS[key(found["part"])]
    elif found["point"]:
        value += float("0." + "".join(str(_ENGLISH[key(word)] % 10) for word in found["point"].split()))
    elif found["half"]:
        value += 0.5
    return -value if found["minus"] else value


def _counted(spelt: str) -> int:
    total = current = 0
    for word in re.split(r"[ -]+", key(spelt)):
        if word in SCALES:
            current = max(current, 1) * SCALES[word]
            if SCALES[word] > 100:
                total, current = total + current, 0
        else:
            current += _ENGLISH.get(word, 1 if word == "a" else 0)
    return total + current


DATED = re.compile(
    r"\b(?:in|since|from|by|year|until|of|for|during|im|jahr|lag|war|en|em|nel|до|в)\s(?:1[5-9]|20)\d\d\b", re.I
)
ASKS_YEAR = re.compile(TABLES["year"], re.I)
_ASKS_SHARE = re.compile(
    r"percent|per cent|%|prozent|pourcent|porcent|percentu|процент|yüzde|百分|パーセント|퍼센트", re.I
)
_YEAR = re.compile(r"(?<![\w.,$€£-])(?:1[5-9]|20)\d\d(?![\w%]|[.,]\d|[ ]?[%°€])")
_PERIOD = re.compile(r"\b(?:from|between) (?:1[5-9]|20)\d\d (?:to|and|until|through) (?:1[5-9]|20)\d\d\b", re.I)
_DIGITS = re.compile(r"(?<![\w.,])\d[\d.,]{0,12}(?![\w.,]?\d)")
_PERCENT = re.compile(r"\d[ ]?(?:%|percent|per cent|prozent)", re.I)


def without_context(text: str, question: str) -> str:
    """Drop numbers that the question names, and years if it asks for none, where another number is left.

    A question for a year keeps only years, and one for a percentage only percentages, if the reply has any.
    """
    found = list(_DIGITS.finditer(text))
    if ASKS_YEAR.search(question):
        text = _PERIOD.sub("…", text) if len(_YEAR.findall(_PERIOD.sub("", text))) else text
        found = list(_DIGITS.finditer(text))
        kept = [one for one in found if _YEAR.fullmatch(one[0].rstrip(".,"))]
    elif _ASKS_SHARE.search(question) and _PERCENT.search(text):
        kept = [one for one in found if _PERCENT.match(text, one.end() - 1)]
    else:
        named = {_called(one) for one in _DIGITS.finditer(question)}
        kept = [
            one
            for one in found
            if _called(one) not in named
            and not (_YEAR.match(text, one.start()) and DATED.search(text[max(0, one.start() - 20) : one.end()]))
        ]
    if not kept or len(kept) == len(found):
        return text
    starts = {one.start() for one in kept}
    return _DIGITS.sub(lambda one: one[0] if one.start() in starts else "…", text)


def _called(found: re.Match[str]) -> str:
    """Return a number with the word before it, which a small one needs to be the same: `picture 3`, but `2019`."""
    digits = found[0].rstrip(".,")
    before = found.string[max(0, found.start() - 20) : found.start()].casefold().split()
    return digits if _YEAR.fullmatch(digits) else f"{before[-1] if before else ''} {digits}"
