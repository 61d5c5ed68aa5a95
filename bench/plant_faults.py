"""How many small faults in a module would its tests notice? Plants some, one at a time, and runs the tests on each.

python bench/plant_faults.py [MODULE …] --each 12 --seed 0 --jobs 1

By hand, because mutmut 3.8 stops at the first asynchronous test, and cosmic-ray 8.7 changes the working tree itself,
draws no sample and spends much on type annotations. Here a fault lives in a temporary copy of `src`, first on the
import path, so that a measurement cannot harm the work.

A fault that makes the tests fail, or run five times as long as they should, is killed. What survives is printed:
either a test is missing, or the fault changes nothing that anyone could see.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_READERS = ("tests/worlds/test_readers.py", "tests/worlds/test_finding.py", "tests/worlds/test_boards.py")
_SCORES = tuple(f"tests/uni_mmmu/test_scoring_{world}.py" for world in ("maze", "sliding", "jigsaw"))
_STRICT = ("tests/medical/test_choices.py", "tests/medical/test_reading_choices.py", "tests/reading")
_PHRASES = (
    "tests/reading/test_other_phrases.py",
    "tests/reading/test_hard_replies.py",
    "tests/medical/test_choices.py",
)
_PLAYED = ("tests/core/test_canvases.py", "tests/core/test_playing_episodes.py", "tests/core/test_plan_checks.py")
_RUNNING = tuple(f"tests/runs/test_{name}.py" for name in ("running", "starting", "resuming", "spending"))

TESTS: dict[str, tuple[str, ...]] = {
    "desk.py": ("tests/core/test_desk.py", "tests/core/test_desk_calls.py"),
    "protocols.py": ("tests/core/test_protocols.py", "tests/core/test_plan_checks.py"),
    "canvas.py": ("tests/core/test_canvases.py",),
    "task_files/prompts.py": ("tests/core/test_filled_prompts.py", "tests/core/test_templates.py"),
    "task.py": ("tests/core/test_modes.py", "tests/core/test_catalog.py"),
    "sounds.py": ("tests/core/test_sounds.py", "tests/lmms_eval/test_hearing.py"),
    "episode.py": ("tests/core/test_playing_episodes.py",),
    "engines/local.py": ("tests/runs/test_engine.py",),
    "files/lines.py": ("tests/runs/test_lines.py", "tests/runs/test_store.py"),
    "files/own.py": ("tests/runs/test_own_files.py",),
    "files/plain.py": ("tests/runs/test_plain.py",),
    "models/cached.py": ("tests/runs/test_cached.py", "tests/core/test_cache.py"),
    "models/pacing.py": ("tests/models/test_places.py",),
    "models/layout.py": ("tests/models/test_layout.py",),
    "runs/plan.py": ("tests/runs/test_plan.py", *_PLAYED),
    "runs/checks.py": _PLAYED,
    "runs/play.py": ("tests/runs/test_play.py", *_PLAYED),
    "runs/runner.py": _RUNNING,
    "runs/store.py": ("tests/runs/test_store.py", "tests/runs/test_old_folders.py"),
    "runs/repair.py": ("tests/runs/test_repair.py",),
    "runs/rescore.py": ("tests/runs/test_rescoring.py",),
    "runs/aggregate.py": ("tests/runs/test_aggregating.py",),
    "runs/grading.py": ("tests/runs/test_grading.py",),
    "runs/gains.py": ("tests/runs/test_gains.py", "tests/compare/test_pairing.py", "tests/runs/test_results.py"),
    "stats/paired.py": ("tests/stats/test_paired.py", "tests/stats/test_paired_by_hand.py"),
    "stats/intervals.py": ("tests/stats/test_intervals.py", "tests/stats/test_clusters.py"),
    "stats/clusters.py": ("tests/stats/test_clusters.py",),
    "stats/bootstrap.py": ("tests/stats/test_clusters.py",),
    "tasks/lmms_eval/heard.py": ("tests/lmms_eval/test_hearing.py",),
    "tasks/lmms_eval/examples.py": ("tests/lmms_eval/test_examples.py",),
    "tasks/lmms_eval/templates.py": ("tests/lmms_eval",),
    "tasks/lmms_eval/aggregating.py": ("tests/lmms_eval/test_totals.py", "tests/lmms_eval/test_failures.py"),
    "worlds/maze.py": (*_READERS, "tests/worlds/test_maze.py"),
    "worlds/sliding.py": (*_READERS, "tests/worlds/test_sliding.py"),
    "worlds/boards.py": _READERS,
    "tasks/worlds/scoring.py": _SCORES,
    "scoring/tagged.py": ("tests/uni_mmmu/test_tagged.py",),
    "scoring/frames.py": ("tests/uni_mmmu/test_frame_scores.py",),
    **{
        f"scoring/{name}.py": _STRICT
        for name in ("choices", "claims", "lines", "mentions", "phrases", "reader", "statements")
    },
    **{f"scoring/{name}.py": _PHRASES for name in ("bounds", "spellings")},
}
"""Module (under src/sketchmark) -> the tests that must notice a fault in it. A few seconds each, or it is no use."""

_BOTH_WAYS = "Lt LtE, Lt GtE, Gt GtE, Gt LtE, Eq NotEq, Is IsNot, In NotIn, And Or, Add Sub, Mult Div"
_ONE_WAY = "FloorDiv Mult, Mod Mult, Pow Mult"
_ACTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Raise, ast.Delete, ast.Assert, ast.Expr)


@dataclass(frozen=True)
class Fault:
    line: int
    change: str
    source: str


def faults_in(source: str) -> Iterator[Fault]:
    tree = ast.parse(source)
    for old, new in _changes(tree, in_function=False, in_error=False):
        changed = ast.fix_missing_locations(_Swap(old, new).visit(copy.deepcopy(tree, {id(old): old})))
        words = [" ".join(ast.unparse(node).split())[:100] for node in (old, new)]
        yield Fault(getattr(old, "lineno", 0), " -> ".join(words), ast.unparse(changed))


class _Swap(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _changes(node: ast.AST, *, in_function: bool, in_error: bool) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(a node, what to put in its place), for the node and all below it that decide what the program does.

    Left out: imports, types, decorators, docstrings, `__repr__`, the wording of errors, and removals at module and
    class level, which any import would notice.
    """
    types = isinstance(node, (ast.Import, ast.ImportFrom))
    types |= ast.unparse(node).startswith(("if TYPE_CHECKING", "Literal["))
    said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if types or said or getattr(node, "name", "") == "__repr__":
        return
    yield from ((node, other) for other in _others(node, in_function, in_error))
    in_function |= isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    in_error |= isinstance(node, ast.Raise)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, in_function=in_function, in_error=in_error)


