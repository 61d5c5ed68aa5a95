"""Sketchmark and its peers, side by side: the same samples, the same loopback server, one table of ratios.

    make bench                      ours and the bare client
    make bench-peers                also the openai SDK, Inspect AI and lmms-eval, each in an environment of its own
    python -m bench.wire --samples 20000 --side 24        many small samples: memory and open files over time

Every contestant is run with a few samples (its start) and with all of them, in turns; what is told is the middle of
the rounds. CPU a sample and samples a second are those beyond the start.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from urllib.request import urlopen

from bench.wire import samples
from bench.wire.contestants import ALL, BARE, SPLICED, STORING, USUAL, Contestant, Errand
from bench.wire.watching import Watched, bytes_below, watch

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / ".venv-peers"
FEW = 16
"""Enough for all that a run does once: imports, the report with its gallery."""


@dataclass
class Rounds:
    few: list[Watched] = field(default_factory=list)
    all: list[Watched] = field(default_factory=list)
    written: int = 0

    def start(self) -> float:
        return median(seen.wall for seen in self.few)

    def cpu(self, count: int) -> float:
        """Milliseconds a sample."""
        pairs = zip(self.few, self.all, strict=True)
        return median((whole.cpu - start.cpu) / (count - FEW) * 1000 for start, whole in pairs)

    def rate(self, count: int) -> float:
        pairs = zip(self.few, self.all, strict=True)
        return median((count - FEW) / max(whole.wall - start.wall, 1e-3) for start, whole in pairs)

    def peak(self) -> float:
        return median(seen.peak for seen in self.all)


@contextmanager
def serving() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.wire.server"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def run(who: Contestant, errand: Errand) -> tuple[Watched, int]:
    """What it took, and how many bytes were sent; whoever did not ask about every sample is not compared."""
    before = _asked(errand.url)
    home = {name: str(errand.work / "home") for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")}
    Path(home["HOME"]).mkdir(parents=True)
    folder = ENVIRONMENTS / who.environment / "bin"
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        **home,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "OPENAI_API_KEY": "none",
        "HF_HUB_OFFLINE": "1",
        "NO_PROXY": "127.0.0.1",
        **who.variables(errand),
    }
    program, *arguments = who.command(errand)
    seen = watch([str(folder / program), *arguments], errand.work, env, errand.work / "said.txt")
    asked = {name: value - before[name] for name, value in _asked(errand.url).items()}
    if asked["requests"] != errand.count:
        said = (errand.work / "said.txt").read_text(errors="replace")[-3000:]
        raise RuntimeError(f"{who.name} asked {asked['requests']} times for {errand.count} samples:\n{said}")
    return seen, asked["bytes"]


def _asked(url: str) -> dict[str, int]:
    with urlopen(url.replace("/v1", "/asked")) as reply:
        found: dict[str, int] = json.load(reply)
    return found


def compare(who: tuple[Contestant, ...], count: int, side: int, at_once: int, rounds: int) -> dict[str, Rounds]:
    found = {one.name: Rounds() for one in who}
    with tempfile.TemporaryDirectory() as work, serving() as url:
        folder = Path(work) / "samples"
        size = samples.make(folder, count, side)
        print(f"{count} samples, one {side}×{side} PNG of {size // 1000} kB each, {at_once} at once", file=sys.stderr)
        for one in who:  # whoever starts for the first time reads its packages from the disk
            space = Path(work) / f"warm-{one.environment}-{one.name}"
            space.mkdir()
            run(one, Errand(url, folder, FEW, at_once, space))
        for number in range(rounds):
            for one in who:
                for many in (FEW, count):
                    # Nothing is deleted before the end: ext4 goes round what was deleted in the last minutes, at the
                    # cost of whoever makes the next files.
                    space = Path(work) / f"{number}-{one.environment}-{one.name}-{many}"
                    space.mkdir()
                    seen, sent = run(one, Errand(url, folder, many, at_once, space))
                    (found[one.name].all if many == count else found[one.name].few).append(seen)
                found[one.name].written = bytes_below(space)
                print(
                    f"round {number + 1}: {one.name}: {seen.cpu:.1f} s CPU, {seen.wall:.1f} s, {seen.peak:.0f} MB, "
                    f"{sent / count / 1000:.0f} kB a request",
                    file=sys.stderr,
                )
    return found


def table(found: dict[str, Rounds], count: int, sizes: dict[str, int]) -> str:
    """As Markdown, which a terminal shows as well."""
    bare, others = found[BARE.name], [found[one.name] for one in (SPLICED, STORING) if one.name in found]
    lines = [
        "| | CPU a sample | × bare | samples a second | × bare | × spliced: CPU, rate | × storing: CPU, rate "
        "| peak | written | start | installed |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, rounds in found.items():
        cpu, rate = rounds.cpu(count), rounds.rate(count)
        ratios = [f"{cpu / one.cpu(count):.2f}, {rate / one.rate(count):.2f}" for one in others] or ["", ""]
        peak = f"{rounds.peak():.0f} MB"
        lines.append(
            f"| {name} | {cpu:.1f} ms | {cpu / bare.cpu(count):.2f} | {rate:.0f} | {rate / bare.rate(count):.2f} "
            f"| {' | '.join(ratios)} | {peak} | {rounds.written / 1e6:.0f} MB | {rounds.start():.1f} s "
            f"| {sizes[name] / 1e6:.0f} MB |"
        )
    return "\n".join(lines)


def over_time(seen: Watched) -> str:
    """Is what is held still growing at the end? By quarters of the run."""
    quarter = max(1, len(seen.files) // 4)
    memory = [max(seen.memory[n * quarter : (n + 1) * quarter], default=0.0) for n in range(4)]
    files = [max(seen.files[n * quarter : (n + 1) * quarter], default=0) for n in range(4)]
    return (
        f"memory by quarters of the run: {', '.join(f'{value:.0f}' for value in memory)} MB; "
        f"open files: {', '.join(map(str, files))}"
    )


def installed(who: Contestant) -> int:
    """The environment without what every one starts with, and without what Python compiled."""
    packages = next((ENVIRONMENTS / who.environment / "lib").glob("python*/site-packages"))
    return sum(
        bytes_below(path)
        for path in packages.iterdir()
        if path.is_dir() and not path.name.startswith(("pip", "setuptools", "_distutils", "__pycache__"))
    )


def machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    return (
        f"{time.strftime('%-d %B %Y')}, {os.cpu_count()} cores of {model}, {memory:.0f} GB, "
        f"Linux {platform.release().partition('-')[0]}, Python {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f} at the end"
    )


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.wire", description=__doc__.splitlines()[0])
    asked.add_argument("--samples", type=int, default=500)
    asked.add_argument("--side", type=int, default=512, help="of the square pictures, in pixels")
    asked.add_argument("--at-once", type=int, default=100)
    asked.add_argument("--rounds", type=int, default=3)
    asked.add_argument("--peers", action="store_true", help="all, not ours and the bare client alone")
    asked.add_argument("--only", help="names with commas, beside the bare client")
    given = asked.parse_args()
    who: tuple[Contestant, ...] = ALL if given.peers else USUAL
    if given.only:
        who = (BARE, *(one for one in ALL if one is not BARE and one.name in given.only.split(",")))
    found = compare(who, given.samples, given.side, given.at_once, given.rounds)
    print(table(found, given.samples, {one.name: installed(one) for one in who}))
    for one in who:
        print(f"\n{one.name}: {over_time(found[one.name].all[-1])}", end="")
    print(f"\n\n{machine()}")


if __name__ == "__main__":
    main()
