"""Memory that really runs out: transformers' own classes in a process that may not grow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of a process is read from /proc"),
]

CRAMPED = """
import asyncio, json, resource, sys
from pathlib import Path

import torch
from sketchmark.errors import CallFailed
from sketchmark.episode.model import Options
from sketchmark.models.providers.hf import TransformersChat
from sketchmark.episode.sample import of

torch.set_num_threads(1)
SHORT = Options(max_new_tokens=2)


def allow(more):
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more * 2**20, resource.RLIM_INFINITY))


async def main(weights):
    # Eager attention holds a matrix of all positions by all positions for each row of a batch.
    model = TransformersChat(weights, device="cpu", attn_implementation="eager")
    texts = [letter * 700 for letter in "abcdefgh"]
    alone = [(await model.say(of(text), SHORT)).text for text in texts]
    allow(130)
    together = await asyncio.gather(*(model.say(of(text), SHORT) for text in texts))
    limit = model._saying.limit
    outcomes = await asyncio.gather(*(model.say(of("x" * n), SHORT) for n in (9, 7000, 11)), return_exceptions=True)
    after = await model.say(of(texts[0]), SHORT)
    huge = outcomes[1]
    await model.close()
    print(json.dumps({
        "same": [reply.text for reply in together] == alone,
        "limit": limit,
        "others": [type(outcome).__name__ for outcome in (outcomes[0], outcomes[2])],
        "huge": [huge.kind, huge.stops_run, str(huge)] if isinstance(huge, CallFailed) else repr(huge),
        "after": after.text == alone[0],
    }))


asyncio.run(main(sys.argv[1]))
"""


def test_a_batch_that_runs_out_is_halved_and_a_call_that_runs_out_alone_fails_alone(llava: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", CRAMPED, str(llava)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout)
    assert found["same"] and found["limit"] < 8
    assert found["others"] == ["Reply", "Reply"] and found["after"]
    kind, stops, told = found["huge"]
    assert (kind, stops) == ("out_of_memory", False)
    assert "max_new_tokens" in told and "device_map" in told


def test_what_is_out_of_memory_is_told_from_other_errors() -> None:
    import torch

    from sketchmark.models.providers.weights import _hint, out_of_memory

    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**50, dtype=torch.float64)
    assert out_of_memory(caught.value) and "does not fit into memory" in _hint(caught.value)
    with pytest.raises(MemoryError) as full:
        bytearray(2**60)
    assert out_of_memory(full.value)
    assert out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert not out_of_memory(RuntimeError("the shapes do not fit"))
