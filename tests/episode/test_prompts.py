"""Prompts filled in for a sample: which value fills a name, and which parts of a layout are shown."""

from __future__ import annotations

from typing import Any

import pytest

from sketchmark.episode.protocol import FilledPrompts
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from sketchmark.testing import colour
from tests.tabled import tabled

RED, BLUE, LIME = colour("red"), colour("blue"), colour("lime")


def _filled(
    fields: dict[str, str] | None = None, pictures: dict[str, Any] | None = None, **prompts: object
) -> FilledPrompts:
    return FilledPrompts(Sample("s", pictures or {}, fields or {}), prompts)


def test_a_value_of_the_protocol_overrides_a_field_and_a_field_overrides_a_prompt() -> None:
    prompts: dict[str, Any] = {"ask": "{it}", "it": "from a prompt"}
    assert _filled({"it": "from the sample"}, **prompts).text("ask", it="from the protocol") == "from the protocol"
    assert _filled({"it": "from the sample"}, **prompts).text("ask") == "from the sample"
    assert _filled(**prompts).text("ask") == "from a prompt"


@tabled
def test_names_are_filled_in_wherever_they_are_used(
    fields: dict[str, str], prompts: dict[str, Any], values: dict[str, object], text: str
) -> None:
    assert _filled(fields, **prompts).text("ask", **values) == text


def test_braces_in_fields_and_replies_are_never_filled_in() -> None:
    prompts = _filled({"question": "{secret} {i} {question}"}, ask="{question} / {output}", secret="SECRET")
    assert prompts.text("ask", i=1, output="{secret}{question}") == "{secret} {i} {question} / {secret}{question}"


@pytest.mark.parametrize("left", ["{unknown}", "{Name}", "{a b}", "{}", "{1}", "{layout}", "{ name }"])
def test_an_unknown_name_stays_with_its_braces(left: str) -> None:
    assert _filled({"name": "n"}, ask=f"x {left} y", layout=["a", "b"]).text("ask") == f"x {left} y"


@pytest.mark.parametrize(("variant", "text"), [("wd", "with 4"), ("nd", "plain"), ("", "plain"), ("none", "")])
def test_the_variant_of_a_sample_selects_its_wording_if_there_is_one(variant: str, text: str) -> None:
    prompts: dict[str, Any] = {"ask": "plain", "ask@wd": "with {i}", "ask@none": "", "other": "same for all"}
    filled = _filled({"variant": variant} if variant else {}, **prompts)
    assert (filled.text("ask", i=4), filled.text("other")) == (text, "same for all")


def test_prompts_that_multiply_are_refused_before_they_fill_the_memory() -> None:
    levels: dict[str, Any] = {f"p{n}": f"{{p{n + 1}}}" * 10 for n in range(20)}
    for last in ("x", ""):
        with pytest.raises(BadInput, match="a prompt of more than 2000000 characters"):
            _filled(**levels, p20=last).text("p0")
    with pytest.raises(BadInput, match="more than 2000000 characters"):
        _filled(inputs=["{long}" * 1000], long="x" * 10_000).parts()
    assert len(_filled(ask="{long}" * 100, long="x" * 10_000).text("ask")) == 1_000_000
    row: dict[str, Any] = {f"p{n}": f"{{p{n + 1}}}" for n in range(2_000)}
    with pytest.raises(BadInput, match="more than 40 deep"):
        _filled(**row).text("p0")
    assert _filled(**row).text("p1970") == "{p2000}"


@pytest.mark.parametrize(
    ("layout", "parts"),
    [
        (["{prompt}", "A:", "<first>", "<more>"], ["P", "A:", LIME, RED, BLUE]),
        (["<first>", "<gone>", "see <first>", "<First>", ""], [LIME, "see <first>", "<First>"]),
        ([{"each": "more", "parts": ["<image_{i}>: ", "<it>"]}, "Q"], ["<image_1>: ", RED, "<image_2>: ", BLUE, "Q"]),
        ([{"each": "first", "parts": ["<it>", "{i}"]}], [LIME, "1"]),
        ([{"each": "gone", "parts": ["<it>", "{i}"]}], []),
        (
            [{"when": "more", "parts": ["M:", {"each": "more", "parts": ["#{i}", "<it>"]}, "<first>"]}],
            ["M:", "#1", RED, "#2", BLUE, LIME],
        ),
    ],
)
def test_a_layout_gives_one_part_per_entry_in_order(layout: list[Any], parts: list[Any]) -> None:
    pictures = {"first": LIME, "more": (RED, BLUE)}
    assert _filled(pictures=pictures, prompt="P", inputs=layout).parts() == parts


def test_when_shows_its_parts_if_there_is_such_a_picture_or_field_and_unless_if_not() -> None:
    layout = [{"when": "hint", "parts": ["Hint: {hint}"]}, {"unless": "hint", "parts": ["No hint."]}]
    assert _filled({"hint": "left"}, inputs=layout).parts() == ["Hint: left"]
    assert _filled(pictures={"hint": RED}, inputs=layout).parts() == ["Hint: {hint}"]
    for nothing in (_filled(inputs=layout), _filled({"hint": ""}, inputs=layout)):
        assert nothing.parts() == ["No hint."]
    assert _filled(pictures={"hint": []}, inputs=layout).parts() == ["No hint."]
    several = [{"when": ["a", "b"], "parts": ["some"]}, {"unless": ["a", "b"], "parts": ["none"]}]
    for fields in ({"a": "1"}, {"b": "1"}, {"a": "1", "b": "1"}):
        assert _filled(fields, inputs=several).parts() == ["some"]
    assert _filled(inputs=several).parts() == ["none"]


def test_a_layout_may_have_another_name_and_must_be_a_list() -> None:
    prompts = _filled(pictures={"a": RED}, inputs="text", again=["<a>", "b"])
    assert prompts.parts("again") == [RED, "b"]
    for name in ("inputs", "elsewhere"):
        with pytest.raises(BadInput, match=f"no layout '{name}'"):
            prompts.parts(name)


def test_steps_are_those_of_the_sample_or_of_the_task_and_bounded_by_its_settings() -> None:
    prompts = FilledPrompts(Sample("s", steps=0), {}, settings={"num_images": 4, "max_steps": "7"})
    assert (prompts.true_steps, prompts.max_steps, prompts.steps) == (0, 7, "truth")
    unknown = FilledPrompts(Sample("s"), {}, settings={"num_images": "4"})
    assert (unknown.true_steps, unknown.max_steps) == (4, 20)
    assert FilledPrompts(Sample("s"), {}).true_steps == 0
