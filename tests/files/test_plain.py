"""Values of any type from models, datasets and plug-ins can be written as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sketchmark import Part, Reply, Sample
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.files import PictureStore
from sketchmark.files.jsonl import LineReader, encode, plain, seal, well_formed
from sketchmark.folder.format import EpisodeLine, ScoreRow
from sketchmark.folder.index import RunView
from sketchmark.folder.records import pack_episode, unpack_sample
from sketchmark.models.cache import ReplyRecord, with_cache
from sketchmark.report import write_report
from sketchmark.results.rescore import rescore
from tests.runs.making import Speaker, make_cell, make_sample, make_task, run


def _row(**more: Any) -> ScoreRow:
    return ScoreRow(index=0, sample="s0", scored=True, **{"values": {"right": 1.0}, **more})


@pytest.mark.parametrize("number", [True, 1, 0.1, 1e300, 2**70, None])
def test_a_score_comes_back_as_the_number_it_was(number: Any) -> None:
    again = LineReader(ScoreRow).one(encode(_row(values={"right": number})), "line")
    assert again.values == {"right": number} and type(again.values["right"]) is type(number)


@dataclass
class Spot:
    x: int


class Shy:
    def __repr__(self) -> str:
        raise RuntimeError("not to be looked at")


@pytest.mark.parametrize(
    ("odd", "written"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array(1.5), 1.5),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.str_("x"), "x"),
        ((1, (2,)), [1, [2]]),
        ({"b", "a"}, ["a", "b"]),
        ({1: "int", None: "none", np.int64(2): "numpy", (1, 2): "tuple"}, None),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (float("nan"), "NaN"),
        (np.float64("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (np.array([1.0, np.nan]), [1.0, "NaN"]),
        ("half \ud83d", "half \\ud83d"),
        ("\ud83d\ude00", "\U0001f600"),
        ({"\udcff": ["\udcff"]}, {"\\udcff": ["\\udcff"]}),
        (1 + 2j, "(1+2j)"),
        (Shy(), "<Shy that cannot be shown>"),
        pytest.param(10**5000, "<int that cannot be shown>", id="a number of 5,000 digits"),
        (Spot, None),
    ],
)
@pytest.mark.parametrize("where", ["notes", "raw"])
def test_every_unusual_value_is_written_as_its_json_form_or_as_text(odd: Any, written: Any, where: str) -> None:
    record = _row(notes={"odd": odd}) if where == "notes" else ReplyRecord("", "stop", {}, raw={"odd": odd})
    line = encode(record)
    found = json.loads(line)[where]["odd"]
    assert found == written or written is None
    assert plain(odd) == found or isinstance(odd, dict), "written and shown by the same rule"
    LineReader(type(record)).one(seal(line), "line")


def test_other_objects_are_written_by_their_fields_or_a_short_repr_and_defaults_are_left_out() -> None:
    assert plain({"spot": Spot(3)}) == {"spot": {"x": 3}}
    assert plain(object()).startswith("<object object at")
    assert len(plain(type("Long", (), {"__repr__": lambda self: "x" * 10_000})())) == 501
    brief = ReplyRecord("", "stop", {}, left_out=[], raw=np.array([0, 0]))
    assert plain(brief) == {"text": "", "finish": "stop", "usage": {}, "raw": [0, 0]}
    assert plain(_row())["notes"] == {}


@pytest.mark.parametrize("deep", [101, 900, 5000])
def test_deep_nesting_is_cut_off_so_that_any_reader_can_read_it(deep: int) -> None:
    nest: Any = []
    for _ in range(deep):
        nest = [nest]
    again = LineReader(ScoreRow).one(encode(_row(notes={"deep": nest})), "line")
    levels = 0
    inner: Any = again.notes["deep"]
    while isinstance(inner, list):
        inner, levels = inner[0], levels + 1
    assert levels < deep and isinstance(inner, str)


def test_a_value_that_contains_itself_is_cut_off() -> None:
    inside: dict[str, Any] = {}
    inside["self"] = inside
    assert "..." in json.dumps(json.loads(encode(_row(notes=inside))))


@pytest.mark.parametrize("broken", ["half \ud83d", "\udcff", "é\ud800\ud800"])
def test_half_a_character_is_written_the_same_wherever_it_occurs(broken: str, tmp_path: Path) -> None:
    """In a reply, in data, in a prompt: the same text is sent, scored, written and read back."""
    assert all(well_formed(text) is text for text in ("plain", "å 😀", "", "\\ud800"))
    shown = well_formed(broken)
    assert shown.encode() and shown == broken.encode("utf-8", "backslashreplace").decode()
    assert Reply(broken).text == Part(broken).text == shown == plain(broken)
    sample = Sample(broken, fields={"question": broken}, target={"any": [broken, (broken,)]}, groups={"kind": broken})
    assert (sample.id, sample.fields["question"], sample.groups["kind"]) == (shown, shown, shown)
    assert sample.target == {"any": [shown, (shown,)]}
    line = LineReader(EpisodeLine).one(encode(pack_episode(Episode(sample, ()), 0, lambda picture: "")), "line")
    assert unpack_sample(line.sample, PictureStore(tmp_path)).fingerprint() != ""
    assert (line.sample.id, line.sample.fields) == (sample.id, sample.fields)


async def test_a_run_with_unusual_data_replies_and_scores_finishes_and_can_be_read(tmp_path: Path) -> None:
    samples = [
        make_sample("s0", groups={"kind": "half \ud83d"}),
        make_sample("s1 \udcff", target={"answer": "caf\udce9", "box": np.array([1, 2])}),
    ]
    odd = Reply("caf\udce9", raw={"object": object(), "bytes": b"\xff", "score": np.float32("nan"), "\ud800": {1}})

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        right = episode.answer == sample.target["answer"]
        return Scores({"right": np.bool_(right)}, {"mean": np.float64("nan"), "said": episode.answer, "kinds": {"a"}})  # type: ignore[dict-item]

    task = make_task(samples, scorer=scorer, breakdown=["kind"])
    model = Speaker(lambda id: odd)
    cells = [make_cell(task, mode) for mode in ("direct", "text_cot")]
    folder = await run(tmp_path / "run \udcff", cells, with_cache(model, tmp_path / "cache"))
    asked = len(model.calls)
    assert [row.values["right"] for row in folder.scores("shades.direct")] == [False, True]
    assert [row.notes["mean"] for row in folder.scores("shades.direct")] == ["NaN", "NaN"]
    before = folder.results_file.read_bytes()
    await rescore(folder, {cell.name: cell.task for cell in cells}, ["strict"], Grading())
    await run(folder.path, cells, model)
    assert len(model.calls) == asked and folder.results_file.read_bytes() == before, "resumed and scored as before"
    assert "caf\\udce9" in write_report(folder).read_text("utf-8")
    index = RunView(folder, "run")
    index.refresh()
    assert json.dumps(plain(index.cells["shades.direct"].episode("s1 \\udcff")), ensure_ascii=False).encode()
