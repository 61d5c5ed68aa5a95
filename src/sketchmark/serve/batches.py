"""`/v1/batches`: jobs that answer the lines of a file.

validating → in_progress → finalizing → completed, or failed, expired, cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sketchmark.errors import BadInput
from sketchmark.serve import bodies
from sketchmark.serve.bodies import WireError, as_wire_error
from sketchmark.serve.files import FileStore, page

_MAX_LINES = 50_000
"""OpenAI's own limit."""


@dataclass(frozen=True)
class Line:
    custom_id: str
    body: dict[str, Any]


def read_lines(data: bytes, endpoint: str) -> tuple[list[Line], list[dict[str, Any]]]:
    """Return the requests of a batch file, and its problems. One bad line fails the whole job, as with OpenAI."""
    lines: list[Line] = []
    problems: list[dict[str, Any]] = []
    seen: set[str] = set()
    rows = [(number, row) for number, row in enumerate(data.split(b"\n"), 1) if row.strip()]
    if not rows:
        problems.append(problem("empty_file", "The batch file has no requests."))
    if len(rows) > _MAX_LINES:
        return [], [problem("too_many_tasks", f"The batch file has over {_MAX_LINES} requests.")]
    for number, row in rows:
        try:
            line = _line(row, endpoint)
            if line.custom_id in seen:
                raise WireError(f"custom_id {line.custom_id!r} is not unique", code="duplicate_custom_id")
        except WireError as error:
            problems.append(problem(error.code or "invalid_request", str(error), number, error.param))
            continue
        seen.add(line.custom_id)
        lines.append(line)
    return lines, problems


def _line(row: bytes, endpoint: str) -> Line:
    value = bodies.json_object(row)
    custom_id = value.get("custom_id")
    if not isinstance(custom_id, str) or not custom_id:
        raise WireError("custom_id must be a text", code="missing_required_parameter", param="custom_id")
    if value.get("method") != "POST":
        raise WireError("method must be POST", code="invalid_method", param="method")
    if value.get("url") != endpoint:
        raise WireError(f"url must be the job's endpoint {endpoint}", code="mismatched_endpoint", param="url")
    if not isinstance(value.get("body"), dict):
        raise WireError("body must be an object", code="missing_required_parameter", param="body")
    return Line(custom_id, value["body"])


def problem(code: str, message: str, line: int | None = None, param: str | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "line": line, "param": param}


def answered(job: str, line: Line, status: int, body: dict[str, Any]) -> str:
    response = {"status_code": status, "request_id": _id("req", job, line), "body": body}
    return _row(job, line, response, None)


def unanswered(job: str, line: Line, code: str, message: str) -> str:
    return _row(job, line, None, {"code": code, "message": message})


def _row(job: str, line: Line, response: dict[str, Any] | None, error: dict[str, Any] | None) -> str:
    row = {"id": _id("batch_req", job, line), "custom_id": line.custom_id, "response": response, "error": error}
    return json.dumps(row) + "\n"


def _id(kind: str, job: str, line: Line) -> str:
    return f"{kind}_{hashlib.sha256(f'{job}:{line.custom_id}'.encode()).hexdigest()[:24]}"


Fate = Literal["complete", "fail", "expire", "slow"]
Status = Literal[
    "validating", "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled"
]
Answer = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]

_PACE = 0.05
_SLOW_PACE = 2.0
"""Minimum seconds in each state, so that a polling client sees them."""
AT_ONCE = 8
WINDOW = 24 * 3600


def parse_fates(text: str) -> tuple[Fate, ...]:
    """Parse `fail,complete`: the first job fails, all later ones complete."""
    fates: list[Fate] = []
    for word in text.split(","):
        match word.strip():
            case "complete" | "fail" | "expire" | "slow" as fate:
                fates.append(fate)
            case other:
                raise BadInput(f"--batch: {other!r} is not an end of a job", f"one of {', '.join(get_args(Fate))}")
    return tuple(fates)


@dataclass
class Job:
    id: str
    input_file_id: str
    endpoint: str
    completion_window: str
    metadata: Any
    fate: Fate
    status: Status = "validating"
    stamps: dict[str, int] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    completed: int = 0
    failed: int = 0
    output_file_id: str | None = None
    error_file_id: str | None = None
    cancel: asyncio.Event = field(default_factory=asyncio.Event)

    def move(self, status: Status) -> None:
        self.status = status
        self.stamps[f"{status}_at"] = int(time.time())

    async def linger(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.cancel.wait(), _SLOW_PACE if self.fate == "slow" else _PACE)

    def form(self) -> dict[str, Any]:
        created = self.stamps["validating_at"]
        times = ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": self.endpoint,
            "errors": {"object": "list", "data": self.problems} if self.problems else None,
            "input_file_id": self.input_file_id,
            "completion_window": self.completion_window,
            "status": self.status,
            "output_file_id": self.output_file_id,
            "error_file_id": self.error_file_id,
            "created_at": created,
            "expires_at": created + WINDOW,
            **{f"{state}_at": self.stamps.get(f"{state}_at") for state in times},
            "request_counts": {"total": self.total, "completed": self.completed, "failed": self.failed},
            "metadata": self.metadata,
        }


