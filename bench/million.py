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
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import sketchmark
from bench.soak import TASK
from sketchmark.files.jsonl import encode, seal

SHARDS = 2
MODES = ("direct", "visual_cot")
_LOOK = 1.0
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
        done = sum(shard.episodes() for shard in shards)
        looks.append(Look(done, sum(cpu for cpu, _ in seen), max(memory for _, memory in seen)))
        print(json.dumps(vars(looks[-1])), file=log, flush=True)
        victim = shards[0]
        if not killed and looks[-1].episodes >= episodes / 2 and victim.process is not None:
            victim.process.send_signal(signal.SIGKILL)
            victim.process.wait()
            killed = f"killed at {looks[-1].episodes:,} episodes"
            victim.start()
    codes = [shard.process.wait() for shard in shards if shard.process]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"exit codes {codes}, {killed or 'not killed'}, peak of a process {peak:.0f} MB")
    print(_by_tenths(looks, episodes))
    for shard in shards:
        print(f"{shard.folder.name}: {_kinds(shard.folder)}")


def _by_tenths(looks: list[Look], episodes: int) -> str:
    """Return a table with one row per tenth of the run, from the looks that are nearest to its ends. The end is what
    follows the last episode: missing scores, results, report."""
    lines = ["| episodes | CPU per episode | largest process |", "|---|---|---|"]
    whole = next((look for look in looks if look.episodes >= episodes), looks[-1])
    before = Look(0, 0.0, 0.0)
    for tenth in range(1, 11):
        part = [look for look in looks if before.episodes < look.episodes <= episodes * tenth / 10]
        part = [look for look in part if look.cpu <= whole.cpu]
        if part and part[-1].episodes > before.episodes:
            cost = (part[-1].cpu - before.cpu) / (part[-1].episodes - before.episodes) * 1000
            peak = max(look.memory for look in part)
            lines.append(f"| {before.episodes:,} to {part[-1].episodes:,} | {cost:.2f} ms | {peak:.0f} MB |")
            before = part[-1]
    peak = max(look.memory for look in looks[looks.index(whole) :])
    return "\n".join([*lines, f"| the end | {looks[-1].cpu - whole.cpu:.0f} s in all | {peak:.0f} MB |"])


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


CANVASES = "own,blank,other,oracle"
_BASE = 40
_MARKS = re.compile(rb'"@(index|sample|fingerprint|started)"')


def _multiplied(line: bytes) -> list[bytes]:
    """Return the parts of a line around its number, id, fingerprint and start, which come in this order."""
    record = json.loads(line)
    record.pop("crc")
    holder = record["sample"] if isinstance(record["sample"], dict) else record
    record |= {"index": "@index", "started": "@started"}
    holder |= {"id" if holder is not record else "sample": "@sample", "fingerprint": "@fingerprint"}
    return _MARKS.split(encode(record).rstrip(b"\n"))[::2]


def make_folder(path: Path, count: int) -> None:
    """Make a run of ten cells with `count` episodes each, from the lines of a real run under new ids."""
    base = path.with_name("base")
    sketchmark.run(
        "player/sketcher",
        "maze,sliding",
        output_path=base,
        mode="direct,visual_cot",
        canvas=CANVASES,
        limit=_BASE,
        no_cache=True,
    )
    about = json.loads((base / "run.json").read_text())
    about |= {name: dict.fromkeys(about["cells"], count) for name in ("limits", "totals")}
    shutil.copytree(base / "pictures", path / "pictures")
    (path / "run.json").write_text(json.dumps(about))
    for kind in ("episodes", "scores"):
        (path / kind).mkdir()
        for file in sorted((base / kind).iterdir()):
            lines = [_multiplied(line) for line in file.read_bytes().splitlines()]
            with (path / kind / file.name).open("wb", 1 << 20) as made:
                for number in range(count):
                    one = lines[number % len(lines)]
                    new = (b"%d" % number, b'"sample-%07d"' % number, b'"%016x"' % number, b"%.3f" % (1.7e9 + number))
                    made.write(seal(b"".join([one[0], *(text for pair in zip(new, one[1:]) for text in pair)])))  # noqa: B905


