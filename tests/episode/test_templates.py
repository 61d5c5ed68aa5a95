"""Which of several values fills a name in a template, and which parts of a layout are shown."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark.episode.protocol import FilledPrompts
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from tests.core.helpers import colour

RED, BLUE, LIME = colour("red"), colour("blue"), colour("lime")


def _script(
    fields: dict[str, str] | None = None, pictures: dict[str, Any] | None = None, **prompts: object
) -> FilledPrompts:
    return FilledPrompts(Sample("s", pictures or {}, fields or {}), prompts)


def test_what_the_protocol_gives_goes_before_the_samples_field_and_that_before_a_prompt() -> None:
    prompts: dict[str, Any] = {"ask": "{it}", "it": "from a prompt"}
    assert _script({"it": "from the sample"}, **prompts).text("ask", it="from the protocol") == "from the protocol"
    assert _script({"it": "from the sample"}, **prompts).text("ask") == "from the sample"
    assert _script(**prompts).text("ask") == "from a prompt"


def test_a_value_that_is_empty_or_zero_still_fills_its_name() -> None:
    script = _script({"empty": ""}, ask="<{empty}|{n}|{said}>", empty="prompt", said="prompt")
    assert script.text("ask", n=0, said="") == "<|0|>"


def test_braces_in_fields_and_in_what_a_model_said_are_never_filled_in() -> None:
    script = _script({"question": "{secret} {i} {question}"}, ask="{question} / {output}", secret="SECRET")
    assert script.text("ask", i=1, output="{secret}{question}") == "{secret} {i} {question} / {secret}{question}"


def test_values_of_the_protocol_reach_prompts_inside_prompts() -> None:
    script = _script(ask="{outer}", outer="[{inner}]", inner="step {i}")
    assert script.text("ask", i=2) == "[step 2]"


def test_a_prompt_is_filled_in_each_time_it_is_used() -> None:
    assert _script(ask="{word} {word} {both}", both="{word}", word="w").text("ask") == "w w w"


def test_prompts_that_use_each_other_in_a_ring_stop_where_it_closes() -> None:
    assert _script(ask="{a}", a="a{b}", b="b{a}").text("ask") == "ab{a}"


@pytest.mark.parametrize("left", ["{unknown}", "{Name}", "{a b}", "{}", "{1}", "{layout}", "{ name }"])
def test_a_name_nobody_knows_stays_with_its_braces(left: str) -> None:
    assert _script({"name": "n"}, ask=f"x {left} y", layout=["a", "b"]).text("ask") == f"x {left} y"


def test_names_may_have_digits_and_underscores() -> None:
    assert _script({"choice_2": "two", "_x": "under"}, ask="{choice_2}{_x}").text("ask") == "twounder"


def test_a_prompt_that_the_mode_does_not_have_is_empty() -> None:
    assert _script().text("ask") == ""


def test_a_samples_variant_chooses_its_wording_where_there_is_one() -> None:
    prompts: dict[str, Any] = {"ask": "plain", "ask@wd": "with {i}", "other": "same for all"}
    varied = _script({"variant": "wd"}, **prompts)
    assert varied.text("ask", i=4) == "with 4"
    assert varied.text("other") == "same for all"
    assert _script({"variant": "nd"}, **prompts).text("ask") == "plain"
    assert _script(**prompts).text("ask") == "plain"


def test_an_empty_wording_of_a_variant_is_a_wording() -> None:
    prompts: dict[str, Any] = {"ask": "plain", "ask@wd": ""}
    assert _script({"variant": "wd"}, **prompts).text("ask") == ""


def test_when_shows_its_parts_if_there_is_such_a_picture_or_field_and_unless_if_not() -> None:
    layout = [{"when": "hint", "parts": ["Hint: {hint}"]}, {"unless": "hint", "parts": ["No hint."]}]
    assert _script({"hint": "left"}, inputs=layout).parts() == ["Hint: left"]
    assert _script({"hint": ""}, inputs=layout).parts() == ["No hint."]
    assert _script(inputs=layout).parts() == ["No hint."]
    assert _script(pictures={"hint": RED}, inputs=layout).parts() == ["Hint: {hint}"]
    assert _script(pictures={"hint": []}, inputs=layout).parts() == ["No hint."]


@pytest.mark.parametrize(
    ("fields", "when", "unless"),
    [
        ({}, [], ["none"]),
        ({"a": "1"}, ["some"], []),
        ({"b": "1"}, ["some"], []),
        ({"a": "1", "b": "1"}, ["some"], []),
    ],
)
def test_of_several_names_any_is_enough(fields: dict[str, str], when: list[str], unless: list[str]) -> None:
    both = ["a", "b"]
    assert _script(fields, inputs=[{"when": both, "parts": ["some"]}]).parts() == when
    assert _script(fields, inputs=[{"unless": both, "parts": ["none"]}]).parts() == unless


def test_blocks_may_stand_inside_blocks_and_show_pictures() -> None:
    inner = {"each": "more", "parts": ["#{i}", "<it>"]}
    layout = ["<first>", {"when": "more", "parts": ["More:", inner, "<first>"]}]
    script = _script(pictures={"first": LIME, "more": (RED, BLUE)}, inputs=layout)
    assert script.parts() == [LIME, "More:", "#1", RED, "#2", BLUE, LIME]


def test_each_takes_a_single_picture_as_one_and_none_as_nothing() -> None:
    layout = [{"each": "it", "parts": ["<it>", "{i}"]}]
    assert _script(pictures={"it": RED}, inputs=layout).parts() == [RED, "1"]
    assert _script(inputs=layout).parts() == []


def test_a_picture_is_an_entry_alone_and_one_that_is_missing_is_no_part() -> None:
    script = _script(pictures={"a": RED}, inputs=["<a>", "<b>", "see <a>", "<A>", ""])
    assert script.parts() == [RED, "see <a>", "<A>"]


def test_a_layout_may_have_another_name_and_must_be_a_list() -> None:
    script = _script(pictures={"a": RED}, inputs="text", again=["<a>", "b"])
    assert script.parts("again") == [RED, "b"]
    with pytest.raises(BadInput, match="no layout 'inputs'"):
        script.parts()
    with pytest.raises(BadInput, match="no layout 'elsewhere'"):
        script.parts("elsewhere")


def test_steps_are_those_of_the_sample_or_of_the_task_and_bounded_by_its_settings() -> None:
    script = FilledPrompts(Sample("s", steps=0), {}, settings={"num_images": 4, "max_steps": "7"})
    assert (script.true_steps, script.max_steps, script.steps) == (0, 7, "truth")
    unknown = FilledPrompts(Sample("s"), {}, settings={"num_images": "4"})
    assert (unknown.true_steps, unknown.max_steps) == (4, 20)
    assert FilledPrompts(Sample("s"), {}).true_steps == 0
