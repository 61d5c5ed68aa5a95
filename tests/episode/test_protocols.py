"""Each protocol asks for what it announces, in its order, and ends when it should."""

from __future__ import annotations

import pytest

from sketchmark.episode.desk import Desk
from sketchmark.episode.model import Options
from sketchmark.episode.protocol import split
from sketchmark.episode.sample import Part
from sketchmark.errors import UnknownName
from tests.core.helpers import Recorder, colour
from tests.core.playing import (
    CANDIDATES,
    FOUR_STEPS,
    PROMPTS,
    STEPS,
    TWO_STAGES,
    Stager,
    Talker,
    acts,
    last_texts,
    protocol,
    script,
)


async def test_the_direct_protocol_shows_the_inputs_and_asks_once() -> None:
    model = Recorder()
    await protocol("direct").play(Desk(model), script(PROMPTS["direct"]))
    [(act, context, _)] = model.calls
    assert (act, context.texts) == ("say", ["start", "ask"])


async def test_steps_are_planned_and_drawn_in_turn_and_numbered_from_one() -> None:
    model = Recorder()
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, true_steps=2))
    assert acts(model) == ["say", "draw", "say", "draw", "say"]
    assert last_texts(model) == ["plan 1", "step 1", "plan 2", "step 2", "final"]
    assert model.calls[-1][1].texts == ["start", "said 1", "said 3", "final"]
    assert len(model.calls[-1][1].pictures) == 2


async def test_where_the_task_counts_the_steps_done_changes_nothing() -> None:
    model = Recorder(answer=lambda i, c: "DONE")
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, true_steps=3))
    assert acts(model).count("draw") == 3


async def test_where_the_model_counts_the_steps_done_ends_them_and_the_answer_is_asked_for() -> None:
    model = Recorder(answer=lambda i, c: "I am DONE." if i == 3 else "on")
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, steps="model", true_steps=9))
    assert acts(model) == ["say", "draw", "say", "say"]
    assert last_texts(model)[-1] == "final"


@pytest.mark.parametrize("plan", ["done", "Done.", "well done", "UNDONE", "DONENESS", "DONE_1", ""])
async def test_only_the_word_done_in_capitals_ends_the_steps(plan: str) -> None:
    model = Recorder(answer=lambda i, c: plan)
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, steps="model", max_steps=2))
    assert acts(model).count("draw") == 2


@pytest.mark.parametrize("plan", ["DONE", "DONE.", "(DONE)", "move up\nDONE\n", "I am DONE now"])
async def test_the_word_done_ends_the_steps_wherever_it_stands(plan: str) -> None:
    model = Recorder(answer=lambda i, c: plan)
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, steps="model", max_steps=2))
    assert acts(model) == ["say", "say"]


async def test_a_model_that_never_says_done_is_stopped_after_as_many_steps_as_the_task_allows() -> None:
    model = Recorder()
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, steps="model", true_steps=1, max_steps=4))
    assert acts(model).count("draw") == 4 and last_texts(model)[-2:] == ["step 4", "final"]


async def test_a_task_that_names_no_most_allows_twenty_steps() -> None:
    model = Recorder()
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, steps="model"))
    assert acts(model).count("draw") == 20


@pytest.mark.parametrize(("true_steps", "granted"), [(None, 3), (0, 0), (2, 2)])
async def test_as_many_steps_as_the_answer_is_long_or_as_the_task_says_where_that_is_unknown(
    true_steps: int | None, granted: int
) -> None:
    model = Recorder()
    await protocol("steps_then_answer").play(Desk(model), script(STEPS, true_steps=true_steps, num_images=3))
    assert acts(model).count("draw") == granted


async def test_without_any_count_no_step_is_granted() -> None:
    model = Recorder()
    await protocol("steps_then_answer").play(Desk(model), script(STEPS))
    assert acts(model) == ["say"]


async def test_plan_tokens_limit_the_plans_and_nothing_else() -> None:
    model = Recorder()
    desk = Desk(model, saying=Options(max_new_tokens=900))
    await protocol("steps_then_answer").play(desk, script(STEPS, true_steps=2, plan_tokens=64))
    assert [options.max_new_tokens for _, _, options in model.calls] == [64, None, 64, None, 900]


async def test_without_plan_tokens_a_plan_may_be_as_long_as_an_answer() -> None:
    model = Recorder()
    desk = Desk(model, saying=Options(max_new_tokens=900))
    await protocol("steps_then_answer").play(desk, script(STEPS, true_steps=1))
    assert [options.max_new_tokens for act, _, options in model.calls if act == "say"] == [900, 900]


async def test_the_panel_is_completed_with_each_candidate_behind_its_label_and_then_one_is_chosen() -> None:
    model = Recorder()
    await protocol("candidates_then_answer").play(Desk(model), script({**CANDIDATES, "final": "choose"}))
    assert acts(model) == ["draw", "draw", "say"]
    assert last_texts(model) == ["with 0", "with 1", "choose"]
    shown = [part.text for part in model.calls[-1][1]]
    assert shown == ["panel", "COMPLETED 0:", None, "COMPLETED 1:", None, "choose"]


