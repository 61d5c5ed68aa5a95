"""Peak memory of a small and a large number N of direct mazes with player/random: it must stay flat.

python bench/memory_20k.py [N]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CODE = """
import resource, sys
from sketchmark.cli import root
root.main(sys.argv[1:], standalone_mode=False)
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(count: int, folder: Path) -> tuple[float, float]:
    arguments = f"run --model player/random --tasks maze --limit {count} --no-cache --quiet -o {folder}/run{count}"
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments.split()], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split("PEAK")[1]) / 1024, time.perf_counter() - started


def main() -> None:
    large = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        results = {count: peak(count, Path(folder)) for count in (large // 20, large)}
    for count, (megabytes, seconds) in results.items():
        print(f"{count:>7} mazes: peak {megabytes:6.1f} MB, {seconds:6.1f} s, {count / seconds:6.0f} mazes/s")
    (small, _), (big, _) = results.values()
    print(f"20 times the data, {big / small:.2f} times the memory")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
