"""Every generation setting reaches the model, or is named before the first call. Requests are captured over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark import Context, Model, Options, Reply
from sketchmark.cli import root
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput
from sketchmark.models import load_model
from sketchmark.runs import prepare
from sketchmark.settings import parse_arguments
from tests.models.fake_server import Plain, anthropic_answer, chat_answer, gemini_answer, listening
from tests.tabled import tabled

SAMPLING = {"top_p": 0.9, "top_k": 1, "min_p": 0.1, "repetition_penalty": 1.2, "stop": ["END"]}
FURTHER: dict[str, Any] = {"presence_penalty": 0.5, "frequency_penalty": 0.25, "min_tokens": 2, "typical_p": 0.9}
FURTHER |= {"logit_bias": {"5": -1}}
DRAWN = {
    "num_inference_steps": 4,
    "guidance_scale": 3.5,
    "true_cfg_scale": 4.0,
    "negative_prompt": "blur",
    "width": 64,
}


class Capture(Plain):
    """A server of every provider's text API that keeps the bodies of the requests."""

    def reply(self, path: str, body: Any) -> tuple[int, Any]:
        if path.endswith("/messages"):
            return 200, anthropic_answer("A")
        said = {"role": "assistant", "content": "A"}
        return 200, gemini_answer([{"text": "A"}]) if "generate" in path else chat_answer(said)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Capture]:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "k-0123456789abcdef")
    made = Capture()
    with listening(made.serve) as made.url:
        yield made


async def asked(model: Model, act: str, server: Capture, **options: Any) -> dict[str, Any]:
    await getattr(model, act)(of("Which?"), Options(**options))
    await model.close()
    return server.asked[-1]


async def test_a_compatible_server_is_sent_all_that_such_servers_accept(server: Capture) -> None:
    args = parse_arguments(
        f'base_url={server.url}/v1,chat_template_kwargs={{"enable_thinking": false}},timeout=9,'
        'mm_processor_kwargs={max_pixels: 100352, min_pixels: 784},extra_body={"guided": [1, 2]}'
    )
    body = await asked(
        load_model("openai/m", args), "say", server, extra={**SAMPLING, **FURTHER}, seed=3, temperature=1
    )
    assert body.items() >= {**SAMPLING, **FURTHER, "seed": 3, "temperature": 1}.items()
    assert body["chat_template_kwargs"] == {"enable_thinking": False} and body["guided"] == [1, 2]
    assert body["mm_processor_kwargs"] == {"max_pixels": 100352, "min_pixels": 784}


@pytest.mark.parametrize("given", [{"until": "END"}, {"until": ["END"]}, {"stop": "END", "until": ["END"]}])
async def test_until_is_sent_as_stop(server: Capture, given: dict[str, Any]) -> None:
    body = await asked(load_model("openai/m", {"base_url": f"{server.url}/v1"}), "say", server, extra=given)
    assert body["stop"] == ["END"] and "until" not in body


@pytest.mark.parametrize(
    ("args", "modalities", "stages"),
    [({}, ["image"], None), ({"modalities": "image+text"}, ["image", "text"], None), ({"stages": 2}, ["image"], 2)],
)
async def test_a_drawing_in_a_chat_has_its_settings_and_asks_for_an_image_only(
    server: Capture, args: dict[str, Any], modalities: list[str], stages: int | None
) -> None:
    model = load_model("openai/m", {"base_url": f"{server.url}/v1", **args})
    body = await asked(model, "draw", server, extra={**DRAWN, "num_timesteps": 50}, seed=7)
    assert body["modalities"] == modalities and body.items() >= DRAWN.items() and "num_timesteps" not in body
    staged = [{"temperature": 0.0, "seed": 7}, {**DRAWN, "seed": 7}]
    assert body.get("sampling_params_list") == (staged if stages else None)


async def test_bagels_deployment_adds_no_sampling_of_its_own_and_its_drawing_stage_gets_the_seed(
    server: Capture,
) -> None:
    there = {"base_url": f"{server.url}/v1", "stages": 2, "cfg_text_scale": 4}
    drawn = await asked(
        load_model("bagel", there), "draw", server, seed=5, extra={"num_timesteps": 9}, max_new_tokens=8
    )
    assert drawn["repetition_penalty"] == 1.0 and "top_k" not in drawn
    text = {"temperature": 0.0, "max_tokens": 8, "seed": 5, "repetition_penalty": 1.0}
    assert drawn["sampling_params_list"] == [text, {"cfg_text_scale": 4.0, "num_inference_steps": 9, "seed": 5}]
    sampled = await asked(load_model("bagel", there), "say", server, temperature=0.7)
    assert sampled["top_k"] == -1, "or the deployment's top_k of 1 would make it greedy"
    chosen = await asked(load_model("bagel", there), "say", server, extra={"repetition_penalty": 1.3})
    assert chosen["repetition_penalty"] == 1.3


async def test_a_server_of_one_stage_reads_one_image_and_the_reply_says_so(server: Capture) -> None:
    model = load_model("bagel", {"base_url": f"{server.url}/v1", "stages": 1})
    from sketchmark.testing import colour

    reply = await model.say(of(colour("red"), colour("blue"), "Which?"), Options())
    await model.close()
    assert any("1 of 2 pictures" in line for line in reply.left_out)


