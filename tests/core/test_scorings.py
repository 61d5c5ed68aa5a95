"""One name means one thing: `strict` is the shared reader in every task with options, `official` the published."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from string import ascii_uppercase
from typing import Any

import pytest
from bench.worlds import step_worlds

from sketchmark import Sample, read_choice
from sketchmark.answers import phrases as strict_answers
from sketchmark.benchmarks import mmsi
from sketchmark.benchmarks.medical import scores as medical
from sketchmark.benchmarks.mmmu import scores as mmmu
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from tests.episodes import episode

PAINTERS = ["Monet", "Renoir", "Degas", "Manet", "Sisley", "Morisot", "Cassatt", "Seurat", "Signac", "Bazille"]
REPLIES = [
    "Answer: \\(B\\)",
    "\\[ \\boxed{J} \\]",
    "I'm sorry.",
    "(A) Monet (C) Degas",
    "`C`",
    "b",
    "Signac",
    "B or C",
]
REPLIES += [
    "e.g. A",
    "A painter of light: Answer: H",
    "Answer: \\( \\text{I} \\)",
    "<think>A</think> **F**",
    "Not B. D.",
]


@pytest.mark.parametrize("name", Catalog().task_names())
def test_strict_comes_first_and_official_is_the_name_of_the_published_reading(name: str) -> None:
    scorings = list(Catalog().task(name).declared.scorings)
    assert scorings[0] == "strict"
    assert ("official" in scorings) == (name.removesuffix("_hard") not in step_worlds()), (
        "step worlds are unpublished"
    )


def _right(scorer: Callable[..., Any], options: list[str], letter: str, said: str, **settings: str) -> bool:
    listed = "\n".join(f"{one}. {words}" for one, words in zip(ascii_uppercase, options, strict=False))
    target = {"kind": "choice", "options": options, "shown": listed.splitlines(), "gold": letter, "answer": letter}
    sample = Sample("x", fields={"question": f"Who?\n{listed}"}, target=target, groups={"subject": "Art"})
    found = scorer(sample, episode(said), Grading(), **settings)
    scores = asyncio.run(found) if asyncio.iscoroutine(found) else found
    return bool(max(scores.values.values()) == 1.0)


SCORERS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "MMSI-Bench": (mmsi.accuracy, {}),
    "MMMU": (mmmu.score, {"program": "mmmu"}),
    "MMMU-Pro": (mmmu.score, {"program": "mmmu_pro"}),
    "medical": (medical.score, {"dataset": "medxpertqa"}),
    "anybody's": (strict_answers.choice, {}),
}


@pytest.mark.parametrize("family", SCORERS)
@pytest.mark.parametrize("said", REPLIES)
def test_a_reply_is_right_by_strict_in_every_family_where_the_shared_reader_reads_it_so(
    said: str, family: str
) -> None:
    scorer, settings = SCORERS[family]
    for count in (4, 6) if family == "MMSI-Bench" else (4, 10):
        options = PAINTERS[:count]
        read = read_choice(said, options).value
        right = [letter for letter in ascii_uppercase[:count] if _right(scorer, options, letter, said, **settings)]
        assert right == ([read] if read else []), count
