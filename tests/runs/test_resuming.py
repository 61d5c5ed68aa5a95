"""A resumed run ends like one without interruption, and does nothing twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Reply, Sample
from sketchmark.episode.sample import Draft, Drafts
from sketchmark.errors import CallFailed, RunConflict, RunStopped
from sketchmark.folder.format import EpisodeLine
from sketchmark.settings import Shard
from tests.runs.making import (
    SHELF,
    SHELF_ASKED,
    Looker,
    Speaker,
    colour,
    lines_in,
    make_cell,
    make_cells,
    make_sample,
    make_samples,
    make_task,
    run,
)


def _refused(id: str) -> str:
    raise CallFailed("connection", "nothing listens there", stops_run=True)


def _failing(*ids: str) -> Callable[[str], str]:
    """Answers that fail for the samples of a list, which a test may change."""

    def answer(id: str) -> str:
        if id in ids:
            raise CallFailed("connection", "dead")
        return "yes"

    return answer


async def test_the_same_command_again_makes_no_call_and_changes_nothing(tmp_path: Path) -> None:
    model, cells = Speaker(), make_cells(3, "direct", "visual_cot")
    await run(tmp_path, cells, model)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    results = (tmp_path / "results.json").read_bytes()
    assert len(model.calls) == 3 + 6 and len(files) == 4
    await run(tmp_path, cells, model)
    assert len(model.calls) == 9
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")} == files
    assert (tmp_path / "results.json").read_bytes() == results


async def test_a_larger_limit_runs_only_new_samples(tmp_path: Path) -> None:
    model = Speaker()
    await run(tmp_path, make_cells(4, limit=2), model)
    folder = await run(tmp_path, make_cells(4, limit=4), model)
    assert model.asked == ["s0", "s1", "s2", "s3"]
    assert [(row.sample, row.index) for row in folder.scores("shades.direct")] == [(f"s{n}", n) for n in range(4)]


async def test_a_gap_is_filled_and_keeps_its_place(tmp_path: Path) -> None:
    cells, model = make_cells(4), Speaker()
    folder = await run(tmp_path, cells, Speaker())
    path = folder.episodes_file("shades.direct")
    path.write_text("".join(line + "\n" for line in path.read_text().splitlines() if '"id":"s1"' not in line))
    await run(tmp_path, cells, model)
    assert model.asked == ["s1"]
    assert {record.sample.id: record.index for record in folder.episodes("shades.direct")} == {
        f"s{number}": number for number in range(4)
    }


@pytest.mark.parametrize("left", [1, 20, -1])
async def test_an_episode_truncated_by_a_kill_is_run_again(tmp_path: Path, left: int) -> None:
    cells, model = make_cells(3), Speaker()
    folder = await run(tmp_path, cells, Speaker())
    path = folder.episodes_file("shades.direct")
    *whole, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole, last[:left]]))
    await run(tmp_path, cells, model)
    assert model.asked == ["s2"] and lines_in(path) == 3
    assert len(list(folder.episodes("shades.direct"))) == 3


async def test_changed_data_are_refused_only_where_episodes_exist(tmp_path: Path) -> None:
    cells, model = make_cells(3, limit=2), Speaker()
    folder = await run(tmp_path, cells, Speaker())
    before = folder.episodes_file("shades.direct").read_bytes()
    SHELF["shades"][1:] = [make_sample("s1", "green"), make_sample("s2", "green")]
    with pytest.raises(RunConflict, match=r"sample s1 of shades\.direct is not the one .*the data changed.*--fresh"):
        await run(tmp_path, [make_cell(cells[0].task, limit=3)], model)
    assert model.asked == [] and folder.episodes_file("shades.direct").read_bytes() == before
    SHELF["shades"][1] = make_sample("s1")
    await run(tmp_path, [make_cell(cells[0].task, limit=3)], model)
    assert model.asked == ["s2"]


@pytest.mark.parametrize(("lost", "again"), [("s0", 4), ("s1", 4), ("s2", 4), ("s1", 2), ("s2", 3)])
async def test_a_missing_sample_with_an_episode_is_a_conflict_before_any_new_call(
    tmp_path: Path, lost: str, again: int
) -> None:
    model, task = Speaker(), make_task(make_samples(6))
    await run(tmp_path, [make_cell(task, limit=3)], Speaker())
    SHELF["shades"] = [sample for sample in SHELF["shades"] if sample.id != lost]
    told = rf"sample {lost} of shades\.direct was run before and is not .*: the data changed .*--fresh"
    for limit in (again, None):
        with pytest.raises(RunConflict, match=told):
            await run(tmp_path, [make_cell(task, limit=limit)], model)
    assert model.asked == []


async def test_missing_samples_at_the_end_or_with_failures_are_a_conflict_too(tmp_path: Path) -> None:
    """A failure would be counted for ever, and never be run again."""
    task = make_task(make_samples(4))
    await run(tmp_path, [make_cell(task)], Speaker(_failing("s1")))
    SHELF["shades"] = SHELF["shades"][:2]
    with pytest.raises(RunConflict, match=r"sample s2 .* is not there any more \(nor are 1 more\): the data changed"):
        await run(tmp_path, [make_cell(task)], Speaker())
    await run(tmp_path, [make_cell(task, limit=2)], Speaker(_failing("s1")))
    SHELF["shades"] = [sample for sample in make_samples(4) if sample.id != "s1"]
    with pytest.raises(RunConflict, match=r"sample s1 .* is not there any more: the data changed"):
        await run(tmp_path, [make_cell(task)], Speaker())


@pytest.mark.parametrize("canvas", ["own", "other"])
@pytest.mark.parametrize("at", [0, 2, 3])
async def test_new_samples_anywhere_are_run_and_none_is_lost(tmp_path: Path, at: int, canvas: str) -> None:
    model, task = Speaker(), make_task(make_samples(3))
    folder = await run(tmp_path, [make_cell(task, "visual_cot", canvas)], Speaker())
    SHELF["shades"][at:at] = [make_sample("new0"), make_sample("new1")]
    await run(tmp_path, [make_cell(task, "visual_cot", canvas)], model)
    assert {"new0", "new1"} <= set(model.asked) and folder.results().tasks["shades.visual_cot"].n == 5


async def test_a_sample_that_moved_out_of_a_limit_or_a_shard_is_a_conflict(tmp_path: Path) -> None:
    """It would be counted with the one in its place, or by two shards."""
    task, part = make_task(make_samples(4)), Shard(0, 2)
    await run(tmp_path / "limit", [make_cell(task, limit=2)], Speaker())
    await run(tmp_path / "part", [make_cell(task, shard=part)], Speaker())
    SHELF["shades"].append(make_sample("at the end"))
    await run(tmp_path / "limit", [make_cell(task, limit=2)], Speaker())
    await run(tmp_path / "part", [make_cell(task, shard=part)], Speaker())
    SHELF["shades"].insert(1, make_sample("within"))
    with pytest.raises(RunConflict, match=r"sample s1 .* is not among the first 2 any more: the data changed"):
        await run(tmp_path / "limit", [make_cell(task, limit=2)], Speaker())
    with pytest.raises(RunConflict, match=r"sample .* is not in shard 0/2 any more .*: the data changed"):
        await run(tmp_path / "part", [make_cell(task, shard=part)], Speaker())


async def test_data_that_only_grew_are_read_once(tmp_path: Path) -> None:
    """One more pass is for failures. The search for existing episodes takes none, and only ids are kept."""
    task = make_task(make_samples(3))
    await run(tmp_path, [make_cell(task)], Speaker(_failing("s0")))
    SHELF["shades"] += [make_sample("s3")]
    SHELF_ASKED.clear()
    await run(tmp_path, [make_cell(task)], Speaker())
    assert len(SHELF_ASKED) == 2


async def test_an_episode_that_failed_through_no_fault_of_the_model_is_run_again(tmp_path: Path) -> None:
    cells, model, looker = make_cells(3), Speaker(_failing("s1")), Looker()
    folder = await run(tmp_path, cells, model, looker)
    cell = folder.results().tasks["shades.direct"]
    assert (cell.n, cell.episodes, cell.failures) == (2, 3, {"connection": 1})
    assert [told[2] for told in looker.told if told[0] == "played"] == [False, True, False]
    model.answer = lambda id: "yes"
    await run(tmp_path, cells, model)
    assert model.asked == ["s0", "s1", "s2", "s1"]
    cell = folder.results().tasks["shades.direct"]
    assert (cell.n, cell.episodes, cell.failures) == (3, 3, {})
    await run(tmp_path, cells, model, retry_failed=True)
    assert len(model.calls) == 4, "nothing failed any more"


async def test_model_failures_are_kept_until_they_are_to_be_retried(tmp_path: Path) -> None:
    shy = True
    model = Speaker(drawing=lambda id: Reply(picture=None if shy and id == "s1" else colour("blue")))
    cells = make_cells(3, "visual_cot")
    folder = await run(tmp_path, cells, model)
    assert folder.results().tasks["shades.visual_cot"].failures == {"no_picture": 1}
    shy = False
    model.calls.clear()
    await run(tmp_path, cells, model)
    assert model.calls == [], "it had its chance"
    await run(tmp_path, cells, model, retry_failed=True)
    assert set(model.asked) == {"s1"} and folder.results().tasks["shades.visual_cot"].failures == {}


@pytest.mark.parametrize("canvas", ["own", "other"])
async def test_resuming_makes_no_sample_that_is_finished(tmp_path: Path, canvas: str) -> None:
    """But for the first, which shows that the generator is still the same."""
    made: list[str] = []
    samples = make_samples(6)

    def draft(sample: Sample) -> Draft:
        return Draft(sample.id, lambda: made.append(sample.id) or sample)  # type: ignore[func-returns-value]

    SHELF["drafts"] = samples
    task = make_task(samples, source={"use": "tests.runs.test_resuming:drafted", "shelf": "drafts"})
    DRAFTED["drafts"] = lambda: Drafts(map(draft, SHELF["drafts"]))
    await run(tmp_path, [make_cell(task, "visual_cot", canvas, limit=4)], Speaker())
    made.clear()
    model = Speaker()
    await run(tmp_path, [make_cell(task, "visual_cot", canvas, limit=6)], model)
    assert made == ["s0", "s4", "s5"] and set(model.asked) == {"s4", "s5"}
    SHELF["drafts"] = [make_sample("s0", "green"), *samples[1:]]
    with pytest.raises(RunConflict, match=r"sample s0 .*the data changed"):
        await run(tmp_path, [make_cell(task, "visual_cot", canvas, limit=6)], model)


DRAFTED: dict[str, Callable[[], Drafts]] = {}


def drafted(*, seed: int, data: Path | None, shelf: str) -> Drafts:
    return DRAFTED[shelf]()


@pytest.mark.parametrize(
    "lost",
    [
        lambda record: record.sample.pictures["picture"],
        lambda record: record.sample.pictures["more"][1],
        lambda record: record.sample.frames[0],
        lambda record: record.turns[1].added[-1].picture,
        lambda record: record.turns[1].reply.picture,
    ],
)
@pytest.mark.parametrize("emptied", [False, True])
async def test_an_episode_with_a_lost_image_is_run_again(
    tmp_path: Path, lost: Callable[[EpisodeLine], str], emptied: bool
) -> None:
    shades = {"s0": ("red", "green", "cyan", "pink"), "s1": ("black", "brown", "lime", "navy")}
    drawn = {"s0": "blue", "s1": "orange"}
    samples: list[Sample] = []
    for id, (one, two, three, true) in shades.items():
        pictures = {"picture": colour(one), "more": [colour(two), colour(three)]}
        samples.append(make_sample(id, pictures=pictures, frames=lambda true=true: [colour(true)]))
    cells = [make_cell(make_task(samples), "visual_cot", "blank")]
    model = Speaker(drawing=lambda id: Reply(picture=colour(drawn[id])))
    folder = await run(tmp_path, cells, model)
    record = next(folder.episodes("shades.visual_cot"))
    name = lost(record)
    if emptied:
        folder.pictures.path(name).write_bytes(b"")
    else:
        folder.pictures.path(name).unlink()
    model.calls.clear()
    await run(tmp_path, cells, model)
    shared = name == f"{colour('white').digest}.png"  # what both were shown instead of their drawings
    assert set(model.asked) == ({"s0", "s1"} if shared else {"s0"})
    assert folder.pictures.holds(name) and folder.pictures.load(name)


async def test_another_description_is_refused_and_the_changes_are_named(tmp_path: Path) -> None:
    await run(tmp_path, make_cells(2), Speaker())
    before = (tmp_path / "run.json").read_bytes()
    modes = {"direct": {"protocol": "direct", "prompts": {"inputs": ["{question}"], "ask": "Why?"}}}
    changed = make_task(make_samples(2), modes=modes, headline="other", breakdown=["kind"])
    with pytest.raises(RunConflict, match=r"holds shades\.direct with other settings") as refused:
        await run(tmp_path, [make_cell(changed)], Speaker())
    said = str(refused.value)
    assert 'breakdown: [] -> ["kind"]; headline: "right" -> "other"; play.prompts.ask' in said
    assert (
        said.endswith("and 1 more (use another --output_path, or --fresh to start over)")
        and "play.prompts.inputs" not in said
    )
    assert (tmp_path / "run.json").read_bytes() == before


async def test_up_to_three_changes_are_all_named_and_the_model_is_one(tmp_path: Path) -> None:
    folder = await run(tmp_path, make_cells(2), Speaker())
    with pytest.raises(RunConflict) as refused:
        await run(tmp_path, make_cells(2, seed=1, steps="model", on_draw_failure="continue"), Speaker())
    said = str(refused.value)
    assert all(name in said for name in ("on_draw_failure", "source.seed: 0 -> 1", "steps")) and "more" not in said
    with pytest.raises(RunConflict, match=r'model\.name: "speaker" -> "other"'):
        await run(tmp_path, make_cells(2), Speaker(name="other"))
    with pytest.raises(RunConflict, match=r"holds shades\.direct of another model, speaker \(use another --output"):
        await run(tmp_path, make_cells(2, "visual_cot"), Speaker(name="other"))
    assert folder.cells == ["shades.direct"] and folder.results().tasks["shades.direct"].n == 2


async def test_a_model_that_never_replied_is_forgotten(tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        await run(tmp_path, make_cells(3), Speaker(_refused, name="wrong"))
    folder = await run(tmp_path, make_cells(2, "visual_cot"), Speaker(name="right"))
    assert folder.cells == list(folder.results().tasks) == ["shades.visual_cot"]
    assert sorted(file.name for file in tmp_path.rglob("*.jsonl")) == ["shades.visual_cot.jsonl"] * 2


async def test_other_arguments_of_the_same_model_are_a_warning(tmp_path: Path) -> None:
    def speaker(**arguments: Any) -> Speaker:
        model = Speaker()
        model.arguments = arguments
        return model

    await run(tmp_path, make_cells(2), speaker(detail="low"))
    folder = await run(tmp_path, make_cells(2, "visual_cot"), speaker(detail="low", draw_size=512))
    assert folder.results().warnings == []
    folder = await run(tmp_path, make_cells(2, "text_cot"), speaker(detail="high"))
    assert folder.results().warnings == [
        'shades.text_cot was run with other model arguments than shades.direct: detail: "low" -> "high"'
    ]


async def test_a_folder_may_receive_one_mode_after_the_other(tmp_path: Path) -> None:
    model = Speaker(lambda id: "yes")
    folder = await run(tmp_path, make_cells(2, "direct"), model)
    started = folder.about().started
    written = json.loads(folder.run_file.read_text())
    folder.run_file.write_text(json.dumps({**written, "started": "2001-01-01T00:00:00Z"}))
    await run(tmp_path, make_cells(2, "visual_cot"), model)
    assert folder.cells == ["shades.direct", "shades.visual_cot"]
    assert list(folder.results().tasks) == ["shades.direct", "shades.visual_cot"]
    assert [(gain.mode, gain.n) for gain in folder.results().gains] == [("visual_cot", 2)]
    assert folder.about().started == "2001-01-01T00:00:00Z", "it began when it first began"
    assert started.endswith("Z") and len(started) == 20


async def test_neighbours_get_each_others_drawings_also_in_a_resumed_run(tmp_path: Path) -> None:
    shades = {"s0": "blue", "s1": "orange", "s2": "lime", "s3": "navy"}
    model = Speaker(drawing=lambda id: Reply(picture=colour(shades[id])))
    task = make_task(make_samples(4))
    for limit in (2, 4):
        folder = await run(tmp_path, [make_cell(task, "visual_cot", "other", limit=limit)], model)
    seen = {r.sample.id: r.turns[1].added[-1].picture for r in folder.episodes("shades.visual_cot")}
    lent = {"s0": "orange", "s1": "blue", "s2": "navy", "s3": "lime"}
    assert seen == {id: f"{colour(shade).digest}.png" for id, shade in lent.items()}


async def test_progress_counts_what_was_done_before_and_the_total_if_known(tmp_path: Path) -> None:
    looker, name = Looker(), "shades.direct"
    await run(tmp_path, make_cells(3, limit=1), Speaker(), looker)
    await run(tmp_path, make_cells(3, limit=3), Speaker(), looker)
    played = ("played", name, False)
    assert looker.told == [
        *(("begin", name, 1, 0), played, ("end", name)),
        *(("begin", name, 3, 1), played, played, ("end", name)),
    ]
    looker.told.clear()
    await run(tmp_path / "a", [make_cell(make_task(make_samples(2), default_limit=2))], Speaker(), looker)
    await run(tmp_path / "b", [make_cell(make_task(make_samples(2)))], Speaker(), looker)
    assert [told[2] for told in looker.told if told[0] == "begin"] == [2, None]


def _at(address: str, answer: Callable[[str], Reply | str] = lambda id: "yes") -> Speaker:
    model = Speaker(answer)
    model.arguments = {"base_url": address}
    return model


async def test_a_corrected_address_is_no_conflict_before_the_first_reply(tmp_path: Path) -> None:
    with pytest.raises(RunStopped):
        await run(tmp_path, make_cells(3), _at("http://wrong", _refused))
    folder = await run(tmp_path, make_cells(3), _at("http://right"))
    cell = folder.results().tasks["shades.direct"]
    assert (cell.n, cell.episodes, cell.failures) == (3, 3, {})
    with pytest.raises(RunConflict, match="base_url"):
        await run(tmp_path, make_cells(3), _at("http://another"))
    assert folder.results().tasks["shades.direct"].n == 3