async def test_two_stages_draw_first_and_answer_from_the_pictures_and_the_drawing() -> None:
    model = Recorder()
    await protocol("draw_then_answer").play(Desk(model), script(TWO_STAGES))
    assert acts(model) == ["draw", "say"]
    assert [[part.text for part in context] for _, context, _ in model.calls] == [
        ["look", "draw"],
        ["look", "DRAWN:", None, "ask"],
    ]


async def test_a_model_that_stages_both_itself_is_asked_once_in_the_combined_form() -> None:
    model = Stager(colour("red"))
    await protocol("draw_then_answer").play(Desk(model), script(TWO_STAGES))
    assert acts(model) == ["say"]
    assert split(last_texts(model)[0]) == ("draw", "ask")


async def test_in_words_even_a_model_that_stages_both_itself_is_asked_in_two_stages() -> None:
    model = Stager(colour("red"))
    await protocol("draw_then_answer").play(Desk(model, in_words=True), script(TWO_STAGES))
    assert acts(model) == ["say", "say"]
    assert last_texts(model) == ["draw", "ask"]


async def test_four_steps_keep_every_prompt_and_answer_in_the_context_and_draw_the_third_answer() -> None:
    model = Recorder()
    desk = Desk(model)
    await protocol("four_steps").play(desk, script(FOUR_STEPS))
    assert acts(model) == ["say", "say", "say", "draw"]
    asked = ["analogy", "describe!", "said 1", "identify!", "said 2", "apply!", "said 3", "draw said 3"]
    assert model.calls[-1][1].texts == asked
    assert [context.texts for _, context, _ in model.calls[:3]] == [asked[:2], asked[:4], asked[:6]]
    assert [turn.suffix for turn in desk.turns if turn.act == "say"] == ["", "", ""]
    assert desk.context.parts[1] == Part("describe!", "task") and desk.context.parts[2].by == "model"


async def test_what_was_said_is_drawn_and_each_suffix_goes_with_its_call() -> None:
    model = Recorder()
    await protocol("say_then_draw").play(Desk(model), script(PROMPTS["say_then_draw"]))
    assert acts(model) == ["say", "draw"]
    assert [context.texts for _, context, _ in model.calls] == [["start", "ask"], ["start", "said 1", "picture!"]]


async def test_a_model_that_does_not_draw_says_and_the_missing_drawing_is_noted() -> None:
    desk = Desk(Talker())
    await protocol("say_then_draw").play(desk, script(PROMPTS["say_then_draw"]))
    assert [turn.act for turn in desk.turns] == ["show", "say", "skip"]
    assert desk.turns[-1].note == "the drawing: the model does not draw"


async def test_a_model_that_does_not_draw_plays_three_of_the_four_steps_and_the_fourth_is_noted() -> None:
    model = Talker()
    desk = Desk(model)
    await protocol("four_steps").play(desk, script(FOUR_STEPS))
    assert len(model.contexts) == 3
    assert (desk.turns[-1].act, desk.turns[-1].note) == ("skip", "step 4 (draw): the model does not draw")
    assert desk.turns[-1].added == () and desk.turns[-1].reply is None


async def test_in_words_the_fourth_step_is_a_description_also_by_a_model_that_does_not_draw() -> None:
    model = Talker()
    desk = Desk(model, in_words=True)
    await protocol("four_steps").play(desk, script(FOUR_STEPS))
    assert [turn.act for turn in desk.turns if turn.reply] == ["say", "say", "say", "describe"]
    assert model.contexts[-1].texts[-1] == "draw word"


@pytest.mark.parametrize("steps", ["truth", "model"])
@pytest.mark.parametrize("name", PROMPTS)
async def test_a_protocol_draws_as_often_as_it_announces(name: str, steps: str) -> None:
    told = script(PROMPTS[name], steps=steps, true_steps=3, max_steps=5)
    model = Recorder()
    await protocol(name).play(Desk(model), told)
    made = {
        "direct": 0,
        "steps_then_answer": 3 if steps == "truth" else 5,
        "candidates_then_answer": 2,
        "draw_then_answer": 1,
        "say_then_draw": 1,
        "four_steps": 1,
    }
    assert protocol(name).draws(told) == acts(model).count("draw") == made[name]


def test_what_a_protocol_needs_of_a_model_is_declared() -> None:
    needs = {
        name: (it.must_draw, it.skips_drawing, it.in_combined_prompt) for name in PROMPTS for it in [protocol(name)]
    }
    assert needs == {
        "direct": (False, False, False),
        "steps_then_answer": (True, False, False),
        "candidates_then_answer": (True, False, False),
        "draw_then_answer": (True, False, True),
        "say_then_draw": (False, True, False),
        "four_steps": (False, True, False),
    }


def test_an_unknown_protocol_is_named_and_the_known_ones_are_listed() -> None:
    with pytest.raises(UnknownName, match=r"'dance'.*direct, steps_then_answer"):
        protocol("dance")
