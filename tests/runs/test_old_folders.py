"""A run folder that Sketchmark 0.1.0 wrote opens everywhere, resumes, and can be scored again.

`folder_0_1_0`: player/sketcher on maze and sliding, direct and visual_cot on the canvases own and blank, two samples,
seed 0, scored strict and lenient.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import sketchmark
from sketchmark.cli import root
from sketchmark.comparison import compare
from sketchmark.export import export
from sketchmark.files.plain import plain
from sketchmark.report import write_report
from sketchmark.runs.format import FORMAT
from sketchmark.runs.index import RunIndex
from sketchmark.runs.store import RunFolder
from sketchmark.view.app import make_app

OLD = Path(__file__).parent / "folder_0_1_0"
CELLS = [f"{task}.{mode}" for task in ("maze", "sliding") for mode in ("direct", "visual_cot", "visual_cot.blank")]
GROUPS = {"maze": {"steps": 9, "size": "6x6"}, "sliding": {"moves": 1, "board": "3x3"}}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    shutil.copytree(OLD, tmp_path / "run")
    return RunFolder.open(tmp_path / "run")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def _change_lines(folder: RunFolder, change: Any) -> None:
    for path in folder.path.glob("*/*.jsonl"):
        path.write_text("".join(json.dumps(change(line)) + "\n" for line in _lines(path)))


def test_it_is_what_the_tests_take_it_for() -> None:
    about = json.loads((OLD / "run.json").read_bytes())
    assert about["format"] == 1 and about["sketchmark"] == "0.1.0" and list(about["cells"]) == CELLS
    for path in OLD.glob("*/*.jsonl"):
        assert all("filed" in (line if path.parent.name == "scores" else line["sample"]) for line in _lines(path))


def test_its_lines_say_groups_where_they_said_filed(folder: RunFolder) -> None:
    for cell in CELLS:
        written = _lines(folder.episodes_file(cell))
        assert [line.sample.groups for line in folder.episodes(cell)] == [line["sample"]["filed"] for line in written]
        written = _lines(folder.scores_file(cell))
        assert [row.groups for row in folder.scores(cell)] == [line["filed"] for line in written]
        assert [row.groups for row in folder.scored(cell).values()] == [line["filed"] for line in written]
    assert next(folder.scores("maze.direct")).groups == GROUPS["maze"]


def test_its_results_are_read_as_they_were_written(folder: RunFolder) -> None:
    results = folder.results()
    assert json.loads(json.dumps(plain(results))) == json.loads((OLD / "results.json").read_bytes())
    assert list(results.tasks["maze.direct"].scorings) == ["lenient"] and len(results.gains) == 4


def test_it_opens_in_the_report(folder: RunFolder) -> None:
    page = write_report(folder).read_text("utf-8")
    assert "maze: score by steps" in page and "Does it use what it drew?" in page


def test_it_opens_in_a_comparison(folder: RunFolder) -> None:
    found = compare([folder.path])
    assert [(row.task, row.difference.n) for row in found.rows] == [("maze", 2), ("sliding", 2)]
    assert [breakdown.key for breakdown in found.rows[0].breakdowns] == ["steps"]
    assert [table.task for table in found.canvases] == ["maze", "sliding"]


def test_it_opens_in_the_viewer(folder: RunFolder) -> None:
    with TestClient(make_app(folder.path.parent, "token"), base_url="http://127.0.0.1:8000") as client:
        client.get("/", params={"token": "token"})

        def ask(what: str) -> Any:
            answer = client.get(f"/api/{what}")
            assert answer.status_code == 200, answer.text
            return answer.json()

        (run,) = ask("runs")["runs"]
        assert run["model"] == "player/sketcher" and run["episodes"] == 12 and len(run["standings"]) == 6
        assert len(ask("run?run=run")["curves"]) >= 1
        assert ask("samples?run=run&groups=steps%3D9")["total"] == 3
        assert ask("samples?run=run&text=precise+maze+solver")["total"] == 6
        episode = ask("episode?run=run&cell=maze.visual_cot&sample=maze-0-000000")
        assert episode["record"]["sample"]["groups"] == episode["score"]["groups"] == GROUPS["maze"]
        assert "filed" not in episode["record"]["sample"]


def test_it_is_exported(folder: RunFolder, tmp_path: Path) -> None:
    _, *samples = export(folder, "lmms-eval", tmp_path / "out")
    assert len(samples) == 6
    assert _lines(samples[0])[0]["sketchmark_groups"] == GROUPS["maze"]


def _as_then(folder: RunFolder) -> Any:
    """results.json without what 0.1.0 did not count: replies cut or unparsed, what scorings read differently, and the
    verdict on a gain."""
    found: Any = plain(folder.results())
    assert all((gain.pop("p_holm"), gain.pop("verdict")) == (1.0, "unclear") for gain in found["gains"])
    for cell in found["tasks"].values():
        for one in (cell, *cell["scorings"].values()):
            assert (one.pop("cut"), one.pop("unparsed")) == (0.0, 0.0)
            against = one.pop("against", None)
            assert (against is None) == (one is cell)
            assert against is None or (against["n"], against["read_differently"]) == (one["n"], 0)
    return json.loads(json.dumps(found))


def test_it_can_be_scored_again_and_the_scores_are_the_same(folder: RunFolder) -> None:
    before = json.loads((OLD / "results.json").read_bytes())
    root.main(["score", str(folder.path), "--scoring", "strict,lenient"], standalone_mode=False)
    assert _as_then(folder) == before
    for path in OLD.glob("scores/*.jsonl"):
        again = {line["sample"]: line for line in _lines(folder.path / "scores" / path.name) if line.pop("crc")}
        for line in _lines(path):
            line["groups"] = line.pop("filed")
            assert again[line["sample"]] == line


def _resume(folder: RunFolder, limit: int) -> RunFolder:
    return sketchmark.run(
        "player/sketcher",
        "maze,sliding",
        mode="direct,visual_cot",
        canvas="own,blank",
        scoring="strict,lenient",
        limit=limit,
        output_path=folder.path,
        cache=None,
    ).folder


def test_it_resumes_and_plays_only_what_is_new(folder: RunFolder) -> None:
    _resume(folder, 3)
    assert folder.about().format == FORMAT == 2
    assert folder.about().started == json.loads((OLD / "run.json").read_bytes())["started"]
    for cell in CELLS:
        for file in (folder.episodes_file(cell), folder.scores_file(cell)):
            old = (OLD / file.relative_to(folder.path)).read_bytes()
            assert file.read_bytes().startswith(old), "what was written stays as it is"
            assert len(_lines(file)) == 3
        assert [line.index for line in folder.episodes(cell)] == [0, 1, 2]
        first, _, third = folder.scores(cell)
        assert first.groups.keys() == third.groups.keys() != set(), "lines of both formats stand side by side"
    assert {cell.n for cell in folder.results().tasks.values()} == {3}
    assert "filed" not in json.dumps(_lines(folder.episodes_file("maze.direct"))[2])


def test_resuming_what_is_complete_plays_nothing_and_changes_no_number(folder: RunFolder) -> None:
    before = json.loads((OLD / "results.json").read_bytes())
    _resume(folder, 2)
    assert _as_then(folder) == before
    for path in OLD.glob("episodes/*.jsonl"):
        assert (folder.path / "episodes" / path.name).read_bytes() == path.read_bytes()


def test_a_picture_that_is_not_the_one_played_is_noticed_though_fingerprints_differ_anyway(folder: RunFolder) -> None:
    """0.1.0 knew its pictures by their bytes, so that no fingerprint is what it was: the pixels tell."""
    other = next(folder.episodes("sliding.direct")).sample.pictures["goal"]

    def changed(line: dict[str, Any]) -> dict[str, Any]:
        if isinstance(line["sample"], dict):
            line["sample"]["pictures"] |= {"initial": other}
        return line

    _change_lines(folder, changed)
    with pytest.raises(sketchmark.errors.RunConflict, match=r"maze-0-000000 of maze\.visual_cot is not the one"):
        _resume(folder, 3)


def test_it_compares_with_the_same_run_of_today(folder: RunFolder, tmp_path: Path) -> None:
    today = _resume(RunFolder(tmp_path / "today"), 2)
    found = compare([folder.path, today.path])
    assert {row.difference.n for row in found.rows if row.kind == "runs"} == {2}
    lost = next(folder.episodes("maze.direct")).sample.pictures["initial"]
    folder.pictures.path(str(lost)).unlink()
    with pytest.raises(sketchmark.errors.RunConflict, match="1 of the shared samples differ"):
        compare([folder.path, today.path])


def test_a_resumed_folder_is_one_run_to_whoever_reads_it(folder: RunFolder) -> None:
    _resume(folder, 3)
    assert compare([folder.path]).rows[0].difference.n == 3
    index = RunIndex(folder, "run")
    index.refresh()
    assert [len(cell.rows) for cell in index.cells.values()] == [3] * 6
    assert all(row.groups for cell in index.cells.values() for row in cell.rows.values())


def test_neither_the_order_of_keys_nor_keys_of_a_newer_version_matter(folder: RunFolder) -> None:
    episodes = {cell: list(folder.episodes(cell)) for cell in CELLS}
    scores = {cell: list(folder.scores(cell)) for cell in CELLS}
    found = plain(compare([folder.path]))

    def strange(value: Any) -> Any:
        if isinstance(value, list):
            return [strange(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {"added_later": {"id": "x"}} | {key: strange(value[key]) for key in reversed(value)}

    def changed(line: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {key: line[key] for key in ("values", "notes", "usage", "filed") if key in line}
        sample = line["sample"]
        if isinstance(sample, dict):
            inner = {key: sample[key] for key in ("fields", "pictures", "target", "filed")}
            kept = {"sample": strange(sample) | inner, "turns": [_turn(turn) for turn in line["turns"]]}
        return {**strange(line), **kept}

    def _turn(turn: dict[str, Any]) -> dict[str, Any]:
        odd: dict[str, Any] = strange(turn)
        if "reply" in turn:
            odd["reply"] |= {key: turn["reply"][key] for key in ("usage", "raw") if key in turn["reply"]}
        return odd

    _change_lines(folder, changed)
    about = json.loads(folder.run_file.read_bytes())
    folder.run_file.write_text(json.dumps({"added_later": 1, **dict(reversed(about.items()))}))
    assert {cell: list(folder.episodes(cell)) for cell in CELLS} == episodes
    assert {cell: list(folder.scores(cell)) for cell in CELLS} == scores
    assert plain(compare([folder.path])) == found
    index = RunIndex(folder, "run")
    index.refresh()
    assert index.cells["maze.direct"].order() == ["maze-0-000000", "maze-0-000001"]
    assert index.cells["maze.direct"].episode("maze-0-000001") == episodes["maze.direct"][1]


@pytest.mark.parametrize(
    "bad",
    [
        b'{"index":2,"sample":{"id":"\xff"}}\n',
        b'{"index":2,"sample":{"id":"\\ud800"},"turns":[]}\n',
        b'{"index":2,"sample":{"id":7}}\n',
        b'{"index":2,"sample":"x"}\n',
        b"[" * 100_000 + b"\n",
        b"nonsense\n",
        b"\n",
    ],
)
@pytest.mark.parametrize("kind", ["episodes", "scores"])
def test_a_damaged_line_is_named_by_its_file_whoever_reads_it(folder: RunFolder, bad: bytes, kind: str) -> None:
    path = folder.path / kind / "maze.direct.jsonl"
    path.write_bytes(path.read_bytes() + bad)
    with pytest.raises(sketchmark.SketchmarkError, match=r"maze\.direct\.jsonl, line 3: not .*sketchmark repair"):
        list(folder.episodes("maze.direct") if kind == "episodes" else folder.scores("maze.direct"))
    with pytest.raises(sketchmark.SketchmarkError, match=r"maze\.direct\.jsonl, line 3: not .*sketchmark repair"):
        RunIndex(folder, "run").refresh()
