"""What a model sees of its drawing, with the donor played by the real `play`."""

from __future__ import annotations

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode import desk as canvas
from sketchmark.episode.model import Abilities
from sketchmark.errors import CallFailed, CannotPlay
from sketchmark.media import Picture
from sketchmark.runs.checks import check
from sketchmark.runs.episodes import play
from sketchmark.runs.plan import Cell, cells_of
from sketchmark.settings import Settings
from tests.core.helpers import Recorder, colour
from tests.core.playing import acts, cell, numbered

FIRST = colour("navy")


def test_the_canvases_are_known_by_these_names() -> None:
    assert canvas.CANVASES == ("own", "blank", "other", "oracle", "corrupt", "caption", "source")


async def test_ones_own_drawing_is_seen_as_it_is() -> None:
    assert await canvas.own(colour("red"), 3) == colour("red")


@pytest.mark.parametrize("size", [(7, 3), (20, 40)])
async def test_blank_paper_is_white_all_over_and_as_large_as_the_drawing(size: tuple[int, int]) -> None:
    paper = await canvas.blank(colour("red", size), 0)
    assert paper.size == size
    assert paper.image().getcolors() == [(size[0] * size[1], (255, 255, 255))]


async def _donate(*drawings: Picture) -> list[Picture]:
    return list(drawings)


@pytest.mark.parametrize(("index", "seen"), [(0, "green"), (1, "yellow"), (2, "pink"), (3, "pink"), (9, "pink")])
async def test_oracle_and_other_go_step_by_step_and_stay_with_the_last(index: int, seen: str) -> None:
    frames = [colour("green"), colour("yellow"), colour("pink")]
    assert await canvas.instead(frames)(colour("red"), index) == colour(seen)
    assert await canvas.other(lambda: _donate(*frames))(colour("red"), index) == colour(seen)


async def test_a_donor_that_drew_nothing_is_a_failure_that_does_not_blame_the_model() -> None:
    with pytest.raises(CallFailed, match="drew nothing") as failed:
        await canvas.other(_donate)(colour("red"), 0)
    assert (failed.value.kind, failed.value.blames_model) == ("no_donor", False)


async def test_no_donor_is_played_unless_the_canvas_wants_one() -> None:
    model = Recorder()
    here = cell(canvas="own", source={"count": 2})
    sample, donor = here.samples()
    await play(model, here, sample, donor)
    assert acts(model).count("draw") == 2


async def test_the_oracle_shows_the_samples_true_frames_and_stands_still_after_the_last() -> None:
    here = cell(canvas="oracle", source={"steps": 3, "frames": 2, "count": 1})
    episode = await play(Recorder(), here, next(here.samples()))
    seen = [part.picture for turn in episode.turns if turn.act == "draw" for part in turn.added]
    assert [picture.size for picture in seen if picture] == [(8, 8), (8, 9), (8, 9)]


async def test_the_blank_canvas_reaches_the_model_and_is_written_down() -> None:
    model = Recorder(drawing=numbered())
    here = cell(canvas="blank", source={"steps": 1, "count": 1})
    episode = await play(model, here, next(here.samples()))
    assert model.calls[-1][1].pictures == [FIRST, colour("white", (1, 5))]
    assert episode.settings == {"mode": "mode", "canvas": "blank", "steps": "truth"}


def _maze_cell(canvas_name: str) -> Cell:
    request = Settings(
        model="m", tasks="maze", mode="visual_cot", canvas=canvas_name, limit=1, task_args={"rows": 4, "cols": 4}
    )
    (here,) = cells_of(request, Catalog())
    return here


async def test_a_caption_is_a_text_of_the_tasks_in_place_of_the_picture() -> None:
    here = _maze_cell("caption")
    sample = next(here.samples())
    episode = await play(Recorder(drawing=numbered()), here, sample)
    added = [part for turn in episode.turns if turn.act == "draw" for part in turn.added]
    assert len(added) == sample.steps
    assert all(part.by == "task" and "The drawing shows a board. Row 1: " in (part.text or "") for part in added)
    assert all(context.pictures == [sample.pictures["initial"]] for _, context in episode.contexts())


async def test_on_a_corrupt_canvas_nothing_of_the_models_own_drawing_goes_back() -> None:
    here = _maze_cell("corrupt")
    sample = next(here.samples())
    episode = await play(Recorder(drawing=numbered()), here, sample)
    seen = [part.content for turn in episode.turns if turn.act == "draw" for part in turn.added]
    assert sample.frames and seen[:-1] == sample.frames()[:-1] and seen[-1] != sample.frames()[-1]
    assert all(picture not in episode.drawings for _, context in episode.contexts() for picture in context.pictures)


@pytest.mark.parametrize("name", ["oracle", "corrupt", "caption"])
async def test_a_sample_that_lacks_what_its_canvas_shows_is_not_scored(name: str) -> None:
    here = cell(canvas=name)
    episode = await play(Recorder(drawing=numbered()), here, next(iter(here.samples())))
    assert episode.failure and episode.failure.kind == "no_canvas" and not episode.failure.blames_model


@pytest.mark.parametrize("name", ["oracle", "corrupt", "caption"])
def test_a_canvas_that_a_task_cannot_have_is_refused_by_name(name: str) -> None:
    with pytest.raises(CannotPlay, match=f"for the {name} canvas"):
        check(cell(canvas=name), "m", Abilities(say=True, draw=True))
