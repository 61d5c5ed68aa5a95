"""Studies: many people at once in hosted mode, by a study file that is fixed before the first person.

A person is known by a random cookie. Its digest is the person's id and folder, and the cookie itself is not stored.
Nothing else about a person is stored, except what the address gives (a platform's ids), hashed unless the study file
says otherwise.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Annotated, Any

from msgspec import Meta, Struct, structs
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sketchmark.errors import BadInput, RunConflict, RunStopped, SketchmarkError
from sketchmark.files import own_file, write_json
from sketchmark.files.jsonl import LineReader, read_regular
from sketchmark.files.yaml import Count, checked, load
from sketchmark.folder import RunFolder
from sketchmark.human import SKIPPED, Human, Person
from sketchmark.human.visit import Check, Notes, Practice, Visit, notes_in, now
from sketchmark.runs import PreparedRun, prepare
from sketchmark.runs.jobs import Job
from sketchmark.view import LOOPBACK

FILE, PEOPLE = "study.json", "people/each"
"""Runs of single people are four folders down, so that a list of runs shows only the group's."""
ADDRESS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
"""Parameters of the address that are stored, as Prolific names them."""
_MOST_ID = 100
_COOKIE = "sketchmark_person"
_PERSON = re.compile(r"p-[0-9a-f]{12}")

_Text = Annotated[str, Meta(max_length=20_000)]
_Line = Annotated[str, Meta(max_length=300)]
_Share = Annotated[float, Meta(ge=0, le=1)]


class Exclusion(Struct, forbid_unknown_fields=True, frozen=True):
    """Rules by which a person is excluded. Each is decided by what the run knows."""

    checks_failed: Count | None = None
    """So many failed attention checks, or more."""
    practice_right_below: Count | None = None
    """Fewer right practice answers, over all modes."""
    skipped_above: _Share | None = None
    """A larger proportion of skipped samples."""
    median_seconds_below: Annotated[float, Meta(gt=0)] | None = None
    """A smaller median time per sample."""
    unfinished: bool = True
    """People who did not finish."""


class Completion(Struct, forbid_unknown_fields=True, frozen=True):
    """The code at the end, and a link that reports it (`…/submissions/complete?cc=CODE`)."""

    code: _Line = ""
    url: Annotated[str, Meta(max_length=500, pattern="^(https://[^ ]+)?$")] = ""
    refused: _Line = ""
    """Code for people who do not consent."""


