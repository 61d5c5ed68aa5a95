"""Runs of every medical dataset and MMMU, direct and with a drawing, under several scorings."""

from __future__ import annotations

import asyncio
import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sketchmark import Context, Model, Options, Reply
from sketchmark.api import run
from sketchmark.catalog import Catalog
from sketchmark.cli import root as cli
from sketchmark.episode import Grading
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import CellResult
from sketchmark.media import Picture
from sketchmark.results import aggregate as submission
from sketchmark.results.aggregate import aggregate
from sketchmark.results.rescore import rescore
from tests.benchmarks.medical import fixtures


class Scripted(Model):
    """A model that replies in turn, draws one image, and keeps the contexts."""

    name = "scripted"

    def __init__(self, *replies: str) -> None:
        self.replies = replies or ("B",)
        self.said: list[Context] = []
        self.drew: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.said.append(context)
        return Reply(self.replies[(len(self.said) - 1) % len(self.replies)])

    async def draw(self, context: Context, options: Options) -> Reply:
        self.drew.append(context)
        return Reply(picture=Picture.from_bytes(fixtures.png(200)))


class Judging(Model):
    """A judge with one reply; by default everything is correct (0)."""

    def __init__(self, reply: str = "<think>.</think><judge>0</judge>") -> None:
        super().__init__("judge")
        self._reply = reply

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply(self._reply)


Prepare = Callable[[Path], Path]
SETS: list[tuple[str, Prepare, int, int]] = [
    ("medframeqa", fixtures.medframeqa, 2, 1),
    ("medxpertqa_mm", fixtures.medxpertqa, 1, 2),
    ("medxpertqa_text", fixtures.medxpertqa, 1, 0),
    ("pmc_vqa", fixtures.pmc_vqa, 1, 1),
    ("omnimedvqa", fixtures.omnimedvqa, 2, 1),
    ("vqa_rad", fixtures.vqa_rad, 3, 1),
    ("path_vqa", lambda root: fixtures.vqa(root, "PATH_VQA"), 3, 1),
    ("slake", fixtures.slake, 4, 0),
    ("iu_xray", lambda root: fixtures.reports(root, "IU_XRAY"), 2, 0),
    ("mimic_cxr", lambda root: fixtures.reports(root, "MIMIC_CXR"), 2, 0),
    ("chexpert_plus", lambda root: fixtures.reports(root, "CheXpert_Plus"), 2, 0),
    ("radrestruct", fixtures.radrestruct, 3, 0),
    ("mmmu_pro_standard_10", fixtures.mmmu_pro, 3, 1),
    ("mmmu_pro_vision", fixtures.mmmu_pro, 1, 0),
]


def play(model: Model, task: str, data: Path, out: Path, *, mode: str = "direct", **request: Any) -> RunFolder:
    return run(model, task, mode=mode, data=data, output_path=out, concurrency=1, **request).folder


def random_run(folder: Path, tasks: str, data: Path, *more: str) -> Result:
    asked = ["run", "--model", "player/random", "--tasks", tasks, "--data", str(data), "--no-cache", *more]
    return CliRunner().invoke(cli, [*asked, "--output_path", str(folder / "run")])


def score_as(folder: RunFolder, scorings: list[str], judge: Model | None = None) -> dict[str, CellResult]:
    catalog, about = Catalog(), folder.about()
    tasks = {name: catalog.task(about.cells[name].task) for name in folder.cells}
    asyncio.run(rescore(folder, tasks, scorings, Grading(judge=judge)))
    aggregate(folder, tasks, about.seed, scorings)
    return folder.results().tasks


@pytest.mark.parametrize(("task", "prepare", "scored", "broken"), SETS, ids=[entry[0] for entry in SETS])
def test_every_set_plays_directly_and_with_a_drawing(
    task: str, prepare: Prepare, scored: int, broken: int, tmp_path: Path
) -> None:
    model = Scripted("B")
    folder = play(model, task, prepare(tmp_path / "data"), tmp_path / "run", mode="direct,visual_cot")
    results = folder.results().tasks
    for mode in ("direct", "visual_cot"):
        cell = results[f"{task}.{mode}"]
        assert cell.n == scored
        assert cell.failures.get("broken_row", 0) == broken
        assert cell.aggregate
    assert len(model.drew) == scored
    for context in model.drew:
        assert "annotated copy" in context.texts[-1]
        assert "{question}" not in context.texts[-1]


