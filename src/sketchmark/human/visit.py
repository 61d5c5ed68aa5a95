"""One person's way through a run: start page, practice with feedback, the samples one by one, the end.

The run itself is executed by `sketchmark.runs`, as for any model. Here its jobs are put into the person's order, and
what the person does outside of it is written to `people.json` in the run folder.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, structs

from sketchmark.episode import Grading
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, CallFailed, RunStopped
from sketchmark.files import own_file, write_json
from sketchmark.files.jsonl import LineReader, read_regular
from sketchmark.folder import RunFolder
from sketchmark.folder.index import RunView
from sketchmark.human import LATE, LEFT, SKIPPED, Human, Item, Person
from sketchmark.human.pages import in_short
from sketchmark.progress import NOBODY
from sketchmark.report import write_report
from sketchmark.results import grade
from sketchmark.runs import PreparedRun
from sketchmark.runs.episodes import play
from sketchmark.runs.jobs import Job
from sketchmark.runs.plan import Cell
from sketchmark.runs.runner import Resources, run_plan
from sketchmark.stats.intervals import as_percent

FILE = "people.json"
_ELSEWHERE = 7_919
"""Added to the seed of a run for its practice samples, so that a generated world makes others."""
_LOOKED_AT = 10_000


class Practice(Struct, frozen=True, forbid_unknown_fields=True):
    """Practice in each mode: until `right` answers are right, with at most `most` samples."""

    right: Annotated[int, Meta(ge=0, le=50)] = 0
    most: Annotated[int, Meta(ge=0, le=50)] = 0


class Check(Struct, frozen=True, forbid_unknown_fields=True):
    """An attention check: an instruction, and the word that follows it."""

    text: Annotated[str, Meta(max_length=2_000)]
    answer: Annotated[str, Meta(max_length=200)]


class CheckNote(Struct):
    """A reply to an attention check."""

    check: int
    given: str
    right: bool
    rt: int


class PracticeNote(Struct):
    """A practice sample, which does not count."""

    cell: str
    sample: str
    right: bool
    seconds: float
    failure: str = ""


class Notes(Struct, omit_defaults=True):
    """What a run folder says about its person besides the episodes."""

    person: str = ""
    """Name, or random id in a study."""
    began: str = ""
    """Time of the first page, in UTC."""
    finished: str = ""
    """Time of the last reply, in UTC; empty before that."""
    practice: list[PracticeNote] = []
    planned: int = 0
    """Episodes that the person was to do."""
    seconds_per_sample: float | None = None
    """Time limit of a sample."""
    order_seed: str = ""
    """Seed of the person's order of samples."""
    study: str = ""
    study_digest: str = ""
    """SHA-256 of the study file."""
    consent_digest: str = ""
    """SHA-256 of the consent text."""
    consented: str = ""
    """Time of consent, in UTC."""
    ids: dict[str, str] = {}
    """Parameters of the address, hashed if the study says so."""
    checks: list[CheckNote] = []


_NOTES = LineReader(Notes, "notes on a person")


