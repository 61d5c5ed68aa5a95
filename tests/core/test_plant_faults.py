"""Planted faults: the same ones are found in a tree whose modules were renamed and joined."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.faults import Fault, all_faults, faults_in, find, planted
from bench.plant_faults import choose_tests, compare, main

OLD = '''
"""A module."""

LIMIT = 3


class Box:
    def full(self, count: int) -> bool:
        """Say whether it is full."""
        if count > LIMIT and count:
            raise ValueError(f"{count} is too many")
        return count == LIMIT


def _size(names: list[str]) -> int:
    total = 0
    for name in names:
        try:
            total += len(name) - 1
        except TypeError:
            continue
    return total
'''
NEW = OLD.replace("is too many", "does not fit").replace("_size", "size").replace("class Box", "class Crate")


def _tree(root: Path, **modules: str) -> Path:
    package = root / "src" / "sketchmark"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, text in modules.items():
        (package / f"{name}.py").write_text(text, "utf-8")
    return root


def test_every_fault_changes_the_module_and_is_named_once() -> None:
    faults = faults_in(OLD, "box.py")
    keys = {(fault.function, fault.statement, fault.change, fault.nth) for fault in faults}
    assert len(keys) == len(faults) > 15
    sources = {planted(OLD, fault.number) for fault in faults}
    assert len(sources) == len(faults)
    assert not any("Say whether" in fault.change for fault in faults)
    assert {fault.function for fault in faults} == {"", "Box.full", "_size"}
    with pytest.raises(IndexError):
        planted(OLD, len(faults))


def test_faults_are_found_after_a_rename_a_join_and_a_change_of_wording(tmp_path: Path) -> None:
    wanted = faults_in(OLD, "box.py")
    other = "def first(names: list[str]) -> int:\n    total = 0\n    return total\n"
    tree = _tree(tmp_path, joined=other + NEW, decoy=other)
    places = find(wanted, all_faults(tree))
    assert all(place is not None and place.module == "joined.py" for place in places)
    source = (tmp_path / "src/sketchmark/joined.py").read_text("utf-8")
    for fault, place in zip(wanted, places, strict=True):
        assert place is not None and place.change == fault.change
        assert planted(source, place.number) != source
    assert len({place.number for place in places if place}) == len(wanted)


def test_a_fault_in_code_that_is_gone_is_not_found(tmp_path: Path) -> None:
    wanted = faults_in("def gone(x: int) -> int:\n    return x % 7\n", "gone.py")
    assert find(wanted, all_faults(_tree(tmp_path, other=OLD))) == [None] * len(wanted)


def _fault(module: str, line: int) -> Fault:
    return Fault(module, "f", "s", "c", 0, line, line, 0)


def test_tests_are_the_cheapest_that_execute_the_line_then_the_module_then_the_package() -> None:
    known = {
        "seconds": {"slow.py": 100.0, "quick.py": 0.1, "part.py": 0.1},
        "modules": {"a/x.py": {"slow.py": [1, 2, 3, 4], "quick.py": [1, 2, 3], "part.py": [1]}, "a/worker.py": {}},
    }
    assert choose_tests(_fault("a/x.py", 1), known) == ["quick.py", "slow.py", "part.py"]
    assert choose_tests(_fault("a/x.py", 4), known) == ["slow.py"]
    assert choose_tests(_fault("a/x.py", 9), known) == ["quick.py", "slow.py"]
    assert choose_tests(_fault("a/worker.py", 1), known) == ["quick.py", "slow.py"]
    assert choose_tests(_fault("b/y.py", 1), known) == []


def test_a_comparison_names_what_is_no_longer_killed(capsys: pytest.CaptureFixture[str]) -> None:
    fault = {"module": "a.py", "function": "f", "change": "x -> y"}
    killed = {"fault": fault, "outcome": "killed", "place": "a.py:1"}
    survived = {"fault": fault, "outcome": "survived", "place": "b.py:7"}
    assert compare([killed], [killed]) == 0
    assert compare([killed], [survived]) == 1
    said = capsys.readouterr().out
    assert "a.py: 1 -> 0 (1, 0, 0)" in said and "no longer killed: b.py:7  f: x -> y" in said


@pytest.mark.slow
def test_a_map_a_sample_and_a_trial_of_a_small_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = _tree(tmp_path / "tree", box="def part(x: int, y: int) -> int:\n    return x // y\n")
    (tree / "tests").mkdir()
    (tree / "tests" / "test_box.py").write_text(
        "from sketchmark.box import part\n\ndef test_part() -> None:\n    assert part(0, 2) == 0\n"
    )
    faults, out = tmp_path / "faults.json", tmp_path / "out.json"
    assert main(["map", "--root", str(tree)]) == 0
    known = json.loads((tree / "build/fault_map.json").read_text("utf-8"))
    assert known["modules"]["box.py"] == {"tests/test_box.py": [2]}
    assert main(["sample", "--root", str(tree), "--each", "9", "--out", str(faults)]) == 0
    before = (tree / "src/sketchmark/box.py").read_bytes()
    assert main(["try", str(faults), "--root", str(tree), "--out", str(out)]) == 0
    assert (tree / "src/sketchmark/box.py").read_bytes() == before
    outcomes = {row["fault"]["change"]: row["outcome"] for row in json.loads(out.read_text("utf-8"))}
    assert outcomes == {"return x // y -> return None": "killed", "x // y -> x * y": "survived"}
    done = out.read_bytes()
    assert main(["try", str(faults), "--root", str(tree), "--out", str(out)]) == 0
    assert out.read_bytes() == done, "a second trial has nothing left to do"
    assert "box.py" in capsys.readouterr().out
