"""A weekend in ten minutes: a run over HTTP with every kind of fault, compared with an undisturbed one.

    python -m bench.soak [EPISODES]

Three runs of several tasks and modes use `sketchmark serve`, which fails in every way it can. The process is killed
or stopped every few seconds, its disk fills up in the middle of a line, its cache cannot be written, the server
disappears and returns. Each time the same command resumes the run. At the end the scores must equal those of an
undisturbed run, with no episode missing or duplicated, and memory and open files must be flat.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Literal

from sketchmark.folder import RunFolder

FAULTS = "429:0.04,500:0.03,502:0.02,503:0.03,529:0.02,408:0.02,reset:0.04"
TASK = Path(__file__).with_name("soak_task")

Trouble = Literal["kill", "stop", "disk", "cache", "server"]
TROUBLES: tuple[Trouble, ...] = ("kill", "disk", "kill", "cache", "kill", "stop", "kill", "server")
_SPARED = 0.8
"""The last fifth of each run has no faults, so that one process lives long enough to watch its memory."""


@dataclass(frozen=True)
class Part:
    """One run folder of the soak."""

    tasks: str
    modes: str
    limit: int

    @property
    def name(self) -> str:
        return f"{self.tasks}-{self.modes}".replace(",", "-")

    @property
    def cells(self) -> list[str]:
        return [f"{task}.{mode}" for task in self.tasks.split(",") for mode in self.modes.split(",")]


def parts(episodes: int) -> list[Part]:
    """Return mostly cheap episodes, and some of every kind."""
    return [
        Part("lights", "direct,visual_cot", max(1, episodes * 40 // 100)),
        Part("maze,sliding", "direct", max(1, episodes * 9 // 100)),
        Part("maze,sliding", "visual_cot", max(1, episodes // 100)),
    ]


@dataclass
class Watch:
    """Memory and open files of one process over its life."""

    memory: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def look(self, pid: int) -> None:
        try:
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            self.files.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
        except (OSError, IndexError):
            return  # it has just ended
        self.memory.append(pages * resource.getpagesize() // 2**20)


@dataclass
class Outcome:
    """Result of the soak."""

    episodes: int = 0
    missing: int = 0
    doubled: int = 0
    failed: int = 0
    differing: int = 0
    starts: int = 0
    troubles: Counter[str] = field(default_factory=Counter)
    tracebacks: list[str] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return not (self.missing or self.doubled or self.failed or self.differing or self.tracebacks)


class Server:
    """`sketchmark serve` in a separate process, always on the same port."""

    def __init__(self, fail: str) -> None:
        self._fail = fail
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        command = [sys.executable, "-m", "sketchmark", "serve", "--model", "player/random", "--port", str(self._port)]
        self._process = subprocess.Popen([*command, "--fail", self._fail], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        ready = self._process.stdout.readline()
        self._port = int(ready.rpartition(":")[2].partition("/")[0])

    def kill(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@contextmanager
def serving(fail: str = "") -> Iterator[Server]:
    server = Server(fail)
    try:
        yield server
    finally:
        server.kill()


def command(part: Part, folder: Path, url: str, cache: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "sketchmark", "run", "--include", str(TASK), "--trust-code"),
        *("--model", "openai/random", "--model-args", f"base_url={url},max_retries=8"),
        *("--tasks", part.tasks, "--mode", part.modes, "--limit", str(part.limit), "--concurrency", "32"),
        *("--output-path", str(folder), "--cache", str(cache), "--quiet"),
    ]


def played(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("episodes/*.jsonl"))


class Disturbance:
    """Runs one command again and again, with faults, until it has ended by itself."""

    def __init__(
        self, part: Part, work: Path, server: Server, outcome: Outcome, troubles: Iterator[Trouble], between: float
    ) -> None:
        self.part, self.work, self.server, self.outcome = part, work, server, outcome
        self._troubles = troubles
        self.folder = work / "disturbed" / part.name
        self._between = between
        self._dice = Random(part.name)
        self._blocked = work / "blocked"
        _block(self._blocked)

    def run(self) -> None:
        total = self.part.limit * len(self.part.cells)
        code = None
        while code != 0:
            left_in_peace = played(self.folder) >= _SPARED * total
            code = self._start(None if left_in_peace else next(self._troubles))
            if self.outcome.starts > 10_000:
                raise RuntimeError("the run does not finish")

    def _start(self, trouble: Trouble | None) -> int:
        cache = self._blocked if trouble == "cache" else self.work / "cache"
        arguments = command(self.part, self.folder, self.server.url, cache)
        limit = _largest(self.folder) + self._dice.randrange(200, 20_000) if trouble == "disk" else None
        words = self.work / "stderr.txt"
        with words.open("wb") as errors:
            process = subprocess.Popen(
                arguments, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=lambda: _limit_files(limit)
            )
            self.outcome.starts += 1
            watch = Watch()
            self._live(process, trouble, watch)
        self.outcome.watches.append(watch)
        if trouble:
            self.outcome.troubles[trouble] += 1
        said = words.read_text(errors="replace")
        if "Traceback" in said:
            self.outcome.tracebacks.append(said[-2000:])
        return process.returncode

    def _live(self, process: subprocess.Popen[bytes], trouble: Trouble | None, watch: Watch) -> None:
        """Wait for the fault, or the end of the process. Each invocation gets further, however slow the machine."""
        enough = played(self.folder) + min(20, 1 + self.part.limit * len(self.part.cells) // 12)
        end = time.monotonic() + self._between * (0.5 + self._dice.random())
        while process.poll() is None:
            watch.look(process.pid)
            time.sleep(0.1)
            late = time.monotonic() > end and played(self.folder) >= enough
            if trouble in ("kill", "stop", "cache") and late:
                process.send_signal(signal.SIGTERM if trouble == "stop" else signal.SIGKILL)
                process.wait()
            elif trouble == "server" and late:
                self.server.kill()
                time.sleep(1)
                self.server.start()
                return self._live(process, "kill", watch)
        return None


def _block(folder: Path) -> None:
    """Make a cache that can be opened but not written: files are in the place of its folders."""
    folder.mkdir(exist_ok=True)
    for number in range(256):
        (folder / f"{number:02x}").touch()
    (folder / "pictures").touch()


def _largest(folder: Path) -> int:
    return max((path.stat().st_size for path in folder.glob("*/*.jsonl")), default=0)


def _limit_files(limit: int | None) -> None:
    """Limit file sizes as on a full disk: a write across the limit is done partly, and the next one fails."""
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def compare(part: Part, disturbed: Path, peaceful: Path, outcome: Outcome) -> None:
    for cell in part.cells:
        ours, theirs = RunFolder(disturbed), RunFolder(peaceful)
        lines = Counter(line.sample.id for line in ours.episodes(cell) if line.failure is None)
        expected = theirs.scored(cell)
        scored = ours.scored(cell)
        outcome.episodes += len(lines)
        outcome.missing += len(set(expected) - set(scored))
        outcome.doubled += sum(count - 1 for count in lines.values())
        outcome.failed += sum(bool(row.flags) for row in scored.values()) - sum(
            bool(row.flags) for row in expected.values()
        )
        outcome.differing += sum(
            scored[name].values != row.values for name, row in expected.items() if name in scored
        )


def soak(episodes: int, work: Path, between: float = 5.0) -> Outcome:
    outcome = Outcome()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    troubles = cycle(TROUBLES)
    with serving(FAULTS) as server:
        for part in parts(episodes):
            Disturbance(part, work, server, outcome, troubles, between).run()
    with serving() as server:
        for part in parts(episodes):
            peaceful = work / "peaceful" / part.name
            subprocess.run(command(part, peaceful, server.url, work / "cache_of_peace"), check=True)
            compare(part, work / "disturbed" / part.name, peaceful, outcome)
    return outcome


def report(outcome: Outcome, seconds: float) -> str:
    last = max(outcome.watches, key=lambda watch: len(watch.memory))
    quarter = max(1, len(last.memory) // 4)
    settled, end = last.memory[quarter : 2 * quarter], last.memory[-quarter:]
    files, files_at_end = last.files[quarter : 2 * quarter], last.files[-quarter:]
    return "\n".join(
        [
            f"episodes {outcome.episodes}, starts {outcome.starts}, in {seconds:.0f} s; "
            + ", ".join(f"{name} {count}" for name, count in sorted(outcome.troubles.items())),
            f"missing {outcome.missing}, doubled {outcome.doubled}, failed {outcome.failed}, "
            f"scores that differ {outcome.differing}, tracebacks {len(outcome.tracebacks)}",
            f"the longest-lived process: {max(settled)} MB in its second quarter, {max(end)} MB in its last; "
            f"{max(files)} open files, then {max(files_at_end)}",
            f"of all processes: at most {max(max(w.memory, default=0) for w in outcome.watches)} MB, "
            f"{max(max(w.files, default=0) for w in outcome.watches)} open files",
            *outcome.tracebacks[:1],
        ]
    )


def main() -> int:
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        outcome = soak(episodes, Path(work))
        print(report(outcome, time.perf_counter() - started))
    return 0 if outcome.sound else 1


if __name__ == "__main__":
    sys.exit(main())
