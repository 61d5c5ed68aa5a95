"""A million episodes: a run that is killed in the middle, and what reading such a folder costs.

    python -m bench.million run [EPISODES] [--work FOLDER]
    python -m bench.million read [EPISODES] [--work FOLDER]

`run` executes the episodes of a scripted player in two shards, one process each. The tiny images of `soak_task` leave
the harness's own work. One process is killed in the middle and its command repeated. CPU time, memory and bytes are
printed by tenths of the run. `read` makes a folder of ten cells from real lines and measures each command twice: the
first time without an index, then with it.

Times are CPU seconds, because they do not depend on other load.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.soak import TASK

SHARDS = 2
MODES = ("direct", "visual_cot")
_LOOK = 5.0
"""Seconds between two looks at the processes."""


@dataclass
class Look:
    """State of the whole run at one time."""

    episodes: int
    cpu: float
    """Seconds of all processes so far, also of the killed one."""
    memory: float
    """Megabytes of the largest process."""


@dataclass
class Shard:
    """One part of the run: its folder and the process that executes it."""

    number: int
    folder: Path
    samples: int
    process: subprocess.Popen[bytes] | None = None
    cpu_before: float = 0.0
    """CPU seconds of processes that ended."""
    _seen: dict[Path, tuple[int, int]] = field(default_factory=dict)
    _cpu: float = 0.0

    def start(self) -> None:
        self.cpu_before += self._cpu
        self._cpu = 0.0
        command = [sys.executable, "-m", "sketchmark", "run", "--model", "player/random", "--tasks", "lights"]
        command += ["--include", str(TASK), "--trust-code", "--mode", ",".join(MODES), "--limit", str(self.samples)]
        command += ["--no-cache", "--quiet", "--shard", f"{self.number}/{SHARDS}", "--output_path", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def episodes(self) -> int:
        """Count the lines, reading only what is new."""
        for mode in MODES:
            path = self.folder / "episodes" / f"lights.{mode}.jsonl"
            at, lines = self._seen.get(path, (0, 0))
            if path.exists():
                with path.open("rb") as file:
                    file.seek(at)
                    while piece := file.read(1 << 20):
                        at, lines = at + len(piece), lines + piece.count(b"\n")
            self._seen[path] = at, lines
        return sum(lines for _, lines in self._seen.values())

    def look(self) -> tuple[float, float]:
        """Return the CPU seconds and megabytes."""
        assert self.process is not None
        memory = 0.0
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            self._cpu = max(self._cpu, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
            memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        except (OSError, IndexError):
            pass  # it has just ended
        return self.cpu_before + self._cpu, memory


def run(episodes: int, work: Path) -> None:
    """Execute the episodes in two shards, kill one process in the middle, and print what the run cost."""
    samples = episodes // len(MODES)
    shards = [Shard(number, work / f"shard-{number}", samples) for number in range(SHARDS)]
    looks: list[Look] = []
    killed = ""
    log = (work / "looks.jsonl").open("a")
    for shard in shards:
        shard.start()
    while any(shard.process is not None and shard.process.poll() is None for shard in shards):
        time.sleep(_LOOK)
        seen = [shard.look() for shard in shards]
        looks.append(Look(sum(shard.episodes() for shard in shards), sum(c for c, _ in seen), max(m for _, m in seen)))
        print(json.dumps(vars(looks[-1])), file=log, flush=True)
        victim = shards[0]
        if not killed and looks[-1].episodes >= episodes / 2 and victim.process is not None:
            victim.process.send_signal(signal.SIGKILL)
            victim.process.wait()
            killed = f"killed at {looks[-1].episodes:,} episodes"
            victim.start()
    codes = [shard.process.wait() for shard in shards if shard.process]
    print(f"exit codes {codes}, {killed or 'not killed'}")
    print(_by_tenths(looks, episodes))
    for shard in shards:
        print(f"{shard.folder.name}: {_kinds(shard.folder)}")


def _by_tenths(looks: list[Look], episodes: int) -> str:
    """Return a table with one row per tenth of the run, from the looks that are nearest to its ends."""
    lines = ["| episodes | CPU per episode | largest process |", "|---|---|---|"]
    before = Look(0, 0.0, 0.0)
    for tenth in range(1, 11):
        part = [look for look in looks if before.episodes < look.episodes <= episodes * tenth / 10]
        if part and part[-1].episodes > before.episodes:
            cost = (part[-1].cpu - before.cpu) / (part[-1].episodes - before.episodes) * 1000
            peak = max(look.memory for look in part)
            lines.append(f"| {before.episodes:,} to {part[-1].episodes:,} | {cost:.2f} ms | {peak:.0f} MB |")
            before = part[-1]
    if looks:
        lines.append(f"| results and report | {looks[-1].cpu - before.cpu:.0f} s in all | {looks[-1].memory:.0f} MB |")
    return "\n".join(lines)


def _kinds(folder: Path) -> str:
    """Count files and bytes by the folder they are in."""
    counts: dict[str, tuple[int, int, int]] = {}
    for above, _, names in os.walk(folder):
        kind = Path(above).relative_to(folder).parts[:1] or (".",)
        for name in names:
            stat = Path(above, name).stat()
            files, held, used = counts.get(kind[0], (0, 0, 0))
            counts[kind[0]] = files + 1, held + stat.st_size, used + stat.st_blocks * 512
    return "; ".join(
        f"{kind} {files:,} files, {held / 1e6:,.0f} MB ({used / 1e6:,.0f} MB on the disk)"
        for kind, (files, held, used) in sorted(counts.items())
    )


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.million", description=__doc__.splitlines()[0])
    asked.add_argument("what", choices=("run", "read"))
    asked.add_argument("episodes", nargs="?", type=int, default=1_000_000)
    asked.add_argument("--work", type=Path, help="an empty folder, which is kept")
    given = asked.parse_args()
    if given.work:
        given.work.mkdir(parents=True, exist_ok=True)
        run(given.episodes, given.work)
    else:
        with tempfile.TemporaryDirectory() as work:
            run(given.episodes, Path(work))


if __name__ == "__main__":
    main()
