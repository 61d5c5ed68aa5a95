"""What reads a reply or a prompt reads it once: four times the text is about four times the work."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from sketchmark.episode import protocol as combined_prompt
from sketchmark.models.providers.openai_wire import read_chat

READERS: dict[str, Callable[[str], object]] = {
    "chat": lambda text: read_chat({"choices": [{"message": {"content": text}}]}),
    "combined prompt": combined_prompt.split,
}
RUNS = [
    *"![](){}<>\\ \n\"'`*#$/:,.-_0aA",
    "![", "![]", "![](", "![](data:image/", "](data:image/x", "![a](data:image/png;base64,AAAA",
    "[GEN_PROMPT]", "[GEN_PROMPT][/GEN_PROMPT]", "[/GEN_PROMPT][QUESTION]", "[/GEN_PROMPT]  ", "[QUESTION]",
    "[GEN_PROMPT]x[/GEN_PROMPT] [QUESTION]",
]  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_four_times_the_text_is_no_sixteen_times_the_work(name: str) -> None:
    read = READERS[name]
    for run in RUNS:
        for head in ("", "[GEN_PROMPT]", "![a](data:image/"):
            short, long = (head + run * (size // len(run)) for size in (6_000, 24_000))
            ratio = min(_work(read, long) / _work(read, short) for _ in range(3))
            assert ratio < 10, (head, run, ratio)


def _work(read: Callable[[str], object], text: str) -> float:
    """Seconds of this process for one reading, by the shortest of a few."""
    times = []
    for _ in range(5):
        started = time.process_time_ns()
        read(text)
        times.append(time.process_time_ns() - started)
    return min(times) + 5_000  # the clock's own grain


def test_a_picture_in_markdown_is_found_among_brackets_that_are_none() -> None:
    picture = "data:image/png;base64,AAAA"
    reply = read_chat(
        {"choices": [{"message": {"content": f"![ ![a] [b] (c) ![d]({picture}) e ![f](g) ![]({picture})"}}]}
    )
    assert reply.pictures == (picture, picture)
    assert reply.text == "![ ![a] [b] (c)  e ![f](g) "


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[GEN_PROMPT] a {question} [/GEN_PROMPT]\n [QUESTION] b [/QUESTION]", ("a b", "b")),
        ("x[GEN_PROMPT]a[/GEN_PROMPT]b[/GEN_PROMPT][QUESTION]c[/QUESTION]d[/QUESTION]y",
         ("a[/GEN_PROMPT]b", "c[/QUESTION]d")),
        ("[GEN_PROMPT]a[GEN_PROMPT]b[/GEN_PROMPT][QUESTION]c[/QUESTION]", ("a[GEN_PROMPT]b", "c")),
        ("[/QUESTION][GEN_PROMPT]a[/GEN_PROMPT][QUESTION]b", None),
        ("[/GEN_PROMPT][QUESTION]b[/QUESTION][GEN_PROMPT]", None),
        ("[GEN_PROMPT]a[/GEN_PROMPT]b[QUESTION]c[/QUESTION]", None),
    ],
)  # fmt: skip
def test_a_combined_prompt_is_split_at_its_outer_tags(text: str, parts: tuple[str, str] | None) -> None:
    assert combined_prompt.split(text) == parts


def test_what_was_joined_is_split_again() -> None:
    assert combined_prompt.split(combined_prompt.join("draw", "[QUESTION]?[/QUESTION]")) == (
        "draw",
        "[QUESTION]?[/QUESTION]",
    )
