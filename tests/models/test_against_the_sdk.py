"""Every kind of request, on the wire: ours is what OpenAI's own SDK sends for the same arguments."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from email import message_from_bytes
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI

from sketchmark.episode.model import Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.media import Picture
from sketchmark.models.call import Call
from sketchmark.models.providers import bagel
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.batch import connect
from sketchmark.models.providers.openai import OpenAI
from tests.core.hearing import tone
from tests.models.fake_server import DRAWN, KEY, chat_answer, in_base64, picture, picture_block

RELEVANT = (
    "host", "authorization", "api-key", "accept", "openai-organization", "openai-project",
    "x-ms-oai-image-generation-deployment",
)  # fmt: skip
ANSWER = {
    **chat_answer({"role": "assistant", "content": [picture_block(DRAWN)]}),
    "data": [{"b64_json": in_base64(DRAWN)}],
    "status": "completed",
    "output": [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": in_base64(DRAWN)}],
}


@dataclass(frozen=True)
class Request:
    """What of a request can matter to a server."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: Any


class Recorder(ThreadingHTTPServer):
    requests: list[Request]
    daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Recorder

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        assert "transfer-encoding" not in headers
        data = self.rfile.read(int(headers.get("content-length", 0)))
        url = urlsplit(self.path)
        relevant = {name: headers[name] for name in RELEVANT if name in headers}
        body = _read(headers.get("content-type", ""), data)
        self.server.requests.append(Request(self.command, url.path, parse_qsl(url.query), relevant, body))
        sent = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _read(content_type: str, data: bytes) -> Any:
    kind = content_type.partition(";")[0]
    if kind == "application/json":
        return kind, json.loads(data)
    if kind == "multipart/form-data":
        whole = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + data, policy=HTTP)
        return kind, [
            (part.get_param("name", header="content-disposition"), part.get_filename(), part["content-type"],
             part.get_payload(decode=True))
            for part in whole.iter_parts()
        ]  # fmt: skip
    return kind, data


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Recorder]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-7")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-9")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    with Recorder(("127.0.0.1", 0), _Handler) as server:
        server.requests = []
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        server.shutdown()


async def both(far: Recorder, ours: Awaitable[Any], theirs: Callable[..., Awaitable[Any]], **arguments: Any) -> Any:
    await ours
    with suppress(AttributeError):  # the answer is nobody's in particular: the SDK may stumble over it
        await theirs(**arguments)
    mine, its = far.requests
    assert mine == its
    return mine.body


def openai_sdk(far: Recorder) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=KEY, base_url=f"{far.url}/v1", max_retries=0)


def azure_sdk(far: Recorder) -> AsyncAzureOpenAI:
    return AsyncAzureOpenAI(api_key=KEY, azure_endpoint=far.url, api_version="2025-04-01-preview", max_retries=0)


PLAIN, LARGE = picture(1), Picture(DRAWN.data + bytes(300_001), "png")
"""The large one is sent in several pieces."""
CONTEXT = Context(
    (Part(PLAIN), Part('Say "é", \\ and \u2028.'), Part("Left.", by="model"), Part(LARGE, by="model"), Part("So?"))
)
OPTIONS = Options(
    max_new_tokens=64,
    temperature=0.3,
    seed=7,
    extra={"top_p": 0.5, "stop": ["\n"], "response_format": {"type": "json_object"}, "cfg_text_scale": 4},
)
CHAT = {
    "messages": [
        {"role": "user", "content": [picture_block(PLAIN), {"type": "text", "text": 'Say "é", \\ and \u2028.'}]},
        {"role": "assistant", "content": "Left."},
        {"role": "user", "content": [picture_block(LARGE), {"type": "text", "text": "So?"}]},
    ],
    "temperature": 0.3,
    "seed": 7,
    "top_p": 0.5,
    "stop": ["\n"],
    "response_format": {"type": "json_object"},
}


