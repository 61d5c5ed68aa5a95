"""The list of runs below a folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sketchmark.episode import Failure
from sketchmark.errors import BadInput
from sketchmark.folder.format import EpisodeLine, PartLine, SampleLine, TurnLine
from sketchmark.folder.index import RunView
from sketchmark.models.cache import ReplyRecord
from sketchmark.view.query import matching
from sketchmark.view.runs import RunList
from tests.view.making import Maker, play, sample


def test_a_run_whose_results_are_a_link_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    Maker(tmp_path / "good").fill(1)
    bad = Maker(tmp_path / "bad").fill(1)
    (bad.folder.path / "results.json").unlink(missing_ok=True)
    (bad.folder.path / "results.json").symlink_to(tmp_path / "secret")
    shelf = RunList(tmp_path)
    assert [run.key for run in shelf.look()] == ["good"] and "is a link" in shelf.troubles["bad"]


def test_broken_folders_are_named_and_the_others_are_shown(tmp_path: Path) -> None:
    Maker(tmp_path / "deep" / "er" / "good").fill(1)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{")
    (tmp_path / "worse").mkdir()
    (tmp_path / "worse" / "run.json").write_text('{"format": 3, "cells": 5}')
    shelf = RunList(tmp_path)
    assert [run.key for run in shelf.look()] == ["deep/er/good"]
    assert set(shelf.troubles) == {"bad", "worse"}


def test_runs_are_found_three_folders_down_but_not_through_links(tmp_path: Path) -> None:
    Maker(tmp_path / "shelf" / "a" / "b" / "c").fill(1)
    Maker(tmp_path / "shelf" / "1" / "2" / "3" / "too-deep").fill(1)
    Maker(tmp_path / "elsewhere").fill(1)
    (tmp_path / "shelf" / "link").symlink_to(tmp_path / "elsewhere")
    assert [run.key for run in RunList(tmp_path / "shelf").look()] == ["a/b/c"]


@pytest.mark.parametrize("key", ["../elsewhere", "/etc", "a/../../elsewhere", "..", "\x00"])
def test_a_run_outside_the_shelf_cannot_be_named(tmp_path: Path, key: str) -> None:
    Maker(tmp_path / "shelf" / "a").fill(1)
    Maker(tmp_path / "elsewhere").fill(1)
    with pytest.raises(BadInput, match="there is no run"):
        RunList(tmp_path / "shelf").run(key)


def test_a_line_that_breaks_later_is_named_every_time(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(2)
    shelf = RunList(tmp_path)
    assert len(shelf.look()) == 1
    with maker.folder.scores_file("maze.direct").open("ab") as file:
        file.write(b"not JSON\n")
    for _ in range(2):
        with pytest.raises(BadInput, match=r"maze\.direct\.jsonl.*: not JSON"):
            shelf.run("run")
    assert shelf.look() == [] and "not JSON" in shelf.troubles["run"]


# Text search: words of the format are found only in texts.


KEYS = {
    *(name for kind in (EpisodeLine, SampleLine, TurnLine, PartLine, ReplyRecord) for name in kind.__struct_fields__),
    *Failure.__dataclass_fields__,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunView:
    maker = Maker(tmp_path_factory.mktemp("runs") / "run")
    for number in range(3):
        maker.add("maze.visual_cot", play(sample(number), "visual_cot", True, text="ANSWER"), number)
    index = RunView(maker.folder, "run")
    index.refresh()
    return index


@pytest.mark.parametrize("word", sorted(KEYS | {"null", "false", "tokens_in", "draw", "stop", "model", "png", "crc"}))
def test_a_word_of_the_format_is_searched_only_in_texts(run: RunView, word: str) -> None:
    cell = run.cells["maze.visual_cot"]
    texts = []
    for name in cell.episodes:
        line = cell.episode(name)
        texts += [line.sample.id, *line.sample.fields.values(), *map(str, line.sample.groups.values())]
        for turn in line.turns:
            texts += [turn.suffix, turn.note, *(part.text or "" for part in turn.added)]
    expected = 3 if any(word in text.lower() for text in texts) else 0
    assert len(matching(cell, word)) == expected


def test_the_keys_are_those_of_a_line(run: RunView) -> None:
    cell = run.cells["maze.visual_cot"]
    line = msgspec.to_builtins(cell.episode("maze-00000"))
    assert set(line) | set(line["sample"]) | set(line["turns"][2]) | set(line["turns"][2]["reply"]) <= KEYS


def test_replies_are_found(run: RunView) -> None:
    assert len(matching(run.cells["maze.visual_cot"], "answer")) == 3
    assert matching(run.cells["maze.visual_cot"], "maze-00001") == {"maze-00001"}
