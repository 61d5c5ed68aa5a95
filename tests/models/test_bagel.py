"""BAGEL behind vLLM-Omni and through a checkout: settings, order and loading; `test_contract.py` has the rest."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Context, Model, Options, Part
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed, CannotPlay, MissingExtra
from sketchmark.models.providers.bagel import make
from tests.models.fake_bagel import write_checkout, write_weights
from tests.models.fake_server import FarEnd, picture

TASK = {"cfg_text_scale": 4.0, "cfg_interval": 0.4, "timestep_shift": 3.0, "num_timesteps": 50}


# Behind a server


async def test_a_server_is_sent_the_settings_of_task_and_user_for_drawings_only(far: FarEnd) -> None:
    far.bagel = True
    model = make("", base_url=f"{far.url}/v1", cfg_text_scale=6, num_timesteps=20)
    await model.say(of("?"), Options(extra=TASK))
    await model.draw(of("First.", picture(1), picture(2), "Draw."), Options(seed=5, extra=TASK))
    read, drawn = (seen.body for seen in far.seen)
    assert not set(TASK) & set(read)
    settings = {"cfg_text_scale": 6, "cfg_interval": [0.4, 1.0], "timestep_shift": 3.0, "num_inference_steps": 20}
    assert drawn.items() >= {**settings, "seed": 5, "modalities": ["image"]}.items()
    texts = [block["text"] for block in drawn["messages"][0]["content"] if block["type"] == "text"]
    assert texts == ["First.", "Draw."] and far.seen[1].pictures == [picture(2)]
    assert {"cfg_text_scale": 6, "num_timesteps": 20}.items() <= model.identity().items()


# Through a checkout


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
        *(Part(picture(1)), Part("Plan."), Part("Left.", by="model")),
        *(Part(picture(2), by="model"), Part(""), Part("Go on.")),
    )
)


async def test_the_inferencer_gets_the_whole_context_in_order(folders: tuple[Path, Path]) -> None:
    reply = await bagel(folders).say(CONTEXT, Options(max_new_tokens=64))
    [given], [load] = calls("infer"), calls("load")
    parts = [part if isinstance(part, str) else part.getpixel((0, 0))[0] for part in given["input_lists"]]
    assert parts == [1, "Plan.", "Left.", 2, "Go on."]
    assert given["understanding_output"] is True and given["max_think_token_n"] == 64
    assert (reply.text, reply.finish, reply.left_out) == ("left left left", "stop", ("1 empty text",))
    assert (reply.usage.tokens_out, reply.usage.pictures_in) == (3, 2)
    assert (load["dtype"], load["force_hooks"]) == ("bfloat16", True)
    assert load["checkpoint"] == str(folders[1] / "ema.safetensors") and load["device_map"]["vit_model"] == 1
    joined = ("time_embedder", "vit_pos_embed", "connector", "vae2llm")
    assert {load["device_map"][name] for name in joined} == {0}, "joined modules are on one device"
    assert (await bagel(folders).say(of("?"), Options(max_new_tokens=3))).finish == "length"


async def test_a_drawing_gets_the_settings_of_task_and_user(folders: tuple[Path, Path]) -> None:
    extra = {"cfg_text_scale": 4.0, "cfg_interval": 0.4, "num_timesteps": 20, "height": 32, "width": 64}
    reply = await bagel(folders, cfg_img_scale=2.0, think=True).draw(CONTEXT, Options(seed=11, extra=extra))
    [given] = calls("infer")
    assert (given["cfg_text_scale"], given["cfg_img_scale"], given["num_timesteps"]) == (4.0, 2.0, 20)
    assert (given["cfg_interval"], given["image_shapes"]) == ([0.4, 1.0], (32, 64))
    assert given["understanding_output"] is False and calls("seed") == [{"seed": 11}]
    assert reply.picture is not None and (reply.picture.size, reply.text) == ((16, 8), "a plan")
    assert (reply.finish, reply.usage.pictures_in, reply.usage.pictures_out) == ("stop", 2, 1)
    assert (await bagel(folders).draw(of("Draw."), Options())).text == ""


@pytest.mark.parametrize(("temperature", "sampled"), [(0.0, False), (0.7, True)])
async def test_the_temperature_decides_whether_text_is_sampled(
    folders: tuple[Path, Path], temperature: float, sampled: bool
) -> None:
    await bagel(folders).say(of("?"), Options(temperature=temperature))
    [given] = calls("infer")
    assert given["do_sample"] is sampled and given["text_temperature"] == (0.7 if sampled else 0.3)


async def test_contexts_are_inferred_one_at_a_time_off_the_event_loop(folders: tuple[Path, Path]) -> None:
    model = bagel(folders)
    await asyncio.gather(*(model.say(of(f"{i}?"), Options()) for i in range(5)))
    assert len(calls("infer")) == 5 and len(calls("load")) == 1
    assert {call["thread"].partition("_")[0] for call in calls("infer")} == {"bagel"}
    await model.close()


@pytest.mark.parametrize(
    ("file", "missing", "error", "why"),
    [
        ("", "", CallFailed, "CUDA out of memory"),
        ("inferencer.py", "flash_attn", CallFailed, "missing: flash_attn"),
        ("accelerate.py", "torch", MissingExtra, r"sketchmark\[local\]"),
    ],
)
async def test_an_error_in_the_checkout_is_a_failure_with_its_reason(
    folders: tuple[Path, Path], file: str, missing: str, error: type[Exception], why: str
) -> None:
    if file:
        (folders[0] / file).write_text(f"raise ModuleNotFoundError(name={missing!r})")
    with pytest.raises(error, match=why) as caught:
        await bagel(folders).draw(of("fail"), Options())
    if isinstance(caught.value, CallFailed):
        wanted = ("weights", True) if file else ("out_of_memory", False)
        assert (caught.value.kind, caught.value.stops_run) == wanted


async def test_the_checkout_does_not_draw_in_understanding_mode(folders: tuple[Path, Path]) -> None:
    model = bagel(folders, mode="understanding")
    assert not model.abilities.draw
    with pytest.raises(CannotPlay, match="mode=generation"):
        await model.draw(of("Draw."), Options())


def test_wrong_folders_are_refused_before_loading(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"inferencer\.py is missing"):
        make(str(folders[1]), code=str(tmp_path))
    (folders[1] / "ae.safetensors").unlink()
    with pytest.raises(BadInput, match=r"lacks ae\.safetensors"):
        bagel(folders)
