"""Models that take no images, and retired models: named as such, not retried, and found before money is spent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sketchmark import Options
from sketchmark.cli import root
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.failures import lasting_failure
from sketchmark.models.providers.openai import OpenAI
from sketchmark.testing import colour
from tests.models.fake_server import Plain, chat_answer, listening
from tests.tabled import tabled

LLAMA_CPP = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
VLLM = "At most 0 image(s) may be provided in one prompt."


class TextServer(Plain):
    """A server over real HTTP that answers text, refuses images as llama.cpp or vLLM does, and lists its model."""

    status, words = 500, LLAMA_CPP
    architecture: Any = None

    def reply(self, path: str, body: Any) -> tuple[int, Any]:
        if body is None:
            known = {} if self.architecture is None else {"architecture": self.architecture}
            listed = {"object": "list", "data": [{"id": "file.gguf", **known}]}
            return (200, listed) if path == "/v1/models" else (404, {"error": {"message": "none"}})
        if "image_url" in json.dumps(body):
            return self.status, {"error": {"code": self.status, "message": self.words, "type": "server_error"}}
        return 200, chat_answer({"role": "assistant", "content": "ready"})


@pytest.fixture
def server() -> Iterator[TextServer]:
    made = TextServer()
    with listening(made.serve) as url:
        made.url = f"{url}/v1"
        yield made


def command(*words: str) -> Result:
    return CliRunner().invoke(root, list(words))


def run(server: TextServer, mode: str, folder: Path) -> Result:
    args = ("--model-args", f"base_url={server.url}", "-o", str(folder), "--no-cache")
    return command("run", "-m", "openai/m", "-t", "maze", "--mode", mode, "--limit", "5", *args)


@pytest.mark.parametrize(
    ("status", "words"), [(500, LLAMA_CPP), (400, VLLM), (400, "m is not a multimodal model None")]
)
async def test_a_refused_image_is_a_failure_of_its_own_and_not_retried(
    server: TextServer, status: int, words: str
) -> None:
    server.status, server.words = status, words
    model = OpenAI("m", base_url=server.url)
    with pytest.raises(CallFailed) as caught:
        await model.say(of(colour("red"), "What is it?"), Options())
    assert (caught.value.kind, caught.value.stops_run, len(server.asked)) == ("no_images", True, 1)
    assert "--mode blind" in str(caught.value.hint)
    assert (await model.say(of("What is it?"), Options())).text == "ready"
    await model.close()


def test_a_run_stops_at_the_first_refused_image_and_blind_runs_through(server: TextServer, tmp_path: Path) -> None:
    found = run(server, "direct", tmp_path / "a")
    assert found.exit_code and "--mode blind" in found.output.replace("\n", " ")
    assert len(server.asked) <= 5, "one attempt per episode under way, none again"
    server.asked.clear()
    assert run(server, "blind", tmp_path / "b").exit_code == 0 and len(server.asked) == 5


def test_a_server_that_lists_its_model_as_text_only_is_asked_nothing(server: TextServer, tmp_path: Path) -> None:
    server.architecture = {"input_modalities": ["text"], "output_modalities": ["text"]}
    found = run(server, "direct,blind", tmp_path / "a")
    assert "maze.direct shows images" in str(found.exception) and not server.asked
    assert run(server, "blind", tmp_path / "b").exit_code == 0


@pytest.mark.parametrize("architecture", [{"input_modalities": ["text", "image"]}, {"input_modalities": 7}, [], "x"])
async def test_any_other_list_of_models_refuses_nothing(server: TextServer, architecture: Any) -> None:
    server.architecture = architecture
    model = OpenAI("m", base_url=server.url)
    assert (await model.listing()).takes_images is not False
    await model.close()


def test_the_doctor_says_no_where_the_server_says_that_it_cannot_with_a_line_per_check(server: TextServer) -> None:
    found = command("doctor", "-m", "openai/m", "--model-args", f"base_url={server.url}")
    assert "nothing is known of it" not in found.stdout and "--mode blind" in found.stdout.replace("\n", " ")
    assert "blind       ready" in found.stdout
    assert "no        reads a picture" in found.stdout
    assert found.stderr.count("\n") >= 13 and "1/" in found.stderr
    drawings = [body for body in server.asked if "modalities" in body]
    assert drawings and all(body["max_tokens"] <= 4096 for body in drawings)


@tabled
def test_the_providers_words_tell_a_retired_model_from_an_unknown_one(
    status: int, sent: str, kind: str | None
) -> None:
    found = lasting_failure(status, sent, "HTTP")
    assert (found.kind if found else None) == kind
    assert kind != "retired" or (found and "this model is retired" in found.remedy)
