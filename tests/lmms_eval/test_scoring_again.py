"""A run is scored again by the documents that were played, or not at all: a number of other documents looks no
different from a right one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sketchmark.folder import RunFolder
from tests.command_line import sketchmark

FILE = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: rows.jsonl}
test_split: test
doc_to_text: question
process_results: !function utils.results
metric_list: [{metric: right}]
"""
CODE = """
import random

def results(doc, replies):
    return {"right": float(replies[0] == doc["answer"])}

def shuffled(docs):
    return docs.select(random.sample(range(len(docs)), len(docs)))
"""
MODEL = """
from sketchmark import Model, Reply

class Says(Model):
    async def say(self, context, options):
        number = int(str([*context][-1].content).split()[-1])
        return Reply(text="yes" if number % 4 else "no")
"""


def rows(folder: Path, answer: str, n: int = 12) -> Path:
    """Questions that all read alike, whatever the right answer is."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"question": f"number {i}", "answer": answer}) for i in range(n)]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A task folder whose own rows have other answers than those that are played from elsewhere."""
    folder = rows(tmp_path / "theirs", "no")
    (folder / "sums.yaml").write_text(FILE)
    (folder / "utils.py").write_text(CODE)
    (tmp_path / "says.py").write_text(MODEL)
    rows(tmp_path / "mine", "yes")
    return folder


def say(tmp_path: Path, *arguments: object, code: int = 0, variable: str = "") -> str:
    words = (*arguments, "--include", "theirs", "--trust-code")
    done = sketchmark(*words, cwd=tmp_path, env={"SKETCHMARK_DATA": variable})
    assert done.returncode == code, done.stderr
    return done.stderr


PLAY = ("run", "--model", "says/x", "--tasks", "sums", "--include", "says.py", "--no-cache", "--quiet")


def right(folder: Path) -> float | None:
    return RunFolder(folder).results().tasks["sums.direct"].metrics["right"].mean


@pytest.mark.parametrize("by_variable", [False, True])
def test_a_run_is_scored_again_by_the_data_it_was_played_on(tmp_path: Path, theirs: Path, by_variable: bool) -> None:
    named = [] if by_variable else ["--data", "mine"]
    say(tmp_path, *PLAY, "--output_path", "out", *named, variable="mine" if by_variable else "")
    assert right(tmp_path / "out") == 0.75
    assert RunFolder(tmp_path / "out").about().asked["sums.direct"].data == "mine"
    say(tmp_path, "score", "out", variable="theirs")
    assert right(tmp_path / "out") == 0.75
    shutil.move(tmp_path / "mine", tmp_path / "moved")
    shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    refused = say(tmp_path, "score", "elsewhere", code=2)
    assert refused.splitlines()[-1].startswith("sketchmark: the data of the run cannot be read: mine does not")
    refused = say(tmp_path, "score", "elsewhere", "--data", "theirs", code=2)
    assert "is not the one of the run: the data changed" in refused.splitlines()[-1]
    assert right(tmp_path / "elsewhere") == 0.75, "the old scores stand"
    say(tmp_path, "score", "elsewhere", "--data", "moved")
    assert right(tmp_path / "elsewhere") == 0.75


def test_what_lay_beside_the_file_is_read_there_again_and_refused_when_it_changed(
    tmp_path: Path, theirs: Path
) -> None:
    say(tmp_path, *PLAY, "--output_path", "out")
    say(tmp_path, "score", "out", variable="mine")
    assert right(tmp_path / "out") == 0.25
    rows(theirs, "yes")
    assert "document 0 of" in say(tmp_path, "score", "out", code=2)
    rows(theirs, "no", n=3)
    assert "document 3 of" in say(tmp_path, "score", "out", code=2), "those that are gone are not left out"
    assert right(tmp_path / "out") == 0.25


def test_documents_that_are_shuffled_anew_are_found_where_they_stand_now(tmp_path: Path, theirs: Path) -> None:
    (theirs / "sums.yaml").write_text(f"{FILE}process_docs: !function utils.shuffled\n")
    lines = [json.dumps({"question": f"number {i}", "answer": "yes" if i % 4 else "no"}) for i in range(12)]
    (theirs / "rows.jsonl").write_text("\n".join(lines))
    say(tmp_path, *PLAY, "--output_path", "out")
    assert right(tmp_path / "out") == 1.0
    say(tmp_path, "score", "out")
    assert right(tmp_path / "out") == 1.0


def test_workers_that_do_not_have_the_data_leave_the_scores_to_the_run(tmp_path: Path, theirs: Path) -> None:
    play = (*PLAY, "--engine", "processes", "--output_path", "out")
    say(tmp_path, *play, "--data", "mine")
    cell = RunFolder(tmp_path / "out").results().tasks["sums.direct"]
    assert (cell.n, cell.failures, cell.metrics["right"].mean) == (12, {}, 0.75)


def test_shards_are_merged_without_their_data_and_scored_only_by_it(tmp_path: Path, theirs: Path) -> None:
    for shard in ("0/2", "1/2"):
        say(tmp_path, *PLAY, "--data", "mine", "--shard", shard, "--output_path", f"part{shard[0]}")
    shutil.move(tmp_path / "mine", tmp_path / "moved")
    say(tmp_path, "merge", "part0", "part1", "--out", "whole")
    assert right(tmp_path / "whole") == 0.75
    (tmp_path / "part1" / "scores" / "sums.direct.jsonl").unlink()
    refused = say(tmp_path, "merge", "part0", "part1", "--out", "again", code=2)
    assert "the data of the run cannot be read: mine does not exist" in refused.splitlines()[-1]
    assert not (tmp_path / "again").exists()
    say(tmp_path, "merge", "part0", "part1", "--out", "again", "--data", "moved")
    assert right(tmp_path / "again") == 0.75
