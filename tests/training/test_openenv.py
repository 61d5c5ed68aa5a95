"""The worlds as OpenEnv's server and client: its own validation, and games over real WebSockets and HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode.model import Options
from sketchmark.testing import BLANK
from sketchmark.training import Course, Game

pytestmark = pytest.mark.trainers
HUB = Path(__file__).parents[2] / "hubs" / "openenv"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the hub's server in its own process."""
    pytest.importorskip("openenv", reason="another trainer's environment")
    command = [sys.executable, str(HUB / "server" / "app.py"), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            lines = iter(process.stderr.readline, "")
            yield next(
                found[1] for line in lines if (found := re.search(r"running on (http://127\.0\.0\.1:\d+)", line))
            )
        finally:
            process.terminate()


@pytest.mark.parametrize("world", ["gears", "rush_hour", "jigsaw"])
@pytest.mark.parametrize("model", ["player/solver", "player/flawed"])
def test_a_session_has_the_parts_and_rewards_of_the_game(address: str, world: str, model: str) -> None:
    from sketchmark.training.openenv import WorldEnv, reply_of

    player = Catalog().model(model, {"draw_error": 0.9} if model.endswith("flawed") else {})
    game = Game(Course(world), 11, 3)
    turn, total = game.begin(), 0.0
    with WorldEnv(base_url=address).sync() as env:
        result = env.reset(seed=11, world=world, level=3)
        while not turn.done:
            seen = [one.text or one.image_url for one in result.observation.parts]
            assert seen == [part.picture.data_url if part.picture else part.text for part in turn.parts]
            assert result.observation.wanted == turn.wanted
            reply = asyncio.run((player.draw if turn.wanted == "draw" else player.say)(turn.context, Options()))
            sent = reply.picture or reply.text
            turn, result = game.step(sent), env.step(reply_of(sent))
            assert (result.reward, result.done) == (turn.reward, turn.done)
            assert result.observation.metadata == turn.info
            total += result.reward
        state = env.state()
    assert (total == pytest.approx(1.0)) == (model == "player/solver")
    assert (state.world, state.seed, state.step_count) == (world, 11, len([*game.episode.contexts()]))


def test_its_own_validation_passes(address: str) -> None:
    validate = [str(Path(sys.executable).with_name("openenv")), "validate"]
    for asked in (["--url", address, "--timeout", "60"], [str(HUB), "--level", "static"]):
        done = subprocess.run([*validate, *asked], capture_output=True, text=True)
        assert done.returncode == 0 and "Verdict: PASS" in done.stdout, done.stdout + done.stderr
        assert "FAIL" not in done.stdout


def test_nothing_that_a_client_sends_ends_the_session(address: str) -> None:
    from openenv.core.generic_client import GenericEnvClient

    from sketchmark.training.openenv import WorldAction, WorldEnv, reply_of

    image: dict[str, Any] = {"type": "image_url", "image_url": "data:image/png;base64,AAAA"}
    with WorldEnv(base_url=address).sync() as env, GenericEnvClient(base_url=address).sync() as raw:
        refused: list[tuple[Callable[[], Any], str]] = [
            (lambda: env.step(reply_of("before reset")), "no game has begun"),
            (lambda: env.reset(seed=1, world="voila"), "no levels"),
            (lambda: env.reset(seed=-1), "no training seed"),
            (lambda: env.reset(seed=1, bananas=2), "no bananas"),
            (lambda: raw.step({"parts": [image] * 9}), "VALIDATION_ERROR"),
            (lambda: raw.step({"parts": [{"type": "path", "path": "/etc"}]}), "VALIDATION_ERROR"),
            (lambda: raw.step({"parts": [{**image, "video_path": "/etc"}]}), "VALIDATION_ERROR"),
        ]
        for sent, said in refused:
            with pytest.raises(RuntimeError, match=said):
                sent()
        for address_of_image in ("data:image/png;base64,AAAA", "http://127.0.0.1/x.png", "data:,x", "/etc/passwd"):
            env.reset(seed=3)
            env.step(reply_of("a plan"))
            ended = env.step(WorldAction(parts=[{**image, "image_url": address_of_image}]))
            assert (ended.done, ended.reward) == (True, 0.0)
            assert ended.observation.metadata["failure"] == "no_picture"
        env.reset(seed=3)
        assert env.step(reply_of("a plan", BLANK)).observation.wanted == "draw"


def test_web_pages_other_hosts_and_large_messages_are_refused(address: str) -> None:
    from websockets.exceptions import ConnectionClosed, InvalidStatus
    from websockets.sync.client import connect

    port = address.rpartition(":")[2]
    for page, host in (("http://example.org", "127.0.0.1"), (None, "example.org")):
        tcp = create_connection(("127.0.0.1", int(port)))
        with pytest.raises(InvalidStatus, match="403"), connect(f"ws://{host}:{port}/ws", sock=tcp, origin=page):  # type: ignore[arg-type]
            pass
        headers = {"Host": host, **({"Origin": page} if page else {})}
        with pytest.raises(HTTPError, match=r"40[03]"):
            urlopen(Request(f"{address}/reset", b"{}", {"Content-Type": "application/json", **headers}))
    step = json.dumps({"action": {"parts": [{"type": "text", "text": "a plan"}]}}).encode()
    with pytest.raises(HTTPError, match="500"):  # a game is a session on a WebSocket
        urlopen(Request(f"{address}/step", step, {"Content-Type": "application/json"}))
    with connect(f"ws://127.0.0.1:{port}/ws", max_size=None) as session:
        session.send(json.dumps({"type": "step", "data": {"parts": [{"type": "text", "text": "x" * 25_000_000}]}}))
        with pytest.raises(ConnectionClosed, match="1009"):
            session.recv()
