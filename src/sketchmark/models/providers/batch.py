"""OpenAI's Batch API: many requests in one job, which may take a day and outlives the process that waits for it.

    files = JobFiles.named(Path("batch"), Path("results"))
    results = await run_job(connect("openai/NAME", {}), requests, files, print)

The published scorer polls without end when a job fails or expires. Here every job ends with results, or with an error
that says what was kept and how to continue.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from sketchmark.errors import BadInput, CallFailed, RunConflict
from sketchmark.files import write_atomic
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.call import Attempt, Call, Caller, Pace
from sketchmark.models.failures import BadReply
from sketchmark.models.providers.batch_files import ENDPOINT, BatchRequest, JobFiles, Result, State, digest, encode
from sketchmark.models.providers.openai_wire import OPENAI, OpenAIWire, is_openai, to_openai
from sketchmark.secrets import address_digest, find_key, redact, require_key, without_credentials

T = TypeVar("T")
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Connection:
    """Connection to a server. `model` is the name in requests, `server` the address without secrets."""

    wire: OpenAIWire
    model: str
    server: str
    call: Caller

    async def __call__(self, attempt: Attempt[T]) -> T:
        """Make one request, with retries. Errors contain no keys."""
        return await self.call(attempt)

    async def close(self) -> None:
        await self.wire.close()


def connect(name: str, arguments: Mapping[str, Value]) -> Connection:
    """Connect to the server of `openai/NAME`, with that model's arguments for it."""
    provider, _, model = name.partition("/")
    if provider not in ("openai", "openai_compatible") or not model:
        raise BadInput(f"--batch needs a judge behind OpenAI's Batch API, not {name!r}", "name it openai/MODEL")
    args = Arguments(name, arguments)
    if "|" in (args.text("base_url") or ""):
        raise BadInput("--batch: a batch job lives on one server, and base_url names several", "name one")
    base_url = args.text("base_url") or os.environ.get("OPENAI_BASE_URL") or None
    key_name = args.text("api_key_env")
    timeout = args.above_zero("timeout") or 300.0
    retries = args.whole("max_retries", 6)
    args.refuse_unknown()
    names = (key_name or "OPENAI_API_KEY",)
    key = require_key(name, names) if is_openai(base_url) or key_name else find_key(names) or "none"
    return Connection(
        wire=to_openai(base_url, key),
        model=model,
        server=_named(base_url) if base_url else OPENAI,
        call=Caller(name, Pace(), timeout=timeout, max_retries=retries, keys=names),
    )


def _named(base_url: str) -> str:
    """Return the address that a job belongs to, without secrets."""
    digest = address_digest(base_url)
    return without_credentials(base_url) + (f" ({digest})" if digest else "")


class Uploaded(msgspec.Struct):
    id: str


