"""What a run will play, and what is refused before anything is asked or paid for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Context, Model, Options, Reply
from sketchmark.episode.model import Abilities
from sketchmark.errors import BadInput, CannotPlay, UnknownName
from sketchmark.files.jsonl import plain
from sketchmark.runs.checks import check
from sketchmark.runs.plan import Cell
from sketchmark.settings import Settings
from tests.core.playing import cell as toy
from tests.runs.making import (
    SHELF_ASKED,
    Speaker,
    colour,
    make_cell,
    make_config,
    make_sample,
    make_samples,
    make_task,
    planned,
)


class OnlySays(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        raise AssertionError("nothing is asked while planning")


class OnlyDraws(Model):
    async def draw(self, context: Context, options: Options) -> Reply:
        raise AssertionError("nothing is asked while planning")


class Painter(OnlySays, OnlyDraws):
    """Says and draws."""


class InOnePrompt(OnlySays):
    combined_prompt = True


def _names(cells: list[Cell]) -> list[tuple[str, str, str]]:
    return [(cell.name, cell.mode.name, cell.canvas) for cell in cells]


def _plan(folder: Path, model: Model | None = None, **asked: Any) -> list[Cell]:
    return planned(folder, make_config(make_samples(3)), model or Painter(), **asked)


def test_direct_is_played_unless_another_mode_is_asked_for(tmp_path: Path) -> None:
    assert _names(_plan(tmp_path)) == [("shades.direct", "direct", "own")]


def test_modes_come_in_the_order_they_were_asked_for_and_each_once(tmp_path: Path) -> None:
    cells = _plan(tmp_path, mode=("visual_cot", "direct", "visual_cot"))
    assert _names(cells) == [("shades.visual_cot", "visual_cot", "own"), ("shades.direct", "direct", "own")]
    assert len(_plan(tmp_path, tasks="shades,shades")) == 1


def test_a_mode_in_the_tasks_name_comes_before_the_modes_asked_for(tmp_path: Path) -> None:
    cells = _plan(tmp_path, tasks="shades_visual_cot", mode=("direct",))
    assert _names(cells) == [("shades.visual_cot", "visual_cot", "own")]


def test_canvases_are_played_where_something_is_drawn_and_nowhere_else(tmp_path: Path) -> None:
    cells = _plan(tmp_path, mode=("direct", "text_cot", "visual_cot"), canvas=("own", "blank", "other"))
    assert _names(cells) == [
        ("shades.direct", "direct", "own"),
        ("shades.text_cot", "text_cot", "own"),
        ("shades.visual_cot", "visual_cot", "own"),
        ("shades.visual_cot.blank", "visual_cot", "blank"),
        ("shades.visual_cot.other", "visual_cot", "other"),
    ]


def test_one_canvas_alone_needs_no_name_and_none_means_the_models_own(tmp_path: Path) -> None:
    blank = _plan(tmp_path, mode=("visual_cot",), canvas=("blank",))
    assert _names(blank) == [("shades.visual_cot", "visual_cot", "blank")]
    assert _names(_plan(tmp_path, mode=("visual_cot",), canvas=()))[0][2] == "own"


@pytest.mark.parametrize(
    "wrong", [{"steps": "mine"}, {"canvas": "own,mirror"}, {"on_draw_failure": "cry"}, {"mode": "aloud"}]
)
def test_a_word_nobody_knows_is_named_with_those_there_are(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(
        UnknownName,
        match=r"no (steps|canvas|on_draw_failure|mode).* '(mine|mirror|cry|aloud)'.* \((there are|it has): \w+",
    ):
        _plan(tmp_path, **wrong)


def test_what_the_user_says_of_generation_goes_over_the_tasks_own(tmp_path: Path) -> None:
    own = {"max_new_tokens": 100, "temperature": 0.1, "seed": 1, "top_p": 0.5, "width": 8}
    config = make_config(make_samples(1), generation=own)
    asked = {"max_new_tokens": 7, "temperature": 0.9, "top_p": 0.8, "style": "plain"}
    (cell,) = planned(tmp_path, config, Painter(), mode=("visual_cot",), gen_kwargs=asked)
    extra = {"top_p": 0.8, "width": 8, "style": "plain"}
    assert cell.mode.saying == Options(7, 0.9, 1, extra)
    assert cell.mode.drawing == Options(None, 0.9, 1, extra), "a limit of words is none of a drawing"
    (plain,) = planned(tmp_path, config, Painter(), mode=("visual_cot",))
    assert plain.mode.saying == Options(100, 0.1, 1, {"top_p": 0.5, "width": 8})


def test_the_seed_of_generation_is_for_saying_and_drawing(tmp_path: Path) -> None:
    (cell,) = _plan(tmp_path, mode=("visual_cot",), gen_kwargs={"seed": 5})
    assert (cell.mode.saying.seed, cell.mode.drawing.seed) == (5, 5)
    assert not cell.mode.saying.extra and not cell.mode.drawing.extra


def test_a_model_that_only_draws_plays_nothing(tmp_path: Path) -> None:
    with pytest.raises(
        CannotPlay, match=r"'direct' of task 'shades' needs a model that speaks, and speaker only draws"
    ):
        _plan(tmp_path, OnlyDraws())


def test_a_model_that_does_not_draw_plays_what_needs_no_drawing(tmp_path: Path) -> None:
    assert len(_plan(tmp_path, OnlySays(), mode=("direct", "text_cot"))) == 2
    with pytest.raises(CannotPlay, match=r"needs a model that draws, and speaker does not .*direct or text_cot"):
        _plan(tmp_path, OnlySays(), mode=("direct", "visual_cot"))


def test_a_model_that_draws_and_answers_in_one_plays_two_stages_on_its_own_canvas(tmp_path: Path) -> None:
    assert len(_plan(tmp_path, InOnePrompt(), mode=("visual_cot", "text_cot"))) == 2
    with pytest.raises(CannotPlay, match="looks at its drawings itself: canvas 'blank'"):
        _plan(tmp_path, InOnePrompt(), mode=("visual_cot",), canvas=("blank",))
    with pytest.raises(CannotPlay, match="needs a model that draws"):
        _plan(tmp_path, InOnePrompt(), mode=("steps",))


def test_the_oracle_needs_true_pictures_and_the_other_canvas_a_second_sample(tmp_path: Path) -> None:
    with pytest.raises(CannotPlay, match=r"no true pictures for the oracle canvas \(use own, blank or other\)"):
        _plan(tmp_path, mode=("visual_cot",), canvas=("oracle",))
    config = make_config(make_samples(2, frames=lambda: [colour("pink")]))
    assert planned(tmp_path, config, Painter(), mode=("visual_cot",), canvas=("oracle",))
    with pytest.raises(CannotPlay, match=r"needs a second sample .*\(use a larger --limit\)"):
        _plan(tmp_path, mode=("visual_cot",), canvas=("other",), limit=1)
    assert _plan(tmp_path, mode=("visual_cot",), canvas=("other",), limit=2)
    assert _plan(tmp_path, mode=("visual_cot",), canvas=("blank",), limit=1)


def test_a_task_without_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'shades' has no samples"):
        planned(tmp_path, make_config([]), Painter())


@pytest.mark.parametrize(("mode", "shown"), [("direct", 2), ("text_cot", 2), ("visual_cot", 3), ("steps", 2 + 4)])
def test_a_model_is_not_shown_more_pictures_than_it_takes(tmp_path: Path, mode: str, shown: int) -> None:
    """All that a call may carry counts: the sample's pictures, and what was drawn before."""
    sample = make_sample("s0", pictures={"picture": [colour("red"), colour("green")]}, steps=4)

    def fits(most: int) -> list[Cell]:
        model = Painter("painter")
        model.max_pictures = most
        return planned(tmp_path, make_config([sample]), model, mode=(mode,))

    assert len(fits(shown)) == 1
    with pytest.raises(CannotPlay, match=rf"shows up to {shown} pictures in one call \(sample s0\).* {shown - 1} "):
        fits(shown - 1)


