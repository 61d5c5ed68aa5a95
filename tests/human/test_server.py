"""Requests that the server of `sketchmark play` refuses. None of them changes the run or loses a page."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from sketchmark.cli import main
from sketchmark.media import Picture
from tests.human.playing import playing


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A person who is asked for a drawing of a maze."""
    words = ("maze", "--limit", "1", "--name", "ann", "--mode", "visual_cot")
    with (
        playing(tmp_path_factory.mktemp("play"), *words) as game,
        httpx.Client(base_url=game.home, follow_redirects=True, timeout=30) as client,
    ):
        client.get(game.address)
        send(client, {"act": "next"})
        client.get("/api/page", params={"after": 1})
        send(client, {"act": "say", "text": "Next, move one step up."})
        assert page(client)["act"] == "draw"
        yield client


def page(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/page").json()
    return found


def send(client: httpx.Client, given: object, **more: Any) -> httpx.Response:
    return client.post("/api/reply", params={"number": page(client)["number"]}, json=given, **more)


def png(width: int, height: int) -> str:
    return base64.b64encode(Picture.from_image(Image.new("RGB", (width, height), "white")).data).decode()


STROKE = {"tool": "pen", "pointer": "mouse", "points": [[1, 2, 3]], "colour": "#000000", "width": 3}
MANY = [{**STROKE, "points": [[1, 2, 3]] * 6000}] * 20


def drawn(**stroke: Any) -> dict[str, Any]:
    """A drawing of the right size with one stroke."""
    return {"act": "draw", "drawing": "RIGHT", "strokes": [{**STROKE, **stroke}]}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"act": "say", "text": "up"}, "does not take 'say'"),
        ({"act": "next"}, "does not take 'next'"),
        ({"act": "draw", "drawing": "no base64!"}, "the drawing cannot be read"),
        ({"act": "draw", "drawing": base64.b64encode(b"<svg/>").decode()}, "the drawing cannot be read"),
        ({"act": "draw", "drawing": png(3, 3)}, "not a PNG of"),
        (drawn(tool="rm"), "`$.strokes[0].tool`"),
        (drawn(colour="url(x)"), "`$.strokes[0].colour`"),
        (drawn(points=[[1, 2]]), "`$.strokes[0].points[0]`"),
        (drawn(points=[[10**9, 2, 3]]), "`$.strokes[0].points[0][0]`"),
        (drawn(points=[]), "`$.strokes[0].points`"),
        (drawn(width=1e9), "`$.strokes[0].width`"),
        ({**drawn(), "strokes": MANY}, "more than 100,000 points"),
        ({**drawn(), "rt": -1}, "`$.rt`"),
        ({**drawn(), "more": 1}, "unknown field `more`"),
        ({**drawn(), "text": "x" * 20_001}, "`$.text`"),
        (["draw"], "Expected `object`"),
        ("draw", "Expected `object`"),
    ],
)
def test_a_reply_that_the_page_does_not_ask_for_is_refused_in_one_line(
    client: httpx.Client, given: Any, told: str
) -> None:
    shown = page(client)
    if isinstance(given, dict) and given.get("drawing") == "RIGHT":
        given = {**given, "drawing": png(shown["surface"]["width"], shown["surface"]["height"])}
    answer = send(client, given)
    assert answer.status_code == 400
    assert told in answer.json()["error"] and "\n" not in answer.json()["error"]
    assert page(client)["number"] == shown["number"]


def test_requests_of_others_are_refused(client: httpx.Client) -> None:
    number = page(client)["number"]
    skip = {"act": "skip"}
    assert send(client, skip, headers={"Origin": "https://elsewhere.example"}).status_code == 403
    assert send(client, skip, headers={"Host": "elsewhere.example"}).status_code == 421
    plain = client.post("/api/reply", params={"number": number}, content=json.dumps(skip))
    assert plain.status_code == 415
    large = {"act": "draw", "drawing": "A" * 17_000_000}
    assert send(client, large).status_code == 413
    assert client.post("/api/reply", params={"number": number - 1}, json=skip).status_code == 409
    other = {"act": "say", "text": "up"}  # of a page that is gone, and not what this one asks for
    assert client.post("/api/reply", params={"number": number - 1}, json=other).status_code == 409
    assert client.post("/api/reply", params={"number": "one"}, json=skip).status_code == 400
    assert client.post("/api/read", json={"text": "up"}).status_code == 400
    assert client.post("/api/enrol", json={}).status_code == 400
    assert client.delete("/api/page").status_code == 405
    stranger = httpx.get(f"{client.base_url}/api/page")
    assert stranger.status_code == 403 and "sketchmark play" in stranger.text
    assert page(client)["number"] == number


def test_files_are_those_of_the_page_and_every_answer_has_the_strict_headers(client: httpx.Client) -> None:
    shown = page(client)
    images = [one["file"] for one in shown["parts"] if one["kind"] == "image"]
    answer = client.get(f"/file/{images[0]}")
    assert answer.headers["content-type"] == "image/png"
    for path in ("/", "/api/page", f"/file/{images[0]}", "/play/play.js", "/static/style.css"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"] and "unsafe" not in str(headers)
    for name in ("0" * 64, "..%2Frun.json", "../../run.json"):
        assert client.get(f"/file/{name}").status_code == 404
    assert "target" not in json.dumps(shown) and "moves" not in shown


@pytest.mark.parametrize("name", ["../up", "", "a b", "a" * 41, "-x"])
def test_a_name_that_is_no_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["play", "maze", f"--name={name}"])
    assert ended.value.code == 2
    assert not list(tmp_path.iterdir())
