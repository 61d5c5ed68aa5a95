"""Drawing through the Responses API: what comes back in each of its shapes, and that nothing but the context goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.errors import CallFailed, CannotPlay
from sketchmark.models.players import make
from sketchmark.models.providers.openai import OpenAI
from sketchmark.runs import prepare
from sketchmark.serve import serving
from tests.models.fake_server import DRAWN, KEY, in_base64, picture


class Far(ThreadingHTTPServer):
    answer: Any
    status: int = 200
    bodies: list[dict[str, Any]]
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    server: Far

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        sent = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[Far]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Far(("127.0.0.1", 0), _Handler) as server:
        server.bodies = []
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        server.shutdown()


def model(far: Far, **args: Any) -> OpenAI:
    url = f"http://127.0.0.1:{far.server_address[1]}/v1"
    return OpenAI("main", base_url=url, draw_with="responses", max_retries=0, **args)


def call(**more: Any) -> dict[str, Any]:
    return {"type": "image_generation_call", "id": "ig_1", "status": "completed", **more}


def said(**block: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [block]}


RESULT = in_base64(DRAWN)
USAGE = {"input_tokens": 100, "output_tokens": 7}


async def test_the_last_drawing_with_bytes_counts_whatever_its_status_says(far: Far) -> None:
    drafts = [call(result=in_base64(picture(3))), {"type": "reasoning", "id": "rs_1", "summary": []}]
    last = call(status="generating", result=RESULT, revised_prompt="A red dot, lower.")
    tools = {"image_gen": {"input_tokens": 40, "output_tokens": 1000}}
    words = said(type="output_text", text="There it is.")
    far.answer = {"status": "completed", "output": [*drafts, last, words], "usage": USAGE, "tool_usage": tools}
    reply = await model(far).draw(of("Draw."), Options())
    assert (reply.picture, reply.finish, reply.text) == (DRAWN, "stop", "There it is.")
    assert (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.pictures_out) == (140, 1007, 1)
    assert "A red dot, lower." in str(reply.raw)


@pytest.mark.parametrize(
    ("answer", "finish", "text"),
    [
        ({"output": [said(type="output_text", text="A dot.")]}, "no_picture", "A dot."),
        ({"output": []}, "no_picture", ""),
        ({"output": [said(type="refusal", refusal="I will not.")]}, "refused", "I will not."),
        (
            {"output": [call(status="failed", error={"code": "moderation_blocked", "message": "Blocked."})]},
            "refused",
            "Blocked.",
        ),
        (
            {"output": [], "error": {"code": "image_content_policy_violation", "message": "Not this."}},
            "refused",
            "Not this.",
        ),
        ({"output": [], "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "refused", ""),
        ({"output": [], "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length", ""),
        ({"output": [call(result=None)], "usage": None, "tool_usage": "odd"}, "no_picture", ""),
    ],
)
async def test_an_end_without_a_drawing_is_told_as_what_it_is(far: Far, answer: Any, finish: str, text: str) -> None:
    far.answer = answer
    reply = await model(far).draw(of("Draw."), Options())
    assert (reply.finish, reply.text, reply.picture) == (finish, text, None)


async def test_a_refusal_by_status_is_one_as_well(far: Far) -> None:
    far.status, far.answer = 400, {"error": {"code": "moderation_blocked", "message": "Your request was rejected"}}
    reply = await model(far).draw(of("Draw."), Options())
    assert reply.finish == "refused" and "rejected" in reply.text


@pytest.mark.parametrize(
    "answer",
    [
        {"output": [], "error": {"code": "server_error", "message": "Try again."}},
        {"output": "none"},
        {"choices": []},
        {"output": [{"type": "message"}]},
    ],
)
async def test_what_is_no_reply_says_nothing_about_the_model(far: Far, answer: Any) -> None:
    far.answer = answer
    with pytest.raises(CallFailed) as caught:
        await model(far).draw(of("Draw."), Options())
    assert caught.value.kind == "bad_reply" and not caught.value.blames_model


async def test_nothing_but_the_context_is_sent_and_nothing_is_to_be_kept(far: Far) -> None:
    far.answer = {"output": [call(result=RESULT)], "usage": USAGE}
    shown = Context((Part(picture(1)), Part("Plan."), Part("Left.", by="model"), Part(picture(2), by="model")))
    await model(far, draw_model="gpt-image-2", quality="low", detail="high").draw(
        shown, Options(extra={"width": 64, "height": 32}, max_new_tokens=900)
    )
    body = far.bodies[0]
    assert body["store"] is False and body["image"] == {"context_compression": "disabled"}
    assert body["tools"] == [{"type": "image_generation", "model": "gpt-image-2", "size": "64x32", "quality": "low"}]
    assert body["tool_choice"] == {"type": "image_generation"} and body["max_output_tokens"] == 900
    sent = [(item["role"], len(item["content"])) for item in body["input"]]
    assert sent == [("user", 2), ("assistant", len("Left.")), ("user", 1)]
    assert body["input"][0]["content"][0]["detail"] == "high"
    assert not any(name.startswith("previous") or name == "conversation" for name in body)


def test_on_openai_the_model_that_talks_calls_the_tool_and_an_image_model_has_its_own_endpoint(far: Far) -> None:
    assert OpenAI("main").identity()["draw_with"] == "responses"
    assert OpenAI("gpt-image-2").identity()["draw_with"] == "edit"


async def test_an_image_model_calls_no_tool(far: Far) -> None:
    with pytest.raises(CannotPlay, match="draw_with=edit"):
        await OpenAI("gpt-image-2", draw_with="responses").draw(of("Draw."), Options())


def test_the_solver_scores_1_on_words_and_pictures_through_responses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(make("solver")) as url:
        prepare(
            "openai/x", "maze", mode="visual_cot", limit=2, output_path=tmp_path / "run", no_cache=True,
            model_args=f"base_url={url},draw_with=responses", task_args="rows=3,cols=3,max_steps=4,min_steps=2",
        ).play()  # fmt: skip
    lines = (tmp_path / "run/scores/maze.visual_cot.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line)["values"] for line in lines]
    assert len(rows) == 2 and all(value == 1.0 for values in rows for value in values.values())
    assert any("img" in name for name in rows[0]) and any("text" in name for name in rows[0])
