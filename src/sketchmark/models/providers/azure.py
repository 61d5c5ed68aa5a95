"""`azure/DEPLOYMENT`: Azure OpenAI, with one deployment for text and another for drawings (`image_deployment=`)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from sketchmark.errors import BadInput, MissingExtra
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.call import LARGEST_DRAWING, Call
from sketchmark.models.http import Headers, HttpClient, read_object
from sketchmark.models.http_bodies import json_body
from sketchmark.models.providers import Provider
from sketchmark.models.providers.openai import OpenAI, is_image_model
from sketchmark.models.providers.openai_wire import Json, OpenAIWire, account, quoted
from sketchmark.secrets import find_key, remember

_DEFAULT_API_VERSION = "2025-04-01-preview"
"""The first version that has images/edits."""
_DEFAULT_SCOPE = "https://cognitiveservices.azure.com/.default"


class Azure(OpenAI):
    """OpenAI's requests under Azure's paths, with a key, or with Entra ID tokens if no key is set."""

    provider: ClassVar[str] = "azure"
    key_variables: ClassVar[tuple[str, ...]] = ("AZURE_OPENAI_API_KEY",)

    def __init__(self, name: str, **model_args: Value) -> None:
        super().__init__(str(model_args.get("deployment") or "") or name, **model_args)

    def _choose_server_and_drawer(self, name: str, args: Arguments) -> None:
        args.text("deployment")
        self.base_url = args.text("azure_endpoint") or self.base_url or os.environ.get("AZURE_OPENAI_ENDPOINT")
        if not self.base_url:
            raise BadInput(f"{self.name} needs azure_endpoint=", "https://RESOURCE.openai.azure.com")
        self._api_version = args.text("api_version") or os.environ.get("OPENAI_API_VERSION") or _DEFAULT_API_VERSION
        self._scope = args.text("token_scope") or _DEFAULT_SCOPE
        self._drawer = args.text("image_deployment") or (name if is_image_model(name) else None)

    @property
    def _on_openai(self) -> bool:
        return True

    def _default_draw_with(self) -> str:
        """Return `edit`: a deployment of a chat model may be older than the tool of `responses`."""
        return "edit"

    def _tool_model(self, drawer: str) -> str | None:
        """Return None: a header names the deployment."""
        return None

    def _connect(self) -> OpenAIWire:
        key = find_key(self.keys)
        tokens = None if key else _entra_tokens(self._scope)
        return to_azure(self.base_url or "", self._api_version, key, tokens)

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "api_version": self._api_version}


class AzureWire(OpenAIWire):
    """OpenAI's API under the paths of deployments."""

    async def respond(self, request: Json, call: Call, drawer: str | None = None) -> Json:
        """Call the Responses API, which is not under a deployment's path. A header names the one that draws."""
        if drawer is None:
            return await super().respond(request, call)
        headers = {"x-ms-oai-image-generation-deployment": drawer}
        call.up_to(LARGEST_DRAWING)
        return read_object(await self._client.post("/responses", json_body(request), call, headers))

    def _path(self, what: str, model: str) -> str:
        return f"/deployments/{quoted(model)}{what}"


def to_azure(
    endpoint: str, api_version: str, key: str | None, token: Callable[[], Awaitable[str]] | None
) -> AzureWire:
    """Connect with a key, or with tokens of the signed-in user."""

    async def authorise() -> Headers:
        if token is not None:
            return {"Authorization": f"Bearer {await token()}", **account()}
        return {"api-key": key or "", **account()}

    address = endpoint.rstrip("/") + "/openai"
    return AzureWire(HttpClient(address, authorise, {"api-version": api_version}))


def _entra_tokens(scope: str) -> Callable[[], Awaitable[str]]:
    """Get tokens of the signed-in user (environment, managed identity, `az login`…), renewed by azure-identity.

    This uses its synchronous client in a thread: the asynchronous one needs separate connections for one request per
    hour.
    """
    try:
        from azure.identity import DefaultAzureCredential, get_bearer_token_provider
    except ImportError:
        raise MissingExtra("signing in to Azure without a key", "azure") from None
    fetch = get_bearer_token_provider(DefaultAzureCredential(), scope)

    async def token() -> str:
        return remember(await asyncio.to_thread(fetch))

    return token


PROVIDER = Provider(
    Azure,
    "azure/DEPLOYMENT: Azure OpenAI",
    addresses=("azure_endpoint", "base_url"),
    variables=Azure.key_variables,
    hears=True,
)
