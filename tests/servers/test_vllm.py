"""vLLM on the CPU and `transformers serve`, each with a tiny Qwen2.5-VL: `make test-servers`, outside CI."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.starting import ROOT, episodes, free_port, replies, sketchmark, started
from tests.servers.weights import make_qwen25vl

pytestmark = pytest.mark.servers

_VLLM = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}
_START = 900
"""Seconds that a server may take to start: some 30 on an idle machine, many times that on a crowded one."""


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
        sizes = ("--max-model-len", "8192", "--max-num-seqs", "16", "--enforce-eager", "--dtype", "float32")
        command = [str(ROOT / ".venv-vllm" / "bin" / "vllm"), "serve", str(weights), *at, *sizes]
    else:
        command = [str(Path(sys.executable).with_name("transformers")), "serve", *at, "--device", "cpu"]
    log = tmp_path_factory.mktemp("served") / "log.txt"
    with started(command, f"http://127.0.0.1:{port}/health", log, limit=_START, more=_VLLM):
        yield f"http://127.0.0.1:{port}/v1", f"openai/{weights}"


def test_images_and_settings_reach_a_real_server(served: tuple[str, str], tmp_path: Path) -> None:
    address, model = served
    args = f"base_url={address},timeout=300"
    words = (
        "run",
        "--model",
        model,
        "--model-args",
        args,
        "--tasks",
        "maze",
        "--limit",
        "2",
        "--mode",
        "direct,blind",
    )
    done = sketchmark(*words, "--gen-kwargs", "max_new_tokens=16", "--no-cache", "-o", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    seen = {cell: episodes(tmp_path / "run", f"maze.{cell}") for cell in ("direct", "blind")}
    assert all(line.failure is None and row.scored for cell in seen.values() for line, row in cell)
    read = {cell: [replies(line, "say")[0].usage for line, _ in found] for cell, found in seen.items()}
    assert all(usage["tokens_out"] <= 16 for usage in (*read["direct"], *read["blind"]))
    pairs = zip(read["direct"], read["blind"], strict=True)
    assert all(shown["tokens_in"] > unseen["tokens_in"] + 16 for shown, unseen in pairs), "the image has no tokens"
