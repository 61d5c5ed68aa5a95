"""Texts and images of a context laid out for a provider, arguments read, replies and prompts read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sketchmark import Context, Model, Options
from sketchmark.episode import protocol
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput
from sketchmark.models.arguments import Arguments
from sketchmark.models.layout import as_prompt, messages, newest_pictures, system_as_user, without_empty_texts
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.hf import render
from sketchmark.models.providers.openai_wire import read_chat
from tests.core.helpers import colour
from tests.models.asking import openai
from tests.models.fake_server import FarEnd, anthropic_answer, picture
from tests.tabled import tabled

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


@tabled
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


@tabled
def test_a_combined_prompt_is_split_at_its_outer_tags(text: str, parts: tuple[str, str] | None) -> None:
    assert protocol.split(text) == parts


# A judge's system message goes where the API has a place for one, and to the user elsewhere.


ASKED = of("Be strict.", by="system") + of("Is it right?", picture(1)).parts
Found = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("make", "answer", "system", "user"),
    [
        (openai, None, lambda body: body["messages"][0], lambda body: body["messages"][1]["role"]),
        (
            lambda far: Anthropic("m", base_url=far.url, max_retries=0),
            anthropic_answer("yes"),
            lambda body: {"role": "system", "content": body["system"]},
            lambda body: body["messages"][0]["role"],
        ),
        (
            lambda far: Gemini("m", base_url=far.url, max_retries=0),
            None,
            lambda body: {"role": "system", "content": body["systemInstruction"]["parts"][0]["text"]},
            lambda body: body["contents"][0]["role"],
        ),
    ],
    ids=["openai", "anthropic", "gemini"],
)
async def test_a_system_text_is_a_system_message(
    far: FarEnd, make: Callable[[FarEnd], Model], answer: object, system: Found, user: Found
) -> None:
    far.answer = answer
    model = make(far)
    await model.say(ASKED, Options(max_new_tokens=9))
    await model.close()
    [seen] = far.seen
    assert system(seen.body) == {"role": "system", "content": "Be strict."}
    assert user(seen.body) == "user" and len(seen.pictures) == 1


async def test_without_one_nothing_is_sent_in_its_place(far: FarEnd) -> None:
    far.answer = anthropic_answer("yes")
    model = Anthropic("m", base_url=far.url, max_retries=0)
    await model.say(of("Hm?"), Options(max_new_tokens=9))
    await model.close()
    assert "system" not in far.seen[0].body


class Processor:
    """A chat template that knows the roles it is made with."""

    def __init__(self, *roles: str) -> None:
        self.roles = roles

    def apply_chat_template(self, chat: list[dict[str, Any]], **settings: Any) -> str:
        if unknown := [message["role"] for message in chat if message["role"] not in self.roles]:
            raise ValueError(f"System role not supported: {unknown}")
        return " ".join(f"{message['role']}:{len(message['content'])}" for message in chat)


def test_a_template_that_knows_no_system_message_gets_its_text_from_the_user() -> None:
    assert render(Processor("system", "user"), ASKED) == "system:1 user:2"
    assert render(Processor("user"), ASKED) == "user:3"


def test_equal_texts_of_other_authors_are_other_contexts() -> None:
    plain: Context = system_as_user(ASKED)
    assert [message.role for message in messages(ASKED)] == ["system", "user"]
    assert [message.role for message in messages(plain)] == ["user"] and plain.key() != ASKED.key()
