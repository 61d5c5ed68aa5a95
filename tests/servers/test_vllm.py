"""vLLM on the CPU and `transformers serve`, each with a tiny Qwen2.5-VL: `make test-servers`, outside CI."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers.starting import ON_CPU, ROOT, START, episodes, free_port, replies, sketchmark, started, verdicts
from tests.servers.weights import make_qwen25vl
from tests.servers.wire import tapped

pytestmark = pytest.mark.servers

_TRUST = "--trust-request-mm-kwargs"
"""Without it vLLM answers 400 to `mm_processor_kwargs`."""


@dataclass(frozen=True)
class Served:
    kind: str
    address: str
    name: str


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_qwen25vl(tmp_path_factory.mktemp("weights") / "qwen25vl", ends=2.0)


@pytest.fixture(scope="module", params=["vllm", "transformers"])
def served(
    request: pytest.FixtureRequest, weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    port = free_port()
    at = ("--host", "127.0.0.1", "--port", str(port))
    if request.param == "vllm":
        sizes = ("--max-model-len", "8192", "--max-num-seqs", "16", "--enforce-eager", "--dtype", "float32", _TRUST)
        command = [str(ROOT / ".venv-vllm" / "bin" / "vllm"), "serve", str(weights), *at, *sizes]
    else:
        command = [str(Path(sys.executable).with_name("transformers")), "serve", *at, "--device", "cpu"]
    log = tmp_path_factory.mktemp("served") / "log.txt"
    with started(command, f"http://127.0.0.1:{port}/health", log, limit=START, more=ON_CPU):
        yield Served(request.param, f"http://127.0.0.1:{port}/v1", f"openai/{weights}")


def test_the_doctor_finds_what_random_weights_do(served: Served) -> None:
    args = f"base_url={served.address},max_retries=0"
    done = sketchmark("doctor", "--model", served.name, "--model-args", args, "--json")
    assert done.returncode == 1, done.stderr
    found = verdicts(done.stdout)
    assert found["says something"] == "in part" and found["reads a picture"] == found["draws a picture"] == "no"
    assert found["keeps to max_new_tokens"] == found["same request, same reply"] == "yes"
    assert "failed" not in found.values(), found


_SAMPLING: dict[str, dict[str, Any]] = {
    "vllm": {"top_k": 1, "min_p": 0.1, "repetition_penalty": 1.2, "stop": "the"},
    "transformers": {},  # 5.19 answers 500 to `stop` or to a chat template's arguments, and 422 to the others
}
_BODY: dict[str, dict[str, Any]] = {
    "vllm": {"chat_template_kwargs": {"enable_thinking": False}, "mm_processor_kwargs": {"max_pixels": 50176}},
    "transformers": {},
}


def test_images_and_settings_reach_a_real_server(served: Served, tmp_path: Path) -> None:
    sampling, body = _SAMPLING[served.kind], _BODY[served.kind]
    given = ",".join(f"{name}={value}" for name, value in sampling.items())
    with tapped(served.address) as tap:
        fields = (f"{name}={json.dumps(value)}" for name, value in body.items())
        args = ",".join((f"base_url={tap.url}", "timeout=300", *fields))
        words = ("run", "--model", served.name, "--model-args", args, "--tasks", "maze", "--limit", "2")
        kwargs = ("--gen-kwargs", f"{given},max_new_tokens=16", "--no-cache", "-o", str(tmp_path / "run"))
        done = sketchmark(*words, "--mode", "direct,blind", *kwargs)
    assert done.returncode == 0, done.stderr
    assert len(tap.bodies) == 4
    for sent in tap.settings():
        assert {name: sent[name] for name in (*sampling, *body)} == {**sampling, **body} and sent["max_tokens"] == 16
    seen = {cell: episodes(tmp_path / "run", f"maze.{cell}") for cell in ("direct", "blind")}
    assert all(line.failure is None and row.scored for cell in seen.values() for line, row in cell)
    read = {cell: [replies(line, "say")[0].usage for line, _ in found] for cell, found in seen.items()}
    assert all(usage["tokens_out"] <= 16 for usage in (*read["direct"], *read["blind"]))
    pairs = zip(read["direct"], read["blind"], strict=True)
    assert all(shown["tokens_in"] > unseen["tokens_in"] + 16 for shown, unseen in pairs), "the image has no tokens"


def test_a_setting_is_taken_or_the_servers_refusal_is_quoted(served: Served, tmp_path: Path) -> None:
    words = ("run", "--model", served.name, "--model-args", f"base_url={served.address}", "--tasks", "maze")
    kwargs = ("--gen-kwargs", "top_k=1,max_new_tokens=4", "--no-cache", "-o", str(tmp_path / "run"))
    done = sketchmark(*words, "--limit", "1", "--mode", "blind", *kwargs)
    if served.kind == "vllm":
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0 and "HTTP 422" in done.stderr and "top_k" in done.stderr, done.stderr
