"""Faults at system calls: the n-th open, write, fsync or rename of a command fails, or the process dies there.

    python -m bench.injection [EVERY] [NAME...]

Every command runs once undisturbed, to count its calls below the work folder. Then, for each n, it runs on a fresh
copy of the same folder with a fault at the n-th call, and again without a fault. The second run must succeed and
leave the numbers of the undisturbed one, without a duplicate line or a temporary file; neither may print a traceback.
`EVERY` tries each EVERY-th call only.
"""

from __future__ import annotations

import builtins
import errno
import io
import json
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from sketchmark.cli import main as sketchmark

Fault = Literal["fails", "dies", "tears"]
FAULTS: tuple[Fault, ...] = ("fails", "dies", "tears")
"""`tears`: a write puts half of its bytes on the disk, and then the process dies; other calls as for `dies`."""

_DIED = 137
_PATHS = ("replace", "rename", "unlink", "mkdir", "rmdir", "link")
_FILES = ("write", "fsync", "ftruncate")


class Layer:
    """The calls of this process to the system that concern files below a folder, counted; one of them goes wrong."""

    def __init__(self, root: Path, at: int = 0, fault: Fault = "fails") -> None:
        self.root, self.at, self.fault = f"{root}/", at, fault
        self.names: list[str] = []
        self._own: set[int] = set()
        self._real: dict[str, Callable[..., Any]] = {}

    def install(self) -> None:
        """Take the place of the functions, for good: the process is made for this."""
        for name in ("open", "close", *_PATHS, *_FILES):
            self._real[name] = getattr(os, name)
        for name in _PATHS:
            setattr(os, name, self._on_path(name))
        for name in _FILES:
            setattr(os, name, self._on_file(name))
        os.open, os.close = self._open, self._close
        opened = io.open

        def open_(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
            if not self._is_below(file):
                return opened(file, mode, *more, **named)
            self.called("open", file)
            if "b" not in mode or mode in ("rb", "rb+"):
                return opened(file, mode, *more, **named)
            return io.BufferedWriter(_Raw(file, mode.replace("b", ""), self))

        io.open = builtins.open = open_

    def called(self, name: str, path: object, tear: Callable[[], object] = lambda: None) -> None:
        """Count a call, and let it go wrong if it is the one."""
        self.names.append(
            f"{name} {Path(os.fsdecode(path)).name if isinstance(path, (str, bytes, os.PathLike)) else ''}"
        )
        if len(self.names) != self.at:
            return
        if self.fault == "fails":
            raise OSError(errno.EIO, os.strerror(errno.EIO), path if isinstance(path, (str, os.PathLike)) else None)
        if self.fault == "tears":
            tear()
        os._exit(_DIED)

    def _is_below(self, path: object) -> bool:
        return isinstance(path, (str, os.PathLike)) and os.path.abspath(path).startswith(self.root)  # noqa: PTH100  (no call that is counted)

    def _on_path(self, name: str) -> Callable[..., Any]:
        def call(path: Any, *more: Any, **named: Any) -> Any:
            if self._is_below(path):
                self.called(name, path)
            return self._real[name](path, *more, **named)

        return call

    def _on_file(self, name: str) -> Callable[..., Any]:
        def call(file: Any, *more: Any) -> Any:
            if file in self._own:
                half = [more[0][: len(more[0]) // 2]] if name == "write" else []
                self.called(name, None, lambda: self._real[name](file, *half) if half else None)
            return self._real[name](file, *more)

        return call

    def _open(self, path: Any, *more: Any, **named: Any) -> int:
        if self._is_below(path):
            self.called("open", path)
        file: int = self._real["open"](path, *more, **named)
        if self._is_below(path):
            self._own.add(file)
        return file

    def _close(self, fd: int) -> None:
        self._own.discard(fd)
        self._real["close"](fd)


class _Raw(io.FileIO):
    """A file opened for writing by Python's own `open`."""

    def __init__(self, path: Any, mode: str, layer: Layer) -> None:
        super().__init__(path, mode)
        self._layer = layer
        layer._own.add(self.fileno())

    def write(self, data: Any, /) -> int:
        view = memoryview(data)
        self._layer.called("write", None, lambda: io.FileIO.write(self, view[: len(view) // 2]))
        return super().write(view)


@dataclass(frozen=True)
class Scenario:
    """A command in a work folder, after the commands that prepare it. Words are split at spaces."""

    name: str
    command: str
    before: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    once: bool = False
    """Its folder must not exist: it is repeated only if it failed."""


RUN = "run --model player/sketcher --tasks maze --mode direct,visual_cot --task_args rows=4,cols=4 -q --engine local"
_TWO = "models: [player/random, player/solver]\ntasks: [maze, {task: sliding, limit: 2}]\nlimit: 1\n"
SCENARIOS = (
    Scenario("run", f"{RUN} --limit 1 --scoring strict,lenient -c 2 --cache cache -o run"),
    Scenario("resume", f"{RUN} --limit 2 --no-cache -o run", (f"{RUN} --limit 1 --no-cache -o run",)),
    Scenario("run file", "run two.yaml -q --no-cache -o runs", files={"two.yaml": _TWO}),
    Scenario("score", "score run --scoring lenient,strict", (f"{RUN} --limit 2 --no-cache -o run",)),
    Scenario(
        "merge",
        "merge one two --out merged -q",
        tuple(f"{RUN} --limit 2 --no-cache --shard {n}/2 -o {name}" for n, name in enumerate(("one", "two"))),
        once=True,
    ),
    Scenario("export", "export run --to lmms-eval --out out", (f"{RUN} --limit 2 --no-cache -o run",), once=True),
    Scenario("report", "report run", (f"{RUN} --limit 2 --no-cache -o run",)),
    Scenario(
        "audit",
        f"audit {RUN.removeprefix('run ')} --limit 2 --no-cache -o run".replace(" --mode direct,visual_cot", ""),
    ),
)


@dataclass
class Outcome:
    calls: int = 0
    tried: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """What went wrong, one line each."""


def _in_child(folder: Path, words: str, layer: Layer | None = None) -> tuple[int, str, list[str]]:
    """Run a command in a forked process; (exit code, what it said on stderr, its calls). Modules are loaded already,
    so a command takes a fraction of a second."""
    said, noted, modules = (folder.parent / name for name in ("said", "calls", "modules"))
    for path in (said, noted):
        path.unlink(missing_ok=True)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.chdir(folder)
            quiet, aloud = os.open(os.devnull, os.O_WRONLY), os.open(said, os.O_WRONLY | os.O_CREAT)
            os.dup2(quiet, 1), os.dup2(aloud, 2)
            sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
            if layer:
                layer.install()
            try:
                sketchmark(words.split())
            except SystemExit as end:
                code = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError):
                sys.stdout.flush(), sys.stderr.flush()
            if layer and not layer.at:
                noted.write_text("\n".join(layer.names))
                modules.write_text("\n".join(sys.modules))
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    calls = noted.read_text().splitlines() if noted.exists() else []
    return os.waitstatus_to_exitcode(status), said.read_text(errors="replace") if said.exists() else "", calls


_TEMPORARY = re.compile(r"\..+\.\d+\.\d+|\..+\.(merging|exporting|unfinished)|\.exporting")
_TIMES = re.compile(r'"(started|seconds|sketchmark_seconds|date|crc|ended)": ?("[^"]*"|[\d.]+|\{[^}]*\})')


def numbers(folder: Path) -> dict[str, Any]:
    """Return what must not change: results, the samples of every line in order, and the files of an export."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.name == "results.json":
            found[name] = _without_usage(json.loads(path.read_bytes()))
        elif path.suffix == ".jsonl" and path.parent.name in ("episodes", "scores"):
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            found[name] = sorted(
                one["sample"] if isinstance(one["sample"], str) else one["sample"]["id"] for one in lines
            )
        elif name.startswith("out/") and path.is_file():
            found[name] = _TIMES.sub("", path.read_text("utf-8"))
        elif path.is_file() and path.parent.name != "cache" and "cache/" not in name:
            found[name] = "there"
    return {name: value for name, value in found.items() if ".lock" not in name}


def _without_usage(value: Any) -> Any:
    """Leave out how many calls were paid for: after a fault some replies come from the cache."""
    if isinstance(value, list):
        return [_without_usage(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _without_usage(one) for key, one in value.items() if key not in ("usage", "paid")}


def leftovers(folder: Path) -> list[str]:
    """Return temporary files, but not the cache's: other runs may be writing there."""
    names = [path.relative_to(folder) for path in folder.rglob(".*") if _TEMPORARY.fullmatch(path.name)]
    return [str(name) for name in names if name.parts[0] != "cache"]


def inject(scenario: Scenario, work: Path, every: int = 1, first: int = 1) -> Outcome:
    """Try a fault at each `every`-th call of the command, starting with the `first`; kinds of fault take turns if
    not all calls are tried."""
    outcome, prepared = Outcome(), work / "prepared"
    prepared.mkdir(parents=True)
    for name, text in scenario.files.items():
        (prepared / name).write_text(text)
    for words in scenario.before:
        code, said, _ = _in_child(prepared, words)
        assert code == 0, said
    whole = work / "whole"
    shutil.copytree(prepared, whole)
    code, said, calls = _in_child(whole, scenario.command, Layer(whole))
    assert code == 0, said
    expected, outcome.calls = numbers(whole), len(calls)
    for name in (work / "modules").read_text().splitlines():  # so that each child need not load them again
        if name.startswith("sketchmark."):
            import_module(name)
    for fault, at in _points(len(calls), every, first):
        folder = work / "tried"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(prepared, folder)
        outcome.tried[fault] += 1
        where = f"{scenario.name}: {fault} at call {at} of {len(calls)} ({calls[at - 1]})"
        code, said, _ = _in_child(folder, scenario.command, Layer(folder, at, fault))
        again, told = 0, ""
        if code or not scenario.once:
            again, told, _ = _in_child(folder, scenario.command)
        if fault == "fails" and code not in (0, 1, 2):
            outcome.wrong.append(f"{where}: exit code {code}: {said[-300:]}")
        for text in (said, told):
            if "Traceback" in text:
                outcome.wrong.append(f"{where}: {text[-1500:]}")
        finished = scenario.once and numbers(folder) == expected  # it died after all was done, and is refused now
        if again != 0 and not finished:
            outcome.wrong.append(f"{where}: then exit code {again}: {told[-300:]}")
        elif (found := numbers(folder)) != expected:
            changed = [name for name in {*found, *expected} if found.get(name) != expected.get(name)]
            outcome.wrong.append(f"{where}: other numbers in {', '.join(sorted(changed))}")
        elif left := leftovers(folder):
            outcome.wrong.append(f"{where}: left behind {', '.join(left)}")
    return outcome


def _points(calls: int, every: int, first: int) -> Iterator[tuple[Fault, int]]:
    for number, at in enumerate(range(first, calls + 1, every)):
        for fault in FAULTS if every == 1 else (FAULTS[number % len(FAULTS)],):
            yield fault, at


def main() -> int:
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    wrong = 0
    for scenario in SCENARIOS:
        if sys.argv[2:] and scenario.name not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as work:
            outcome = inject(scenario, Path(work).resolve(), every)
        kinds = ", ".join(f"{fault} {count}" for fault, count in outcome.tried.items())
        print(f"{scenario.name}: {outcome.calls} calls; {kinds}; wrong {len(outcome.wrong)}", flush=True)
        print("".join(f"  {line}\n" for line in outcome.wrong[:20]), end="", flush=True)
        wrong += len(outcome.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
