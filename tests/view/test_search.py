"""Text search: words of the format are found only in texts."""

from __future__ import annotations

import msgspec
import pytest

from sketchmark.episode import Failure
from sketchmark.folder.format import EpisodeLine, PartLine, SampleLine, TurnLine
from sketchmark.folder.index import RunView
from sketchmark.models.cache import ReplyRecord
from sketchmark.view.query import matching
from tests.view.making import Maker, play, sample

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
