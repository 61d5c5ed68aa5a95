"""vLLM on the CPU and `transformers serve`, each with a tiny Qwen2.5-VL: `make test-servers`, outside CI."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.starting import ON_CPU, ROOT, START, episodes, free_port, replies, sketchmark, started, verdicts
from tests.servers.weights import make_qwen25vl
from tests.servers.wire import tapped

pytestmark = pytest.mark.servers

_TRUST = "--trust-request-mm-kwargs"
"""Without it vLLM answers 400 to `mm_processor_kwargs`."""


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_qwen25vl(tmp_path_factory.mktemp("weights") / "qwen25vl", ends=2.0)


@pytest.fixture(scope="module", params=["vllm", "transformers"])
def served(
    request: pytest.FixtureRequest, weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    port = free_port()
    at = ("--host", "127.0.0.1", "--port", str(port))
    if request.param == "vllm":
        sizes = ("--max-model-len", "8192", "--max-num-seqs", "16", "--enforce-eager", "--dtype", "float32", _TRUST)
        command = [str(ROOT / ".venv-vllm" / "bin" / "vllm"), "serve", str(weights), *at, *sizes]
    else:
        command = [str(Path(sys.executable).with_name("transformers")), "serve", *at, "--device", "cpu"]
    log = tmp_path_factory.mktemp("served") / "log.txt"
    with started(command, f"http://127.0.0.1:{port}/health", log, limit=START, more=ON_CPU):
        yield f"http://127.0.0.1:{port}/v1", f"openai/{weights}"


def test_the_doctor_finds_what_random_weights_do(served: tuple[str, str]) -> None:
    address, model = served
    done = sketchmark("doctor", "--model", model, "--model-args", f"base_url={address},max_retries=0", "--json")
    assert done.returncode == 1, done.stderr
    found = verdicts(done.stdout)
    assert found["says something"] == "in part" and found["reads a picture"] == found["draws a picture"] == "no"
    assert found["keeps to max_new_tokens"] == found["same request, same reply"] == "yes"
    assert "failed" not in found.values(), found


_SAMPLING = {"top_k": 1, "min_p": 0.1, "repetition_penalty": 1.2, "stop": "the"}


def test_images_and_settings_reach_a_real_server(served: tuple[str, str], tmp_path: Path) -> None:
    address, model = served
    more = ('chat_template_kwargs={"enable_thinking": false}', 'mm_processor_kwargs={"max_pixels": 50176}')
    given = ",".join(f"{name}={value}" for name, value in _SAMPLING.items())
    with tapped(address) as tap:
        args = ",".join((f"base_url={tap.url}", "timeout=300", *more))
        words = ("run", "--model", model, "--model-args", args, "--tasks", "maze", "--limit", "2")
        kwargs = ("--gen-kwargs", f"{given},max_new_tokens=16", "--no-cache", "-o", str(tmp_path / "run"))
        done = sketchmark(*words, "--mode", "direct,blind", *kwargs)
    assert done.returncode == 0, done.stderr
    assert len(tap.bodies) == 4
    for body in tap.settings():
        assert {name: body[name] for name in _SAMPLING} == _SAMPLING
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        assert (body["mm_processor_kwargs"], body["max_tokens"]) == ({"max_pixels": 50176}, 16)
    seen = {cell: episodes(tmp_path / "run", f"maze.{cell}") for cell in ("direct", "blind")}
    assert all(line.failure is None and row.scored for cell in seen.values() for line, row in cell)
    read = {cell: [replies(line, "say")[0].usage for line, _ in found] for cell, found in seen.items()}
    assert all(usage["tokens_out"] <= 16 for usage in (*read["direct"], *read["blind"]))
    pairs = zip(read["direct"], read["blind"], strict=True)
    assert all(shown["tokens_in"] > unseen["tokens_in"] + 16 for shown, unseen in pairs), "the image has no tokens"
