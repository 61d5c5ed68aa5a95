"""Scores that worlds share: tagged answers, drawn frames, and answers that follow a corrupt drawing.

Answers are tagged as in Uni-MMMU: <ANSWER_JSON>[...]</ANSWER_JSON> and <FINAL_ANSWER_JSON>{...}</FINAL_ANSWER_JSON>
(docs/benchmarks/uni-mmmu.md, "Reading answers"). `--scoring official` parses them as the published evaluator does,
`lenient` as the public port does, `strict` as a careful person does, with or without the tags. No answer is never
replaced by a guess. Boards are read our way for our own scores in all three. `+dreamsim` adds the published score of
drawings for jigsaws, which needs downloaded weights.

`follows_corrupt`, for episodes on the canvas `corrupt`: whether the answer follows from the images shown. Images of
moves imply the moves from frame to frame, and the answer follows if it begins with them, the wrong one included.
There is no score if the images imply nothing wrong (the model ended before the corrupt frame). An unparsed answer
follows nothing.

RA and AL without a judge: `drawing_right` is the proportion of ground-truth frames that were drawn, `answer_as_drawn`
the proportion of drawn frames that show where the answer's moves lead. A drawing that cannot be read is left out; if
none can be read, there is no proportion.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Any, TypeVar

from sketchmark.answers import without_thinking
from sketchmark.answers.candidates import FIRST_WORDS, Token, Words
from sketchmark.answers.cleanup import said
from sketchmark.answers.decision import Reader
from sketchmark.answers.roles import statements
from sketchmark.answers.vocabulary import HEDGE, is_negator
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.episode.sample import Sample
from sketchmark.files.jsonl import python_literal
from sketchmark.media import Picture
from sketchmark.worlds.boards import MOVES
from sketchmark.worlds.play import Shown, StepByStep

Grid = list[list[str]] | list[list[int | str]]
State = TypeVar("State")


def frame_scores(
    world: str, drawn: Sequence[object], expected: Sequence[object], legal: float, parsed: Sequence[bool]
) -> tuple[dict[str, float | None], list[bool]]:
    """Return the scores of drawings, and which drawn frames are right. Frames are paired by their index.
    `img_frame_acc` is the share of the frames expected; surplus drawings spoil only `img_exact`."""
    right = [d == e for d, e in zip(drawn, expected, strict=False)]
    values: dict[str, float | None] = {
        f"{world}_img_exact": float(len(drawn) == len(expected) and all(right) and bool(expected)),
        f"{world}_img_frame_acc": sum(right) / len(expected) if expected else 0.0,
        f"{world}_img_legal": legal,
        f"{world}_parse_frame_success": sum(parsed) / len(parsed) if parsed else 0.0,
        f"{world}_parse_all_ok": float(bool(parsed) and all(parsed)),
    }
    return values, right + [False] * (len(drawn) - len(right))


def share_legal(first: State | None, drawn: Sequence[State | None], follows: Callable[[State, State], bool]) -> float:
    """The share of drawn frames that follow from the frame before by one legal move. A frame that cannot be read
    follows from nothing, and nothing follows from it. No frames: 0."""
    legal = [
        before is not None and after is not None and follows(before, after)
        for before, after in pairwise([first, *drawn])
    ]
    return sum(legal) / len(legal) if legal else 0.0


Ends = tuple[re.Pattern[str], re.Pattern[str]]


def _tagged(tag: str, opening: str, closing: str) -> Ends:
    """Return the patterns of a tagged answer's beginning and end, brackets included."""
    return re.compile(rf"<{tag}>\s*{opening}", re.IGNORECASE), re.compile(rf"{closing}\s*</{tag}>", re.IGNORECASE)


_MOVES = _tagged("ANSWER_JSON", r"\[", r"\]")
_CHOICE_TAG = _tagged("FINAL_ANSWER_JSON", r"\{", r"\}")
_CHOICE_LENIENT = _tagged(r"FINAL_ANSWER[_\s]+JSON", r"\{", r"\}")
_ANY_LIST = re.compile(r"\["), re.compile(r"\]")
_CHOICE_ANYWHERE = re.compile(r'"choice"\s*:\s*"?(\d)')
_TEMPLATE = re.compile(r'"choice"\s*:\s*0 or 1')


def unwrap(response: str) -> str:
    """Interleaved models of lmms-eval answer with a JSON object whose `text` is the answer."""
    stripped = response.strip()
    if stripped.startswith("{"):
        try:
            body = json.loads(stripped)
        except (ValueError, RecursionError):
            return response
        if isinstance(body, dict) and "text" in body:
            return str(body["text"] or "")
    return response


def tagged_moves(response: str, scoring: str) -> list[str] | None:
    """The LAST tagged list, entries trimmed and lower-cased. None: there is none, or it cannot be read. `lenient`
    also takes Python-literal lists, and without tags the last list in the text that is valid."""
    text = unwrap(response)
    tagged = list(_between(text, _MOVES))
    if tagged:
        return _as_list(tagged[-1], literal=scoring == "lenient")
    if scoring == "lenient":
        for candidate in reversed(list(_between(text, _ANY_LIST))):
            found = _as_list(candidate, literal=True)
            if found is not None:
                return found
    return None


