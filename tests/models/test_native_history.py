"""`history=native` on the wire: what OpenAI and Gemini returned goes back as it came, in order, and nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.responses import Response

from sketchmark import Context, Options, Part, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed
from sketchmark.media import Picture
from sketchmark.models import load_model
from sketchmark.models.layout import LONGEST
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from sketchmark.runs import prepare
from tests.models.fake_server import DRAWN, KEY, FarEnd, Fault, Seen, gemini_answer, in_base64, picture
from tests.models.test_against_the_sdk import SAID, THOUGHT

GLASS = Picture.from_image(Image.new("RGBA", (8, 8), (200, 40, 90, 128)))
"""In the plain form it would be sent on white paper."""
CALL = {
    "type": "image_generation_call", "id": "ig_1", "status": "generating", "result": in_base64(GLASS),
    "revised_prompt": "A dot.", "size": "8x8",
}  # fmt: skip
LOOKED = {**THOUGHT, "id": "rs_2", "encrypted_content": "gAAAdrew"}
WITH_IT = {**SAID, "id": "msg_2", "content": [{"type": "output_text", "text": "There.", "annotations": []}]}


def openai(far: FarEnd, **args: Any) -> OpenAI:
    return OpenAI("m", base_url=f"{far.url}/v1", history="native", **{"max_retries": 0, **args})


def gemini(far: FarEnd) -> Gemini:
    return Gemini("m-image", base_url=far.url, history="native", max_retries=0)


def items(*output: dict[str, Any]) -> dict[str, Any]:
    return {"id": "resp_1", "status": "completed", "output": list(output)}


def inline(shown: Picture, signature: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": in_base64(shown)}, "thoughtSignature": signature}


async def three_calls(far: FarEnd, model: OpenAI | Gemini, said: Any, drawn: Any) -> list[Reply]:
    """A plan, a drawing and an answer, with the context as the desk would make it."""
    far.answer = said
    context = of(picture(1), "Plan.")
    plan = await model.say(context, Options())
    context += (Part(plan.text, "model", plan.native),)
    far.answer = drawn
    drawing = await model.draw(context + of("Draw.").parts, Options())
    assert drawing.picture is not None
    context += (Part(drawing.picture, "model", drawing.native), Part("So?"))
    far.answer = said
    return [plan, drawing, await model.say(context, Options())]


async def test_openais_items_go_back_in_order_and_byte_for_byte(far: FarEnd) -> None:
    model = openai(far, draw_model="gpt-image-2")
    empty = {"status": None, "content": None}
    said, drawn = items({**THOUGHT, **empty}, SAID), items(LOOKED, {**CALL, "error": None}, WITH_IT)
    plan, drawing, answer = await three_calls(far, model, said, drawn)
    assert (plan.text, drawing.picture, drawing.text, answer.finish) == ("Left é.", GLASS, "There.", "stop")
    assert {seen.path for seen in far.seen} == {"/v1/responses"}
    first, second, third = (seen.body for seen in far.seen)
    for body in (first, third):
        assert body["store"] is False and body["include"] == ["reasoning.encrypted_content"]
    assert [item.get("id") for item in second["input"]] == [None, "rs_1", "msg_1", None]
    assert third["input"][1:6] == [THOUGHT, SAID, LOOKED, CALL, WITH_IT]
    assert third["input"][6] == {"role": "user", "content": [{"type": "input_text", "text": "So?"}]}
    assert "tools" in second and "tools" not in first | third
    assert in_base64(GLASS) not in drawing.native and answer.usage.pictures_in == 2


async def test_geminis_parts_go_back_with_their_signatures_as_the_sdk_sends_them(far: FarEnd) -> None:
    from google import genai
    from google.genai import types

    signed = [base64.b64encode(name).decode() for name in (b"\xff\xfe said", b"drew", b"thought")]
    thoughts = [{"text": "Hm.", "thought": True}, {"text": "Aha.", "thought": True, "thoughtSignature": signed[2]}]
    tool = {"functionCall": {"name": "look", "args": {}}, "thoughtSignature": signed[2]}
    said = gemini_answer([thoughts[0], {"text": ""}, {"text": "Left.", "thoughtSignature": signed[0]}, tool])
    drawn = gemini_answer([*thoughts, {"text": "There."}, inline(GLASS, signed[1])])
    _, drawing, answer = await three_calls(far, gemini(far), said, drawn)
    assert drawing.picture == GLASS and in_base64(GLASS) not in drawing.native and answer.left_out == ()
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=far.url))
    own = [
        types.Part(text="Left.", thought_signature=b"\xff\xfe said"),
        types.Part(text="Aha.", thought=True, thought_signature=b"thought"),
        types.Part(text="There."),
        types.Part(inline_data=types.Blob(data=GLASS.data, mime_type="image/png"), thought_signature=b"drew"),
    ]
    shown = types.Part.from_bytes(data=picture(1).data, mime_type="image/png")
    turns = [("user", [shown, types.Part(text="Plan.")]), ("model", own), ("user", [types.Part(text="So?")])]
    await client.aio.models.generate_content(
        model="m-image",
        contents=[types.Content(role=role, parts=parts) for role, parts in turns],
        config=types.GenerateContentConfig(temperature=0.0, response_modalities=["TEXT"]),
    )
    ours, theirs = far.seen[2:]
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    assert [content["role"] for content in ours.body["contents"]] == ["user", "model", "user"]


async def test_no_bytes_of_drafts_are_kept_and_the_next_call_says_so(far: FarEnd) -> None:
    draft = {**CALL, "id": "ig_0", "result": in_base64(DRAWN)}
    drawn = items({**LOOKED, "id": "rs_0"}, draft, LOOKED, CALL)
    _, drawing, answer = await three_calls(far, openai(far), items(SAID), drawn)
    assert drawing.picture == GLASS and in_base64(DRAWN) not in drawing.native
    assert answer.left_out == ("1 draft of earlier drawings: the drawings alone are kept",)
    assert [item.get("id") for item in far.seen[2].body["input"]] == [None, "msg_1", "rs_2", "ig_1", None]
    far.reset()
    drafts = gemini_answer([inline(DRAWN, "AAAA"), inline(DRAWN, "AAAA"), inline(GLASS, "BBBB")])
    *_, answer = await three_calls(far, gemini(far), gemini_answer([{"text": "Left."}]), drafts)
    assert answer.left_out == ("2 drafts of earlier drawings: the drawings alone are kept",)
    assert far.seen[2].pictures == [picture(1), GLASS]


async def test_thoughts_that_led_to_nothing_are_not_sent_back_alone(far: FarEnd) -> None:
    error = {"code": "image_content_policy_violation", "message": "Not this."}
    far.answer = {**items(THOUGHT), "error": error}
    reply = await openai(far).say(of("?"), Options())
    assert (reply.finish, reply.text, reply.native) == ("refused", "Not this.", "")


async def test_a_record_that_is_too_long_is_no_reply_and_is_not_asked_for_again(far: FarEnd) -> None:
    far.answer = items({**THOUGHT, "encrypted_content": "A" * LONGEST}, SAID)
    why = "record of the turn is 4000234 characters long: 4000000 can be kept"
    with pytest.raises(CallFailed, match=why) as caught:
        await openai(far, max_retries=3).say(of("?"), Options())
    assert (caught.value.kind, len(far.seen)) == ("bad_reply", 1)


async def test_half_a_character_and_an_echoed_key_are_kept_out_of_the_record(far: FarEnd) -> None:
    model = openai(far)
    far.answer = Response(json.dumps(items({**THOUGHT, "encrypted_content": f"{KEY} \ud83d"}, SAID)))
    reply = await model.say(of("?"), Options())
    kept = json.loads(reply.native)[0]
    assert kept["encrypted_content"] == "[key] \\ud83d" and KEY not in reply.native
    await model.say(Context((Part("?"), Part(reply.text, "model", reply.native))), Options())
    assert far.seen[1].body["input"][1] == kept
    await model.close()


async def test_a_damaged_record_is_an_error_and_is_not_sent(far: FarEnd) -> None:
    for model in (openai(far), gemini(far)):
        for record in ("[", '{"a": 1}', "[" * 3000):
            with pytest.raises(BadInput, match=r"record of an earlier turn cannot be read.*--no-cache"):
                await model.say(Context((Part("?"), Part("Left.", "model", record))), Options())
        await model.close()
    assert far.seen == []


def test_native_state_makes_another_context_and_so_another_call() -> None:
    plain = Context((Part("?"), Part("Left.", "model")))
    keys = {replace(plain, parts=(Part("?"), Part("Left.", "model", record))).key() for record in ("", "[1]", "[2]")}
    assert len(keys) == 3 and plain.key() in keys
    drawn = {Context((Part(DRAWN, "model", record),)).key() for record in ("", "[1]")}
    assert len(drawn) == 2


@pytest.mark.parametrize("name", ["openai/m", "azure/m", "gemini/m-image"])
def test_plain_is_the_default_and_the_same_model(name: str, far: FarEnd) -> None:
    where = {"azure_endpoint" if name.startswith("azure") else "base_url": far.url}
    default, plain, native = (
        load_model(name, {**where, **more}) for more in ({}, {"history": "plain"}, {"history": "native"})
    )
    assert default.identity() == plain.identity() != native.identity() and not plain.abilities.native
    assert native.identity()["history"] == "native" and native.abilities.native


def answer_by_content(seen: Seen) -> dict[str, Any]:
    """As a server would that thinks the same of the same: ids and reasoning follow from all that was sent."""
    name = hashlib.sha256(json.dumps(seen.body, sort_keys=True).encode()).hexdigest()
    drawing = [{**CALL, "id": f"ig_{name[:8]}", "result": in_base64(picture(int(name[:2], 16)))}]
    said = [{**SAID, "id": f"msg_{name[:8]}"}]
    thought = {**THOUGHT, "id": f"rs_{name[:8]}", "encrypted_content": name}
    return items(thought, *(drawing if "tools" in seen.body else said))


def test_a_run_resumed_in_the_middle_sends_the_same_items(far: FarEnd, tmp_path: Path) -> None:
    def play(folder: str, **more: Any) -> list[Any]:
        far.seen.clear()
        prepare(
            "openai/m", "maze", mode="visual_cot", limit=1, output_path=tmp_path / folder, engine="local",
            model_args=f"base_url={far.url}/v1,history=native,max_retries=0", task_args="min_steps=3,max_steps=3",
            **more,
        ).play()  # fmt: skip
        return [seen.body for seen in far.seen]

    far.answer = answer_by_content
    whole = play("whole", no_cache=True)
    assert len(whole) == 7 and len(whole[-1]["input"]) > 12

    def until_the_fifth(seen: Seen) -> dict[str, Any]:
        if len(far.seen) == 4:
            far.faults = [Fault(500)]
        return answer_by_content(seen)

    far.answer = until_the_fifth
    assert play("halves", cache=tmp_path / "cache") == whole[:5]
    far.answer = answer_by_content
    assert play("halves", cache=tmp_path / "cache") == whole[4:]