async def test_what_is_said_in_chat(far: Recorder) -> None:
    model = OpenAI("m", base_url=f"{far.url}/v1/")
    create = openai_sdk(far).chat.completions.create
    kind, body = await both(far, model.say(CONTEXT, OPTIONS), create, model="m", max_tokens=64, **CHAT)
    assert kind == "application/json" and len(body["messages"][2]["content"][0]["image_url"]["url"]) > 400_000
    await model.close()


async def test_what_is_heard_in_chat(far: Recorder) -> None:
    model = OpenAI("m", base_url=f"{far.url}/v1", send_temperature="false")
    sound = tone()
    heard = {"data": b64encode(sound.data).decode(), "format": "wav"}
    content = [{"type": "input_audio", "input_audio": heard}, {"type": "text", "text": "What is it?"}]
    create = openai_sdk(far).chat.completions.create
    asked = model.say(of(sound, "What is it?"), Options())
    await both(far, asked, create, model="m", messages=[{"role": "user", "content": content}])
    await model.close()


async def test_what_is_drawn_in_chat_with_a_detail_of_its_own(far: Recorder) -> None:
    model = OpenAI("m", base_url=f"{far.url}/v1", detail="low", send_temperature="false")
    block = picture_block(PLAIN)
    block["image_url"]["detail"] = "low"
    create = openai_sdk(far).chat.completions.create
    messages = [{"role": "user", "content": [block]}]
    extra = {"modalities": ["image", "text"]}
    await both(far, model.draw(of(PLAIN), Options()), create, model="m", messages=messages, extra_body=extra)
    await model.close()


@pytest.mark.parametrize("count", [1, 3])
async def test_an_edit_of_one_picture_and_of_several(far: Recorder, count: int) -> None:
    model = OpenAI("gpt-image-2", base_url=f"{far.url}/v1", quality="low", input_fidelity="high")
    pictures = [LARGE, PLAIN, picture(3, "JPEG")][:count]
    files = [(f"{i}.{shown.format}", shown.data, shown.media_type) for i, shown in enumerate(pictures, 1)]
    options = Options(extra={"width": 64, "height": 32, "background": "opaque", "output_format": "png"})
    body = await both(
        far, model.draw(of(*pictures, "Draw é.\r\n--x"), options), openai_sdk(far).images.edit,
        model="gpt-image-2", prompt="Draw é.\r\n--x", n=1, image=files, quality="low", input_fidelity="high",
        size="64x32", background="opaque", output_format="png",
    )  # fmt: skip
    assert body[0] == "multipart/form-data" and len(body[1]) == 8 + count
    await model.close()


async def test_a_picture_from_words_alone(far: Recorder) -> None:
    model = OpenAI("gpt-image-2", base_url=f"{far.url}/v1", size="64x64")
    generate = openai_sdk(far).images.generate
    ours = model.draw(of("Draw é."), Options())
    await both(far, ours, generate, model="gpt-image-2", prompt="Draw é.", n=1, size="64x64")
    await model.close()


@pytest.mark.parametrize("deployment", ["chat-eu", "my chat/é"])
async def test_azures_chat(far: Recorder, deployment: str) -> None:
    model = Azure(deployment, azure_endpoint=f"{far.url}/", api_version="2025-04-01-preview")
    create = azure_sdk(far).chat.completions.create
    ours = model.say(CONTEXT, OPTIONS)
    await both(far, ours, create, model=deployment, max_completion_tokens=64, **CHAT)
    await model.close()


async def test_azures_pictures(far: Recorder) -> None:
    model = Azure("c", azure_endpoint=far.url, image_deployment="img", api_version="2025-04-01-preview")
    sdk = azure_sdk(far)
    files = [("1.png", PLAIN.data, "image/png")]
    ours = model.draw(of(PLAIN, "Draw."), Options())
    await both(far, ours, sdk.images.edit, model="img", prompt="Draw.", n=1, image=files)
    far.requests.clear()
    await both(far, model.draw(of("Draw."), Options()), sdk.images.generate, model="img", prompt="Draw.", n=1)
    await model.close()