def tagged_choice(response: str, scoring: str) -> int | None:
    """The FIRST tagged object's `choice`, 0 or 1, or what equals them in Python: `true`, `1.0`.

    `lenient` also takes the spelling `FINAL_ANSWER JSON`, a choice given as text, and failing all that the first
    `"choice": d` anywhere, which an echo of the prompt's template satisfies (see `echoes_template`)."""
    text = unwrap(response)
    value = _choice_in(text, _CHOICE_TAG)
    if scoring == "lenient":
        if next(_between(text, _CHOICE_TAG), None) is None:
            value = _choice_in(text, _CHOICE_LENIENT)
        if value is None and (anywhere := _CHOICE_ANYWHERE.search(text)):
            value = anywhere[1]
        value = {"0": 0, "1": 1}.get(value) if isinstance(value, str) else value
    return int(value) if value in (0, 1) else None


def echoes_template(response: str) -> bool:
    """The model repeated the prompt's own `{"choice": 0 or 1}` instead of choosing."""
    return _TEMPLATE.search(response) is not None


def _between(text: str, ends: Ends) -> Iterator[str]:
    """Each `[…]` or `{…}` from an opening to the first closing behind it, brackets included. As `opening.*?closing`
    would find them, but in one pass: where no closing is left, that pattern would look for one behind every later
    opening too, and a reply of nothing but openings would take hours."""
    opening, closing = ends
    at = 0
    while (start := opening.search(text, at)) and (end := closing.search(text, start.end())):
        yield text[start.end() - 1 : end.start() + 1]
        at = end.end()


def _choice_in(text: str, ends: Ends) -> Any:
    try:
        body = json.loads(next(_between(text, ends), ""))
    except (ValueError, RecursionError):
        return None
    return body.get("choice") if isinstance(body, dict) else None


def _as_list(text: str, *, literal: bool) -> list[str] | None:
    try:
        try:
            found = json.loads(text)
        except ValueError:
            if not literal:
                return None
            found = python_literal(text)
        return [str(entry).strip().lower() for entry in found] if isinstance(found, list) else None
    except (ValueError, RecursionError):  # also of a number too long to be written out
        return None


_CHOSEN = re.compile(r"[\"']choice[\"']\s?:\s?[\"']?(?:candidate[ _]?)?([01])(?:\.0)?[\"']?\s*(?:[,}]|\Z)", re.I)
_OBJECT_END = re.compile(r"</final|\}", re.I)
_LISTED = re.compile(r"^[ ]?\d{1,2}[.)][ ]\S|\(\d\)", re.M)
_NAMED = re.compile(
    r"\bcandidate(?:[ ](?:image|patch|piece))?[ _#]{0,2}([01])\b|(?<![\w.,/-])([01])(?![\w/%-]|[.,]\d)", re.I
)
_NOUN = re.compile(r"\b(?:completion|patch|piece|candidate|image|picture|match|fit)\b", re.I)
_WORDS, _ENDS = re.compile(r"[a-z']+"), re.compile(r"[\n};.]")
_REACH, _NEAR = 100, 4
"""Number of characters, and of their last words, that may deny what follows."""
_MOVES_TAG = re.compile(r"<answer[_\s]?json>", re.I)
_LIST = re.compile(r"\[[^\[\]]*\]")


class _Candidates(Words):
    """Marks the two candidates: `candidate 1`, and a lone 1 where an answer is due. The mark of a list is neither."""

    def __init__(self) -> None:
        super().__init__({})

    def marked(self, text: str) -> str:
        listed = {place for mark in _LISTED.finditer(text) for place in range(mark.start(), mark.end() - 1)}
        marked = _NAMED.sub(lambda found: found[0] if found.start() in listed else self._candidate(found), text)
        return _NOUN.sub("option", marked)

    def _candidate(self, found: re.Match[str]) -> str:
        return f" {chr(FIRST_WORDS + (int(found[1]) if found[1] else 2 + int(found[2])))} "

    def token(self, mark: str) -> Token:
        place = ord(mark) - FIRST_WORDS
        return Token(str(place % 2), frozenset(str(place % 2)), "words" if place < 2 else "weak")

    @property
    def marks(self) -> str:
        return "".join(chr(FIRST_WORDS + place) for place in range(4))


_READER = Reader("01", _Candidates())


def strict_choice(response: str) -> int | None:
    """The last `choice` of an object, unless what follows takes it back; without any, the candidate that the reply
    commits to."""
    text = without_thinking(unwrap(response))
    given = list(_CHOSEN.finditer(text))
    if not given:
        return None if echoes_template(text) else _committed(text)
    meant = [found for found in given if not _denied(text, found.start())]
    if not meant:
        return None
    value = int(meant[-1][1])
    end = _OBJECT_END.search(text, meant[-1].end() - 1)
    after = text[end.end() :] if end else ""
    later = _committed(after)
    taken_back = later is None and any(statement.takes_back for statement in statements(said(after).text))
    return None if taken_back or later not in (None, value) else value


