"""Files of a batch job: its requests, its results in any order, and the state needed to resume it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sketchmark.errors import BadInput
from sketchmark.files import write_atomic, write_json
from sketchmark.models import failures
from sketchmark.models.failures import BadReply, FailedTry
from sketchmark.models.providers.openai_wire import read_chat
from sketchmark.secrets import redact

ENDPOINT: Final = "/v1/chat/completions"
_MAX_REQUESTS = 50_000
MAX_BYTES = 200 * 2**20
"""OpenAI's limits on one batch file."""


@dataclass(frozen=True)
class BatchRequest:
    custom_id: str
    body: Mapping[str, Any]

    def line(self) -> bytes:
        row = {"custom_id": self.custom_id, "method": "POST", "url": ENDPOINT, "body": dict(self.body)}
        return json.dumps(row, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True)
class Result:
    """Result of one request. `problem` is empty if there is a reply."""

    text: str = ""
    problem: str = ""


def digest(requests: Iterable[BatchRequest]) -> str:
    sha = hashlib.sha256()
    for request in requests:
        sha.update(request.line())
    return sha.hexdigest()


def encode(requests: Sequence[BatchRequest]) -> bytes:
    if len({request.custom_id for request in requests}) < len(requests):
        raise BadInput("two requests of a batch have the same custom id")
    if len(requests) > _MAX_REQUESTS:
        raise BadInput(f"{len(requests)} requests are over the limit of {_MAX_REQUESTS} in one batch")
    data = b"".join(request.line() for request in requests)
    if len(data) > MAX_BYTES:
        raise BadInput(f"a batch file of {len(data)} bytes is over the limit of {MAX_BYTES}")
    return data


def rows(data: bytes) -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """Yield (custom id, row, line) of each valid line. The server's file may be incomplete."""
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
            yield row["custom_id"], row, line


def _read_result(row: Mapping[str, Any]) -> Result:
    """Read a reply, or the reason why there is none."""
    error, response = row.get("error"), row.get("response")
    if isinstance(error, dict):
        return Result(problem=_words(error.get("code") or error.get("message")))
    if not isinstance(response, dict) or not isinstance(response.get("body"), dict):
        return Result(problem="no response")
    body, status = response["body"], response.get("status_code")
    if status != 200:
        inner = body.get("error")
        message = inner.get("message") if isinstance(inner, dict) else None
        return Result(problem=_words(f"{status}: {message}" if message else f"status {status}"))
    try:
        reply = read_chat(body)
    except (BadReply, ValueError, TypeError):
        return Result(problem="no message")
    if reply.finish != "stop":
        return Result(problem="truncated" if reply.finish == "length" else reply.finish)
    return Result(reply.text) if reply.text.strip() else Result(problem="empty")


def lasting_failure(row: Mapping[str, Any]) -> FailedTry | None:
    response = row.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(status, int) or status == 200:
        return None
    return failures.lasting_failure(status, str(response.get("body")), _read_result(row).problem)


def _words(message: object) -> str:
    return " ".join(redact(str(message or "unknown error")).split())[:200]


@dataclass(frozen=True)
class State:
    """State of a job. `requests` is the digest of all requests: a state is never used for others.

    Between jobs (none sent yet, or the last one expired) there is neither file nor batch.
    """

    requests: str
    server: str
    file_id: str | None = None
    batch_id: str | None = None
    completed: bool = False


@dataclass(frozen=True)
class JobFiles:
    sent: Path
    output: Path
    errors: Path

    @classmethod
    def named(cls, sent: Path, output: Path) -> JobFiles:
        """Return the `.jsonl` files with these names: `batch_step1`, `results_step1`."""
        return cls(
            sent.with_name(f"{sent.name}.jsonl"),
            output.with_name(f"{output.name}.jsonl"),
            output.with_name(f"{output.name}.errors.jsonl"),
        )

    @property
    def state(self) -> Path:
        return self.sent.with_name(f"{self.sent.name}.state.json")

    def load_state(self) -> State | None:
        try:
            return State(**json.loads(self.state.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(
                f"cannot read the state of the batch in {self.state}: {error}", "delete it to start over"
            ) from error

    def save_state(self, state: State) -> None:
        write_json(self.state, asdict(state))

    def answered(self) -> set[str]:
        return {custom_id for custom_id, _, _ in rows(_bytes(self.output))}

    def add_output(self, data: bytes) -> None:
        """Add rows to those of an earlier job that expired, which are paid for."""
        known = self.answered()
        new = [line for custom_id, _, line in rows(data) if custom_id not in known]
        kept = [line for _, _, line in rows(_bytes(self.output))]
        write_atomic(self.output, b"".join(line + b"\n" for line in [*kept, *new]))

    def keep(self, names: Set[str]) -> None:
        """Keep only the rows of these names. The others are requested again, and would be duplicates."""
        if self.output.exists():
            kept = [line for custom_id, _, line in rows(_bytes(self.output)) if custom_id in names]
            write_atomic(self.output, b"".join(line + b"\n" for line in kept))

    def lasting_failure(self) -> FailedTry | None:
        """Return a failure that all other requests would meet too (an empty account). They must be sent again."""
        answered = self.answered()
        failed = (row for custom_id, row, _ in rows(_bytes(self.errors)) if custom_id not in answered)
        return next((found for row in failed if (found := lasting_failure(row))), None)

    def results(self, wanted: Iterable[str]) -> dict[str, Result]:
        """Return the results by custom id. A request without a result gets a separate problem."""
        found = {custom_id: _read_result(row) for custom_id, row, _ in rows(_bytes(self.errors))}
        answers: dict[str, Result] = {}
        for custom_id, row, _ in rows(_bytes(self.output)):
            answers[custom_id] = Result(problem="answered twice") if custom_id in answers else _read_result(row)
        found |= answers
        return {custom_id: found.get(custom_id, Result(problem="missing from the results")) for custom_id in wanted}


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
