"""`sketchmark export --to csv`: every episode, one line each."""

from __future__ import annotations

import csv
from pathlib import Path

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.export import export


class Formula(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        return Reply(text="=1+1\nand more")


def test_csv_has_every_episode_with_its_answer_scores_and_usage(tmp_path: Path) -> None:
    run = sketchmark.run(
        "player/sketcher", "maze", mode="direct,visual_cot", limit=3, output_path=tmp_path / "run", no_cache=True
    )
    (path,) = export(run.folder, "csv")
    assert path == tmp_path / "run-csv/episodes.csv"
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["cell"] for line in lines] == ["maze.direct"] * 3 + ["maze.visual_cot"] * 3
    assert [line["sample"] for line in lines[:3]] == [f"maze-0-{place:06d}" for place in range(3)]
    assert all(line["answer"] and line["scored"] == "True" and int(line["usage.calls"]) > 0 for line in lines)
    mean = sum(float(line["score.maze_text_exact"]) for line in lines[3:]) / 3
    assert mean == run.results.tasks["maze.visual_cot"].metrics["maze_text_exact"].mean


def test_a_reply_that_is_a_formula_stays_text(tmp_path: Path) -> None:
    run = sketchmark.run(Formula("formula"), "maze", limit=1, output_path=tmp_path / "run")
    (path,) = export(run.folder, "csv")
    with path.open(newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["answer"] == "'=1+1\nand more"
