"""Groups of people without a browser: robots answer the pages; their runs, the group's, and charts with people."""

from __future__ import annotations

import asyncio
import base64
import random
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.cli import main
from sketchmark.comparison import compare
from sketchmark.folder import RunFolder
from sketchmark.human import Human, Person
from sketchmark.human.group import EVERYONE, GROUP, people_section, regroup
from sketchmark.human.pages import Given
from sketchmark.human.study import PEOPLE, Study
from sketchmark.human.visit import Visit
from sketchmark.media import Picture
from sketchmark.plots.figures import figure, opened
from sketchmark.report.card import card
from sketchmark.runs import prepare
from sketchmark.view.views import Views
from sketchmark.worlds.maze import board as maze
from tests.human.playing import solution

STUDY = """
study: robots
title: Mazes
consent: I agree.
tasks: [maze]
mode: [direct, visual_cot]
limit: 6
task_args: {min_steps: 2, max_steps: 2}
checks: [{text: Write blue., answer: blue}, {text: Write red., answer: red}]
exclude: {checks_failed: 2, skipped_above: 0.5, median_seconds_below: 0.000001}
"""


def shown(person: Person, at: int) -> maze.Maze:
    files = [one["file"] for one in person.page["parts"] if one["kind"] == "image"]
    picture = person.files[files[at]]
    assert isinstance(picture, Picture)
    found = maze.to_maze(maze.read(picture, 6, 6))
    assert found
    return found


def done(person: Person, skill: float, attentive: bool, rng: random.Random) -> Given:
    """Return what a robot does on a page. It knows the answer with the chance `skill`."""
    page = person.page
    if page["kind"] == "check":
        return Given("say", text=page["text"].split()[-1].strip(".") if attentive else "what?", rt=900)
    if page["kind"] != "call":
        return Given("next")
    moves = maze.solve(shown(person, 0)) or []
    drawn = sum(one["kind"] == "image" and one["by"] == "you" for one in page["parts"])
    if page["act"] == "draw":
        puzzle = shown(person, 0)
        image = maze.render(puzzle, maze.replay(puzzle, moves)[drawn])
        size = (page["surface"]["width"], page["surface"]["height"])
        return Given("draw", drawing=base64.b64encode(image.data).decode(), size=size, rt=2000)
    if not page["final"]:
        return Given("say", text=f"Next, move one step {moves[drawn]}.", rt=500)
    if skill < 0:
        return Given("skip", rt=100)
    return Given("say", text=solution(moves if rng.random() < skill else ["up"] * 9), rt=1500)


async def take_part(study: Study, number: int, skill: float, attentive: bool = True) -> None:
    id = f"p-{number:012x}"
    one, person = study.admit(id, {"PROLIFIC_PID": f"person {number}"}), Person(id)
    await with_robot(person, study.visit(one, person), skill, attentive, number)


