"""What is refused before the first call, which cells a request makes, and who lends whom a drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sketchmark import Options
from sketchmark.catalog import Catalog
from sketchmark.episode.model import Abilities
from sketchmark.errors import BadInput, CannotPlay, UnknownName
from sketchmark.folder.format import CellRecord, ModeRecord
from sketchmark.runs.checks import check, plan
from sketchmark.runs.plan import Cell
from sketchmark.settings import Settings
from tests.core.helpers import Recorder
from tests.core.playing import PROMPTS, Talker, cell, task

ALL = Abilities(say=True, draw=True)
NO_DRAWING = Abilities(say=True, draw=False)
STAGING = Abilities(say=True, draw=False, combined_prompt=True)


def _planned(tasks: str = "maze", **wanted: Any) -> list[Cell]:
    return plan(Settings.of({"model": "m", "tasks": tasks, "limit": 2, **wanted}), Catalog(), Recorder())


def test_what_asks_for_no_drawing_has_one_cell_whatever_the_canvases() -> None:
    cells = _planned(mode=("direct", "text_cot"), canvas=("own", "blank"))
    assert [(it.name, it.canvas) for it in cells] == [("maze.direct", "own"), ("maze.text_cot", "own")]


def test_each_canvas_is_a_cell_and_all_but_the_own_say_so_in_their_name() -> None:
    cells = _planned(mode=("visual_cot",), canvas=("blank", "own"))
    assert [(it.name, it.canvas) for it in cells] == [
        ("maze.visual_cot.blank", "blank"),
        ("maze.visual_cot", "own"),
    ]


def test_a_single_canvas_needs_no_name() -> None:
    [only] = _planned(mode=("visual_cot",), canvas=("blank",))
    assert (only.name, only.canvas) == ("maze.visual_cot", "blank")


def test_a_mode_in_the_tasks_name_goes_before_the_modes_asked_for_and_direct_is_for_those_who_name_none() -> None:
    assert [it.name for it in _planned("maze_text_cot,sliding", mode=("visual_cot",))] == [
        "maze.text_cot",
        "sliding.visual_cot",
    ]
    assert [it.name for it in _planned()] == ["maze.direct"]


def test_a_cell_that_is_asked_for_twice_is_played_once() -> None:
    assert [it.name for it in _planned("maze,maze_direct")] == ["maze.direct"]


def test_how_the_steps_are_counted_reaches_the_cell_and_its_prompts() -> None:
    [truth], [model] = (_planned(mode=("visual_cot",), steps=steps) for steps in ("truth", "model"))
    assert (truth.steps, model.steps) == ("truth", "model")
    assert "DONE" in model.mode.prompts["plan"] and "DONE" not in truth.mode.prompts["plan"]


@pytest.mark.parametrize(
    ("wanted", "named"),
    [
        ({"steps": "some"}, "no steps named 'some' .there are: truth, model"),
        ({"canvas": "own,sand"}, "no canvas named 'sand'"),
        ({"on_draw_failure": "cry"}, "no on_draw_failure named 'cry' .there are: fail, continue"),
    ],
)
def test_an_unknown_choice_is_named_with_those_there_are(wanted: dict[str, Any], named: str) -> None:
    with pytest.raises(UnknownName, match=named):
        _planned(**wanted)


def test_generation_settings_of_the_command_line_go_over_the_tasks_and_a_drawing_gets_no_token_limit() -> None:
    given = {"max_new_tokens": 77, "temperature": 0.9, "seed": 3, "width": 32}
    [plain] = _planned(mode=("visual_cot",))
    [it] = _planned(mode=("visual_cot",), gen_kwargs=given)
    extra = {**plain.mode.saying.extra, "width": 32}
    assert it.mode.saying == Options(77, 0.9, 3, extra)
    assert it.mode.drawing == Options(None, 0.9, 3, {**plain.mode.drawing.extra, "width": 32})
    assert plain.mode.saying.max_new_tokens != 77 and plain.mode.drawing.max_new_tokens is None


def test_a_model_that_does_not_speak_can_play_nothing() -> None:
    with pytest.raises(CannotPlay, match="needs a model that speaks"):
        check(cell("direct"), "m", Abilities(say=False, draw=True))


@pytest.mark.parametrize("protocol", ["steps_then_answer", "candidates_then_answer", "draw_then_answer"])
def test_a_model_that_does_not_draw_is_refused_where_it_must_and_taken_where_words_will_do(protocol: str) -> None:
    with pytest.raises(CannotPlay, match="needs a model that draws"):
        check(cell(protocol), "m", NO_DRAWING)
    check(cell(protocol), "m", ALL)
    check(cell(protocol, block={"in_words": True}), "m", NO_DRAWING)


@pytest.mark.parametrize("protocol", ["direct", "four_steps"])
def test_a_model_that_does_not_draw_may_play_what_does_not_hang_on_it(protocol: str) -> None:
    check(cell(protocol), "m", NO_DRAWING)


def test_a_model_that_stages_its_drawing_plays_two_stages_and_no_steps() -> None:
    check(cell("draw_then_answer"), "m", STAGING)
    with pytest.raises(CannotPlay, match="needs a model that draws"):
        check(cell("steps_then_answer"), "m", STAGING)


def test_nothing_can_be_put_before_a_model_that_looks_at_its_drawing_itself() -> None:
    for canvas in ("blank", "other"):
        with pytest.raises(CannotPlay, match="looks at its drawings itself"):
            check(cell("draw_then_answer", canvas=canvas), "m", replace(ALL, combined_prompt=True))
        check(cell("draw_then_answer", canvas=canvas), "m", ALL)
        check(cell("steps_then_answer", canvas=canvas), "m", replace(ALL, combined_prompt=True))


def test_the_oracle_needs_true_pictures() -> None:
    with pytest.raises(CannotPlay, match="no true pictures"):
        check(cell(canvas="oracle"), "m", ALL)
    check(cell(canvas="oracle", source={"frames": 2}), "m", ALL)
    check(cell(canvas="own"), "m", ALL)


def test_the_other_canvas_needs_a_second_sample() -> None:
    with pytest.raises(CannotPlay, match="needs a second sample"):
        check(cell(canvas="other", limit=1), "m", ALL)
    check(cell(canvas="other", limit=2), "m", ALL)
    check(cell(canvas="blank", limit=1), "m", ALL)


def test_a_task_without_samples_is_refused() -> None:
    with pytest.raises(BadInput, match="has no samples"):
        check(cell(source={"count": 0}), "m", ALL)


@pytest.mark.parametrize(
    ("protocol", "steps", "pictures"),
    [
        ("direct", "truth", 2),
        ("steps_then_answer", "truth", 2 + 3),
        ("steps_then_answer", "model", 2 + 6),
        ("candidates_then_answer", "truth", 2 + 2),
        ("draw_then_answer", "truth", 2 + 1),
        ("four_steps", "truth", 2 + 1),
    ],
)
def test_pictures_shown_and_pictures_drawn_count_towards_what_a_model_takes(
    protocol: str, steps: str, pictures: int
) -> None:
    here = cell(protocol, steps=steps, source={"shown": 2, "steps": 3}, block={"settings": {"max_steps": 6}})
    check(here, "m", replace(ALL, max_pictures=pictures))
    with pytest.raises(
        CannotPlay, match=rf"up to {pictures} pictures in one call \(sample s0\).*takes {pictures - 1}"
    ):
        check(here, "m", replace(ALL, max_pictures=pictures - 1))


def test_drawings_in_words_or_by_nobody_are_no_pictures() -> None:
    check(cell(block={"in_words": True}), "m", replace(ALL, max_pictures=1))
    check(cell("four_steps"), "m", replace(NO_DRAWING, max_pictures=1))


def _lending(count: int, canvas: str = "other") -> list[tuple[str, str | None]]:
    here = cell(canvas=canvas, source={"count": count})
    return [(sample.id, donor.id if donor else None) for sample, donor in here.pairs()]


def test_neighbours_lend_each_other_and_an_odd_last_one_borrows_from_the_one_before() -> None:
    assert _lending(1) == [("s0", None)]
    assert _lending(2) == [("s0", "s1"), ("s1", "s0")]
    assert _lending(5) == [("s0", "s1"), ("s1", "s0"), ("s2", "s3"), ("s3", "s2"), ("s4", "s3")]


def test_nobody_lends_on_another_canvas() -> None:
    assert _lending(3, "blank") == [("s0", None), ("s1", None), ("s2", None)]


def test_two_samples_of_one_name_are_refused() -> None:
    here = replace(cell(), task=task({"mode": {"prompts": PROMPTS["direct"]}}, source={"use": f"{__name__}:twins"}))
    with pytest.raises(BadInput, match="two samples with the id 's0'"):
        list(here.samples())


def twins(**arguments: Any) -> Any:
    from tests.core.playing import items

    return [*items(**arguments), *items(**arguments)]


def test_a_cell_draws_where_its_protocol_must_and_not_in_words() -> None:
    assert cell().draws and not cell(block={"in_words": True}).draws and not cell("four_steps").draws


def test_all_that_shapes_an_episode_is_described_and_two_cells_that_differ_in_it_differ() -> None:
    base = cell()
    others = [
        cell(canvas="blank"),
        cell(steps="model"),
        cell(on_draw_failure="continue"),
        cell("direct"),
        cell(source={"count": 9}),
        cell(block={"generation": {"temperature": 1}}),
        cell(block={"drawing": {"width": 1}}),
        cell(block={"in_words": True}),
        cell(block={"settings": {"max_steps": 3}}),
    ]
    described = [str(it.describe(Recorder())) for it in (base, *others)]
    described += [
        str(base.describe(Talker())),
        str(replace(base, settings=Settings(model="m", tasks="t", seed=1)).describe(Recorder())),
    ]
    assert len(set(described)) == len(described)
    assert base.describe(Recorder()) == CellRecord(
        task="toy",
        mode="mode",
        canvas="own",
        steps="truth",
        on_draw_failure="fail",
        source={"use": "tests.core.playing:items", "seed": 0},
        play=ModeRecord(**base.mode.describe()),
        model={"name": "recorder", "class": "Recorder"},
    )