def test_a_model_in_combined_prompt_is_counted_without_its_own_drawing(tmp_path: Path) -> None:
    model = InOnePrompt()
    model.max_pictures = 1
    assert len(_plan(tmp_path, model, mode=("visual_cot",))) == 1


def test_every_cell_is_checked(tmp_path: Path) -> None:
    with pytest.raises(CannotPlay):
        _plan(tmp_path, OnlySays(), mode=("visual_cot", "direct"))


def test_a_cell_has_the_samples_that_were_asked_for() -> None:
    task = make_task(make_samples(5), default_limit=4)
    assert [sample.id for sample in make_cell(task, limit=2).samples()] == ["s0", "s1"]
    assert len(list(make_cell(task).samples())) == 4


def test_the_seed_and_the_data_of_the_request_reach_the_samples() -> None:
    SHELF_ASKED.clear()
    list(make_cell(make_task(make_samples(1)), seed=9, data=Path("elsewhere")).samples())
    list(make_cell(make_task(make_samples(1))).samples())
    assert [(9, Path("elsewhere")), (0, None)] == SHELF_ASKED


@pytest.mark.parametrize(
    ("count", "donors"), [(1, [None]), (2, [1, 0]), (3, [1, 0, 1]), (4, [1, 0, 3, 2]), (5, [1, 0, 3, 2, 3])]
)
def test_neighbours_lend_each_other_drawings(count: int, donors: list[int | None]) -> None:
    pairs = list(make_cell(make_task(make_samples(count)), "visual_cot", "other").pairs())
    assert [sample.id for sample, _ in pairs] == [f"s{place}" for place in range(count)]
    assert [donor and donor.id for _, donor in pairs] == [None if d is None else f"s{d}" for d in donors]


