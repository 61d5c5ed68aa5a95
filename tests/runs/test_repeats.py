"""--repeats and --answers: independent episodes of a sample, and several answers to one drawing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Options, Reply, Usage
from sketchmark.catalog import Catalog
from sketchmark.episode.model import Model
from sketchmark.errors import CallFailed
from sketchmark.folder import RunFolder
from sketchmark.models.cache import Cached, CallCache
from sketchmark.results.repeats import copies, rounds, totals_over
from sketchmark.runs.checks import estimate
from sketchmark.runs.merge import NotWhole, merge
from sketchmark.runs.runner import Budget
from sketchmark.testing import serving
from tests.runs.making import Speaker, colour, make_cell, make_cells, make_row, make_samples, make_task, run


class Moody(Speaker):
    """A model whose replies depend on nothing but the count of its calls."""

    def __init__(self, fails_at: tuple[int, ...] = ()) -> None:
        super().__init__(lambda id: self._reply(id), lambda id: Reply(picture=colour(f"#{len(self.calls):06x}")))
        self._fails_at = fails_at

    def _reply(self, id: str) -> Reply:
        if len(self.calls) in self._fails_at:
            raise CallFailed("server_error", "try later")
        return Reply(f"reply {len(self.calls)}", usage=Usage(tokens_out=1))

    @property
    def nths(self) -> list[tuple[str, int, int]]:
        return [(act, o.repeat, o.branch) for (act, _), o in zip(self.calls, self.options, strict=True)]


def answers_in(folder: RunFolder, cell: str) -> dict[str, str]:
    found = {line.key: line.turns[-1].reply for line in folder.episodes(cell)}
    return {key: reply.text if reply else "" for key, reply in sorted(found.items())}


async def test_every_repeat_is_a_separate_episode_and_every_answer_continues_one(tmp_path: Path) -> None:
    model = Moody()
    task = make_task(make_samples(1), generation={"seed": 7, "temperature": 1.0})
    cells = [make_cell(task, mode, repeats=2, answers=3) for mode in ("direct", "visual_cot")]
    folder = await run(tmp_path, cells, model)
    drawn = [("draw", 0, 0), ("say", 0, 0), ("say", 0, 1), ("say", 0, 2)]
    second = [(act, 1, branch) for act, _, branch in drawn]
    assert model.nths == [("say", 0, 0), ("say", 1, 0), *drawn, *second]
    assert [options.seed for options in model.options] == [7, 1007, 7, 7, 8, 9, 1007, 1007, 1008, 1009]
    asked = [context.key() for (act, _), context in zip(model.calls[3:6], model.contexts[3:6], strict=True)]
    assert asked[0] == asked[1] == asked[2], "an answer is continued from the same context"
    lines = {line.key: line for line in folder.episodes("shades.visual_cot")}
    assert len(lines) == 6 and lines["s0"].seeds == {}
    assert lines["s0 (repeat 1, branch 2)"].seeds == {"say": 1009, "draw": 1007}
    pictures = {key: line.turns[1].reply.picture for key, line in lines.items() if line.turns[1].reply}
    assert pictures["s0"] == pictures["s0 (branch 2)"] != pictures["s0 (repeat 1)"]
    rows = folder.scored("shades.visual_cot")
    assert rows["s0 (branch 1)"].usage["calls"] == 1, "the drawing is not counted again"
    assert folder.about().asked["shades.direct"].repeats == 2


async def test_raising_repeats_or_answers_runs_only_what_is_missing(tmp_path: Path) -> None:
    cells = make_cells(2, "visual_cot")
    task = cells[0].task
    await run(tmp_path, cells, Moody())
    before = answers_in(RunFolder(tmp_path), "shades.visual_cot")
    steps: list[tuple[dict[str, Any], Any]] = [
        ({"repeats": 2}, [("draw", 1, 0), ("say", 1, 0)] * 2),
        ({"repeats": 2, "answers": 2}, [("say", 0, 1), ("say", 1, 1)] * 2),
        ({"repeats": 2, "answers": 2}, []),
        ({}, []),
    ]
    for asked, expected in steps:
        model = Moody()
        folder = await run(tmp_path, [make_cell(task, "visual_cot", **asked)], model)
        assert model.nths == expected
        after = answers_in(folder, "shades.visual_cot")
        assert before.items() <= after.items()
    assert len(after) == 8 and folder.results().tasks["shades.visual_cot"].metrics["right"].n == 2


async def test_a_failed_answer_is_asked_again_from_the_recorded_drawing(tmp_path: Path) -> None:
    cells = make_cells(1, "visual_cot", repeats=2, answers=3)
    folder = await run(tmp_path, cells, Moody(fails_at=(3, 6)))  # branch 1 of the first, and all of the second
    assert sum(line.failure is not None for line in folder.episodes("shades.visual_cot")) == 2
    model = Moody()
    folder = await run(tmp_path, cells, model)
    assert model.nths == [("say", 0, 1), ("draw", 1, 0), ("say", 1, 0), ("say", 1, 1), ("say", 1, 2)]
    lines = list(folder.episodes("shades.visual_cot"))
    assert len(lines) == 6 and not any(line.failure for line in lines)


async def test_a_failed_drawing_has_no_further_answers_until_failures_are_retried(tmp_path: Path) -> None:
    cells = make_cells(1, "visual_cot", answers=3)
    model = Speaker(drawing=lambda id: Reply())
    for retry, calls in ((False, 1), (False, 1), (True, 2)):
        folder = await run(tmp_path, cells, model, retry_failed=retry)
        assert len(model.calls) == calls
    assert [line.branch for line in folder.episodes("shades.visual_cot")] == [0]


async def test_a_repeat_is_the_same_on_resume_and_never_a_copy_of_another(tmp_path: Path) -> None:
    cells, cache = make_cells(2, "direct", "visual_cot", repeats=3, answers=2), CallCache(tmp_path / "cache")
    first = await run(tmp_path / "a", cells, Cached(Moody(), cache))
    again = Moody()
    second = await run(tmp_path / "b", cells, Cached(again, cache))
    assert again.calls == []
    for cell in first.cells:
        texts = answers_in(first, cell)
        assert texts == answers_in(second, cell) and len(set(texts.values())) == len(texts)


async def test_swapped_drawings_come_from_the_donor_repeat_of_the_same_number(tmp_path: Path) -> None:
    cache = CallCache(tmp_path / "cache")
    task = make_task(make_samples(2))
    own, other = (make_cell(task, "visual_cot", canvas, repeats=2, answers=2) for canvas in ("own", "other"))
    model = Cached(Moody(), cache)
    drawn = await run(tmp_path / "own", [own], model)
    swapped = await run(tmp_path / "other", [other], model)
    made = {line.key: line.turns[1].reply for line in drawn.episodes(own.name)}
    for line in swapped.episodes(other.name):
        donor = {"s0": "s1", "s1": "s0"}[line.sample.id]
        lent = made[donor + (f" (repeat {line.repeat})" if line.repeat else "")]
        assert lent and line.turns[1].added[-1].picture == lent.picture, line.key


def test_identical_repeats_are_counted_and_reported(tmp_path: Path) -> None:
    with serving(Speaker(lambda id: "yes", name="constant")) as url:
        given: dict[str, Any] = {"model_args": {"base_url": url}, "limit": 4, "repeats": 3, "no_cache": True}
        found = sketchmark.run("openai/constant", "maze", output_path=tmp_path, **given)
    told = "maze.direct: 8 of 8 repeats are identical to an earlier one, all repeats of 4 of 4 samples"
    assert told in found.results.warnings[0]
    assert copies(RunFolder(tmp_path), "maze.direct").identical == 8
    chance = random.Random(3)  # two possible replies: of six, most are equal to an earlier one by chance
    with serving(Speaker(lambda id: chance.choice("AB"), name="varied")) as url:
        varied = sketchmark.run(
            "openai/varied", "maze", model_args={"base_url": url}, repeats=6, limit=8, output_path=tmp_path / "v",
            no_cache=True,
        )  # fmt: skip
    found_copies = copies(RunFolder(tmp_path / "v"), "maze.direct")
    assert found_copies.of == 40 and found_copies.identical > 20 and found_copies.samples == 8
    assert not any("identical" in line for line in varied.results.warnings)


@pytest.mark.slow
def test_every_engine_and_a_merge_of_shards_give_the_same_episodes(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "mode": "direct,visual_cot", "canvas": "own,other", "limit": 4, "repeats": 2, "answers": 2,
        "model_args": "draw_slip=0.5,read_slip=0.3", "no_cache": True,
    }  # fmt: skip
    runs = {
        name: sketchmark.run("player/flawed", "maze", output_path=tmp_path / name, **given, **more).folder
        for name, more in (
            ("local", {"engine": "local"}),
            ("processes", {"engine": "processes", "replicas": 2}),
            ("0", {"shard": "0/2"}),
            ("1", {"shard": "1/2", "engine": "processes"}),
        )
    }
    merged = RunFolder(tmp_path / "merged")
    told: list[str] = []
    sketchmark_merge(merged, [runs["0"], runs["1"]], told)
    for cell in runs["local"].cells:
        expected = answers_in(runs["local"], cell)
        assert len(expected) == (8 if "direct" in cell else 16)
        assert answers_in(runs["processes"], cell) == answers_in(merged, cell) == expected
        assert merged.results().tasks[cell].metrics == runs["local"].results().tasks[cell].metrics
    path = runs["1"].episodes_file("maze.direct")
    lines = [line for line in path.read_bytes().splitlines(True) if json.loads(line).get("repeat") != 1]
    path.write_bytes(b"".join(lines))
    with pytest.raises(NotWhole) as refused:
        sketchmark_merge(RunFolder(tmp_path / "not"), [runs["0"], runs["1"]], told)
    assert "2 samples lack some of 2 repeats" in refused.value.gaps[0]


async def test_a_merge_names_samples_with_fewer_answers_than_the_others(tmp_path: Path) -> None:
    task = make_task(make_samples(4))
    drawn = [make_cell(task, "visual_cot", shard=f"{number}/2", answers=3 - number) for number in range(2)]
    parts = [await run(tmp_path / str(number), [cell], Moody()) for number, cell in enumerate(drawn)]
    merged = RunFolder(tmp_path / "merged")
    merged.path.mkdir()
    told: list[str] = []
    with pytest.raises(NotWhole) as refused:
        await merge(parts, merged, lambda *about: task, told.append)
    assert refused.value.gaps == ["shades.visual_cot: 2 samples lack some of 3 answers: all 2 of shard 1/2"]
    whole = [await run(tmp_path / "1", [make_cell(task, "visual_cot", shard="1/2", answers=3)], Moody())]
    await merge([parts[0], *whole], merged, lambda *about: task, told.append)
    assert len(list(merged.episodes("shades.visual_cot"))) == 12


def sketchmark_merge(into: RunFolder, parts: list[RunFolder], told: list[str]) -> None:
    import asyncio

    into.path.mkdir()
    asyncio.run(merge(parts, into, Catalog().played, told.append))


def test_workers_continue_episodes_that_ran_elsewhere(tmp_path: Path) -> None:
    given: dict[str, Any] = {"mode": "visual_cot", "limit": 2, "no_cache": True, "output_path": tmp_path}
    sketchmark.run("player/flawed", "maze", **given, engine="local")
    folder = sketchmark.run("player/flawed", "maze", **given, answers=2, engine="processes").folder
    found = list(folder.episodes("maze.visual_cot"))
    assert sorted(line.branch for line in found) == [0, 0, 1, 1] and not any(line.failure for line in found)
    rows = folder.scored("maze.visual_cot")
    assert all(row.usage["calls"] == 1 for row in rows.values() if row.branch)


def test_an_estimate_counts_every_repeat_and_answer(tmp_path: Path) -> None:
    task = make_task(make_samples(3))
    plain, more = (
        estimate([make_cell(task, mode, repeats=repeats, answers=answers) for mode in ("direct", "visual_cot")])
        for repeats, answers in ((1, 1), (5, 4))
    )
    assert more["shades.direct"].usage == {name: 5 * n for name, n in plain["shades.direct"].usage.items()}
    assert plain["shades.visual_cot"].usage["calls"] == 3 * 2
    assert more["shades.visual_cot"].usage["calls"] == 3 * 5 * (1 + 4)
    assert more["shades.visual_cot"].usage["episodes"] == 3 * 5 * 4
    assert more["shades.visual_cot"].usage["pictures_out"] == 3 * 5


def test_a_task_may_say_how_often_its_samples_are_repeated() -> None:
    task = make_task(make_samples(1), repeats=4)
    assert make_cell(task).repeats == 4 and make_cell(task, repeats=1).repeats == 1
    assert make_cell(task, answers=3).answers == 1 and make_cell(task, "text_cot", answers=3).answers == 3


def test_a_tasks_own_totals_are_means_over_rounds_with_a_row_per_sample() -> None:
    rows = [make_row("a", 1.0), make_row("a", 0.0, branch=1), make_row("b", 0.0), make_row("a", 1.0, repeat=1)]
    assert [[row.values["right"] for row in one] for one in rounds(rows)] == [[1.0, 0.0], [0.0, 0.0], [1.0]]
    made = totals_over(rows, lambda some: {"n": len(some), "by": {"sum": sum(r["values"]["right"] for r in some)}})
    assert made == {"n": pytest.approx(5 / 3), "by": {"sum": pytest.approx(2 / 3)}}


async def test_the_first_repeat_asks_as_a_run_without_repeats(tmp_path: Path) -> None:
    keys = []
    for repeats in (None, 3):
        model = KeyRecorder()
        task = make_task(make_samples(2))
        await run(tmp_path / str(repeats), [make_cell(task, "steps", repeats=repeats)], model)
        keys.append([key for repeat, key in model.keys if not repeat])
    assert keys[0] == keys[1] and keys[0]


class KeyRecorder(Model):
    def __init__(self) -> None:
        super().__init__("keys")
        self.keys: list[tuple[int, Any]] = []  # type: ignore[assignment]

    async def say(self, context: Context, options: Options) -> Reply:
        self.keys.append((options.repeat, (context.key(), options.key())))
        return Reply("yes")

    async def draw(self, context: Context, options: Options) -> Reply:
        self.keys.append((options.repeat, (context.key(), options.key())))
        return Reply(picture=colour("blue"))


class Killer(Speaker):
    """A model behind a server that kills the process which asks it, at one of its calls."""

    def __init__(self, at: int) -> None:
        super().__init__(lambda id: self._answered())
        self.at, self.victim, self._said = at, 0, 0

    def _answered(self) -> str:
        self._said += 1
        if self.victim and self._said == self.at:
            os.kill(self.victim, signal.SIGKILL)
        return f"reply {self._said}"


@pytest.mark.slow
def test_a_run_killed_while_repeats_are_added_loses_none_and_runs_only_the_rest(tmp_path: Path) -> None:
    path, model = tmp_path / "run", Killer(at=11)
    with serving(model) as url:
        words = [
            "run",
            "--model",
            "openai/moody",
            "--model-args",
            f"base_url={url}",
            "--tasks",
            "maze",
            "--limit",
            "5",
        ]
        command = [sys.executable, "-m", "sketchmark", *words, "-c", "1", "--no-cache", "-o", str(path), "--quiet"]
        subprocess.run(command, check=True, timeout=300)
        before = path.joinpath("episodes", "maze.direct.jsonl").read_bytes()
        assert (len(model.calls), before.count(b"\n")) == (5, 5)
        dying = subprocess.Popen([*command, "--repeats", "3"])
        model.victim = dying.pid
        assert dying.wait(300) == -signal.SIGKILL
        killed, model.victim = path.joinpath("episodes", "maze.direct.jsonl").read_bytes(), 0
        kept = killed.count(b"\n")
        assert killed.startswith(before) and 5 < kept < 15
        asked = len(model.calls)
        subprocess.run([*command, "--repeats", "3"], check=True, timeout=300)
        assert len(model.calls) - asked == 15 - kept
        folder = RunFolder(path)
        texts = answers_in(folder, "maze.direct")
        assert len(texts) == len(set(texts.values())) == 15 == len(list(folder.episodes("maze.direct")))
        assert folder.results().tasks["maze.direct"].repeats
        # repair drops a torn and a damaged line, and the same command runs these two again
        lines = folder.episodes_file("maze.direct").read_bytes().splitlines(True)
        damaged = [line.replace(b"reply", b"REPLY") if n == 7 else line for n, line in enumerate(lines)]
        folder.episodes_file("maze.direct").write_bytes(b"".join(damaged)[:-40])
        asked = len(model.calls)
        subprocess.run([sys.executable, "-m", "sketchmark", "repair", str(path)], check=True, timeout=300)
        subprocess.run([*command, "--repeats", "3"], check=True, timeout=300)
    again = answers_in(folder, "maze.direct")
    assert len(model.calls) - asked == 2 and again.keys() == texts.keys()
    assert sum(again[key] == texts[key] for key in texts) == 13


async def test_a_cost_limit_counts_every_repeat_and_answer_and_the_rest_runs_later(tmp_path: Path) -> None:
    cells = make_cells(2, "visual_cot", repeats=2, answers=2)
    spent = []
    for limit in (4.0, 100.0):
        budget = Budget(limit, lambda usage: usage.get("calls", 0))
        folder = await run(tmp_path, cells, Counted(), budget=budget)
        spent.append(budget.spent)
    found = [(line.sample.id, line.repeat, line.branch) for line in folder.episodes("shades.visual_cot")]
    assert sorted(found) == [(s, r, b) for s in ("s0", "s1") for r in range(2) for b in range(2)]
    assert 4.0 <= spent[0] < 12.0 and sum(spent) == 12.0  # a drawing and two answers, four times


class Counted(Moody):
    """A model whose every call costs one."""

    def _reply(self, id: str) -> Reply:
        return replace(super()._reply(id), usage=Usage(calls=1))

    async def draw(self, context: Context, options: Options) -> Reply:
        return replace(await super().draw(context, options), usage=Usage(calls=1, pictures_out=1))
