"""Texts and images of a context laid out for a provider, arguments read, replies and prompts read."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark import Context
from sketchmark.episode import protocol
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput
from sketchmark.models.arguments import Arguments
from sketchmark.models.layout import as_prompt, newest_pictures, without_empty_texts
from sketchmark.models.providers.openai_wire import read_chat
from tests.core.helpers import colour

RED, BLUE, LIME = colour("red"), colour("blue"), colour("lime")
UNPLACED = ("where the pictures were among the texts: the image API takes one prompt",)


@pytest.mark.parametrize(
    ("context", "left_out"),
    [
        *((of(*parts), UNPLACED) for parts in (
            ("a", RED, "b"), ("a", RED, BLUE, "b"), (RED, "a", BLUE, "b"), ("a", "b", RED, "c", BLUE), ("a", RED, ""),
        )),
        *((of(*parts), ()) for parts in (
            (), ("a",), ("a", "b"), (RED, BLUE), (RED, BLUE, "a", "b"), ("a", RED),
        )),
    ],
)  # fmt: skip
def test_an_image_between_texts_loses_its_place_in_a_prompt(context: Context, left_out: tuple[str, ...]) -> None:
    assert as_prompt(context) == ("\n\n".join(context.texts), left_out)


@pytest.mark.parametrize(
    ("most", "kept", "left_out"),
    [
        (4, ("a", RED, "b", BLUE, "c", LIME), ()),
        (3, ("a", RED, "b", BLUE, "c", LIME), ()),
        (2, ("a", "b", BLUE, "c", LIME), ("1 of 3 pictures: it, the newest 2 were sent",)),
        (1, ("a", "b", "c", LIME), ("2 of 3 pictures: it, the newest was sent",)),
        (0, ("a", "b", "c"), ("3 of 3 pictures: it",)),
    ],
)
def test_the_newest_images_are_kept_among_all_texts_and_the_others_are_counted(
    most: int, kept: tuple[Any, ...], left_out: tuple[str, ...]
) -> None:
    assert newest_pictures(of("a", RED, "b", BLUE, "c", LIME), most, "it") == (of(*kept), left_out)


def test_empty_texts_are_left_out_and_counted() -> None:
    assert without_empty_texts(of("a", " \n", RED)) == (of("a", RED), ("1 empty text",))
    assert without_empty_texts(of("", "a", " ")) == (of("a"), ("2 empty texts",))
    assert without_empty_texts(of("a", RED)) == (of("a", RED), ())


# Arguments


def test_values_read_the_same_as_text_and_as_python() -> None:
    for given in ({"n": 3, "x": 0.5, "on": True}, {"n": "3", "x": "0.5", "on": "true"}):
        args = Arguments("m", given)
        assert (args.whole("n", 1), args.number("x"), args.flag("on", False)) == (3, 0.5, True)
        args.refuse_unknown()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"n": "three"}, "n=three is not a number"),
        ({"n": 2.5}, "n=2.5 is not a whole number"),
        ({"x": 0}, "x=0.0 is not a number above 0"),
        ({"on": "perhaps"}, "on=perhaps is not true or false"),
        ({"way": "up"}, "way=up is not left or right"),
        ({"wya": "left"}, r"m takes no argument wya \(it takes: n, on, way, x\)"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(given: dict[str, str], complaint: str) -> None:
    args = Arguments("m", given)
    with pytest.raises(BadInput, match=complaint):
        args.whole("n", 1)
        args.above_zero("x")
        args.flag("on", False)
        args.choice("way", ("left", "right"))
        args.refuse_unknown()


# Replies and prompts


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
    assert protocol.split(text) == parts
