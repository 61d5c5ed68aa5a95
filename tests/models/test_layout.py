"""How a context is laid out for a provider, and that what cannot be passed on is said."""

from __future__ import annotations

import pytest

from sketchmark.episode.sample import Context, Part, of
from sketchmark.models.layout import as_prompt, messages, newest_pictures, without_empty_texts
from tests.core.helpers import colour

RED, BLUE, LIME = colour("red"), colour("blue"), colour("lime")
UNPLACED = ("where the pictures stood among the texts: the image API takes one prompt",)


@pytest.mark.parametrize(
    "context",
    [
        of("a", RED, "b"),
        of("a", RED, BLUE, "b"),
        of(RED, "a", BLUE, "b"),
        of("a", "b", RED, "c", BLUE),
        of("a", RED, ""),
    ],
)
def test_a_picture_between_texts_loses_its_place_in_combined_prompt_and_that_is_said(context: Context) -> None:
    prompt, left_out = as_prompt(context)
    assert prompt == "\n\n".join(context.texts) and left_out == UNPLACED


@pytest.mark.parametrize(
    "context", [of(), of("a"), of("a", "b"), of(RED, BLUE), of(RED, BLUE, "a", "b"), of("a", RED)]
)
def test_pictures_on_one_side_of_all_texts_lose_nothing(context: Context) -> None:
    assert as_prompt(context) == ("\n\n".join(context.texts), ())


def test_only_the_newest_pictures_are_kept_among_all_the_texts_and_the_others_are_counted() -> None:
    context = of("a", RED, "b", BLUE, "c", LIME)
    assert newest_pictures(context, 2, "it takes 2") == (
        of("a", "b", BLUE, "c", LIME),
        ("1 of 3 pictures: it takes 2, the newest 2 were sent",),
    )
    assert newest_pictures(context, 1, "it takes 1") == (
        of("a", "b", "c", LIME),
        ("2 of 3 pictures: it takes 1, the newest was sent",),
    )
    assert newest_pictures(context, 0, "it takes none") == (of("a", "b", "c"), ("3 of 3 pictures: it takes none",))


@pytest.mark.parametrize("most", [3, 4])
def test_as_many_pictures_as_are_taken_are_all_sent(most: int) -> None:
    context = of("a", RED, "b", BLUE, LIME)
    assert newest_pictures(context, most, "") == (context, ())


def test_empty_texts_are_left_out_and_counted() -> None:
    assert without_empty_texts(of("a", " \n", RED)) == (of("a", RED), ("1 empty text",))
    assert without_empty_texts(of("", "a", " ")) == (of("a"), ("2 empty texts",))
    assert without_empty_texts(of("a", RED)) == (of("a", RED), ())


def test_the_models_words_are_the_assistants_and_its_drawings_are_shown_by_the_user() -> None:
    parts = [Part("q"), Part(RED), Part("said", "model"), Part("more", "model"), Part(BLUE, "model"), Part("and?")]
    laid_out = messages(Context(tuple(parts)))
    assert [(message.role, list(message.parts)) for message in laid_out] == [
        ("user", parts[:2]),
        ("assistant", parts[2:4]),
        ("user", parts[4:]),
    ]
