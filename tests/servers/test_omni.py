"""vLLM-Omni on the CPU with a tiny Qwen-Image-Edit-Plus, which only draws, and a tiny BAGEL: `make test-servers`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode.model import Options, Reply
from sketchmark.episode.sample import Context, Part
from sketchmark.worlds.cards import number_card
from tests.servers.starting import ON_CPU, ROOT, START, episodes, free_port, replies, sketchmark, started, verdicts
from tests.servers.weights import make_qwen25vl
from tests.servers.wire import tapped

pytestmark = pytest.mark.servers

_BIN = ROOT / ".venv-omni" / "bin"
_SETTINGS = {
    "num_inference_steps": 2,
    "guidance_scale": 1.5,
    "true_cfg_scale": 2.0,
    "negative_prompt": "blurred",
    "width": 64,
    "height": 96,
}
_MOST = 4
"""Images that the server takes for a drawing."""


@dataclass(frozen=True)
class Served:
    address: str
    name: str
    log: Path


@contextmanager
def _served(folder: Path, name: str, weights: Path, *more: str) -> Iterator[Served]:
    port, log = free_port(), folder / "log.txt"
    at = ("--host", "127.0.0.1", "--port", str(port), "--served-model-name", name)
    command = [str(_BIN / "vllm"), "serve", str(weights), "--omni", *at, "--enforce-eager", *more]
    with started(command, f"http://127.0.0.1:{port}/health", log, limit=START, more=ON_CPU):
        yield Served(f"http://127.0.0.1:{port}/v1", f"openai/{name}", log)


def _made(folder: Path, *words: str) -> Path:
    """Make weights by the packages of the server's environment."""
    command = [str(_BIN / "python"), "-m", "tests.servers.weights", str(folder), *words]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="module")
