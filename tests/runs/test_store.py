"""The run folder: what is read from it, what is refused, and who may write to it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sketchmark.errors import BadInput, RunConflict
from sketchmark.files import replacing, write_atomic, write_json
from sketchmark.files.media_store import PictureStore
from sketchmark.folder import RunFolder, differences
from sketchmark.folder.format import FORMAT, CellRecord, ModelAbout, RunRecord
from sketchmark.folder.lock import RunLock
from sketchmark.folder.records import pack_episode
from sketchmark.folder.results_format import Results
from sketchmark.results.summary import summarise
from tests.runs.making import colour, make_episode, make_row, make_sample, write_lines


def _folder(path: Path, **about: Any) -> RunFolder:
    write_json(path / "run.json", {"format": FORMAT, **about})
    return RunFolder.open(path)


def test_a_folder_without_run_json_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no run\.json"):
        RunFolder.open(tmp_path)
    assert _folder(tmp_path).path == tmp_path
    assert RunFolder.open(str(tmp_path)).run_file == tmp_path / "run.json"


def test_what_a_run_does_not_say_about_itself_has_a_plain_value(tmp_path: Path) -> None:
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
        ('{"format": 2}', "another version .format 2, not 3"),
        ('{"format": 4}', "another version .format 4, not .*new folder"),
        ("{}", "another version .format None"),
    ],
)
def test_a_run_file_that_describes_no_run_is_refused_with_the_reason(tmp_path: Path, content: str, why: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(BadInput, match=why):
        RunFolder(tmp_path).about()


def test_the_format_of_a_run_folder_is_the_one_the_documents_describe() -> None:
    assert FORMAT == 3


def test_cells_come_in_the_order_they_were_asked_for_and_no_other_names(tmp_path: Path) -> None:
    names = ["z.direct", "a.visual_cot.blank", "plain", "../x.y", "a.b/c", "A-1_b.direct"]
    assert _folder(tmp_path, cells={name: {} for name in names}).cells == [
        "z.direct",
        "a.visual_cot.blank",
        "A-1_b.direct",
    ]


@pytest.mark.parametrize("name", ["plain", "../up.direct", "a.b/c", "a.b\n", "", "a..b", "a.b~X"])
def test_a_name_that_is_no_cell_is_no_path(tmp_path: Path, name: str) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(BadInput, match="not a name of a run's cell"):
        folder.episodes_file(name)
    with pytest.raises(BadInput, match="not a name of a run's cell"):
        folder.scores_file(name)


def test_every_scoring_has_a_file_of_its_own(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.episodes_file("a.b") == tmp_path / "episodes/a.b.jsonl"
    assert folder.scores_file("a.b") == tmp_path / "scores/a.b.jsonl"
    assert folder.scores_file("a.b", "lenient") == tmp_path / "scores/a.b~lenient.jsonl"


def test_of_several_records_of_a_sample_the_newest_counts(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    tries = [("x", 1), ("y", 1), ("x", 2), ("z", 1), ("x", 3), ("y", 2)]
    played = [make_episode(make_sample(id), seconds=number) for id, number in tries]
    write_lines(folder.episodes_file("a.b"), [pack_episode(one, 0, folder.pictures.save) for one in played])
    found = [(line.sample.id, line.seconds) for line in folder.episodes("a.b")]
    assert found == [("z", 1), ("x", 3), ("y", 2)]


def test_of_several_scores_of_a_sample_the_newest_counts_and_samples_come_in_their_order(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    rows = [make_row("c", 0.0, 2), make_row("a", 0.0, 0), make_row("c", 1.0, 2), make_row("b", 1.0, 1)]
    write_lines(folder.scores_file("a.b"), rows)
    write_lines(folder.scores_file("a.b", "lenient"), [make_row("a", 0.5, 0)])
    assert [(row.sample, row.values["right"]) for row in folder.scores("a.b")] == [("a", 0), ("b", 1), ("c", 1)]
    assert [row.values["right"] for row in folder.scores("a.b", "lenient")] == [0.5]


def test_a_run_without_results_has_none_yet(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.results() == Results(tasks={}, gains=[])
    some = Results(tasks={"a.b": summarise([make_row("a")], None)}, gains=[])
    write_json(tmp_path / "results.json", some)
    assert folder.results() == some and some.tasks["a.b"].n == 1


def test_json_is_written_to_be_read_by_people_and_by_every_json_reader(tmp_path: Path) -> None:
    path = tmp_path / "deep/value.json"
    write_json(path, {"a": "ä", "b": float("inf")})
    assert path.read_text("utf-8") == '{\n "a": "ä",\n "b": "Infinity"\n}\n'


def test_a_whole_file_replaces_another_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "deep/file"
    for content in (b"first and longer", b"second"):
        write_atomic(path, content)
        assert path.read_bytes() == content
        assert list(path.parent.iterdir()) == [path]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        assert path.read_bytes() == b"old"
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"


@pytest.mark.parametrize("durable", [True, False])
def test_a_name_stands_for_bytes_that_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    synced: list[tuple[int, bool]] = []
    fsync, path = os.fsync, tmp_path / "file"

    def watched(file: int) -> None:
        fsync(file)
        synced.append((os.fstat(file).st_size, path.exists()))

    monkeypatch.setattr(os, "fsync", watched)
    write_atomic(path, b"content", durable=durable)
    assert synced == ([(7, False)] if durable else []), "before the name is there, or not at all"


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")
    code = (
        "import resource, sys; from pathlib import Path; from sketchmark.files import write_atomic;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); write_atomic(Path(sys.argv[1]), b'x' * 5000)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert f"OSError: [Errno 27] File too large: '{path}'" in done.stderr, "by the name that the user knows"
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_what_stands_under_the_temporary_name_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / f".file.{os.getpid()}.{threading.get_ident()}").symlink_to(victim)
    write_atomic(tmp_path / "file", b"content")
    assert victim.read_bytes() == b"precious" and (tmp_path / "file").read_bytes() == b"content"


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"b": {"x": 1, "y": 2}, "a": 1}, {"b": {"x": 1, "y": 3}, "a": 2}, ["a: 1 -> 2", "b.y: 2 -> 3"]),
        ({"a": 1}, {}, ["a: 1 -> null"]),
        ({}, {"a": {"b": "x"}}, ['a: null -> {"b": "x"}']),
        ({"a": {"b": 1}}, {"a": "text"}, ['a: {"b": 1} -> "text"']),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a: [1, 2] -> [2, 1]"]),
    ],
)
def test_what_changed_is_named_by_its_path_with_both_values(before: Any, now: Any, said: list[str]) -> None:
    assert differences(before, now) == said


def test_a_long_value_is_cut_where_a_line_ends() -> None:
    fits, long = "x" * 78, "y" * 79
    assert differences({"a": fits}, {"a": long}) == [f'a: "{fits}" -> "{"y" * 76}...']


def test_a_second_one_in_the_same_folder_is_told_so_until_the_first_is_done(tmp_path: Path) -> None:
    lock = RunLock(tmp_path / "new/run")
    with pytest.raises(RunConflict, match=r"another process is running in .*--output_path"):
        RunLock(tmp_path / "new/run")
    lock.release()
    RunLock(tmp_path / "new/run").release()
    assert [path.name for path in (tmp_path / "new/run").iterdir()] == [".lock"]


def test_a_process_that_holds_the_folder_keeps_another_out(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    code = (
        "import sys; from pathlib import Path; from sketchmark.folder.lock import RunLock; RunLock(Path(sys.argv[1]))"
    )
    refused = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    lock.release()
    who = f"process {os.getpid()} on {socket.gethostname()!r}"
    assert f"RunConflict: another process is running in {tmp_path}: {who} (wait for it" in refused.stderr


@pytest.mark.parametrize("told", [None, b"", b"nonsense", b'{"pid": "x", "host": 1}'])
def test_who_holds_the_folder_is_only_told_and_never_trusted(tmp_path: Path, told: bytes | None) -> None:
    (tmp_path / ".lock-holder").write_text(json.dumps({"pid": os.getpid(), "host": "of a process that was killed"}))
    lock = RunLock(tmp_path)
    (tmp_path / ".lock-holder").unlink()
    if told is not None:
        (tmp_path / ".lock-holder").write_bytes(told)
    with pytest.raises(RunConflict, match=f"another process is running in {re.escape(str(tmp_path))} .wait"):
        RunLock(tmp_path)
    lock.release()


def test_being_told_to_wait_leaves_no_file_open(tmp_path: Path) -> None:
    lock = RunLock(tmp_path)
    before = list(Path("/dev/fd").iterdir())
    with pytest.raises(RunConflict):
        RunLock(tmp_path)
    assert len(list(Path("/dev/fd").iterdir())) == len(before)
    lock.release()


def test_others_may_read_a_run_and_only_its_owner_may_write(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_lines(tmp_path / "lines.jsonl", [make_row("s0")])
        RunLock(tmp_path).release()
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("lines.jsonl", ".lock")] == [0o644, 0o644]


def test_a_picture_is_kept_once_under_its_digest(tmp_path: Path) -> None:
    store, red = PictureStore(tmp_path / "pictures"), colour("red")
    name = store.save(red)
    assert name == f"{red.digest}.png" and store.path(name) == tmp_path / "pictures" / name[:2] / name
    before = store.path(name).stat().st_mtime_ns, store.path(name).stat().st_ino
    assert store.save(red) == name
    assert (store.path(name).stat().st_mtime_ns, store.path(name).stat().st_ino) == before
    assert store.load(name) == red and store.holds(name)


def test_a_picture_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are several in an episode; one that a power cut takes is played again."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    PictureStore(tmp_path).save(colour("red"))
    assert synced == []


def test_an_empty_file_is_no_picture_and_is_written_again(tmp_path: Path) -> None:
    store, red = PictureStore(tmp_path), colour("red")
    name = store.save(red)
    store.path(name).write_bytes(b"")
    assert not store.holds(name)
    store.save(red)
    assert store.load(name) == red


def test_a_picture_that_is_not_what_its_name_says_is_refused(tmp_path: Path) -> None:
    store = PictureStore(tmp_path)
    name = store.save(colour("red"))
    store.path(name).write_bytes(colour("blue").data)
    with pytest.raises(BadInput, match="does not hold what its name says"):
        store.load(name)


@pytest.mark.parametrize("name", ["../secret.png", "a/b.png", "0" * 64 + ".png/../x", "0" * 63 + ".png", "0" * 64])
def test_a_picture_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    for ask in (PictureStore(tmp_path).load, PictureStore(tmp_path).holds, PictureStore(tmp_path).path):
        with pytest.raises(BadInput, match="not a picture name"):
            ask(name)
