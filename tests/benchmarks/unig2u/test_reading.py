"""How UniG2U's replies are read: the published programs' accidents, to the letter, and the strict reader beside."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.benchmarks import unig2u as published
from sketchmark.benchmarks.unig2u import scores as charts
from sketchmark.benchmarks.unig2u import scores as choices
from sketchmark.benchmarks.unig2u import scores as planning
from sketchmark.benchmarks.unig2u import scores as uni_mmmu_scores
from sketchmark.benchmarks.unig2u.data import hidden_in
from sketchmark.episode import Grading, Scores
from tests.episodes import episode, moves_answer
from tests.tabled import tabled

OPTIONS = ["seven", "eight", "nine", "ten"]
PUZZLE = Sample("p", target={"answer": "B", "options": dict.fromkeys("ABCD", "")})
IN_WORDS = Sample("p", target={"answer": "B", "options": OPTIONS})


@tabled
def test_visual_puzzles_as_published(reply: str, letter: str | None) -> None:
    assert published.visual_puzzles(reply, None) == letter


@tabled
def test_visual_puzzles_look_for_the_options_words_last(reply: str, letter: str | None) -> None:
    assert published.visual_puzzles(reply, OPTIONS) == letter


def score(scorer: Any, sample: Sample, reply: str, scoring: str, **settings: Any) -> Scores:
    found = scorer(sample, episode(reply), Grading(scoring), **settings)
    assert isinstance(found, Scores)
    return found


@tabled
def test_visual_puzzles_strict_and_lenient_have_no_accidents(
    reply: str, strict: str | None, lenient: str | None
) -> None:
    assert score(choices.visual_puzzles, PUZZLE, reply, "strict").notes["answer"] == strict
    found = score(choices.visual_puzzles, PUZZLE, reply, "lenient")
    assert (found.notes["answer"], found.unparsed) == (lenient, lenient is None)


def test_a_lot_that_official_draws_is_counted_and_the_same_every_time() -> None:
    first = score(choices.visual_puzzles, IN_WORDS, "Hard to say.", "official")
    assert first.notes["by_lot"] in "ABCD" and first.notes["answer"] is None and first.unparsed
    assert score(choices.visual_puzzles, IN_WORDS, "Hard to say.", "official") == first
    many = [
        score(choices.visual_puzzles, Sample(str(n), target=IN_WORDS.target), "?", "official").values["accuracy"]
        for n in range(400)
    ]
    assert 0.2 < sum(value or 0 for value in many) / 400 < 0.3, "a lot of four"
    assert "by_lot" not in score(choices.visual_puzzles, IN_WORDS, "B", "official").notes


@tabled
def test_realunify(reply: str, official: str | None, strict: str | None) -> None:
    sample = Sample("r", target={"answer": "C", "options": dict.fromkeys("ABCD", "")})
    assert published.realunify(reply) == official
    assert score(choices.realunify, sample, reply, "official", score="x").notes["answer"] == official
    found = score(choices.realunify, sample, reply, "strict", score="x")
    assert found.notes["answer"] == strict
    assert found.values == {"x": float(found.notes["answer"] == "C")}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("animal-1-Medieval_Village-Easy-1.5-90.png", ("animal", "Medieval_Village", "easy")),
        ("mercedes-benz-City-HARD-2.png", ("mercedes-benz", "City", "hard")),
        ("Face_Emoji-12-Ocean-medium.jpg", ("Face_Emoji", "Ocean", "medium")),
    ],
)
def test_the_label_is_in_the_files_name(name: str, found: tuple[str, str, str]) -> None:
    assert hidden_in(name) == found


LISTED = ["Animal", "Cat", "Paper_clip", "City", "Medieval_Village"]


@tabled
def test_illusions(label: str, reply: str, official: float, strict: float) -> None:
    answer = {"cat": "Cat", "paper_clip": "Paper_clip", "paper-clip": "Paper_clip"}.get(label, label)
    sample = Sample("i", target={"answer": answer, "label": label, "options": LISTED})
    assert score(choices.illusions, sample, reply, "official", score="s").values == {"s": official}
    assert score(choices.illusions, sample, reply, "strict", score="s").values == {"s": strict}


def chart(truth: str, kind: str = "human_test") -> Sample:
    return Sample("c", fields={"question": "How many?"}, target={"answer": truth}, groups={"type": kind})


@tabled
def test_charts(reply: str, truth: str, official: float, strict: float) -> None:
    assert score(charts.relaxed, chart(truth), reply, "official").values["relaxed_overall"] == official
    assert score(charts.relaxed, chart(truth), reply, "strict").values["relaxed_overall"] == strict


def test_charts_are_also_counted_by_the_kind_of_question() -> None:
    for kind, name in (("human_test", "relaxed_human_split"), ("augmented_test", "relaxed_augmented_split")):
        assert set(score(charts.relaxed, chart("1", kind), "1", "strict").values) == {"relaxed_overall", name}


@tabled
def test_routes(reply: str, official: tuple[int, int], strict: tuple[int, int] | None) -> None:
    sample = Sample("m", target={"north": 1, "east": 4})
    if "crossroads" not in reply:
        assert published.route(reply) == official
    found = score(planning.route, sample, reply, "strict")
    assert found.notes["answer"] == (list(strict) if strict else None)
    assert found.values == {"gmap_acc": float(strict == (1, 4))}
    assert score(planning.route, sample, reply, "official").values == {"gmap_acc": float(official == (1, 4))}


@tabled
def test_times(reply: str, official: dict[str, float], strict: dict[str, float]) -> None:
    sample = Sample("c", target={"car": 3.0, "person": 6.0})
    assert published.times(reply) == official
    assert score(planning.collision, sample, reply, "strict").notes["answer"] == (strict or None)
    assert score(planning.collision, sample, reply, "official").notes["answer"] == (official or None)


@tabled
def test_each_time_is_a_half_within_a_second_and_exactly(reply: str, near: float, exact: float) -> None:
    sample = Sample("c", target={"car": 3.0, "person": 6.0})
    for scoring in ("strict", "official"):
        found = score(planning.collision, sample, reply, scoring)
        assert found.values == {"collision_acc": near, "collision_exact": exact}
        assert found.unparsed == ("Person" not in reply)


def test_a_guesser_of_times_begins_with_the_prompts_own_example() -> None:
    guesses = planning.pairs_of_seconds(Sample("c"))
    assert guesses[0] == "Car: 2.0\nPerson: 2.0" and len(set(guesses)) == len(guesses) == 64
    sample = Sample("c", target={"car": 1.0, "person": 3.0})
    right = [
        one for one in guesses if score(planning.collision, sample, one, "strict").values["collision_acc"] == 1.0
    ]
    assert len(right) == 2 * 3, "within a second"


@tabled
def test_what_is_handed_to_the_judge(reply: str, letters: str, found: str) -> None:
    assert published.extracted(reply, letters) == found


def test_a_reply_of_nothing_but_open_boxes_takes_no_hours() -> None:
    assert published.extracted("\\boxed{" * 20_000, "A-Z").startswith("\\boxed{")


def test_unig2us_port_turns_the_moves_of_a_sliding_puzzle_round() -> None:
    sample = Sample("s", target={"moves": ["up", "left", "left"]})
    found = uni_mmmu_scores.sliding(sample, episode(moves_answer("down", "right", "up")), Grading())
    assert found.values == {"sliding_text_frame_acc_unig2u": pytest.approx(2 / 3)}
    maze = uni_mmmu_scores.maze(sample, episode(moves_answer("up", "down", "left", "left")), Grading())
    assert maze.values == {"maze_text_frame_acc_unig2u": pytest.approx(2 / 3)}
    nothing = uni_mmmu_scores.maze(Sample("s", target={"moves": None}), episode("x"), Grading())
    assert nothing.values == {"maze_text_frame_acc_unig2u": None}
