"""Small samples, tasks, models and run folders for tests of runs, folders and results.

A task here is a dict, its samples are on a shelf under the task's name, and its scorer is any function: a test can
change the data or the scoring of a run without changing its description.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import structs
from PIL import Image

from sketchmark import Context, Model, Options, Reply, Sample, Usage
from sketchmark.catalog import Catalog
from sketchmark.episode import Episode, Failure, Grading, Scorer, Scores, Turn
from sketchmark.files import write_json
from sketchmark.files.jsonl import LineWriter
from sketchmark.folder import RunFolder
from sketchmark.folder.format import FORMAT, CellRecord, ModelAbout, RunRecord, ScoreRow
from sketchmark.media import Picture
from sketchmark.progress import Calls, Watcher
from sketchmark.runs.checks import plan
from sketchmark.runs.plan import Cell
from sketchmark.runs.runner import Resources, run_plan
from sketchmark.settings import Settings
from sketchmark.tasks import Task

SHELF: dict[str, list[Sample]] = {}
SCORERS: dict[str, Scorer] = {}
SHELF_ASKED: list[tuple[int, Path | None]] = []
"""Seed and data of each request for samples."""

_INPUTS = ["<picture>", "{question}"]
MODES: dict[str, Any] = {
    "direct": {"protocol": "direct", "prompts": {"inputs": _INPUTS, "ask": "Which colour?"}},
    "visual_cot": {
        "protocol": "draw_then_answer",
        "prompts": {"inputs": _INPUTS, "generation_prompt": "Draw it.", "ask": "Which colour?"},
    },
    "text_cot": {"like": "visual_cot", "in_words": True},
    "steps": {
        "protocol": "steps_then_answer",
        "prompts": {"inputs": _INPUTS, "plan": "Plan step {i}.", "step": "Draw step {i}.", "final": "Which colour?"},
    },
}


def colour(name: str) -> Picture:
    return Picture.from_image(Image.new("RGB", (4, 4), name))


def make_sample(id: str, shade: str = "red", **more: Any) -> Sample:
    """Make a sample with an image, its id as the question, and the right answer `yes`."""
    settings: dict[str, Any] = {"pictures": {"picture": colour(shade)}, "target": {"answer": "yes"}, **more}
    return Sample(id, fields={"question": id}, **settings)


def make_samples(count: int, **more: Any) -> list[Sample]:
    return [make_sample(f"s{number}", **more) for number in range(count)]


def from_shelf(*, seed: int, data: Path | None, shelf: str, start: int = 0) -> Iterator[Sample]:
    SHELF_ASKED.append((seed, data))
    yield from SHELF[shelf][start:]


def right(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    said = episode.answer
    return Scores({"right": float(said == sample.target["answer"])}, {"said": said}, unparsed=said == "mumble")


def registered(sample: Sample, episode: Episode, grading: Grading, *, who: str) -> Scores | Awaitable[Scores]:
    return SCORERS[who](sample, episode, grading)


def make_config(
    samples: Sequence[Sample], name: str = "shades", scorer: Scorer = right, **more: Any
) -> dict[str, Any]:
    SHELF[name], SCORERS[name] = list(samples), scorer
    return {
        "headline": "right",
        "source": {"use": "tests.runs.making:from_shelf", "shelf": name},
        "modes": MODES,
        "scorers": [{"use": "tests.runs.making:registered", "who": name}],
        **more,
    }


def make_task(samples: Sequence[Sample], name: str = "shades", scorer: Scorer = right, **more: Any) -> Task:
    return Task(name, make_config(samples, name, scorer, **more))


def make_cell(task: Task, mode: str = "direct", canvas: str = "own", **asked: Any) -> Cell:
    settings = Settings.of({"model": "speaker", "tasks": task.name, **asked})
    return Cell(f"{task.name}.{mode}", task, task.mode(mode), canvas, settings.steps, settings)


def make_cells(count: int, *modes: str, **asked: Any) -> list[Cell]:
    """Make the cells of a task of `count` samples, `direct` by default."""
    task = make_task(make_samples(count))
    return [make_cell(task, mode, **asked) for mode in modes or ("direct",)]


def planned(folder: Path, config: Mapping[str, Any], model: Model, **asked: Any) -> list[Cell]:
    """Plan the cells of a request for the task `shades` in a task file, like a user's own task."""
    path = folder / "shades.yaml"
    path.write_text(yaml.safe_dump(dict(config), sort_keys=False))
    settings = Settings.of({"model": "speaker", "tasks": "shades", **asked})
    return plan(settings, Catalog((path,), trust_code=True), model)


