"""The jigsaw's scores: the choice, and how like the true completions the drawn ones are.

Flat greys have a similarity that can be worked out on paper: 2ab / (a² + b²), but for a small constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sketchmark import Sample
from sketchmark.episode import Grading
from sketchmark.media import Picture
from sketchmark.worlds import jigsaw as dreamsim
from sketchmark.worlds import jigsaw as jigsaw_scoring
from sketchmark.worlds.jigsaw.panels import similarity
from tests.episodes import choice_answer, episode, flat, from_pixels

TRUE = [flat(100), flat(200)]
ALIKE, LESS_ALIKE = flat(115), flat(125)
"""15 and 25 lighter than the first true completion: one is near enough to be right."""


def _sample(label: Any, frames: Sequence[Picture] | None = TRUE) -> Sample:
    return Sample("x", target={"label": label}, frames=None if frames is None else lambda: list(frames))


@pytest.mark.parametrize(
    ("label", "choice", "right"), [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.0), (1, 0, 0.0), ("1", 1, 1.0)]
)
def test_the_choice_is_right_when_it_is_the_label(label: Any, choice: int, right: float) -> None:
    scores = jigsaw_scoring.score(_sample(label), episode(choice_answer(choice)), Grading())
    assert scores.values == {"jigsaw_text_acc": right}
    assert scores.notes == {"answer": choice, "expected": int(label)}
    assert not scores.unparsed


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("said", ["", "the first", choice_answer(True), choice_answer(2)])
def test_no_choice_is_wrong_for_either_label_and_unparsed(label: int, said: str) -> None:
    scores = jigsaw_scoring.score(_sample(label), episode(said), Grading())
    assert scores.unparsed and scores.values["jigsaw_text_acc"] == 0.0


def test_only_an_echo_is_noted_as_one() -> None:
    echo = jigsaw_scoring.score(_sample(0), episode('{"choice": 0 or 1}'), Grading())
    assert "echo" in echo.notes
    assert "echo" not in jigsaw_scoring.score(_sample(0), episode(choice_answer(0)), Grading()).notes


@pytest.mark.parametrize(
    ("drawn", "similarity", "right"),
    [
        (TRUE, 1.0, [True, True]),
        ([ALIKE, TRUE[1]], 0.995, [True, True]),
        ([LESS_ALIKE, TRUE[1]], 0.988, [False, True]),
        ([TRUE[0], flat(100)], 0.9, [True, False]),
        ([TRUE[1], TRUE[0]], 0.8, [False, False]),
    ],
)
def test_the_similarity_is_the_mean_of_both_completions_in_their_order(
    drawn: list[Picture], similarity: float, right: list[bool]
) -> None:
    scores = jigsaw_scoring.score(_sample(0), episode(choice_answer(0), drawings=drawn), Grading())
    assert scores.values["jigsaw_img_similarity"] == pytest.approx(similarity, abs=5e-4)
    assert scores.notes["frames_right"] == right
    assert set(scores.values) == {"jigsaw_text_acc", "jigsaw_img_similarity"}


def test_a_drawing_of_another_size_is_scaled_to_the_true_one() -> None:
    """Thin stripes: scaled up to the drawing they would keep what is lost when the drawing is scaled down."""
    stripes = np.zeros((16, 16, 3), np.uint8)
    stripes[:, ::2] = 200
    true, drawn = from_pixels(stripes), from_pixels(stripes.repeat(3, axis=1)[:, 1:40])
    assert similarity(true, drawn) != pytest.approx(similarity(drawn, true), abs=0.01)
    scores = jigsaw_scoring.score(_sample(0, [true, true]), episode("", drawings=[drawn, drawn]), Grading())
    assert scores.values["jigsaw_img_similarity"] == pytest.approx(similarity(true, drawn))


@pytest.mark.parametrize("drawn", [[None], [TRUE[0]], [TRUE[0], None], [*TRUE, TRUE[1]]])
def test_anything_but_two_drawings_is_worth_nothing(drawn: list[Picture | None]) -> None:
    scores = jigsaw_scoring.score(_sample(0), episode("", drawings=drawn), Grading())
    assert scores.values["jigsaw_img_similarity"] == 0.0
    assert scores.notes["frames_right"] == [False, False]


def test_without_true_completions_drawings_are_worth_nothing() -> None:
    scores = jigsaw_scoring.score(_sample(0, None), episode("", drawings=TRUE), Grading())
    assert scores.values["jigsaw_img_similarity"] == 0.0


def _brightness(true: Picture, drawn: Picture) -> float:
    """Stands in for the network, whose weights are not here: which is asked about what shows in the number."""
    levels = [float(picture.image().getpixel((0, 0))[0]) for picture in (true, drawn)]  # type: ignore[index]
    return (levels[1] - levels[0]) / 100


def test_dreamsim_is_one_less_the_mean_distance_and_only_where_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dreamsim, "distance", _brightness)
    drawn = episode("", drawings=[flat(110), flat(230)])
    asked = jigsaw_scoring.score(_sample(0), drawn, Grading("strict+dreamsim"))
    assert asked.values["jigsaw_img_dreamsim"] == pytest.approx(0.8)
    assert "jigsaw_img_dreamsim" not in jigsaw_scoring.score(_sample(0), drawn, Grading()).values
    fewer = jigsaw_scoring.score(_sample(0), episode("", drawings=TRUE[:1]), Grading("strict+dreamsim"))
    assert fewer.values["jigsaw_img_dreamsim"] == 0.0
    unasked = jigsaw_scoring.score(_sample(0), episode(""), Grading("strict+dreamsim"))
    assert set(unasked.values) == {"jigsaw_text_acc"}


def test_the_name_of_the_picture_score_does_not_change_how_answers_are_read() -> None:
    loose = episode('"choice": 1')
    assert jigsaw_scoring.score(_sample(1), loose, Grading("official+dreamsim")).unparsed
    for name in ("strict+dreamsim", "lenient+dreamsim"):
        assert jigsaw_scoring.score(_sample(1), loose, Grading(name)).values["jigsaw_text_acc"] == 1.0
