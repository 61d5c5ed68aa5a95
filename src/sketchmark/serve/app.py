"""The application: every endpoint in front of one model."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sketchmark.errors import SketchmarkError
from sketchmark.models.base import Model
from sketchmark.serve import batches, chat, files, pictures, responses
from sketchmark.serve.batches import Batches, Fate
from sketchmark.serve.faults import Faults
from sketchmark.serve.files import FileStore
from sketchmark.serve.gate import Gate
from sketchmark.serve.wire_errors import WireError, as_wire_error

NO_FAULTS = Faults()
LOOPBACK = ("127.0.0.1", "localhost")


def make_app(
    model: Model,
    faults: Faults = NO_FAULTS,
    *,
    key: str | None = None,
    fates: Sequence[Fate] = ("complete",),
    hosts: Sequence[str] = LOOPBACK,
) -> Starlette:
    """An OpenAI-compatible application. `key`: the bearer token to ask for; `fates`: how the batch jobs end, in turn;
    `hosts`: the names that it answers to.

    The model is not closed by it: whoever made the model closes it.
    """
    store = FileStore()
    answers = {
        "/v1/chat/completions": partial(chat.answer, model),
        "/v1/images/generations": partial(pictures.answer, model),
    }
    jobs = Batches(store, answers, fates, faults.seed)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await jobs.stop()

    return Starlette(
        routes=[
            *_models(model),
            *chat.routes(model),
            *responses.routes(model),
            *pictures.routes(model),
            *files.routes(store),
            *batches.routes(jobs),
        ],
        middleware=[Middleware(Gate, faults=faults, key=key, hosts=hosts)],
        exception_handlers=dict.fromkeys((WireError, SketchmarkError, HTTPException, Exception), _answer_error),
        lifespan=lifespan,
    )


async def _answer_error(http: Request, error: Exception) -> Response:
    return as_wire_error(error).response()


def _models(model: Model) -> list[Route]:
    served: dict[str, Any] = {
        "id": model.name,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "sketchmark",
    }

    async def listed(http: Request) -> Response:
        return JSONResponse({"object": "list", "data": [served]})

    async def shown(http: Request) -> Response:
        name = http.path_params["name"]
        if name != model.name:
            raise WireError(f"The model {name!r} does not exist", status=404, code="model_not_found")
        return JSONResponse(served)

    return [Route("/v1/models", listed), Route("/v1/models/{name:path}", shown)]
