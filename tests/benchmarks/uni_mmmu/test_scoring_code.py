"""Code: drawings by pixels with worked numbers, summaries and drawings by the published judge's questions."""

from __future__ import annotations

import asyncio

import pytest
from PIL import Image

from sketchmark import Model, Sample
from sketchmark.benchmarks.uni_mmmu import code as code_scores
from sketchmark.benchmarks.uni_mmmu.code import Fit, compare
from sketchmark.episode import Grading, Scores
from sketchmark.errors import JudgeFailed
from sketchmark.media import Picture
from sketchmark.media.svg import render
from tests.benchmarks.uni_mmmu.published_rest import BLUE, GREEN, RED, SQUARE, SVG_NAMES, squares
from tests.episodes import Judge, episode, flat
from tests.tabled import tabled

SAID = "<RENDER_SUMMARY>A red square.</RENDER_SUMMARY>"
SAMPLE = Sample("case_01_a", pictures={"reference": SQUARE}, fields={"svg": "<svg/>"})
UNKNOWN = Sample("case_02_b", fields={"svg": "<svg/>"})
TWO = squares((RED, (0, 10, 40, 50)), (BLUE, (50, 10, 90, 50)))


def _fit(reference: Picture, drawing: Picture) -> Fit:
    found = compare(reference, drawing)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("drawing", "iou", "shape", "colour"),
    [
        (SQUARE, 1.0, 1.0, 1.0),
        (squares((RED, (40, 30, 80, 70))), 1 / 3, 1 / 3, 1.0),
        (squares((RED, (60, 30, 100, 70))), 0.0, 0.0, 0.0),
        (squares((BLUE, (20, 30, 60, 70))), 0.0, 1.0, 0.0),
        (squares((RED, (20, 30, 60, 50)), (BLUE, (20, 50, 60, 70))), 0.5, 1.0, 0.5),
        (squares((RED, (20, 30, 60, 70)), (GREEN, (80, 80, 100, 100))), 1.0, 1600 / 2000, 1.0),
        (squares((RED, (0, 0, 100, 100))), 0.16, 0.16, 1.0),
        (squares((RED, (40, 60, 120, 140)), size=200), 1.0, 1.0, 1.0),
        (squares(), 0.0, 0.0, 0.0),
    ],
    ids=["exact", "shifted", "apart", "recoloured", "half", "one_more", "too_large", "another_size", "nothing"],
)
def test_a_square_by_pixels(drawing: Picture, iou: float, shape: float, colour: float) -> None:
    found = _fit(SQUARE, drawing)
    assert (found.iou, found.shape, found.colour) == pytest.approx((iou, shape, colour))


def test_a_missing_shape_costs_its_colours_share() -> None:
    found = _fit(TWO, squares((RED, (0, 10, 40, 50))))
    assert (found.iou, found.shape, found.colour) == (0.5, 0.5, 1.0)
    assert found.by_colour == {RED: 1.0, BLUE: 0.0}
    swapped = _fit(TWO, squares((BLUE, (0, 10, 40, 50)), (RED, (50, 10, 90, 50))))
    assert (swapped.iou, swapped.shape, swapped.colour) == (0.0, 1.0, 0.0)


def test_shades_of_a_colour_are_that_colour_and_the_ground_is_the_references() -> None:
    reference = squares((RED, (20, 30, 60, 70)), ground="#f0f0f0")
    drawing = squares(("#d84030", (20, 30, 60, 70)), ground="#eaeaea")
    assert _fit(reference, drawing).iou == 1.0


def test_a_ground_in_a_colour_of_the_palette_is_ground() -> None:
    reference = squares((RED, (20, 30, 60, 70)), ground=BLUE)
    assert _fit(reference, reference).by_colour == {RED: 1.0}
    assert _fit(reference, squares(ground=BLUE)).iou == 0.0


def test_blended_edges_bring_in_no_colour_of_their_own() -> None:
    """Half red and half white is nearest to orange."""
    circle = render(
        f'<svg {SVG_NAMES} width="120" height="120"><circle cx="60" cy="60" r="41.5" fill="{RED}"/></svg>'
    )
    assert _fit(circle, circle) == Fit(1.0, 1.0, 1.0, {RED: 1.0})
    hard = Picture.from_image(circle.image().quantize(2).convert("RGB"))
    assert _fit(circle, hard).iou > 0.95 and list(_fit(circle, hard).by_colour) == [RED]


def test_see_through_shapes_count_by_the_colour_they_look_like() -> None:
    faint = squares(("#71b7e6", (20, 30, 60, 70)))
    assert list(_fit(faint, faint).by_colour) == [BLUE]


def test_an_empty_reference_measures_nothing() -> None:
    assert compare(squares(), SQUARE) is None
    scores = code_scores.pixels(
        Sample("x", pictures={"reference": squares()}), episode("", drawings=[SQUARE]), Grading()
    )
    assert set(scores.values.values()) == {None}


def test_a_large_or_long_reference_is_compared_all_the_same() -> None:
    page = Image.new("RGB", (3000, 300), "white")
    page.paste(RED, (30, 30, 1500, 270))
    long = Picture.from_image(page)
    assert _fit(long, long).iou == 1.0
    assert _fit(long, Picture.from_image(page.resize((300, 300)))).iou > 0.95


def _pixels(*drawings: Picture | None, sample: Sample = SAMPLE) -> Scores:
    return code_scores.pixels(sample, episode(SAID, drawings=drawings), Grading())


