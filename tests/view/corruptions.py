"""Every file of a run folder, broken in every way: by a bad disk, a hand, another program, or a stranger."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from tests.view.making import Maker

CELL = "maze.direct"
FILES = {
    "run.json": "run.json",
    "episodes": f"episodes/{CELL}.jsonl",
    "scores": f"scores/{CELL}.jsonl",
    "results.json": "results.json",
    "report.html": "report.html",
    "picture": "pictures/*/*.png",
}
_DEEP = 100_000
_NUMBERS = count()


def make_run(path: Path) -> Path:
    maker = Maker(path).fill(2)
    maker.finish()
    (path / "report.html").write_text("<p>a report</p>")
    return path


def _replaced(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    """Every value changed, line by line; still JSON. Files that are not JSON become it."""

    def break_it(path: Path) -> None:
        text = path.read_bytes() if path.suffix in (".json", ".jsonl") else b"{}"
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        values = [json.loads(line) for line in lines]
        for value in values:
            value.pop("crc", None)
        path.write_text("\n".join(json.dumps(change(value)) for value in values) + "\n")

    return break_it


def _wrong_types(value: Any) -> Any:
    return {key: [] if isinstance(inner, dict) else {} for key, inner in value.items()}


def _numbers(number: Any) -> Callable[[Any], Any]:
    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: inner if key == "format" else put(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [put(inner) for inner in value]
        return value if isinstance(value, (str, bool)) or value is None else number

    return put


def _under(keys: tuple[str, ...], number: Any) -> Callable[[Any], Any]:
    """Only the numbers under these keys."""

    def put(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: _numbers(number)(inner) if key in keys else put(inner) for key, inner in value.items()}

    return put


def _odd_groups(value: Any) -> Any:
    odd = {"cluster": [1], "steps": {"a": [None]}, "region": 10**400 + next(_NUMBERS), "level": None, "": True}
    return (
        {key: odd if key == "groups" else _odd_groups(inner) for key, inner in value.items()}
        if isinstance(value, dict)
        else value
    )


def _instead(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def break_it(path: Path) -> None:
        path.unlink()
        make(path)

    return break_it


def _written(data: bytes) -> Callable[[Path], None]:
    return lambda path: _ignored(path.write_bytes(data))


def _ignored(result: object) -> None:
    return None


def _truncate(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


def _garble_the_middle(path: Path) -> None:
    data = path.read_bytes()
    third = len(data) // 3
    path.write_bytes(data[:third] + b"\n\xff\x00{" + data[third + 4 :])


def _link_out(path: Path) -> None:
    """The right contents, but elsewhere: what is linked to could be any file of the reader's."""
    elsewhere = next(above for above in path.parents if (above / "results.json").exists()).parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)


WAYS: dict[str, Callable[[Path], None]] = {
    "empty": _written(b""),
    "garbage": _written(b"\x00\x01 not JSON at all [[[ \n}\n"),
    "truncated": _truncate,
    "garbled": _garble_the_middle,
    "not_utf8": _written(b'{"format": "\xff\xfe\xc3"}\n'),
    "a_list": _written(b"[1, 2, 3]\n"),
    "null": _written(b"null\n"),
    "deep": _written(b'{"a":' * _DEEP + b"1" + b"}" * _DEEP + b"\n"),
    "deep_inside": _replaced(lambda value: {**value, "notes": json.loads("[" * 800 + "]" * 800)}),
    "wrong_types": _replaced(_wrong_types),
    "odd_groups": _replaced(_odd_groups),
    "huge_numbers": _replaced(_numbers(10**300)),
    "endless_numbers": _replaced(_numbers(10**4000)),
    "huge_floats": _replaced(_numbers(1e308)),
    "large_integers": _replaced(_numbers(2**62)),
    "negative_numbers": _replaced(_numbers(-(2**62))),
    "huge_scores": _replaced(_under(("values",), 1e308)),
    "endless_scores": _replaced(_under(("values",), 10**4000)),
    "endless_times": _replaced(_under(("started", "seconds"), 1e300)),
    "folder": _instead(Path.mkdir),
    "pipe": _instead(lambda path: os.mkfifo(path)),
    "link_loop": _instead(lambda path: path.symlink_to(path.name)),
    "dangling_link": _instead(lambda path: path.symlink_to("nowhere")),
    "link_out": _link_out,
    "missing": Path.unlink,
    **({"unreadable": lambda path: path.chmod(0)} if os.geteuid() else {}),
}


@contextmanager
def broken(run: Path, file: str, way: str) -> Iterator[None]:
    path = next(iter(sorted(run.glob(FILES[file]))))
    WAYS[way](path)
    try:
        yield
    finally:
        if path.is_fifo():  # its readers get an end of file
            with suppress(OSError):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
