"""litellm's own client and checks against our server: chat, drawings in every shape it reads, and responses.

It pins an older OpenAI SDK, so it has a separate environment (`make test-litellm`)."""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from sketchmark.media import Picture
from sketchmark.serve import serving
from tests.serve.models import Mirror, Painter, painted

pytestmark = pytest.mark.litellm

RED = painted("red")


@pytest.fixture(scope="module")
def litellm() -> Any:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it asks the network for prices when it is imported
    import litellm

    return litellm


@pytest.fixture(scope="module")
def there() -> Iterator[dict[str, str]]:
    with serving(Mirror()) as url:
        yield {"model": "openai/mirror", "api_base": url, "api_key": "any"}


def shown() -> Any:
    image = {"type": "image_url", "image_url": {"url": RED.data_url}}
    return [{"role": "user", "content": [{"type": "text", "text": "turn it"}, image]}]


def is_red(encoded: str) -> bool:
    picture = Picture.from_bytes(base64.b64decode(encoded.rpartition(",")[2]))
    return picture.image().getpixel((0, 0)) == (255, 0, 0)


def test_a_chat_returns_a_text(litellm: Any, there: dict[str, str]) -> None:
    said = litellm.completion(messages=shown(), **there).choices[0].message.content
    assert json.loads(said)["parts"] == [["task", "text", "turn it"], ["task", "picture", RED.identity]]


def test_a_drawing_in_chat_has_text_and_images(litellm: Any, there: dict[str, str]) -> None:
    message = litellm.completion(messages=shown(), modalities=["image", "text"], **there).choices[0].message
    assert json.loads(message.content)["parts"][0] == ["task", "text", "turn it"]
    [image] = message.images
    assert is_red(image["image_url"]["url"])


def test_an_image_without_text_is_returned_for_both_modalities(litellm: Any) -> None:
    with serving(Painter(RED)) as url:
        where = {"model": "openai/painter", "api_base": url, "api_key": "any"}
        message = litellm.completion(messages=shown(), modalities=["image", "text"], **where).choices[0].message
    assert not message.content and [is_red(image["image_url"]["url"]) for image in message.images] == [True]


def test_a_drawing_that_it_sends_back_is_heard(litellm: Any, there: dict[str, str]) -> None:
    drawn = litellm.completion(messages=shown(), modalities=["image", "text"], **there).choices[0].message
    for given in (drawn, drawn.model_dump()):
        said = litellm.completion(messages=[*shown(), given], **there).choices[0].message.content
        assert json.loads(said)["parts"][-1] == ["model", "picture", RED.identity]


def test_a_stream_holds_a_drawing(litellm: Any, there: dict[str, str]) -> None:
    chunks = litellm.completion(messages=shown(), modalities=["image", "text"], stream=True, **there)
    images = [image for chunk in chunks for image in getattr(chunk.choices[0].delta, "images", None) or ()]
    assert [is_red(image["image_url"]["url"]) for image in images] == [True]


def test_an_edit_passes_its_checks(litellm: Any, there: dict[str, str]) -> None:
    answer = litellm.image_edit(image=io.BytesIO(RED.data), prompt="turn it", **there)
    assert is_red(answer.data[0].b64_json)
    assert answer.usage.input_tokens == 3 and answer.usage.input_tokens_details["text_tokens"] == 3


def test_a_generation_passes_its_checks(litellm: Any, there: dict[str, str]) -> None:
    assert is_red(litellm.image_generation(prompt="red", **there).data[0].b64_json)


def test_responses_say_and_draw(litellm: Any, there: dict[str, str]) -> None:
    [message] = litellm.responses(input="hello", **there).output
    assert json.loads(message.content[0].text)["parts"] == [["task", "text", "hello"]]
    tool = {"type": "image_generation"}
    drawn, _ = litellm.responses(input="red", tools=[tool], tool_choice=tool, **there).output
    assert drawn.type == "image_generation_call" and is_red(drawn.result)