class Counts(msgspec.Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class Problem(msgspec.Struct):
    code: str | None = None
    message: str | None = None


class Problems(msgspec.Struct):
    data: list[Problem] | None = None


class Made(msgspec.Struct):
    """A new or listed job."""

    id: str
    input_file_id: str = ""


class Job(msgspec.Struct):
    """A polled job. It must have a status, or polling would not end."""

    id: str
    status: str
    request_counts: Counts | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: Problems | None = None


class Listed(msgspec.Struct):
    data: list[Made]


def read(body: dict[str, Any], kind: type[Kind], called: str) -> Kind:
    try:
        return msgspec.convert(body, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadReply(f"the server sent no {called} but {str(body)[:80]!r} ({error})") from None


FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_ENDS = ("completed", "failed", "expired", "cancelled")
Tell = Callable[[str], None]
Usable = Callable[[str, Result], bool]
"""(custom id, its result) → is it usable?"""


async def run_job(
    connection: Connection,
    requests: Sequence[BatchRequest],
    files: JobFiles,
    tell: Tell,
    usable: Usable = lambda _, result: not result.problem,
) -> dict[str, Result]:
    """Return the results by custom id.

    After a kill it resumes the running job. After a job that ended it sends a new job with the requests that have no
    `usable` result. If all have one, it only reads.
    """
    wanted = [request.custom_id for request in requests]
    state = _state(connection, requests, files)
    if state.batch_id is None:
        good = {name for name, result in files.results(wanted).items() if usable(name, result)}
        left = [request for request in requests if request.custom_id not in good]
        state = replace(state, completed=not left)
        if left:
            files.keep(good)
            state = await _send(connection, left, files, state, tell)
        else:
            files.save_state(state)
    if not state.completed:
        job = await _wait(connection, state, files, tell)
        await _collect(connection, job, files)
        lasting = files.lasting_failure()
        done = job.status == "completed" and lasting is None
        state = replace(state, completed=done, file_id=None, batch_id=None)
        files.save_state(state)
        if lasting:
            raise connection.call.failed(lasting)
        if not done:
            raise CallFailed(f"batch_{job.status}", _end(job, files, len(wanted)))
    return files.results(wanted)


def _state(connection: Connection, requests: Sequence[BatchRequest], files: JobFiles) -> State:
    now = State(digest(requests), connection.server)
    known = files.load_state()
    if known is None:
        if files.output.exists():
            raise RunConflict(
                f"{files.output} is there already, and no state of a batch that wrote it", "choose other file names"
            )
        return now
    if known.requests != now.requests:
        raise RunConflict(
            f"{files.state} belongs to a batch of other requests",
            "choose other names with --batch_jsonl_file and --output_batch_job_file",
        )
    if known.server != now.server and not known.completed:
        raise RunConflict(f"{files.state} belongs to a batch at {known.server}, not {now.server}")
    return replace(known, server=now.server)


async def _send(
    connection: Connection, requests: Sequence[BatchRequest], files: JobFiles, state: State, tell: Tell
) -> State:
    """Upload and create. The state is saved in between, so that a kill costs at most an unused file."""
    wire = connection.wire
    may_exist = state.file_id is not None
    if state.file_id is None:
        data = encode(requests)
        write_atomic(files.sent, data)

        async def upload(call: Call) -> Uploaded:
            return read(await wire.upload(files.sent.name, data, "batch", call), Uploaded, "file")

        uploaded = await connection(upload)
        state = replace(state, file_id=uploaded.id)
        files.save_state(state)
        tell(f"{files.sent.name}: uploaded {len(requests)} requests")
    file_id = str(state.file_id)

    async def create(call: Call) -> Made:
        # A lost response or a kill may have left a job behind, which must not be paid for twice.
        nonlocal may_exist
        newest = read(await wire.batches(100, call), Listed, "list of jobs").data if may_exist else []
        for job in newest:
            if job.input_file_id == file_id:
                return job
        may_exist = True
        return read(await wire.create_batch(file_id, ENDPOINT, call), Made, "job")

    job = await connection(create)
    state = replace(state, batch_id=job.id)
    files.save_state(state)
    return state


async def _wait(connection: Connection, state: State, files: JobFiles, tell: Tell) -> Job:
    """Poll at growing intervals until the job ends, and report every change."""
    batch_id, wait, told = str(state.batch_id), FIRST_WAIT, ""

    async def retrieve(call: Call) -> Job:
        return read(await connection.wire.batch(batch_id, call), Job, "job")

    while True:
        try:
            job = await connection(retrieve)
        except CallFailed as error:
            hint = "the same command resumes it"
            if error.kind == "not_found":
                hint = f"if it is gone for good, delete {files.state} to send the requests again"
            words = f"cannot ask about job {batch_id}: {error}"
            raise CallFailed(error.kind, words, stops_run=error.stops_run, hint=hint) from None
        seen = f"{files.sent.name}: {job.status}{_counts(job)}"
        if seen != told:
            tell(seen)
            told = seen
        if job.status in _ENDS:
            return job
        await asyncio.sleep(wait)
        wait = min(_LONGEST_WAIT, wait * 1.5)


def _counts(job: Job) -> str:
    counts = job.request_counts
    if not counts or not counts.total:
        return ""
    failed = f", {counts.failed} failed" if counts.failed else ""
    return f", {counts.completed} of {counts.total} done{failed}"


async def _collect(connection: Connection, job: Job, files: JobFiles) -> None:
    """Fetch both files of the job, even if it expired: its finished part is paid for."""
    if job.output_file_id:
        files.add_output(await _content(connection, job.output_file_id))
    elif job.status == "completed" and not files.output.exists():
        write_atomic(files.output, b"")
    if job.error_file_id:
        write_atomic(files.errors, await _content(connection, job.error_file_id))


async def _content(connection: Connection, file_id: str) -> bytes:
    async def fetch(call: Call) -> bytes:
        return await connection.wire.content(file_id, call)

    text = (await connection(fetch)).decode("utf-8", "surrogateescape")
    return redact(text).encode("utf-8", "surrogateescape")  # it is written to disk


def _end(job: Job, files: JobFiles, wanted: int) -> str:
    problems = job.errors.data if job.errors and job.errors.data else []
    why = "; ".join(redact(f"{problem.code}: {problem.message}") for problem in problems[:3])
    kept = len(files.answered())
    held = f"; {kept} of {wanted} answers are kept in {files.output}" if kept else ""
    end = f"was {job.status}" if job.status == "cancelled" else str(job.status)
    return (
        f"batch job {job.id} ({files.sent.name}) {end}{f': {why}' if why else ''}{held}; "
        "the same command sends what is missing as a new job"
    )
