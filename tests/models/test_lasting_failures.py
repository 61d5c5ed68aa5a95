"""What each provider says when no other call would fare better, and what it says of one prompt alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.models.adapters import ADAPTERS, failure
from tests.models.broken_server import Broken, answer, broken
from tests.models.fake_server import DRAWN, anthropic_answer, chat_answer, in_base64


def _google(status: str, **detail: Any) -> dict[str, Any]:
    return {"error": {"code": 429, "message": "quota", "status": status, "details": [detail]}}


def _anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _openai(code: str, message: str = "no") -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "param": None, "code": code}}


PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}], "retryDelay": "0.01s"}
PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}], "retryDelay": "0.01s"}

SAID: list[tuple[str, str, int, dict[str, Any]]] = [
    ("openai", "quota", 429, _openai("insufficient_quota")),
    ("openai-images", "quota", 400, _openai("billing_hard_limit_reached")),
    ("openai", "not_found", 403, _openai("model_not_found", "the project has no access to it")),
    ("openai", "auth", 401, _openai("invalid_api_key")),
    ("azure", "not_found", 404, _openai("DeploymentNotFound")),
    ("azure", "quota", 403, _openai("403", "Out of call volume quota.")),
    ("azure", "auth", 401, _openai("401", "invalid subscription key")),
    ("gemini", "quota", 429, _google("RESOURCE_EXHAUSTED", **PER_DAY)),
    ("gemini", "quota", 400, _google("FAILED_PRECONDITION")),
    ("gemini", "auth", 400, _google("INVALID_ARGUMENT", reason="API_KEY_INVALID")),
    ("gemini", "not_found", 404, _google("NOT_FOUND")),
    ("anthropic", "quota", 400, _anthropic("invalid_request_error", "Your credit balance is too low.")),
    ("anthropic", "auth", 403, _anthropic("permission_error", "no")),
    ("anthropic", "not_found", 404, _anthropic("not_found_error", "model: m")),
    ("batch", "quota", 429, _openai("insufficient_quota")),
]
VARIABLES = {"openai": "OPENAI_API_KEY", "azure": "AZURE_OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
             "gemini": "GEMINI_API_KEY or GOOGLE_API_KEY"}  # fmt: skip


@pytest.mark.parametrize(("adapter", "kind", "status", "body"), SAID)
async def test_what_no_other_call_would_escape_is_told_in_each_providers_words(
    authorities: None, tmp_path: Path, adapter: str, kind: str, status: int, body: Any
) -> None:
    with broken({"said": Broken(answer(status, body))}) as far:
        error = await failure(adapter, f"http://127.0.0.1:{far.port}/said", tmp_path, again=False, stops=True)
    assert error.kind == kind and far.seen == {"said": 1}
    assert {"auth": VARIABLES.get(adapter, ""), "quota": "add credit", "not_found": "the name"}[kind] in error.hint
    if status == 404:
        assert f" at http://127.0.0.1:{far.port}/said/" in str(error)


async def test_a_quota_of_a_minute_passes_by_itself(authorities: None, tmp_path: Path) -> None:
    with broken({"said": Broken(answer(429, _google("RESOURCE_EXHAUSTED", **PER_MINUTE)))}) as far:
        url = f"http://127.0.0.1:{far.port}/said"
        assert (await failure("gemini", url, tmp_path, again=True, stops=False)).kind == "rate_limited"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": 403, "message": "Your input was flagged", "metadata": {"flagged_input": "…"}}},
        {"code": "The caller does not have permission", "error": "Content violates usage guidelines."},
    ],
)
@pytest.mark.parametrize("adapter", ["openai", "openai-images", "vllm-drawing", "azure"])
async def test_a_prompt_that_is_refused_with_403_is_a_refusal_and_not_the_end_of_a_run(
    authorities: None, tmp_path: Path, adapter: str, body: Any
) -> None:
    with broken({"said": Broken(answer(403, body))}) as far:
        reply = await ADAPTERS[adapter](f"http://127.0.0.1:{far.port}/said", tmp_path)
    assert reply.finish == "refused" and ("flagged" in reply.text or "violates" in reply.text)


@pytest.mark.parametrize(
    "usage", ["no", 7, ["x"], {"prompt_tokens": [], "input_tokens": {}, "promptTokenCount": None}]
)
@pytest.mark.parametrize(
    ("adapter", "body"),
    [
        ("openai", chat_answer({"role": "assistant", "content": "left"})),
        ("openai-images", {"created": 1, "data": [{"b64_json": in_base64(DRAWN)}]}),
        ("anthropic", anthropic_answer("left")),
    ],
)
async def test_a_reply_is_not_lost_over_a_bill_that_cannot_be_read(
    authorities: None, tmp_path: Path, adapter: str, body: dict[str, Any], usage: Any
) -> None:
    with broken({"said": Broken(answer(200, {**body, "usage": usage}))}) as far:
        reply = await ADAPTERS[adapter](f"http://127.0.0.1:{far.port}/said", tmp_path)
    assert (reply.text == "left" or reply.picture == DRAWN) and reply.usage.tokens_in == 0
