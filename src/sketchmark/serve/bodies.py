"""Request bodies (JSON objects, data URLs, shared settings), and errors as OpenAI's clients expect them.

An error is an HTTP status and a body `{"error": {message, type, param, code}}`.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Author, Context
from sketchmark.errors import BadInput, BadPicture, CallFailed, SketchmarkError
from sketchmark.media import Picture
from sketchmark.media.sound import Sound

log = logging.getLogger(__name__)


class WireError(Exception):
    """An error response to a request."""

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
    """Return the error for the client. An internal error is logged here with its trace, and the client gets only its
    class, because its text could hold a key."""
    if isinstance(error, WireError):
        return error
    if isinstance(error, HTTPException):
        return WireError(error.detail, status=error.status_code, headers=error.headers)
    if isinstance(error, CallFailed):
        # The SDKs never retry 422: the model has failed. A broken connection behind this server may work next time.
        return WireError(str(error), status=422 if error.blames_model else 502, code=error.kind)
    if isinstance(error, BadInput):
        return WireError(str(error), code="bad_input")
    if isinstance(error, SketchmarkError):
        return WireError(str(error), status=500)
    log.error("the model failed", exc_info=error)
    return WireError(f"the model failed with {type(error).__name__}", status=500)


AUTHORS: Mapping[str, Author] = {"system": "task", "developer": "task", "user": "task", "assistant": "model"}
MAX_PICTURE_BYTES = 20 * 2**20


def json_object(body: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WireError(f"the body is not JSON: {error}", code="invalid_json") from error
    if not isinstance(value, dict):
        raise WireError("the body must be a JSON object", code="invalid_json")
    return value


def picture(data: bytes, param: str) -> Picture:
    """Read an image and check its size from its header, without decoding."""
    if len(data) > MAX_PICTURE_BYTES:
        raise WireError(
            f"a picture of {len(data)} bytes is over the limit of {MAX_PICTURE_BYTES}",
            code="image_too_large",
            param=param,
        )
    try:
        read = Picture.from_bytes(data)
        _ = read.size
    except BadPicture as error:
        raise WireError(str(error), code="invalid_image", param=param) from error
    return read


def picture_from_url(url: object, param: str) -> Picture:
    if not isinstance(url, str) or not url.startswith("data:"):
        # Fetching addresses for a client would let it reach whatever this machine can reach.
        raise WireError(
            "pictures must come as data URLs; this server fetches none", code="invalid_image_url", param=param
        )
    head, comma, encoded = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise WireError("a data URL must be base64", code="invalid_image_url", param=param)
    return picture(_decoded(encoded, param), param)


def sound(given: object, param: str) -> Sound:
    """Read `{"data": base64, "format": "wav"}`."""
    data = given.get("data") if isinstance(given, Mapping) else None
    if not isinstance(data, str):
        raise WireError("a sound needs its data and its format", param=param)
    try:
        return Sound.from_bytes(_decoded(data, param))
    except BadInput as error:
        raise WireError(str(error), code="invalid_audio", param=param) from error


def _decoded(encoded: str, param: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise WireError(f"broken base64: {error}", code="invalid_base64", param=param) from error


def number(body: Mapping[str, Any], name: str, low: float, high: float) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise WireError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}", param=name)
    return value


def whole_number(body: Mapping[str, Any], name: str, low: int, high: int) -> int | None:
    value = number(body, name, low, high)
    if value is not None and value != int(value):
        raise WireError(f"{name} must be a whole number, not {value!r}", param=name)
    return None if value is None else int(value)


def words(part: Mapping[str, Any], name: str, param: str) -> str:
    """Read the text of a part, under the name that its type has for it."""
    if not isinstance(part.get(name), str):
        raise WireError(f"a {name} part needs its {name}", param=param)
    return str(part[name])


def streams(body: Mapping[str, Any]) -> bool:
    asked = body.get("stream")
    if not isinstance(asked, bool | None):
        raise WireError(f"stream must be true or false, not {asked!r}", param="stream")
    return asked is True


def one_only(body: Mapping[str, Any]) -> None:
    if body.get("n") not in (None, 1, "1"):
        raise WireError("this server gives one answer per request: n must be 1", param="n")


def options(body: Mapping[str, Any], handled: frozenset[str]) -> Options:
    """Read generation settings. Settings that are neither the endpoint's nor common ones go to the model as extra.

    The default temperature is 0, as everywhere in Sketchmark, and not OpenAI's 1: evaluation must be repeatable.
    """
    limit = whole_number(body, "max_completion_tokens", 1, 2**31 - 1) or whole_number(
        body, "max_tokens", 1, 2**31 - 1
    )
    common = {"max_completion_tokens", "max_tokens", "temperature", "seed", "model", "n", "user", "metadata", "store"}
    return Options(
        max_new_tokens=limit,
        temperature=number(body, "temperature", 0, 2) or 0.0,
        seed=whole_number(body, "seed", -(2**63), 2**63 - 1),
        extra={name: value for name, value in body.items() if name not in handled | common and value is not None},
    )


def own(reply: Reply) -> dict[str, Any]:
    """Return fields that OpenAI's form lacks, for a Sketchmark client."""
    return {"finish": reply.finish, "left_out": list(reply.left_out)}


def check_taken(model: Model, context: Context) -> None:
    most = model.abilities.max_pictures
    if most is not None and len(context.pictures) > most:
        raise WireError(
            f"{len(context.pictures)} pictures: {model.name} takes {most} at most", code="too_many_images"
        )
    if context.sounds and not model.abilities.hear:
        raise WireError(f"{model.name} takes no sounds", code="unsupported_content")
