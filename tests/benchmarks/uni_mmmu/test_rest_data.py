"""Geometry, science and code of the extracted data.tar: every field where it belongs, odd files in one line."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Sample
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput, DataMissing
from tests.benchmarks.uni_mmmu import published, published_rest
from tests.benchmarks.uni_mmmu.published_rest import ACID, DIAGRAM, ICE, INCOMPLETE, OVERLAY, PROBLEMS, SCENES, SQUARE
from tests.tabled import tabled


def samples(task: str, data: Path | None) -> list[Sample]:
    return list(Catalog().task(f"uni_mmmu_{task}").samples(data=data))


@pytest.mark.parametrize("place", ["", "data", "data/math_data", "data/math_data/filtered.json"])
def test_geometry_is_found_from_the_root_down_to_its_file(tmp_path: Path, place: str) -> None:
    published_rest.geometry(tmp_path)
    first, second = samples("geometry", tmp_path / place)
    assert [first.id, second.id] == ["Triangle_set_1__3.a", "circles__7"]
    assert first.fields == {
        "question": "In triangle ABC, D is the midpoint of BC. Find AD.",
        "choices": "A. 10\nB. 12",
        "lines": "Connect A and D.",
    }
    filed = {"lines": " Connect A and D. "}
    judged = {"kind": "CALCULATION", "solution": "By Pythagoras AD = 12.", "answer": "12", "as_filed": filed}
    assert first.target == judged
    assert (first.pictures, first.groups) == ({"image": DIAGRAM}, {"type": "Calculation"})
    assert first.frames is not None and first.frames() == [OVERLAY]
    assert second.fields == {"question": "证明 AB = AC.", "choices": "(no choices)", "lines": ""}
    assert second.target == {"kind": "PROVING", "solution": "Two equal angles.", "answer": ""}
    assert second.frames is None


def test_rows_of_the_hub_that_do_not_say_their_type_are_told_apart_by_their_answer(tmp_path: Path) -> None:
    first, second = samples("geometry", published.write_parquet(tmp_path / "x.parquet", published.geometry_rows()))
    assert first.target == {"kind": "CALCULATION", "solution": "12", "answer": "12"}
    assert second.target == {"kind": "PROVING", "solution": "Two equal angles.", "answer": ""}
    assert first.fields["choices"] == "(no choices)"


@tabled
def test_a_file_of_another_shape_is_refused_in_one_line(tmp_path: Path, task: str, rows: object, why: str) -> None:
    getattr(published_rest, task)(tmp_path, rows)
    with pytest.raises(BadInput, match=why) as refused:
        samples(task, tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("place", ["", "data", "data/science"])
def test_science_has_its_scene_condition_and_truth(tmp_path: Path, place: str) -> None:
    published_rest.science(tmp_path)
    first, second = samples("science", tmp_path / place)
    assert (first.id, first.pictures) == ("case_01", {"image": ICE})
    assert first.fields == {"condition": "The ice is heated to 50 °C."}
    filed = {"condition": " The ice is heated to 50 °C. ", "final_state": "A puddle of water."}
    assert first.target == {"final_state": "A puddle of water.", "as_filed": filed}
    assert first.groups == {"discipline": "physics", "part": "heat"}
    assert (second.id, second.pictures, second.target) == (
        "case_02",
        {"image": ACID},
        {"final_state": "Bubbles rise."},
    )


def test_an_incomplete_scene_is_not_played_and_its_number_goes_to_the_next(tmp_path: Path) -> None:
    blocks: list[dict[str, Any]] = [{**SCENES[0], "samples": [INCOMPLETE, *SCENES[0]["samples"]]}, SCENES[1]]
    published_rest.science(tmp_path, blocks)
    first, second = samples("science", tmp_path)
    assert [first.id, second.id] == ["case_01", "case_02"]
    assert first.target["compared"] == {"condition": "Nothing to see.", "final_state": "Nothing."}
    assert first.pictures == {"image": ICE}
    assert second.target["compared"] == first.target["as_filed"]
    assert second.pictures == {"image": ACID, "compared": ICE}


@pytest.mark.parametrize("place", ["", "data", "data/svg"])
def test_code_has_its_source_and_its_true_rendering(tmp_path: Path, place: str) -> None:
    published_rest.code(tmp_path)
    first, second = samples("code", tmp_path / place)
    assert (first.id, first.fields) == ("case_01_a_001", {"svg": published_rest.square_svg()})
    assert (first.pictures, first.groups) == ({"reference": SQUARE}, {"difficulty": "A"})
    assert first.frames is not None and first.frames() == [SQUARE]
    assert second.id == "case_02_b_001"
    assert second.frames is not None
    rendered, _ = second.frames()[0].image(), second.pictures["reference"]
    assert rendered.getpixel((20, 30)) == (52, 152, 219) and rendered.getpixel((19, 30)) == (255, 255, 255)


def test_a_source_that_cannot_be_rendered_is_played_without_a_truth(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = published_rest.code(tmp_path, {"samples": [{"id": 1, "svg": "src/one.svg", "png": "png/gone.png"}]})
    (folder / "src" / "one.svg").write_text('<svg><image href="/etc/x.png"/></svg>')
    with caplog.at_level(logging.WARNING, "sketchmark"):
        [sample] = samples("code", tmp_path)
    assert (sample.pictures, sample.frames) == ({}, None)
    assert "its SVG is rendered instead" in caplog.text and "has no true rendering" in caplog.text


def test_a_source_of_megabytes_is_refused(tmp_path: Path) -> None:
    folder = published_rest.code(tmp_path)
    (folder / "src" / "one.svg").write_text(f"<svg>{' ' * 1_000_000}</svg>")
    with pytest.raises(BadInput, match="more than 1000000 bytes"):
        samples("code", tmp_path)


@pytest.mark.parametrize("task", ["science", "code"])
@pytest.mark.parametrize("given", [True, False])
def test_without_data_one_line_says_what_to_extract(task: str, given: bool, tmp_path: Path) -> None:
    with pytest.raises(DataMissing) as missing:
        samples(task, tmp_path if given else None)
    line = str(missing.value)
    assert "\n" not in line and "data.tar of Vchitect/Uni-MMMU-Eval" in line and "--data" in line


@pytest.mark.parametrize("file", ["math_data/filtered.json", "science/dim_all.json", "svg/metadata.json"])
@pytest.mark.parametrize("body", [b"\xff", b"[" * 100_000, b"{"])
def test_a_broken_file_is_named(tmp_path: Path, file: str, body: bytes) -> None:
    published_rest.extracted(tmp_path)
    (tmp_path / "data" / file).write_bytes(body)
    task = {"math_data": "geometry", "science": "science", "svg": "code"}[file.partition("/")[0]]
    with pytest.raises(BadInput, match=f"{Path(file).name} cannot be read"):
        samples(task, tmp_path)


def test_ids_are_made_as_the_published_sampler_makes_them(tmp_path: Path) -> None:
    item = PROBLEMS["circles"]["7"]
    published_rest.geometry(tmp_path, {" é/ü ": {"x" * 200: item, "": item}})
    assert [sample.id for sample in samples("geometry", tmp_path)] == [f"___{'x' * 120}", "___item"]
