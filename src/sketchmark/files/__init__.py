"""Files on disk: atomic writes, safe file names, paths that stay inside a folder, and stored images.

A run folder may be untrusted. A link in it would make us read or truncate a file elsewhere; a pipe would block us. So
every path below such a folder is made by `own_file` and `own_folder`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from sketchmark.errors import BadInput, BadPicture
from sketchmark.files.jsonl import open_regular, plain
from sketchmark.media import Picture
from sketchmark.media.sound import MAX_BYTES, Sound


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


Media = TypeVar("Media", Picture, Sound)
_MOST_KNOWN = 1000
_NAME = re.compile(r"([0-9a-f]{64})\.([a-z][a-z0-9]{2,3})")


class PictureStore:
    """A folder `ab/abcd….png`. Names are checked, because a run folder may be untrusted.

    `inside` is the untrusted part of the path: in `PictureStore(run, "pictures")` neither `pictures` nor anything
    below may be a link.
    """

    def __init__(self, root: Path, inside: str = "") -> None:
        self.folder = root / inside
        self._root, self._inside = root, [inside] if inside else []
        self._stored: set[str] = set()
        """Some names that were stored a moment ago: an episode saves what its job has saved."""

    def save(self, shown: Picture | Sound) -> str:
        """Store an image or sound and return its name.

        It is not synced to the disk: an episode has several, and waiting for each would take most of a run's time.
        One that a power cut removes is missing (`holds`), so its episode runs again. One that it damages is refused
        by its digest, and `sketchmark repair` sets it aside.
        """
        name = self.name_of(shown)
        if name not in self._stored:
            place = self._place(name)
            if not _is_there(place):
                write_atomic(place, shown.data, durable=False)
            if len(self._stored) == _MOST_KNOWN:
                self._stored.clear()
            self._stored.add(name)
        return name

    @staticmethod
    def name_of(shown: Picture | Sound) -> str:
        return f"{shown.digest}.{shown.format}"

    def load(self, name: str) -> Picture:
        picture = self._read(name, "picture", Picture.from_bytes)
        _check(name, picture.digest)
        return picture

    def load_sound(self, name: str) -> Sound:
        sound = self._read(name, "sound", Sound.from_bytes)
        _check(name, sound.digest)
        return sound

    def _read(self, name: str, kind: str, make: Callable[[bytes], Media]) -> Media:
        path = self.path(name)
        try:
            with open_regular(path) as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise BadPicture(f"cannot read {kind} {path}: {error.strerror}") from error
        try:
            return make(data)
        except BadInput as error:
            raise BadPicture(f"{path}: {error}") from error

    def sound_in_words(self, name: str) -> str:
        """Describe a sound for a page without reading it: `a sound, wav, 16 kB`."""
        try:
            size = self.path(name).stat().st_size
        except (BadInput, OSError):
            return "a sound, missing"
        return f"a sound, {name.partition('.')[2]}, {max(1, round(size / 1000)):,} kB"

    def holds(self, name: str) -> bool:
        return _is_there(self._place(name))

    def path(self, name: str) -> Path:
        return Path(self._place(name))

    def _place(self, name: str) -> str:
        if not is_picture_name(name):
            raise BadInput(f"not a picture name: {name[:80]!r}")
        return own_name(self._root, *self._inside, name[:2], name)


def _check(name: str, digest: str) -> None:
    if digest != name.partition(".")[0]:
        raise BadInput(f"{name} does not hold what its name says", "sketchmark repair RUN")


def _is_there(place: str) -> bool:
    try:
        return os.stat(place).st_size > 0  # noqa: PTH116 (a crash of the machine can leave an empty file)
    except FileNotFoundError:
        return False


def is_picture_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def small(picture: Picture, side: int) -> bytes:
    """Return a WebP of at most `side` pixels in width and height, for pages."""
    image = picture.image()
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=82, method=0)
    return buffer.getvalue()
