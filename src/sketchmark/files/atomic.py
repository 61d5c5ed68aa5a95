"""Files that are there whole or not at all, for readers in other processes and after a kill or a power cut."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sketchmark.files.plain import plain


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A new file, written to the side. At the end of the block it takes the name, whoever else writes it; if the
    block fails, what was there stays and nothing is left beside it.

    `durable`: the bytes are on the disk before the name is, or a power cut could leave the name with nothing behind
    it. That costs a wait for the disk, so it is not for what can be had again: a cached reply or a picture.
    Whatever stands under the temporary name is not opened: it may be a link.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        with _new(temporary) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _new(path: Path) -> BinaryIO:
    """The folder mostly stands and the name is mostly free: what is not so is mended when it is met."""
    while True:
        try:
            return open(path, "xb")  # noqa: PTH123  (a Path's own `open` costs as much again)
        except FileNotFoundError:
            if path.parent.exists():
                raise
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            path.unlink(missing_ok=True)


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """The name never stands for half a file."""
    with replacing(path, durable=durable) as file:
        file.write(data)


def write_json(path: Path, value: Any) -> None:
    write_atomic(path, (json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
