"""What every world that is solved in steps keeps: rules, images, texts, players and scores.

A new world is tested by its file alone: the tests find it by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from bench.worlds import (
    DISTORTIONS,
    FAULTS,
    guessed,
    looks_of,
    misread,
    missed,
    solutions,
    solved,
    step_worlds,
    subjects,
)
from PIL import Image, ImageDraw

import sketchmark
from sketchmark.audit import audit
from sketchmark.catalog import Catalog
from sketchmark.episode import Episode, Grading, Turn
from sketchmark.episode.model import Reply
from sketchmark.episode.protocol import FilledPrompts
from sketchmark.episode.sample import Part, Sample, of
from sketchmark.errors import BadInput
from sketchmark.media import Picture
from sketchmark.stats.intervals import binomial_cdf
from sketchmark.tasks import Task
from sketchmark.worlds import LEVELS, installed_worlds
from sketchmark.worlds.play import tagged_moves
from sketchmark.worlds.steps import SIZE, StepWorld

WORLDS = step_worlds()


@pytest.fixture(params=sorted(WORLDS))
def world(request: pytest.FixtureRequest) -> StepWorld[Any]:
    return WORLDS[request.param]


def samples(world: StepWorld[Any], count: int, **arguments: Any) -> list[Sample]:
    made = world.samples(seed=3, data=None, **arguments)
    return [next(made) for _ in range(count)]


def round_of(world: StepWorld[Any]) -> int:
    """Return the number of samples that have all levels in all looks."""
    return len(LEVELS) * len(world.looks)


def scored(world: StepWorld[Any], sample: Sample, drawings: list[Picture], answer: str) -> dict[str, float | None]:
    return dict(world.score(sample, episode_of(sample, drawings, answer), Grading()).values)


def episode_of(sample: Sample, drawings: list[Picture], answer: str) -> Episode:
    drawn = [Turn("draw", (Part(one, "model"),), "", Reply(picture=one)) for one in drawings]
    return Episode(sample, (*drawn, Turn("say", (Part(answer, "model"),), "", Reply(answer))))


def test_a_puzzle_takes_as_many_steps_as_its_level_says_and_its_answer_is_accepted(world: StepWorld[Any]) -> None:
    for sample in samples(world, round_of(world)):
        first = world.parse(sample.fields["puzzle"])
        assert first is not None and sample.frames is not None
        assert len(sample.target["moves"]) == sample.steps == sample.groups["level"] == len(sample.frames())
        assert world.accepts(first, sample.target["answer"])
        assert not world.accepts(first, []) and not world.accepts(first, ["nothing of the kind"])
    assert len({sample.fields["puzzle"] for sample in samples(world, 30)}) >= 25, "puzzles differ"


@pytest.mark.parametrize("level", LEVELS)
def test_a_search_finds_one_shortest_solution_as_long_as_the_level(world: StepWorld[Any], level: int) -> None:
    for seed in range(3):
        puzzle = world.puzzle(1000 + seed, level, world.looks[0])
        assert solutions(world, puzzle, level) == {level: 1}


@pytest.mark.parametrize("level", [0, 4])
def test_all_looks_and_levels_come_in_turn(world: StepWorld[Any], level: int) -> None:
    made = samples(world, len(world.looks) if level else round_of(world), level=level)
    assert {sample.groups["look"] for sample in made} == set(world.looks)
    assert {sample.groups["level"] for sample in made} == ({level} if level else set(LEVELS))


def test_the_same_seed_gives_the_same_puzzles_in_every_look(world: StepWorld[Any]) -> None:
    for level in LEVELS:
        puzzles = [world.puzzle(5, level, look) for look in world.looks]
        assert len(set(puzzles)) == 1 and [puzzle.look for puzzle in puzzles] == list(world.looks)
        assert len({world.render(puzzle).identity for puzzle in puzzles}) == len(world.looks) >= 3


@pytest.mark.parametrize("size", [256, SIZE, 700])
def test_states_are_read_back_from_images_and_texts(world: StepWorld[Any], size: int) -> None:
    for look in world.looks:
        for level in LEVELS:
            state = world.puzzle(11, level, look)
            for step in world.solve(state):
                read = world.read(world.render(state, size))
                assert read == state and read is not None and read.look == look
                assert world.parse(f"Before it.\n{world.write(state)}\nBehind it.") == state
                after = world.after(state, step)
                assert after != state and world.legal(state, step) and step in world.choices(state)
                state = after
            assert world.solve(state) == [] and world.read(world.render(state, size)) == state


@pytest.mark.parametrize("distortion", list(DISTORTIONS))
def test_distorted_images_are_read(world: StepWorld[Any], distortion: str) -> None:
    assert len(misread(subjects()[world.name], 40, DISTORTIONS[distortion])) <= (1 if distortion == "all four" else 0)


@pytest.mark.parametrize("name", ["maze", "sliding", "jigsaw", "jigsaw_painted"])
@pytest.mark.parametrize("distortion", ["blurred", "all four"])
def test_distorted_boards_are_read_strictly(name: str, distortion: str) -> None:
    assert len(misread(subjects()[name], 20, DISTORTIONS[distortion])) <= 1


def test_an_image_with_anything_else_in_it_is_not_read(world: StepWorld[Any]) -> None:
    for look in world.looks:
        image = world.paint(world.puzzle(2, 3, look), SIZE).convert("RGB")
        marked, halved, tiled = image.copy(), image.copy(), Image.new("RGB", (SIZE, SIZE))
        ImageDraw.Draw(marked).rectangle((200, 180, 290, 270), outline=(220, 40, 40), width=6)
        halved.paste("white", (0, 0, SIZE, SIZE // 2))
        for corner in ((0, 0), (SIZE // 2, 0), (0, SIZE // 2), (SIZE // 2, SIZE // 2)):
            tiled.paste(image.resize((SIZE // 2, SIZE // 2)), corner)
        others = [
            marked,
            halved,
            tiled,
            Image.new("RGB", (SIZE, SIZE), "white"),
            image.rotate(90),
            Image.new("RGB", (9, 9)),
        ]
        read = [world.read(Picture.from_image(other)) for other in others]
        assert read == [None] * len(others), (look, read)
    for other in set(WORLDS.values()) - {world}:
        assert world.read(other.render(other.puzzle(1, 2, other.looks[0]))) is None
    assert world.parse("No puzzle here.\n...") is None


def odd(image: Image.Image, dice: Random) -> dict[str, Image.Image]:
    """Return images as a model might draw them that is rewarded for being read."""
    side, half = image.width, image.width // 2
    noise = Image.frombytes("RGB", (side, side), dice.randbytes(3 * side * side))
    padded, low = Image.new("RGB", (2 * side, side), image.getpixel((0, 0))), Image.new("RGB", (side, side), "white")
    padded.paste(image, (half, 0))
    low.paste(image.crop((0, half, side, side)), (0, half))
    return {
        "noise": noise,
        "coarse noise": noise.crop((0, 0, 12, 12)).resize((side, side), Image.Resampling.NEAREST),
        "faint": Image.blend(image, Image.new("RGB", image.size, "grey"), 0.9),
        "noisy": Image.blend(image, noise, 0.6),
        "tiny": image.resize((8, 8)),
        "a pixel": image.resize((1, 1)),
        "a line": image.resize((1, side)),
        "half of it": low,
        "negative": image.point(lambda value: 255 - value),
        **{f"all {fill}": Image.new("RGB", image.size, fill) for fill in ("white", "black", "red")},
        "page": Image.new("RGB", image.size, image.getpixel((0, 0))),
        "huge": image.resize((2500, 2500), Image.Resampling.BICUBIC),
        "squeezed": image.resize((side, half)),
        "on a wide page": padded,
    }


SHOW_IT = ("huge", "squeezed", "on a wide page")
"""Those that still show all of the scene."""


@pytest.mark.parametrize("name", list(subjects()))
def test_no_image_is_read_as_what_it_does_not_show(name: str) -> None:
    subject, dice = subjects()[name], Random(4)
    first, second = islice(subject.scenes(2), 2)
    assert subject.read(subject.draw(second), first) == second, "another step is read as that step"
    for kind, image in odd(subject.draw(first).image(), dice).items():
        found = subject.read(Picture.from_image(image), first)
        assert found is None or (kind in SHOW_IT and found == first), (kind, found)


def test_a_corrupt_step_is_drawn_well_and_scored_as_wrong(world: StepWorld[Any]) -> None:
    for sample in samples(world, round_of(world)):
        frames, true = world.corrupted(sample), sample.frames() if sample.frames else []
        right = tagged_moves(sample.target["answer"])
        assert len(frames) == len(true) and frames[:-1] == true[:-1] and frames[-1] != true[-1]
        assert world.read(frames[-1]) not in (None, world.read(true[-1]))
        scores, best = scored(world, sample, frames, right), scored(world, sample, true, right)
        assert set(best.values()) == {1.0}
        assert scores[f"{world.name}_img_exact"] == 0 and scores[f"{world.name}_parse_all_ok"] == 1
        assert scores[f"{world.name}_img_frame_acc"] == pytest.approx(1 - 1 / len(true))
        assert set(scored(world, sample, [], "I give up.").values()) == {0.0}


def test_the_solver_is_right_in_every_mode_and_look_at_every_level(world: StepWorld[Any], tmp_path: Path) -> None:
    run = sketchmark.run(
        "player/solver",
        world.name,
        mode="direct,visual_cot,text_cot,text_input",
        limit=round_of(world),
        output_path=tmp_path / "run",
        no_cache=True,
    )
    for name, cell in run.results.tasks.items():
        assert {metric: found.mean for metric, found in cell.metrics.items()} == dict.fromkeys(cell.metrics, 1.0), (
            name
        )
        assert not cell.failures and set(cell.by["level"]) == set(map(str, LEVELS))
        assert set(cell.by["look"]) == set(world.looks)


@pytest.mark.parametrize("level", LEVELS)
def test_a_random_answer_is_right_as_often_as_the_world_says(world: StepWorld[Any], level: int) -> None:
    """Refuse a chance only if the number of right answers has a probability below one in a million, at any seed."""
    dice, tries = Random(level), 50
    right = 0
    for sample in samples(world, 20, level=level):
        first = world.parse(sample.fields["puzzle"])
        assert first is not None
        right += sum(world.accepts(first, world.guessed(dice)) for _ in range(tries))
    stated, count = world.chances[level - 1], 20 * tries
    tails = binomial_cdf(right, count, stated), 1 - binomial_cdf(right - 1, count, stated)
    assert min(tails) > 1e-6, f"{right} of {count} right, stated {stated}"
    assert list(world.chances) == sorted(world.chances, reverse=True) and len(world.chances) == len(LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["none", "draw_error", "read_error"])  # `ignores` does nothing else in a world
def test_the_audit_finds_what_was_planted(world: StepWorld[Any], fault: str, tmp_path: Path) -> None:
    arguments, expected = FAULTS[fault]
    run = sketchmark.run(
        "player/flawed",
        world.name,
        mode="direct,visual_cot",
        canvas="own,blank,oracle,corrupt,caption",
        limit=len(LEVELS),
        model_args={"knows": 0.0, **arguments},
        output_path=tmp_path / "run",
        no_cache=True,
    )
    (task,) = audit(run.path).tasks
    found = {one.name: one.mean for one in task.findings}
    assert {name: found[name] for name in expected} == expected
    assert found["follows corrupt"] == (fault in ("none", "draw_error"))
    assert found["led astray"] == (fault in ("none", "draw_error"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["maze", "sliding", "jigsaw"])
@pytest.mark.parametrize("level", [1, 5])
def test_players_of_the_worlds_that_follow_uni_mmmu_are_as_stated_by_level(
    name: str, level: int, tmp_path: Path
) -> None:
    """`python -m bench.worlds players` prints this for all worlds and levels."""
    world = installed_worlds()[name]
    assert solved(world, level, tmp_path) == (1.0, len(looks_of(world))) and len(looks_of(world)) >= 3
    assert missed(world, level, tmp_path) == []
    assert guessed(world, level, tmp_path, 40)[1] > 1e-6


def test_drawing_helps_a_player_that_sees_few_steps_ahead(world: StepWorld[Any], tmp_path: Path) -> None:
    run = sketchmark.run(
        "player/sketcher",
        world.name,
        mode="direct,visual_cot",
        canvas="own,blank",
        limit=6,
        task_args="level=5",
        model_args={"lookahead": 2, "hand_error": 0.0},
        output_path=tmp_path / "run",
        no_cache=True,
    )
    means = {name: cell.metrics[cell.headline].mean for name, cell in run.results.tasks.items()}
    name = world.name
    assert means[f"{name}.visual_cot"] == 1 and means[f"{name}.direct"] == means[f"{name}.visual_cot.blank"] < 0.7


@pytest.mark.parametrize("task", ["maze", "sliding", "jigsaw"])
def test_the_solver_solves_the_other_worlds_as_text(task: str, tmp_path: Path) -> None:
    run = sketchmark.run("player/solver", task, mode="text_input", limit=12, output_path=tmp_path / "run")
    (cell,) = run.results.tasks.values()
    assert all(found.mean == 1 for found in cell.metrics.values()) and not cell.failures
    sample = next(Catalog().task(task).samples(limit=1))
    assert not any(isinstance(part, Picture) for part in _shown(Catalog().task(task), sample))


def _shown(task: Task, sample: Sample) -> Sequence[object]:
    return FilledPrompts(sample, task.mode("text_input").prompts).parts()


def test_seeing_perception_and_drawing_are_shown_together(tmp_path: Path) -> None:
    modes = "direct,blind,text_input,visual_cot"
    run = sketchmark.run("player/sketcher", "maze", mode=modes, limit=30, output_path=tmp_path / "run")
    text = str(run)
    together = text.partition("Seeing, perception and drawing")[2]
    for aspect in ("seeing", "perception", "drawing"):
        assert re.search(rf"\b{aspect} +\d", together), text
    (audited,) = audit(run.path).tasks
    found = {one.name: one.label for one in audited.findings}
    assert found["lost by perception"] == "text_input − direct" and found["seeing"] == "direct − blind"


def test_prompts_name_everything_that_is_needed(world: StepWorld[Any]) -> None:
    task, (sample,) = Catalog().task(world.name), samples(world, 1)
    for mode in ("direct", "visual_cot", "text_cot", "text_input"):
        whole = "\n".join(filled(task, mode, sample))
        assert not re.search(r"\{[a-z_]+\}", whole), "a prompt is missing"
        assert f"The puzzle is of the kind {world.name}." in whole and "<ANSWER_JSON>[" in whole
        known = {word.lower() for word in re.findall(r"\w+", whole)}
        assert world.vocabulary <= known, world.vocabulary - known
        assert (sample.fields["puzzle"] in whole) == (mode == "text_input")
        example = re.findall(r"<ANSWER_JSON>.*?</ANSWER_JSON>", whole)[-1]
        assert world.answered(episode_of(sample, [], example.partition("<ANSWER_JSON>")[2].partition("<")[0]))


def filled(task: Task, mode: str, sample: Sample) -> list[str]:
    """Every text that a mode shows for a sample."""
    prompts = FilledPrompts(sample, task.mode(mode).prompts)
    parts = [part for part in prompts.parts() if isinstance(part, str)]
    assert bool(len(parts) < len(prompts.parts())) == (mode != "text_input"), "the image is shown, or the text"
    names = ("plan", "step", "final") if mode in ("visual_cot", "text_cot") else ("ask",)
    return [*parts, *(prompts.text(name, i=1) for name in names)]


@pytest.mark.parametrize("arguments", [{"level": 6}, {"look": "invisible"}, {"size": 20}])
def test_a_level_look_or_size_that_is_not_there_is_refused(world: StepWorld[Any], arguments: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        world.samples(seed=0, data=None, **arguments)


def test_answers_are_parsed_with_and_without_their_tag(world: StepWorld[Any]) -> None:
    (sample,) = samples(world, 1, level=2)
    truth = sample.target["answer"]
    listed = ", ".join(f'"{entry.upper()}"' for entry in truth)
    for reply in (f"<ANSWER_JSON>[{listed}]</ANSWER_JSON>", f"It is so.\n[{listed}]", f"<answer_json>[{listed}]"):
        assert scored(world, sample, [], reply)[f"{world.name}_right"] == 1, reply
    for reply in (f"It is not [{listed}]", f"[{listed}] or something else", "[]", "<ANSWER_JSON></ANSWER_JSON>"):
        assert scored(world, sample, [], reply)[f"{world.name}_right"] == 0, reply


def test_a_caption_and_a_reading_say_what_an_image_shows(world: StepWorld[Any]) -> None:
    (sample,) = samples(world, 1, level=2)
    assert sample.frames is not None
    frame = sample.frames()[0]
    text = world.reading(frame)
    assert text is not None and text in world.caption(sample, frame)
    assert "cannot be read" in world.caption(sample, Picture.from_image(Image.new("RGB", (300, 300), "pink")))


def test_a_hidden_puzzle_is_not_guessed_from_the_prompt(world: StepWorld[Any]) -> None:
    assert world.answer(of("The puzzle is of the kind X.")) is None