RESPONSES: dict[str, Any] = {
    "store": False,
    "input": [
        {"role": "user", "content": [
            {"type": "input_image", "image_url": PLAIN.data_url, "detail": "auto"},
            {"type": "input_text", "text": 'Say "é", \\ and \u2028.'},
        ]},
        {"role": "assistant", "content": "Left."},
        {"role": "user", "content": [
            {"type": "input_image", "image_url": LARGE.data_url, "detail": "auto"},
            {"type": "input_text", "text": "So?"},
        ]},
    ],
    "tool_choice": {"type": "image_generation"},
    "max_tool_calls": 1,
    "parallel_tool_calls": False,
    "temperature": 0.3,
    "max_output_tokens": 64,
    "extra_body": {"image": {"context_compression": "disabled"}},
}  # fmt: skip


async def test_a_drawing_by_the_tool_of_the_responses_api(far: Recorder) -> None:
    model = OpenAI("m", base_url=f"{far.url}/v1", draw_with="responses", draw_model="gpt-image-2", quality="low")
    tools = [{"type": "image_generation", "model": "gpt-image-2", "quality": "low"}]
    create = openai_sdk(far).responses.create
    await both(far, model.draw(CONTEXT, OPTIONS), create, model="m", tools=tools, **RESPONSES)
    assert far.requests[0].path == "/v1/responses"
    await model.close()


async def test_azures_drawing_by_the_tool_names_its_deployment_in_a_header(far: Recorder) -> None:
    model = Azure(
        "c", azure_endpoint=far.url, image_deployment="img", draw_with="responses", api_version="2025-04-01-preview"
    )
    create = azure_sdk(far).responses.create
    tools = [{"type": "image_generation"}]
    headers = {"x-ms-oai-image-generation-deployment": "img"}
    ours = model.draw(CONTEXT, OPTIONS)
    await both(far, ours, create, model="c", tools=tools, extra_headers=headers, **RESPONSES)
    assert far.requests[0].path == "/openai/responses"
    assert far.requests[0].headers["x-ms-oai-image-generation-deployment"] == "img"
    await model.close()


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
SAID = {
    "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
    "content": [{"type": "output_text", "text": "Left é.", "annotations": []}],
}  # fmt: skip
CALL = {
    "type": "image_generation_call",
    "id": "ig_1",
    "status": "completed",
    "revised_prompt": "A dot.",
    "result": "",
}
WITH_RECORDS = Context(
    (
        *(Part(PLAIN), Part("Plan."), Part("Left é.", "model", json.dumps([THOUGHT, SAID]))),
        *(Part("Drawing 1:"), Part(LARGE, "model", json.dumps([THOUGHT, CALL])), Part("So?")),
    )
)
NATIVE: dict[str, Any] = {
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "input": [
        {"role": "user", "content": [
            {"type": "input_image", "image_url": PLAIN.data_url, "detail": "auto"},
            {"type": "input_text", "text": "Plan."},
        ]},
        THOUGHT,
        SAID,
        {"role": "user", "content": [{"type": "input_text", "text": "Drawing 1:"}]},
        THOUGHT,
        {**CALL, "result": in_base64(LARGE)},
        {"role": "user", "content": [{"type": "input_text", "text": "So?"}]},
    ],
    "temperature": 0.3,
    "max_output_tokens": 64,
    "extra_body": {"image": {"context_compression": "disabled"}},
}  # fmt: skip
FORCED: dict[str, Any] = {
    "tool_choice": {"type": "image_generation"},
    "max_tool_calls": 1,
    "parallel_tool_calls": False,
}