class Batches:
    def __init__(self, files: FileStore, answers: Mapping[str, Answer], fates: Sequence[Fate], seed: int) -> None:
        self.files = files
        self.answers = answers
        self.fates = fates
        self.seed = seed
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def create(self, body: Mapping[str, Any]) -> Job:
        endpoint, file_id = body.get("endpoint"), body.get("input_file_id")
        if not isinstance(endpoint, str) or endpoint not in self.answers:
            raise WireError(f"endpoint must be one of {', '.join(self.answers)}", param="endpoint")
        if body.get("completion_window") != "24h":
            raise WireError("completion_window must be 24h", param="completion_window")
        if not isinstance(file_id, str):
            raise WireError("input_file_id must be a text", param="input_file_id")
        data = self.files.get(file_id).data
        number = len(self._jobs)
        job = Job(
            id=f"batch_{hashlib.sha256(f'{number}:{endpoint}:{file_id}'.encode()).hexdigest()[:24]}",
            input_file_id=file_id,
            endpoint=endpoint,
            completion_window="24h",
            metadata=body.get("metadata"),
            fate=self.fates[min(number, len(self.fates) - 1)],
        )
        job.move("validating")
        self._jobs[job.id] = job
        task = asyncio.create_task(self._work(job, data, random.Random(self.seed * 1_000_003 + number)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def get(self, id: str) -> Job:
        if id not in self._jobs:
            raise WireError(f"No batch found with id {id!r}.", status=404, param="id")
        return self._jobs[id]

    def all(self) -> list[Job]:
        return list(self._jobs.values())

    def cancel(self, id: str) -> Job:
        job = self.get(id)
        if job.status not in ("validating", "in_progress", "finalizing", "cancelling"):
            raise WireError(f"a batch that is {job.status} cannot be cancelled", status=409)
        job.move("cancelling")
        job.cancel.set()
        return job

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self, job: Job, data: bytes, dice: random.Random) -> None:
        await job.linger()
        lines, job.problems = await asyncio.to_thread(read_lines, data, job.endpoint)
        if job.fate == "fail":
            job.problems = [problem("token_limit_exceeded", "Enqueued token limit reached (a failure on purpose).")]
        if job.problems:
            job.move("failed")
            return
        job.total = len(lines)
        if not job.cancel.is_set():
            job.move("in_progress")
        in_time = lines[: (len(lines) + 1) // 2] if job.fate == "expire" else lines
        places = asyncio.Semaphore(AT_ONCE)
        rows = [row for row in await asyncio.gather(*(self._answer(job, line, places) for line in in_time)) if row]
        await job.linger()
        done = {custom_id for custom_id, _, _ in rows}
        late = [line for line in lines if line.custom_id not in done]
        job.failed += len(late)
        if not job.cancel.is_set():
            job.move("finalizing")
            await job.linger()
        self._write(job, rows, late, dice)
        job.move("cancelled" if job.cancel.is_set() else "expired" if late else "completed")

    async def _answer(self, job: Job, line: Line, places: asyncio.Semaphore) -> tuple[str, bool, str] | None:
        """Return (custom id, success, row), or None if the job was cancelled before this line."""
        async with places:
            if job.cancel.is_set():
                return None
            try:
                body = await self.answers[job.endpoint](line.body)
            except Exception as error:
                wire = as_wire_error(error)
                job.failed += 1
                return line.custom_id, False, answered(job.id, line, wire.status, wire.body())
            job.completed += 1
            return line.custom_id, True, answered(job.id, line, 200, body)

    def _write(self, job: Job, rows: list[tuple[str, bool, str]], late: list[Line], dice: random.Random) -> None:
        """Write the results in random order: OpenAI promises none, and a client that relies on one must fail here."""
        good = [row for _, well, row in rows if well]
        bad = [row for _, well, row in rows if not well]
        if job.cancel.is_set():
            bad += [unanswered(job.id, line, "batch_cancelled", "The batch was cancelled.") for line in late]
        else:
            bad += [
                unanswered(job.id, line, "batch_expired", "The completion window ended before this request ran.")
                for line in late
            ]
        for kind, written in (("output", good), ("error", bad)):
            dice.shuffle(written)
            if written:
                stored = self.files.add(f"{job.id}_{kind}.jsonl", "batch_output", "".join(written).encode())
                setattr(job, f"{kind}_file_id", stored.id)


def routes(batches: Batches) -> list[Route]:
    async def create(http: Request) -> Response:
        return JSONResponse(batches.create(bodies.json_object(await http.body())).form())

    async def listed(http: Request) -> Response:
        return JSONResponse(page((job.form() for job in batches.all()), http.query_params))

    async def shown(http: Request) -> Response:
        return JSONResponse(batches.get(http.path_params["id"]).form())

    async def cancel(http: Request) -> Response:
        return JSONResponse(batches.cancel(http.path_params["id"]).form())

    return [
        Route("/v1/batches", create, methods=["POST"]),
        Route("/v1/batches", listed, methods=["GET"]),
        Route("/v1/batches/{id}", shown, methods=["GET"]),
        Route("/v1/batches/{id}/cancel", cancel, methods=["POST"]),
    ]
