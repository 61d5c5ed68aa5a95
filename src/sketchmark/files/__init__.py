"""Files on disk: atomic writes, safe file names, and paths that stay inside a folder.

A run folder may be untrusted. A link in it would make us read or truncate a file elsewhere; a pipe would block us. So
every path below such a folder is made by `own_file` and `own_folder`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO

from sketchmark.errors import BadInput
from sketchmark.files.jsonl import plain


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a new file that takes the name at the end of the block. If the block fails, the old file stays and the new
    one is deleted. Readers in other processes, or after a crash, see one of the two files complete.

    `durable`: the bytes are on the disk before the name is; otherwise a power cut could leave an empty file. This
    waits for the disk, so it is not used for what can be made again: a cached reply or an image. A file under the
    temporary name is never opened: it may be a link.
    """
    temporary = _temporary(path)
    if durable:
        _remove_leftovers(path)
    try:
        with os.fdopen(_new(temporary), "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException as error:
        if named := _without(temporary, path, error):
            raise named from error
        raise


def _temporary(path: Path | str) -> str:
    """Return a name next to a path. It is a text: a Path costs as much as creating the file."""
    folder, between, name = os.fspath(path).rpartition(os.sep)
    return f"{folder}{between}.{name}.{os.getpid()}.{threading.get_ident()}"


def _without(temporary: str, path: Path | str, error: BaseException) -> OSError | None:
    """Remove the new file. Returns an error of the disk with the name of the path, None for any other error."""
    with suppress(FileNotFoundError):
        os.unlink(temporary)  # noqa: PTH108
    if isinstance(error, OSError) and error.errno and error.filename in (None, temporary):
        return OSError(error.errno, error.strerror, str(path))
    return None


def _remove_leftovers(path: Path) -> None:
    """Remove what a killed process had written of this file."""
    for left in path.parent.glob(f".{escape(path.name)}.*.*"):
        pid = left.name.rsplit(".", 2)[1]
        if os.name == "posix" and pid.isdigit() and len(pid) < 10 and not is_running(int(pid)):
            left.unlink(missing_ok=True)


def is_running(pid: int) -> bool:
    """Check for a process on this machine (not on Windows, where the check would end it)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _new(path: str) -> int:
    """Open a new file for writing and return its descriptor. The folder mostly exists and the name is mostly free, so
    other cases are handled on error."""
    while True:
        try:
            return os.open(path, _CREATE, 0o666)
        except FileNotFoundError:
            folder = Path(path).parent
            if folder.exists():
                raise
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108


def write_atomic(path: Path | str, data: bytes, *, durable: bool = True) -> None:
    """Write a file so that the name never refers to a part of it, as `replacing` does."""
    if durable:
        with replacing(Path(path)) as file:
            file.write(data)
        return
    temporary = _temporary(path)
    try:
        _write_new(temporary, data)
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException as error:
        if named := _without(temporary, path, error):
            raise named from error
        raise


def write_once(path: str, data: bytes) -> None:
    """Write a file under its own name, in half the time of `write_atomic`. For a file of which a part counts as
    missing: a reader, or a crash, may see one."""
    try:
        _write_new(path, data)
    except BaseException as error:
        if named := _without(path, path, error):
            raise named from error
        raise


def _write_new(path: str, data: bytes) -> None:
    """Write a new file. A Python file would cost as much as the small file itself: a run makes two per call."""
    file = _new(path)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(file, left) :]
    finally:
        os.close(file)


def write_json(path: Path, value: Any) -> None:
    write_atomic(path, (json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


def from_home(path: str | os.PathLike[str]) -> Path:
    """Expand a leading `~`, as a shell does and Python does not; a folder of that name is `./~`."""
    return Path(os.path.expanduser(path))  # noqa: PTH111  (a Path's own fails where there is no such user)


_ORDINARY = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.\-]{0,98}[A-Za-z0-9_\-])?")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Device names on Windows, with any suffix. Exports are sent to other machines."""


def own_data(named: str) -> str:
    """Return the path of the user's own copy of a dataset: the given one, otherwise SKETCHMARK_DATA, or nothing."""
    found = named or os.environ.get("SKETCHMARK_DATA")
    return str(Path(found)) if found else ""


def file_names(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return key → its text as a file name, if that is ordinary and not yet used in any case; otherwise the
    ordinary part of it with a digest. Such a text is never a path."""
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
    """Return one text as a file name, as `file_names` does."""
    return file_names({"": text})[""]


_KINDS = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISREG, "a file"), (stat.S_ISFIFO, "a pipe"))


def own_file(root: Path, *names: str) -> Path:
    """Return `root/names…` if it is a regular file or does not exist, and every folder above it is a real one."""
    return Path(own_name(root, *names))


def own_name(root: Path, *names: str) -> str:
    """Return the text of `own_file`. Python keeps the parts of every `Path` in a table that grows by them."""
    return _checked(f"{_own_folder(root, *names[:-1])}{os.sep}{names[-1]}", stat.S_ISREG, "a file")


def own_folder(root: Path, *names: str) -> Path:
    """Return `root/names…` if it is a folder or does not exist, without a link above it."""
    return Path(_own_folder(root, *names))


def _own_folder(root: Path, *names: str) -> str:
    path = str(root)  # as a text: every stored image is looked up, and a Path costs more than the lookup
    for name in names:
        path = _checked(f"{path}{os.sep}{name}", stat.S_ISDIR, "a folder")
    return path


def _checked(path: str, wanted: Callable[[int], bool], called: str) -> str:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    if not wanted(mode):
        found = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device or a socket")
        raise BadInput(f"{path} is {found}, not {called} of this folder", "it is not followed; remove it")
    return path
