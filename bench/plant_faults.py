"""Measure how many small planted faults the tests notice, for every module of a tree.

    python bench/plant_faults.py map                            # run the suite once: which tests execute which module
    python bench/plant_faults.py sample --each 12 --out faults.json
    python bench/plant_faults.py try faults.json --out before.json
    python bench/plant_faults.py try faults.json --root TREE --map TREE_MAP --out after.json
    python bench/plant_faults.py compare before.json after.json

A fault is named by its function, its statement and the change. So the same faults can be planted in a tree where
modules were renamed, joined or split. A fault is planted in a temporary copy of `src`, first on the import path: a
measurement cannot harm the work. It is killed if tests fail or take five times as long as usual. A survivor means
that a test is missing, or that the fault changes nothing that can be seen.

Written here because mutmut 3.8 stops at the first asynchronous test, and cosmic-ray 8.7 changes the working tree,
draws no sample and spends much on type annotations.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.faults import PACKAGE, Fault, all_faults, find, planted  # noqa: E402

FEW = 4
"""Test files that are run for one fault, at most."""

_START = 2.0
"""Seconds that a test file costs before its first test."""

_MARKS = "not local and not ray and not litellm and not llama and not servers"


def make_map(root: Path, tests: list[str], jobs: int) -> dict[str, Any]:
    """Run the tests once under coverage, each line with the test that executes it.

    A process that a test starts is measured too, with the test's name from pytest's variable. It learns of coverage
    while tests run only, because pytest-cov looks after pytest's own processes.
    """
    import coverage

    with tempfile.TemporaryDirectory() as folder:
        settings, data, times = (Path(folder) / name for name in ("rc", "data", "times.xml"))
        settings.write_text(
            f"[run]\nparallel = true\nsource = {PACKAGE}\nsigterm = true\ndata_file = {data}\n"
            "context = ${PYTEST_CURRENT_TEST-}\ndisable_warnings = no-data-collected, module-not-imported\n"
        )
        (Path(folder) / "measured_processes.py").write_text(
            "import os\ndef pytest_runtest_setup(item):\n"
            f"    os.environ['COVERAGE_PROCESS_START'] = {str(settings)!r}\n"
        )
        command = [*_pytest(), "-m", _MARKS, f"--cov={PACKAGE}", f"--cov-config={settings}", "--cov-context=test"]
        command += ["--cov-report=", f"--junitxml={times}", "-o", "junit_family=xunit1", "-p", "measured_processes"]
        command += ["-n", str(jobs), "--dist", "loadfile"] if jobs > 1 else []
        environment = _environment(root / "src", Path(folder))
        environment["PYTHONPATH"] += os.pathsep + folder
        subprocess.run([*command, *tests], cwd=root, env=environment, check=False)
        seconds: Counter[str] = Counter()
        for case in ElementTree.parse(times).iter("testcase"):
            seconds[case.get("file", "")] += float(case.get("time", 0))  # type: ignore[assignment]
        measured = coverage.CoverageData(str(data))
        measured.read()
        modules = {}
        for path in sorted((root / "src" / PACKAGE).rglob("*.py")):
            inner, by_file = _inner_lines(path.read_text("utf-8")), defaultdict(list)
            for line, contexts in measured.contexts_by_lineno(str(path)).items():
                for test in {context.partition("::")[0] for context in contexts if line in inner} - {""}:
                    by_file[test].append(line)
            rates = {test: len(lines) / (_START + seconds[test]) for test, lines in by_file.items()}
            modules[path.relative_to(root / "src" / PACKAGE).as_posix()] = {
                test: sorted(by_file[test]) for test in sorted(by_file, key=lambda test: (-rates[test], test))
            }
    return {"seconds": {test: round(took, 2) for test, took in sorted(seconds.items())}, "modules": modules}


def _inner_lines(source: str) -> set[int]:
    """Return the lines of function bodies: what an import does not execute."""
    functions = (
        node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )
    return {line for node in functions for line in range(node.body[0].lineno, (node.end_lineno or 0) + 1)}


def choose_tests(fault: Fault, known: dict[str, Any]) -> list[str]:
    """Choose the cheapest test files that together cover the module; those that execute the fault's lines first."""
    near = {fault.module: known["modules"].get(fault.module, {})}
    if not near[fault.module]:  # its process could not be measured: the tests of its package
        near = {
            name: tests for name, tests in known["modules"].items() if Path(name).parent == Path(fault.module).parent
        }
    lines: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for name, tests in near.items():
        for test, found in tests.items():
            lines[test] |= {(name, line) for line in found}
    own = {(fault.module, line) for line in range(fault.first, fault.last + 1)}
    here = [test for test in lines if lines[test] & own]
    pool, chosen, covered = here or list(lines), list[str](), set[tuple[str, int]]()
    while pool and len(chosen) < FEW:

        def rate(test: str, covered: set[tuple[str, int]] = covered) -> tuple[float, float]:
            cost = _START + known["seconds"].get(test, 0.0)
            return len(lines[test] - covered) / cost, len(lines[test]) / cost

        best = max(pool, key=rate)
        if not here and not lines[best] - covered:
            break
        chosen.append(best)
        pool.remove(best)
        covered = covered | lines[best]
    return chosen


