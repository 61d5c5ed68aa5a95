"""Run folders made with the real writers, small enough for tests: mazes, with drawings that are right or wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from starlette.testclient import TestClient

from sketchmark import Part, Reply, Sample, Sound, Usage
from sketchmark.episode import Episode, Failure, Grading, Scores, Turn
from sketchmark.files import write_json
from sketchmark.files.jsonl import LineWriter
from sketchmark.folder import RunFolder
from sketchmark.folder.format import FORMAT, CellRecord, ModelAbout, ModeRecord, RunRecord
from sketchmark.folder.records import pack_episode
from sketchmark.media import Picture
from sketchmark.results import grade
from sketchmark.results.aggregate import aggregate
from sketchmark.results.rescore import fill_scores
from sketchmark.tasks import Task
from sketchmark.view import make_app
from sketchmark.worlds.maze import board as maze
from tests.core.hearing import tone

Done = TypeVar("Done")
TOKEN = "a-token-of-the-test"
HEADLINE = "maze_text_exact"


def score(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """The answer must be the path; the drawings must be the true pictures. `blind` reads no answer of odd samples."""
    blind = grading.scoring == "blind" and sample.groups["region"] == "south"
    right = episode.answer == _answer(sample.target["moves"]) and not blind
    drawn, notes = None, dict[str, Any](answer=episode.answer[:200])
    if episode.draw_attempts and sample.frames:
        true = [p.digest for p in sample.frames()]
        drawn = float([p.digest for p in episode.drawings] == true)
        notes["frames_right"] = [p.digest == t for p, t in zip(episode.drawings, true, strict=False)]
    return Scores(
        {HEADLINE: float(right), "maze_img_exact": drawn},
        notes,
        unparsed=blind or not episode.answer.startswith("<ANSWER_JSON>"),
    )


TASK = Task(
    "maze",
    {
        "source": {"use": "maze"},
        "modes": {"direct": {}, "visual_cot": {}},
        "scorers": ["tests.view.making:score"],
        "headline": HEADLINE,
        "breakdown": ["steps"],
    },
)


def _answer(moves: Iterable[str]) -> str:
    return f"<ANSWER_JSON>[{','.join(moves)}]</ANSWER_JSON>"


def sample(number: int) -> Sample:
    board = maze.generate(number, 5, 5, 2, 5)
    moves = maze.solve(board) or []
    return Sample(
        id=f"maze-{number:05d}",
        pictures={"initial": maze.render(board)},
        fields={"question": f"Where does maze {number} lead?"},
        target={"moves": moves, "rows": 5, "cols": 5},
        groups={"steps": len(moves), "region": ("north", "south")[number % 2]},
        steps=len(moves),
        frames=lambda: maze.frames(board, moves),
    )


def heard(of: Sample, *sounds: Sound) -> Sample:
    return replace(of, sounds={"clip": sounds or (tone(),)})


def play(of: Sample, mode: str, right: bool, *, canvas: str = "own", text: str | None = None) -> Episode:
    """An episode of the maze protocol."""
    moves = list(of.target["moves"])
    initial = of.pictures["initial"]
    assert isinstance(initial, Picture)
    sounds = (Part(sound) for several in of.sounds.values() for sound in several)
    turns = [Turn("show", (Part("You are a precise maze solver."), Part(initial), *sounds))]
    if mode == "visual_cot":
        for step, true in enumerate(of.frames() if of.frames else [], start=1):
            drawn = true if right or step < 2 else initial
            said = Reply(text=f"Next, move one step {moves[step - 1]}.", usage=Usage(300, 9, 1, 0, 1))
            turns.append(Turn("say", (Part(said.text, "model"),), f"Now planing for step {step}.", said, 0.21))
            seen = Picture.from_image(_white(drawn)) if canvas == "blank" else drawn
            reply = Reply(picture=drawn, usage=Usage(310, 0, 1, 1, 1), raw={"id": f"draw-{step}"})
            turns.append(
                Turn("draw", (Part(seen, "model"),), f"Now, generate the image for step {step}.", reply, 1.2)
            )
    answer = text if text is not None else _answer(moves if right else moves[:-1])
    reply = Reply(text=answer, usage=Usage(400, 20, 1, 0, 1), raw={"id": "said", "choices": [{"text": answer}]})
    turns.append(Turn("say", (Part(answer, "model"),), "Emit the final move list.", reply, 0.4))
    settings = {"mode": mode, "canvas": canvas, "steps": "truth"}
    return Episode(of, tuple(turns), None, 1_700_000_000.0, 2.5, settings)


def fail(of: Sample, mode: str, kind: str, message: str, *, blames_model: bool = False) -> Episode:
    played = play(of, mode, False)
    return Episode(of, played.turns[:2], Failure(kind, message, blames_model), 1_700_000_000.0, 9.0, played.settings)


def _white(picture: Picture) -> Any:
    from PIL import Image

    return Image.new("RGB", picture.size, "white")


def _done(work: Coroutine[Any, Any, Done]) -> Done:
    """Run in a thread, since a browser under test has an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


class Maker:
    """A run folder that grows line by line, as a real run's does."""

    def __init__(
        self, path: Path, model: str = "player/test", cells: tuple[str, ...] = ("maze.direct", "maze.visual_cot")
    ) -> None:
        self.folder = RunFolder(path)
        self.model = model
        self.cells = cells
        write_json(
            self.folder.run_file,
            RunRecord(
                format=FORMAT,
                sketchmark="0.1.0",
                model=ModelAbout(model),
                started="2026-01-02T03:04:05Z",
                machine={"python": "3.11", "system": "Linux"},
                cells={name: self._about(name) for name in cells},
            ),
        )

    @staticmethod
    def _about(name: str) -> CellRecord:
        task, mode, *canvas = name.split(".")
        return CellRecord(
            task=task,
            mode=mode,
            canvas=canvas[0] if canvas else "own",
            headline=HEADLINE,
            breakdown=["steps"],
            source={"use": "maze"},
            play=ModeRecord("steps_then_answer", {"plan": "Now planing for step {i}."}),
            model={"name": "test"},
        )

    def add(self, cell: str, episode: Episode, index: int) -> None:
        for path, record in (
            (self.folder.episodes_file(cell), pack_episode(episode, index, self.folder.pictures.save)),
            (self.folder.scores_file(cell), _done(grade(TASK, episode, index, Grading()))),
        ):
            writer = LineWriter(path)
            writer.write(record)
            writer.close()

    def fill(self, count: int, seed: int = 0, skill: float = 0.35) -> Maker:
        """`count` samples in every cell; drawing helps, a blank canvas takes the help away."""
        rng = Random(seed)
        for number in range(count):
            of = sample(number)
            for cell in self.cells:
                _, mode, *canvas = cell.split(".")
                chance = skill + (0.45 if mode == "visual_cot" and not canvas else 0.0)
                right = rng.random() < chance
                self.add(cell, play(of, mode, right, canvas=canvas[0] if canvas else "own"), number)
        return self

    def finish(self, *beside: str) -> RunFolder:
        """Aggregate, with further scorings if named."""
        tasks = dict.fromkeys(self.folder.cells, TASK)
        if beside:
            _done(fill_scores(self.folder, tasks, Grading(), beside))
        aggregate(self.folder, tasks, 0, ["strict", *beside])
        return self.folder


@contextmanager
def browse(root: Path) -> Iterator[TestClient]:
    """A client of the viewer that has brought its token."""
    with TestClient(make_app(root, TOKEN), base_url="http://127.0.0.1:8000") as client:
        client.get("/", params={"token": TOKEN})
        yield client
