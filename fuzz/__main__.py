"""Coverage-guided fuzzing of every target: `make fuzz`, or `python -m fuzz [SECONDS PER TARGET] [NAME...]`.

Each target runs in a process of its own, two at a time on two cores. What it found is kept in `artefacts/fuzz/`, and
the corpus that reached new code beside it, so that the next run starts where this one ended.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

KEPT = Path("artefacts/fuzz")
_LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1")


def one(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process; atheris ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["sketchmark"]):
        from fuzz.targets import TARGETS
    target = TARGETS[name]
    atheris.Setup([sys.argv[0], *arguments], target)
    atheris.Fuzz()


def run(name: str, seconds: int) -> tuple[int, str]:
    """(inputs tried, the crash in words or nothing)."""
    from fuzz.targets import TARGETS

    corpus, found = KEPT / name / "corpus", KEPT / name / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(TARGETS[name].seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    arguments = [*_LIMITS, f"-max_total_time={seconds}", f"-artifact_prefix={found}/", str(corpus)]
    ended = subprocess.run(
        [sys.executable, "-m", "fuzz", "--one", name, *arguments], capture_output=True, text=True, errors="replace"
    )
    tried = re.search(r"number_of_executed_units:\s*(\d+)", ended.stderr)
    return int(tried[1]) if tried else 0, "" if ended.returncode == 0 else ended.stderr[-3000:] + ended.stdout[-3000:]


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--one"]:
        one(arguments[1], arguments[2:])
        return 0
    from fuzz.targets import TARGETS, workers

    seconds = int(arguments[0]) if arguments else 30
    names = arguments[1:] or list(TARGETS)
    tried: Counter[str] = Counter()
    crashes = 0
    with ThreadPoolExecutor(workers()) as pool:
        for name, (count, crash) in zip(names, pool.map(lambda name: run(name, seconds), names), strict=True):
            tried[TARGETS[name].kind] += count
            print(f"{name:>14} {count:>10,} inputs  {'CRASHED' if crash else 'sound'}", flush=True)
            if crash:
                crashes += 1
                print(crash)
    print("\n".join(f"{kind:>14} {count:>10,} inputs" for kind, count in tried.items()))
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