@pytest.mark.parametrize("task", [entry[0] for entry in SETS])
def test_empty_replies_never_stop_a_run_and_are_counted_as_unparsed(task: str, tmp_path: Path) -> None:
    prepare = next(entry[1] for entry in SETS if entry[0] == task)
    folder = play(Scripted(""), task, prepare(tmp_path / "data"), tmp_path / "run")
    cell = folder.results().tasks[f"{task}.direct"]
    assert cell.failures["unparsed"] == cell.n > 0
    assert all(found.mean == 0 for found in cell.metrics.values())


def test_mmmu_plays_with_all_its_pictures(tmp_path: Path) -> None:
    model = Scripted("B", "The answer is 0.25", "(B)")
    folder = play(
        model, "mmmu_val", fixtures.mmmu(tmp_path / "d"), tmp_path / "run", task_args={"subjects": "Pharmacy+Math"}
    )
    assert [len(context.pictures) for context in model.said] == [2, 2, 2]
    assert model.said[0].texts[:2] == ["<image_1>: ", "<image_2>: "]
    cell = folder.results().tasks["mmmu_val.direct"]
    assert cell.aggregate["Overall"] == {"num": 3, "acc": 0.667}
    assert cell.aggregate["Pharmacy"]["acc"] == 1.0


def test_a_picture_list_is_tagged_and_the_prompt_comes_last(tmp_path: Path) -> None:
    model = Scripted("yes")
    play(model, "vqa_rad", fixtures.vqa_rad(tmp_path / "d"), tmp_path / "run", limit=1)
    (context,) = model.said
    assert [type(part.content).__name__ for part in context] == ["str", "Picture", "str"]
    assert context.texts[0] == "<image_1>: "
    assert context.texts[1].startswith("is this a ct?\nThe index of the given image is 1.\n")


def test_the_drawing_prompt_quotes_the_question_without_its_options(tmp_path: Path) -> None:
    model = Scripted("C")
    play(model, "medxpertqa_mm", fixtures.medxpertqa(tmp_path / "d"), tmp_path / "run", mode="visual_cot")
    (drawn,), (said,) = model.drew, model.said
    assert "What next?" in drawn.texts[-1] and "drug" not in drawn.texts[-1]
    assert len(said.pictures) == 2, "the original and the drawing"


def test_strict_and_fork_stand_side_by_side_and_the_fork_mixes_up_duplicates(tmp_path: Path) -> None:
    """One question about two pictures, answered yes (right) and no: the fork scores no twice."""
    folder = play(
        Scripted("yes", "no", "the right lobe"), "vqa_rad", fixtures.vqa_rad(tmp_path / "d"), tmp_path / "run"
    )
    cell = score_as(folder, ["strict", "code-fork", "code-upstream"])["vqa_rad.direct"]
    fork, upstream = (cell.scorings[name].aggregate for name in ("code-fork", "code-upstream"))
    assert cell.scoring == "strict"
    assert cell.aggregate["close"] == {"total": 2, "right": 1, "acc": 0.5}
    assert upstream["close"] == {"total": 2, "right": 1, "acc": 0.5}
    assert fork["close"] == {"total": 2, "right": 0, "acc": 0.0}
    assert (cell.aggregate["open"]["precision"], fork["open"]["precision"]) == pytest.approx((2 / 3, 0.8))


def test_score_prints_the_scorings_of_a_run_side_by_side(tmp_path: Path) -> None:
    data = fixtures.vqa_rad(tmp_path / "d")
    folder = play(Scripted("yes", "no", "the right lobe"), "vqa_rad", data, tmp_path / "run")
    done = CliRunner().invoke(cli, ["score", str(folder.path), "--scoring", "strict,code-fork"])
    assert done.exit_code == 0, done.exception
    (line,) = [line for line in done.output.splitlines() if "close / acc" in line]
    assert line.split()[-2:] == ["50.0", "0.0"]


