from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from sketchmark.media import Picture
from sketchmark.serve import serving
from sketchmark.serve.pictures import PictureShelf
from tests.serve.models import Mirror, Painter, painted

RED, BLUE = painted("red"), painted("blue")


class Recorder(Mirror):
    """A mirror that keeps what it was last asked to draw."""

    seen: Any = None

    async def draw(self, context: Any, options: Any) -> Any:
        reply = await super().draw(context, options)
        self.seen = json.loads(reply.text)
        return reply


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def client(recorder: Recorder) -> Iterator[openai.OpenAI]:
    with serving(recorder) as url:
        yield openai.OpenAI(base_url=url, api_key="any", max_retries=0)


def drawn(answer: Any) -> Picture:
    return Picture.from_bytes(base64.b64decode(answer.data[0].b64_json))


def test_an_edit_sees_one_picture_then_the_prompt(client: openai.OpenAI, recorder: Recorder) -> None:
    answer = client.images.edit(model="m", image=("a.png", RED.data, "image/png"), prompt="turn", size="1024x1024")
    assert drawn(answer).image().getpixel((0, 0)) == (255, 0, 0)
    assert recorder.seen["parts"] == [["task", "picture", RED.identity], ["task", "text", "turn"]]
    assert recorder.seen["options"]["extra"] == {"size": "1024x1024"}
    assert answer.usage is not None and answer.usage.total_tokens == 12


def test_an_edit_sees_all_its_pictures_in_order(client: openai.OpenAI, recorder: Recorder) -> None:
    files: Any = [("a.png", RED.data, "image/png"), ("b.png", BLUE.data, "image/png"), ("c.png", RED.data)]
    client.images.edit(model="m", image=files, prompt="mix")
    assert [part[2] for part in recorder.seen["parts"]] == [RED.identity, BLUE.identity, RED.identity, "mix"]


def test_a_generation_sees_the_prompt_alone(client: openai.OpenAI, recorder: Recorder) -> None:
    assert drawn(client.images.generate(model="m", prompt="a red square")).size == (4, 4)
    assert recorder.seen["parts"] == [["task", "text", "a red square"]]


def test_an_address_can_be_asked_for_and_leads_to_the_picture(client: openai.OpenAI) -> None:
    answer = client.images.generate(model="m", prompt="x", response_format="url")
    assert answer.data and answer.data[0].url and answer.data[0].b64_json is None
    fetched = httpx.get(answer.data[0].url)
    assert fetched.headers["content-type"] == "image/png"
    assert Picture.from_bytes(fetched.content).size == (4, 4)


def test_the_shelf_keeps_only_the_newest_pictures() -> None:
    shelf = PictureShelf(room=1)
    shelf.put(RED)
    shelf.put(BLUE)
    assert shelf.get(BLUE.digest) == BLUE
    with pytest.raises(Exception, match="no such picture"):
        shelf.get(RED.digest)


def test_a_bad_request_for_a_picture_is_a_400(client: openai.OpenAI) -> None:
    image = ("a.png", RED.data, "image/png")
    attempts: list[Any] = [
        lambda: client.images.generate(model="m", prompt=""),
        lambda: client.images.generate(model="m", prompt="x", n=2),
        lambda: client.images.generate(model="m", prompt="x", extra_body={"response_format": "gif"}),
        lambda: client.images.edit(model="m", image=("a.txt", b"no picture"), prompt="x"),
        lambda: client.images.edit(model="m", image=image, mask=image, prompt="x"),
        lambda: client.images.edit(model="m", image=image, prompt=""),
    ]
    for attempt in attempts:
        with pytest.raises(openai.BadRequestError):
            attempt()
    assert httpx.post(f"{client.base_url}images/edits", json={"prompt": "x"}).status_code == 415
    assert httpx.post(f"{client.base_url}images/edits", files={"prompt": (None, "x")}).status_code == 400


def test_a_stream_of_pictures_is_refused_instead_of_being_empty(client: openai.OpenAI, recorder: Recorder) -> None:
    image = ("a.png", RED.data, "image/png")
    attempts: list[Any] = [
        lambda stream: client.images.generate(model="m", prompt="x", stream=stream),
        lambda stream: client.images.edit(model="m", image=image, prompt="x", stream=stream),
    ]
    for attempt in attempts:
        with pytest.raises(openai.BadRequestError, match="does not stream pictures") as raised:
            attempt(True)
        assert (raised.value.param, recorder.seen) == ("stream", None)
    for attempt in attempts:
        assert attempt(False).data and recorder.seen["options"]["extra"] == {}


def test_a_picture_where_it_would_not_be_looked_at_is_refused(client: openai.OpenAI) -> None:
    for extra in ({"image": RED.data_url}, {"image[]": [RED.data_url]}):
        with pytest.raises(openai.BadRequestError, match="as files"):
            client.images.generate(model="m", prompt="x", extra_body=extra)
    form = {"image": ("a.png", RED.data, "image/png")}
    sent = httpx.post(f"{client.base_url}images/edits", data={"prompt": "x", "image[]": RED.data_url}, files=form)
    assert (sent.status_code, sent.json()["error"]["param"]) == (400, "image[]")


def test_a_refused_picture_is_blocked_by_moderation() -> None:
    with serving(Painter(None, "refused")) as url, pytest.raises(openai.BadRequestError) as raised:
        openai.OpenAI(base_url=url, api_key="any").images.generate(model="m", prompt="x")
    assert raised.value.code == "moderation_blocked"


def test_a_model_that_draws_nothing_gives_no_data() -> None:
    with serving(Painter(None, "no_picture")) as url:
        assert openai.OpenAI(base_url=url, api_key="any").images.generate(model="m", prompt="x").data == []
