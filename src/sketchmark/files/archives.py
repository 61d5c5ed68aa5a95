"""Datasets that are published as files (JSON, CSV, zip archives). `files.tables` reads tables.

Files from the hub are downloaded and then read like a folder of the user's. Archives are read in place: nothing is
unpacked, so nothing can be written outside a folder.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from sketchmark.errors import BadInput, BadPicture, DataMissing
from sketchmark.files import hub
from sketchmark.files.jsonl import python_literal
from sketchmark.files.tables import LONGEST_CELL, as_picture, inside, ways, without_hub
from sketchmark.media import Picture

MAX_MEMBER = 256 * 1024 * 1024
"""Maximum bytes of a file in an archive. No file of these datasets is nearly as large."""

_LONGEST_LITERAL = 100_000


def folder_of(data: Path | None, names: Sequence[str]) -> Path | None:
    """Return --data, or the folder in it with one of the dataset's names: one folder can hold all datasets."""
    if data is None:
        return None
    return next((data / name for name in names if (data / name).exists()), data)


def open_files(
    data: Path | None,
    names: Sequence[str],
    *,
    repo: str = "",
    patterns: Sequence[str] = (),
    how: str = "",
    limit: int | None = None,
) -> Files:
    """Open the files of a dataset: the user's folder, or the hub's files that match, at least one per pattern.

    `how` explains what to get, from where, and the expected layout. With a `limit`, archives on the hub are read in
    parts, so only the needed parts are fetched.
    """
    if data is not None:
        if not data.is_dir():
            raise DataMissing(f"no such folder: {data}", how or ways(repo))
        return Files(folder_of(data, names) or data)
    if not repo:
        raise DataMissing(f"{names[0]} is not on the hub: it is read from your own copy", how)
    try:
        listing = hub.listing(repo)
    except ImportError as error:
        raise without_hub(repo) from error
    found = {pattern: listing.matching(pattern) for pattern in patterns}
    if missing := [pattern for pattern, names in found.items() if not names]:
        raise DataMissing(
            f"{repo} on the hub holds no {missing[0]}",
            f"look at {hub.page(repo)} for what it holds, or give --data PATH",
        )
    wanted = [name for names in found.values() for name in names]
    left = [] if limit is None else [name for name in wanted if name.endswith(".zip")]
    plain = [name for name in wanted if name not in left]
    root = hub.fetched(listing, plain) if plain else hub.home() / repo
    return Files(root, [hub.opened(listing, name) for name in left], repo)


class Files:
    """The files of one dataset: in its folder, and inside the zip archives of that folder or of `archives`."""

    def __init__(self, root: Path, archives: Sequence[Path | BinaryIO] = (), name: str = "") -> None:
        self.root, self._name = root, name or root.name
        self._sources = archives
        self._archives: list[tuple[zipfile.ZipFile, dict[str, str]]] | None = None

    def read(self, *names: str) -> bytes:
        """Return the bytes of the first of `names` that exists, on disk or in an archive."""
        for name in names:
            path = inside(self.root, name, self._name)
            if path.is_file():
                return path.read_bytes()
        for name in names:
            for archive, members in self._opened():
                if member := members.get(PurePosixPath(name).as_posix()):
                    return self._member(archive, member)
        raise BadInput(f"no file {names[0]!r} in {self._name} or its archives")

    def table(self, name: str, how: str) -> bytes:
        """Return the question file. `how` is the hint if the folder does not hold it."""
        try:
            return self.read(name)
        except BadInput as error:
            raise DataMissing(f"no {name} in {self.root} or its archives", how) from error

    def matching(self, folder: str, suffix: str) -> list[str]:
        """Return the sorted names of the files in `folder` that end in `suffix`."""
        below = self.root / folder
        found = {f"{folder}/{path.name}" for path in below.glob(f"*{suffix}")} if below.is_dir() else set()
        for _, members in self._opened():
            found |= {
                name
                for name in members
                if name.endswith(suffix) and PurePosixPath(name).parent == PurePosixPath(folder)
            }
        return sorted(found)

    def picture(self, *names: str) -> Picture:
        return shown(Picture.from_bytes(self.read(*names)))

    def _opened(self) -> list[tuple[zipfile.ZipFile, dict[str, str]]]:
        """Return archives with their members, by full name and by the name below the archive's top folder."""
        if self._archives is None:
            self._archives = []
            for source in self._sources or sorted(self.root.glob("*.zip")):
                try:
                    archive = zipfile.ZipFile(source)
                except (OSError, zipfile.BadZipFile) as error:
                    name = Path(str(getattr(source, "name", source))).name
                    raise BadInput(f"{name} is not a whole zip file: {error}", "download it again") from error
                names = [name for name in archive.namelist() if not name.endswith("/")]
                members = {name.partition("/")[2]: name for name in names if "/" in name}
                self._archives.append((archive, members | {name: name for name in names}))
        return self._archives

    @staticmethod
    def _member(archive: zipfile.ZipFile, member: str) -> bytes:
        if archive.getinfo(member).file_size > MAX_MEMBER:
            raise BadInput(f"{member} in {archive.filename} is larger than {MAX_MEMBER} bytes")
        try:
            return archive.read(member)
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise BadInput(f"cannot read {member} from its archive: {error}") from error


def shown(picture: Picture) -> Picture:
    """Return the image as models accept it: CMYK and other print or raw forms become RGB, others keep their bytes."""
    if min(picture.size) < 1:
        raise BadPicture("picture without pixels")
    usual = picture.mode in ("1", "L", "LA", "P", "RGB", "RGBA")
    return picture if usual else Picture.from_image(picture.image())


def table_picture(value: Any, root: Path | None) -> Picture:
    """Return the image of a table's cell: the hub's `{"bytes", "path"}`, bytes, or a file next to the table."""
    folder = root.parent if root is not None and root.is_file() else root
    return shown(as_picture(value, "picture", folder))


def json_value(data: bytes | str, name: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is not JSON: {error}") from error


def json_list(data: bytes, name: str) -> list[Any]:
    value = json_value(data, name)
    if not isinstance(value, list):
        raise BadInput(f"{name} does not hold a list")
    return value


def text_lines(data: bytes) -> Iterator[str]:
    """Return the lines of a JSONL file, unparsed, so that a broken line affects only its own row."""
    return (line for line in data.decode("utf-8", errors="replace").split("\n") if line.strip())


def csv_rows(data: bytes) -> Iterator[list[str]]:
    """Yield the rows below the header."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig", errors="replace"), newline=""))
    try:
        next(reader, None)
        yield from reader
    except csv.Error as error:
        raise BadInput(f"line {reader.line_num} of the table cannot be read: {error}") from error


def literal(value: Any) -> Any:
    """Parse a list or dict that a dataset wrote as Python text. It is parsed as a literal; nothing runs."""
    if not isinstance(value, str):
        return value
    if len(value) > _LONGEST_LITERAL:
        raise BadInput(f"options of {len(value)} characters")
    try:
        return python_literal(value)
    except ValueError as error:
        raise BadInput(f"options are not a Python literal: {value[:60]!r}") from error
