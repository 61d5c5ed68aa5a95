"""Reward functions and the reward server: the scores of a run, for whatever is sent."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
from collections.abc import Iterator
from multiprocessing import active_children
from typing import Any

import httpx
import msgspec
import numpy as np
import pytest
from PIL import Image

from sketchmark.media import Picture
from sketchmark.testing import BLANK
from sketchmark.training import Course, Game, server, worlds
from sketchmark.training.functions import (
    answer_reward,
    compute_frames,
    compute_score,
    form_reward,
    frame_reward,
    rows,
)
from sketchmark.training.server import rewarding

COURSE = Course("gears")
SAMPLE = COURSE.sample(7, 3)
FRAMES = SAMPLE.frames() if SAMPLE.frames else []
ANSWER = f'<ANSWER_JSON>["{SAMPLE.target["answer"][0]}"]</ANSWER_JSON>'
SHARES = ("right", "legal", "readable", "progress")
NAMED = {"world": "gears", "seed": 7, "level": 3}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with rewarding(processes=2) as address:
        yield address


def b64(picture: Picture) -> str:
    return base64.b64encode(picture.data).decode()


def asked(pictures: list[Picture], *names: str, **metadata: Any) -> dict[str, Any]:
    history = [{"image_b64": b64(one)} for one in pictures]
    about = {"seed": 7, "level": 3, **metadata}
    return {"history": history, "required_rewards": list(names), "metadata": about, "request_id": "r-1"}


def scored(url: str, *requests: Any) -> dict[str, Any]:
    reply = httpx.post(f"{url}/score", json={"protocol_version": "1", "requests": requests}, timeout=60)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


def test_true_frames_earn_everything_and_the_headline_comes_first(url: str) -> None:
    said = asked(FRAMES, "gears_frames")
    said["history"] = [part for image in said["history"] for part in ({"text": "Next."}, {"image_b64": None}, image)]
    body = scored(url, said, asked([BLANK, *FRAMES], "gears_frames", skip=1))
    for result in body["results"]:
        assert next(iter(result["gears_frames"].items())) == ("right", 1.0)
        assert set(result["gears_frames"].values()) == {1.0}
    assert body["errors"] == [{}, {}] and body["identities"][0]["request_id"] == "r-1"


def test_one_frame_and_an_answer_are_scored_alone(url: str) -> None:
    right, wrong = asked(FRAMES[1:2], "gears_last", index=1), asked(FRAMES[1:2], "gears_last", index=0)
    said = {**asked([], "gears_answer"), "history": [{"text": ANSWER}]}
    found = scored(url, right, wrong, said)["results"]
    assert [one["gears_last"]["right"] for one in found[:2]] == [1.0, 0.0]
    assert found[2] == {"gears_answer": {"answer": 1.0, "form": 1.0}}


def test_jpeg_frames_are_read(url: str) -> None:
    import io

    made = io.BytesIO()
    FRAMES[0].image().convert("RGB").save(made, "JPEG", quality=95)
    jpeg = Picture.from_bytes(made.getvalue())
    assert scored(url, asked([jpeg], "gears_last"))["results"][0]["gears_last"]["right"] == 1.0


BAD = [
    asked(FRAMES, "maize_frames"),
    asked(FRAMES, "gears_frames", seed=-1),
    asked(FRAMES, "gears_frames", level=9),
    asked(FRAMES, "gears_frames", look="pink"),
    {**asked([], "gears_frames"), "history": [{"image_b64": "no base64!"}]},
    {**asked([], "gears_frames"), "history": [{"image_b64": 17}]},
    {**asked([], "gears_frames"), "history": [{"image_b64": {"url": "http://127.0.0.1/x.png"}}]},
    {**asked([], "gears_frames"), "history": [{"video_path": "/etc/passwd"}] * 65},
    {"history": []},
    17,
    None,
]


def test_what_cannot_be_scored_has_its_reason_and_spoils_nothing_else(url: str) -> None:
    body = scored(url, *BAD, asked(FRAMES, "gears_frames"))
    assert all(body["errors"][:-1]) and not any(body["results"][:-1])
    assert body["results"][-1]["gears_frames"]["progress"] == 1.0
    assert "passwd" not in json.dumps(body)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"requests": 3}', b"[" * 100_000])
def test_a_body_that_is_no_request_is_refused_in_one_line(url: str, body: bytes) -> None:
    reply = httpx.post(f"{url}/score", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400 and "\n" not in reply.json()["error"]["message"]


def test_names_of_requests_come_back_as_they_are_and_images_may_have_escaped_characters(url: str) -> None:
    nested: Any = 2**80
    for _ in range(300):
        nested = [nested]
    given = {"request_id": {"a": ["é", 1.5]}, "sample_id": 2**80, "group_id": nested}
    named = {**asked(FRAMES[:1], "gears_last"), **given}
    escaped = json.dumps({"requests": [named]}).replace("/", r"\/").replace("iVBO", r"\u0069VBO")
    assert r"\u0069VBO" in escaped
    reply = httpx.post(f"{url}/score", content=escaped, headers={"Content-Type": "application/json"}).json()
    assert reply["results"][0]["gears_last"]["right"] == 1.0
    assert {name: value for name, value in reply["identities"][0].items() if value is not None} == given


def test_a_large_request_between_small_ones_is_scored_in_its_place(url: str) -> None:
    """It does not fit into one message of a socket, nor into the memory that a process has at first."""
    noise = np.random.default_rng(7).integers(0, 256, (900, 900, 3), np.uint8)
    large = asked([Picture.from_image(Image.fromarray(noise))] * 3, "gears_frames")
    small = asked(FRAMES, "gears_frames")
    found = scored(url, small, large, small, small, large)["results"]
    assert [one["gears_frames"]["right"] for one in found] == [1.0, 0.0, 1.0, 1.0, 0.0]


def test_requests_are_shared_out_in_their_order_and_by_their_size() -> None:
    small, large = msgspec.Raw(b"1"), msgspec.Raw(b"2" * 1_000_001)
    assert [len(part) for part in server._parts([small] * 9, 2)] == [5, 4]
    assert [len(part) for part in server._parts([small] * 40, 2)] == [16, 16, 8]
    mixed = [small, large, large, small]
    assert [len(part) for part in server._parts(mixed, 1)] == [2, 1, 1]
    assert [one for part in server._parts(mixed, 1) for one in part] == mixed


def test_broken_and_blank_images_earn_nothing(url: str) -> None:
    broken = {**asked([], "gears_frames"), "history": [{"image_b64": base64.b64encode(b"\x89PNG").decode()}]}
    for request in (broken, asked([BLANK] * 3, "gears_frames"), asked([], "gears_frames")):
        found = scored(url, request)["results"][0]["gears_frames"]
        assert set(found.values()) == {0.0}


def test_the_key_is_taken_in_three_ways_and_nothing_works_without() -> None:
    with rewarding(key="s3cret") as url:
        host = url.removeprefix("http://")
        for address, headers in (
            (f"http://x:s3cret@{host}/health", {}),
            (f"{url}/s3cret/health", {}),
            (f"{url}/health", {"Authorization": "Bearer s3cret"}),
        ):
            assert httpx.get(address, headers=headers).json()["status"] == "ok"
        for address in (f"{url}/health", f"http://x:wrong@{host}/health", f"{url}/wrong/health", f"{url}/rewards"):
            assert httpx.get(address).status_code == 401


def test_a_process_that_dies_costs_no_request() -> None:
    """The next requests find the pool broken, and another one is started."""
    others = set(active_children())
    with rewarding(processes=1) as url:
        scored(url, asked(FRAMES[:1], "gears_last"))
        (scorer,) = set(active_children()) - others
        scorer.kill()
        scorer.join()
        assert scored(url, asked(FRAMES[:1], "gears_last"))["results"][0]["gears_last"]["right"] == 1.0


def test_a_request_that_kills_its_process_twice_has_that_as_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_work", _faint)
    with rewarding(processes=1) as url:
        body = scored(url, asked(FRAMES[:1], "gears_last"))
    assert body["results"] == [{}] and "died" in body["errors"][0]["request"]


def _faint(link: socket.socket) -> None:
    """Take the first bytes of a part, and end as if the system had killed the process."""
    link.recv(1)
    os._exit(9)


def test_pages_of_other_sites_are_refused(url: str) -> None:
    assert httpx.get(f"{url}/health", headers={"Origin": "http://evil.example"}).status_code == 403
    assert httpx.get(f"{url}/health", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.slow
async def test_a_thousand_requests_at_once_are_all_answered(url: str) -> None:
    body = {"requests": [asked(FRAMES[:1], "gears_last", index=0)]}
    limits = httpx.Limits(max_connections=1000)
    async with httpx.AsyncClient(limits=limits, timeout=300) as client:
        replies = await asyncio.gather(*(client.post(f"{url}/score", json=body) for _ in range(1000)))
    assert [reply.status_code for reply in replies] == [200] * 1000
    assert all(reply.json()["results"][0]["gears_last"]["right"] == 1.0 for reply in replies)


@pytest.mark.parametrize("world", worlds())
def test_functions_and_server_give_the_marks_of_the_game_that_has_the_same_replies(url: str, world: str) -> None:
    """A game has the scores of a run, which `test_games` checks."""
    course, named = Course(world), {"world": world, "seed": 21, "level": 3}
    sample = course.sample(21, 3)
    true = list(sample.frames() if sample.frames else ())
    # A table of drawings: right, one of them wrong, the last missing.
    for drawn in (true, [true[0], *true[:1], *true[2:]], true[:-1]):
        game = Game(course, 21, 3)
        turn, left = game.begin(), iter(drawn)
        while not turn.done:
            turn = game.step(next(left, "no drawing") if turn.wanted == "draw" else ANSWER)
        marks, columns = course.marks(game.episode), {name: [value] for name, value in named.items()}
        said = game.episode.answer or ""
        assert frame_reward([said], **columns, drawn=[drawn]) == [marks.progress]
        assert answer_reward([said], **columns) == [marks.answer] and form_reward([said], **columns) == [marks.form]
        found = compute_frames(world, np.stack([one.values.transpose(2, 0, 1) for one in drawn]), None, named)
        assert found == {"score": marks.progress, **{name: getattr(marks, name) for name in SHARES}}
        served = scored(url, {**asked(drawn, f"{world}_frames"), "metadata": {"seed": 21, "level": 3}})
        assert served["results"][0][f"{world}_frames"] == {name: getattr(marks, name) for name in SHARES}


def test_trls_functions_score_completions_by_the_columns_of_their_rows() -> None:
    made = rows("gears", 2, first=7, levels=(3,))
    assert [part["type"] for part in made[0]["prompt"][0]["content"]].count("image") == len(made[0]["images"]) == 1
    columns = {name: [row[name] for row in made] for name in ("world", "seed", "level")}
    said = [[{"role": "assistant", "content": ANSWER}], [{"role": "assistant", "content": "<ANSWER_JSON>[]"}]]
    assert answer_reward(said, **columns, prompts=[], trainer_state=None) == [1.0, 0.0]
    assert answer_reward([ANSWER, "?"], **columns) == [1.0, 0.0]
    assert form_reward(["?", ANSWER], **columns) == [0.0, 1.0]
    assert frame_reward(["", ""], **columns, drawn=[FRAMES, [BLANK]])[0] == 1.0


def test_verls_functions_score_texts_and_tensors() -> None:
    assert compute_score("gears", ANSWER, None, {"seed": 7, "level": 3}) == {"score": 1.0, "answer": 1.0, "form": 1.0}
    assert compute_score("any", "?", None, NAMED)["score"] == 0.0
    stack = [frame.values.transpose(2, 0, 1) for frame in FRAMES]
    assert compute_frames("gears", np.stack(stack), None, NAMED)["score"] == 1.0
    assert compute_frames("gears", stack[1], None, {**NAMED, "index": 1})["score"] == 1.0
    assert compute_frames("gears", stack[1], None, NAMED)["score"] == 0.0
