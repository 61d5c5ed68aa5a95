"""Parsing time grows no faster than the text: replies are untrusted, and a slow parser would block the event loop.

Each parser is timed at one length and at four times that length, in CPU time of this thread, so that a busy machine
does not matter. Linear work gives a ratio of about 4 and quadratic work 16; the bound is between. A ratio above the
bound is measured again and the least counts. Times below `NOTHING` at the full length pass. For the strict parsers,
steps are counted too: see `_steps`. `python -m tests.answers.test_growth` prints them.
"""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sketchmark
from sketchmark.errors import SketchmarkError
from sketchmark.serve.bodies import WireError
from tests.answers.parsers import PARSERS, WITHOUT, Read

LENGTH, LENGTH_OF_SLOW = 4_000, 1_000
"""The strict parsers do more work per character: shorter texts keep their tests under two seconds."""
SLOW = 0.001
"""Seconds of CPU for `LENGTH_OF_SLOW` characters of prose."""
NOTHING = 0.002
"""Seconds of CPU at the full length that need no second look. The mildest quadratic parser took 0.004."""

MOST = 9.0

_SIGNS = [*"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \n\t0a", "A", "é", "答"]
# fmt: off
_PIECES = [
    "![", "](", "{}", "[]", "[1,", "[[1],", '{"a":', "\\text{", "\\boxed{", "(A)", "A ", "A. ", "\nA: ", "B) ",
    "0,", "000,", "1.", "1e", "-1 ", "a.b", "x-", "is ", "so ", "= ", "\n1. ", "``", "`a", "$a", "yes ", "no/",
    "<answer>", "</answer>", "<ANSWER_JSON>[", "]</ANSWER_JSON>", "<FINAL_ANSWER JSON>{", '"choice":', "<think>",
    "</think>", "answer is ", "answer: ", "not A ", "A or ", "heart ", "not the heart. ", "from ", "Image 1: ",
    "number = two, subject = ", "[GEN_PROMPT]", "[QUESTION]", "<image 1>", "{ask}", "{{x}}", "\\frac{", "3√2/",
    "Final answer: ", "<RENDER_SUMMARY>", "<OUTPUT_PROMPT>", "url(", "<g a='1'>", "答案: ", "- ", "a: ", "&a ",
    "up, ", "Answer Choices:", "retryDelay': '1",
]
# fmt: on
_OPENINGS = ["```", "<ANSWER_JSON>[", "<FINAL_ANSWER_JSON>{", "\\boxed{", "<answer>", "<think>", "![", "answer is"]
_OPENINGS += ["Image 1:", "number = ", "A", '{"text": "', "1", "[GEN_PROMPT]", "retryDelay': '"]
_BEHIND_OPENINGS = ' \n0a[{]`*"-'


