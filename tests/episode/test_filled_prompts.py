from __future__ import annotations

import pytest

from sketchmark.episode.protocol import FilledPrompts
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput
from tests.core.helpers import colour

RED, BLUE = colour("red"), colour("blue")


def _script(**prompts: object) -> FilledPrompts:
    sample = Sample("s", {"one": RED, "many": [RED, BLUE]}, {"question": "what is {i} in {prompt}?"})
    return FilledPrompts(sample, prompts)


def test_fields_prompts_and_values_are_filled_in() -> None:
    script = _script(pre="Look. ", ask="{pre}{question} step {i}")
    assert script.text("ask", i=3) == "Look. what is {i} in {prompt}? step 3"


def test_what_a_data_set_puts_into_a_field_is_never_read_as_a_template() -> None:
    assert _script(prompt="SECRET", ask="{question}").text("ask") == "what is {i} in {prompt}?"


def test_unknown_braces_stay_because_published_prompts_are_full_of_them() -> None:
    text = '{"choice": 0 or 1} and {number}'
    assert _script(ask=text).text("ask") == text


def test_a_layout_keeps_order_and_one_part_an_entry() -> None:
    script = _script(prompt="P", inputs=["{prompt}", "A:", "<one>", "B:", "<many>"])
    assert script.parts() == ["P", "A:", RED, "B:", RED, BLUE]


def test_each_repeats_its_parts_for_every_picture() -> None:
    script = _script(inputs=[{"each": "many", "parts": ["<image_{i}>: ", "<it>"]}, "Q"])
    assert script.parts() == ["<image_1>: ", RED, "<image_2>: ", BLUE, "Q"]


def test_an_empty_text_is_not_a_part() -> None:
    assert _script(pre="", inputs=["{pre}", "Q"]).parts() == ["Q"]


def test_a_missing_layout_is_named() -> None:
    with pytest.raises(BadInput, match="inputs"):
        _script().parts()


def test_a_prompt_may_use_fields_through_another_prompt_and_never_itself() -> None:
    script = FilledPrompts(
        Sample("s", fields={"n": "4"}), {"prompt": "a {n}x{n} board", "ask": "{prompt}! {ring}", "ring": "<{ring}>"}
    )
    assert script.text("ask") == "a 4x4 board! <{ring}>"


def test_prompts_that_multiply_each_other_are_refused_before_they_fill_the_memory() -> None:
    levels = {f"p{n}": f"{{p{n + 1}}}" * 10 for n in range(20)}
    for last in ("x", ""):
        with pytest.raises(BadInput, match="a prompt of more than 2000000 characters"):
            _script(**levels, p20=last).text("p0")
    with pytest.raises(BadInput, match="more than 2000000 characters"):
        _script(inputs=["{long}" * 1000], long="x" * 10_000).parts()
    assert len(_script(ask="{long}" * 100, long="x" * 10_000).text("ask")) == 1_000_000


def test_prompts_that_use_each_other_without_end_are_refused() -> None:
    row = {f"p{n}": f"{{p{n + 1}}}" for n in range(2_000)}
    with pytest.raises(BadInput, match="more than 40 deep"):
        _script(**row).text("p0")
    assert _script(**row).text("p1970") == "{p2000}"