class StudyFile(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A study file."""

    study: Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
    """Name of the study: the group's run is of human/NAME."""
    title: _Line
    consent: _Text
    instructions: _Text = ""
    tasks: list[str]
    mode: list[str]
    canvas: list[str] = []
    """Absent: own."""
    limit: Count
    """Samples of each task."""
    seed: int = 0
    task_args: dict[str, Any] = {}
    samples_per_person: Count | None = None
    """Samples for each person, of all tasks together; absent: all."""
    practice: Practice = Practice()
    seconds: Annotated[float, Meta(ge=1)] | None = None
    """Time limit of a sample."""
    checks: list[Check] = []
    exclude: Exclusion = Exclusion()
    completion: Completion = Completion()
    max_people: Annotated[int, Meta(ge=1, le=10_000)] = 100
    hash_ids: bool = True
    """Store only a keyed digest of the ids in the address."""
    report: dict[str, _Text] = {}
    """What only you know about the study, for the card: population, recruitment, pay, ethics…"""


class Enrolled(Struct):
    """One person in study.json."""

    id: str
    number: int
    ids: dict[str, str]
    """Parameters of the address, hashed if the study says so."""
    consented: str
    """Time of consent, in UTC."""


class StudyRecord(Struct):
    """The study as it was when the first person took part."""

    digest: str
    """SHA-256 of the study file."""
    consent: str
    """SHA-256 of the consent text."""
    salt: str
    people: list[Enrolled] = []
    refused: int = 0
    """People who did not consent. Nothing else is stored about them."""


_RECORD = LineReader(StudyRecord, "a study")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Study:
    """A study file and its folder: who takes part, and what each person is to do."""

    def __init__(self, file: Path, root: Path | None) -> None:
        self.file = checked(load(file, "study file"), StudyFile, f"study file {file}")
        self.root = root or Path("runs") / self.file.study
        own = digest(file.read_text("utf-8"))
        try:
            self.record = _RECORD.one(read_regular(own_file(self.root, FILE)), FILE)
        except FileNotFoundError:
            self.record = StudyRecord(own, digest(self.file.consent), secrets.token_hex(16))
        if self.record.digest != own and (self.record.people or self.record.refused):
            raise RunConflict(
                f"{file} was changed after the first person took part",
                "its rules are fixed then: undo the change, or use another --output_path",
            )
        self.record.digest, self.record.consent = own, digest(self.file.consent)
        first = self.prepared(Person("none"), None)
        self.cells = first.cells
        self.warnings = first.warnings
        self._slots = self._sample_slots()

    def _sample_slots(self) -> list[tuple[str, int]]:
        """Return all samples (task, number) in the order in which they are given to people."""
        tasks = {cell.task.name: cell for cell in self.cells}
        slots = [(name, number) for name, cell in tasks.items() for number, _ in enumerate(cell.drafts())]
        Random(self.file.seed).shuffle(slots)
        return slots

    @property
    def per_person(self) -> int:
        return min(self.file.samples_per_person or len(self._slots), len(self._slots))

    def assigned(self, number: int) -> dict[tuple[str, int], str]:
        """Return sample → cell of the person with this number: each sample in one mode and canvas only.

        People take turns through the samples, and a sample changes its cell every time that it is given. So all
        samples are given equally often, and each of them equally often in each cell.
        """
        of_task: dict[str, list[str]] = {}
        for cell in self.cells:
            of_task.setdefault(cell.task.name, []).append(cell.name)
        found = {}
        for slot in range(number * self.per_person, (number + 1) * self.per_person):
            turn, place = divmod(slot, len(self._slots))
            cells = of_task[self._slots[place][0]]
            found[self._slots[place]] = cells[(place + turn) % len(cells)]
        return found

    def prepared(self, person: Person, path: Path | None) -> PreparedRun:
        """Return the checked run of a person; without a path, only to see its cells."""
        file = self.file
        return prepare(
            Human(person),
            ",".join(file.tasks),
            mode=",".join(file.mode),
            canvas=",".join(file.canvas) or None,
            limit=file.limit,
            seed=file.seed,
            task_args=file.task_args,
            output_path=path,
            no_cache=path is None,
            cache=path / "calls" if path else None,
            concurrency=1,
            quiet=True,
            tag=file.study,
        )

    def write(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        write_json(own_file(self.root, FILE), self.record)

    def enrolled(self, id: str) -> Enrolled | None:
        return next((one for one in self.record.people if one.id == id), None)

    def admit(self, id: str, address: Mapping[str, Any]) -> Enrolled:
        """Write a new person down. The same id of a platform takes part once."""
        given = {name: str(address[name])[:_MOST_ID] for name in ADDRESS if address.get(name)}
        if self.file.hash_ids:
            key = bytes.fromhex(self.record.salt)
            given = {name: hmac.new(key, one.encode(), "sha256").hexdigest()[:32] for name, one in given.items()}
        platform = given.get(ADDRESS[0])
        if platform and any(one.ids.get(ADDRESS[0]) == platform for one in self.record.people):
            raise BadInput("You have begun in another browser or window", "continue there")
        if len(self.record.people) >= self.file.max_people:
            raise BadInput("This study has all the people it needs", "thank you for your interest")
        number = max((one.number for one in self.record.people), default=-1) + 1
        person = Enrolled(id, number, given, now())
        self.record.people.append(person)
        self.write()
        return person

    def visit(self, one: Enrolled, person: Person) -> Visit:
        file = self.file
        mine = self.assigned(one.number)

        def choose(jobs: Sequence[Job]) -> list[Job]:
            return [job for job in jobs if mine.get((job.at.cell.task.name, job.index)) == job.at.cell.name]

        facts = [f"{len(mine)} samples"]
        facts += [f"at most {file.seconds:g} s each"] if file.seconds else []
        made = Visit(
            person,
            self.prepared(person, self.root / PEOPLE / one.id),
            seed=f"{file.seed}:{one.id}",
            practice=file.practice,
            seconds=file.seconds,
            choose=choose,
            welcome={"title": file.title, "text": file.instructions, "facts": facts},
            checks=file.checks,
        )
        made.notes = structs.replace(
            made.notes,
            study=file.study,
            study_digest=self.record.digest,
            consent_digest=self.record.consent,
            consented=one.consented,
            ids=one.ids,
            planned=len(mine),
        )
        return made

    def excluded(self, notes: Notes, folder: RunFolder) -> list[str]:
        """Return the rules by which a person is excluded."""
        rules, found = self.file.exclude, []
        rows = [row for cell in self.cells for row in folder.scored(cell.name).values()]
        failed = sum(not one.right for one in notes.checks)
        if rules.unfinished and not notes.finished:
            found.append("unfinished")
        if rules.checks_failed and failed >= rules.checks_failed:
            found.append(f"checks_failed: {failed}")
        right = sum(one.right for one in notes.practice)
        if rules.practice_right_below and right < rules.practice_right_below:
            found.append(f"practice_right_below: {right}")
        skipped = sum(SKIPPED in row.flags for row in rows)
        if rules.skipped_above is not None and rows and skipped / len(rows) > rules.skipped_above:
            found.append(f"skipped_above: {skipped} of {len(rows)}")
        seconds = median(row.seconds for row in rows) if rows else None
        if rules.median_seconds_below and seconds is not None and seconds < rules.median_seconds_below:
            found.append(f"median_seconds_below: {seconds:.1f}")
        return found

    def people(self) -> list[tuple[Enrolled, Notes, RunFolder]]:
        """Return the people who have begun, in the order of their numbers."""
        found = []
        for one in sorted(self.record.people, key=lambda one: one.number):
            folder = RunFolder(self.root / PEOPLE / one.id)
            notes = notes_in(folder.path) if _PERSON.fullmatch(one.id) else None
            if notes and folder.run_file.exists():
                found.append((one, notes, folder))
        return found


class Hall:
    """The host of a study's people."""

    def __init__(self, study: Study, public: str, finished: Callable[[], None]) -> None:
        self.study, self._finished = study, finished
        self.hosts: Sequence[str] = (*LOOPBACK, public) if public else LOOPBACK
        self.secure = bool(public)
        self._people: dict[str, Person] = {}
        self._visits: set[asyncio.Task[None]] = set()
        self._grouping = asyncio.Lock()

    def first_page(self) -> dict[str, Any]:
        file = self.study.file
        return {"kind": "consent", "number": 0, "title": file.title, "text": file.consent}

    def person(self, http: Request) -> Person | None:
        """Return the person of the cookie, whose visit goes on if the server was stopped in between."""
        cookie = http.cookies.get(_COOKIE, "")
        id = _id(cookie)
        one = self.study.enrolled(id) if cookie else None
        return None if one is None else self._people.get(id) or self._begin(one)

    async def enrol(self, http: Request, given: dict[str, Any]) -> Response:
        completion = self.study.file.completion
        if self.person(http) is not None:
            raise BadInput("you take part already", "reload the page")
        if given.get("agree") is not True:
            self.study.record.refused += 1
            self.study.write()
            code = completion.refused
            text = "Nothing about you was stored. You may close this page."
            return JSONResponse({"kind": "end", "number": 1, "title": "Thank you", "text": text, "code": code})
        cookie = secrets.token_urlsafe(24)
        address = given.get("address")
        one = self.study.admit(_id(cookie), address if isinstance(address, dict) else {})
        person = self._begin(one)
        answer = JSONResponse(await person.news(-1, 20.0))
        answer.set_cookie(_COOKIE, cookie, httponly=True, samesite="lax", secure=self.secure, max_age=30 * 86_400)
        return answer

    def _begin(self, one: Enrolled) -> Person:
        person = self._people[one.id] = Person(one.id)
        task = asyncio.create_task(self._lead(one, person))
        self._visits.add(task)
        task.add_done_callback(self._visits.discard)
        return person

    async def _lead(self, one: Enrolled, person: Person) -> None:
        try:
            visit = await asyncio.to_thread(self.study.visit, one, person)
            if not visit.notes.finished:
                await visit.take_place()
        except RunStopped:  # the person may come back
            del self._people[one.id]
            person.show("end", title="Stopped for now", text="Open the same address in this browser to continue.")
            return
        except SketchmarkError as error:
            logging.getLogger("sketchmark").warning(f"{one.id}: {error}")
            del self._people[one.id]
            person.show("end", title="This page cannot go on", text="What you did is kept. Please try again later.")
            return
        completion = self.study.file.completion
        text = "You are done. Please report this code:" if completion.code else "You are done."
        person.show("end", title="Thank you!", text=text, code=completion.code, url=completion.url)
        async with self._grouping:  # the others' pages do not wait for it
            await asyncio.to_thread(self._finished)


def _id(cookie: str) -> str:
    return f"p-{hashlib.sha256(cookie.encode()).hexdigest()[:12]}"