def _texts(length: int) -> Iterator[str]:
    for piece in (*_SIGNS, *_PIECES):
        yield piece * (length // len(piece))
    for sign in _SIGNS:
        yield f"x{sign * length}\0"
    for opening in _OPENINGS:
        for sign in _BEHIND_OPENINGS:
            yield f"{opening}{sign * length}!"


def _work(read: Read, text: str) -> float:
    start = time.thread_time()
    with suppress(SketchmarkError, WireError):  # refusals; any other error fails the test
        read(text)
    return time.thread_time() - start


def _growth(read: Read, short: str, long: str) -> float:
    """Least ratio of the work for the long text to the work for the short one."""
    once = _work(read, long)
    if once < NOTHING:
        return 1.0
    growth = once / _work(read, short)
    for _ in range(3):
        if growth < MOST:
            break
        growth = min(growth, _work(read, long) / min(_work(read, short) for _ in range(5)))
    return growth


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
def test_the_work_grows_no_faster_than_the_text(parser: str) -> None:
    read = PARSERS[parser]
    _work(read, "A first call loads and compiles.")
    prose = "The answer is not clear. " * (LENGTH_OF_SLOW // 25)
    slow = min(_work(read, prose) for _ in range(3)) > SLOW
    gc.disable()
    try:
        for short, middle, long in zip(*map(_texts, (LENGTH_OF_SLOW // 4, LENGTH_OF_SLOW, LENGTH)), strict=True):
            enough = slow or _work(read, middle) > NOTHING  # a text that costs a fourth shows it as well
            growth = _growth(read, short, middle) if enough else _growth(read, middle, long)
            assert growth < MOST, f"{long[:24]!r}…: four times the text takes {growth:.0f} times the work"
    finally:
        gc.enable()


STRICT = ("answers.choices: one", "answers.numbers", "answers.findings", "answers.phrases")
_REPEATED = (
    *(
        "A|B|",
        "is B ",
        "A ",
        "(A) ",
        "A. ",
        "A: ",
        "\nA. heart",
        "A because ",
        "A... no, ",
        "A (25%), ",
        "❌ A ",
        "| A | ",
    ),
    *("heart ", "not heart ", "left lung, ", "chest wall or ", "the heart is ", "heart\n", "no finding ", "left "),
    *("yes ", "no, ", "yes or ", "there is ", "7 ", "7, ", "7 + ", "one ", "twenty ", "it is 7. ", "1. "),
    *(
        '"A" ',
        "Sorry, A. ",
        "Oh no, A! ",
        "I hope this A. ",
        "> A\n",
        "12.480 ",
        "7 of 9 ",
        "heart lung ",
        "heart and lung ",
    ),
    *("- [x] A\n", '"answer": "A", ', '{"answer": "A"} ', 'finish("A") ', "~~A~~ ", "<think>", "if ", "("),
)
"""Tokens of options, answers and wrappers; each is repeated to fill a text."""
MOST_STEPS = 300
"""Lines of Python per character of a reply. The most measured: 193, for numbers in `1. 1. 1. …`."""


def _steps(read: Read, text: str) -> int:
    """Count the lines of Python that a parser executes: the same on every machine, however busy."""
    count = 0

    def step(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        read(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("parser", STRICT)
def test_the_steps_of_a_strict_parser_grow_no_faster_than_the_text(parser: str) -> None:
    read = PARSERS[parser]
    read("A first call loads and compiles: yes, 7 hearts.")
    for token in _REPEATED:
        short, long = (_steps(read, token * (length // len(token))) for length in (400, 1_600))
        assert long < 5 * short + 2_000, f"{token!r}: {short} steps for 400 characters, {long} for 1,600"
        assert long < MOST_STEPS * 1_600, f"{token!r}: {long / 1_600:.0f} steps per character"


_DEEP, _DIGITS = "[" * 10_000, "9" * 5_000
_HARD = ["", "\0", "\ud800", "1e999", "-1e999", "nan", "1/0", "['\\d']", "[1if 1else 2]", "retryDelay': '1.2.3s'"]
_HARD += ["İLK BAKIŞTA B", "sıx", "nİne poİnt sİx", "ONE THİRD", "halF a mİllİon", "two fıfths", "ſix", "5 \u212a"]
_HARD += [_DIGITS, f"-{_DIGITS}.{_DIGITS}", f"1/{_DIGITS}", f"{_DIGITS}/3", f"{'9' * 4_000}/3", f"<image {_DIGITS}>"]
_HARD += [f"[{_DIGITS}]", f"[0x{_DIGITS}]", f'{{"choice": {_DIGITS}}}', f"retryDelay': '{_DIGITS}s'", _DEEP]
_HARD += [
    '{"a":' * 5_000,
    '{"text":' * 5_000,
    "(" * 5_000,
    "[{1:" * 5_000,
    f"[{'-' * 5_000}1]",
    f"[{'1+' * 20_000}1]",
]
_HARD += [f"<ANSWER_JSON>{inner}</ANSWER_JSON>" for inner in (f"[{_DIGITS}]", f"[0x{_DIGITS}]", f"{_DEEP}]")]
_HARD += [f"<FINAL_ANSWER_JSON>{'{' * 10_000}}}</FINAL_ANSWER_JSON>", "\\text{" * 1_000 + "A" + "}" * 1_000]


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
def test_no_text_crashes_a_parser(parser: str) -> None:
    """Nesting too deep for Python, numbers too long for it, half a character, and an empty text."""
    for text in _HARD:
        _work(PARSERS[parser], text)


def test_every_module_that_parses_text_is_in_the_table() -> None:
    """Add a new one to `PARSERS`, or to `WITHOUT` with the reason why its input is bounded or trusted."""
    root = Path(sketchmark.__file__).parent
    names = (".".join(path.relative_to(root).with_suffix("").parts) for path in root.rglob("*.py") if _parses(path))
    found = {name.removesuffix(".__init__") for name in names}
    listed = {name.partition(":")[0] for name in PARSERS}
    assert found - listed - WITHOUT.keys() == set()
    assert WITHOUT.keys() - found == set() and WITHOUT.keys().isdisjoint(listed)


def _parses(path: Path) -> bool:
    """Return whether a module uses `re`, `difflib` or a parser of JSON or Python."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = node.module if isinstance(node, ast.ImportFrom) else None
        if {module, *names} & {"re", "difflib"}:
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("loads", "literal_eval"):
            return True
    return False


def _table() -> Iterator[str]:
    """Yield steps per character at 400 and 1,600 characters, for each repeated token and strict parser."""
    yield f"{'token':18}" + "".join(f"{name.removeprefix('answers.'):>22}" for name in STRICT)
    for token in _REPEATED:
        cells = []
        for name in STRICT:
            lengths = (400, 1_600)
            short, long = (_steps(PARSERS[name], token * (length // len(token))) / length for length in lengths)
            cells.append(f"{short:>10.0f}{long:>12.0f}")
        yield f"{token!r:18}" + "".join(cells)


if __name__ == "__main__":
    sys.stdout.write("\n".join((*_table(), "")))