def test_a_row_that_cannot_be_used_is_named_at_the_end_of_the_run(tmp_path: Path) -> None:
    done = random_run(tmp_path, "vqa_rad", fixtures.vqa_rad(tmp_path / "d"))
    (line,) = [line for line in done.output.splitlines() if "broken_row 1, the first: vqa_rad-" in line]
    assert "row 3: " in line and "not a picture" in line


def test_the_table_has_the_score_of_the_whole_set_and_the_headline_by_group(tmp_path: Path) -> None:
    fixtures.vqa_rad(tmp_path / "d")
    data = fixtures.reports(tmp_path / "d", "IU_XRAY")
    lines = random_run(tmp_path, "vqa_rad,iu_xray", data, "--details").output.splitlines()
    assert [line for line in lines if "cider" in line]
    grouped = lines[lines.index(next(line for line in lines if line.startswith("By group"))) :]
    assert [line.split()[-5] for line in grouped if "[" in line] == ["closed", "open"]


@pytest.mark.parametrize(
    ("task", "prepare", "scoring", "words"),
    [
        ("vqa_rad", SETS[5][1], "nonsense", "there are: strict, official, code-upstream, code-fork, paper"),
        ("vqa_rad", SETS[5][1], "strict, paper", "give --judge"),
        ("iu_xray", SETS[8][1], "lenient", "has no scoring 'lenient'"),
        ("mmmu_pro_vision", fixtures.mmmu_pro, "nonsense", "official"),
    ],
)
def test_a_scoring_that_cannot_be_done_is_refused_before_the_first_call(
    task: str, prepare: Prepare, scoring: str, words: str, tmp_path: Path
) -> None:
    done = random_run(tmp_path, task, prepare(tmp_path / "data"), "--scoring", scoring)
    assert words in str(done.exception) and not (tmp_path / "run").exists()


def test_a_judge_overrules_the_rule_on_open_answers_only(tmp_path: Path) -> None:
    folder = play(Scripted("no", "no", "somewhere"), "vqa_rad", fixtures.vqa_rad(tmp_path / "d"), tmp_path / "run")
    cell = score_as(folder, ["strict", "paper", "code-upstream"], Judging())["vqa_rad.direct"]
    assert cell.aggregate["open"]["acc"] == 1.0
    assert cell.aggregate["close"]["right"] == 0
    assert cell.scorings["paper"].aggregate["total metrics"]["right"] == 1
    assert cell.metrics["correct"].mean == pytest.approx(1 / 3)


def test_a_judge_without_a_verdict_is_a_failure_in_strict_and_a_wrong_answer_as_published(tmp_path: Path) -> None:
    folder = play(Scripted("no", "no", "somewhere"), "vqa_rad", fixtures.vqa_rad(tmp_path / "d"), tmp_path / "run")
    cell = score_as(folder, ["strict", "code-upstream"], Judging("It looks fine to me."))["vqa_rad.direct"]
    assert cell.failures["judge_failed"] == 1
    assert cell.aggregate["open"]["total"] == 0
    assert cell.scorings["code-upstream"].aggregate["open"]["total"] == 1
    assert cell.scorings["code-upstream"].aggregate["open"]["right"] == 0


def test_slake_on_the_main_branch_counts_judged_closed_answers_twice(tmp_path: Path) -> None:
    folder = play(Scripted("No", "Lung", "肺", "是"), "slake", fixtures.slake(tmp_path / "d"), tmp_path / "run")
    cell = score_as(folder, ["strict", "code-upstream", "code-fork"], Judging())["slake.direct"]
    assert cell.aggregate["total metrics"]["acc"] == 1.0
    assert cell.scorings["code-upstream"].aggregate["close"]["acc"] == 2.0
    assert cell.scorings["code-fork"].aggregate["total metrics"]["acc"] == 1.0


