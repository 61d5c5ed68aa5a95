"""Readers of a run folder: its own methods, the viewer, comparisons and exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import sketchmark
from sketchmark.comparison import compare
from sketchmark.export import export
from sketchmark.files.jsonl import plain
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.view import make_app

CELLS = [f"{task}.{mode}" for task in ("maze", "sliding") for mode in ("direct", "visual_cot", "visual_cot.blank")]
GROUPS = {"maze": {"steps": 9, "size": "6x6"}, "sliding": {"moves": 1, "board": "3x3"}}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_the_viewer_and_an_export_have_every_episode(played: RunFolder, tmp_path: Path) -> None:
    _, *samples = export(played, "lmms-eval", tmp_path / "out")
    assert len(samples) == 6
    assert _lines(samples[0])[0]["sketchmark_groups"] == GROUPS["maze"]
    with TestClient(make_app(played.path.parent, "token"), base_url="http://127.0.0.1:8000") as client:
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


def test_the_order_of_keys_and_keys_of_a_newer_version_do_not_matter(played: RunFolder) -> None:
    episodes = {cell: list(played.episodes(cell)) for cell in CELLS}
    scores = {cell: list(played.scores(cell)) for cell in CELLS}
    found = plain(compare([played.path]))

    def strange(value: Any) -> Any:
        if isinstance(value, list):
            return [strange(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {"added_later": {"id": "x"}} | {key: strange(value[key]) for key in reversed(value)}

    def changed(line: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {
            key: line[key] for key in ("values", "notes", "usage", "paid", "groups") if key in line
        }
        sample = line["sample"]
        if isinstance(sample, dict):
            inner = {key: sample[key] for key in ("fields", "pictures", "target", "groups")}
            kept = {"sample": strange(sample) | inner, "turns": [_turn(turn) for turn in line["turns"]]}
        return {**strange(line), **kept}

    def _turn(turn: dict[str, Any]) -> dict[str, Any]:
        odd: dict[str, Any] = strange(turn)
        if "reply" in turn:
            odd["reply"] |= {key: turn["reply"][key] for key in ("usage", "raw") if key in turn["reply"]}
        return odd

    for path in played.path.glob("*/*.jsonl"):
        lines = [changed({key: value for key, value in line.items() if key != "crc"}) for line in _lines(path)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    about = json.loads(played.run_file.read_bytes())
    played.run_file.write_text(json.dumps({"added_later": 1, **dict(reversed(about.items()))}))
    assert {cell: list(played.episodes(cell)) for cell in CELLS} == episodes
    assert {cell: list(played.scores(cell)) for cell in CELLS} == scores
    assert plain(compare([played.path])) == found
    index = RunView(played, "run")
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
def test_every_reader_names_the_file_of_a_damaged_line(played: RunFolder, bad: bytes, kind: str) -> None:
    path = played.path / kind / "maze.direct.jsonl"
    path.write_bytes(path.read_bytes() + bad)
    named = r"maze\.direct\.jsonl, line 3: not .*sketchmark repair"
    with pytest.raises(sketchmark.SketchmarkError, match=named):
        list(played.episodes("maze.direct") if kind == "episodes" else played.scores("maze.direct"))
    with pytest.raises(sketchmark.SketchmarkError, match=named):
        RunView(played, "run").refresh()
