"""A judge's system message goes where the API has a place for one, and to the user elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sketchmark import Context, Model, Options
from sketchmark.episode.sample import of
from sketchmark.models.layout import messages, system_as_user
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.hf import render
from tests.models.asking import openai
from tests.models.fake_server import FarEnd, anthropic_answer, picture

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
