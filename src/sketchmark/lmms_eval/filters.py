"""lmms-eval's filters of replies, which run before `process_results`, and the removal of reasoning.

A filter receives the list of replies of every document, and returns the lists for the next filter.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from string import ascii_uppercase
from typing import Any, ClassVar

THINKING = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
"""Tags that the filter `strip_thinking` removes."""

BEFORE_SCORING = (("<think>", "</think>"), ("<analysis>", "</analysis>"))
"""Tags that are removed from every reply, unless the task file sets `reasoning_tags`."""


def strip_reasoning_tags(text: str, tag_pairs: Sequence[Sequence[str]]) -> str:
    """Remove the text between such tags. A closing tag without an opening one ends reasoning that the prompt
    began. An opening tag without a closing one stays, with all that follows, because the answer cannot be located."""
    for begin, end in tag_pairs:
        kept, at = [], 0
        while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
            kept.append(text[at:start])
            at = stop + len(end)
        text = "".join([*kept, text[at:]])
        if begin not in text:
            text = text.rpartition(end)[2]
    return text.strip()


Replies = Sequence[Sequence[Any]]
Docs = Sequence[Mapping[str, Any]]


class Filter:
    """A filter that changes nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        return resps


class _EachReply(Filter):
    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        return [[self.one(reply) for reply in replies] for replies in resps]

    def one(self, reply: Any) -> Any:
        raise NotImplementedError


class WhitespaceFilter(_EachReply):
    """Removes one space at the beginning."""

    def one(self, reply: str) -> str:
        return reply.removeprefix(" ")


class LowercaseFilter(_EachReply):
    def one(self, reply: str) -> str:
        return reply.lower()


class UppercaseFilter(_EachReply):
    def one(self, reply: str) -> str:
        return reply.upper()


class MapFilter(_EachReply):
    def __init__(self, mapping_dict: Mapping[str, Any] | None = None, default_value: Any = None) -> None:
        self.mapping_dict, self.default_value = dict(mapping_dict or {}), default_value

    def one(self, reply: str) -> Any:
        return self.mapping_dict.get(reply, self.default_value)


class StripThinkingFilter(_EachReply):
    def __init__(self, tag_pairs: Sequence[Sequence[str]] | None = None) -> None:
        self.tag_pairs = tag_pairs or THINKING

    def one(self, reply: Any) -> Any:
        return strip_reasoning_tags(reply, self.tag_pairs) if isinstance(reply, str) else reply


class TakeFirstFilter(Filter):
    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        return [replies[0] if replies else "" for replies in resps]


class TakeKFilter(Filter):
    def __init__(self, k: int) -> None:
        self.k = k

    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        if short := next((replies for replies in resps if len(replies) < self.k), None):
            raise ValueError(f"the first {self.k} of {len(short)} replies")
        return [replies[: self.k] for replies in resps]


class MajorityVoteFilter(Filter):
    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        return [[Counter(replies).most_common(1)[0][0]] for replies in resps]


class RegexFilter(Filter):
    """Finds a pattern in the reply. `group_select` selects one of several matches."""

    def __init__(
        self, regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str = "[invalid]"
    ) -> None:
        self.regex_pattern, self.regex = regex_pattern, re.compile(regex_pattern)
        self.group_select, self.fallback = group_select, fallback

    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        picked = [[self._picked(self.regex, one) for one in replies] for replies in resps]
        return [[self.fallback if one is None else one for one in replies] for replies in picked]

    def _picked(self, regex: re.Pattern[str], reply: str) -> str | None:
        found = regex.findall(reply)
        if not found:
            return None
        one = found[self.group_select]
        return str(next(filter(None, one), "") if isinstance(one, tuple) else one).strip()