def notes_in(path: Path) -> Notes | None:
    """Return the notes of a run folder, None if it is not a person's."""
    try:
        return _NOTES.one(read_regular(own_file(path, FILE)), FILE)
    except FileNotFoundError:
        return None


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass
class Visit:
    """One person and one run."""

    person: Person
    run: PreparedRun
    seed: str
    practice: Practice = field(default_factory=Practice)
    seconds: float | None = None
    choose: Callable[[Sequence[Job]], list[Job]] = list
    """Chooses the person's jobs among all."""
    welcome: dict[str, Any] = field(default_factory=dict)
    """Content of the start page."""
    checks: Sequence[Check] = ()

    def __post_init__(self) -> None:
        self.human = Human(self.person)
        self.notes = notes_in(self.run.path) or Notes(self.person.name, began=now())
        self.notes.order_seed, self.notes.seconds_per_sample = self.seed, self.seconds
        self.person.before_item = self._check if self.checks else None

    async def take_place(self) -> RunFolder:
        """Lead the person through everything. Raises RunStopped if the person stops early."""
        self.write()
        try:
            await self.person.ask("start", **self.welcome, takes=["next"])
            await self._practise()
        except CallFailed as error:
            raise RunStopped(str(error)) from error
        resources: Resources = replace(self.run.resources, order=self._in_order)
        try:
            settings, cells = self.run.settings, self.run.cells
            folder = await run_plan(settings, cells, self.run.model, self.run.path, resources, NOBODY)
        finally:
            self.person.item = None
            if (self.run.path / "results.json").exists():
                write_report(RunView.whole(RunFolder(self.run.path)))
        self.notes.finished = now()
        self.write()
        return folder

    def write(self) -> None:
        self.run.path.mkdir(parents=True, exist_ok=True)
        write_json(own_file(self.run.path, FILE), self.notes)

    def _in_order(self, jobs: Iterator[Job | None]) -> Iterator[Job | None]:
        """Yield the person's jobs, one when the one before has ended. A resumed run keeps the order."""
        every = list(jobs)
        mine = sorted(self.choose([job for job in every if job]), key=self._place)
        done = self._done()
        self.notes.planned = done + len(mine)
        self.write()
        for number, job in enumerate(mine, start=done + 1):
            sample = job.draft.sample
            self.person.item = Item(job.at.cell, sample, number, done + len(mine), seconds=self.seconds)
            yield job

    def _done(self) -> int:
        """Count the episodes that need no rerun."""
        folder = RunFolder(self.run.path)
        lines = (line for cell in self.run.cells for line in folder.episodes(cell.name))
        return sum(not line.failure or line.failure.blames_model for line in lines if not line.branch)

    def _place(self, job: Job) -> str:
        named = f"{self.seed}:{job.at.cell.name}:{job.draft.id}:{job.wanted.repeat}"
        return hashlib.sha256(named.encode()).hexdigest()

    async def _check(self, item: Item) -> None:
        """Ask the attention checks that are due before an item: they are spread evenly over the run."""
        for number, check in enumerate(self.checks):
            due = 1 + item.total * (number + 1) // (len(self.checks) + 1)
            asked = any(one.check == number for one in self.notes.checks)
            if item.practice or asked or item.number < due:
                continue
            given = await self.person.ask("check", text=check.text, takes=["say"])
            right = given.text.strip().strip(".").casefold() == check.answer.strip().casefold()
            self.notes.checks.append(CheckNote(number, given.text[:200], right, given.rt))
            self.write()

    async def _practise(self) -> None:
        """Show practice samples of each task and mode with feedback. What was practised before is not shown again."""
        if not self.practice.most:
            return
        done = {(one.cell, one.sample) for one in self.notes.practice}
        for cell in {(cell.task.name, cell.mode.name): cell for cell in self.run.cells}.values():
            cell = replace(cell, canvas="own", name=f"{cell.task.name}.{cell.mode.name}")
            right = sum(one.right for one in self.notes.practice if one.cell == cell.name)
            samples = practice_samples(cell, self.practice.most)
            for number, sample in enumerate(samples, start=1):
                if (cell.name, sample.id) in done:
                    continue
                if right >= self.practice.right:
                    break
                right += await self._try(
                    Item(cell, sample, number, len(samples), practice=True, seconds=self.seconds)
                )

    async def _try(self, item: Item) -> bool:
        began = time.monotonic()
        with self.person.at(item):
            episode = await play(self.human, item.cell, item.sample)
        failure = episode.failure
        if failure and failure.kind not in (SKIPPED, LATE):
            raise CallFailed(failure.kind if failure.kind == LEFT else "error", failure.message)
        row = await grade(item.cell.task, episode, 0, Grading(item.cell.settings.scorings[0]))
        right = (row.value(item.cell.task.headline) or 0) >= 1
        seconds = round(time.monotonic() - began, 3)
        kind = failure.kind if failure else ""
        self.notes.practice.append(PracticeNote(item.cell.name, item.sample.id, right, seconds, kind))
        self.write()
        told = {"answer": in_short(row.notes.get("answer")), "expected": in_short(row.notes.get("expected"))}
        unparsed = "unparsed" in row.flags
        await self.person.ask(
            "feedback", right=right, **told, unparsed=unparsed, failure=kind, **item.progress, takes=["next"]
        )
        return right


def practice_samples(cell: Cell, most: int) -> list[Sample]:
    """Return samples that are not among those of the run: of another seed, or after the last one of the run."""
    own = {draft.id for draft in islice(cell.drafts(), _LOOKED_AT)}
    settings = structs.replace(cell.settings, seed=cell.settings.seed + _ELSEWHERE, limit=None)
    others = replace(cell, settings=settings, counted=len(own) + most)
    found = (draft for draft in islice(others.drafts(), _LOOKED_AT) if draft.id not in own)
    samples = [draft.sample for draft in islice(found, most)]
    if not samples:
        raise BadInput(
            f"{cell.task.name} has no samples left for practice",
            "use a smaller --limit, or no practice",
        )
    return samples


def last_page(folder: RunFolder, *, stopped: bool) -> dict[str, Any]:
    """Return the end page of a person who plays for themselves, with the scores."""
    scores = []
    if folder.results_file.exists():
        for name, cell in folder.results().tasks.items():
            if found := cell.metrics.get(cell.headline):
                scores.append([name, f"{as_percent(found.mean, found.ci95)}% of {found.n}"])
    kept = "What you finished is kept: the same command resumes." if stopped else "The run folder has every step."
    return {"title": "Stopped for now" if stopped else "That was all. Thank you!", "text": kept, "scores": scores}
