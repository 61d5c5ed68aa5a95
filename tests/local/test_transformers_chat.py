from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Context, Options, Part, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed, DataMissing, MissingExtra
from sketchmark.models.providers.hf import TransformersChat, render
from sketchmark.models.providers.rows import Rows
from tests.local import tiny
from tests.local.tiny import BLUE, MIXED, RED

pytestmark = pytest.mark.local

SHORT = Options(max_new_tokens=16)


async def together(model: TransformersChat, contexts: list[Context], options: Options = SHORT) -> list[Reply]:
    return list(await asyncio.gather(*(model.say(context, options) for context in contexts)))


async def one_by_one(model: TransformersChat, contexts: list[Context], options: Options = SHORT) -> list[Reply]:
    return [await model.say(context, options) for context in contexts]


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows whenever calls join from now on."""
    sizes: list[int] = []
    join = Rows.join

    def counted(rows: Rows[Any], *more: Any) -> None:
        join(rows, *more)
        sizes.append(len(rows.rows))

    monkeypatch.setattr(Rows, "join", counted)
    return sizes


@pytest.mark.parametrize("kind", ["llava", "idefics3", "chameleon"])
async def test_a_batch_of_mixed_lengths_says_the_same_as_one_by_one(
    kind: str, request: pytest.FixtureRequest, sizes: list[int]
) -> None:
    model = TransformersChat(str(request.getfixturevalue(kind)), device="cpu")
    many = await together(model, MIXED)
    assert max(sizes) == len(MIXED)
    assert many == await one_by_one(model, MIXED)
    assert len({reply.text for reply in many}) > 4
    await model.close()


async def test_images_their_order_and_the_author_of_a_text_matter(llava: Path) -> None:
    model = TransformersChat(str(llava))
    own = Context((Part("Plan."), Part("I go up.", "model"), Part("Now?")))
    contexts = [of(RED, BLUE, "?"), of(BLUE, RED, "?"), of(RED, "?", BLUE), of(RED, RED, "?")]
    assert len({reply.text for reply in await together(model, contexts)}) == 4
    assert len({reply.text for reply in await together(model, [own, of("Plan.", "I go up.", "Now?")])}) == 2


async def test_chameleon_reads_turns_and_images_in_order_without_a_chat_template(chameleon: Path) -> None:
    model = TransformersChat(str(chameleon))
    weights = await model.weights()
    end = weights.processor.tokenizer.sep_token
    asked = Context((Part("Be brief.", "system"), Part("Left "), Part(RED), Part("up", "model"), Part("Now?")))
    text = render(weights.processor, asked)
    assert text == f"Be brief.Left <image>{end}up{end}Now?"
    # The image is its start, four codes and its end, and the processor marks the end of the last turn
    characters, marks = sum(len(part.text or "") for part in asked), 3
    assert (await model.say(asked, SHORT)).usage.tokens_in == characters + marks + 6
    seen = [of(RED, BLUE, "?"), of(BLUE, RED, "?"), of("?", RED, BLUE)]
    assert len({reply.text for reply in await together(model, seen)}) == 3
    await model.close()


async def test_the_answer_is_the_same_each_time_at_temperature_0(llava: Path) -> None:
    first, second = TransformersChat(str(llava)), TransformersChat(str(llava))
    assert await together(first, MIXED) == (await together(second, MIXED[::-1]))[::-1]


async def test_a_seeded_sample_repeats_in_any_batch(llava: Path) -> None:
    model = TransformersChat(str(llava))
    warm = Options(max_new_tokens=16, temperature=1.5, seed=4)
    alone = await model.say(MIXED[0], warm)
    beside = (await together(model, MIXED, warm))[0]
    other = await model.say(MIXED[0], Options(max_new_tokens=16, temperature=1.5, seed=5))
    assert alone.text == beside.text
    assert alone.text != other.text


@pytest.mark.parametrize("setting", [{"typical_p": 0.05}, {"top_k": 1}, {"min_p": 0.99}, {"repetition_penalty": 9.0}])
async def test_settings_of_sampling_change_a_reply(llava: Path, setting: dict[str, float]) -> None:
    model = TransformersChat(str(llava))
    asked = [Options(max_new_tokens=24, temperature=1.5, seed=4, extra=extra) for extra in ({}, setting)]
    plain, other = [await model.say(MIXED[0], one) for one in asked]
    assert plain.text != other.text and set(setting) <= set(model.receives("say"))
    await model.close()


async def test_usage_counts_tokens_without_padding_and_pictures(llava: Path) -> None:
    model = TransformersChat(str(llava))
    short, long = await together(model, [of("?", RED), of("What is this, please?", RED, BLUE)])
    marks = len("user: assistant: ") + 1
    assert (short.usage.tokens_in, short.usage.pictures_in) == (marks + len("?") + 5, 1)
    assert (long.usage.tokens_in, long.usage.pictures_in) == (marks + len("What is this, please?") + 10, 2)
    assert (short.usage.tokens_out, short.finish) == (16, "length")


async def test_a_reply_ends_at_its_own_end_even_when_its_neighbours_go_on(llava: Path) -> None:
    model = TransformersChat(str(llava))
    whole = await together(model, MIXED)
    weights = await model.weights()
    first = weights.processor.tokenizer.encode(whole[0].text, add_special_tokens=False)[0]
    weights.model.generation_config.eos_token_id = [2, first]
    cut = await together(model, MIXED)
    assert (cut[0].text, cut[0].finish, cut[0].usage.tokens_out) == ("", "empty", 1)
    assert any(reply.finish == "length" for reply in cut)
    assert all(full.text.startswith(reply.text) for full, reply in zip(whole, cut, strict=True))


async def test_a_batch_that_does_not_fit_is_halved_and_the_limit_stays(llava: Path, sizes: list[int]) -> None:
    import torch

    model = TransformersChat(str(llava))
    expected = await one_by_one(model, MIXED)
    weights = (await model.weights()).model
    forward = weights.forward
    refused: list[int] = []

    @functools.wraps(forward)
    def cramped(*args: Any, **kwargs: Any) -> Any:
        rows = next(value for value in kwargs.values() if hasattr(value, "shape")).shape[0]
        if rows > 2:
            refused.append(rows)
            raise torch.OutOfMemoryError(f"no room for {rows} rows")
        return forward(*args, **kwargs)

    weights.forward = cramped
    assert await together(model, MIXED) == expected
    limit = model._saying.limit
    assert refused and limit in (1, 2)
    refused.clear()
    sizes.clear()
    assert await together(model, MIXED) == expected
    assert not refused and max(sizes) == limit == model._saying.limit


async def test_a_context_that_is_too_long_fails_alone(llava: Path) -> None:
    model = TransformersChat(str(llava))
    expected = await one_by_one(model, [MIXED[1], MIXED[3]])
    calls = [model.say(context, SHORT) for context in (MIXED[1], of("x" * 17_000), MIXED[3])]
    first, long, last = await asyncio.gather(*calls, return_exceptions=True)
    assert [first, last] == expected
    assert isinstance(long, CallFailed)
    assert long.kind == "too_long"


async def test_batch_size_bounds_the_batches(llava: Path, sizes: list[int]) -> None:
    model = TransformersChat(str(llava), batch_size=3)
    await together(model, MIXED)
    assert max(sizes) == 3


async def test_a_template_that_moves_images_is_reported(tmp_path: Path) -> None:
    model = TransformersChat(str(tiny.make_llava(tmp_path, tiny.PICTURES_FIRST)))
    moved, kept = await together(model, [of("Before", RED, "after"), of(RED, "after")])
    assert moved.left_out == ("where the pictures were among the texts: the chat template moves them",)
    assert kept.left_out == ()


async def test_weights_that_cannot_be_loaded_stop_the_run_with_one_clear_error(tmp_path: Path, llava: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(CallFailed, match="cannot load") as caught:
        await TransformersChat(str(tmp_path)).say(of("?"), SHORT)
    assert (caught.value.kind, caught.value.stops_run) == ("weights", True)
    with pytest.raises(CallFailed, match="chat template"):
        await TransformersChat(str(tiny.make_llava(tmp_path / "mute", None))).say(of("?"), SHORT)
    with pytest.raises(CallFailed, match="device=warp"):
        await TransformersChat(str(llava), device="warp").say(of("?"), SHORT)


@pytest.mark.parametrize("wrong", [{"dtype": "int3"}, {"batch_size": 0}, {"batch_size": "many"}, {"colour": "red"}])
def test_wrong_arguments_and_folders_are_refused_before_anything_is_loaded(
    llava: Path, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    with pytest.raises(BadInput, match=next(iter(wrong))):
        TransformersChat(str(llava), **wrong)
    with pytest.raises(BadInput, match="no weights named"):
        TransformersChat("")
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(DataMissing, match="is not a folder with a model"):
            TransformersChat(str(folder))


def test_without_torch_the_error_names_the_extra(llava: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"sketchmark\[local\]"):
        TransformersChat(str(llava))


async def test_weights_with_holes_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = tiny.make_llava(tmp_path) / "model.safetensors"
    weights = load_file(file)
    weights.pop(next(name for name in weights if "mlp" in name))
    save_file(weights, file, metadata={"format": "pt"})
    model = TransformersChat(str(tmp_path))
    for _ in range(2):
        with pytest.raises(CallFailed, match="lacks 1 weights"):
            await model.say(of("?"), SHORT)


async def test_half_precision_and_a_device_can_be_asked_for(llava: Path) -> None:
    model = TransformersChat(str(llava), dtype="bfloat16", device="cpu", attn_implementation="eager")
    assert (await model.say(MIXED[0], SHORT)).text
    weights = (await model.weights()).model
    assert str(weights.dtype) == "torch.bfloat16"
    assert weights.config._attn_implementation == "eager"


async def test_a_device_map_places_the_same_model(llava: Path) -> None:
    placed = TransformersChat(str(llava), device_map="auto")
    assert await together(placed, MIXED) == await together(TransformersChat(str(llava)), MIXED)


def test_the_identity_follows_the_weights_and_not_the_batch_size(llava: Path, tmp_path: Path) -> None:
    first = TransformersChat(str(llava), batch_size=2).identity()
    assert first == TransformersChat(str(llava), batch_size=4, device="cpu").identity()
    copy = tmp_path / "copy"
    tiny.make_llava(copy)
    same = TransformersChat(str(copy)).identity()
    assert same["weights"] == first["weights"]
    file = copy / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert TransformersChat(str(copy)).identity()["weights"] != first["weights"]