def _pytest() -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]


def _environment(source: Path, folder: Path) -> dict[str, str]:
    """Return variables for pytest, without those of a pytest or a measurement around this one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV"))}
    return {**kept, "PYTHONPATH": str(source), "HYPOTHESIS_STORAGE_DIRECTORY": str(folder)}


class Trial:
    """Copies of a tree's `src`, one per job, in which faults are planted and tests are run."""

    def __init__(self, root: Path, folder: Path, jobs: int) -> None:
        self._root, self._usual, self._stamp = root, dict[str, float | None](), int(time.time())
        self._lock = threading.Lock()
        self._copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for job in range(jobs):
            copied = shutil.copytree(
                root / "src", folder / str(job) / "src", ignore=shutil.ignore_patterns("__pycache__")
            )
            self._copies.put(copied)

    def outcome(self, fault: Fault, tests: list[str]) -> str:
        copied = self._copies.get()
        try:
            usual = {test: self._usual_seconds(copied, test) for test in tests}
            sound = {test: took for test, took in usual.items() if took is not None}
            if not sound:
                return "untested"
            path = copied / PACKAGE / fault.module
            source = path.read_text("utf-8")
            try:
                self._write(path, planted(source, fault.number))
                return "survived" if self._pass(copied, list(sound), 10 + 5 * sum(sound.values())) else "killed"
            finally:
                self._write(path, source)
        finally:
            self._copies.put(copied)

    def _write(self, path: Path, text: str) -> None:
        """Write with a unique time: Python finds compiled code by time in seconds and by size."""
        with self._lock:
            self._stamp += 1
            path.write_text(text, "utf-8")
            os.utime(path, (self._stamp, self._stamp))

    def _usual_seconds(self, copied: Path, test: str) -> float | None:
        """Return how long a test file takes without a fault; None if it fails then."""
        if test not in self._usual:
            started = time.monotonic()
            passes = self._pass(copied, [test], None)
            self._usual[test] = time.monotonic() - started if passes else None
            if not passes:
                print(f"left out, it fails without a fault: {test}", file=sys.stderr)
        return self._usual[test]

    def _pass(self, copied: Path, tests: list[str], limit: float | None) -> bool:
        command = [*_pytest(), "-x", "-m", _MARKS, *tests]
        environment, quiet = _environment(copied, copied.parent), subprocess.DEVNULL
        with subprocess.Popen(
            command, cwd=self._root, env=environment, process_group=0, stdout=quiet, stderr=quiet
        ) as running:
            try:
                return running.wait(limit) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:
                if running.poll() is None:  # too long, or interrupted: the processes it started end with it
                    os.killpg(running.pid, signal.SIGKILL)


Row = dict[str, Any]
"""A fault as it was sampled, with `outcome` and, where it was found, `place`."""


def try_faults(rows: list[Row], root: Path, known: dict[str, Any], jobs: int, save: Callable[[], None]) -> None:
    """Fill in the outcome of every row that has none."""
    wanted = [Fault(**row["fault"]) for row in rows]
    places = find(wanted, all_faults(root))
    lock = threading.Lock()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        trial = Trial(root, Path(folder), jobs)

        def one(row: Row, place: Fault | None) -> None:
            started = time.monotonic()
            tests = choose_tests(place, known) if place else []
            outcome = trial.outcome(place, tests) if place else "not found"
            with lock:
                row.update(outcome=outcome, tests=tests, seconds=round(time.monotonic() - started, 1))
                row["place"] = f"{place.module}:{place.first}" if place else None
                save()

        left = [(row, place) for row, place in zip(rows, places, strict=True) if "outcome" not in row]
        try:
            for done in [pool.submit(one, *each) for each in left]:
                done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # interrupted: the same command tries the rest


