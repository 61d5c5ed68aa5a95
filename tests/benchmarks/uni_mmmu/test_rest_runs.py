"""Geometry, science and code, played and judged: by a model of the tests, and by one behind real HTTP."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark import Context, Model, Options, Reply, Sample
from sketchmark.benchmarks.uni_mmmu import published as judge_prompt
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.errors import BadInput, CannotPlay
from sketchmark.folder.results_format import CellResult
from sketchmark.media.svg import render
from sketchmark.serve import serving
from sketchmark.serve.faults import Faults
from tests.benchmarks.uni_mmmu import published, published_rest
from tests.benchmarks.uni_mmmu.published_rest import OVERLAY
from tests.golden.recording import Recorder
from tests.tabled import rows


class Speaker(Model):
    """Right in words on every item; says what it is asked for."""

    async def say(self, context: Context, options: Options) -> Reply:
        first = context.texts[0]
        if "SVG source code" in first:
            return Reply("<RENDER_SUMMARY>A square.</RENDER_SUMMARY>")
        if "unified vision-language" in first:
            return Reply("<OUTPUT_PROMPT>Heat melts it.</OUTPUT_PROMPT>")
        return Reply("By Pythagoras. **Final answer: 12**")


class Artist(Speaker):
    """Draws what it is to draw: it renders the SVG, and copies the last picture otherwise."""

    async def draw(self, context: Context, options: Options) -> Reply:
        source = next((text for text in context.texts if text.startswith("<svg")), "")
        return Reply(picture=render(source) if source else context.pictures[-1])


class Mute(Speaker):
    """Is asked for a picture and gives none."""

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply("I cannot draw.")


class Judge(Model):
    """Answers every published question in its form, behind a thought with braces in it."""

    def __init__(self, mark: int = 1) -> None:
        super().__init__("judge")
        self._mark = mark
        self.asked: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(context)
        labels = ("text_ok", "overlay_ok", "reasoning_correct", "result_correct", "image_correct")
        verdict: dict[str, Any] = dict.fromkeys((*labels, "text_semantic_match"), self._mark)
        points = {"shape_color_accuracy": 5 * self._mark, "position_accuracy": 4 * self._mark, "verdict": "match"}
        return Reply(f"<think>Is it {{1}}?</think>\n{json.dumps({**verdict, **points})}")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rest")
    published.extracted_folder(root / "data")
    return published_rest.extracted(root)


def _cells(model: Model, tasks: str, data: Path, path: Path, **options: Any) -> dict[str, CellResult]:
    return sketchmark.run(model, tasks, data=data, output_path=path, **options).folder.results().tasks


def _means(cell: CellResult) -> dict[str, float | None]:
    return {name: found.mean for name, found in cell.metrics.items()}


GEOMETRY = {"geometry_text_acc": 1.0, "geometry_number_acc": 1.0, "geometry_overlay_acc": 1.0}
SCIENCE = {"science_text_reasoning_acc": 1.0, "science_text_result_acc": 1.0, "science_img_acc": 1.0}
SCIENCE |= {"science_form": 1.0}
CODE = {"code_text_acc": 1.0, "code_img_shape_color": 1.0, "code_img_position": 0.8, "code_img_match": 1.0}
CODE |= {"code_img_iou": 1.0, "code_img_shape_iou": 1.0, "code_img_colour": 1.0}
TASKS = "uni_mmmu_geometry,uni_mmmu_science,uni_mmmu_code"


def test_every_channel_of_the_three_is_scored_direct_and_drawn(data: Path, tmp_path: Path) -> None:
    cells = _cells(Artist("artist"), TASKS, data, tmp_path, mode="direct,visual_cot", judge=Judge())
    assert _means(cells["uni_mmmu_geometry.visual_cot"]) == GEOMETRY
    assert _means(cells["uni_mmmu_science.visual_cot"]) == SCIENCE
    assert _means(cells["uni_mmmu_code.visual_cot"]) == CODE
    for task, expected in (("geometry", GEOMETRY), ("science", SCIENCE), ("code", CODE)):
        direct = _means(cells[f"uni_mmmu_{task}.direct"])
        assert direct == {name: 1.0 for name in expected if "_img" not in name and "overlay" not in name}
    assert all(cell.failures == {} for cell in cells.values())
    assert set(cells["uni_mmmu_science.direct"].by) == {"discipline", "part"}
    assert set(cells["uni_mmmu_code.direct"].by["difficulty"]) == {"A", "B"}


def test_the_group_plays_all_six(data: Path, tmp_path: Path) -> None:
    cells = _cells(Artist("artist"), "uni_mmmu_all_visual_cot", data, tmp_path, judge=Judge(), limit=1)
    assert len(cells) == 6 and all(cell.episodes == 1 for cell in cells.values())


def test_official_reads_the_same_replies_as_published(data: Path, tmp_path: Path) -> None:
    """A thought with braces in it hides the verdict, so that all is 0; nobody is asked again for it."""
    judge = Judge()
    cells = _cells(
        Artist("artist"), TASKS, data, tmp_path, mode="visual_cot", judge=judge, scoring="official", concurrency=1
    )
    for task in ("geometry", "science", "code"):
        judged = {name for name in (*GEOMETRY, *SCIENCE, *CODE) if name.startswith(task)}
        judged -= {"geometry_number_acc", "science_form", "code_img_iou", "code_img_shape_iou", "code_img_colour"}
        means = _means(cells[f"uni_mmmu_{task}.visual_cot"])
        assert {name: means[name] for name in judged} == dict.fromkeys(judged, 0.0)


def test_without_a_judge_what_is_scored_by_rule_is_scored(data: Path, tmp_path: Path) -> None:
    cells = _cells(Artist("artist"), TASKS, data, tmp_path, mode="visual_cot")
    assert _means(cells["uni_mmmu_geometry.visual_cot"]) == {"geometry_number_acc": 1.0}
    assert _means(cells["uni_mmmu_science.visual_cot"]) == {"science_form": 1.0}
    assert _means(cells["uni_mmmu_code.visual_cot"]) == dict.fromkeys(
        ("code_img_iou", "code_img_shape_iou", "code_img_colour"), 1.0
    )
    with pytest.raises(BadInput, match="'official' judges answers with a model"):
        sketchmark.run(Artist("artist"), TASKS, data=data, output_path=tmp_path / "official", scoring="official")


def test_a_model_that_does_not_draw_plays_the_text_and_is_told_so(data: Path, tmp_path: Path) -> None:
    tasks = "uni_mmmu_science_visual_cot,uni_mmmu_code_visual_cot"
    folder = sketchmark.run(Speaker("talker"), tasks, data=data, output_path=tmp_path, judge=Judge()).folder
    results = folder.results()
    assert [line for line in results.warnings if "does not draw, so its drawing step is skipped" in line]
    assert _means(results.tasks["uni_mmmu_code.visual_cot"]) == {"code_text_acc": 1.0}
    assert "science_img_acc" not in results.tasks["uni_mmmu_science.visual_cot"].metrics
    turns = next(iter(folder.episodes("uni_mmmu_science.visual_cot"))).turns
    assert (turns[-1].act, turns[-1].note) == ("skip", "the drawing: the model does not draw")


def test_a_drawing_that_fails_is_wrong_and_the_text_before_it_stands(data: Path, tmp_path: Path) -> None:
    tasks = "uni_mmmu_science_visual_cot,uni_mmmu_code_visual_cot"
    cells = _cells(Mute("mute"), tasks, data, tmp_path, judge=Judge())
    for cell in cells.values():
        assert cell.failures == {"no_picture": 2} and cell.n == 2
    assert _means(cells["uni_mmmu_science.visual_cot"]) == {**SCIENCE, "science_img_acc": 0.0}
    assert _means(cells["uni_mmmu_code.visual_cot"]) == {
        name: 1.0 if name == "code_text_acc" else 0.0 for name in CODE
    }


def test_geometry_shows_the_true_overlay_on_the_oracle_canvas(data: Path, tmp_path: Path) -> None:
    recorder = Recorder(Artist("artist"))
    sketchmark.run(
        recorder, "uni_mmmu_geometry_visual_cot", canvas="oracle", data=data, limit=1, output_path=tmp_path / "run"
    )
    last = recorder.requests[-1][1]
    assert [part.picture for part in last if part.by == "model" and part.picture] == [OVERLAY]
    hub = published.write_parquet(tmp_path / "hub.parquet", published.geometry_rows())
    with pytest.raises(CannotPlay, match="no true pictures"):
        sketchmark.run(
            Artist("artist"), "uni_mmmu_geometry_visual_cot", canvas="oracle", data=hub, output_path=tmp_path / "no"
        )


def test_a_judge_over_http_that_was_down_is_asked_again_and_judges_what_is_missing(
    data: Path, tmp_path: Path
) -> None:
    judge = Judge()

    def judged(url: str) -> CellResult:
        cells = _cells(
            Artist("artist"),
            "uni_mmmu_science_visual_cot",
            data,
            tmp_path / "run",
            judge="openai/m",
            judge_args={"base_url": url, "max_retries": 0},
            cache=tmp_path / "kept",
        )
        return cells["uni_mmmu_science.visual_cot"]

    with serving(Judge(), faults=Faults.parse("500:1")) as url:
        down = judged(url)
    assert down.failures == {"judge_failed": 2} and _means(down) == {"science_form": 1.0}
    assert "gave no verdict (server_error)" in down.reasons["judge_failed"]
    with serving(judge) as url:
        up, again = judged(url), judged(url)
    assert _means(up) == _means(again) == SCIENCE and up.failures == {}
    assert sorted(len(context.pictures) for context in judge.asked) == [0, 0, 2, 2]


def test_scores_can_be_made_later_with_a_judge_from_the_run_folder_alone(data: Path, tmp_path: Path) -> None:
    tasks = "uni_mmmu_code,uni_mmmu_code_visual_cot"
    sketchmark.run(Artist("artist"), tasks, data=data, output_path=tmp_path / "run")
    with serving(Judge()) as url:
        command = ["score", str(tmp_path / "run"), "--judge", "openai/m", "--judge-args", f"base_url={url}"]
        done = CliRunner().invoke(root, command, standalone_mode=False, env={"OPENAI_API_KEY": "none"})
    assert (done.exception, done.return_value) == (None, 0)
    results = sketchmark.RunFolder(tmp_path / "run").results().tasks
    assert _means(results["uni_mmmu_code.visual_cot"]) == CODE
    assert _means(results["uni_mmmu_code.direct"]) == {"code_text_acc": 1.0}


@pytest.mark.parametrize("task", ["geometry", "science", "code"])
def test_the_commands_that_look_at_tasks_know_the_new_ones(task: str, data: Path) -> None:
    listed = CliRunner().invoke(root, ["list", "tasks"], standalone_mode=False)
    assert f"uni_mmmu_{task}" in listed.output and "uni_mmmu_all" in listed.output
    for mode in ("direct", "visual_cot"):
        shown = CliRunner().invoke(
            root, ["show", f"uni_mmmu_{task}", "--mode", mode, "--data", str(data)], standalone_mode=False
        )
        assert shown.exception is None and "headline score" in shown.output


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_the_published_strings_are_there_to_the_byte() -> None:
    for name, digest in rows(__file__, "judge_prompts"):
        assert _digest(judge_prompt(name)) == digest, name
    fields = {"question": "$PROBLEM_TEXT", "choices": "$CHOICES_TEXT", "lines": "$AUX_EN"}
    told = {
        task: Catalog().task(f"uni_mmmu_{task}").mode("visual_cot").fill(Sample("x", fields=fields), "truth")
        for task in ("geometry", "science", "code")
    }
    texts = {
        **{f"{task}_prompt": str(prompts.parts()[0]) for task, prompts in told.items()},
        "geometry_draw": told["geometry"].text("generation_prompt"),
        "geometry_solve": told["geometry"].text("ask"),
        "code_think": told["code"].text("ask"),
        "code_draw": told["code"].text("generation_prompt"),
    }
    assert {name: _digest(text) for name, text in texts.items()} == dict(rows(__file__, "task_prompts"))
