"""Call cache on disk, and the form of a reply in the cache and in a run's episodes.

With the cache, an episode that was interrupted at step 7 pays only for step 8. A cache that cannot be written is
reported once, and no reply that was paid for is lost by it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from sketchmark.episode.model import Finish, Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, SketchmarkError
from sketchmark.files import PictureStore, write_once
from sketchmark.files.jsonl import LineReader, encode
from sketchmark.media import Picture
from sketchmark.models.wrappers import Wrapped

Save = Callable[[Picture], str]
Load = Callable[[str], Picture]

USAGE = tuple(field.name for field in fields(Usage))


class ReplyRecord(Struct, omit_defaults=True):
    """Reply to one call."""

    text: str
    """Text of the reply. For a drawing it is empty, or its code if it was drawn by code."""

    finish: str
    """End of the reply: `stop`, `length`, `refused`, `empty` or `no_picture`."""

    usage: dict[str, int]
    """`tokens_in`, `tokens_out`, `pictures_in`, `pictures_out`, `calls`, `cached`, without those that are 0. `cached`
    counts the calls that the cache answered: a reply without `calls` cost nothing in this run. `uncounted`:
    calls whose usage was not reported, or not credibly. In a pair of models, `drawer_calls`, `drawer_tokens_in` and
    the like are the drawer's part of these."""

    picture: str | None = None
    """File name of the drawing."""

    left_out: list[str] = []
    """Each part of the context that could not be passed to the model."""

    raw: Any = None
    """The provider's reply, for inspection. For a drawing by code, `svg` holds the prompt (`asked`), the whole text
    (`said`) and the attempts that `failed`, each with the reason."""

    trouble: str = ""
    """Reason why there is no image, if known."""

    native: str = ""
    """The provider's record of the turn, as JSON text without images (`history=native`)."""


def pack_reply(reply: Reply, save: Save) -> ReplyRecord:
    return ReplyRecord(
        text=reply.text or "",
        finish=reply.finish,
        usage={key: value for key, value in vars(reply.usage).items() if value},
        picture=save(reply.picture) if reply.picture else None,
        left_out=list(reply.left_out),
        raw=reply.raw,
        trouble=reply.trouble,
        native=reply.native,
    )


def unpack_reply(record: ReplyRecord, load: Load) -> Reply:
    return Reply(
        text=record.text,
        picture=load(record.picture) if record.picture else None,
        finish=cast(Finish, record.finish),
        usage=Usage(**{"calls": 0, **{key: record.usage[key] for key in USAGE if key in record.usage}}),
        left_out=tuple(record.left_out),
        raw=record.raw,
        trouble=record.trouble,
        native=record.native,
    )


_ENTRY = LineReader(ReplyRecord, "a reply")
_USABLE = ("stop", "length")
_WITHOUT = "the run continues without it, and a call that is made again is paid for again"


class CallCache:
    """One small file per call: any number of processes may share the folder. A torn file counts as missing."""

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
        """Return the stored reply, or None. A damaged entry counts as missing."""
        try:
            path = self._path(key)
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123
                kept = unpack_reply(_ENTRY.one(file.read(), path), self._pictures.load)
        except (OSError, SketchmarkError):
            return None
        return kept if kept.finish in _USABLE else None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a usable reply if possible. A full disk may have room again for the next one."""
        if reply.finish not in _USABLE:
            return
        try:
            write_once(self._path(key), encode(pack_reply(reply, self._pictures.save)))
        except OSError as error:
            self._warn_once(f"the call cache in {self.folder} cannot keep replies ({error.strerror or error})")

    def _warn_once(self, words: str) -> None:
        """Every reply would repeat the warning."""
        if not self._warned:
            self._warned = True
            logging.getLogger("sketchmark").warning(f"{words}: {_WITHOUT}")

    def drop(self, key: str) -> None:
        with suppress(OSError):
            os.unlink(self._path(key))  # noqa: PTH108

    def _path(self, key: str) -> str:
        return f"{self.folder}{os.sep}calls{os.sep}{key[:1]}{os.sep}{key}.json"


class Cached(Wrapped):
    """A model behind the cache. Only usable replies are kept: failures and refusals are asked again."""

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
            return replace(kept, usage=replace(kept.usage, calls=0, cached=kept.usage.calls + kept.usage.cached))
        reply = await (self._model.say if act == "say" else self._model.draw)(context, options)
        self._cache.put(key, reply)
        return reply


def call_key(model: Model, act: str, context: Context, options: Options) -> str:
    """Hash everything that could change the reply: the model, its arguments, the settings and the context.

    The context includes the canvas: it holds what the model sees of a drawing.
    """
    body = [model.identity(), act, options.key(), context.key()]
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()


def open_cache(folder: Path | None) -> CallCache | None:
    """Open the cache in `folder`, if one is given.

    A folder that the user named and that cannot be used is an error. The default one is optional.
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
