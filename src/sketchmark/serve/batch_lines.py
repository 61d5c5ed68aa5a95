"""The lines of a batch: requests in, results and errors out."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from sketchmark.serve import bodies
from sketchmark.serve.wire_errors import WireError

MAX_LINES = 50_000
"""OpenAI's own limit."""


@dataclass(frozen=True)
class Line:
    custom_id: str
    body: dict[str, Any]


def read_lines(data: bytes, endpoint: str) -> tuple[list[Line], list[dict[str, Any]]]:
    """The requests of a batch file, and what is wrong with it. One bad line fails the whole job, as at OpenAI."""
    lines: list[Line] = []
    problems: list[dict[str, Any]] = []
    seen: set[str] = set()
    rows = [(number, row) for number, row in enumerate(data.split(b"\n"), 1) if row.strip()]
    if not rows:
        problems.append(problem("empty_file", "The batch file has no requests."))
    if len(rows) > MAX_LINES:
        return [], [problem("too_many_tasks", f"The batch file has over {MAX_LINES} requests.")]
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
