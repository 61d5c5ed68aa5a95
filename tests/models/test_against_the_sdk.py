"""Every kind of request, on the wire: ours is what OpenAI's own SDK sends for the same arguments."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.policy import HTTP
from operator import attrgetter
from typing import Any

import pytest
import starlette.requests
from openai import AsyncAzureOpenAI, AsyncOpenAI
from starlette.responses import JSONResponse

from sketchmark import Context, Model, Options, Part
from sketchmark.episode.sample import of
from sketchmark.media import Picture
from sketchmark.models.call import Call
from sketchmark.models.providers import bagel
from sketchmark.models.providers.azure import Azure, to_azure
from sketchmark.models.providers.batch import connect
from sketchmark.models.providers.openai import OpenAI
from tests.core.hearing import tone
from tests.models.fake_server import DRAWN, KEY, chat_answer, in_base64, listening, picture, picture_block

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
Request = tuple[str, str, list[tuple[str, str]], dict[str, str], Any]
"""Method, path, query, relevant headers and body: the parts of a request that can matter to a server."""


@dataclass
class Recorder:
    url: str = ""
    requests: list[Request] = field(default_factory=list)

    async def reply(self, request: starlette.requests.Request) -> JSONResponse:
        assert "transfer-encoding" not in request.headers
        body = _read(request.headers.get("content-type", ""), await request.body())
        relevant = {name: request.headers[name] for name in RELEVANT if name in request.headers}
        path, query = request.scope["raw_path"].decode(), request.query_params.multi_items()
        self.requests.append((request.method, path, query, relevant, body))
        return JSONResponse(ANSWER)


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


@pytest.fixture(scope="module")
def _recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    with listening(recorder.reply) as recorder.url:
        yield recorder


@pytest.fixture
def far(_recorder: Recorder, _keys: None, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-7")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-9")
    _recorder.requests = []
    return _recorder


async def both(
    far: Recorder, ours: Awaitable[Any], theirs: Callable[..., Awaitable[Any]], **arguments: Any
) -> Request:
    far.requests.clear()
    await ours
    with suppress(AttributeError):  # the reply has no particular form: the SDK may stumble over it
        await theirs(**arguments)
    mine, its = far.requests
    assert mine == its
    return mine


def openai_sdk(far: Recorder) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=KEY, base_url=f"{far.url}/v1", max_retries=0)


VERSION = "2024-06-01"
PLAIN, LARGE = picture(1), Picture(DRAWN.data + bytes(300_001), "png")
"""The large one is sent in several pieces."""
WORDS = 'Say "é", \\ and \u2028.'
CONTEXT = Context((Part(PLAIN), Part(WORDS), Part("Left.", by="model"), Part(LARGE, by="model"), Part("So?")))
JSON = {"type": "json_object"}
EXTRA = {"top_p": 0.5, "stop": ["\n"], "response_format": JSON, "cfg_text_scale": 4}
OPTIONS = Options(max_new_tokens=64, temperature=0.3, seed=7, extra=EXTRA)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def asked(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(blocks)}]


CHAT = {
    "messages": [
        *asked(picture_block(PLAIN), text(WORDS)),
        {"role": "assistant", "content": "Left."},
        *asked(picture_block(LARGE), text("So?")),
    ],
    "temperature": 0.3, "seed": 7, "top_p": 0.5, "stop": ["\n"], "response_format": JSON,
}  # fmt: skip
SOUND = tone()
HEARD = {"type": "input_audio", "input_audio": {"data": b64encode(SOUND.data).decode(), "format": "wav"}}
LOW = {"type": "image_url", "image_url": {"url": PLAIN.data_url, "detail": "low"}}
JPEG = picture(3, "JPEG")
SIZED = Options(extra={"width": 64, "height": 32, "background": "opaque", "output_format": "png"})
EDIT: dict[str, Any] = {
        "prompt": "Draw é.\r\n--x", "n": 1, "quality": "low", "input_fidelity": "high", "size": "64x32",
        "background": "opaque", "output_format": "png"}  # fmt: skip
BAGEL = {
    "model": "ByteDance-Seed/BAGEL-7B-MoT",
    "temperature": 0.0,
    "messages": asked(picture_block(PLAIN), text("?")),
}


def files(*pictures: Picture) -> list[tuple[str, bytes, str]]:
    return [(f"{i}.{shown.format}", shown.data, shown.media_type) for i, shown in enumerate(pictures, 1)]


def shown(picture: Picture, detail: str = "auto") -> dict[str, Any]:
    return {"type": "input_image", "image_url": picture.data_url, "detail": detail}


def told(words: str) -> dict[str, Any]:
    return {"type": "input_text", "text": words}


FORCED = {"tool_choice": {"type": "image_generation"}, "max_tool_calls": 1, "parallel_tool_calls": False}
KEPT = {"store": False, "temperature": 0.3, "max_output_tokens": 64,
        "extra_body": {"image": {"context_compression": "disabled"}}}  # fmt: skip
INPUT = [
    *asked(shown(PLAIN), told(WORDS)),
    {"role": "assistant", "content": "Left."},
    *asked(shown(LARGE), told("So?")),
]
TOOL = {"type": "image_generation", "model": "gpt-image-2"}
IN_HEADER = {"tools": [{"type": "image_generation"}],
             "extra_headers": {"x-ms-oai-image-generation-deployment": "img"}}  # fmt: skip
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
RECORDS = Context(
    (
        *(Part(PLAIN), Part("Plan."), Part("Left é.", "model", json.dumps([THOUGHT, SAID]))),
        *(Part("Drawing 1:"), Part(LARGE, "model", json.dumps([THOUGHT, CALL])), Part("So?")),
    )
)
NATIVE: dict[str, Any] = {
    **KEPT,
    "include": ["reasoning.encrypted_content"],
    "input": [
        *asked(shown(PLAIN), told("Plan.")), THOUGHT, SAID, *asked(told("Drawing 1:")), THOUGHT,
        {**CALL, "result": in_base64(LARGE)}, *asked(told("So?")),
    ],
}  # fmt: skip
EFFORT = replace(OPTIONS, extra={"top_p": 0.5, "reasoning_effort": "low"})
STEPS = Options(extra={"num_timesteps": 20})


def openai(name: str = "m", **args: Any) -> Callable[[str], Model]:
    return lambda url: OpenAI(name, base_url=f"{url}/v1/", **args)


def azure(name: str = "c", **args: Any) -> Callable[[str], Model]:
    return lambda url: Azure(name, azure_endpoint=f"{url}/", api_version=VERSION, **args)


def bagel_server(url: str) -> Model:
    return bagel.make("", base_url=f"{url}/v1", cfg_text_scale=6, think="true")


CREATE, RESPOND = "chat.completions.create", "responses.create"
IMAGES = {"image_deployment": "img"}
REQUESTS: list[tuple[Callable[[str], Model], str, Context, Options, str, dict[str, Any]]] = [
    (openai(), "say", CONTEXT, OPTIONS, CREATE, {"model": "m", "max_tokens": 64, **CHAT}),
    (openai(send_temperature="false"), "say", of(SOUND, "?"), Options(), CREATE,
     {"model": "m", "messages": asked(HEARD, text("?"))}),
    (openai(detail="low", send_temperature="false"), "draw", of(PLAIN), Options(), CREATE,
     {"model": "m", "messages": asked(LOW), "extra_body": {"modalities": ["image"]}}),
    *((openai("gpt-image-2", quality="low", input_fidelity="high"), "draw", of(*pictures, EDIT["prompt"]), SIZED,
       "images.edit", {"model": "gpt-image-2", "image": files(*pictures), **EDIT})
      for pictures in ([LARGE], [LARGE, PLAIN, JPEG])),
    (openai("gpt-image-2", size="64x64"), "draw", of("Draw é."), Options(), "images.generate",
     {"model": "gpt-image-2", "prompt": "Draw é.", "n": 1, "size": "64x64"}),
    *((azure(name), "say", CONTEXT, OPTIONS, CREATE, {"model": name, "max_completion_tokens": 64, **CHAT})
      for name in ("chat-eu", "my chat/é")),
    (azure(**IMAGES), "draw", of(PLAIN, "Draw."), Options(), "images.edit",
     {"model": "img", "prompt": "Draw.", "n": 1, "image": files(PLAIN)}),
    (azure(**IMAGES), "draw", of("Draw."), Options(), "images.generate", {"model": "img", "prompt": "Draw.", "n": 1}),
    (openai(draw_with="responses", draw_model="gpt-image-2", quality="low"), "draw", CONTEXT, OPTIONS, RESPOND,
     {"model": "m", "tools": [{**TOOL, "quality": "low"}], "input": INPUT, **FORCED, **KEPT}),
    (openai(draw_with="responses", draw_model="gpt-image-2", detail="high", send_temperature="false"), "draw",
     of(PLAIN), Options(extra={"width": 64, "height": 32}), RESPOND,
     {"model": "m", "tools": [{**TOOL, "size": "64x32"}], "input": asked(shown(PLAIN, "high")), **FORCED,
      "store": False, "extra_body": KEPT["extra_body"]}),
    (azure(draw_with="responses", **IMAGES), "draw", CONTEXT, OPTIONS, RESPOND,
     {"model": "c", "input": INPUT, **IN_HEADER, **FORCED, **KEPT}),
    (openai(history="native", draw_model="gpt-image-2"), "say", RECORDS, EFFORT, RESPOND,
     {"model": "m", "top_p": 0.5, "reasoning": {"effort": "low"}, **NATIVE}),
    (openai(history="native", draw_model="gpt-image-2"), "draw", RECORDS, EFFORT, RESPOND,
     {"model": "m", "tools": [TOOL], **FORCED, **NATIVE}),
    (azure(history="native", **IMAGES), "say", RECORDS, OPTIONS, RESPOND, {"model": "c", "top_p": 0.5, **NATIVE}),
    (azure(history="native", **IMAGES), "draw", RECORDS, OPTIONS, RESPOND,
     {"model": "c", **IN_HEADER, **FORCED, **NATIVE}),
    (bagel_server, "draw", of(PLAIN, "?"), STEPS, CREATE,
     {**BAGEL, "extra_body": {"repetition_penalty": 1.0, "modalities": ["image"], "cfg_text_scale": 6.0,
                              "think": True, "num_inference_steps": 20}}),
    (bagel_server, "say", of(PLAIN, "?"), STEPS, CREATE,
     {**BAGEL, "extra_body": {"repetition_penalty": 1.0, "modalities": ["text"], "think": True}}),
]  # fmt: skip
"""An adapter, the call that is made of it, the method of the SDK and its arguments."""


@pytest.mark.parametrize(("make", "act", "context", "options", "method", "arguments"), REQUESTS)
async def test_an_adapter_sends_what_the_sdk_sends(
    far: Recorder, make: Any, act: str, context: Context, options: Options, method: str, arguments: dict[str, Any]
) -> None:
    model = make(far.url)
    sdk: Any = openai_sdk(far)
    if model.name.startswith("azure"):
        sdk = AsyncAzureOpenAI(api_key=KEY, azure_endpoint=far.url, api_version=VERSION, max_retries=0)
    _, path, _, headers, (kind, body) = await both(
        far, getattr(model, act)(context, options), attrgetter(method)(sdk), **arguments
    )
    await model.close()
    edits = method == "images.edit"
    assert kind == ("multipart/form-data" if edits else "application/json")
    assert not edits or len(body) == len(arguments["image"]) + len(arguments) - 1
    assert method != RESPOND or path == ("/openai/responses" if "azure" in model.name else "/v1/responses")
    assert "extra_headers" not in arguments or headers["x-ms-oai-image-generation-deployment"] == "img"


async def test_azure_is_sent_the_token_of_a_signed_in_user(far: Recorder) -> None:
    async def token() -> str:
        return "entra-token"

    wire = to_azure(far.url, "v1", None, token)
    sdk = AsyncAzureOpenAI(azure_ad_token_provider=token, azure_endpoint=far.url, api_version="v1", max_retries=0)
    sent: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hm?"}]}
    request = await both(far, wire.chat(sent, Call()), sdk.chat.completions.create, **sent)
    assert request[3]["authorization"] == "Bearer entra-token"
    await wire.close()


async def test_the_requests_of_a_batch_are_the_sdks(far: Recorder) -> None:
    connection = connect("openai/m", {"base_url": f"{far.url}/v1"})
    wire, sdk = connection.wire, openai_sdk(far)
    chat = "/v1/chat/completions"
    made: Any = {"input_file_id": "file-1", "endpoint": chat, "completion_window": "24h"}
    file = ('a "b".jsonl', b"{}\n")
    await both(far, wire.upload(*file, "batch", Call()), sdk.files.create, file=file, purpose="batch")
    await both(far, wire.create_batch("file-1", chat, Call()), sdk.batches.create, **made)
    await both(far, wire.batch("batch 1/2", Call()), sdk.batches.retrieve, batch_id="batch 1/2")
    await both(far, wire.batches(100, Call()), sdk.batches.list, limit=100)
    await both(far, wire.content("file-2", Call()), sdk.files.content, file_id="file-2")
    await connection.close()