class Speaker(Model):
    """A model that replies by functions of the sample's id and records every call as (act, id)."""

    def __init__(
        self,
        answer: Callable[[str], Reply | str] = lambda id: "yes",
        drawing: Callable[[str], Reply] = lambda id: Reply(picture=colour("blue")),
        name: str = "speaker",
    ) -> None:
        super().__init__(name)
        self.calls: list[tuple[str, str]] = []
        self.contexts: list[Context] = []
        self.options: list[Options] = []
        self.answer, self.drawing = answer, drawing

    async def say(self, context: Context, options: Options) -> Reply:
        reply = self.answer(self._note("say", context, options))
        return Reply(text=reply) if isinstance(reply, str) else reply

    async def draw(self, context: Context, options: Options) -> Reply:
        return self.drawing(self._note("draw", context, options))

    def _note(self, act: str, context: Context, options: Options) -> str:
        id = context.texts[0]
        self.calls.append((act, id))
        self.contexts.append(context)
        self.options.append(options)
        return id

    @property
    def asked(self) -> list[str]:
        return [id for _, id in self.calls]


class Looker:
    """A watcher that records everything."""

    looks_on = False

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def begin(self, cell: str, total: int | None, done: int) -> None:
        self.told.append(("begin", cell, total, done))

    def played(self, cell: str, failed: bool) -> None:
        self.told.append(("played", cell, failed))

    def end(self, cell: str) -> None:
        self.told.append(("end", cell))

    def calls(self, so_far: Calls) -> None:
        self.told.append(("calls", so_far.told(), so_far.last_error))


async def run(
    path: Path, cells: Sequence[Cell], model: Model, watcher: Watcher | None = None, **how: Any
) -> RunFolder:
    """Run cells, one episode at a time by default, so that calls are in the order of the samples."""
    resources = Resources(**{name: how.pop(name) for name in ("budget", "judge", "warnings") if name in how})
    settings = structs.replace(cells[0].settings, **{"concurrency": 1, **how})
    return await run_plan(settings, list(cells), model, path, resources, watcher or Looker())


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def make_episode(
    sample: Sample | None = None, *replies: Reply, failure: Failure | None = None, act: Any = "say", **more: Any
) -> Episode:
    turns = (Turn("show"), *(Turn(act, reply=reply) for reply in replies))
    return Episode(sample or make_sample("s0"), turns, failure, **more)


def cost(calls: int = 1, **more: int) -> Usage:
    return Usage(calls=calls, **more)


def make_row(sample: str, value: float | None = 1.0, index: int = 0, **more: Any) -> ScoreRow:
    """Make a score row."""
    plain: dict[str, Any] = {"scored": True, "values": {"right": value}, "scoring": "strict", "started": 1.0}
    return ScoreRow(index=index, sample=sample, **{**plain, **more})


def write_lines(path: Path, rows: Sequence[Any]) -> None:
    writer = LineWriter(path)
    for row in rows:
        writer.write(row)
    writer.close()


def make_folder(path: Path, scores: Mapping[str, Sequence[ScoreRow]], **cells: Mapping[str, Any]) -> RunFolder:
    """Make a run folder that has only scores. A cell `task.mode` is described by its name and by `cells`."""
    folder = RunFolder(path)
    described = {}
    for name, rows in scores.items():
        task, mode = name.split(".")[:2]
        about: dict[str, Any] = {"headline": "right", **cells.get(name.replace(".", "_"), {})}
        described[name] = CellRecord(task, mode, **about)
        write_lines(folder.scores_file(name), rows)
    write_json(folder.run_file, RunRecord(FORMAT, model=ModelAbout("speaker"), cells=described))
    return folder