def omni(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("omni")
    encoder = make_qwen25vl(folder / "qwen25vl")
    weights = _made(folder / "edit", "edit", str(encoder))
    with _served(folder, "edit", weights, "--dtype", "float32") as served:
        yield served


@pytest.fixture(scope="module")
def bagel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("bagel")
    weights = _made(folder / "bagel", "bagel")
    [config] = (_BIN.parent / "lib").glob("python3*/site-packages/vllm_omni/deploy/bagel_single_stage.yaml")
    with _served(folder, "bagel", weights, "--dtype", "bfloat16", "--deploy-config", str(config)) as served:
        yield served


def test_the_doctor_asks_a_server_that_only_draws_for_drawings_only(omni: Served) -> None:
    args, few = (
        f"base_url={omni.address},max_retries=0",
        "num_inference_steps=1,true_cfg_scale=1.0,width=64,height=64",
    )
    done = sketchmark("doctor", "--model", omni.name, "--model-args", args, "--gen-kwargs", few, "--json")
    assert done.returncode == 1, done.stderr
    found = verdicts(done.stdout)
    assert sum(verdict == "not asked" for verdict in found.values()) == 10, found
    assert found["draws a picture"] == found["keeps to the size"] == found["keeps to the seed"] == "yes"
    assert "failed" not in found.values() and "on a white page" in done.stdout
    assert len(done.stderr.splitlines()) == len(found), "a line per check"


def test_a_pair_draws_with_every_setting_that_the_server_takes(omni: Served, tmp_path: Path) -> None:
    given = ",".join(f"{name}={value}" for name, value in _SETTINGS.items())
    words = ("--tasks", "maze", "--limit", "2", "--mode", "direct,visual_cot", "--concurrency", "1", "--no-cache")
    with tapped(omni.address) as tap:
        drawer = ("--drawer", omni.name, "--drawer-args", f"base_url={tap.url},timeout=600")
        more = ("--gen-kwargs", f"{given},seed=5", "-o", str(tmp_path / "run"))
        done = sketchmark("run", "--model", "player/solver", *drawer, *words, *more)
    assert done.returncode == 0, done.stderr
    found = episodes(tmp_path / "run", "maze.visual_cot")
    drawn = [reply for line, _ in found for reply in replies(line, "draw")]
    assert drawn and all(reply.picture is not None and reply.finish == "stop" for reply in drawn), drawn
    assert all(line.failure is None and row.scored for line, row in found)
    sent = tap.settings()
    refused = [body for body in tap.bodies if str(body["messages"]).count("'image_url'") > 2 * _MOST]
    assert len(refused) == 1 and len(sent) == len(drawn) + 1, "the server's limit of images is learnt once"
    assert any(f"the server takes {_MOST}" in one for reply in drawn for one in reply.left_out)
    for body in sent:
        assert {name: body[name] for name in _SETTINGS} == _SETTINGS
        assert (body["modalities"], body["model"], body["seed"]) == (["image"], "edit", 5)
    assert {message["role"] for body in tap.bodies for message in body["messages"]} == {"user"}
    # The server's own log of what it understood.
    understood = [line for line in omni.log.read_text("utf-8").splitlines() if "'negative_prompt': 'blurred'" in line]
    assert len(understood) == len(sent)
    assert all(f"'{name}': {value!r}" in line for line in understood for name, value in _SETTINGS.items())


async def _drawn(omni: Served, args: dict[str, Any], shown: Context, seed: int, extra: dict[str, Any]) -> Reply:
    model = Catalog().model(omni.name, {"base_url": omni.address, "timeout": 600, **args})
    try:
        return await model.draw(shown, Options(seed=seed, extra=extra))
    finally:
        await model.close()


async def test_each_setting_changes_the_drawing(omni: Served) -> None:
    shown = Context((Part(number_card("12")), Part("Draw a dot.")))
    first = await _drawn(omni, {}, shown, 5, _SETTINGS)
    again = await _drawn(omni, {}, shown, 5, _SETTINGS)
    assert first.picture and again.picture and first.picture.pixel_digest == again.picture.pixel_digest
    assert first.picture.size == (64, 96)
    for name, value in (
        ("num_inference_steps", 1),
        ("true_cfg_scale", 4.0),
        ("negative_prompt", "red"),
        ("width", 96),
    ):
        other = await _drawn(omni, {}, shown, 5, {**_SETTINGS, name: value})
        assert other.picture and other.picture.pixel_digest != first.picture.pixel_digest, name
    other = await _drawn(omni, {}, shown, 6, _SETTINGS)
    assert other.picture and other.picture.pixel_digest != first.picture.pixel_digest, "the seed"


async def test_every_image_and_text_reaches_a_drawing_also_the_models_own(omni: Served) -> None:
    few = {**_SETTINGS, "num_inference_steps": 3, "true_cfg_scale": 1.0}  # one step can round to the same image
    parts = (Part(number_card("12")), Part("I choose green.", "model"), Part(number_card("34")), Part("Draw it."))
    digests = set()
    for left_out in (None, 0, 1):
        shown = Context(tuple(part for place, part in enumerate(parts) if place != left_out))
        reply = await _drawn(omni, {"stages": 1}, shown, 5, few)
        assert reply.picture
        digests.add(reply.picture.pixel_digest)
    assert len(digests) == 3, "without the first image, or without the plan, the drawing is the same"


async def test_settings_by_stage_are_on_the_wire(omni: Served) -> None:
    with tapped(omni.address) as tap:
        shown = Context((Part(number_card("12")), Part("Draw a dot.")))
        reply = await _drawn(
            omni, {"base_url": tap.url, "stages": 2}, shown, 5, {**_SETTINGS, "num_inference_steps": 1}
        )
    assert reply.picture
    [body] = tap.settings()
    text, drawing = body["sampling_params_list"]
    assert text == {"temperature": 0.0, "seed": 5}
    assert drawing == {**_SETTINGS, "num_inference_steps": 1, "seed": 5}


def test_a_run_that_needs_text_of_it_is_refused_before_the_first_call(omni: Served, tmp_path: Path) -> None:
    with tapped(omni.address) as tap:
        words = ("--tasks", "maze", "--limit", "1", "--mode", "direct", "-o", str(tmp_path / "run"))
        done = sketchmark("run", "--model", omni.name, "--model-args", f"base_url={tap.url}", *words)
    assert done.returncode != 0 and "only draws" in done.stderr and "--drawer" in done.stderr, done.stderr
    assert not tap.bodies


def test_the_doctor_examines_bagel_as_a_model_that_says_and_draws(bagel: Served) -> None:
    args, few = f"base_url={bagel.address},max_retries=0", "num_inference_steps=2,width=64,height=64"
    done = sketchmark("doctor", "--model", "bagel/bagel", "--model-args", args, "--gen-kwargs", few, "--json")
    assert done.returncode == 1, done.stderr
    found = verdicts(done.stdout)
    assert not {"failed", "not asked"} & {*found.values()}, found
    assert found["says something"] == "in part" and found["reads a picture"] == "no"
    assert found["draws a picture"] == found["same request, same reply"] == found["keeps to the seed"] == "yes"


def test_bagel_runs_in_both_modes_with_its_settings(bagel: Served, tmp_path: Path) -> None:
    settings = "num_inference_steps=2,width=64,height=64,cfg_text_scale=2.0,cfg_img_scale=1.0,negative_prompt=blurred"
    words = ("--tasks", "maze", "--limit", "1", "--mode", "direct,visual_cot", "--no-cache", "--concurrency", "1")
    with tapped(bagel.address) as tap:
        args = ("--model-args", f"base_url={tap.url},timeout=600")
        more = ("--gen-kwargs", f"{settings},max_new_tokens=12,seed=5", "-o", str(tmp_path / "run"))
        done = sketchmark("run", "--model", "bagel/bagel", *args, *words, *more)
    assert done.returncode == 0, done.stderr
    for cell in ("direct", "visual_cot"):
        assert all(line.failure is None and row.scored for line, row in episodes(tmp_path / "run", f"maze.{cell}"))
    by_kind = {kind: [one for one in tap.settings() if one["modalities"] == [kind]] for kind in ("text", "image")}
    assert all(by_kind.values()) and sum(map(len, by_kind.values())) == len(tap.bodies)
    assert {(one["max_think_tokens"], one["do_sample"]) for one in by_kind["text"]} == {(12, False)}
    for one in by_kind["image"]:
        assert (one["num_inference_steps"], one["width"], one["height"], one["seed"]) == (2, 64, 64, 5)
        assert (one["cfg_text_scale"], one["cfg_img_scale"], one["negative_prompt"]) == (2.0, 1.0, "blurred")
    [(line, _)] = episodes(tmp_path / "run", "maze.visual_cot")
    assert all(reply.picture is not None for reply in replies(line, "draw"))
    # Random weights never end a reply, so only the limit can.
    assert all(reply.usage["tokens_out"] <= 24 for reply in replies(line, "say")), "the limit has no effect"
