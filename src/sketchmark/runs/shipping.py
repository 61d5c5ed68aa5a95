"""The files behind --include, for workers that do not see this machine's disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from sketchmark.errors import BadInput

_MOST_BYTES = 32_000_000
"""Code and task files are small; whatever is larger is data, and data are read here and sent as samples."""


def shipped(include: Sequence[Path], trust_code: bool) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """The names by which a worker includes them, and what is to be laid under such names."""
    files: dict[str, bytes] = {}
    size = 0
    roots = [path.resolve() for path in include]
    for number, path in enumerate(roots):
        for file in _files(path, trust_code):
            size += file.stat().st_size
            if size > _MOST_BYTES:
                raise BadInput(
                    f"--include {path} is more than {_MOST_BYTES // 1_000_000} MB, too much to send to every worker",
                    "keep data out of the folder, and name it with --data",
                )
            files[_name(number, path, file)] = file.read_bytes()
    return tuple(_name(number, path, path) for number, path in enumerate(roots)), files


def _files(path: Path, trust_code: bool) -> Iterator[Path]:
    """A folder goes whole, a Python file alone, and a task file with what lies beside it and it may name."""
    if path.is_dir():
        found = (file for file in sorted(path.rglob("*")) if file.is_file() and not _is_hidden(file, path))
        yield from found
        return
    yield path
    if path.suffix != ".py":
        beside = [*path.parent.glob("*.yaml"), *(path.parent.glob("*.py") if trust_code else ())]
        yield from (file for file in sorted(beside) if file != path)


def _is_hidden(file: Path, root: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in file.relative_to(root).parts)


def _name(number: int, root: Path, file: Path) -> str:
    return f"{number}/{file.relative_to(root.parent).as_posix()}"
