"""The readers of a run folder: what they return, and what they refuse."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sketchmark import Part, Reply, Sound
from sketchmark.episode import Episode, Failure, Turn
from sketchmark.errors import BadInput
from sketchmark.files import PictureStore, write_json
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder, differences
from sketchmark.folder.format import FORMAT, CellRecord, ModelAbout, RunRecord
from sketchmark.folder.records import media_names, pack_episode, unpack_episode
from sketchmark.folder.results_format import Results
from sketchmark.media import Picture
from sketchmark.results.summary import summarise
from tests.runs.making import colour, cost, make_episode, make_row, make_sample, write_lines


def _folder(path: Path, **about: Any) -> RunFolder:
    write_json(path / "run.json", {"format": FORMAT, **about})
    return RunFolder.open(path)


def test_a_folder_without_run_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no run\.json"):
        RunFolder.open(tmp_path)
    assert _folder(tmp_path).path == tmp_path
    assert RunFolder.open(str(tmp_path)).run_file == tmp_path / "run.json"


def test_run_json_is_read_as_written_with_defaults_for_missing_keys(tmp_path: Path) -> None:
    assert FORMAT == 3, "as the documents say"
    assert _folder(tmp_path).about() == RunRecord(FORMAT, cells={}, seed=0, model=ModelAbout(""))
    full = RunRecord(FORMAT, cells={"a.b": CellRecord("a")}, seed=4, model=ModelAbout("m"))
    write_json(tmp_path / "run.json", full)
    assert RunFolder(tmp_path).about() == full


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[]", "does not describe"),
        (f'{{"format": {FORMAT}, "cells": []}}', "does not describe"),
        ("nul", "cannot read"),
        ('{"format": 1}', "another version .format 1, not 3"),
        ('{"format": 4}', "another version .format 4, not .*new folder"),
        ("{}", "another version .format None"),
    ],
)
def test_a_bad_run_json_is_refused_with_the_reason(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(BadInput, match=why):
        RunFolder(tmp_path).about()


def test_cells_have_the_requested_order_and_bad_names_are_left_out(tmp_path: Path) -> None:
    names = ["z.direct", "a.visual_cot.blank", "plain", "../x.y", "a.b/c", "A-1_b.direct"]
    cells = _folder(tmp_path, cells={name: {} for name in names}).cells
    assert cells == ["z.direct", "a.visual_cot.blank", "A-1_b.direct"]


@pytest.mark.parametrize("name", ["plain", "../up.direct", "a.b/c", "a.b\n", "", "a..b", "a.b~X"])
def test_a_bad_cell_name_gives_no_path(tmp_path: Path, name: str) -> None:
    for path in (RunFolder(tmp_path).episodes_file, RunFolder(tmp_path).scores_file):
        with pytest.raises(BadInput, match="not a name of a run's cell"):
            path(name)


def test_every_scoring_has_a_separate_file(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.episodes_file("a.b") == tmp_path / "episodes/a.b.jsonl"
    assert folder.scores_file("a.b") == tmp_path / "scores/a.b.jsonl"
    assert folder.scores_file("a.b", "lenient") == tmp_path / "scores/a.b~lenient.jsonl"


def test_the_newest_line_of_a_sample_counts(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    attempts = [("x", 1), ("y", 1), ("x", 2), ("z", 1), ("x", 3), ("y", 2)]
    episodes = [make_episode(make_sample(id), seconds=number) for id, number in attempts]
    write_lines(folder.episodes_file("a.b"), [pack_episode(one, 0, folder.pictures.save) for one in episodes])
    assert [(line.sample.id, line.seconds) for line in folder.episodes("a.b")] == [("z", 1), ("x", 3), ("y", 2)]
    rows = [make_row("c", 0.0, 2), make_row("a", 0.0, 0), make_row("c", 1.0, 2), make_row("b", 1.0, 1)]
    write_lines(folder.scores_file("a.b"), rows)
    write_lines(folder.scores_file("a.b", "lenient"), [make_row("a", 0.5, 0)])
    assert [(row.sample, row.values["right"]) for row in folder.scores("a.b")] == [("a", 0), ("b", 1), ("c", 1)]
    assert [row.values["right"] for row in folder.scores("a.b", "lenient")] == [0.5]


def test_results_are_empty_until_they_are_written(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.results() == Results(tasks={}, gains=[])
    some = Results(tasks={"a.b": summarise([make_row("a")], None)}, gains=[])
    write_json(tmp_path / "results.json", some)
    assert folder.results() == some and some.tasks["a.b"].n == 1


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"b": {"x": 1, "y": 2}, "a": 1}, {"b": {"x": 1, "y": 3}, "a": 2}, ["a: 1 -> 2", "b.y: 2 -> 3"]),
        ({"a": 1}, {}, ["a: 1 -> null"]),
        ({}, {"a": {"b": "x"}}, ['a: null -> {"b": "x"}']),
        ({"a": {"b": 1}}, {"a": "text"}, ['a: {"b": 1} -> "text"']),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a: [1, 2] -> [2, 1]"]),
        ({"a": "x" * 78}, {"a": "y" * 79}, [f'a: "{"x" * 78}" -> "{"y" * 76}...']),
    ],
)
def test_a_change_is_named_by_its_path_with_both_values(before: Any, now: Any, said: list[str]) -> None:
    assert differences(before, now) == said


# Episodes as lines of a run folder, and back.


def _whole() -> Episode:
    frames = [colour("pink"), colour("brown")]
    sample = make_sample(
        "s0",
        pictures={"picture": colour("red"), "more": [colour("green"), colour("cyan")]},
        groups={"cluster": "c"},
        steps=2,
        frames=lambda: frames,
    )
    drawn = Reply("", colour("blue"), usage=cost(1, pictures_out=1), left_out=("a video",), raw={"id": 1})
    turns = (
        Turn("show", (Part(colour("red")), Part("words"))),
        Turn("draw", (Part("label"), Part(colour("white"), "model")), "Draw.", drawn, 0.25),
        Turn("say", (Part("yes", "model"),), "Ask.", Reply("yes", finish="length", usage=cost(0, tokens_in=3)), 0.5),
        Turn("skip", note="left out on purpose"),
    )
    settings = {"mode": "visual_cot", "canvas": "blank", "steps": "truth"}
    return Episode(sample, turns, Failure("timeout", "slow", True), 12.5, 0.75, settings)


def test_an_episode_comes_back_as_it_was(tmp_path: Path) -> None:
    store, episode = PictureStore(tmp_path), _whole()
    record = pack_episode(episode, 4, store.save)
    again = unpack_episode(record, store)
    assert record.index == 4 and replace(again, sample=episode.sample) == episode
    assert again.sample.fingerprint() == episode.sample.fingerprint() == record.sample.fingerprint
    assert again.sample.frames is not None and again.sample.frames() == [colour("pink"), colour("brown")]
    assert pack_episode(again, 4, store.save) == record
    shades = ("red", "green", "cyan", "pink", "brown", "red", "white", "blue")
    assert list(media_names(record)) == [f"{colour(shade).digest}.png" for shade in shades]


def test_times_are_rounded_and_success_has_no_failure(tmp_path: Path) -> None:
    store = PictureStore(tmp_path)
    record = pack_episode(make_episode(None, Reply("yes"), started=1.23456, seconds=0.123456), 0, store.save)
    assert record.failure is None and unpack_episode(record, store).failure is None
    assert (record.started, record.seconds) == (1.235, 0.1235)


def test_ground_truth_images_are_kept_only_if_something_was_drawn(tmp_path: Path) -> None:
    store = PictureStore(tmp_path)
    sample = make_sample("s0", frames=lambda: [colour("pink")])
    said = pack_episode(make_episode(sample, Reply("yes")), 0, store.save)
    drew = pack_episode(make_episode(sample, Reply(picture=colour("blue")), act="draw"), 0, store.save)
    without = pack_episode(make_episode(make_sample("s1"), Reply(picture=colour("blue")), act="draw"), 0, store.save)
    assert said.sample.frames is None and without.sample.frames is None
    assert drew.sample.frames == [f"{colour('pink').digest}.png"]
    assert unpack_episode(said, store).sample.frames is None


def test_a_line_has_no_defaults_and_saves_each_image_once() -> None:
    saved: list[Picture | Sound] = []

    def save(shown: Picture | Sound) -> str:
        saved.append(shown)
        return "name"

    record = pack_episode(make_episode(None, Reply("yes")), 0, save)
    reply = {"text": "yes", "finish": "stop", "usage": {"calls": 1}}
    assert plain(record.turns) == [
        {"act": "show", "added": []},
        {"act": "say", "added": [], "reply": reply, "seconds": 0.0},
    ]
    assert saved == [colour("red")]


# docs/run-folder.md says what is in a run folder: every field, and nothing that is not there.


DOCS = Path(__file__).parents[2] / "docs"
BASES = {"Mean", "Score"}
"""Stand in a run folder only as a part of what is made of them."""


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_run_folder", DOCS / "make_run_folder.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_fields_that_the_types_have(maker: ModuleType) -> None:
    text = maker.PAGE.read_text("utf-8")
    assert maker.page(text) == text, "run docs/make_run_folder.py"


def test_every_type_of_a_run_folder_is_on_the_page(maker: ModuleType) -> None:
    text = maker.PAGE.read_text("utf-8")
    missing = {name for name in maker.kinds() if f"<!-- fields of {name} -->" not in text}
    assert missing == BASES


def test_every_field_says_what_it_means(maker: ModuleType) -> None:
    for name, kind in maker.kinds().items():
        for field, meaning in maker.meanings(kind).items():
            assert meaning, f"{name}.{field} has no text under it"
            assert f"| `{field}` | {meaning} |" in maker.PAGE.read_text("utf-8") or name in BASES


def test_the_page_names_the_format_that_is_written(maker: ModuleType) -> None:
    from sketchmark.folder.format import FORMAT

    assert f"`format: {FORMAT}` is written" in maker.PAGE.read_text("utf-8").replace("\n", " ")
