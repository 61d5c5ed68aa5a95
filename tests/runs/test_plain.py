"""What a plug-in puts into a record is written as JSON, or refused; it is never written as something else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from sketchmark.files.lines import LineReader, encode
from sketchmark.files.plain import plain
from sketchmark.runs.format import ScoreRow


def _row(**more: Any) -> ScoreRow:
    return ScoreRow(index=0, sample="s0", scored=True, **{"values": {"right": 1.0}, **more})


@pytest.mark.parametrize("number", [True, 1, 0.1, 1e300, 2**70, None])
def test_a_score_comes_back_as_the_number_it_was(number: Any) -> None:
    again = LineReader(ScoreRow).one(encode(_row(values={"right": number})), "line")
    assert again.values == {"right": number} and type(again.values["right"]) is type(number)


def test_a_number_of_numpys_is_written_like_any_other() -> None:
    row = _row(values={"right": np.float64(0.5)}, notes={"mean": np.float64(0.25)})
    written = json.loads(encode(row))
    assert (written["values"], written["notes"]) == ({"right": 0.5}, {"mean": 0.25})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), np.float64("nan")])
@pytest.mark.parametrize("where", ["values", "notes"])
def test_a_number_that_json_does_not_know_is_refused_wherever_it_stands(number: float, where: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode(_row(**{where: {"deep": [{"er": number}]} if where == "notes" else {"right": number}}))


def test_what_is_no_json_at_all_is_refused() -> None:
    with pytest.raises(TypeError, match="object is not JSON"):
        encode(_row(notes={"thing": object()}))


def test_a_dataclass_is_written_by_its_fields() -> None:
    @dataclass
    class Spot:
        x: int

    assert plain({"spot": Spot(3)}) == {"spot": {"x": 3}}


def test_the_old_name_of_groups_is_read_and_never_written() -> None:
    row = LineReader(ScoreRow).one(b'{"index":0,"sample":"s0","scored":true,"values":{},"filed":{"a":1}}', "line")
    assert row.groups == {"a": 1}
    assert "filed" not in json.loads(encode(row)) and json.loads(encode(row))["groups"] == {"a": 1}
