"""Files on disk: written whole, read line by line, pictures under their digest, rows of published data sets.

Files that are there whole or not at all, for readers in other processes and after a kill or a power cut.

Paths as people type them. On a command line the shell reads `~`; in Python nobody has.

Names of files that are made from what someone wrote. Such a text is never a path.

Files that belong to a folder: regular ones, that lie where their names say.

A run folder may come from a stranger. A link in it would have us read, or cut off, a file elsewhere; a pipe would
have us wait for ever. So every path below such a folder is made here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sketchmark.errors import BadInput
from sketchmark.files.jsonl import plain


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


def from_home(path: str | os.PathLike[str]) -> Path:
    """With a leading `~` read as the home folder; a folder that has such a name is `./~`."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  (a Path's own fails where there is no such user)


_ORDINARY = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.\-]{0,98}[A-Za-z0-9_\-])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Devices on Windows, whatever their ending; exports are sent to others."""


def file_names(wanted: Mapping[str, str]) -> dict[str, str]:
    """key → the name it wants, if that is an ordinary one and nobody has it yet, upper and lower case alike;
    otherwise what is ordinary in it, and a digest that tells it apart."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key, text in wanted.items():
        if not _ORDINARY.fullmatch(text) or _RESERVED.fullmatch(text) or text.casefold() in taken:
            digest = hashlib.sha256(f"{text}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
            text = f"{re.sub(r'[^A-Za-z0-9_]+', '-', text)[:60]}-{digest}".lstrip("-")
        names[key] = text
        taken.add(text.casefold())
    return names


def file_name(text: str) -> str:
    """The same for a name that stands alone."""
    return file_names({"": text})[""]


_KINDS = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISREG, "a file"), (stat.S_ISFIFO, "a pipe"))


def own_file(root: Path, *names: str) -> Path:
    """`root/names…`, where a regular file stands, or nothing yet, and every folder on the way is a real one."""
    return _checked(own_folder(root, *names[:-1]) / names[-1], stat.S_ISREG, "a file")


def own_folder(root: Path, *names: str) -> Path:
    """`root/names…`, where a folder stands, or nothing yet, and no link on the way."""
    for name in names:
        root = _checked(root / name, stat.S_ISDIR, "a folder")
    return root


def _checked(path: Path, wanted: Callable[[int], bool], called: str) -> Path:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    if not wanted(mode):
        found = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device or a socket")
        raise BadInput(
            f"{path} is {found}, not {called} of its own",
            "it is not followed; remove it",
        )
    return path
