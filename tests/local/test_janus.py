from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Abilities, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.providers.janus import Janus
from sketchmark.models.providers.weights import Brush
from tests.local.contexts import BLUE, GREEN, MIXED, RED

pytestmark = pytest.mark.local

SHORT = Options(max_new_tokens=16)


async def test_a_mixed_batch_says_and_draws_the_same_as_one_by_one(janus: Path) -> None:
    model = Janus(str(janus))
    said = [await model.say(context, SHORT) for context in MIXED]
    drawn = [await model.draw(context, SHORT) for context in MIXED]
    calls = [*(model.say(c, SHORT) for c in MIXED), *(model.draw(c, SHORT) for c in MIXED)]
    assert await asyncio.gather(*calls) == [*said, *drawn]
    assert len({reply.picture for reply in drawn}) == len(MIXED)
    await model.close()


async def test_several_pictures_matter_to_what_it_says(janus: Path) -> None:
    model = Janus(str(janus))
    contexts = [of(RED, BLUE, "?"), of(BLUE, RED, "?"), of(RED, GREEN, "?")]
    assert len({(await model.say(context, SHORT)).text for context in contexts}) == 3


async def test_pictures_that_cannot_condition_a_drawing_are_named(janus: Path) -> None:
    reply = await Janus(str(janus)).draw(of(RED, "Mix ", BLUE), SHORT)
    assert reply.left_out == ("2 of 2 pictures: Janus draws from text alone",)
    assert reply.picture is not None
    assert reply.picture.size == (16, 16)
    assert (reply.usage.tokens_out, reply.usage.pictures_out) == (16, 1)
    assert (await Janus(str(janus)).draw(of("A square"), SHORT)).left_out == ()


async def test_a_drawing_follows_its_seed_and_its_text(janus: Path) -> None:
    model = Janus(str(janus))

    async def drawn(text: str, seed: int) -> Any:
        return (await model.draw(of(text), Options(seed=seed))).picture

    first = await drawn("A red square", 1)
    assert first == await drawn("A red square", 1)
    assert first != await drawn("A red square", 2)
    assert first != await drawn("A blue circle", 1)


async def test_a_greedy_drawing_does_not_depend_on_the_seed(janus: Path) -> None:
    model = Janus(str(janus), draw_temperature=0)
    pictures = {(await model.draw(of("A square"), Options(seed=seed))).picture for seed in range(3)}
    assert len(pictures) == 1


async def test_a_context_without_text_cannot_be_drawn_from(janus: Path) -> None:
    with pytest.raises(CallFailed, match="text"):
        await Janus(str(janus)).draw(of(RED), SHORT)


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
    assert len(desk.context.pictures) == 3
    last = desk.turns[-1].reply
    assert last is not None
    assert last.usage.pictures_in == 3


def test_a_run_from_the_command_line_plays_whole_episodes(janus: Path, tmp_path: Path) -> None:
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
