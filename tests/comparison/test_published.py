"""Published scores next to the own ones: marked, in no statistic, compared with the matching scoring."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.comparison import compare
from sketchmark.comparison.formats import to_csv, to_markdown
from sketchmark.comparison.tables import to_terminal
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.report import write_report
from tests.benchmarks.uni_mmmu.published import maze_rows, write_parquet
from tests.comparison.folders import row, write_run

EMPTY = {"metrics": {}, "failures": {}, "left_out": 0, "calls_left_out": 0, "usage": {}}
FIGURE = {
    "model": "Model A",
    "score": "acc",
    "channel": "accuracy",
    "value": 0.5,
    "n": 1000,
    "source": "a paper",
    "protocol": "asked once",
    "scoring": "official",
}


def _run(path: Path, *figures: dict[str, Any], n: int = 100, steps: str = "truth", **cell: Any) -> Path:
    """Half of the answers are right in direct, three quarters in visual_cot."""
    cells = {
        f"maze.{mode}": [row(place, float(place % 4 >= wrong), scoring="strict") for place in range(n)]
        for mode, wrong in (("direct", 2), ("visual_cot", 1))
    }
    write_run(path, cells, steps=steps, play={"protocol": "steps_then_answer"})
    summary = {"n": n, "episodes": n, **EMPTY}
    tasks = {name: {**summary, "published": list(figures), **cell} for name in cells}
    (path / "results.json").write_text(json.dumps({"tasks": tasks, "gains": []}))
    return path


@pytest.mark.parametrize(
    ("value", "n", "verdict"),
    [(0.5, 1000, "too few to tell"), (0.3, 1000, "differs"), (0.5, None, ""), (0.95, 1000, "differs")],
)
def test_a_published_score_is_compared_with_the_mean_of_all_samples(
    tmp_path: Path, value: float, n: int | None, verdict: str
) -> None:
    found = compare([_run(tmp_path / "run", {**FIGURE, "value": value, "n": n})], published=True)
    direct, drawn = found.published
    (mine,) = direct.rows
    assert (direct.mode, drawn.mode) == ("direct", "visual_cot")
    assert mine.yours.mean == 0.5 and mine.yours.n == 100 and drawn.rows[0].yours.mean == 0.75
    assert (mine.apart.verdict if mine.apart else "") == verdict
    assert mine.untold == ("" if n else "n not published")


def test_enough_samples_make_a_published_score_compatible(tmp_path: Path) -> None:
    found = compare([_run(tmp_path / "run", FIGURE, n=1000)], published=True)
    assert [table.rows[0].apart and table.rows[0].apart.verdict for table in found.published] == [
        "compatible",
        "differs",
    ]


def test_published_scores_change_no_statistic(tmp_path: Path) -> None:
    run = _run(tmp_path / "run", FIGURE)
    without, beside = compare([run]), compare([run], published=True)
    assert beside.rows == without.rows and beside.canvases == without.canvases and without.published == ()


def test_a_published_score_is_compared_with_the_matching_scoring(tmp_path: Path) -> None:
    run = _run(tmp_path / "run", FIGURE)
    own = compare([run], published=True).published[0]
    assert own.rows[0].scoring == "strict" and any("--scoring strict,official" in note for note in own.notes)
    summary = {"n": 100, "episodes": 100, **EMPTY}
    run = _run(tmp_path / "both", FIGURE, scorings={"official": summary})
    lines = [json.dumps(row(place, float(place % 4 == 0), scoring="official")) for place in range(100)]
    (run / "scores" / "maze.direct~official.jsonl").write_text("\n".join(lines) + "\n")
    direct = compare([run], published=True).published[0]
    assert (direct.rows[0].scoring, direct.rows[0].yours.mean) == ("official", 0.25)
    assert not any("--scoring" in note for note in direct.notes)


def test_other_step_counts_make_a_note(tmp_path: Path) -> None:
    figure = {**FIGURE, "steps": "truth"}
    as_they = compare([_run(tmp_path / "truth", figure)], published=True).published[0]
    free = compare([_run(tmp_path / "model", figure, steps="model")], published=True).published[0]
    assert not any("number of steps" in note for note in as_they.notes)
    assert any("number of steps" in note for note in free.notes)


def test_a_single_mode_can_show_published_scores(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"maze.direct": [row(place, 1.0) for place in range(9)]})
    with pytest.raises(BadInput, match="nothing to compare"):
        compare([run], published=True)
    summary = {"n": 9, "episodes": 9, **EMPTY}
    results = {"tasks": {"maze.direct": {**summary, "published": [FIGURE]}}, "gains": []}
    (run / "results.json").write_text(json.dumps(results))
    found = compare([run], published=True)
    assert found.rows == () and len(found.published) == 1
    with pytest.raises(BadInput, match="nothing to compare"):
        compare([run])


def test_the_published_table_fits_eighty_columns_and_names_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    figures = [{**FIGURE, "model": name} for name in ("GPT-4.1 + GPT-image", "Qwen-Image-Edit", "human")]
    text = to_terminal(compare([_run(tmp_path / "run", *figures)], published=True))
    assert max(map(len, text.splitlines())) <= 80
    assert "Published: a paper: asked once." in text
    line = next(line for line in text.splitlines() if "GPT-4.1 + GPT-image" in line)
    assert re.fullmatch(r"GPT-4.1 \+ GPT-image +too few to tell +50\.0 +1000 +±0\.0 +\[-10\.1, \+10\.1\]", line)


def test_untrusted_published_scores_stay_text(tmp_path: Path) -> None:
    nasty = {
        **FIGURE,
        "model": "=1+1|<img src=x>",
        "channel": "[l](javascript:x)",
        "source": "a\nb `c`",
        "note": "\x1b[31m",
    }
    run = _run(tmp_path / "run", nasty)
    found = compare([run], published=True)
    markdown = to_markdown(found)
    assert "<img" not in markdown.replace("\\<img", "") and "\\[l](javascript:x)" in markdown and "a b" in markdown
    assert "\x1b" not in markdown and "\x1b[31m" not in to_terminal(found)
    assert "\n=1+1" not in to_csv(found)
    folder = RunFolder(run)
    html = write_report(folder).read_text()
    assert "Published scores" in html and "<img src=x>" not in html


def test_a_scripted_player_is_compared_with_the_published_table(tmp_path: Path) -> None:
    data = write_parquet(tmp_path / "data" / "uni_mmmu_maze.parquet", maze_rows())
    folder = sketchmark.run(
        "player/solver", "uni_mmmu_maze", mode="visual_cot", data=data, scoring="official", no_cache=True,
        output_path=tmp_path / "run",
    ).folder  # fmt: skip
    (table,) = compare([folder.path], published=True).published
    gpt = {row.score: row for row in table.rows if row.model == "GPT-4.1 + GPT-image"}
    assert (gpt["maze_text_exact"].value, gpt["maze_text_exact"].yours.mean) == (0.181, 1.0)
    assert gpt["maze_img_exact"].apart is not None and gpt["maze_img_exact"].apart.verdict == "differs"
    html = folder.report_file.read_text()
    assert "GPT-4.1 + GPT-image" in html and "They enter no statistic of this run" in html
    figures = folder.results().tasks["uni_mmmu_maze.visual_cot"].published
    assert len(figures) == 24


def test_missing_published_scores_make_a_note(tmp_path: Path) -> None:
    words = "no figures are known that others published for maze"
    run = _run(tmp_path / "run")
    assert f"Note: {words}" in to_terminal(compare([run], published=True))
    assert words not in to_terminal(compare([run]))
    known = compare([_run(tmp_path / "known", FIGURE)], published=True)
    assert known.published and words not in to_terminal(known)
