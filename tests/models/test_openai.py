"""Only OpenAI and Azure have these: an API for images, drawings by the tool of the Responses API, Azure's sign-in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

import sketchmark
from sketchmark import Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed, CannotPlay
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.openai import OpenAI
from sketchmark.report.card import card
from sketchmark.runs.checks import retiring
from tests.models.asking import openai
from tests.models.fake_server import DRAWN, FarEnd, in_base64, picture

EIGHT = [picture(shade) for shade in range(8)]


# The API for images


@pytest.mark.parametrize(
    ("name", "args", "shown", "sent", "left_out"),
    [
        ("gpt-image-2", {}, [*EIGHT, *EIGHT], [*EIGHT, *EIGHT], ()),
        (
            "gpt-image-2",
            {},
            [*EIGHT, *EIGHT, DRAWN],
            [*EIGHT[1:], *EIGHT, DRAWN],
            ("1 of 17 pictures: gpt-image-2 takes 16, the newest 16 were sent",),
        ),
        (
            "Qwen/Qwen-Image-Edit-2509",
            {"draw_with": "edit", "edit_pictures": 4},
            EIGHT[:6],
            EIGHT[2:6],
            ("2 of 6 pictures: Qwen/Qwen-Image-Edit-2509 takes 4, the newest 4 were sent",),
        ),
    ],
)
async def test_the_newest_images_are_sent_of_more_than_the_api_takes(
    far: FarEnd, name: str, args: dict[str, Any], shown: list[Any], sent: list[Any], left_out: tuple[str, ...]
) -> None:
    reply = await openai(far, name, **args).draw(of(*shown, "Draw it."), Options())
    assert (far.seen[0].path, far.seen[0].body["prompt"]) == ("/v1/images/edits", "Draw it.")
    assert (far.seen[0].pictures, reply.left_out) == (sent, left_out)


async def test_another_servers_model_is_sent_its_settings_and_openais_only_what_openai_knows(far: FarEnd) -> None:
    options = Options(seed=7, extra={"num_inference_steps": 20, "true_cfg_scale": 4.0, "cfg_text_scale": 3})
    model = openai(far, "Qwen/Qwen-Image-Edit-2509", draw_with="edit", edit_pictures=4)
    await model.draw(of(EIGHT[0], "Draw."), options)
    wanted = {"response_format": "b64_json", "output_format": "png", "seed": "7", "num_inference_steps": "20"}
    assert far.seen[0].body.items() >= {**wanted, "true_cfg_scale": "4.0"}.items()
    assert "cfg_text_scale" not in far.seen[0].body and model.identity()["edit_pictures"] == 4
    await openai(far, "gpt-image-2").draw(of(EIGHT[0], "Draw."), Options(seed=7))
    assert not {"seed", "response_format"} & set(far.seen[1].body)


async def test_an_image_returned_as_an_address_is_fetched_without_the_key(far: FarEnd) -> None:
    far.answer = {"created": 1, "data": [{"url": f"{far.url}/pictures/drawn.png"}]}
    assert (await openai(far, "gpt-image-2").draw(of("Draw."), Options())).picture == DRAWN
    assert "authorization" not in far.seen[1].headers


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"url": "file:///etc/hostname"}, "is not fetched"),
        ({"url": "ftp://host/x.png"}, "is not fetched"),
        ({"b64_json": "bm90IGEgcGljdHVyZQ=="}, "not a picture"),
    ],
)
async def test_a_returned_image_that_is_none_is_a_bad_reply(far: FarEnd, data: dict[str, str], why: str) -> None:
    far.answer = {"created": 1, "data": [data]}
    with pytest.raises(CallFailed, match=why) as caught:
        await openai(far, "gpt-image-2").draw(of("Draw."), Options())
    assert caught.value.kind == "bad_reply"


# The Responses API


def call(**more: Any) -> dict[str, Any]:
    return {"type": "image_generation_call", "id": "ig_1", "status": "completed", **more}


def said(**block: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [block]}


def failed(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def cut(reason: str) -> dict[str, Any]:
    return {"output": [], "status": "incomplete", "incomplete_details": {"reason": reason}}


async def test_the_last_drawing_with_bytes_counts_whatever_its_status_says(far: FarEnd) -> None:
    drafts = [call(result=in_base64(EIGHT[3])), {"type": "reasoning", "id": "rs_1", "summary": []}]
    last = call(status="generating", result=in_base64(DRAWN), revised_prompt="A red dot, lower.")
    far.answer = {
        "status": "completed",
        "output": [*drafts, last, said(type="output_text", text="There it is.")],
        "usage": {"input_tokens": 100, "output_tokens": 7},
        "tool_usage": {"image_gen": {"input_tokens": 40, "output_tokens": 1000}},
    }
    reply = await openai(far, draw_with="responses").draw(of("Draw."), Options())
    assert (reply.picture, reply.finish, reply.text) == (DRAWN, "stop", "There it is.")
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_out) == (140, 1007, 1)
    assert "A red dot, lower." in str(reply.raw)


@pytest.mark.parametrize(
    ("answer", "finish", "text"),
    [
        ({"output": [said(type="output_text", text="A dot.")]}, "no_picture", "A dot."),
        ({"output": []}, "no_picture", ""),
        ({"output": [said(type="refusal", refusal="I will not.")]}, "refused", "I will not."),
        ({"output": [call(status="failed", **failed("moderation_blocked", "Blocked."))]}, "refused", "Blocked."),
        ({"output": [], **failed("image_content_policy_violation", "Not this.")}, "refused", "Not this."),
        (cut("content_filter"), "refused", ""),
        (cut("max_output_tokens"), "length", ""),
        ({"output": [call(result=None)], "usage": None, "tool_usage": "odd"}, "no_picture", ""),
        (JSONResponse(failed("moderation_blocked", "It was rejected"), 400), "refused", "rejected"),
        ({"output": [], **failed("server_error", "Try again.")}, "bad_reply", ""),
        ({"output": "none"}, "bad_reply", ""),
        ({"choices": []}, "bad_reply", ""),
        ({"output": [{"type": "message"}]}, "bad_reply", ""),
    ],
)
async def test_an_end_without_a_drawing_is_recorded_as_what_it_is(
    far: FarEnd, answer: Any, finish: str, text: str
) -> None:
    far.answer = answer
    model = openai(far, draw_with="responses")
    if finish == "bad_reply":
        with pytest.raises(CallFailed) as caught:
            await model.draw(of("Draw."), Options())
        assert caught.value.kind == "bad_reply" and not caught.value.blames_model
        return
    reply = await model.draw(of("Draw."), Options())
    assert (reply.finish, reply.picture) == (finish, None)
    assert text in reply.text if text == "rejected" else reply.text == text


async def test_an_image_model_calls_no_tool(far: FarEnd) -> None:
    with pytest.raises(CannotPlay, match="draw_with=edit"):
        await OpenAI("gpt-image-2", draw_with="responses").draw(of("Draw."), Options())


# Azure


async def test_azure_uses_entra_tokens_without_a_key(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    """azure-identity asks a managed-identity endpoint for the token, as it does inside Azure."""
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{far.url}/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "inside")
    model = Azure("m", azure_endpoint=far.url, token_scope="api://trapi/.default")
    assert (await model.say(of("?"), Options())).text == "left"
    asked, sent = far.seen
    assert (asked.path, asked.query["resource"]) == ("/msi/token", "api://trapi")
    assert sent.headers["authorization"] == "Bearer entra-token-1234" and "api-key" not in sent.headers


async def test_a_failed_sign_in_to_azure_stops_the_run_and_says_how_to_sign_in(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    with pytest.raises(CallFailed, match=r"set AZURE_OPENAI_API_KEY, or sign in with `az login`") as caught:
        await Azure("m", azure_endpoint=far.url).say(of("?"), Options())
    assert (caught.value.kind, caught.value.stops_run) == ("auth", True)


# Models that will be shut down


@pytest.mark.parametrize(("date", "found"), [("2026-12-01", {"m": "2026-12-01"}), (None, {}), ("soon", {}), (7, {})])
async def test_the_day_of_the_shutdown_is_what_the_list_of_models_says(
    far: FarEnd, date: Any, found: dict[str, str]
) -> None:
    far.shutdown_date = date
    assert await openai(far).retirements() == found
    assert await OpenAI("m", base_url="http://127.0.0.1:9/v1").retirements() == {}


def test_a_shutdown_within_three_months_is_a_warning_in_the_run_and_on_its_card(far: FarEnd, tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    soon, near, later = (str(today + timedelta(days=days)) for days in (10, 89, 92))
    assert retiring({"a": near, "b": later, "c": "2026-99-99"}) == [
        f"a is shut down on {near}, says its provider: plan to repeat this with another model"
    ]
    assert "this model is retired" in retiring({"a": str(today - timedelta(days=1))})[0]
    far.shutdown_date = soon
    args = {"base_url": f"{far.url}/v1"}
    run = sketchmark.run("openai/m", "maze", limit=1, model_args=args, output_path=tmp_path / "run", no_cache=True)
    assert run.folder.about().model.retires == {"m": soon}
    assert any(f"m is shut down on {soon}" in line for line in run.folder.results().warnings)
    assert f"m: {soon}" in card(run.folder, "run")
