"""llama.cpp's own server with a real language model, SmolLM2-135M: `make test-llama`, also in CI.

The replies are a real model's, so they may change with the machine. Each test states what holds for any reply.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from tests.servers.starting import (
    end,
    episodes,
    free_port,
    replies,
    sketchmark,
    sketchmark_behind,
    started,
    until,
    verdicts,
)

pytestmark = pytest.mark.llama

QUESTIONS = Path(__file__).with_name("text_questions.jsonl")
COUNT = len(QUESTIONS.read_text("utf-8").splitlines())


def llama(port: int, folder: Path) -> AbstractContextManager[Popen[bytes]]:
    command = [sys.executable, "-m", "tests.servers.llama", str(port)]
    return started(command, f"http://127.0.0.1:{port}/health", folder / "llama.log")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    with llama(port, tmp_path_factory.mktemp("llama")):
        yield f"http://127.0.0.1:{port}/v1"


def asked(address: str, out: Path, *more: str, args: str = "", mode: str = "direct") -> tuple[str, ...]:
    """Return the words of a run of the text questions."""
    given = f"base_url={address}{args}"
    about = ("--model", "openai/smollm2", "--model-args", given, "--tasks", str(QUESTIONS), "--mode", mode)
    return ("run", *about, "--gen-kwargs", "max_new_tokens=48", "--no-cache", "-o", str(out), *more)


def test_the_doctor_reports_a_text_model_as_one_that_answers_and_does_not_draw(address: str) -> None:
    done = sketchmark(
        "doctor", "--model", "openai/smollm2", "--model-args", f"base_url={address},max_retries=0", "--json"
    )
    assert done.returncode == 1, done.stderr
    found = verdicts(done.stdout)
    assert found["says something"] in ("yes", "in part")
    assert found["keeps to max_new_tokens"] == found["same request, same reply"] == "yes"
    assert found["draws a picture"] == "no"
    assert found["reads a picture"] == found["sees four pictures, in order"] == found["keeps proportions"] == "no"


def test_real_replies_to_text_questions_are_parsed_as_they_read(address: str, tmp_path: Path) -> None:
    done = sketchmark(*asked(address, tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    found = episodes(tmp_path / "run", "text_questions.direct")
    assert len(found) == COUNT and all(line.failure is None and row.scored for line, row in found)
    plain = 0
    for line, row in found:
        [reply] = replies(line, "say")
        assert reply.text and reply.usage["tokens_out"] <= 48
        assert ("truncated" in row.flags) == (reply.finish == "length")
        if line.sample.target["type"] == "choice":
            # “B. Rome” and nothing else can only be read as B.
            only = re.fullmatch(r"([A-D])\. [a-z ]+\.?", reply.text.strip(), re.IGNORECASE)
            assert only is None or row.notes["answer"] == only[1].upper(), reply.text
            plain += only is not None
        elif line.sample.target["type"] == "number" and reply.finish == "stop":
            numbers = set(re.findall(r"\d+", reply.text))
            things = re.findall(r"How many (\w+)", str(line.sample.fields))
            # "A month has 30 days" does not say how many months there are.
            another = things and re.search(rf"\d (?!{things[0]})[a-z]+", reply.text)
            read = row.notes["answer"]
            assert len(numbers) != 1 or read == float(*numbers) or (another and read is None), reply.text
            plain += len(numbers) == 1
    assert plain, "not one plain reply: the questions need other words"


async def test_a_drawing_by_code_is_rendered_or_says_why_not(address: str) -> None:
    args = {"base_url": address, "draw_with": "svg", "svg_tokens": 96, "svg_retries": 1}
    model = Catalog().model("openai/smollm2", args)
    try:
        drawn = await model.draw(of("Draw a red circle."), Options(seed=1))
    finally:
        await model.close()
    if drawn.picture is None:
        assert drawn.finish in ("no_picture", "length") and "SVG" in drawn.trouble
        assert drawn.usage.calls == 2, "the second attempt was not made"
    else:
        assert drawn.finish == "stop" and drawn.text.startswith("<svg")


def test_a_run_outlives_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    words = asked(
        f"http://127.0.0.1:{port}/v1", tmp_path / "run", "--concurrency", "2", args=",max_retries=12,timeout=60"
    )
    written = tmp_path / "run" / "episodes" / "text_questions.direct.jsonl"
    with llama(port, tmp_path) as server:
        run = sketchmark_behind(*words)
        until(lambda: written.exists() and written.stat().st_size > 0, run)
        end(server)
        # Calls were under way, so the rest of the run depends on their retries.
        assert run.poll() is None and len(written.read_text("utf-8").splitlines()) < COUNT
    with llama(port, tmp_path):
        printed, _ = run.communicate(timeout=300)
    assert run.returncode == 0, printed
    found = episodes(tmp_path / "run", "text_questions.direct")
    assert len(found) == COUNT and all(line.failure is None for line, _ in found)


def test_a_model_without_images_runs_blind_and_is_refused_in_other_modes(address: str, tmp_path: Path) -> None:
    words = ("run", "--model", "openai/smollm2", "--model-args", f"base_url={address}", "--tasks", "maze")
    more = ("--limit", "2", "--gen-kwargs", "max_new_tokens=24", "--no-cache", "-o", str(tmp_path / "run"))
    done = sketchmark(*words, "--mode", "blind", *more)
    assert done.returncode == 0, done.stderr
    found = episodes(tmp_path / "run", "maze.blind")
    assert len(found) == 2 and all(line.failure is None and row.scored for line, row in found)
    assert all(not reply.usage.get("pictures_in") for line, _ in found for reply in replies(line, "say"))
    refused = sketchmark(*words, "--mode", "direct", *more[:-1], str(tmp_path / "other"))
    assert refused.returncode != 0 and "image" in refused.stderr and "blind" in refused.stderr, refused.stderr
