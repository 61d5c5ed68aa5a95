"""A phrase inside another one is not that phrase: what stands before it, beside it or is joined to it counts."""

from __future__ import annotations

import pytest

from sketchmark.answers.choices import read_choice
from sketchmark.answers.numbers import read_number
from sketchmark.answers.phrases import answers_with

TURNS = ("clockwise", "counterclockwise")
HEART = ("heart", "lung")
PETS = ("a cat", "a dog")

CHOICES: dict[tuple[str, ...], dict[str | None, tuple[str, ...]]] = {
    TURNS: {
        "A": ("clockwise", "The rotation is clockwise.", "A-clockwise", "It is clockwise, not counter-clockwise."),
        "B": (
            *("counter-clockwise", "counter clockwise", "Counter‑Clockwise.", "\\boxed{counter-clockwise}"),
            *("The rotation is counter-clockwise.", "The answer is counter-clockwise", "B-counterclockwise"),
            *("B - counter-clockwise", "Not clockwise but counter-clockwise"),
        ),
        None: (
            "It turns anti-clockwise.",
            "anti clockwise",
            "A. counter-clockwise",
            "not clockwise",
            "semi-clockwise",
        ),
    },
    ("clockwise", "counter-clockwise"): {"A": ("clockwise",), "B": ("counterclockwise", "counter clockwise")},
    ("linear", "quadratic"): {
        "A": ("linear", "It is linear.", "Answer-linear"),
        None: ("non-linear", "non linear", "The relation is non-linear.", "The relation is non linear.", "nonlinear"),
    },
    ("non-linear", "linear"): {"A": ("nonlinear", "non linear"), "B": ("linear",), None: ("not linear",)},
    ("parallel", "crossing"): {"A": ("parallel",), None: ("anti-parallel", "The lines are anti-parallel.")},
    ("symmetric", "asymmetric"): {
        "A": ("symmetric", "a symmetric figure", "A symmetric"),
        "B": ("asymmetric", "a-symmetric", "The figure is asymmetric."),
        None: ("non-symmetric", "It is not symmetric."),
    },
    ("stable", "unstable"): {"A": ("stable",), "B": ("un-stable", "It is unstable."), None: ("meta-stable",)},
    ("left", "right"): {
        "A": ("left", "the left", "The answer is left", "left-hand side", "The answer is the left side.", "-left"),
        None: (
            "bottom left",
            "The answer is bottom left",
            "upper-left",
            "left-handed",
            "left–right",
            "left or right",
        ),
    },
    ("left", "bottom left"): {"A": ("left",), "B": ("bottom left", "bottom-left"), None: ("top left",)},
    ("Korea", "Japan"): {
        "A": ("Korea", "The answer is Korea.", "I see Korea on the map", "North of Korea"),
        None: (
            *("North Korea", "South Korea.", "The answer is North Korea", "<answer>North Korea</answer>"),
            *("Answer: North and South Korea", "The answer is North Korea because it borders China"),
        ),
    },
    ("white", "black"): {
        "A": ("white", "The wall is white.", "white-colored"),
        None: (
            "off white",
            "off-white",
            "The wall is off-white.",
            "The wall is off white.",
            "white-ish",
            "half-white",
        ),
    },
    ("blue", "green"): {
        "A": ("The car is blue.", "color blue", "All blue", "Blue car"),
        None: (
            "light blue",
            "The answer is dark green.",
            "blue-green",
            "A light blue.",
            "A very light blue",
            "greenish blue",
        ),
    },
    ("red", "dark red"): {"A": ("red",), "B": ("dark red", "dark-red", "It is dark red."), None: ("deep red",)},
    ("male", "female"): {"A": ("male",), "B": ("female", "The patient is female."), None: ("not male", "fe-male")},
    ("increase", "does not increase"): {"A": ("increase",), "B": ("It does not increase.",), None: ("no increase",)},
    ("above", "not above"): {"A": ("above",), "B": ("not above", "It is not above.")},
    ("above", "below"): {"A": ("above",), None: ("not above", "none of the above", "neither above nor below")},
    ("forward", "back"): {
        "A": ("Moving forward", "The camera moves forward.", "move forward", "The answer is moving forward"),
        None: ("diagonally forward", "The answer is half forward"),
    },
    ("square", "circle"): {
        "A": ("square-shaped",),
        "B": ("circle", "It is a circle."),
        None: ("semi-circle", "half circle", "It is a semi-circle.", "semicircle"),
    },
    ("benign", "malignant"): {
        "B": ("It is malignant.", "malignant tumour"),
        None: ("non-malignant", "The tumour is non-malignant.", "pre-malignant"),
    },
    ("full", "empty"): {
        "A": ("full", "The glass is full."),
        None: ("half full", "The glass is half full.", "The glass is almost full.", "less full", "far from full"),
    },
    ("president", "king"): {
        "A": ("the president", "The man is the president."),
        None: ("vice-president", "The man is the vice president.", "former king"),
    },
    ("pneumonia", "effusion"): {
        "A": ("Pneumonia is present.", "positive for pneumonia"),
        None: (
            *("absence of pneumonia", "The lungs are free of pneumonia", "Pneumonia: absent", "Pneumonia is absent."),
            *("negative for pneumonia", "The opposite of pneumonia", "pneumonia-free"),
        ),
    },
    HEART: {
        "A": (
            *("The heart.", "The image shows an enlarged heart.", "The answer is the second one, heart"),
            *("The answer is heart and not lung.", "The answer is heart and it is large.", "Only heart fits"),
        ),
        "B": ("The arrow points to the right lung.", "un lung"),
        None: (
            *(
                "heart and liver",
                "The answer is heart and liver.",
                "liver and heart",
                "The answer is a liver or heart",
            ),
            *("The right lung", "The last lung", "heart or kidney", "The answer is heart and a big liver"),
        ),
    },
    ("cat", "bird"): {"A": ("a cat",), None: ("cat and dog", "The answer is cat and dog", "dog and cat")},
    ("cat", "cat and dog"): {"A": ("cat",), "B": ("cat and dog", "cat & dog", "The answer is cat and dog.")},
    ("black & white", "white"): {"A": ("black and white",), "B": ("white",)},
    PETS: {
        "A": ("the cat", "cat", "A cat", "The answer is cat", "It is a cat.", "A"),
        "B": ("a dog", "A dog", "The answer is the dog.", "dog", "B. the dog"),
        None: ("A black cat", "A. the dog", "An old dog"),
    },
    ("a cat", "no cat"): {"A": ("a cat",), "B": ("no cat",), None: ("cat",)},
    ("the left one", "the right one"): {"A": ("That is right. The left one.",), "B": ("right one",)},
    ("the right", "the left"): {
        "B": ("That is right. The answer is left.",),
        None: ("That is the way I see right now",),
    },
    ("A is heavier", "B is heavier"): {"A": ("A is heavier",), "B": ("B is heavier",), None: ("C is heavier",)},
    ("A sinks", "B sinks"): {"A": ("A sinks",), None: ("C sinks", "It sinks")},
    ("a b", "a c"): {"A": ("a b", "A"), "B": ("B", "a c")},
    ("a and b", "a and c"): {"A": ("a and b",), None: ("and b",)},
    ("x-ray", "CT"): {"A": ("xray", "x ray", "It is an X-ray.")},
    ("T1", "T2"): {"B": ("T2-weighted",)},
    ("1", "11", "-1", "1.5"): {
        "A": ("1",),
        "B": ("11",),
        "C": ("The answer is -1.",),
        "D": ("1.5",),
        None: ("1/11",),
    },
    ("12", "14"): {
        "A": (
            "12",
            "The answer is 12.",
            "A-12",
            "<result>12</result>",
            "12\n3 rows of 4",
            "The answer is 12, not 14",
        ),
        None: (
            *("-12", "The answer is -12", "The answer is −12", "1/12", "12-14", "12–14", "12 or 14", "12.5", "10^12"),
            *(
                "The answer is 12 or 14.",
                "The answer is 12, or 14",
                "12, or 14.",
                "The answer is 12 000",
                "The answer is 10-12",
                ">12",
                "<12",
                "≥ 12",
                "√12",
                "The answer is 12+",
            ),
            *("The answer is 12 + 1", "The answer is 12 * 2", "The answer is 12√2", "The answer is 12 million"),
            *("The answer is 12 and 20", "The answer is 12 to 13", "The answer is 12, 13.", "12 of 14"),
            *("The answer is 12 out of 14", "The answer is 12 squared", "The answer is 12 times 2", "12 or more"),
        ),
    },
    ("5", "7"): {"A": ("5",), None: ("The answer is 5+", "The answer is 5 or more")},
    ("2 cats", "3 cats"): {"B": ("3 cats", "about 3 cats"), None: ("2-3 cats", "2 to 3 cats", "2 or 3 cats")},
    ("线性", "二次"): {"A": ("线性", "图中显示线性"), None: ("非线性", "答案是非线性")},
}

PHRASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "clockwise": (
        ("clockwise", "The rotation is clockwise.", "The answer is clockwise", "Not counter-clockwise but clockwise"),
        (
            *("counter-clockwise", "counter clockwise", "anti-clockwise", "The answer is counter-clockwise"),
            *("The rotation is counter-clockwise.", "The answer is counter clockwise"),
        ),
    ),
    "counterclockwise": (("counter-clockwise", "The answer is counter clockwise."), ("clockwise",)),
    "left": (
        ("left", "the left", "The answer is left.", "\\boxed{left}", "The answer is the left side"),
        (
            "bottom left",
            "The answer is bottom left",
            "upper-left",
            "left-handed",
            "\\boxed{bottom left}",
            "the opposite of left",
            "left bottom",
        ),
    ),
    "Korea": (
        (
            "Korea",
            "The answer is Korea.",
            "Korea (not North Korea)",
            "The answer most likely is Korea",
            "The answer is not North Korea but Korea",
        ),
        (
            *("North Korea", "The answer is North Korea", "Answer: South Korea", "<answer>North Korea</answer>"),
            *(
                "South-Korea",
                "Korea, North Korea",
                "North Korea\nKorea",
                "It is North Korea.",
                "The answer, clearly, is North Korea",
            ),
        ),
    ),
    "symmetric": (("symmetric", "It is symmetric"), ("non-symmetric", "a-symmetric", "asymmetric", "not symmetric")),
    "white": (
        ("white", "most likely white", "The answer is the color white", "The answer is white, not black"),
        ("off white", "off-white", "The answer is off-white", "The answer is white wine", "white and black"),
    ),
    "a cat": (
        ("the cat", "cat", "A cat.", "The answer is the cat.", "a cat, a small animal"),
        ("a black cat", "a cat and a dog", "cats", "the cat and the dog", "cat-like"),
    ),
    "the Eiffel Tower": (("Eiffel Tower", "It is the Eiffel Tower."), ("the broken Eiffel Tower",)),
    "lung": (("the lung",), ("right lung", "the right lung", "The answer is the right lung")),
    "floor": (("the floor",), ("second floor", "The answer is the last floor")),
    "red": (("It is red.",), ("dark red", "The answer is dark red.", "infra-red", "It is dark red.", "very red")),
    "well-known": (("well known", "wellknown"), ("unknown", "very well known")),
    "York": (("York",), ("New York", "The answer is New York")),
    "two": (("The answer is two",), ("twenty-two", "forty two", "The answer is forty-two")),
    "12:30": (("The answer is 12:30 PM",), ("11:12:30",)),
    "3 cm": (("3 cm",), ("-3 cm", "1/3 cm", "13 cm", "2-3 cm")),
    "pneumonia": (
        (
            "The answer is pneumonia based on the image",
            "The answer is pneumonia right here",
            "It is pneumonia of the left lung",
            "图中显示pneumonia",
        ),
        ("Bacterial pneumonia.", "The diagnosis is bacterial pneumonia", "possible pneumonia"),
    ),
}