def test_pixel_scores_need_no_judge_and_apply_to_drawings_alone() -> None:
    names = ["code_img_iou", "code_img_shape_iou", "code_img_colour"]
    assert _pixels(SQUARE).values == dict.fromkeys(names, 1.0)
    assert _pixels(SQUARE).notes == {"colours": {RED: 1.0}, "frames_right": [True]}
    assert _pixels(None).values == dict.fromkeys(names, 0.0)
    assert _pixels().values == _pixels(SQUARE, sample=UNKNOWN).values == dict.fromkeys(names)


def _text(judge: Model | None, said: str = SAID, scoring: str = "strict", sample: Sample = SAMPLE) -> Scores:
    return asyncio.run(code_scores.text(sample, episode(said), Grading(scoring, judge)))


def _image(
    judge: Model | None, *drawings: Picture | None, scoring: str = "strict", sample: Sample = SAMPLE
) -> Scores:
    return asyncio.run(code_scores.image(sample, episode(SAID, drawings=drawings), Grading(scoring, judge)))


def test_the_summary_is_judged_against_the_true_rendering() -> None:
    judge = Judge('{"text_semantic_match": 1, "explanation": "fits"}')
    scores = _text(
        judge, "Here: <render_summary>\nA red\nsquare. </render_summary> <RENDER_SUMMARY>no</RENDER_SUMMARY>"
    )
    assert (scores.values, scores.notes["answer"]) == ({"code_text_acc": 1.0}, "A red\nsquare.")
    question, reference, candidate = (part.content for part in judge.shown[0].parts)
    assert isinstance(question, str) and question.startswith("You are a strict semantic checker.")
    assert (reference, candidate) == (SQUARE, "Candidate description:\nA red\nsquare.")


@pytest.mark.parametrize(
    ("value", "strict", "official"), [("1", 1, 1), ('"0"', 0, 1), ('"false"', 0, 1), ("0", 0, 0)]
)
def test_the_two_readings_of_the_label(value: str, strict: int, official: int) -> None:
    judge = Judge(f'{{"text_semantic_match": {value}}}')
    assert _text(judge).values == {"code_text_acc": strict}
    assert _text(judge, scoring="official").values == {"code_text_acc": official}


@pytest.mark.parametrize("said", ["", "A red square.", "<RENDER_SUMMARY> </RENDER_SUMMARY>", "<RENDER_SUMMARY>A red"])
def test_without_a_summary_nobody_is_asked(said: str) -> None:
    judge = Judge("{}")
    for scoring in ("strict", "official"):
        scores = _text(judge, said, scoring)
        assert (scores.values, scores.unparsed) == ({"code_text_acc": 0.0}, True)
    assert judge.asked == []


def test_a_summary_in_a_thought_is_none_and_the_published_program_takes_it() -> None:
    judge = Judge('{"text_semantic_match": 1}')
    said = f"<think>{SAID}</think> done"
    assert (_text(judge, said).values, _text(judge, said, "official").values) == (
        {"code_text_acc": 0.0},
        {"code_text_acc": 1.0},
    )


NAMES = ("code_img_shape_color", "code_img_position", "code_img_match")


def _reply(shape: object, position: object, verdict: str) -> str:
    return f'{{"shape_color_accuracy": {shape}, "position_accuracy": {position}, "verdict": "{verdict}"}}'


@tabled
def test_points_are_shares_of_five(
    reply: str, strict: tuple[float, ...] | None, official: tuple[float, ...] | str
) -> None:
    judge = Judge(reply)
    if strict is None:
        with pytest.raises(JudgeFailed):
            _image(judge, SQUARE)
    else:
        assert _image(judge, SQUARE).values == pytest.approx(dict(zip(NAMES, strict, strict=True)))
    if isinstance(official, str):
        with pytest.raises(JudgeFailed, match="not a number"):
            _image(judge, SQUARE, scoring="official")
    else:
        values = _image(judge, SQUARE, scoring="official").values
        assert values == pytest.approx(dict(zip(NAMES, official, strict=True)))


def test_the_picture_judge_gets_the_rubric_the_reference_and_the_drawing() -> None:
    judge = Judge(_reply(5, 5, "match"))
    _image(judge, flat(9))
    rubric, *pictures = (part.content for part in judge.shown[0].parts)
    assert isinstance(rubric, str) and rubric.startswith("You are a precise visual evaluator.")
    assert pictures == [SQUARE, flat(9)]


def test_without_a_true_rendering_strict_scores_nothing_and_the_published_program_0() -> None:
    judge = Judge("{}")
    assert _text(judge, sample=UNKNOWN).values == {"code_text_acc": None}
    assert _text(judge, sample=UNKNOWN, scoring="official").values == {"code_text_acc": 0.0}
    assert _image(judge, SQUARE, sample=UNKNOWN).values == dict.fromkeys(NAMES)
    assert _image(judge, SQUARE, sample=UNKNOWN, scoring="official").values == dict.fromkeys(NAMES, 0.0)
    assert judge.asked == []


def test_what_was_not_drawn_is_0_and_what_was_not_asked_for_is_nothing() -> None:
    judge = Judge("{}")
    assert _image(judge, None).values == dict.fromkeys(NAMES, 0.0)
    assert _image(judge).values == {} and judge.asked == []


def test_without_a_judge_judged_scores_are_missing() -> None:
    for scores in (_text(None), _image(None, SQUARE)):
        assert set(scores.values.values()) == {None} and "--judge" in scores.notes["unscored"]