async def test_anthropics_own_models_get_no_temperature_and_another_servers_do(server: Capture) -> None:
    pytest.importorskip("anthropic")
    extra = {"top_k": 5, "until": ["END"]}
    own = load_model("anthropic/m", {"base_url": server.url})
    body = await asked(own, "say", server, extra=extra, temperature=0.5)
    assert (body["temperature"], body["top_k"], body["stop_sequences"]) == (0.5, 5, ["END"])
    off = load_model("anthropic/m", {"base_url": server.url, "send_temperature": "false"})
    assert "temperature" not in await asked(off, "say", server)
    assert "temperature" not in (off.receives("say") or ()) and "temperature" in (own.receives("say") or ())
    assert "temperature" not in (load_model("anthropic/m").receives("say") or ())


async def test_gemini_is_sent_the_sampling_that_it_has(server: Capture) -> None:
    pytest.importorskip("google.genai")
    extra = {"top_p": 0.5, "top_k": 3, "stop": "END", "presence_penalty": 0.5}
    body = await asked(load_model("gemini/m", {"base_url": server.url}), "say", server, extra=extra)
    assert body["generationConfig"].items() >= {"topP": 0.5, "topK": 3, "stopSequences": ["END"]}.items()


def warnings(model: str, given: dict[str, Any], args: dict[str, Any] | None = None, **more: Any) -> tuple[str, ...]:
    return prepare(model, "maze", limit=1, gen_kwargs=given, model_args=args or {}, **more).warnings


@tabled
def test_a_setting_that_a_model_will_not_receive_is_named_before_the_first_call(
    monkeypatch: pytest.MonkeyPatch, model: str, args: dict[str, Any], lost: str
) -> None:
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "k-0123456789abcdef")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    given = {"top_k": 1, "repetition_penalty": 1.2, "no_repeat_ngram_size": 3}
    (line,) = [line for line in warnings(model, given, args) if line.startswith("--gen_kwargs")]
    assert lost in line and f"{model} does not receive" in line and "answers" in line


def test_a_setting_of_drawings_is_not_named_for_answers_where_drawings_get_it() -> None:
    args, given = {"base_url": "http://127.0.0.1:9/v1"}, {"num_inference_steps": 4}
    assert not warnings("openai/m", given, args, mode="direct,visual_cot")
    (line,) = warnings("openai/m", given, args, mode="direct")
    assert line.startswith("--gen_kwargs num_inference_steps: openai/m does not receive it in answers")


def test_lists_and_objects_on_the_command_line_are_sent_as_such(server: Capture, tmp_path: Path) -> None:
    given = """stop=["the", "a"],stop_token_ids=[7,8],logit_bias={"5": 1},bad_words=[x: [y]:]"""
    words = ("run", "-m", "openai/m", "--model-args", f"base_url={server.url}/v1", "--tasks", "maze", "--limit", "1")
    found = CliRunner().invoke(root, [*words, "--gen-kwargs", given, "--no-cache", "-o", str(tmp_path / "run")])
    assert found.exit_code == 0, found.output
    sent = {name: server.asked[0].get(name) for name in ("stop", "stop_token_ids", "logit_bias", "bad_words")}
    assert sent == {
        "stop": ["the", "a"], "stop_token_ids": [7, 8], "logit_bias": {"5": 1}, "bad_words": "[x: [y]:]"
    }  # fmt: skip


def test_a_tasks_own_temperature_that_a_model_has_not_is_named_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-0123456789abcdef")
    assert any("the task's temperature: anthropic/m" in line for line in warnings("anthropic/m", {}))
    assert not warnings("player/random", {"temperature": 1.0})


def test_a_tasks_settings_of_drawings_are_named_to_models_that_take_some_of_them() -> None:
    url = "http://127.0.0.1:9/v1"
    (line,) = warnings("bagel", {}, {"base_url": url}, mode="visual_cot")
    assert line.startswith("the task's num_images")
    for model, args in (("player/solver", {}), ("openai/m", {"base_url": url, "draw_model": "d"})):
        assert not warnings(model, {}, args, mode="visual_cot"), "no setting of theirs is among them"


class Mine(Model):
    """A plug-in that declares what it passes on, or does not."""

    def __init__(self, name: str, declares: bool = False) -> None:
        super().__init__(name)
        self._declares = declares

    def receives(self, act: str) -> tuple[str, ...] | None:
        return ("temperature", "max_new_tokens", "my_knob") if self._declares else None

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("A")


@pytest.mark.parametrize("declares", [False, True])
def test_a_plug_in_that_declares_its_settings_has_the_others_named(tmp_path: Path, declares: bool) -> None:
    (tmp_path / "mine.py").write_text(f"from {__name__} import Mine as Base\n\nclass Mine(Base):\n    pass\n")
    given = {"my_knob": 2, "other_knob": 3}
    found = warnings("mine", given, {"declares": declares}, include=(tmp_path / "mine.py",))
    assert [line.partition(":")[0] for line in found] == ["--gen_kwargs other_knob"] * declares


@tabled
def test_a_body_that_cannot_be_meant_is_refused(
    monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-0123456789abcdef")
    with pytest.raises(BadInput, match=said):
        load_model("openai/m", {"base_url": "http://127.0.0.1:9/v1", **args})
