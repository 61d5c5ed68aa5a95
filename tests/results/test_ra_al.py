"""`sketchmark score RUN --scoring ra-al`: next to a run's own scores, with a judge and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Reply, Sample
from sketchmark.episode import Grading
from sketchmark.folder import RunFolder
from sketchmark.media import Picture
from sketchmark.worlds import maze as maze_scoring
from sketchmark.worlds.maze import board as mazes
from tests.command_line import sketchmark as command
from tests.core.helpers import colour
from tests.runs.making import make_episode

JUDGES = '''
import sketchmark

class Kind(sketchmark.Model):
    """Finds everything perfect."""
    async def say(self, context, options):
        field = "reasoning" if "reasoning_visual_score" in context.texts[0] else "answer"
        return sketchmark.Reply('{"%s_visual_score": 5}' % field)

class Dumb(sketchmark.Model):
    async def say(self, context, options):
        return sketchmark.Reply("Lovely.")
'''
N = 5
WORLDS = ("maze", "sliding", "jigsaw", "voila")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("runs")
    (root / "judges.py").write_text(JUDGES)
    how = {"solver": (WORLDS, ""), "sketcher": (WORLDS[:2], "hand_error=0.8")}
    for player, (tasks, args) in how.items():
        sketchmark.run(
            f"player/{player}", tasks, mode="direct,visual_cot", model_args=args, limit=N, no_cache=True,
            output_path=root / player, engine="local",
        )  # fmt: skip
    return {player: root / player for player in ("solver", "sketcher")}


def _score(run: Path, *more: str) -> tuple[Any, str, int]:
    judges = ("--include", str(run.parent / "judges.py"))
    done = command("score", str(run), "--scoring", "ra-al", *judges, *more, cwd=run)
    assert "Traceback" not in done.stderr
    return RunFolder(run).results().tasks, done.stdout + done.stderr, done.returncode


@pytest.mark.slow
def test_the_solver_draws_correctly_and_answers_as_drawn(played: dict[str, Path]) -> None:
    run = played["solver"]
    before = {path.name: path.read_bytes() for path in (run / "scores").iterdir()}
    tasks, said, code = _score(run)
    assert code == 0 and "the answer is what is drawn, as read" in said
    for world in WORLDS:
        cell = tasks[f"{world}.visual_cot"]
        found = cell.scorings["ra-al"].metrics
        assert {name: (one.mean, one.n) for name, one in found.items()} == {
            "drawing_right": (1.0, N),
            "answer_as_drawn": (1.0, N),
        }, world
        assert cell.scoring == "strict" and cell.headline in cell.metrics and cell.scorings["ra-al"].against is None
        assert tasks[f"{world}.direct"].scorings == {}, "nothing is drawn there"
    after = {path.name: path.read_bytes() for path in (run / "scores").iterdir()}
    assert {name: after[name] for name in before} == before, "the run's own scores are not touched"


@pytest.mark.slow
def test_a_generous_judge_is_revealed_and_its_scores_are_kept(played: dict[str, Path]) -> None:
    run = played["sketcher"]
    tasks, said, code = _score(run, "--judge", "kind")
    assert code == 0
    found = tasks["sliding.visual_cot"].scorings["ra-al"].metrics
    assert found["ra"].mean == 5.0 and found["al"].mean == 5.0
    rows = [json.loads(line) for line in (run / "scores" / "sliding.visual_cot~ra-al.jsonl").read_text().splitlines()]
    below = [row["values"]["drawing_right"] < 0.8 for row in rows]
    assert any(below) and found["ra_judge_wrong"].mean == pytest.approx(sum(below) / len(below))
    assert 0 < found["answer_as_drawn"].mean < 1 and rows[0]["judge"] == "kind"
    assert "the judge's RA is wrong by that" in said
    assert "judged 1 to 5" in RunFolder(run).report_file.read_text()
    again = command("score", str(run), "--scoring", "strict,official", cwd=run)
    assert again.returncode == 0
    kept = RunFolder(run).results().tasks["sliding.visual_cot"].scorings
    assert list(kept) == ["official", "ra-al"] and kept["ra-al"].metrics["ra"].mean == 5.0


@pytest.mark.slow
def test_a_judge_without_a_verdict_is_a_failure_and_other_scores_are_kept(played: dict[str, Path]) -> None:
    tasks, said, code = _score(played["sketcher"], "--judge", "dumb")
    assert code == 1 and f"judge_failed {N}" in said
    beside = tasks["maze.visual_cot"].scorings["ra-al"]
    assert "ra" not in beside.metrics and beside.failures["judge_failed"] == N
    assert beside.metrics["drawing_right"].n == N


def test_a_run_without_drawings_is_refused_in_one_line(tmp_path: Path) -> None:
    sketchmark.run("player/random", "maze", limit=2, output_path=tmp_path / "run", no_cache=True)
    done = command("score", str(tmp_path / "run"), "--scoring", "ra-al", cwd=tmp_path)
    assert done.returncode == 2 and "nothing was drawn" in done.stderr and "visual_cot" in done.stderr
    done = command("run", "--model=player/solver", "--tasks=maze", "--scoring=ra-al", cwd=tmp_path)
    assert done.returncode == 2 and "sketchmark score RUN --scoring ra-al" in done.stderr


def _maze(answer: list[str], drawn: list[Picture]) -> dict[str, float | None]:
    board = mazes.generate(3, 6, 6, 4, 8)
    moves = mazes.solve(board) or []
    sample = Sample("m", {"initial": mazes.render(board)}, target={"moves": moves, "rows": 6, "cols": 6})
    replies = [Reply(picture=picture) for picture in drawn]
    episode = make_episode(sample, *replies, act="draw")
    said = make_episode(sample, Reply(f"<ANSWER_JSON>{json.dumps(answer)}</ANSWER_JSON>"))
    whole = type(episode)(sample, (*episode.turns, *said.turns))
    return dict(maze_scoring.score_drawings(sample, whole, Grading()).values)


def test_an_answer_follows_its_drawing_right_or_wrong() -> None:
    board = mazes.generate(3, 6, 6, 4, 8)
    moves = mazes.solve(board) or []
    true = mazes.frames(board, moves)
    blocked = next(move for move in mazes.MOVES if not mazes.legal(board, board.start, move))
    stuck, white = mazes.frames(board, [blocked]), colour("white", (200, 200))
    assert _maze(moves, true) == {"drawing_right": 1.0, "answer_as_drawn": 1.0}
    assert _maze([blocked], stuck) == {"drawing_right": 0.0, "answer_as_drawn": 1.0}
    assert _maze(moves, stuck * len(moves)) == {"drawing_right": 0.0, "answer_as_drawn": 0.0}
    assert _maze(moves, true[:2])["answer_as_drawn"] == 2 / len(moves), "moves without a drawing do not agree"
    assert _maze(moves, [true[0], white, *true[2:]])["answer_as_drawn"] == 1.0, "a blank drawing is left out"
    assert _maze(moves, [white])["answer_as_drawn"] is None
