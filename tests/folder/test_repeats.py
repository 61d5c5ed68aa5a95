"""Several episodes of one sample: every reader distinguishes them by sample, repeat and branch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sketchmark import Options
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from sketchmark.episode.sample import of
from sketchmark.export import export
from sketchmark.files import write_json
from sketchmark.folder import RunFolder, refuse_partial_scores
from sketchmark.folder.format import episode_key
from sketchmark.folder.index import RunView
from sketchmark.folder.records import pack_episode
from sketchmark.folder.repair import repair
from sketchmark.models.cache import Cached, CallCache, call_key
from sketchmark.notebook import Run
from sketchmark.report import write_report
from sketchmark.results import grade
from sketchmark.results.aggregate import aggregate
from sketchmark.results.gains import pair
from sketchmark.results.rescore import fill_scores, settled
from sketchmark.results.summary import mean_of
from sketchmark.runs.episodes import play
from sketchmark.runs.merge import Choice, choose, merge
from sketchmark.view import make_app
from tests.runs.making import Speaker, make_cell, make_episode, make_row, make_sample, make_task, write_lines

CELL = "maze.direct"
NAMES = ["maze-0-000000", "maze-0-000000 (branch 2)", "maze-0-000000 (repeat 1)", "maze-0-000001"]


@pytest.fixture
def repeated(played: RunFolder) -> RunFolder:
    """The run `played`, with two more episodes of the first maze."""
    for path in (played.episodes_file(CELL), played.scores_file(CELL), played.scores_file(CELL, "lenient")):
        first, _ = (json.loads(line) for line in path.read_bytes().splitlines())
        first.pop("crc")
        with path.open("a") as file:
            for more in ({"repeat": 1}, {"branch": 2}):
                file.write(json.dumps({**first, **more}) + "\n")
    return played


def test_an_episode_is_named_by_its_sample_unless_repeated() -> None:
    found = [episode_key("7"), episode_key("7", 1), episode_key("7", 0, 2), episode_key("7", 1, 2)]
    assert found == ["7", "7 (repeat 1)", "7 (branch 2)", "7 (repeat 1, branch 2)"]


async def test_the_first_episode_of_a_sample_has_no_repeat_or_branch(tmp_path: Path) -> None:
    task = make_task([make_sample("a")])
    for number in (0, 3):
        folder = RunFolder(tmp_path / str(number))
        episode = replace(await play(Speaker(), make_cell(task), make_sample("a"), repeat=number), branch=number)
        assert (episode.repeat, episode.branch) == (number, number)
        write_lines(folder.episodes_file(CELL), [pack_episode(episode, 0, folder.pictures.save)])
        write_lines(folder.scores_file(CELL), [await grade(task, episode, 0, Grading())])
        for path in (folder.episodes_file(CELL), folder.scores_file(CELL)):
            line = json.loads(path.read_bytes())
            assert {key: line[key] for key in ("repeat", "branch") if key in line} == (
                {"repeat": 3, "branch": 3} if number else {}
            )
        ((_, again),) = folder.played(CELL)
        assert (again.repeat, again.branch) == (number, number)


async def test_another_repeat_or_branch_is_another_call_to_the_cache(tmp_path: Path) -> None:
    model = Speaker()
    cached = Cached(model, CallCache(tmp_path))
    wanted = [Options(), Options(repeat=1), Options(branch=1), Options(repeat=2)]
    for options in (*wanted, *wanted):
        await cached.say(of("a"), options)
    assert len(model.calls) == len({call_key(model, "say", of("a"), options) for options in wanted}) == 4
    assert Options().key().keys() == {"max_new_tokens", "temperature", "seed", "extra"}
    model.options.clear()
    cell = make_cell(make_task([make_sample("a")]), "visual_cot", "other")
    for repeat in (0, 1, 1):
        await play(cached, cell, make_sample("a"), make_sample("b"), repeat=repeat)
    repeats = [options.repeat for options in model.options]
    assert set(repeats) == {0, 1} and repeats.count(0) == len(repeats) / 2


def test_the_newest_line_of_each_repeat_and_branch_counts(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    tries = [(0, 0, 1), (1, 0, 1), (1, 0, 2), (0, 1, 1), (0, 0, 2)]
    episodes = [replace(make_episode(make_sample("x"), seconds=s), repeat=r, branch=b) for r, b, s in tries]
    write_lines(folder.episodes_file(CELL), [pack_episode(one, 0, folder.pictures.save) for one in episodes])
    write_lines(folder.scores_file(CELL), [make_row("x", s, repeat=r, branch=b) for r, b, s in tries])
    newest = [(0, 0, 2), (0, 1, 1), (1, 0, 2)]
    assert [(one.repeat, one.branch, one.seconds) for _, one in folder.played(CELL)] == newest
    assert [(*row.place[1:], row.values["right"]) for row in folder.scores(CELL)] == newest
    assert list(folder.scored(CELL)) == ["x", "x (branch 1)", "x (repeat 1)"]


def test_every_reader_distinguishes_repeats(repeated: RunFolder, tmp_path: Path) -> None:
    index = RunView.whole(repeated)
    cell = index.cells[CELL]
    assert cell.order() == list(cell.scored()) == list(repeated.scored(CELL)) == NAMES
    assert [cell.episode(name).key for name in NAMES] == NAMES
    assert [score.key for name in NAMES if (score := cell.score(name))] == NAMES
    assert sorted(name for name, _ in cell.raw_lines()) == NAMES
    refuse_partial_scores(repeated)
    assert repeated.failed(CELL) == {} and not repair(repeated).faults
    assert [NAMES[2] in repr(one) for one in Run(repeated.path).episodes()].count(True) == 1
    assert "maze" in write_report(repeated).read_text("utf-8")


def test_exports_and_the_viewer_distinguish_repeats(repeated: RunFolder, tmp_path: Path) -> None:
    _, *files = export(repeated, "lmms-eval", tmp_path / "out")
    (path,) = (file for file in files if "maze_2" in file.name or file.name.endswith("samples_maze.jsonl"))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    found = [(one["doc_id"], len(one["resps"][0]), len(one.get("sketchmark_episodes", ()))) for one in lines]
    assert found == [(0, 3, 3), (1, 1, 0)]
    with TestClient(make_app(repeated.path.parent, "token"), base_url="http://127.0.0.1:8000") as client:
        client.get("/", params={"token": "token"})

        def ask(what: str, **parameters: str) -> Any:
            answer = client.get(f"/api/{what}", params={"run": "run", "cell": CELL, **parameters})
            assert answer.status_code == 200, answer.text
            return answer.json()

        assert sorted(one["sample"] for one in ask("samples")["items"] if one["cell"] == CELL) == NAMES
        for name in NAMES:
            shown = ask("episode", sample=name)
            assert (shown["sample"], shown["record"].get("repeat", 0)) == (name, int("repeat" in name))


async def test_rescoring_and_merging_keep_every_repeat(repeated: RunFolder, tmp_path: Path) -> None:
    catalog = Catalog()
    repeated.scores_file(CELL).unlink()
    await fill_scores(repeated, {CELL: catalog.task("maze")}, Grading())
    aggregate(repeated, {CELL: catalog.task("maze")}, 0)
    assert list(repeated.scored(CELL)) == NAMES and repeated.results().tasks[CELL].n == 4
    assert [one.key for one in choose([repeated, repeated], Choice(CELL))] == NAMES
    merged = RunFolder(tmp_path / "merged")
    write_json(merged.run_file, repeated.about())
    told: list[str] = []
    await merge([repeated, repeated], merged, catalog.played, told.append)
    assert [line.key for line in merged.episodes(CELL)] == list(merged.scored(CELL)) == NAMES


def test_samples_are_paired_by_their_means_over_repeats_and_answers(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    drawn = [make_row("x", 1.0, branch=branch) for branch in range(3)]  # a failed drawing has one row
    drawn += [make_row("x", 0.0, repeat=1), make_row("y", 1.0, index=1), make_row("z", 1.0, index=2)]
    write_lines(
        folder.scores_file("a.direct"), [make_row("x", 1.0), make_row("x", 0.0, repeat=1), make_row("y", 0.0)]
    )
    write_lines(folder.scores_file("a.visual_cot"), drawn)
    direct, own = folder.scored("a.direct"), folder.scored("a.visual_cot")
    found = pair(direct, own, "right")
    assert (found.before.tolist(), found.after.tolist()) == ([0.5, 0.0], [0.5, 1.0])
    assert [one.cluster for one in found.pairs] == ["x", "y"]
    assert (found.unpaired, found.unscored, mean_of("right", own.values()).mean) == (1, 0, 2.5 / 3)
    assert mean_of("right", own.values()).n == 3


def test_rows_are_settled_among_those_of_their_own_repeat() -> None:
    task = make_task([make_sample("x")], settle="tests.folder.test_repeats:counted")
    rows = [make_row("x"), make_row("y", index=1), make_row("x", repeat=1)]
    assert [row.values["right"] for row in settled(rows, task, "strict")] == [2, 2, 1]


def counted(rows: Any, scoring: str) -> dict[str, dict[str, float | None]]:
    return {row["sample"]: {"right": float(len(rows))} for row in rows}
