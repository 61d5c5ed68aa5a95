"""Each protocol makes the calls that it announces, in order, and ends when it should."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Model, Options
from sketchmark.episode.protocol import split
from sketchmark.episode.sample import Part
from sketchmark.errors import UnknownName
from sketchmark.testing import Recorder, colour
from tests.core.playing import CANDIDATES, FOUR_STEPS, PROMPTS, STEPS, TWO_STAGES, Stager, Talker, acts, last_texts

from tests.core.playing import protocol, script  # isort: skip
from tests.tabled import tabled


async def _play(name: str, model: Model, prompts: Any = None, *, desk: Desk | None = None, **settings: Any) -> Desk:
    desk = desk or Desk(model)
    await protocol(name).play(desk, script(prompts or PROMPTS[name], **settings))
    return desk


async def _steps(model: Recorder, **settings: Any) -> list[str]:
    await _play("steps_then_answer", model, STEPS, **settings)
    return acts(model)


async def test_the_direct_protocol_shows_the_inputs_and_asks_once() -> None:
    model = Recorder()
    await _play("direct", model)
    [(act, context, _)] = model.calls
    assert (act, context.texts) == ("say", ["start", "ask"])


async def test_steps_are_planned_and_drawn_in_turn_and_numbered_from_one() -> None:
    model = Recorder()
    assert await _steps(model, true_steps=2) == ["say", "draw", "say", "draw", "say"]
    assert last_texts(model) == ["plan 1", "step 1", "plan 2", "step 2", "final"]
    assert model.calls[-1][1].texts == ["start", "said 1", "said 3", "final"]
    assert len(model.calls[-1][1].pictures) == 2


@tabled
async def test_the_number_of_steps_is_the_answers_length_the_tasks_number_or_the_maximum(
    settings: dict[str, Any], drawn: int
) -> None:
    model = Recorder()
    assert (await _steps(model, **settings)).count("draw") == drawn
    assert last_texts(model)[-1] == "final"


@pytest.mark.parametrize("plan", ["done", "Done.", "well done", "UNDONE", "DONENESS", "DONE_1", ""])
async def test_only_the_word_done_in_capitals_ends_the_steps(plan: str) -> None:
    assert (await _steps(Recorder(lambda i, c: plan), steps="model", max_steps=2)).count("draw") == 2


@pytest.mark.parametrize("plan", ["DONE", "DONE.", "(DONE)", "move up\nDONE\n", "I am DONE now"])
async def test_the_word_done_ends_the_steps_anywhere_unless_the_task_counts_them(plan: str) -> None:
    assert await _steps(Recorder(lambda i, c: plan), steps="model", max_steps=2) == ["say", "say"]
    assert (await _steps(Recorder(lambda i, c: plan), true_steps=3)).count("draw") == 3
    later = Recorder(lambda i, c: plan if i == 3 else "on")
    assert await _steps(later, steps="model", true_steps=9) == ["say", "draw", "say", "say"]


@pytest.mark.parametrize(
    ("settings", "tokens"), [({"plan_tokens": 64}, [64, None, 64, None, 900]), ({}, [900, None, 900, None, 900])]
)
async def test_plan_tokens_limit_only_the_plans(settings: dict[str, Any], tokens: list[int | None]) -> None:
    model = Recorder()
    await _steps(model, desk=Desk(model, saying=Options(max_new_tokens=900)), true_steps=2, **settings)
    assert [options.max_new_tokens for _, _, options in model.calls] == tokens


async def test_the_panel_is_completed_with_each_candidate_behind_its_label_and_then_one_is_chosen() -> None:
    model = Recorder()
    await _play("candidates_then_answer", model, {**CANDIDATES, "final": "choose"})
    assert acts(model) == ["draw", "draw", "say"]
    assert last_texts(model) == ["with 0", "with 1", "choose"]
    shown = [part.text for part in model.calls[-1][1]]
    assert shown == ["panel", "COMPLETED 0:", None, "COMPLETED 1:", None, "choose"]


async def test_two_stages_draw_first_and_answer_from_the_pictures_and_the_drawing() -> None:
    model = Recorder()
    await _play("draw_then_answer", model, TWO_STAGES)
    assert acts(model) == ["draw", "say"]
    assert [[part.text for part in context] for _, context, _ in model.calls] == [
        ["look", "draw"],
        ["look", "DRAWN:", None, "ask"],
    ]


async def test_a_model_that_stages_both_itself_gets_one_combined_prompt_but_not_for_descriptions() -> None:
    model = Stager(colour("red"))
    await _play("draw_then_answer", model, TWO_STAGES)
    assert acts(model) == ["say"] and split(last_texts(model)[0]) == ("draw", "ask")
    model = Stager(colour("red"))
    await _play("draw_then_answer", model, TWO_STAGES, desk=Desk(model, in_words=True))
    assert acts(model) == ["say", "say"] and last_texts(model) == ["draw", "ask"]


async def test_four_steps_keep_every_prompt_and_answer_in_the_context_and_draw_the_third_answer() -> None:
    model = Recorder()
    desk = await _play("four_steps", model, FOUR_STEPS)
    assert acts(model) == ["say", "say", "say", "draw"]
    asked = ["analogy", "describe!", "said 1", "identify!", "said 2", "apply!", "said 3", "draw said 3"]
    assert model.calls[-1][1].texts == asked
    assert [context.texts for _, context, _ in model.calls[:3]] == [asked[:2], asked[:4], asked[:6]]
    assert [turn.suffix for turn in desk.turns if turn.act == "say"] == ["", "", ""]
    assert desk.context.parts[1] == Part("describe!", "task") and desk.context.parts[2].by == "model"


async def test_say_then_draw_draws_what_was_said_and_each_suffix_goes_with_its_call() -> None:
    model = Recorder()
    await _play("say_then_draw", model)
    assert acts(model) == ["say", "draw"]
    assert [context.texts for _, context, _ in model.calls] == [["start", "ask"], ["start", "said 1", "picture!"]]


@pytest.mark.parametrize(
    ("name", "said", "note"),
    [
        ("say_then_draw", 1, "the drawing: the model does not draw"),
        ("four_steps", 3, "step 4 (draw): the model does not draw"),
    ],
)
async def test_a_model_that_does_not_draw_runs_the_rest_and_the_missing_drawing_is_noted(
    name: str, said: int, note: str
) -> None:
    model = Talker()
    desk = await _play(name, model)
    assert len(model.contexts) == said
    last = desk.turns[-1]
    assert (last.act, last.note, last.added, last.reply) == ("skip", note, (), None)


async def test_the_fourth_step_can_be_a_description_by_a_model_that_does_not_draw() -> None:
    model = Talker()
    desk = await _play("four_steps", model, FOUR_STEPS, desk=Desk(model, in_words=True))
    assert [turn.act for turn in desk.turns if turn.reply] == ["say", "say", "say", "describe"]
    assert model.contexts[-1].texts[-1] == "draw word"


@tabled
async def test_a_protocol_draws_as_often_as_it_announces_and_declares_what_it_needs(
    name: str, drawn: tuple[int, int], needs: tuple[bool, bool, bool]
) -> None:
    it = protocol(name)
    assert (it.must_draw, it.skips_drawing, it.in_combined_prompt) == needs
    for steps, count in zip(("truth", "model"), drawn, strict=True):
        prompts, model = script(PROMPTS[name], steps=steps, true_steps=3, max_steps=5), Recorder()
        await it.play(Desk(model), prompts)
        assert it.draws(prompts) == acts(model).count("draw") == count


def test_an_unknown_protocol_is_named_and_the_known_ones_are_listed() -> None:
    with pytest.raises(UnknownName, match=r"'dance'.*direct, steps_then_answer"):
        protocol("dance")