def _others(node: ast.AST, in_function: bool, in_error: bool) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            for other in _instead_of(op):
                yield _with(node, ops=[*node.ops[:place], other, *node.ops[place + 1 :]])
    elif isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)):
        yield from (_with(node, op=other) for other in _instead_of(node.op))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node.value, in_error)
    elif isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
        yield _with(node, value=ast.Constant(None))
    elif isinstance(node, (ast.Break, ast.Continue)):
        yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()
    if in_function and isinstance(node, _ACTS):
        yield ast.Pass()


def _instead_of(op: ast.AST) -> list[ast.AST]:
    both, one_way = ([pair.split() for pair in pairs.split(", ")] for pairs in (_BOTH_WAYS, _ONE_WAY))
    swaps = [*both, *one_way, *([other, one] for one, other in both)]
    return [getattr(ast, other)() for one, other in swaps if one == type(op).__name__]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def _other_constants(value: object, in_error: bool) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield from (ast.Constant(value + step) for step in (1, -1))
    elif isinstance(value, str) and not in_error:
        yield ast.Constant("" if value else "planted")


def run_tests(tree: Path, tests: tuple[str, ...], limit: float | None = None) -> bool:
    """Do they pass against the `src` in `tree`? Generated examples are the same each time and kept nowhere else."""
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "HYPOTHESIS_STORAGE_DIRECTORY": str(tree.parent)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(pytest, cwd=ROOT, env=environment, process_group=0, stdout=quiet, stderr=quiet) as running:
        try:
            return running.wait(limit) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if running.poll() is None:  # too long, or interrupted: its own children go with it
                os.killpg(running.pid, signal.SIGKILL)


def measure(module: str, whole: Path, each: int, seed: int, jobs: int) -> tuple[int, list[Fault]]:
    """(how many were planted, those that nobody noticed). `whole` is a copy of `src` that stays as it is."""
    tests = TESTS[module]
    found = list(faults_in((whole / "sketchmark" / module).read_text("utf-8")))
    chosen = random.Random(f"{seed} {module}").sample(found, min(each, len(found)))
    started = time.monotonic()
    if not run_tests(whole, tests):
        sys.exit(f"{module}: its tests fail without any fault: {' '.join(tests)}")
    limit = 10 + 5 * (time.monotonic() - started)

    def survives(fault: Fault) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(shutil.copytree(whole, Path(folder) / "src"))
            (tree / "sketchmark" / module).write_text(fault.source, "utf-8")
            return run_tests(tree, tests, limit)

    with ThreadPoolExecutor(jobs) as pool:
        alive = list(pool.map(survives, chosen))
    return len(chosen), [fault for fault, lives in zip(chosen, alive, strict=True) if lives]


def main() -> None:
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.add_argument("modules", nargs="*", metavar="MODULE", help=f"part of: {', '.join(TESTS)} (default: all)")
    about.add_argument("--each", type=int, default=12, help="faults a module")
    about.add_argument("--seed", type=int, default=0)
    about.add_argument("--jobs", type=int, default=1)
    asked = about.parse_args()
    wanted = [name for name in TESTS if not asked.modules or any(part in name for part in asked.modules)]
    if not wanted:
        about.error(f"there is no module {', '.join(asked.modules)}")
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "src"
        shutil.copytree(ROOT / "src", whole, ignore=shutil.ignore_patterns("__pycache__"))
        killed = planted = 0
        for module in wanted:
            count, alive = measure(module, whole, asked.each, asked.seed, asked.jobs)
            killed, planted = killed + count - len(alive), planted + count
            print(f"{module} {count - len(alive)}/{count}", flush=True)
            print("".join(f"  src/sketchmark/{module}:{fault.line}  {fault.change}\n" for fault in alive), end="")
    print(f"all {killed}/{planted}")


if __name__ == "__main__":
    main()