@pytest.mark.parametrize("canvas", ["own", "blank", "oracle"])
def test_on_every_other_canvas_nobody_lends_anything(canvas: str) -> None:
    pairs = list(make_cell(make_task(make_samples(3)), "visual_cot", canvas).pairs())
    assert [(sample.id, donor) for sample, donor in pairs] == [("s0", None), ("s1", None), ("s2", None)]


def test_a_cell_says_all_that_shapes_its_episodes() -> None:
    task = make_task(make_samples(1))
    cell = make_cell(task, "visual_cot", "blank", seed=3, steps="model", on_draw_failure="continue")
    assert plain(cell.describe(Speaker())) == {
        "task": "shades",
        "mode": "visual_cot",
        "canvas": "blank",
        "draw_with": "",
        "steps": "model",
        "on_draw_failure": "continue",
        "source": {"use": "tests.runs.making:from_shelf", "shelf": "shades", "seed": 3},
        "play": task.mode("visual_cot").describe(),
        "model": {"name": "speaker", "class": "Speaker"},
        "headline": "right",
        "less_is_better": [],
        "breakdown": [],
    }


def test_a_cell_draws_where_drawing_is_a_must_and_not_put_into_words() -> None:
    task = make_task(make_samples(1))
    assert [make_cell(task, mode).draws for mode in ("direct", "text_cot", "visual_cot")] == [False, False, True]


def test_arguments_of_the_task_reach_its_data(tmp_path: Path) -> None:
    (cell,) = _plan(tmp_path, task_args={"start": 2})
    assert [sample.id for sample in cell.samples()] == ["s2"]


def test_a_sample_whose_id_is_no_text_is_refused_before_it_is_played() -> None:
    task = make_task([make_sample(7)])  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="id is not a text: 7"):
        list(make_cell(task).samples())


BOTH, NO_DRAWING = Abilities(say=True, draw=True), Abilities(say=True, draw=False)


def test_the_way_steps_are_counted_reaches_the_cell_and_its_prompts(tmp_path: Path) -> None:
    truth, model = (_plan(tmp_path, tasks="maze", mode="visual_cot", steps=steps)[0] for steps in ("truth", "model"))
    assert (truth.steps, model.steps) == ("truth", "model")
    assert "DONE" in model.mode.prompts["plan"] and "DONE" not in truth.mode.prompts["plan"]


@pytest.mark.parametrize("protocol", ["steps_then_answer", "candidates_then_answer", "draw_then_answer"])
def test_a_protocol_that_must_draw_takes_a_model_without_drawing_only_in_words(protocol: str) -> None:
    with pytest.raises(CannotPlay, match="needs a model that draws"):
        check(toy(protocol), "m", NO_DRAWING)
    check(toy(protocol, block={"in_words": True}), "m", NO_DRAWING)


def test_descriptions_and_skipped_drawings_are_not_counted_as_images() -> None:
    check(toy(block={"in_words": True}), "m", replace(BOTH, max_pictures=1))
    check(toy("four_steps"), "m", replace(NO_DRAWING, max_pictures=1))
    assert not toy("four_steps").draws


@pytest.mark.parametrize("canvas", ["blank", "other"])
def test_a_model_that_stages_its_drawings_may_run_steps_on_every_canvas(canvas: str) -> None:
    staging = replace(BOTH, combined_prompt=True)
    check(toy("steps_then_answer", canvas=canvas), "m", staging)
    with pytest.raises(CannotPlay, match="looks at its drawings itself"):
        check(toy("draw_then_answer", canvas=canvas), "m", staging)


@pytest.mark.parametrize(
    ("protocol", "steps", "shown"),
    [
        ("steps_then_answer", "model", 2 + 6),
        ("candidates_then_answer", "truth", 2 + 2),
        ("four_steps", "truth", 2 + 1),
    ],
)
def test_every_protocol_counts_the_images_it_shows_and_draws(protocol: str, steps: str, shown: int) -> None:
    here = toy(protocol, steps=steps, source={"shown": 2, "steps": 3}, block={"settings": {"max_steps": 6}})
    check(here, "m", replace(BOTH, max_pictures=shown))
    with pytest.raises(CannotPlay, match=rf"up to {shown} pictures in one call \(sample s0\).*takes {shown - 1}"):
        check(here, "m", replace(BOTH, max_pictures=shown - 1))


def test_cells_that_differ_in_anything_that_shapes_an_episode_are_described_differently() -> None:
    base = toy()
    others = [
        *(toy(canvas="blank"), toy(steps="model"), toy(on_draw_failure="continue"), toy("direct")),
        toy(source={"count": 9}),
        replace(base, settings=Settings(model="m", tasks="t", seed=1)),
    ]
    blocks = ({"generation": {"temperature": 1}}, {"drawing": {"width": 1}}, {"in_words": True})
    others += [toy(block=block) for block in (*blocks, {"settings": {"max_steps": 3}})]
    described = [str(it.describe(Speaker())) for it in (base, *others)] + [str(base.describe(Painter()))]
    assert len(set(described)) == len(described)