CODE = """
import json, resource, sys, time
from pathlib import Path
what, *rest = sys.argv[1:]
times = {}
if what == "view":
    from sketchmark.view.views import Views
    views = Views(Path(rest[0]))
    asked = {"run": rest[1]}
    pages = {
        "first page": lambda: views.runs({}),
        "run": lambda: views.run(asked),
        "samples": lambda: views.samples(asked),
        "filter": lambda: views.samples({**asked, "outcome": "wrong", "change": "hurt"}),
        "filter, page 50": lambda: views.samples({**asked, "outcome": "right", "page": "50"}),
        "sorted": lambda: views.samples({**asked, "sort": "seconds:down"}),
        "by group": lambda: views.samples({**asked, "groups": "size=6x6", "mode": "visual_cot"}),
        "again": lambda: views.samples({**asked, "outcome": "right", "page": "51"}),
        "poll": lambda: views.version(asked),
    }
    for name, page in pages.items():
        begun = time.process_time()
        page()
        times[name] = time.process_time() - begun
else:
    from sketchmark.cli import root
    try:
        root.main(sys.argv[1:], standalone_mode=False)
    except SystemExit:
        pass
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
cpu = sum(one.ru_utime + one.ru_stime for one in used)
print("USED", json.dumps([cpu, int(peak) / 1024, used[1].ru_maxrss / 1024, times]))
"""


def used(*arguments: object) -> str:
    """Return the CPU seconds and the peak memory of a command, with the times of its pages."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if "USED" not in done.stdout:
        return f"failed: {done.stderr[-500:]}"
    cpu, peak, child, times = json.loads(done.stdout.split("USED")[1])
    told = f"{cpu:.1f} s CPU, {max(peak, child):.0f} MB"
    return ", ".join([told, *(f"{name} {seconds * 1000:.0f} ms" for name, seconds in times.items())])


def read(episodes: int, work: Path) -> None:
    """Make a folder of ten cells and print what each command takes, first without an index and then with it."""
    runs = work / "runs"
    if not (runs / "whole").exists():
        make_folder(runs / "whole", episodes // 10)
    whole = runs / "whole"
    size = sum(path.stat().st_size for kind in ("episodes", "scores") for path in (whole / kind).iterdir())
    print(f"{episodes:,} episodes in ten cells, {size / 1e9:.1f} GB of lines", flush=True)
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")
    commands: dict[str, tuple[object, ...]] = {
        "compare": ("compare", whole),
        "leaderboard": ("compare", runs),
        "report": ("report", whole),
        "viewer": ("view", runs, "whole"),
    }
    for name, command in commands.items():
        shutil.rmtree(work / "cache", ignore_errors=True)
        for time_ in ("first", "again"):
            print(f"{name}, {time_}: {used(*command)}", flush=True)
    for name, command in {
        "repair": ("repair", whole, "--dry-run"),
        "export to CSV": ("export", whole, "--to", "csv", "--out", work / "csv"),
        "merge": ("merge", whole, "--out", work / "merged"),
    }.items():
        print(f"{name}: {used(*command)}", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.million", description=__doc__.splitlines()[0])
    asked.add_argument("what", choices=("run", "read"))
    asked.add_argument("episodes", nargs="?", type=int, default=1_000_000)
    asked.add_argument("--work", type=Path, help="a folder for the runs, which is kept")
    given = asked.parse_args()
    measure = run if given.what == "run" else read
    with tempfile.TemporaryDirectory() as work:
        folder = given.work or Path(work)
        folder.mkdir(parents=True, exist_ok=True)
        measure(given.episodes, folder.resolve())


if __name__ == "__main__":
    main()
