"""Janus and Emu3 of tiny random weights: they draw from texts, and name what they could not use."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Desk, Options
from sketchmark.episode.model import Abilities
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed
from sketchmark.models.providers.image_tokens import Brush, Emu3, Janus
from tests.local.tiny import BLUE, GREEN, MIXED, RED

pytestmark = pytest.mark.local
SHORT = Options(max_new_tokens=16)

Drawer = Janus | Emu3


@pytest.fixture(params=["janus", "emu3"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Drawer]:
    path = str(request.getfixturevalue(request.param))
    made: Drawer = Janus(path) if request.param == "janus" else Emu3(path, image_area=24 * 24)
    yield made
    await made.close()


async def drawn(model: Drawer, text: str, seed: int) -> Any:
    return (await model.draw(of(text), Options(seed=seed))).picture


async def test_a_batch_draws_the_same_as_one_by_one(model: Drawer) -> None:
    asked = [("A square", 1), ("A much longer prompt than that", 2), ("B", 3)]
    alone = [await drawn(model, *one) for one in asked]
    assert await asyncio.gather(*(drawn(model, *one) for one in asked)) == alone


async def test_a_drawing_has_its_size_follows_its_seed_and_its_text_and_repeats(model: Drawer) -> None:
    one = await model.draw(of("A square"), Options(seed=1))
    side, tokens = (16, 16) if isinstance(model, Janus) else (24, 4 * 3 + 3)
    assert one.picture and one.picture.size == (side, side) and one.left_out == ()
    assert (one.finish, one.usage.pictures_out, one.usage.tokens_out) == ("stop", 1, tokens)
    assert await drawn(model, "A square", 1) == one.picture
    assert await drawn(model, "A square", 2) != one.picture
    assert await drawn(model, "A circle", 1) != one.picture


async def test_images_that_cannot_condition_a_drawing_are_named(model: Drawer) -> None:
    reply = await model.draw(of(RED, "Mix ", BLUE), SHORT)
    assert reply.left_out == (f"2 of 2 pictures: {type(model).__name__} draws only from text",)
    with pytest.raises(CallFailed, match="draws from text") as caught:
        await model.draw(of(RED), SHORT)
    assert caught.value.kind == "no_text"


# Janus


async def test_a_mixed_batch_says_and_draws_the_same_as_one_by_one(janus: Path) -> None:
    model = Janus(str(janus))
    said = [await model.say(context, SHORT) for context in MIXED]
    drawn = [await model.draw(context, SHORT) for context in MIXED]
    calls = [*(model.say(c, SHORT) for c in MIXED), *(model.draw(c, SHORT) for c in MIXED)]
    assert await asyncio.gather(*calls) == [*said, *drawn]
    assert len({reply.picture for reply in drawn}) == len(MIXED)
    contexts = [of(RED, BLUE, "?"), of(BLUE, RED, "?"), of(RED, GREEN, "?")]
    assert len({(await model.say(context, SHORT)).text for context in contexts}) == 3, "several images matter"
    await model.close()


async def test_a_greedy_drawing_does_not_depend_on_the_seed(janus: Path) -> None:
    model = Janus(str(janus), draw_temperature=0)
    pictures = {(await model.draw(of("A square"), Options(seed=seed))).picture for seed in range(3)}
    assert len(pictures) == 1


def test_the_brush_samples_the_softmax_of_the_guided_scores() -> None:
    import torch

    guided, free = torch.tensor([1.0, 0.0, -1.0]), torch.tensor([0.5, 0.5, 0.0])
    rows = 20_000
    brush = Brush(list(range(rows)), temperature=1.5, guidance=2.0)
    scores = torch.cat([guided.repeat(rows, 1), free.repeat(rows, 1)])
    counts = torch.bincount(brush(None, scores).argmax(1), minlength=3) / rows
    expected = torch.softmax((free + 2.0 * (guided - free)) / 1.5, 0)
    assert torch.allclose(counts, expected, atol=0.015)


async def test_a_visual_chain_of_thought_runs_at_a_desk(janus: Path) -> None:
    model = Janus(str(janus))
    assert model.abilities == Abilities(say=True, draw=True)
    desk = Desk(model, saying=SHORT, drawing=SHORT)
    desk.show("Find the way.", RED)
    for i in range(2):
        await desk.say(f"Plan step {i}.")
        await desk.draw(f"Draw step {i}.")
    await desk.say("Answer.")
    assert [turn.act for turn in desk.turns] == ["show", "say", "draw", "say", "draw", "say"]
    last = desk.turns[-1].reply
    assert len(desk.context.pictures) == 3 and last is not None and last.usage.pictures_in == 3


def test_a_run_from_the_command_line_executes_whole_episodes(janus: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sketchmark", "run", "--model", f"janus/{janus}", "--tasks", "maze"]
    command += ["--mode", "direct,visual_cot", "--limit", "2", "--gen_kwargs", "max_new_tokens=8", "--no-cache"]
    command += ["--output_path", str(tmp_path / "run")]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=one_thread)
    assert done.returncode == 0, done.stderr
    direct, visual = (
        [json.loads(line) for line in (tmp_path / f"run/episodes/maze.{mode}.jsonl").read_text().splitlines()]
        for mode in ("direct", "visual_cot")
    )
    assert (len(direct), len(visual)) == (2, 2)
    for episode in visual:
        steps = episode["sample"]["steps"]
        replies = [turn["reply"] for turn in episode["turns"] if turn["act"] == "draw"]
        assert [reply["left_out"][0].split(":")[0] for reply in replies] == [
            f"{i} of {i} pictures" for i in range(1, steps + 1)
        ]
        assert episode["turns"][-1]["reply"]["usage"]["pictures_in"] == steps + 1


# Emu3


async def test_the_shape_of_a_drawing_can_be_chosen(emu3: Path) -> None:
    model = Emu3(str(emu3), ratio="4:3", image_area=32 * 24)
    reply = await model.draw(of("A square"), Options())
    assert reply.picture and reply.picture.size == (32, 24)
    await model.close()
    with pytest.raises(BadInput, match="16:9"):
        Emu3(str(emu3), ratio="5:1")


async def test_guidance_pulls_away_from_the_negative_prompt(emu3: Path) -> None:
    plain = Emu3(str(emu3), image_area=24 * 24, draw_temperature=0)
    against = Emu3(str(emu3), image_area=24 * 24, draw_temperature=0, negative_prompt="A square", guidance_scale=9)
    one, other = [await model.draw(of("A square"), Options()) for model in (plain, against)]
    assert one.picture != other.picture
    assert plain.identity() != against.identity()
    for model in (plain, against):
        await model.close()


async def test_an_image_matters_to_what_emu3_says(emu3: Path) -> None:
    model = Emu3(str(emu3))
    replies = [await model.say(of("Which colour?", shown), Options(max_new_tokens=8)) for shown in (RED, BLUE)]
    assert replies[0].usage.pictures_in == 1 and replies[0].text != replies[1].text
    await model.close()
