"""What a merge takes from which run, what it names as missing, and what it refuses."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Model, Reply
from sketchmark.errors import BadInput, CallFailed, RunConflict
from sketchmark.files import write_json
from sketchmark.files.jsonl import is_intact, is_sealed
from sketchmark.folder import RunFolder
from sketchmark.folder.lock import new_folder
from sketchmark.report import write_report
from sketchmark.runs.merge import NotWhole, merge
from sketchmark.settings import Shard
from tests.runs.making import Speaker, lines_in, make_config, make_samples, make_task, planned, run


@dataclass
class Parts:
    """Small shards of a task in which a test decides every answer."""

    root: Path
    count: int = 6

    async def play(
        self,
        name: str,
        shard: Shard | None = None,
        answer: Callable[[str], Reply | str] = lambda id: "yes",
        config: dict[str, Any] | None = None,
        model: Model | None = None,
        how: dict[str, Any] | None = None,
        **asked: Any,
    ) -> RunFolder:
        model = model or Speaker(answer)
        tasks = self.root / "tasks" / name  # a task file is read once
        tasks.mkdir(parents=True, exist_ok=True)
        cells = planned(tasks, config or make_config(make_samples(self.count)), model, shard=shard, **asked)
        return await run(self.root / name, cells, model, **(how or {}))

    async def merged(self, *runs: RunFolder, partial: bool = False, told: list[str] | None = None) -> RunFolder:
        """As the command does it."""
        out = self.root / "merged"
        shutil.rmtree(out, ignore_errors=True)
        with new_folder(out, "merging") as path:
            made = RunFolder(path)
            task = make_task(make_samples(self.count))
            self.failed = await merge(
                runs,
                made,
                lambda name, source, data: task,
                (told if told is not None else []).append,
                partial=partial,
            )
            write_report(made)
        return RunFolder(out)


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return Parts(tmp_path)


async def test_samples_that_are_missing_are_named_by_number_and_shard(parts: Parts) -> None:
    one = await parts.play("a", Shard(0, 2))
    other = await parts.play("b", Shard(1, 2))
    _keep_lines(other, lambda line: line["index"] != 3)
    with pytest.raises(NotWhole) as found:
        await parts.merged(one, other)
    assert found.value.gaps == ["shades.direct: 1 of 6 samples are missing: 1 of shard 1/2, number 3"]
    merged = await parts.merged(one, other, partial=True)
    assert merged.results().tasks["shades.direct"].episodes == 5
    lines = merged.episodes_file("shades.direct").read_bytes().splitlines(keepends=True)
    assert all(is_sealed(line) and is_intact(line) for line in lines), "also those that had no checksum"


async def test_where_no_run_came_to_its_end_the_rest_is_not_taken_for_nothing(parts: Parts) -> None:
    one, other = await parts.play("a", Shard(0, 2)), await parts.play("b", Shard(1, 2))
    for folder in (one, other):
        about = folder.about()
        about.totals = {}
        write_json(folder.run_file, about)
    with pytest.raises(NotWhole) as found:
        await parts.merged(one, other)
    assert found.value.gaps == [
        "shades.direct: no run reached the end of the samples, so the number of missing ones is unknown"
    ]


async def test_the_same_sample_in_two_runs_counts_once_and_that_is_said(parts: Parts) -> None:
    whole, part = await parts.play("whole"), await parts.play("part", Shard(0, 3))
    told: list[str] = []
    merged = await parts.merged(whole, part, told=told)
    assert "shades.direct: 2 in several runs with the same answer, counted once: s0, s3" in told
    assert lines_in(merged.episodes_file("shades.direct")) == lines_in(merged.scores_file("shades.direct")) == 6


async def test_two_different_answers_to_one_question_are_refused(parts: Parts) -> None:
    whole, part = await parts.play("whole"), await parts.play("part", Shard(0, 3), lambda id: "no")
    with pytest.raises(
        RunConflict, match=r"s0 \(and 1 more\) was answered differently in .*whole and .*part \(leave"
    ):
        await parts.merged(whole, part)
    assert not (parts.root / "merged").exists()


def _lost(id: str) -> Reply:
    raise CallFailed("connection", "the line went dead")


def _no_picture(id: str) -> Reply:
    raise CallFailed("no_picture", "it drew nothing", blames_model=True)


async def test_an_answer_wins_over_a_failure_whichever_run_comes_first(parts: Parts) -> None:
    fine = await parts.play("fine")
    broken = await parts.play("broken", Shard(0, 3), _lost)
    for runs in ((fine, broken), (broken, fine)):
        told: list[str] = []
        merged = await parts.merged(*runs, told=told)
        cell = merged.results().tasks["shades.direct"]
        assert (cell.n, cell.failures, parts.failed) == (6, {}, 0)
        assert "shades.direct: failed in one run and not in another, the latter counts: s0, s3" in told


async def test_what_failed_everywhere_is_counted_and_played_again_by_the_next_start(parts: Parts) -> None:
    one = await parts.play("a", Shard(0, 2), _lost)
    other = await parts.play("b", Shard(1, 2))
    merged = await parts.merged(one, other)
    assert parts.failed == 3 and merged.results().tasks["shades.direct"].failures == {"connection": 3}
    model = Speaker()
    await parts.play("merged", model=model)
    assert sorted(model.asked) == ["s0", "s2", "s4"]


async def test_the_models_own_failure_gives_way_to_a_later_answer_and_to_no_earlier_one(parts: Parts) -> None:
    asked: dict[str, Any] = {"mode": "visual_cot"}
    failing = Speaker(drawing=_no_picture)
    first = await parts.play("first", model=failing, **asked)
    later = await parts.play("later", Shard(0, 3), **asked)
    merged = await parts.merged(first, later)
    assert merged.results().tasks["shades.visual_cot"].failures == {"no_picture": 4}
    latest = await parts.play("latest", Shard(0, 3), model=failing, **asked)
    with pytest.raises(RunConflict, match="answered differently"):
        await parts.merged(later, latest, partial=True)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"model": Speaker(name="another")}, "model.name"),
        ({"seed": 1}, "seed: 0 -> 1"),
        ({"limit": 5}, "limit: null -> 5"),
        ({"steps": "model"}, "steps: "),
        ({"gen_kwargs": {"temperature": 0.7}}, "play.saying.temperature"),
        ({"model_args": {"size": "large"}}, "model_args.size"),
    ],
)
async def test_runs_that_were_played_differently_are_refused_and_the_difference_is_named(
    parts: Parts, other: dict[str, Any], words: str
) -> None:
    one = await parts.play("a", Shard(0, 2))
    two = await parts.play("b", Shard(1, 2), **other)
    with pytest.raises(RunConflict, match=words):
        await parts.merged(one, two)


async def test_other_prompts_are_refused(parts: Parts) -> None:
    one = await parts.play("a", Shard(0, 2))
    config = make_config(make_samples(6))
    modes = json.loads(json.dumps(config["modes"]))
    modes["direct"]["prompts"]["ask"] = "What colour?"
    two = await parts.play("b", Shard(1, 2), config={**config, "modes": modes})
    with pytest.raises(RunConflict, match=r"shades.direct was run differently in .*: play.prompts.ask"):
        await parts.merged(one, two)


async def test_other_data_are_refused(parts: Parts) -> None:
    one = await parts.play("a")
    changed = await parts.play("b", Shard(0, 2), config=make_config(make_samples(6, shade="blue")))
    with pytest.raises(RunConflict, match=r"sample s0 of shades.direct is not the same in .*: the data differ"):
        await parts.merged(one, changed)
    renamed = [*make_samples(6)[1:], make_samples(7)[6]]
    moved = await parts.play("c", Shard(1, 2), config=make_config(renamed))
    with pytest.raises(RunConflict, match="the data differ"):
        await parts.merged(one, moved)
    longer = await parts.play("d", Shard(1, 2), config=make_config(make_samples(8)))
    with pytest.raises(RunConflict, match=r"shades.direct has 6 samples in .* and 8 in .*: the data differ"):
        await parts.merged(one, longer)


async def test_servers_at_different_addresses_are_one_model_and_that_is_said(parts: Parts) -> None:
    class Served(Speaker):
        def __init__(self, address: str) -> None:
            super().__init__()
            self.address = address

        def identity(self) -> dict[str, Any]:
            return {"name": "speaker", "base_url": self.address}

    runs = []
    for number, host in enumerate(("http://node1/v1", "http://node2/v1")):
        asked: dict[str, Any] = {"model_args": {"base_url": host}}
        runs.append(await parts.play(f"part{number}", Shard(number, 2), model=Served(host), **asked))
    told: list[str] = []
    merged = await parts.merged(*runs, told=told)
    assert any("different addresses" in line and "http://node2/v1" in line for line in told)
    assert merged.about().cells["shades.direct"].model["base_url"] == "http://node1/v1"


async def test_an_episode_whose_picture_is_lost_is_a_gap(parts: Parts) -> None:
    one, other = await parts.play("a", Shard(0, 2)), await parts.play("b", Shard(1, 2), config=_blue())
    for path in (one.path / "pictures").glob("*/*"):
        path.unlink()
    with pytest.raises(NotWhole) as found:
        await parts.merged(one, other)
    assert found.value.gaps == [
        "shades.direct: 3 of 6 samples are missing: all 3 of shard 0/2",
        "shades.direct: pictures are lost of s0, s2, s4",
    ]


def _blue() -> dict[str, Any]:
    """The odd ones with another picture, so that no picture is in both shards."""
    reds, blues = make_samples(6), make_samples(6, pictures=make_samples(1, shade="blue")[0].pictures)
    return make_config([blues[n] if n % 2 else reds[n] for n in range(6)])


async def test_scores_are_taken_over_and_a_judge_is_not_asked_again(parts: Parts) -> None:
    judge = Speaker(name="judge")
    runs = []
    for number in range(2):
        how = {"judge": judge}
        runs.append(await parts.play(f"judged{number}", Shard(number, 2), how=how))
    silent = {"scored": False, "values": {}, "flags": ["judge_failed"], "notes": {"judge_failed": "no verdict"}}
    for folder in runs:
        _keep_lines(
            folder, lambda row: {**row, **(silent if row["index"] == 1 else {"values": {"right": 0.25}})}, "scores"
        )
    merged = await parts.merged(*runs)
    assert {row.judge for row in merged.scores("shades.direct")} == {"judge"}
    cell = merged.results().tasks["shades.direct"]
    assert (cell.metrics["right"].mean, cell.n, cell.failures) == (0.25, 5, {"judge_failed": 1})
    _keep_lines(runs[0], lambda row: row["index"] != 0, "scores")
    with pytest.raises(BadInput, match=r"1 episodes of shades.direct in .*judged0 have no scores"):
        await parts.merged(*runs)


async def test_episodes_without_scores_are_scored_where_no_judge_is_needed(parts: Parts) -> None:
    runs = [await parts.play(f"part{number}", Shard(number, 2)) for number in range(2)]
    runs[0].scores_file("shades.direct").unlink()
    merged = await parts.merged(*runs)
    assert merged.results().tasks["shades.direct"].n == 6


async def test_the_score_of_an_older_try_is_not_taken_for_the_newer_ones(parts: Parts) -> None:
    await parts.play("a", Shard(0, 2), _lost)
    runs = [await parts.play("a", Shard(0, 2)), await parts.play("b", Shard(1, 2))]
    _keep_lines(runs[0], lambda row: not row["scored"], "scores")
    merged = await parts.merged(*runs)
    assert (merged.results().tasks["shades.direct"].n, parts.failed) == (6, 0)


async def test_shards_scored_by_different_rules_are_refused(parts: Parts) -> None:
    one = await parts.play("a", Shard(0, 2))
    two = await parts.play("b", Shard(1, 2), how={"scoring": "official"})
    with pytest.raises(
        RunConflict, match=r"is scored by strict in .* and by official in .* \(sketchmark score .*b --"
    ):
        await parts.merged(one, two)


async def test_a_scoring_beside_the_runs_own_is_merged_too(parts: Parts) -> None:
    runs = [
        await parts.play(f"part{number}", Shard(number, 2), how={"scoring": "strict,official"}) for number in range(2)
    ]
    merged = await parts.merged(*runs)
    assert merged.results().tasks["shades.direct"].scorings["official"].n == 6


async def test_links_in_a_strangers_shard_are_not_followed(parts: Parts) -> None:
    one = await parts.play("a")
    path = one.episodes_file("shades.direct")
    path.rename(parts.root / "elsewhere.jsonl")
    path.symlink_to(parts.root / "elsewhere.jsonl")
    with pytest.raises(BadInput, match="is a link"):
        await parts.merged(one)
    assert not (parts.root / "merged").exists() and not (parts.root / ".merged.merging").exists()


async def test_a_folder_that_is_there_is_not_merged_over(parts: Parts) -> None:
    one = await parts.play("a")
    before = (one.path / "results.json").read_bytes()
    with pytest.raises(RunConflict, match="is there already"), new_folder(one.path, "merging"):
        pass
    assert (one.path / "results.json").read_bytes() == before


def _keep_lines(folder: RunFolder, change: Callable[[dict[str, Any]], Any], where: str = "episodes") -> None:
    """Lines as `change` gives them, without the checksum; none where it gives False."""
    path = folder.path / where / "shades.direct.jsonl"
    kept = []
    for line in path.read_text().splitlines():
        record = json.loads(line)
        record.pop("crc", None)
        found = change(record)
        if found:
            kept.append(json.dumps(record if found is True else found) + "\n")
    path.write_text("".join(kept))
