"""What `process_results` says reaches the file's own aggregation as it was, by way of a run folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

import sketchmark
from sketchmark.files.jsonl import encode
from sketchmark.folder import RunFolder
from sketchmark.lmms_eval.functions import Functions, read, written
from tests.lmms_eval.test_totals import Guesses


@pytest.mark.parametrize(
    "result",
    [
        None,
        True,
        10**400,
        "text",
        float("inf"),
        (1, ("a", None)),
        {1, 2, 3},
        {(1, "a"): frozenset({2}), 7: 0.5, None: False},
        {"!tuple": [1]},
        {"!": 1},
        {"plain": [{"deeper": (True,)}], "empty": {}},
    ],
)
def test_a_result_comes_back_from_a_line_as_it_was(result: Any) -> None:
    back = read(json.loads(encode({"results": {"x": written(result)}}))["results"]["x"])
    assert back == result and type(back) is type(result)


def test_numbers_of_numpy_come_back_as_pythons_and_its_arrays_as_arrays() -> None:
    given = {"b": numpy.bool_(False), "f": numpy.float32(0.5), numpy.int64(3): numpy.str_("x"), "0": numpy.array(2)}
    assert repr(read(written(given))) == "{'b': False, 'f': 0.5, 3: 'x', '0': 2}"
    small = read(json.loads(encode(written(numpy.array([[250, 251]], dtype="uint8")))))
    assert (small + small).tolist() == [[244, 246]], "added up, not joined, and as small as it was"
    assert numpy.isnan(read(json.loads(encode(written(numpy.array([float("nan"), 1.0])))))).tolist() == [True, False]


def test_what_cannot_be_kept_fails_in_words_where_it_is_used_and_nowhere_else() -> None:
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    kept = read(json.loads(encode(written({"picture": object(), "right": 1, "deep": deep}))))
    assert kept["right"] == 1
    uses = [str, bool, len, float, lambda one: one == 1, lambda one: one.size, lambda one: one + 1, lambda one: {one}]
    for use in uses:
        with pytest.raises(TypeError, match=r"process_results gave a builtins\.object here, which a run cannot keep"):
            use(kept["picture"])  # type: ignore[operator]


FILE = """
task: kinds
dataset_path: rows.jsonl
test_split: test
doc_to_text: question
process_results: !function utils.results
metric_list:
"""
CODE = """
import numpy as np

def results(doc, replies):
    ok = replies[0] == "yes"
    number = int(doc["question"].split()[-1])
    return {
        "np_bool": {"ok": np.bool_(ok)}, "np_float": np.float32(ok), "np_int": {"n": np.int64(ok)},
        "maybe": 1.0 if ok else None, "by_number": {number: int(ok)}, "pair": (number % 3, int(ok)),
        "grown": np.array([1.0, ok]),
    }

def np_bool(r): return sum(1 for x in r if x["ok"]) / len(r)
def np_float(r): return float(sum(r) / len(r))
def np_int(r): return sum(x["n"] for x in r) / len(r)
def maybe(r): return sum(1 for x in r if x) / len(r)
def by_number(r):
    all_of_them = {key: value for x in r for key, value in x.items()}
    return sum(all_of_them[number] for number in range(40) if number in all_of_them) / len(r)
def pair(r): return len(set(r))
def grown(r):
    total = r[0]
    for x in r[1:]:
        total = total + x
    return float(total[1] / total[0])
"""
NAMES = ("np_bool", "np_float", "np_int", "maybe", "by_number", "pair", "grown")


def test_aggregations_make_of_what_was_kept_what_they_make_of_the_results_themselves(tmp_path: Path) -> None:
    folder = tmp_path / "kinds"
    folder.mkdir()
    metrics = "".join(f"  - {{metric: {name}, aggregation: !function utils.{name}}}\n" for name in NAMES)
    (folder / "kinds.yaml").write_text(FILE + metrics)
    (folder / "utils.py").write_text(CODE)
    docs = [{"question": f"number {number}"} for number in range(40)]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(doc)}\n" for doc in docs))
    out = tmp_path / "out"
    run = sketchmark.run(Guesses(0.7), "kinds", include=(folder,), trust_code=True, output_path=out)
    said = [episode.answer for _, episode in RunFolder(out).played("kinds.direct")]
    code = Functions([f"utils.{name}" for name in (*NAMES, "results")], folder, {})
    raw = [code[{"!function": "utils.results"}](doc, [one]) for doc, one in zip(docs, said, strict=True)]
    expected = {name: code[{"!function": f"utils.{name}"}]([one[name] for one in raw]) for name in NAMES}
    cell = run.results.tasks["kinds.direct"]
    assert cell.aggregate == pytest.approx(expected) and not cell.problem
    assert {cell.metrics[name].n for name in NAMES} == {40}
    assert cell.metrics["maybe"].mean == pytest.approx(said.count("yes") / 40)
