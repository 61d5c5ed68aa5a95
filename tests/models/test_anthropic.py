"""The Anthropic adapter and the real SDK, over real HTTP."""

from __future__ import annotations

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.errors import CannotPlay
from sketchmark.models.providers.anthropic import Anthropic
from tests.models.fake_server import KEY, FarEnd, Fault, anthropic_answer, picture

EIGHT = [picture(shade) for shade in range(8)]


def anthropic(far: FarEnd, **args: bool) -> Anthropic:
    return Anthropic("claude-x", base_url=far.url, max_retries=1, **args)


async def test_eight_pictures_are_sent_in_order_among_the_texts(far: FarEnd) -> None:
    reply = await anthropic(far).say(of("Look:", *EIGHT, "Which?"), Options(max_new_tokens=64))
    seen = far.seen[0]
    assert seen.path == "/v1/messages"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.pictures == EIGHT
    assert [block["type"] for block in seen.body["messages"][0]["content"]] == ["text", *["image"] * 8, "text"]
    assert seen.body | {"messages": 0} == {"model": "claude-x", "max_tokens": 64, "messages": 0}
    assert (reply.text, reply.finish, reply.left_out) == ("left", "stop", ())
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_in) == (11, 5, 8)


async def test_turns_alternate_and_an_empty_text_is_left_out(far: FarEnd) -> None:
    context = Context((Part("Plan."), Part("Left.", by="model"), Part(EIGHT[0], by="model"), Part(" "), Part("So?")))
    reply = await anthropic(far).say(context, Options())
    assert [message["role"] for message in far.seen[0].body["messages"]] == ["user", "assistant", "user"]
    assert far.seen[0].body["max_tokens"] == 4096
    assert reply.left_out == ("1 empty text",)


async def test_a_temperature_is_sent_only_on_request(far: FarEnd) -> None:
    await anthropic(far, send_temperature=True).say(of("?"), Options(temperature=0.5))
    assert far.seen[0].body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("text", "stop", "finish"),
    [
        ("so far", "max_tokens", "length"),
        ("", "refusal", "refused"),
        ("", "end_turn", "empty"),
        ("x", "end_turn", "stop"),
    ],
)
async def test_the_end_of_a_reply_is_recorded_as_what_it_is(far: FarEnd, text: str, stop: str, finish: str) -> None:
    far.answer = anthropic_answer(text, stop)
    assert (await anthropic(far).say(of("?"), Options())).finish == finish


async def test_an_overloaded_server_is_tried_again_by_us_not_by_the_sdk(far: FarEnd) -> None:
    far.faults = [Fault(529, {"Retry-After": "0"})]
    assert (await anthropic(far).say(of("?"), Options())).text == "left"
    assert len(far.seen) == 2


async def test_it_does_not_draw(far: FarEnd) -> None:
    assert not anthropic(far).abilities.draw
    with pytest.raises(CannotPlay):
        await anthropic(far).draw(of("?"), Options())