async def test_native_history_is_the_items_as_the_sdk_sends_them(far: Recorder) -> None:
    model = OpenAI("m", base_url=f"{far.url}/v1", history="native", draw_model="gpt-image-2")
    create = openai_sdk(far).responses.create
    options = replace(OPTIONS, extra={"top_p": 0.5, "reasoning_effort": "low"})
    ours = model.say(WITH_RECORDS, options)
    await both(far, ours, create, model="m", top_p=0.5, reasoning={"effort": "low"}, **NATIVE)
    far.requests.clear()
    tools = [{"type": "image_generation", "model": "gpt-image-2"}]
    await both(far, model.draw(WITH_RECORDS, options), create, model="m", tools=tools, **FORCED, **NATIVE)
    await model.close()


async def test_azures_native_history_is_the_same_items(far: Recorder) -> None:
    model = Azure(
        "c", azure_endpoint=far.url, image_deployment="img", history="native", api_version="2025-04-01-preview"
    )
    create = azure_sdk(far).responses.create
    await both(far, model.say(WITH_RECORDS, OPTIONS), create, model="c", top_p=0.5, **NATIVE)
    far.requests.clear()
    headers = {"x-ms-oai-image-generation-deployment": "img"}
    tools = [{"type": "image_generation"}]
    ours = model.draw(WITH_RECORDS, OPTIONS)
    await both(far, ours, create, model="c", tools=tools, extra_headers=headers, **FORCED, **NATIVE)
    await model.close()


async def test_azure_with_the_token_of_whoever_is_signed_in(far: Recorder) -> None:
    from sketchmark.models.providers.azure import to_azure

    async def token() -> str:
        return "entra-token"

    wire = to_azure(far.url, "v1", None, token)
    sdk = AsyncAzureOpenAI(azure_ad_token_provider=token, azure_endpoint=far.url, api_version="v1", max_retries=0)
    messages = [{"role": "user", "content": "Hm?"}]
    ours = wire.chat({"model": "m", "messages": messages}, Call())
    await both(far, ours, sdk.chat.completions.create, model="m", messages=messages)
    assert far.requests[0].headers["authorization"] == "Bearer entra-token"
    await wire.close()


async def test_bagels_settings(far: Recorder) -> None:
    model = bagel.make("", base_url=f"{far.url}/v1", cfg_text_scale=6, think="true")
    create = openai_sdk(far).chat.completions.create
    messages = [{"role": "user", "content": [picture_block(PLAIN), {"type": "text", "text": "Draw."}]}]
    extra = {"modalities": ["image"], "cfg_text_scale": 6.0, "think": True, "num_inference_steps": 20}
    options = Options(extra={"num_timesteps": 20})
    name = "ByteDance-Seed/BAGEL-7B-MoT"
    ours = model.draw(of(PLAIN, "Draw."), options)
    await both(far, ours, create, model=name, messages=messages, temperature=0.0, extra_body=extra)
    far.requests.clear()
    extra = {"modalities": ["text"], "think": True}
    ours = model.say(of(PLAIN, "Draw."), options)
    await both(far, ours, create, model=name, messages=messages, temperature=0.0, extra_body=extra)
    await model.close()


async def test_the_requests_of_a_batch(far: Recorder) -> None:
    connection = connect("openai/m", {"base_url": f"{far.url}/v1"})
    wire, sdk = connection.wire, openai_sdk(far)
    made: Any = {"input_file_id": "file-1", "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    asked: list[tuple[Awaitable[Any], Callable[..., Awaitable[Any]], dict[str, Any]]] = [
        (wire.upload('a "b".jsonl', b"{}\n", "batch", Call()), sdk.files.create,
         {"file": ('a "b".jsonl', b"{}\n"), "purpose": "batch"}),
        (wire.create_batch("file-1", "/v1/chat/completions", Call()), sdk.batches.create, made),
        (wire.batch("batch 1/2", Call()), sdk.batches.retrieve, {"batch_id": "batch 1/2"}),
        (wire.batches(100, Call()), sdk.batches.list, {"limit": 100}),
        (wire.content("file-2", Call()), sdk.files.content, {"file_id": "file-2"}),
    ]  # fmt: skip
    for ours, theirs, arguments in asked:
        far.requests.clear()
        await both(far, ours, theirs, **arguments)
    await connection.close()
