"""Azure's paths, API version and two kinds of sign-in, with the real SDKs (openai, azure-identity) over real HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed, CannotPlay
from sketchmark.models.providers.azure import Azure
from tests.models.fake_server import DRAWN, KEY, FarEnd, picture

PICTURES = [picture(shade) for shade in range(3)]


def azure(far: FarEnd, **args: Any) -> Azure:
    return Azure("chat-eu", azure_endpoint=far.url, **{"max_retries": 0, **args})


async def test_chat_goes_to_the_deployments_path_with_the_api_version(far: FarEnd) -> None:
    reply = await azure(far, api_version="2025-04-01-preview").say(of(*PICTURES, "?"), Options(max_new_tokens=9))
    seen = far.seen[0]
    assert seen.path == "/openai/deployments/chat-eu/chat/completions"
    assert seen.query == {"api-version": "2025-04-01-preview"}
    assert seen.headers["api-key"] == KEY
    assert seen.pictures == PICTURES
    assert seen.body["max_completion_tokens"] == 9
    assert (reply.text, reply.left_out) == ("left", ())


async def test_drawing_goes_to_the_image_deployment_with_every_picture(far: FarEnd) -> None:
    reply = await azure(far, image_deployment="image-eu").draw(of(*PICTURES, "Draw."), Options())
    assert far.seen[0].path == "/openai/deployments/image-eu/images/edits"
    assert "api-version" in far.seen[0].query
    assert far.seen[0].pictures == PICTURES
    assert (reply.picture, reply.left_out) == (DRAWN, ())


async def test_without_a_picture_the_image_deployment_generates(far: FarEnd) -> None:
    await azure(far, image_deployment="image-eu").draw(of("Draw."), Options())
    assert far.seen[0].path == "/openai/deployments/image-eu/images/generations"


async def test_without_an_image_deployment_it_does_not_draw(far: FarEnd) -> None:
    model = azure(far)
    assert (model.abilities.say, model.abilities.draw) == (True, False)
    with pytest.raises(CannotPlay):
        await model.draw(of("Draw."), Options())


def test_the_deployment_may_be_an_argument(far: FarEnd) -> None:
    model = Azure("", deployment="chat-eu", azure_endpoint=far.url)
    assert model.identity() == {"name": "azure/chat-eu", "base_url": far.url, "api_version": "2025-04-01-preview"}


def test_a_missing_endpoint_is_named(far: FarEnd) -> None:
    with pytest.raises(BadInput, match="azure_endpoint"):
        Azure("chat-eu")


async def test_without_a_key_entra_tokens_are_used(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    """azure-identity asks a managed-identity endpoint for the token, as it does inside Azure."""
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{far.url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "inside")
    reply = await azure(far, token_scope="api://trapi/.default").say(of("?"), Options())
    asked, said = far.seen
    assert (asked.path, asked.query["resource"]) == ("/msi/token", "api://trapi")
    assert said.headers["authorization"] == "Bearer entra-token-1234"
    assert "api-key" not in said.headers
    assert reply.text == "left"


async def test_a_failed_sign_in_is_an_auth_failure(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    with pytest.raises(CallFailed) as caught:
        await azure(far).say(of("?"), Options())
    assert caught.value.kind == "auth"
