"""The viewer's web application: it only reads, and only run folders."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sketchmark.errors import SketchmarkError
from sketchmark.view.guard import Guard
from sketchmark.view.views import Views

STATIC = Path(__file__).parent / "static"
_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}
_TROUBLE = (SketchmarkError, LookupError, TypeError, ValueError, AttributeError, OSError)
"""What a run folder with other things in it than it should have can lead to."""
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
            Route("/report", _report(views)),
            Mount("/static", StaticFiles(directory=STATIC)),
            *(Route(path, _shell) for path in ("/", "/run", "/samples", "/episode", "/compare")),
        ],
        middleware=[Middleware(Guard, token=token)],
        exception_handlers={404: _missing, **dict.fromkeys(_TROUBLE, _wrong)},
    )


class _Strict(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _json(view: Callable[[dict[str, str]], Any]) -> Callable[[Request], Any]:
    async def answer(http: Request) -> Response:
        return _Strict(await run_in_threadpool(view, dict(http.query_params)))

    return answer


def _picture(view: Callable[[dict[str, str]], tuple[bytes, str]]) -> Callable[[Request], Any]:
    async def answer(http: Request) -> Response:
        data, media_type = await run_in_threadpool(view, dict(http.query_params))
        return Response(data, media_type=media_type, headers=_FOREVER)

    return answer


def _report(views: Views) -> Callable[[Request], Any]:
    async def answer(http: Request) -> Response:
        path = await run_in_threadpool(views.report, dict(http.query_params))
        return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})

    return answer


async def _shell(http: Request) -> Response:
    return FileResponse(STATIC / "index.html", media_type="text/html")


async def _missing(http: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is no such page"}, 404)


async def _wrong(http: Request, error: Exception) -> Response:
    """A broken or hostile run folder is an answer, not a traceback."""
    if isinstance(error, SketchmarkError):
        return JSONResponse({"error": str(error)}, 404)
    return JSONResponse({"error": f"this cannot be shown: {type(error).__name__}: {str(error)[:200]}"}, 500)
