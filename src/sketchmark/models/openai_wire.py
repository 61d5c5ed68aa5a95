"""OpenAI's requests as its own SDK sends them, but without it: `tests/models/test_against_the_sdk.py` compares."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from sketchmark.models.call import LARGEST_DRAWING, LARGEST_FILE, LARGEST_TEXT, Call
from sketchmark.models.http_bodies import FormFile, form_body, json_body
from sketchmark.models.http_client import Headers, HttpClient, read_object
from sketchmark.picture import Picture

OPENAI = "https://api.openai.com/v1"
Json = dict[str, Any]

SERVER_SETTINGS = (
    "negative_prompt", "num_inference_steps", "guidance_scale", "true_cfg_scale", "strength", "flow_shift"
)  # fmt: skip
"""What vLLM-Omni and SGLang take at their image endpoints besides what OpenAI takes."""

_EDIT_FIELDS = (
    *("prompt", "background", "input_fidelity", "model", "n", "output_format", "quality", "size"),
    *("response_format", "seed", *SERVER_SETTINGS),
)
"""Those of OpenAI in the order of the SDK's form."""


class OpenAIWire:
    """The API of one server, asked once per call: whoever calls tries again."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    async def chat(self, request: Json, call: Call) -> Json:
        path = self._path("/chat/completions", request["model"])
        return read_object(await self._client.post(path, json_body(request), call))

    async def respond(self, request: Json, call: Call, drawer: str | None = None) -> Json:
        """The Responses API, for a drawing where there is a drawer; the image model is named in the request."""
        call.up_to(LARGEST_DRAWING if drawer else LARGEST_TEXT)
        return read_object(await self._client.post("/responses", json_body(request), call))

    async def generate(self, request: Json, call: Call) -> Json:
        path = self._path("/images/generations", request["model"])
        return read_object(await self._client.post(path, json_body(request), call.up_to(LARGEST_DRAWING)))

    async def edit(self, request: Json, pictures: Sequence[Picture], call: Call) -> Json:
        fields = {name: str(request[name]) for name in _EDIT_FIELDS if name in request}
        files = [
            FormFile("image[]", f"{number}.{picture.format}", picture.media_type, picture.data)
            for number, picture in enumerate(pictures, start=1)
        ]
        path = self._path("/images/edits", request["model"])
        return read_object(await self._client.post(path, form_body(fields, files), call.up_to(LARGEST_DRAWING)))

    async def model(self, name: str, call: Call) -> Json:
        return read_object(await self._client.get(f"/models/{_quoted(name)}", call))

    async def upload(self, name: str, data: bytes, purpose: str, call: Call) -> Json:
        body = form_body({"purpose": purpose}, [FormFile("file", name, "application/octet-stream", data)])
        return read_object(await self._client.post("/files", body, call))

    async def content(self, file_id: str, call: Call) -> bytes:
        path = f"/files/{_quoted(file_id)}/content"
        return (await self._client.get(path, call.up_to(LARGEST_FILE), accept="application/binary")).data

    async def create_batch(self, file_id: str, endpoint: str, call: Call) -> Json:
        request = {"input_file_id": file_id, "endpoint": endpoint, "completion_window": "24h"}
        return read_object(await self._client.post("/batches", json_body(request), call))

    async def batch(self, batch_id: str, call: Call) -> Json:
        return read_object(await self._client.get(f"/batches/{_quoted(batch_id)}", call))

    async def batches(self, most: int, call: Call) -> Json:
        return read_object(await self._client.get("/batches", call, {"limit": str(most)}))

    async def close(self) -> None:
        await self._client.close()

    def _path(self, what: str, model: str) -> str:
        return what


class AzureWire(OpenAIWire):
    """The same under the paths of deployments."""

    async def respond(self, request: Json, call: Call, drawer: str | None = None) -> Json:
        """Under no deployment's path; the one that draws is named in a header."""
        if drawer is None:
            return await super().respond(request, call)
        headers = {"x-ms-oai-image-generation-deployment": drawer}
        call.up_to(LARGEST_DRAWING)
        return read_object(await self._client.post("/responses", json_body(request), call, headers))

    def _path(self, what: str, model: str) -> str:
        return f"/deployments/{_quoted(model)}{what}"


def to_openai(base_url: str | None, key: str) -> OpenAIWire:
    headers = {"Authorization": f"Bearer {key}", **_account()}

    async def authorise() -> Headers:
        return headers

    return OpenAIWire(HttpClient(base_url or OPENAI, authorise))


def to_azure(
    endpoint: str, api_version: str, key: str | None, token: Callable[[], Awaitable[str]] | None
) -> AzureWire:
    """With a key, or with the tokens of whoever is signed in."""

    async def authorise() -> Headers:
        if token is not None:
            return {"Authorization": f"Bearer {await token()}", **_account()}
        return {"api-key": key or "", **_account()}

    address = endpoint.rstrip("/") + "/openai"
    return AzureWire(HttpClient(address, authorise, {"api-version": api_version}))


def _account() -> Mapping[str, str]:
    """Whom OpenAI is to bill, where a key belongs to several."""
    named = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
    return {header: value for header, name in named.items() if (value := os.environ.get(name, "").strip())}


def _quoted(name: str) -> str:
    return quote(name, safe="")