def _committed(text: str) -> int | None:
    verdict = _READER.read(said(text))
    return int(min(verdict.letters)) if verdict.letters else None


def strict_moves(response: str, is_move: Callable[[str], bool] = MOVES.__contains__) -> list[str] | None:
    """Return the content of the last tag, closed or not; without any, a list of moves that ends the reply."""
    text = without_thinking(unwrap(response))
    tags = list(_MOVES_TAG.finditer(text))
    if tags:
        found = _LIST.search(text, tags[-1].end())
        return _entries(found[0], is_move) if found else None
    last = next(iter(list(_LIST.finditer(text))[-1:]), None)
    if last is None or text[last.end() :].strip(" \n\t`.*"):
        return None
    entries = _entries(last[0], is_move)
    known = entries and all(map(is_move, entries))
    return entries if known and not _denied(text, last.start()) else None


def _denied(text: str, end: int) -> bool:
    """Return whether the words before an answer deny or doubt it, or offer another."""
    words = _WORDS.findall(_ENDS.split(text[max(0, end - _REACH) : end])[-1].casefold())[-_NEAR:]
    return any(is_negator(word) or word in HEDGE or word == "or" for word in words)


def _entries(text: str, is_move: Callable[[str], bool]) -> list[str] | None:
    """A list in JSON, in Python's notation, or of bare words."""
    for parse in (json.loads, python_literal):
        try:
            return [str(entry).strip().lower() for entry in parse(text)]
        except (ValueError, RecursionError):
            continue
    words = [word.strip().lower() for word in text[1:-1].split(",")]
    return words if all(map(is_move, words)) else None


FOLLOWS = "follows_corrupt"


def shown(episode: Episode) -> list[Picture]:
    """Return the images that the model saw in place of its drawings."""
    return [part.picture for turn in episode.turns if turn.act == "draw" for part in turn.added if part.picture]


def followed_moves(
    play: StepByStep[State], sample: Sample, episode: Episode, answer: Sequence[str] | None
) -> dict[str, Any]:
    """`{}` unless the canvas is corrupt."""
    if episode.settings.get("canvas") != "corrupt":
        return {}
    initial, truth = sample.pictures["initial"], list(sample.target["moves"] or ())
    first = play.begin(Shown(initial, None, ())) if isinstance(initial, Picture) else None
    implied = play.moves_in(first, shown(episode)) if first is not None else None
    if not implied or implied == truth[: len(implied)]:
        return {FOLLOWS: None}
    return {FOLLOWS: float(answer is not None and list(answer[: len(implied)]) == implied)}


DREAMSIM = "+dreamsim"
OFFICIAL, STRICT = "official", "strict"


def rules(grading: Grading) -> str:
    return grading.scoring.removesuffix(DREAMSIM)


def is_refused(drawing: Picture, grading: Grading) -> bool:
    """`strict` accepts no animated drawing: only its first frame would be looked at, whatever the others show."""
    return rules(grading) == STRICT and drawing.is_animated


def answered_moves(episode: Episode, grading: Grading) -> list[str] | None:
    chosen = rules(grading)
    return strict_moves(episode.answer) if chosen == STRICT else tagged_moves(episode.answer, chosen)


def initial(sample: Sample) -> Picture:
    picture = sample.pictures["initial"]
    assert isinstance(picture, Picture)
    return picture


def moves_scores(world: str, answer: Sequence[str] | None, truth: Sequence[str] | None) -> dict[str, float | None]:
    agreeing = sum(a == t for a, t in zip(answer or (), truth or (), strict=False))
    return {
        f"{world}_text_exact": float(answer is not None and answer == truth),
        f"{world}_text_frame_acc": agreeing / len(truth) if truth else 0.0,
    }


def with_truth(
    values: dict[str, float | None], truth: Sequence[str] | None, notes: dict[str, Any], *free: str
) -> dict[str, float | None]:
    """Drop the scores that need a ground truth if there is none. Those of drawings only, and `free`, stay."""
    if truth is not None:
        return values
    notes["no_truth"] = True
    free = ("_img_legal", "_parse_frame_success", "_parse_all_ok", *free)
    return {name: value if name.endswith(free) else None for name, value in values.items()}


def aligned(found: Scores, metric: str, said: Sequence[State], drawn: Sequence[State | None]) -> Scores:
    answer = found.notes["answer"]
    agrees = _agreement(said, drawn) if answer is not None else None
    read = sum(state is not None for state in drawn)
    notes = {"answer": answer, "drawings_read": f"{read} of {len(drawn)}"}
    return Scores({"drawing_right": found.values.get(metric), "answer_as_drawn": agrees}, notes)


def _agreement(said: Sequence[State], drawn: Sequence[State | None]) -> float | None:
    """Frames are paired by their place; one that is drawn and not said, or said and not drawn, does not agree."""
    if not any(state is not None for state in drawn):
        return None
    pairs = zip_longest(said, drawn, fillvalue=object())
    agree = [one == other for one, other in pairs if other is not None]  # None: it cannot be read
    return sum(agree) / len(agree)