async def with_robot(person: Person, visit: Visit, skill: float, attentive: bool = True, seed: int = 0) -> int:
    """Let a robot do all pages of a visit. Return the number of calls that it answered."""
    task, calls = asyncio.create_task(visit.take_place()), 0
    rng, last = random.Random(seed), -1
    while not task.done():
        page: dict[str, Any] = await person.news(last, 0.05)
        if page["kind"] != "wait" and page["number"] > last:
            last = page["number"]
            calls += page["kind"] == "call"
            person.reply(last, done(person, skill, attentive, rng))
    await task
    return calls


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six people, one of whom fails the checks and one of whom skips everything."""
    place = tmp_path_factory.mktemp("study")
    (place / "study.yaml").write_text(STUDY)
    study = Study(place / "study.yaml", place / "runs" / "robots")
    for number, skill in enumerate((0.9, 0.8, 0.7, 0.6, 1.0, -1.0)):
        asyncio.run(take_part(study, number, skill, attentive=number != 4))
    assert regroup(study) == place / "runs/robots/group"
    options: dict[str, Any] = {"mode": "direct,visual_cot", "limit": 6, "task_args": "min_steps=2,max_steps=2"}
    for player in ("solver", "random"):
        out = place / "runs" / player
        sketchmark.run(f"player/{player}", "maze", output_path=out, quiet=True, no_cache=True, **options)
    return place


def test_the_group_has_an_answer_of_each_person_who_is_not_excluded(root: Path) -> None:
    group, everyone = (RunFolder(root / "runs/robots" / name) for name in (GROUP, EVERYONE))
    for cell in ("maze.direct", "maze.visual_cot"):
        rows = list(group.scored(cell).values())
        assert len(rows) == 12 and len({row.sample for row in rows}) == 6
        assert {row.groups["person"] for row in rows} == {f"p-{number:012x}" for number in range(4)}
        assert len(everyone.scored(cell)) == 18
    section = people_section(group)
    assert "p-000000000004: checks\\_failed: 2; p-000000000005: skipped\\_above: 6 of 6" in section
    assert "6 enrolled, 6 finished, 4 here" in section and "2 per person, 2 failed in all" in section
    assert people_section(RunFolder(root / "runs/solver")) == ""
    assert "`sketchmark play --study FILE` with the study file" in card(group, "group")
    assert "1 (p-000000000000)" in people_section(RunFolder(root / "runs/robots" / PEOPLE / "p-000000000000"))


def test_intervals_and_gains_of_the_group_are_two_way_and_rescoring_keeps_them(root: Path) -> None:
    group = RunFolder(root / "runs/robots/group")
    results = group.results()
    assert {cell.metrics[cell.headline].method for cell in results.tasks.values()} == {"two-way"}
    (gain,) = [one for one in results.gains if one.mode == "visual_cot"]
    assert gain.n == 6 and None not in gain.ci95
    found = compare(group.path, root / "runs/solver")
    assert {row.difference.method for row in found.rows if row.kind == "runs"} == {"two-way"}
    before = {name: cell.metrics for name, cell in results.tasks.items()}
    with pytest.raises(SystemExit) as ended:
        main(["score", str(group.path)])
    assert ended.value.code == 0
    assert {name: cell.metrics for name, cell in group.results().tasks.items()} == before


def test_the_leaderboard_has_people_as_a_row_and_charts_as_a_line(root: Path) -> None:
    views = Views(root / "runs")
    rows = {row["model"]: row for row in views.runs({})["runs"]}
    assert set(rows) == {"human/robots", "player/random", "player/solver"}
    assert rows["human/robots"]["people"] == 4 and rows["player/solver"]["people"] == 0
    task = rows["player/solver"]["tasks"]["maze"]
    assert "; people " in task["label"] and "stroke-dasharray" in task["picture"]
    several = views.several({"r1": "solver", "r2": "random", "r3": "robots/group"})
    assert ">people<" in several["forest"]["wide"]
    runs = list(opened([root / "runs/solver", root / "runs/random", root / "runs/robots/group"]))
    for kind, said in (("leaderboard", "people"), ("gain", ">people<")):
        assert said in str(figure(runs, kind).drawing.svg())
    alone = list(opened([root / "runs/solver", root / "runs/random"]))
    assert "people" not in str(figure(alone, "leaderboard").drawing.svg())


def test_a_persons_run_has_canvases_repeats_and_an_audit_as_a_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person, path = Person("ann"), tmp_path / "ann"
    options: dict[str, Any] = {"limit": 2, "task_args": "min_steps=2,max_steps=2", "concurrency": 1, "repeats": 2}
    canvases = "own,blank,other,oracle"

    def visit(mode: str) -> Visit:
        run = prepare(
            Human(person), "maze", mode=mode, canvas=canvases, output_path=path, cache=path / "calls", **options
        )
        return Visit(person, run, "0:ann")

    asyncio.run(with_robot(person, visit("direct,visual_cot"), 1.0))
    folder = RunFolder(path)
    assert set(folder.results().tasks) == {
        *("maze.direct", "maze.visual_cot", "maze.visual_cot.blank", "maze.visual_cot.other"),
        "maze.visual_cot.oracle",
    }
    assert all(len(folder.scored(cell)) == 4 for cell in folder.about().cells)
    blank = next(iter(folder.episodes("maze.visual_cot.blank")))
    seen = [part.picture for turn in blank.turns if turn.act == "draw" for part in turn.added]
    assert {folder.pictures.load(name or "").image().getextrema() for name in seen} == {((255, 255),) * 3}
    repeat = next(line for line in card(folder, "ann").splitlines() if line.startswith("sketchmark play"))
    assert repeat.startswith(f"sketchmark play maze --name ann --mode direct,visual_cot --canvas {canvases}")
    assert "--repeats 2" in repeat and "--model" not in repeat
    with pytest.raises(SystemExit) as ended:
        main(["audit", str(path)])
    assert ended.value.code == 0 and "human/ann" in capsys.readouterr().out
    again = Person("ann")
    person = again
    assert asyncio.run(with_robot(again, visit("direct,visual_cot"), 0.0)) == 0  # all is there
