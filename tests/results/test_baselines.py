"""Guessing baselines: counted by hand, scored by the task's own scorer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Sample
from sketchmark.commands.tables import print_details, print_summary
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.folder.results_format import Baseline, CellResult, Results
from sketchmark.results.aggregate import warned
from tests.benchmarks.mmsi import published as mmsi
from tests.runs.making import Speaker, make_config, make_samples, planned, run

EMPTY = {"metrics": {}, "failures": {}, "left_out": 0, "calls_left_out": 0, "usage": {}}


def seconds(sample: Sample, episode: Episode, grading: Grading) -> Scores:
    """Generous: right within one second of the truth."""
    try:
        said = float(episode.answer)
    except ValueError:
        return Scores({"right": 0.0}, unparsed=True)
    return Scores({"right": float(abs(said - sample.target["answer"]) <= 1)})


async def _cell(path: Path, config: dict[str, Any]) -> CellResult:
    folder = await run(path / "run", planned(path, config, Speaker()), Speaker())
    return folder.results().tasks["shades.direct"]


def _mmsi(path: Path, answers: str) -> CellResult:
    rows = [mmsi.row(place, "MSR", answer=answer) for place, answer in enumerate(answers)]
    data = mmsi.write(path / "data" / "mmsi.parquet", rows)
    folder = sketchmark.run("player/random", "mmsi_bench", data=data, output_path=path / "run", no_cache=True).folder
    return folder.results().tasks["mmsi_bench.direct"]


def test_letters_come_from_the_question(tmp_path: Path) -> None:
    cell = _mmsi(tmp_path, "BBBBACDB")
    found = cell.baselines["accuracy"]
    assert (found.constant, found.random, found.majority) == (1 / 8, 1 / 4, 5 / 8)
    assert (found.reply, found.replies, found.n) == ("B", 4, 8)
    assert found.best == 5 / 8


async def test_the_constants_of_a_task_reveal_a_generous_scorer(tmp_path: Path) -> None:
    """Of the answers 0, 2, 2, 5 the constant 1 gets three: what no count of equal answers would show."""
    samples = [
        Sample(sample.id, sample.pictures, fields=sample.fields, target={"answer": answer})
        for sample, answer in zip(make_samples(4), (0, 2, 2, 5), strict=True)
    ]
    cell = await _cell(tmp_path, make_config(samples, scorer=seconds, guesses=["5", "1", "9"]))
    found = cell.baselines["right"]
    assert (found.constant, found.majority, found.reply) == (1 / 4, 3 / 4, "1")
    assert found.random == pytest.approx((1 + 3 + 0) / 3 / 4)


async def test_a_users_scorer_scores_only_real_replies_unless_it_has_guesses(tmp_path: Path) -> None:
    seen: list[str] = []

    def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        seen.append(episode.answer)
        return Scores({"right": {"yes": 1.0}[episode.answer]})

    samples = make_samples(3, target={"answer": "A", "options": ["a", "b"]})
    cell = await _cell(tmp_path, make_config(samples, scorer=scorer))
    assert seen == ["yes"] * 3 and cell.baselines == {}
    (tmp_path / "guesses").mkdir()
    cell = await _cell(tmp_path / "guesses", make_config(make_samples(3), scorer=scorer, guesses=["yes", "no"]))
    assert cell.baselines == {} and cell.metrics["right"].mean == 1.0 and not cell.problem, "it fails on a guess"


async def test_of_many_samples_every_second_or_third_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sketchmark.results.aggregate.MOST_SCORED", 10)
    found = (await _cell(tmp_path, make_config(make_samples(9), guesses=["yes", "no"]))).baselines["right"]
    assert (found.n, found.majority, found.random) == (5, 1.0, 0.5)


def test_modes_have_equal_baselines_and_worlds_without_options_none(tmp_path: Path) -> None:
    folder = sketchmark.run(
        "player/random",
        "jigsaw,maze",
        mode="direct,visual_cot",
        limit=6,
        output_path=tmp_path / "run",
        no_cache=True,
        engine="local",
    ).folder
    tasks = folder.results().tasks
    direct, drawn = (tasks[f"jigsaw.{mode}"].baselines for mode in ("direct", "visual_cot"))
    assert direct == drawn and set(drawn) == {"jigsaw_text_acc"} and drawn["jigsaw_text_acc"].random == 0.5
    assert tasks["maze.direct"].baselines == {} == tasks["maze.visual_cot"].baselines
    assert "Guessing: constant, random, best constant" in folder.report_file.read_text()


@pytest.mark.parametrize(
    ("majority", "n", "replies", "expected"),
    [
        (0.635, 100, 9, True),  # VSP's collision maps
        (0.30, 1000, 4, False),  # five points are not much
        (0.5, 8, 4, False),  # eight samples: by luck
        (0.37, 100, 40, False),  # the best of forty
        (0.37, 100, 1, True),
    ],
)
def test_a_warning_needs_a_large_certain_difference(majority: float, n: int, replies: int, expected: bool) -> None:
    found = Baseline(constant=0.2, random=0.25, majority=majority, reply="Car: 1.0", replies=replies, n=n)
    cell = CellResult(task="vsp", mode="direct", headline="acc", n=n, episodes=n, baselines={"acc": found}, **EMPTY)  # type: ignore[arg-type]
    lines = list(warned({"vsp.direct": cell, "vsp.visual_cot": cell}))
    assert bool(lines) == expected and len(lines) <= 1, "once, not for every mode"
    if lines:
        assert "'Car: 1.0'" in lines[0] and f"{100 * majority:.1f}" in lines[0] and "25.0" in lines[0]


def test_the_column_fits_eighty_columns_and_the_warning_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = _mmsi(tmp_path, "B" * 36 + "ACDA")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    cell.by, cell.scorings = {}, {"official": cell}
    results = Results(model="player/test", tasks={"a_task_with_quite_a_long_name.visual_cot": cell}, gains=[])
    print_summary(results, None, {})
    print_details(results)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    head = next(line for line in lines if "95%" in line and "mean" in line)
    assert head.split()[-4:] == ["guess", "n", "cut", "unparsed"]
    assert any(re.search(r"\] +90\.0 +40 +0% +0%", line) for line in lines)
    assert "always replying 'B' scores 90.0" in " ".join(" ".join(lines).split())
