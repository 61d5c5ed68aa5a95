"""`sketchmark repair`: damage is set aside, nothing is guessed, and the run ends as it would have."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark.cli import root
from sketchmark.errors import CallFailed, SketchmarkError
from sketchmark.files.jsonl import seal
from sketchmark.folder.lock import RunLock
from tests.runs.making import Speaker, colour, make_cell, make_sample, make_samples, make_task, run

CELL = "shades.direct"


def _repair(path: Path, *options: str) -> list[str]:
    done = CliRunner().invoke(root, ["repair", str(path), *options], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output.replace(f"{path}/", "").replace(str(path), "RUN").splitlines()


def _files(path: Path) -> dict[str, bytes]:
    return {
        str(found.relative_to(path)): found.read_bytes()
        for found in sorted(path.rglob("*"))
        if found.is_file() and found.name != ".lock"
    }


def _change(path: Path, number: int, change: Callable[[bytes], bytes]) -> bytes:
    """Damage one line; returns what became of it."""
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = change(lines[number - 1])
    path.write_bytes(b"".join(lines))
    return lines[number - 1]


def _taken(path: Path) -> list[dict[str, Any]]:
    return [{**json.loads(line), "crc": ""} for line in path.read_bytes().splitlines()]


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "another's line in it": (lambda line: line[:40] + line, "not what was written (its checksum is wrong)"),
    "a changed word": (lambda line: line.replace(b"yes", b"yeS", 1), "not what was written (its checksum is wrong)"),
    "zeros": (lambda line: b"\0" * 200 + b"\n", "not JSON"),
    "no UTF-8": (lambda line: b"\xff\n", "not JSON"),
    "another object": (lambda line: seal(b'{"a":1}\n'), "not "),
    "a path for a picture": (
        lambda line: seal(line[: line.rindex(b',"crc"')].replace(colour("red").digest.encode(), b"../x") + b"}\n"),
        "names a picture that cannot be one",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
async def test_a_damaged_episode_is_set_aside_and_run_again(tmp_path: Path, kind: str) -> None:
    change, why = DAMAGE[kind]
    cells = [make_cell(make_task(make_samples(4)))]
    folder = await run(tmp_path / "run", cells, Speaker())
    results, path = folder.results_file.read_bytes(), folder.episodes_file(CELL)
    sound = path.read_bytes().splitlines(keepends=True)
    damaged = _change(path, 2, change)
    with pytest.raises(SketchmarkError):
        await run(tmp_path / "run", cells, Speaker())
    before = _files(folder.path)
    told = _repair(folder.path, "--dry-run")
    assert told[0].startswith(f"episodes/{CELL}.jsonl: line 2: {why}")
    assert told[1:] == ["would be set aside in set-aside", f"to rerun: {CELL}: s1", "next: sketchmark repair RUN"]
    assert _files(folder.path) == before, "only shown"
    told = _repair(folder.path)
    assert told[1:3] == ["now set aside in set-aside", f"to rerun: {CELL}: s1"]
    assert told[3].startswith("next: run the `sketchmark run` command of this run again")
    assert path.read_bytes() == b"".join([sound[0], *sound[2:]])
    (taken,) = _taken(folder.path / f"set-aside/episodes/{CELL}.jsonl")
    text = taken.get("text", "").encode() + b"\n" if "text" in taken else base64.b64decode(taken["base64"])
    assert taken["line"] == 2 and taken["why"].startswith(why) and text == damaged, "nothing of it is lost"
    model = Speaker()
    await run(tmp_path / "run", cells, model)
    assert model.asked == ["s1"] and folder.results_file.read_bytes() == results
    assert _repair(folder.path) == ["RUN: nothing to repair"]


async def test_an_intact_run_is_not_changed(tmp_path: Path) -> None:
    folder = await run(tmp_path, [make_cell(make_task(make_samples(3)), "visual_cot")], Speaker())
    with folder.episodes_file("shades.visual_cot").open("ab") as file:
        file.write(b'{"index":3,"sam')  # a kill: every run cuts it off by itself
    before = _files(tmp_path)
    assert _repair(tmp_path) == ["RUN: nothing to repair"] and _files(tmp_path) == before


async def test_a_damaged_score_is_set_aside_and_made_again_without_the_model(tmp_path: Path) -> None:
    cells, model = [make_cell(make_task(make_samples(3)))], Speaker()
    folder = await run(tmp_path, cells, Speaker(), scoring="strict,strict")
    results = folder.results_file.read_bytes()
    _change(folder.scores_file(CELL), 3, lambda line: line[:30] + b"\n")
    _change(folder.scores_file(CELL, "strict"), 1, lambda line: b"\n")
    told = _repair(tmp_path)
    assert [line.partition(": ")[0] for line in told[:2]] == [f"scores/{CELL}.jsonl", f"scores/{CELL}~strict.jsonl"]
    assert f"to rescore: {CELL}.jsonl: s2" in told and f"to rescore: {CELL}~strict.jsonl: s0" in told
    assert not any("played" in line for line in told)
    await run(tmp_path, cells, model, scoring="strict,strict")
    assert model.asked == [] and folder.results_file.read_bytes() == results


async def test_the_sample_of_a_damaged_line_is_not_guessed(tmp_path: Path) -> None:
    """The line still names a sample, but nothing that is sound says that it was its own."""
    cells, model = [make_cell(make_task(make_samples(3)))], Speaker()
    folder = await run(tmp_path, cells, Speaker())
    _change(folder.episodes_file(CELL), 2, lambda line: line.replace(b'"s1"', b'"s8"'))
    _change(folder.scores_file(CELL), 2, lambda line: b"{\n")
    told = _repair(tmp_path)
    assert f"to rerun: {CELL}: 1 with unknown samples; the run finds them missing" in told
    assert not any("s1" in line or "s8" in line for line in told)
    await run(tmp_path, cells, model)
    assert model.asked == ["s1"]


async def test_a_sample_with_only_a_failed_attempt_left_is_named(tmp_path: Path) -> None:
    broken = True

    def answer(id: str) -> str:
        if broken and id == "s1":
            raise CallFailed("timeout", "no answer")
        return "yes"

    cells, model = [make_cell(make_task(make_samples(3)))], Speaker(answer)
    folder = await run(tmp_path, cells, model)
    broken = False
    await run(tmp_path, cells, model, retry_failed=True)
    _change(folder.episodes_file(CELL), 4, lambda line: line.replace(b"yes", b"no", 1))
    told = _repair(tmp_path)
    assert f"only an older failed attempt is left: {CELL}: s1; --retry-failed reruns it" in told
    assert not any("to be played" in line for line in told)
    model.calls.clear()
    await run(tmp_path, cells, model, retry_failed=True)
    assert model.asked == ["s1"] and folder.results().tasks[CELL].n == 3


async def test_a_duplicate_line_is_set_aside_once_and_nothing_is_run_again(tmp_path: Path) -> None:
    folder = await run(tmp_path, [make_cell(make_task(make_samples(2)))], Speaker())
    path = folder.episodes_file(CELL)
    sound = path.read_bytes()
    path.write_bytes(sound + sound.splitlines(keepends=True)[0])
    told = _repair(tmp_path)
    assert told[0] == f"episodes/{CELL}.jsonl: line 3: the same line once more"
    assert path.read_bytes() == sound and not any("again:" in line for line in told)


async def test_a_wrong_image_is_set_aside_and_its_episodes_are_run_again(tmp_path: Path) -> None:
    shades = ["red", "green", "red"]
    samples = [make_sample(f"s{number}", shade) for number, shade in enumerate(shades)]
    cells, model = [make_cell(make_task(samples))], Speaker()
    folder = await run(tmp_path, cells, Speaker())
    name = f"{colour('red').digest}.png"
    folder.pictures.path(name).write_bytes(colour("pink").data)
    inside = f"pictures/{name[:2]}/{name}"
    told = _repair(tmp_path)
    assert told[0] == f"{inside}: does not hold what its name says"
    assert f"to rerun: {CELL}: s0, s2" in told
    assert (tmp_path / "set-aside" / inside).read_bytes() == colour("pink").data
    await run(tmp_path, cells, model)
    assert model.asked == ["s0", "s2"] and folder.pictures.load(name) == colour("red")
    assert _repair(tmp_path) == ["RUN: nothing to repair"]


async def test_a_link_or_a_missing_image_is_found_and_names_are_shown_safely(tmp_path: Path) -> None:
    samples = [make_sample("s0", "red"), make_sample("\x1b]0;owned\x07", "green"), make_sample("s2", "blue")]
    folder = await run(tmp_path / "run", [make_cell(make_task(samples))], Speaker())
    red, green = (folder.pictures.path(f"{colour(shade).digest}.png") for shade in ("red", "green"))
    red.rename(tmp_path / "elsewhere")
    red.symlink_to(tmp_path / "elsewhere")
    green.unlink()
    assert rf"to rerun: {CELL}: s0, \u001b]0;owned\u0007" in _repair(folder.path)
    assert not red.is_symlink() and (tmp_path / "elsewhere").read_bytes() == colour("red").data


async def test_results_that_cannot_be_read_are_set_aside_and_made_again(tmp_path: Path) -> None:
    cells, model = [make_cell(make_task(make_samples(2)))], Speaker()
    folder = await run(tmp_path, cells, Speaker())
    results = folder.results_file.read_bytes()
    folder.results_file.write_bytes(results[:100])
    told = _repair(tmp_path)
    assert told[0] == "results.json: cannot be read" and not any("again:" in line for line in told)
    assert (tmp_path / "set-aside/results.json").read_bytes() == results[:100]
    await run(tmp_path, cells, model)
    assert model.asked == [] and folder.results_file.read_bytes() == results


async def test_a_second_repair_keeps_what_the_first_set_aside(tmp_path: Path) -> None:
    folder = await run(tmp_path, [make_cell(make_task(make_samples(3)))], Speaker())
    for word in (b"first", b"second", b"third"):
        _change(folder.episodes_file(CELL), 1, lambda line, word=word: word + b"\n")  # type: ignore[misc]
        _repair(tmp_path)
    kept = [_taken(path)[0]["text"] for path in sorted((tmp_path / "set-aside/episodes").iterdir())]
    assert sorted(kept) == ["first", "second", "third"]


def _refused(path: Path) -> str:
    with pytest.raises(SketchmarkError) as caught:
        root.main(["repair", str(path)], standalone_mode=False)
    return str(caught.value)


@pytest.mark.parametrize("left", [b'{"format": 3, "ce', b"{}", None])
async def test_an_unreadable_run_json_is_refused_with_advice(tmp_path: Path, left: bytes | None) -> None:
    cells, model = [make_cell(make_task(make_samples(2)))], Speaker()
    folder = await run(tmp_path, cells, Speaker())
    results = folder.results_file.read_bytes()
    folder.run_file.unlink()
    if left is not None:
        folder.run_file.write_bytes(left)
    before = _files(tmp_path)
    said = _refused(tmp_path)
    assert "run.json cannot be repaired: " in said and "put a copy back" in said and "move the file away" in said
    assert _files(tmp_path) == before
    folder.run_file.unlink(missing_ok=True)
    await run(tmp_path, cells, model)
    assert model.asked == [] and folder.results_file.read_bytes() == results, "as the error promised"


def test_a_folder_without_a_run_is_refused_and_not_changed(tmp_path: Path) -> None:
    assert "is not a run folder" in _refused(tmp_path) and "is not a run folder" in _refused(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


async def test_a_running_run_is_not_repaired(tmp_path: Path) -> None:
    folder = await run(tmp_path, [make_cell(make_task(make_samples(2)))], Speaker())
    _change(folder.episodes_file(CELL), 1, lambda line: b"x\n")
    before = folder.episodes_file(CELL).read_bytes()
    lock = RunLock(tmp_path)
    assert f"process {os.getpid()} on" in _refused(tmp_path)
    lock.release()
    assert folder.episodes_file(CELL).read_bytes() == before and not (tmp_path / "set-aside").exists()


@pytest.mark.parametrize("where", ["set-aside", "episodes", f"scores/{CELL}.jsonl", "pictures"])
async def test_repair_follows_no_link(tmp_path: Path, where: str) -> None:
    folder = await run(tmp_path / "run", [make_cell(make_task(make_samples(2)))], Speaker())
    _change(folder.episodes_file(CELL), 1, lambda line: b"x\n")
    target, path = tmp_path / "elsewhere", folder.path / where
    path.rename(target) if path.exists() else target.mkdir()
    path.symlink_to(target)
    before = _files(tmp_path)
    assert "is a link" in _refused(folder.path)
    assert _files(tmp_path) == before
