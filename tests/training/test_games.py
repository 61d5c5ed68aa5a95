"""Games of a trainer: the same prompts, transcripts and scores as in a run, and samples that no run has."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from sketchmark.catalog import Catalog
from sketchmark.episode import Episode
from sketchmark.episode.model import Options
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.media import Picture
from sketchmark.testing import BLANK
from sketchmark.training import Course, Game, Marks, Weights, bytes_in, worlds
from sketchmark.worlds import FIRST_TRAINING_SEED, numbered_seeds

WORLDS = worlds()


def sent(episode: Episode) -> list[object]:
    """What the model of a run replied, call by call."""
    return [turn.reply.picture or turn.reply.text for turn in episode.turns if turn.reply]


def finished(game: Game) -> tuple[float, Marks]:
    """Let `player/solver` play a game to its end: the sum of its rewards, and its marks."""
    solver, turn, total = Catalog().model("player/solver"), game.begin(), 0.0
    while not turn.done:
        ask = solver.draw if turn.wanted == "draw" else solver.say
        reply = asyncio.run(ask(turn.context, Options()))
        turn = game.step(reply.picture or reply.text)
        total += turn.reward
    return total, game.course.marks(game.episode)


@pytest.mark.parametrize("world", WORLDS)
def test_a_game_has_the_contexts_and_scores_of_the_run_that_it_repeats(
    played: Callable[..., RunFolder], world: str
) -> None:
    for model in ("player/solver", "player/sketcher"):
        folder = played(model, world, mode="visual_cot", limit=3)
        (cell,) = folder.cells
        stored = {row.sample: row for row in folder.scores(cell)}
        course = Course(world)
        for _, episode in folder.played(cell):
            game = Game(course, sample=episode.sample)
            turn, rewards = game.begin(), 0.0
            for reply, (_, context) in zip(sent(episode), episode.contexts(), strict=True):
                assert turn.context.key() == context.key()
                turn = game.step(reply)  # type: ignore[arg-type]
                rewards += turn.reward
            row = stored[episode.sample.id]
            assert turn.done
            assert course.scores(game.episode).values == row.values
            marks = course.marks(game.episode)
            assert marks.answer == row.values[course.task.headline]
            if f"{world}_img_frame_acc" in row.values:
                assert marks.right == pytest.approx(row.values[f"{world}_img_frame_acc"] or 0.0)
            assert rewards == pytest.approx(0.5 * marks.answer + 0.5 * marks.progress)


@pytest.mark.parametrize("world", WORLDS)
def test_the_ground_truth_earns_everything_at_every_level_and_look(world: str) -> None:
    course = Course(world)
    for seed in range(15):
        total, marks = finished(Game(course, seed))
        assert total == pytest.approx(1.0)
        unmeasured = {"legal": 0.0, "readable": 0.0} if world == "jigsaw" else {}  # its drawings are compared whole
        assert marks == replace(Marks(1, 1, 1, 1, 1, 1), **unmeasured)


def test_every_mark_can_be_weighted() -> None:
    marks = Marks(answer=1, right=0.5, legal=0.25, readable=1, progress=0.5, form=1)
    assert Weights().reward(marks) == 0.75
    assert Weights(answer=0, progress=0, right=1, legal=2, readable=0.1, form=0.1).reward(marks) == pytest.approx(1.2)


@pytest.mark.parametrize(
    "contents",
    [(), ("a text",), (b"",), (b"\x89PNG\r\n\x1a\nbroken",), (b"x" * 17_000_000,), ("text", b"GIF89a")],
    ids=["nothing", "text", "empty", "broken", "too_large", "text_and_broken"],
)
def test_a_turn_without_the_wanted_drawing_ends_the_game_without_reward(contents: tuple[str | bytes, ...]) -> None:
    game = Game(Course("gears"), seed=1)
    game.step("a plan")
    turn = game.step(*contents)
    assert (turn.done, turn.reward, turn.info["failure"]) == (True, 0.0, "no_picture")
    with pytest.raises(BadInput, match="ended"):
        game.step("more")


def test_wrong_drawings_earn_nothing_and_later_right_ones_count_as_right_but_not_as_progress() -> None:
    course = Course("gears")
    sample = course.sample(2, level=3)
    frames = sample.frames() if sample.frames else []
    assert course.judge(sample, [BLANK, BLANK, BLANK]) == Marks()
    late = course.judge(sample, [BLANK, *frames[1:]])
    assert [late.right, late.progress, late.readable] == pytest.approx([2 / 3, 0.0, 2 / 3])
    assert course.judge(sample, [b"broken", *frames]) == Marks()
    assert course.judge(sample, [*frames, *frames]).progress == 0.5


@pytest.mark.parametrize("world", WORLDS)
def test_one_drawing_is_scored_as_the_frame_of_its_index_and_a_broken_one_ends_the_drawings(world: str) -> None:
    course = Course(world)
    sample = course.sample(11, level=3)
    frames = [Picture.from_bytes(frame.data) for frame in (sample.frames() if sample.frames else ())]
    for index, frame in enumerate(frames):
        assert course.judge_frame(sample, index, frame).right == 1.0
        assert course.judge_frame(sample, index, frames[index - 1]).right == float(frames[index - 1] == frame)
    assert course.judge_frame(sample, len(frames), frames[0]) == course.judge_frame(sample, -1, frames[0]) == Marks()
    torn = frames[1].data[: len(frames[1].data) // 2]
    assert course.judge(sample, [frames[0], torn, *frames[2:]]) == course.judge(sample, frames[:1])


def test_the_outcome_never_holds_the_solution() -> None:
    game = Game(Course("gears"), seed=3, level=4)
    turn = game.begin()
    answer = str(game.sample.target["answer"][0])
    while not turn.done:
        assert answer not in str(turn.info)
        assert set(turn.info) <= {*Marks.__dataclass_fields__, "failure"}
        turn = game.step(BLANK if turn.wanted == "draw" else "?")


def test_a_game_pickles_in_the_middle_and_goes_on_alike() -> None:
    game = Game(Course("reach"), seed=5, level=3)
    frames = game.sample.frames() if game.sample.frames else []
    game.step("a plan")
    game.step(frames[0])
    copy = pickle.loads(pickle.dumps(game))  # noqa: S301 made two lines above
    one, other = game.step("next"), copy.step("next")
    assert one.context.key() == other.context.key()
    assert game.step(frames[1]) == copy.step(frames[1])
    with pytest.raises(BadInput, match="training seed"):
        pickle.dumps(Game(Course("reach"), sample=game.sample))


def test_a_run_refuses_training_seeds_and_makes_none_of_their_samples() -> None:
    task = Catalog().task("gears")
    for seed in (FIRST_TRAINING_SEED, -FIRST_TRAINING_SEED, FIRST_TRAINING_SEED + 7):
        with pytest.raises(BadInput, match="training samples"):
            list(task.samples(seed=seed, limit=1))
    with pytest.raises(BadInput, match="training seed"):
        Course("gears").sample(-1)
    furthest = (
        abs(seed) for edge in (-1, 1) for _, seed in islice(numbered_seeds(edge * (FIRST_TRAINING_SEED - 1)), 2)
    )
    assert max(furthest) < next(numbered_seeds(FIRST_TRAINING_SEED))[1]


def test_make_refuses_training_seeds(tmp_path: Path) -> None:
    arguments = ["make", "gears", "--count", "1", "--output-path", str(tmp_path / "made")]
    done = subprocess.run(
        [sys.executable, "-m", "sketchmark", *arguments, "--seed", str(FIRST_TRAINING_SEED)],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "makes training samples" in done.stderr and not (tmp_path / "made").exists()


@pytest.mark.parametrize(("mode", "images", "acts"), [("blind", 0, ["say"]), ("text_cot", 1, ["say"] * 3)])
def test_a_game_keeps_to_its_mode(mode: str, images: int, acts: list[str]) -> None:
    game = Game(Course("gears", mode), 0, 1)
    turn, wanted = game.begin(), []
    assert len(turn.context.pictures) == images
    while not turn.done:
        wanted.append(turn.wanted)
        turn = game.step("a text")
    assert wanted == acts


def test_a_course_sets_the_size_of_its_images_and_takes_worlds_of_your_own(tmp_path: Path) -> None:
    initial = Course("gears", size=256).sample(0).pictures["initial"]
    assert isinstance(initial, Picture) and initial.size == (256, 256)
    file = tmp_path / "mine.py"
    file.write_text(
        "from sketchmark.worlds.gears import Gears\n\n\n"
        "class Mine(Gears):\n    name = 'mine'\n\n\nWORLD = Mine().world('Gears under another name.')\n"
    )
    (tmp_path / "mine.yaml").write_text("include: sketchmark/worlds/gears.yaml\n")
    sample = Course("mine", include=(file,)).sample(0, 3)
    assert sample.groups["level"] == 3


def test_levels_and_looks_outside_the_course_are_held_out() -> None:
    course = Course("gears", levels=(1, 2), looks=("plain", "night"))
    made = [course.sample(seed).groups for seed in range(8)]
    assert {(one["level"], one["look"]) for one in made} == {(a, b) for a in (1, 2) for b in ("plain", "night")}
    for level, look in ((3, ""), (1, "workshop")):
        with pytest.raises(BadInput, match="held out"):
            course.sample(0, level, look)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"world": "gear"}, "no world called"),
        ({"world": "voila"}, "no levels"),
        ({"world": "gears", "levels": (0,)}, "no level 0"),
        ({"world": "gears", "levels": ()}, "no level at all"),
        ({"world": "gears", "looks": ("pink",)}, "no look 'pink'"),
        ({"world": "gears", "mode": "sung"}, "no mode 'sung'"),
    ],
)
def test_a_course_that_cannot_be_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Course(**given)  # type: ignore[arg-type]


_WATCHED = """
import sys
from sketchmark.training import Course, Game
course = Course("gears")
Game(course, 0).begin()
seen = []
watched = ("open", "socket.connect")
sys.addaudithook(lambda event, arguments: seen.append((event, arguments)) if event in watched else None)
game = Game(course, 1, 3)
frames, turn = game.sample.frames(), game.begin()
while not turn.done:
    turn = game.step(frames.pop(0) if turn.wanted == "draw" else "[]")
print([one for one in seen if "site-packages" not in str(one) and ".py" not in str(one)])
"""


def test_a_game_opens_no_file_and_no_connection() -> None:
    done = subprocess.run([sys.executable, "-c", _WATCHED], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_images_come_from_data_urls_and_nothing_is_fetched_or_too_large() -> None:
    assert bytes_in(BLANK.data_url) == BLANK.data
    largest = "data:image/png;base64," + "A" * 21_333_332
    assert len(bytes_in(largest)) == 15_999_999 and bytes_in(largest + "A" * 8) == b""
    for address in ("", "http://127.0.0.1/x.png", "/etc/passwd", "data:,x", "data:image/png;base64,@", "data:text"):
        assert bytes_in(address) == b"", address