def test_radrestruct_is_scored_by_set_and_as_published_by_the_first_gold(tmp_path: Path) -> None:
    folder = play(Scripted("yes", "A", "A, B"), "radrestruct", fixtures.radrestruct(tmp_path / "d"), tmp_path / "run")
    cell = score_as(folder, ["strict", "code-upstream"])["radrestruct.direct"]
    assert cell.aggregate["total metrics"]["acc"] == 1.0
    published = cell.scorings["code-upstream"].aggregate
    assert published["single_choice"]["right"] == 1, "a side is neither yes nor no"


def test_mmmu_published_scorings_draw_by_lot_with_the_official_seed(tmp_path: Path) -> None:
    """Two choices of two options and an open number, none readable: the choices come from one seeded stream."""
    rng = random.Random(42)
    drawn = [rng.choice(["A", "B"]) for _ in range(2)]
    folder = play(
        Scripted("no idea"),
        "mmmu_val",
        fixtures.mmmu(tmp_path / "d"),
        tmp_path / "run",
        task_args={"subjects": "Pharmacy+Math"},
    )
    cell = score_as(folder, ["strict", "official", "code-upstream"])["mmmu_val.direct"]
    assert cell.aggregate["Overall"]["acc"] == 0.0
    assert cell.failures["unparsed"] == 3
    right = (drawn[0] == "A") + (drawn[1] == "B")  # Math comes before Pharmacy, as published
    assert cell.scorings["official"].aggregate["Overall"] == {"num": 3, "acc": round(right / 3, 3)}
    assert cell.scorings["code-upstream"].aggregate["total"]["right"] == right
    assert cell.scorings["official"].metrics["correct"].mean == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_withheld_answers_are_not_scored_and_the_submission_file_is_written(tmp_path: Path) -> None:
    folder = play(
        Scripted("I choose (B)."),
        "mmmu_test",
        fixtures.mmmu(tmp_path / "d"),
        tmp_path / "run",
        task_args={"subjects": "Math"},
    )
    assert folder.results().tasks["mmmu_test.direct"].metrics == {}
    done = CliRunner().invoke(cli, ["submission", str(folder.path)])
    assert done.exit_code == 0, done.output
    assert json.loads(Path(done.output.strip()).read_text()) == {"test_Math_1": "B"}


def test_the_run_says_where_the_submission_is_and_how_many_answers_are_withheld(tmp_path: Path) -> None:
    done = random_run(tmp_path, "mmmu_test", fixtures.mmmu(tmp_path / "d"), "--task-args", "subjects=Math")
    assert f"submission: {tmp_path}/run/submission/mmmu_test.direct/answers.json" in done.output
    (line,) = [line for line in done.output.splitlines() if "withheld" in line]
    assert line.split()[:3] == ["mmmu_test.direct:", "withheld", "1"]


def test_reports_are_exported_for_external_suites(tmp_path: Path) -> None:
    folder = play(
        Scripted("Findings: Clear. Impression: Normal."),
        "iu_xray",
        fixtures.reports(tmp_path / "d", "IU_XRAY"),
        tmp_path / "run",
    )
    written = submission.write_submissions(folder, {"iu_xray.direct": Catalog().task("iu_xray")})
    assert [path.name for path in written] == ["predictions.csv", "ground_truth.csv"]
    with written[1].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["study_id"] for row in rows] == ["study_1", "study_2"]
    assert rows[0]["report"] == "Findings: Clear. Impression: Normal.."
    totals = folder.results().tasks["iu_xray.direct"].aggregate["total metrics"]
    assert {"bleu1", "bleu4", "rougeL", "cider"} <= set(totals)


def test_a_run_without_submission_files_says_so(tmp_path: Path) -> None:
    folder = play(Scripted("yes"), "vqa_rad", fixtures.vqa_rad(tmp_path / "d"), tmp_path / "run", limit=1)
    done = CliRunner().invoke(cli, ["submission", str(folder.path)])
    assert "no task" in str(done.exception)
