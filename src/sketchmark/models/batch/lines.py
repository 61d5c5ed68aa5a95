"""The lines of a batch: requests as they are sent, results as they come back in any order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sketchmark.errors import BadInput
from sketchmark.models import failures
from sketchmark.models.failures import BadReply, FailedTry
from sketchmark.models.openai_replies import read_chat
from sketchmark.models.secrets import redact

ENDPOINT: Final = "/v1/chat/completions"
MAX_REQUESTS = 50_000
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
    """What came back for one request. `problem` is empty when there is an answer."""

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
    if len(requests) > MAX_REQUESTS:
        raise BadInput(f"{len(requests)} requests are over the limit of {MAX_REQUESTS} in one batch")
    data = b"".join(request.line() for request in requests)
    if len(data) > MAX_BYTES:
        raise BadInput(f"a batch file of {len(data)} bytes is over the limit of {MAX_BYTES}")
    return data


def rows(data: bytes) -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """(custom id, row, line) of each line that is one; the server's file is not trusted to be whole."""
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
            yield row["custom_id"], row, line


def read_result(row: Mapping[str, Any]) -> Result:
    """An answer, or in a few words why there is none."""
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
    return failures.lasting_failure(status, str(response.get("body")), read_result(row).problem)


def _words(message: object) -> str:
    return " ".join(redact(str(message or "unknown error")).split())[:200]
