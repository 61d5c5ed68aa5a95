from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from sketchmark.episode.model import Usage
from sketchmark.errors import BadInput
from sketchmark.models.wrappers import Price, price_of

TABLE = "openai/gpt-4o: {input: 2.5, output: 10}\nopenai/gpt-image-2: {picture: 0.04}\n"


def price(tmp_path: Path, text: str, model: str = "m") -> Price:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    return price_of(path, model)


def test_tokens_cost_by_the_million_and_pictures_by_the_piece(tmp_path: Path) -> None:
    assert price(tmp_path, TABLE, "openai/gpt-4o")(asdict(Usage(2_000_000, 100_000))) == pytest.approx(6.0)
    assert price(tmp_path, TABLE, "openai/gpt-image-2")(asdict(Usage(500, 9, pictures_out=3))) == pytest.approx(0.12)


def test_a_model_without_a_price_is_refused_not_taken_as_free(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no entry 'gemini/x' .*openai/gpt-4o"):
        price(tmp_path, TABLE, "gemini/x")


@pytest.mark.parametrize(
    "text", ["- a", ":[", "m: 3", "m: {input: cheap}", "m: {inputs: 1}", "m: {input: -1}", "m: {input: .nan}"]
)
def test_a_table_that_is_not_one_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="price table"):
        price(tmp_path, text)


def test_a_run_file_is_a_table_by_its_prices_and_what_it_names_is_not_followed(tmp_path: Path) -> None:
    file = "models: [m]\ntasks: maze\n"
    assert price(tmp_path, f"{file}prices: {{m: {{picture: 2}}}}") == Price(picture=2)
    with pytest.raises(BadInput, match=r"has no entry 'm' \(it has: n\)"):
        price(tmp_path, f"{file}prices: {{n: {{picture: 2}}}}")
    with pytest.raises(BadInput, match="has no table of prices"):
        price(tmp_path, file)
    (tmp_path / "own.yaml").write_text("m: {picture: 2}")
    with pytest.raises(BadInput, match=r"names its price table: own.yaml \(give that file instead"):
        price(tmp_path, f"{file}prices: own.yaml")
