"""The viewer's web application: it only reads, and only run folders."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sketchmark.errors import SketchmarkError
from sketchmark.view.guard import Guard
from sketchmark.view.run_list import in_words
from sketchmark.view.views import Views

Made = TypeVar("Made")

STATIC = Path(__file__).parent / "static"
_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
"""report.html carries its own styles; a run folder from a stranger may carry anything under that name."""


def make_app(root: Path, token: str) -> Starlette:
    views = Views(root)
    threading.Thread(target=views.warm, daemon=True).start()
    return Starlette(
        routes=[
            Route("/api/runs", _json(views.runs)),
            Route("/api/run", _json(views.run)),
            Route("/api/samples", _json(views.samples)),
            Route("/api/episode", _json(views.episode)),
            Route("/api/difference", _json(views.difference)),
            Route("/api/compare", _json(views.compare)),
            Route("/api/version", _json(views.version)),
            Route("/picture", _picture(views.picture)),
            Route("/thumbnail", _picture(views.thumbnail)),
            Route("/overlay", _picture(views.overlay)),
            Route("/sound", _sound(views)),
            Route("/report", _report(views)),
            Mount("/static", StaticFiles(directory=STATIC)),
            *(Route(path, _shell) for path in ("/", "/run", "/samples", "/episode", "/compare")),
        ],
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={404: _missing},
    )


class _Strict(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _json(view: Callable[[dict[str, str]], Any]) -> Callable[[Request], Any]:
    return _answering(view, _Strict)


def _picture(view: Callable[[dict[str, str]], tuple[bytes, str]]) -> Callable[[Request], Any]:
    return _answering(view, lambda made: Response(made[0], media_type=made[1], headers=_FOREVER))


def _sound(views: Views) -> Callable[[Request], Any]:
    """From the file, since that answers requests for a part: without it no one could skip to the middle."""
    return _answering(views.sound, lambda made: FileResponse(made[0], media_type=made[1], headers=_FOREVER))


def _report(views: Views) -> Callable[[Request], Any]:
    policy = {"Content-Security-Policy": REPORT_POLICY}
    return _answering(views.report, lambda path: FileResponse(path, media_type="text/html", headers=policy))


def _answering(view: Callable[[dict[str, str]], Made], wrap: Callable[[Made], Response]) -> Callable[[Request], Any]:
    """What a view makes of the request; whatever a broken or hostile run folder leads to is said in a line."""

    async def answer(http: Request) -> Response:
        try:
            return wrap(await run_in_threadpool(view, dict(http.query_params)))
        except Exception as error:
            return JSONResponse({"error": in_words(error)}, 404 if isinstance(error, SketchmarkError) else 500)

    return answer


async def _shell(http: Request) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _missing(http: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is no such page"}, 404)