NUMBERS: dict[float | None, tuple[str, ...]] = {
    None: (
        *("10 out of 20", "10 of 20", "10 of the 20", "The answer is 10 out of 20", "10 out of a total of 20"),
        *("There are 5 of the 8 cars red.", "up to 10", "10 or more", "10 and above", "The answer is 10 or fewer"),
        *("12 squared", "half of 12", "The answer is twice 12", "2 dozen", "12 times 2", "3√2"),
        *("The answer is up to 10", "10-20", "10 to 20", "more than 10"),
    ),
    10: (
        "There are 10 of them.",
        "10 of the 20 cars are red, so the answer is 10",
        "a total of 10",
        "10 times",
        "10 OF THEM",
    ),
    0.5: ("10 of 20 = 0.5", "10/20"),
}


@pytest.mark.parametrize("options", CHOICES, ids=" / ".join)
def test_an_option_inside_another_phrase_is_not_read_and_another_spelling_of_it_is(options: tuple[str, ...]) -> None:
    for letter, replies in CHOICES[options].items():
        for reply in replies:
            assert read_choice(reply, options).value == letter, reply


@pytest.mark.parametrize("truth", PHRASES)
def test_a_phrase_inside_another_one_is_wrong_and_articles_do_not_matter(truth: str) -> None:
    right, wrong = PHRASES[truth]
    for reply in (*right, *wrong):
        assert answers_with([truth], reply).value is (reply in right), reply


def test_of_two_options_that_differ_in_the_article_each_is_read_by_its_own_and_of_two_truths_any_will_do() -> None:
    options = ["a cat", "the cat"]
    assert [read_choice(reply, options).value for reply in ("a cat", "the cat", "cat")] == ["A", "B", None]
    assert answers_with(options, "cat").value is True


@pytest.mark.parametrize("value", NUMBERS)
def test_a_share_or_a_bound_is_no_number(value: float | None) -> None:
    for reply in NUMBERS[value]:
        assert read_number(reply).value == value, reply
