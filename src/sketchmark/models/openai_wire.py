"""OpenAI's requests as its own SDK sends them, but without it: `tests/models/test_against_the_sdk.py` compares."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from sketchmark.models.bounded_http import LARGEST_DRAWING, LARGEST_FILE, LARGEST_TEXT
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

    async def chat(self, request: Json, most: int = LARGEST_TEXT) -> Json:
        path = self._path("/chat/completions", request["model"])
        return read_object(await self._client.post(path, json_body(request), most=most))

    async def respond(self, request: Json, drawer: str | None = None) -> Json:
        """The Responses API, for a drawing where there is a drawer; the image model is named in the request."""
        most = LARGEST_DRAWING if drawer else LARGEST_TEXT
        return read_object(await self._client.post("/responses", json_body(request), most=most))

    async def generate(self, request: Json) -> Json:
        path = self._path("/images/generations", request["model"])
        return read_object(await self._client.post(path, json_body(request), most=LARGEST_DRAWING))

    async def edit(self, request: Json, pictures: Sequence[Picture]) -> Json:
        fields = {name: str(request[name]) for name in _EDIT_FIELDS if name in request}
        files = [
            FormFile("image[]", f"{number}.{picture.format}", picture.media_type, picture.data)
            for number, picture in enumerate(pictures, start=1)
        ]
        path = self._path("/images/edits", request["model"])
        return read_object(await self._client.post(path, form_body(fields, files), most=LARGEST_DRAWING))

    async def model(self, name: str) -> Json:
        return read_object(await self._client.get(f"/models/{_quoted(name)}"))

    async def upload(self, name: str, data: bytes, purpose: str) -> Json:
        body = form_body({"purpose": purpose}, [FormFile("file", name, "application/octet-stream", data)])
        return read_object(await self._client.post("/files", body))

    async def content(self, file_id: str, most: int = LARGEST_FILE) -> bytes:
        path = f"/files/{_quoted(file_id)}/content"
        return (await self._client.get(path, most=most, accept="application/binary")).data

    async def create_batch(self, file_id: str, endpoint: str) -> Json:
        request = {"input_file_id": file_id, "endpoint": endpoint, "completion_window": "24h"}
        return read_object(await self._client.post("/batches", json_body(request)))

    async def batch(self, batch_id: str) -> Json:
        return read_object(await self._client.get(f"/batches/{_quoted(batch_id)}"))

    async def batches(self, most: int) -> Json:
        return read_object(await self._client.get("/batches", {"limit": str(most)}))

    async def close(self) -> None:
        await self._client.close()

    def _path(self, what: str, model: str) -> str:
        return what


class AzureWire(OpenAIWire):
    """The same under the paths of deployments."""

    async def respond(self, request: Json, drawer: str | None = None) -> Json:
        """Under no deployment's path; the one that draws is named in a header."""
        if drawer is None:
            return await super().respond(request)
        headers = {"x-ms-oai-image-generation-deployment": drawer}
        body = json_body(request)
        return read_object(await self._client.post("/responses", body, most=LARGEST_DRAWING, headers=headers))

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
