"""Emu3 of tiny random weights: it draws whole pictures from texts, and says what it could not use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sketchmark.episode.model import Options
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed
from sketchmark.models.providers.emu3 import Emu3
from tests.local.contexts import BLUE, RED

pytestmark = pytest.mark.local
SHORT = Options(max_new_tokens=8)


async def test_a_drawing_has_its_size_follows_its_seed_and_its_text_and_repeats(emu3: Path) -> None:
    model = Emu3(str(emu3), image_area=24 * 24)
    one = await model.draw(of("A square"), Options(seed=1))
    assert one.picture and one.picture.size == (24, 24)
    assert (one.finish, one.usage.pictures_out, one.usage.tokens_out) == ("stop", 1, 4 * 3 + 3)
    again, another, otherwise = [
        (await model.draw(of(text), Options(seed=seed))).picture
        for text, seed in (("A square", 1), ("A square", 2), ("A circle", 1))
    ]
    assert again == one.picture and another != one.picture and otherwise != one.picture
    await model.close()


async def test_a_batch_draws_the_same_as_one_by_one(emu3: Path) -> None:
    model = Emu3(str(emu3), image_area=24 * 24)
    asked = [("A square", 1), ("A much longer prompt than that", 2), ("B", 3)]
    alone = [(await model.draw(of(text), Options(seed=seed))).picture for text, seed in asked]
    together = await asyncio.gather(*(model.draw(of(text), Options(seed=seed)) for text, seed in asked))
    assert [reply.picture for reply in together] == alone
    await model.close()


async def test_the_shape_of_a_drawing_can_be_chosen(emu3: Path) -> None:
    model = Emu3(str(emu3), ratio="4:3", image_area=32 * 24)
    reply = await model.draw(of("A square"), Options())
    assert reply.picture and reply.picture.size == (32, 24)
    await model.close()


async def test_guidance_pulls_away_from_the_negative_prompt(emu3: Path) -> None:
    plain = Emu3(str(emu3), image_area=24 * 24, draw_temperature=0)
    against = Emu3(str(emu3), image_area=24 * 24, draw_temperature=0, negative_prompt="A square", guidance_scale=9)
    one, other = [await model.draw(of("A square"), Options()) for model in (plain, against)]
    assert one.picture != other.picture
    assert plain.identity() != against.identity()
    for model in (plain, against):
        await model.close()


async def test_pictures_that_cannot_condition_a_drawing_are_named(emu3: Path) -> None:
    model = Emu3(str(emu3), image_area=16 * 16)
    reply = await model.draw(of(RED, "Mix ", BLUE), SHORT)
    assert reply.left_out == ("2 of 2 pictures: Emu3 draws from text alone",)
    with pytest.raises(CallFailed, match="none") as caught:
        await model.draw(of(RED), SHORT)
    assert caught.value.kind == "no_text"
    await model.close()


async def test_it_says_what_its_pictures_make_of_it(emu3: Path) -> None:
    model = Emu3(str(emu3))
    replies = [await model.say(of("Which colour?", shown), SHORT) for shown in (RED, BLUE)]
    assert replies[0].usage.pictures_in == 1 and replies[0].text != replies[1].text
    await model.close()


def test_an_unknown_ratio_is_refused_with_those_that_there_are(emu3: Path) -> None:
    with pytest.raises(BadInput, match="16:9"):
        Emu3(str(emu3), ratio="5:1")