OUTCOMES = ("killed", "survived", "untested", "not found")


def counts(rows: Iterable[Row]) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        table[row["fault"]["module"]][row.get("outcome", "left")] += 1
    return dict(sorted(table.items()))


def print_outcomes(rows: list[Row]) -> None:
    table = counts(rows)
    width = max([len(name) for name in table] + [6])
    print(f"{'module':{width}}  planted  " + "  ".join(OUTCOMES))
    for name, found in [*table.items(), ("all", sum(table.values(), Counter()))]:
        numbers = "  ".join(f"{found[outcome]:{len(outcome)}}" for outcome in OUTCOMES)
        print(f"{name:{width}}  {found['killed'] + found['survived']:7}  {numbers}")
    for row in rows:
        if row.get("outcome") in ("survived", "untested"):
            print(f"  {row['outcome']}: {row['place']}  {row['fault']['function']}: {row['fault']['change'][:150]}")


def compare(before: list[Row], after: list[Row]) -> int:
    """Print the modules whose outcomes differ, and return how many faults are no longer killed."""
    pairs = {json.dumps(row["fault"]): row for row in after}
    lost = 0
    old, new = counts(before), counts(after)
    print("module: killed before -> after (survived, untested, not found after)")
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name, Counter()), new.get(name, Counter())
        if was != now:
            rest = ", ".join(str(now[outcome]) for outcome in OUTCOMES[1:])
            print(f"{name}: {was['killed']} -> {now['killed']} ({rest})")
    for row in before:
        other = pairs.get(json.dumps(row["fault"]), {})
        if row.get("outcome") == "killed" and other.get("outcome") in ("survived", "untested"):
            lost += 1
            print(f"  no longer killed: {other['place']}  {row['fault']['function']}: {row['fault']['change'][:150]}")
    total = [sum(table.values(), Counter())["killed"] for table in (old, new)]
    print(f"all: {total[0]} -> {total[1]}; {lost} no longer killed")
    return lost


def _save(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(value, indent=1), "utf-8")
    part.replace(path)


def main(arguments: list[str] | None = None) -> int:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = about.add_subparsers(dest="command", required=True)
    names = ("map", "sample", "try", "compare")
    mapping, sampling, trying, comparing = (commands.add_parser(name) for name in names)
    for command in (mapping, sampling, trying):
        command.add_argument("--root", type=Path, default=ROOT, help="tree with src and tests (default: this one)")
    for command in (mapping, trying):
        command.add_argument("--jobs", type=int, default=1)
        command.add_argument("--map", type=Path, help="file of the map (default: build/fault_map.json in the tree)")
    mapping.add_argument("tests", nargs="*", help="test files and folders (default: the whole suite)")
    sampling.add_argument("modules", nargs="*", help="parts of module names (default: every module)")
    sampling.add_argument("--each", type=int, default=12, help="faults per module")
    sampling.add_argument("--seed", type=int, default=0)
    sampling.add_argument("--out", type=Path, required=True)
    trying.add_argument("faults", type=Path)
    trying.add_argument("--out", type=Path, required=True, help="outcomes; faults that have one are not tried again")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    asked = about.parse_args(arguments)
    if asked.command == "compare":
        return int(
            compare(json.loads(asked.before.read_text("utf-8")), json.loads(asked.after.read_text("utf-8"))) > 0
        )
    root = asked.root.resolve()
    if asked.command == "sample":
        rows = []
        for name, found in all_faults(root).items():
            if not asked.modules or any(part in name for part in asked.modules):
                rows += random.Random(f"{asked.seed} {name}").sample(found, min(asked.each, len(found)))
        _save(asked.out, [{"fault": asdict(fault)} for fault in rows])
        print(f"{len(rows)} faults in {len({fault.module for fault in rows})} modules")
        return 0
    where = asked.map or root / "build" / "fault_map.json"
    if asked.command == "map":
        known = make_map(root, asked.tests, asked.jobs)
        _save(where, known)
        bare = [name for name, tests in known["modules"].items() if not tests]
        print(f"{len(known['modules'])} modules, {len(bare)} without a test: {' '.join(bare)}")
        return 0
    tried = json.loads((asked.out if asked.out.exists() else asked.faults).read_text("utf-8"))
    try_faults(tried, root, json.loads(where.read_text("utf-8")), asked.jobs, lambda: _save(asked.out, tried))
    print_outcomes(tried)
    return 0


if __name__ == "__main__":
    sys.exit(main())
