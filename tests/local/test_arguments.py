"""Arguments of `hf/`: lmms-eval's, chat templates, adapters, quantised weights, and checkpoints without images."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Options, Part, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed, CannotPlay, DataMissing
from sketchmark.models import load_model
from sketchmark.models.arguments import Arguments
from sketchmark.models.providers.hf import TransformersChat, render
from sketchmark.models.providers.weights import Source, Wording, processor_of
from tests.local import tiny
from tests.local.tiny import BLUE, RED

pytestmark = pytest.mark.local
LMMS_EVAL = {
    "interleave_visuals": "False", "max_num_frames": 32, "use_flash_attention_2": "False", "device_map": "cpu",
    "system_prompt": "You are a helpful assistant.", "reasoning_prompt": "\\nThink first.", "batch_size": 1,
}  # fmt: skip


async def said(model: TransformersChat, *parts: Any, **options: Any) -> Reply:
    try:
        return await model.say(of(*parts), Options(**{"max_new_tokens": 24, **options}))
    finally:
        await model.close()


@pytest.mark.parametrize("name", ["stop", "until"])
async def test_a_reply_ends_before_the_first_stop_text(llava: Path, name: str) -> None:
    whole = await said(TransformersChat(str(llava)), RED, "Which?")
    stop = whole.text[5:7]
    cut = await said(TransformersChat(str(llava)), RED, "Which?", extra={name: [stop, "never there"]})
    assert cut.text == whole.text[: whole.text.index(stop)] and cut.finish == "stop"
    assert 0 < cut.usage.tokens_out < whole.usage.tokens_out


async def test_the_usual_arguments_of_lmms_eval_start_and_mean_the_same(
    llava: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        model = load_model("qwen2_5_vl", {"pretrained": str(llava), **LMMS_EVAL})
    assert "max_num_frames is about videos" in caplog.text
    assert isinstance(model, TransformersChat)
    weights = await model.weights()
    prompt = model._prompt(weights, model._wording.of(of("First ", RED, " then ", BLUE)), Options())
    asked = "<image><image>First  then \nThink first."
    assert prompt.text == f"<s>system: You are a helpful assistant.user: {asked}assistant: "
    await model.close()


def test_a_system_message_of_the_task_stays_and_messages_keep_their_order() -> None:
    context = Context((Part("Be brief.", "system"), Part("A"), Part("said", "model"), Part("B"), Part(RED)))
    wording = Wording("Other.", " Go.", interleave_visuals=False)
    assert [part.text for part in wording.of(context)] == ["Be brief.", "A", "said", None, "B Go."]
    assert Wording().of(context) == context


async def test_arguments_reach_the_chat_template_and_the_identity(text: Path) -> None:
    for args in ({"enable_thinking": "false"}, {"chat_template_kwargs": "{enable_thinking: false}"}):
        model = TransformersChat(str(text), **args)
        assert render((await model.weights()).processor, of("Hi"), model._wording.template).endswith(
            "quick assistant: "
        )
        assert model.identity() != TransformersChat(str(text)).identity()
        await model.close()


async def test_a_checkpoint_without_images_answers_text_and_refuses_images(text: Path) -> None:
    model = TransformersChat(str(text))
    assert model.abilities.max_pictures == 0
    many = [await model.say(of(question), Options(max_new_tokens=8)) for question in ("Hi", "A longer question?")]
    assert all(reply.usage.tokens_out for reply in many)
    with pytest.raises(CallFailed) as refused:
        await model.say(of(RED, "What?"), Options())
    assert (refused.value.kind, refused.value.stops_run) == ("no_images", True)
    await model.close()


def test_a_text_checkpoint_is_a_blind_baseline_and_runs_nothing_else(text: Path, tmp_path: Path) -> None:
    given: dict[str, Any] = {"gen_kwargs": {"max_new_tokens": 8}, "limit": 2}
    run = sketchmark.run(f"hf/{text}", "maze", mode="blind", output_path=tmp_path / "a", **given)
    assert run.results.tasks["maze.blind"].n == 2
    with pytest.raises(CannotPlay, match="takes text only"):
        sketchmark.run(f"hf/{text}", "maze", mode="direct", output_path=tmp_path / "b", **given)


async def test_another_tokenizer_is_used(text: Path, llava: Path) -> None:
    model = TransformersChat(str(text), tokenizer=str(text))
    assert (await said(model, "Hi")).usage.tokens_out
    with pytest.raises(DataMissing, match=r"tokenizer=.*none: there is no such"):
        TransformersChat(str(text), tokenizer=str(llava.parent / "none"))
    with pytest.raises(CallFailed, match="cannot load"):
        await said(TransformersChat(str(text), tokenizer="nobody/none"), "Hi")


@pytest.mark.parametrize("name", ["max_pixels", "min_pixels"])
async def test_a_limit_of_pixels_that_a_processor_has_not_is_refused_by_name(
    llava: Path, text: Path, name: str
) -> None:
    with pytest.raises(CallFailed, match=f"has no {name}"):
        await said(TransformersChat(str(llava), **{name: 100352}), RED, "?")
    with pytest.raises(CallFailed, match="takes no images"):
        await said(TransformersChat(str(text), **{name: 100352}), "?")


def test_a_limit_of_pixels_reaches_a_processor_that_has_one(tmp_path: Path) -> None:
    from transformers import LlavaProcessor, Qwen2VLImageProcessorPil

    tiny.make_processor(tmp_path, LlavaProcessor, Qwen2VLImageProcessorPil())
    args = Arguments("hf", {"max_pixels": 100352, "min_pixels": 784})
    (tmp_path / "config.json").write_text("{}")
    images = processor_of(Source.read("hf", str(tmp_path), args), {}, text_only=False).image_processor
    assert (images.size["longest_edge"], images.size["shortest_edge"]) == (100352, 784)


async def test_a_missing_flash_attention_has_its_own_hint(llava: Path) -> None:
    if importlib.util.find_spec("flash_attn"):
        pytest.skip("it is installed")
    with pytest.raises(CallFailed) as missing:
        await said(TransformersChat(str(llava), use_flash_attention_2="true"), "?")
    assert "pip install flash-attn" in str(missing.value.hint)


def test_what_needs_a_package_or_another_folder_says_so(llava: Path, tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(DataMissing, match=r"it holds an adapter: hf/BASE_MODEL with peft="):
        TransformersChat(str(tmp_path))
    with pytest.raises(BadInput, match=r"exclude each other"):
        TransformersChat(str(llava), load_in_4bit="true", load_in_8bit="true")
    for package, args in (("peft", {"peft": str(tmp_path)}), ("bitsandbytes", {"load_in_4bit": "true"})):
        if importlib.util.find_spec(package) is None:
            with pytest.raises(BadInput, match=f"pip install {package}"):
                TransformersChat(str(llava), **args)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # peft asks transformers for an attribute by its old name
async def test_an_adapter_changes_the_replies(llava: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    import torch
    from transformers import LlavaForConditionalGeneration

    torch.manual_seed(9)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False, lora_alpha=64)
    peft.get_peft_model(LlavaForConditionalGeneration.from_pretrained(llava), config).save_pretrained(tmp_path)
    plain, tuned = TransformersChat(str(llava)), TransformersChat(str(llava), peft=str(tmp_path))
    assert plain.identity() != tuned.identity()
    assert (await said(plain, RED, "Which?")).text != (await said(tuned, RED, "Which?")).text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bits", ["4bit", "8bit"])
async def test_weights_are_quantised_where_bitsandbytes_is_installed(text: Path, bits: str) -> None:
    pytest.importorskip("bitsandbytes")
    model = TransformersChat(str(text), device_map="cpu", **{f"load_in_{bits}": "true"})
    weights = await model.weights()
    assert getattr(weights.model, f"is_loaded_in_{bits}") and model.identity()["load_in"] == bits
    assert (await said(model, "Hi", max_new_tokens=4)).usage.tokens_out
