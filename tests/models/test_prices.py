from __future__ import annotations

from pathlib import Path

import pytest

from sketchmark.errors import BadInput
from sketchmark.models.base import Usage
from sketchmark.models.prices import PriceTable

TABLE = """
openai/gpt-4o: {input: 2.5, output: 10, draw: {input: 5, output: 40}}
openai/gpt-image-2: {picture: 0.04}
"""


def table(tmp_path: Path, text: str) -> PriceTable:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    return PriceTable.from_file(path)


def test_tokens_cost_by_the_million_and_pictures_by_the_piece(tmp_path: Path) -> None:
    prices = table(tmp_path, TABLE)
    assert prices.cost("openai/gpt-4o", Usage(2_000_000, 100_000)) == pytest.approx(6.0)
    assert prices.cost("openai/gpt-image-2", Usage(500, 900, pictures_out=3), drawing=True) == pytest.approx(0.12)


def test_a_drawing_by_another_model_has_its_own_price(tmp_path: Path) -> None:
    prices = table(tmp_path, TABLE)
    assert prices.cost("openai/gpt-4o", Usage(1_000_000, 1_000_000), drawing=True) == pytest.approx(45.0)


def test_a_model_without_a_price_costs_something_unknown_not_nothing(tmp_path: Path) -> None:
    assert table(tmp_path, TABLE).cost("gemini/x", Usage(1, 1)) is None


@pytest.mark.parametrize(
    "text",
    [
        "- a",
        "m: 3",
        "m: {input: cheap}",
        "m: {inputs: 1}",
        "m: {input: -1}",
        "m: {draw: 2}",
        "m: {input: .nan}",
        ":[",
    ],
)
def test_a_table_that_is_not_one_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="price table"):
        table(tmp_path, text)
