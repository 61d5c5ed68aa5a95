"""`/v1/files`: files that batches read and write, kept in memory, and lists in OpenAI's form."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sketchmark.serve.bodies import WireError


def page(items: Iterable[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
    """Return one page of a list, newest first, by `limit` and `after`."""
    rows = list(items)[::-1]
    after = query.get("after")
    if after:
        ids = [row["id"] for row in rows]
        if after not in ids:
            raise WireError(f"after: there is no {after}", param="after")
        rows = rows[ids.index(after) + 1 :]
    limit = query.get("limit", "100")
    if not limit.isdecimal() or not 1 <= int(limit) <= 10_000:
        raise WireError("limit must be a whole number from 1 to 10000", param="limit")
    shown = rows[: int(limit)]
    return {
        "object": "list",
        "data": shown,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
        "has_more": len(shown) < len(rows),
    }


_MAX_KEPT = 2**30

Purpose = Literal["batch", "batch_output"]


@dataclass(frozen=True)
class StoredFile:
    id: str
    filename: str
    purpose: Purpose
    data: bytes
    created: int

    def form(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.data),
            "created_at": self.created,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
        }


class FileStore:
    def __init__(self) -> None:
        self._files: dict[str, StoredFile] = {}
        self._made = 0

    def add(self, filename: str, purpose: Purpose, data: bytes) -> StoredFile:
        """Add a file. Its id follows from its order and content, so that injected faults are repeatable and an id of
        an earlier server never names another file. A job's output is identified by its name, which holds the job's
        id, because its content holds times and random ids."""
        if sum(len(file.data) for file in self._files.values()) + len(data) > _MAX_KEPT:
            raise WireError(f"the files would exceed {_MAX_KEPT} bytes: delete some", status=413, code="storage_full")
        self._made += 1
        known_by = data if purpose == "batch" else filename.encode()
        digest = hashlib.sha256(f"{self._made}:{purpose}:".encode() + known_by).hexdigest()
        file = StoredFile(f"file-{digest[:24]}", PurePosixPath(filename).name, purpose, data, int(time.time()))
        self._files[file.id] = file
        return file

    def get(self, id: str) -> StoredFile:
        if id not in self._files:
            raise WireError(f"No such File object: {id}", status=404, param="id")
        return self._files[id]

    def delete(self, id: str) -> None:
        del self._files[self.get(id).id]

    def all(self) -> list[StoredFile]:
        return list(self._files.values())


def routes(store: FileStore) -> list[Route]:
    async def upload(http: Request) -> Response:
        async with http.form(max_files=1) as form:
            file, purpose = form.get("file"), form.get("purpose")
            if not isinstance(file, UploadFile):
                raise WireError("the file is missing", param="file")
            if purpose != "batch":
                raise WireError(f"purpose must be batch, not {purpose!r}", param="purpose")
            data = await file.read()
            if not data:
                raise WireError("the file is empty", param="file")
            return JSONResponse(store.add(file.filename or "batch.jsonl", "batch", data).form())

    async def listed(http: Request) -> Response:
        wanted = http.query_params.get("purpose")
        return JSONResponse(page((f.form() for f in store.all() if wanted in (None, f.purpose)), http.query_params))

    async def shown(http: Request) -> Response:
        return JSONResponse(store.get(http.path_params["id"]).form())

    async def content(http: Request) -> Response:
        return Response(store.get(http.path_params["id"]).data, media_type="application/octet-stream")

    async def delete(http: Request) -> Response:
        store.delete(http.path_params["id"])
        return JSONResponse({"id": http.path_params["id"], "object": "file", "deleted": True})

    return [
        Route("/v1/files", upload, methods=["POST"]),
        Route("/v1/files", listed, methods=["GET"]),
        Route("/v1/files/{id}", shown, methods=["GET"]),
        Route("/v1/files/{id}", delete, methods=["DELETE"]),
        Route("/v1/files/{id}/content", content, methods=["GET"]),
    ]
