"""A call cache on disk: an episode interrupted at step 7 pays only for step 8.

It is an aid: what it cannot keep is told once, and never costs a reply that was paid for.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files.atomic import write_atomic
from sketchmark.files.lines import LineReader, encode
from sketchmark.files.pictures import PictureStore
from sketchmark.models.base import Model, Options, Reply
from sketchmark.models.reply_record import ReplyRecord, pack_reply, unpack_reply
from sketchmark.models.wrapped import Wrapped
from sketchmark.parts import Context

_ENTRY = LineReader(ReplyRecord, "a reply")
_USABLE = ("stop", "length")
_WITHOUT = "the run continues without it, and a call that is made again is paid for again"


class CallCache:
    """One small file per call, written to the side and renamed: any number of processes may share the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._warned = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "it cannot be written to")
        except OSError as error:
            raise BadInput(
                f"cannot keep a call cache in {folder}: {error.strerror}", "--cache or --no-cache"
            ) from error
        self._pictures = PictureStore(folder / "pictures")

    def get(self, key: str) -> Reply | None:
        """The stored reply, or None; a damaged entry counts as not there."""
        try:
            path = self._path(key)
            kept = unpack_reply(_ENTRY.one(path.read_bytes(), str(path)), self._pictures.load)
        except (OSError, SketchmarkError):
            return None
        return kept if kept.finish in _USABLE else None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a usable reply, if that is possible. A full disk may have room again by the next one."""
        if reply.finish not in _USABLE:
            return
        try:
            write_atomic(self._path(key), encode(pack_reply(reply, self._pictures.save)), durable=False)
        except OSError as error:
            self._warn_once(f"the call cache in {self.folder} cannot keep replies ({error.strerror or error})")

    def _warn_once(self, words: str) -> None:
        """Every reply would repeat the warning."""
        if not self._warned:
            self._warned = True
            logging.getLogger("sketchmark").warning(f"{words}: {_WITHOUT}")

    def drop(self, key: str) -> None:
        with suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self.folder / "calls" / key[:1] / f"{key}.json"


class Cached(Wrapped):
    """A model behind the cache. Only usable replies are kept: a failure or a refusal is asked again."""

    def __init__(self, model: Model, cache: CallCache) -> None:
        super().__init__(model)
        self._cache = cache

    def forget(self, context: Context, options: Options) -> None:
        self._cache.drop(call_key(self._model, "say", context, options))

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._through("say", context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        return await self._through("draw", context, options)

    async def _through(self, act: str, context: Context, options: Options) -> Reply:
        key = call_key(self._model, act, context, options)
        kept = self._cache.get(key)
        if kept is not None:
            return replace(kept, usage=replace(kept.usage, calls=0))
        reply = await (self._model.say if act == "say" else self._model.draw)(context, options)
        self._cache.put(key, reply)
        return reply


def call_key(model: Model, act: str, context: Context, options: Options) -> str:
    """Everything that could change the answer: the model and its arguments, the settings, and all that was shown
    (which includes the canvas, since what a model sees of a drawing is part of its context)."""
    body = [model.identity(), act, options.key(), context.key()]
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()


def open_cache(folder: Path | None) -> CallCache | None:
    """Open the cache in `folder`, if one is given.

    A folder that the user named and that cannot be used is an error; the default one is done without.
    """
    if folder is None:
        return None
    try:
        return CallCache(folder)
    except BadInput as error:
        if folder != default_cache():
            raise
        logging.getLogger("sketchmark").warning(f"{error}: {_WITHOUT}")
        return None


def with_cache(model: Model, cache: CallCache | Path | None) -> Model:
    """Put the model behind a cache, which may be given by its folder; without one it stays as it is."""
    cache = open_cache(cache) if isinstance(cache, Path) else cache
    return model if cache is None else Cached(model, cache)


def default_cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(root) / "sketchmark"
