"""Faults at system calls (`bench/injection.py`): after each one the same command gives the undisturbed numbers.

A kill at any moment is a death at one of these calls: what happens between them is not on the disk. `make soak` tries
every call with every fault; here they take turns.
"""

from __future__ import annotations

import builtins
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench.injection import SCENARIOS, Layer, Scenario

TRY = """
import sys
from pathlib import Path
from bench.injection import SCENARIOS, inject

scenario = next(one for one in SCENARIOS if one.name == sys.argv[1])
outcome = inject(scenario, Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
print(*outcome.wrong, sep="\\n")
print(outcome.calls, sum(outcome.tried.values()))
"""

ROOT = Path(__file__).parents[2]
EVERY = {"run": 29, "resume": 29, "run file": 67, "score": 29, "merge": 41, "export": 9, "report": 7, "audit": 151}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_a_command_ends_as_if_nothing_had_happened(scenario: Scenario, tmp_path: Path) -> None:
    """In a process of its own, because it forks: this one may have threads."""
    words = [sys.executable, "-c", TRY, scenario.name, str(tmp_path), str(EVERY[scenario.name]), "2"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    *wrong, figures = done.stdout.splitlines()
    assert not list(filter(None, wrong))
    calls, tried = map(int, figures.split())
    assert calls > EVERY[scenario.name] and tried > 2


def test_the_layer_counts_the_calls_below_its_folder_and_fails_one(tmp_path: Path) -> None:
    """As an installed layer stays, in a child."""
    pid = os.fork()
    if pid == 0:
        layer = Layer(tmp_path, 3)
        layer.install()
        try:
            Path(os.devnull).write_bytes(b"elsewhere")
            with (tmp_path / "a").open("wb", buffering=0) as file:
                file.write(b"one")
            with (tmp_path / "b").open("wb") as file:  # the third
                file.write(b"two")
        except OSError as error:
            os._exit(len(layer.names) if "Input/output" in str(error) else 99)
        os._exit(98)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    assert (tmp_path / "a").read_bytes() == b"one" and not (tmp_path / "b").exists()
    assert io.open is builtins.open