class ExtendedRegexFilter(RegexFilter):
    """Base class for filters of tasks: parts to ignore in a comparison, and several patterns in order."""

    def __init__(
        self,
        regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
        group_select: int = 0,
        fallback: str = "[invalid]",
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        regexes_to_ignore: Sequence[str] | None = None,
    ) -> None:
        super().__init__(regex_pattern, group_select, fallback)
        self.ignore_case, self.ignore_punctuation = ignore_case, ignore_punctuation
        self.regexes_to_ignore = regexes_to_ignore

    _punctuation: ClassVar[dict[int, None]] = {}

    @cached_property
    def punct_tbl(self) -> dict[int, None]:
        """Every character that Unicode classifies as punctuation."""
        if not self._punctuation:
            signs = (code for code in range(sys.maxunicode) if unicodedata.category(chr(code)).startswith("P"))
            self._punctuation.update(dict.fromkeys(signs))
        return self._punctuation

    def filter_ignores(self, st: str) -> str:
        for pattern in self.regexes_to_ignore or ():
            st = re.sub(pattern, "", st)
        st = st.lower() if self.ignore_case else st
        return st.translate(self.punct_tbl) if self.ignore_punctuation else st

    def find_match(self, regex: re.Pattern[str], resp: str, convert_dict: Mapping[str, str] | None = None) -> Any:
        """Return the match, or its value in `convert_dict`; an empty list if there is none, as tasks expect."""
        found = self._picked(regex, resp)
        return [] if found is None else (convert_dict or {}).get(found, found)


class MultiChoiceRegexFilter(ExtendedRegexFilter):
    """Finds a letter in brackets, for documents with options under `choices`: by the pattern, otherwise by the
    words of an option, otherwise by a letter after a colon."""

    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        return [
            [self._read(one, doc["choices"]) for one in replies] for replies, doc in zip(resps, docs, strict=False)
        ]

    def _read(self, reply: str, choices: Sequence[str]) -> str:
        letters = [chr(ord("A") + number) for number in range(len(choices))]
        words = [self.filter_ignores(choice.strip()) for choice in choices]
        by_words = re.compile("|".join(map(re.escape, words)))
        after_colon = re.compile(rf":[\s]*({'|'.join(letters)})")
        return (
            self.find_match(self.regex, reply)
            or self.find_match(by_words, self.filter_ignores(reply), _in_brackets(words, letters))
            or self.find_match(after_colon, reply, _in_brackets(letters, letters))
            or self.fallback
        )


def _in_brackets(names: Sequence[str], letters: Sequence[str]) -> dict[str, str]:
    return {name: f"({letter})" for name, letter in zip(names, letters, strict=True)}


class SimpleMultiChoiceRegexFilter(ExtendedRegexFilter):
    """Finds a letter, for documents whose `question` lists its options as `A. …`, one per line: that of the first
    option whose words are in the reply, otherwise the reply without punctuation. One answer per document."""

    _OPTION = re.compile(r"\b[A-Z]\.\s+([^\n]*)")

    def apply(self, resps: Replies, docs: Docs) -> Iterable[Any]:
        return [self._read(replies[0], doc["question"]) for replies, doc in zip(resps, docs, strict=False)]

    def _read(self, reply: str, question: str) -> str:
        options = [words.strip() for words in self._OPTION.findall(question)]
        plain = re.sub(r"[^\w\s]", "", reply).strip()
        found = re.search("|".join(map(re.escape, options)), plain)
        letters = dict(zip(options, ascii_uppercase, strict=False))
        return letters.get(found.group(), plain) if found else plain


FILTERS: dict[str, type[Filter]] = {
    "take_first": TakeFirstFilter,
    "take_first_k": TakeKFilter,
    "majority_vote": MajorityVoteFilter,
    "regex": RegexFilter,
    "multi_choice_regex": MultiChoiceRegexFilter,
    "remove_whitespace": WhitespaceFilter,
    "lowercase": LowercaseFilter,
    "uppercase": UppercaseFilter,
    "map": MapFilter,
    "strip_thinking": StripThinkingFilter,
}
"""As `filter_list` names them."""
