"""Errors as OpenAI's clients expect them: an HTTP status and a body `{"error": {message, type, param, code}}`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from sketchmark.errors import BadInput, CallFailed, SketchmarkError

log = logging.getLogger(__name__)


class WireError(Exception):
    """A request that gets an error for an answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.headers = headers

    def body(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 and self.status != 429 else "server_error"
        if self.status == 429:
            kind = "rate_limit_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        return JSONResponse(self.body(), self.status, headers=self.headers)


def as_wire_error(error: Exception) -> WireError:
    """What the client is told. A fault of ours is logged here with its trace and named to the client by class only:
    its text could hold anything, a key included."""
    if isinstance(error, WireError):
        return error
    if isinstance(error, HTTPException):
        return WireError(error.detail, status=error.status_code, headers=error.headers)
    if isinstance(error, CallFailed):
        # 422 is never retried by the SDKs: the model had its chance. A broken wire behind us may be better next time.
        return WireError(str(error), status=422 if error.blames_model else 502, code=error.kind)
    if isinstance(error, BadInput):
        return WireError(str(error), code="bad_input")
    if isinstance(error, SketchmarkError):
        return WireError(str(error), status=500)
    log.error("the model failed", exc_info=error)
    return WireError(f"the model failed with {type(error).__name__}", status=500)
