"""`images/edits` and `images/generations`: drawing without a conversation."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sketchmark.episode.model import Model, Reply
from sketchmark.episode.sample import Context, Part, of
from sketchmark.media import Picture
from sketchmark.serve import bodies
from sketchmark.serve.bodies import WireError

_HANDLED = frozenset({"prompt", "response_format", "stream"})
_FILES = ("image", "image[]")
_NO_TEXTS = ("seed", "temperature", "stream")
_MAX_PICTURES = 64


class PictureShelf:
    """The newest drawings, for clients that ask for URLs instead of base64."""

    def __init__(self, room: int = 256) -> None:
        self._room = room
        self._pictures: OrderedDict[str, Picture] = OrderedDict()

    def put(self, picture: Picture) -> str:
        self._pictures[picture.digest] = picture
        self._pictures.move_to_end(picture.digest)
        while len(self._pictures) > self._room:
            self._pictures.popitem(last=False)
        return picture.digest

    def get(self, digest: str) -> Picture:
        if digest not in self._pictures:
            raise WireError("no such picture (only the newest are kept)", status=404)
        return self._pictures[digest]


async def answer(model: Model, body: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one generation request of a batch, only as base64: a URL would be gone when the job is read."""
    reply, as_url = await _generate(model, body)
    if as_url:
        raise WireError("a batch gives pictures as b64_json", param="response_format")
    return await asyncio.to_thread(_result, reply, None)


def routes(model: Model) -> list[Route]:
    shelf = PictureShelf()

    async def respond(http: Request, reply: Reply, as_url: bool) -> Response:
        url = str(http.url_for("shelf", digest=shelf.put(reply.picture))) if as_url and reply.picture else None
        encoded = await asyncio.to_thread(lambda: json.dumps(_result(reply, url)))
        return Response(encoded, media_type="application/json")

    async def generations(http: Request) -> Response:
        return await respond(http, *await _generate(model, bodies.json_object(await http.body())))

    async def edits(http: Request) -> Response:
        async with http.form(max_files=_MAX_PICTURES + 1, max_part_size=2**20) as form:
            shown: list[Picture] = []
            settings: dict[str, Any] = {}
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    if name not in _FILES:
                        raise WireError(f"this server has no use for a file named {name!r}", param=name)
                    shown.append(bodies.picture(await value.read(), name))
                else:
                    settings[name] = _plain(value) if name in _NO_TEXTS else value
        if not shown:
            raise WireError("images/edits needs at least one picture, as image or image[]", param="image")
        context = Context((*of(*shown), _prompt(settings)))
        return await respond(http, await _draw(model, context, settings), _wants_url(settings))

    async def shelved(http: Request) -> Response:
        picture = shelf.get(http.path_params["digest"])
        return Response(picture.data, media_type=picture.media_type)

    return [
        Route("/v1/images/generations", generations, methods=["POST"]),
        Route("/v1/images/edits", edits, methods=["POST"]),
        Route("/v1/images/shelf/{digest}", shelved, name="shelf"),
    ]


async def _generate(model: Model, body: Mapping[str, Any]) -> tuple[Reply, bool]:
    as_url = _wants_url(body)
    return await _draw(model, Context((_prompt(body),)), body), as_url


async def _draw(model: Model, context: Context, settings: Mapping[str, Any]) -> Reply:
    bodies.one_only(settings)
    if bodies.streams(settings):
        raise WireError("this server does not stream pictures; chat completions can", param="stream")
    for name in _FILES:
        if name in settings:
            raise WireError("pictures are sent to images/edits, as files", param=name)
    bodies.check_taken(model, context)
    reply = await model.draw(context, bodies.options(settings, _HANDLED))
    if reply.finish == "refused":
        raise WireError(reply.text or "the request was refused", code="moderation_blocked")
    return reply


def _plain(text: str) -> Any:
    """Convert a form's text to a number or the like."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _prompt(settings: Mapping[str, Any]) -> Part:
    prompt = settings.get("prompt")
    if not isinstance(prompt, str) or not prompt:
        raise WireError("prompt must be a text that is not empty", param="prompt")
    return Part(prompt)


def _wants_url(settings: Mapping[str, Any]) -> bool:
    form = settings.get("response_format")
    if form not in (None, "b64_json", "url"):
        raise WireError(f"unknown response_format {form!r}: b64_json and url are known", param="response_format")
    return form == "url"


def _result(reply: Reply, url: str | None) -> dict[str, Any]:
    """Return the result. A model that drew nothing gives an empty list, which is not an error of the request."""
    data = []
    if reply.picture is not None:
        data = [{"url": url} if url else {"b64_json": base64.b64encode(reply.picture.data).decode("ascii")}]
    used = reply.usage
    return {
        "created": int(time.time()),
        "data": data,
        "output_format": reply.picture.format if reply.picture else None,
        "usage": {
            "input_tokens": used.tokens_in,
            # Clients that check OpenAI's form require the split, which models here do not report.
            "input_tokens_details": {"text_tokens": used.tokens_in, "image_tokens": 0},
            "output_tokens": used.tokens_out,
            "total_tokens": used.tokens_in + used.tokens_out,
        },
        "sketchmark": bodies.own(reply),
    }
