"""Several replies to a document: `repeats` with filters that make one score of them, as lmms-eval does.

`majority_vote` and `take_first_k` were compared with those of lmms-eval 0.7.3 on random replies (docs/repeats.md).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.errors import CallFailed
from sketchmark.folder import RunFolder
from tests.lmms_eval.test_own_tasks import added

REPLIES = {
    0: ("Dark", "light", "light"),
    1: ("dark", "Light", "Dark"),
    2: ("dark", "dark", "LIGHT"),
    3: ("a", "b", "c"),
}
"""Number of a document → its replies; the documents are dark, light, dark, light."""
COUNTED = """
def process_counted(doc, results):
    return {"rights": sum(one.lower() == doc["shade"] for one in results), "seen": len(results)}
def aggregate_counted(results):
    return sum(results) / len(results)
"""


class Fickle(Model):
    """Says something else in every repeat; fails on the calls that it is told to fail on."""

    def __init__(self, fails: tuple[tuple[int, int], ...] = ()) -> None:
        super().__init__("fickle")
        self.calls, self._fails = 0, fails

    async def say(self, context: Context, options: Options) -> Reply:
        self.calls += 1
        text = next(part.content for part in context if isinstance(part.content, str))
        number = int(text.removeprefix("Image ").partition(":")[0])
        if (number, options.repeat) in self._fails:
            raise CallFailed("server_error", "try later")
        return Reply(REPLIES[number][options.repeat])


def run(folder: Path, task: str, out: Path, model: Model | None = None, **more: Any) -> RunFolder:
    made = sketchmark.run(
        model or Fickle(),
        task,
        mode="direct",
        include=(folder,),
        trust_code=True,
        output_path=out,
        quiet=True,
        **more,
    )
    return made.folder


def shades(folder: Path) -> list[str]:
    return [json.loads(line)["shade"] for line in (folder / "shades.jsonl").read_text().splitlines()]


def test_a_majority_vote_over_the_replies_is_one_score_per_document(folder: Path, tmp_path: Path) -> None:
    wanted = [
        float(vote == shade) for vote, shade in zip(("light", "dark", "dark", "a"), shades(folder), strict=True)
    ]
    steps = "[{function: lowercase}, {function: majority_vote}, {function: take_first}]"
    task = added(folder, "voted", f"repeats: 3\nfilter_list: [{{name: maj, filter: {steps}}}]")
    made = run(folder, task, tmp_path / "out")
    cell = made.results().tasks["voted.direct"]
    assert (cell.metrics["exact_match"].n, cell.episodes) == (4, 12)
    assert cell.metrics["exact_match"].mean == sum(wanted) / 4
    rows = {(row.index, row.repeat or 0): row.values["exact_match"] for row in made.scores("voted.direct")}
    assert rows == {(number, repeat): wanted[number] for number in range(4) for repeat in range(3)}


def test_two_pipelines_score_each_reply_and_their_vote(folder: Path, tmp_path: Path) -> None:
    voted = "{name: maj, filter: [{function: lowercase}, {function: majority_vote}]}"
    task = added(folder, "both", f"repeats: 3\nfilter_list: [{{filter: [{{function: take_first}}]}}, {voted}]")
    made = run(folder, task, tmp_path / "out")
    found = made.results().tasks["both.direct"].metrics
    right = [[reply.lower() == shade for reply in REPLIES[n]] for n, shade in enumerate(shades(folder))]
    assert found["exact_match"].mean == pytest.approx(sum(map(sum, right)) / 12)
    assert found["exact_match,maj"].mean == pytest.approx(
        sum(vote == shade for vote, shade in zip(("light", "dark", "dark", "a"), shades(folder), strict=True)) / 4
    )


@pytest.mark.parametrize(("filters", "seen"), [("[{function: take_first_k, k: 2}]", 2), ("[]", 3)])
def test_process_results_gets_the_first_k_replies_or_all(
    folder: Path, tmp_path: Path, filters: str, seen: int
) -> None:
    lines = (
        f"repeats: 3\nfilter_list: [{{filter: {filters}}}]\nprocess_results: !function utils.process_counted\n"
        "metric_list: [{metric: rights, aggregation: !function utils.aggregate_counted}, {metric: seen}]"
    )
    cell = run(folder, added(folder, "counted", lines, COUNTED), tmp_path / "out").results().tasks["counted.direct"]
    right = [sum(one.lower() == shade for one in REPLIES[n][:seen]) for n, shade in enumerate(shades(folder))]
    assert cell.metrics["seen"].mean == seen
    assert cell.aggregate["rights"] == pytest.approx(sum(right) / 4)


def test_a_document_without_all_replies_has_no_score_until_they_are_there(folder: Path, tmp_path: Path) -> None:
    task = added(folder, "voted", "repeats: 3\nfilter_list: [{filter: [{function: majority_vote}]}]")
    failing = Fickle(((1, 2),))
    made = run(folder, task, tmp_path / "out", failing)
    assert made.results().tasks["voted.direct"].metrics["exact_match"].n == 3
    whole = Fickle()
    assert run(folder, task, tmp_path / "out", whole).results().tasks["voted.direct"].metrics["exact_match"].n == 4
    assert whole.calls == 1  # only what is missing
