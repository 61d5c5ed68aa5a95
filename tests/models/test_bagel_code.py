"""BAGEL through a checkout: what is loaded how, and what the interleaved inferencer is really given."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import Context, Part, of
from sketchmark.errors import BadInput, CallFailed, CannotPlay, MissingExtra
from sketchmark.models.providers.bagel import make
from tests.models.fake_bagel import write_checkout, write_weights
from tests.models.fake_server import picture

NAMES = ("seen", "torch", "accelerate", "modeling", "data", "inferencer")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = dict(sys.modules)
    for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
        del sys.modules[name]
    importlib.invalidate_caches()
    yield write_checkout(tmp_path / "code"), write_weights(tmp_path / "weights")
    for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
        del sys.modules[name]
    sys.modules.update({name: module for name, module in before.items() if name.partition(".")[0] in NAMES})


def bagel(folders: tuple[Path, Path], **args: Any) -> Model:
    return make(str(folders[1]), code=str(folders[0]), **args)


def calls(kind: str) -> list[dict[str, Any]]:
    return [what for name, what in sys.modules["seen"].calls if name == kind]


CONTEXT = Context(
    (
        Part(picture(1)),
        Part("Plan."),
        Part("Left.", by="model"),
        Part(picture(2), by="model"),
        Part(""),
        Part("Go on."),
    )
)


async def test_the_inferencer_gets_the_whole_context_in_order(folders: tuple[Path, Path]) -> None:
    reply = await bagel(folders).say(CONTEXT, Options(max_new_tokens=64))
    given = calls("infer")[0]["input_lists"]
    assert [part if isinstance(part, str) else part.getpixel((0, 0))[0] for part in given] == [
        1, "Plan.", "Left.", 2, "Go on.",
    ]  # fmt: skip
    assert calls("infer")[0]["understanding_output"] is True
    assert calls("infer")[0]["max_think_token_n"] == 64
    assert (reply.text, reply.finish) == ("left left left", "stop")
    assert (reply.usage.tokens_out, reply.usage.pictures_in) == (3, 2)
    assert reply.left_out == ("1 empty text",)


async def test_a_drawing_gets_the_settings_of_task_and_user(folders: tuple[Path, Path]) -> None:
    model = bagel(folders, cfg_img_scale=2.0)
    extra = {"cfg_text_scale": 4.0, "cfg_interval": 0.4, "num_timesteps": 20, "height": 32, "width": 64}
    reply = await model.draw(CONTEXT, Options(seed=11, extra=extra))
    given = calls("infer")[0]
    assert (given["cfg_text_scale"], given["cfg_img_scale"], given["num_timesteps"]) == (4.0, 2.0, 20)
    assert (given["cfg_interval"], given["image_shapes"]) == ([0.4, 1.0], (32, 64))
    assert given["understanding_output"] is False
    assert calls("seed") == [{"seed": 11}]
    assert reply.picture is not None
    assert reply.picture.size == (16, 8)
    assert (reply.finish, reply.usage.pictures_in, reply.usage.pictures_out) == ("stop", 2, 1)


async def test_with_think_the_plan_is_kept_as_the_text_of_the_drawing(folders: tuple[Path, Path]) -> None:
    reply = await bagel(folders, think=True).draw(of("Draw."), Options())
    assert (reply.text, reply.picture is not None) == ("a plan", True)


async def test_a_reply_at_the_token_limit_is_recorded_as_cut(folders: tuple[Path, Path]) -> None:
    assert (await bagel(folders).say(of("?"), Options(max_new_tokens=3))).finish == "length"


@pytest.mark.parametrize(("temperature", "sampled"), [(0.0, False), (0.7, True)])
async def test_the_temperature_decides_whether_text_is_sampled(
    folders: tuple[Path, Path], temperature: float, sampled: bool
) -> None:
    await bagel(folders).say(of("?"), Options(temperature=temperature))
    assert calls("infer")[0]["do_sample"] is sampled
    assert calls("infer")[0]["text_temperature"] == (0.7 if sampled else 0.3)


async def test_contexts_are_inferred_one_at_a_time_off_the_event_loop(folders: tuple[Path, Path]) -> None:
    model = bagel(folders)
    await asyncio.gather(*(model.say(of(f"{i}?"), Options()) for i in range(5)))
    assert len(calls("infer")) == 5
    assert len(calls("load")) == 1
    assert {call["thread"].partition("_")[0] for call in calls("infer")} == {"bagel"}
    await model.close()


async def test_the_weights_are_loaded_in_bfloat16_with_the_joined_modules_on_one_device(
    folders: tuple[Path, Path],
) -> None:
    await bagel(folders).say(of("?"), Options())
    load = calls("load")[0]
    assert (load["dtype"], load["force_hooks"]) == ("bfloat16", True)
    assert load["checkpoint"] == str(folders[1] / "ema.safetensors")
    assert load["device_map"]["vit_model"] == 1
    assert {load["device_map"][name] for name in ("time_embedder", "vit_pos_embed", "connector", "vae2llm")} == {0}


async def test_an_error_in_the_checkout_is_a_failed_call(folders: tuple[Path, Path]) -> None:
    with pytest.raises(CallFailed, match="CUDA out of memory") as caught:
        await bagel(folders).draw(of("fail"), Options())
    assert caught.value.kind == "out_of_memory"


async def test_a_checkout_that_cannot_be_loaded_stops_the_run(folders: tuple[Path, Path]) -> None:
    (folders[0] / "inferencer.py").write_text("raise ModuleNotFoundError(name='flash_attn')")
    with pytest.raises(CallFailed, match="missing: flash_attn") as caught:
        await bagel(folders).say(of("?"), Options())
    assert (caught.value.kind, caught.value.stops_run) == ("weights", True)


async def test_without_torch_the_extra_is_named(folders: tuple[Path, Path]) -> None:
    (folders[0] / "accelerate.py").write_text("raise ModuleNotFoundError(name='torch')")
    with pytest.raises(MissingExtra, match=r"sketchmark\[local\]"):
        await bagel(folders).say(of("?"), Options())


async def test_in_understanding_mode_it_does_not_draw(folders: tuple[Path, Path]) -> None:
    model = bagel(folders, mode="understanding")
    assert not model.abilities.draw
    with pytest.raises(CannotPlay):
        await model.draw(of("Draw."), Options())


def test_folders_that_are_not_what_they_are_said_to_be_are_refused_before_loading(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"inferencer\.py is missing"):
        make(str(folders[1]), code=str(tmp_path))
    (folders[1] / "ae.safetensors").unlink()
    with pytest.raises(BadInput, match=r"lacks ae\.safetensors"):
        bagel(folders)
