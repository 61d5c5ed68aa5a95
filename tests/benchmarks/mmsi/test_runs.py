"""Runs of MMSI-Bench: all images in both stages, prompts from YAML, leaks and failed drawings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.answers.choices import options_of
from sketchmark.benchmarks.mmsi import category_of
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.episode.protocol import join, split
from sketchmark.errors import BadInput, CannotPlay, DataMissing
from sketchmark.folder import RunFolder
from sketchmark.folder.records import drawn_names
from sketchmark.models.players import make
from sketchmark.runs.checks import _holds
from sketchmark.tasks import TaskOptions
from tests.benchmarks.mmsi.combined_prompt_model import OnePrompt
from tests.benchmarks.mmsi.published import five_files, row, scene, write
from tests.golden.recording import Recorder
from tests.tabled import tabled

Play = Callable[..., RunFolder]
FIVE = ["mmsi_attribute_appr", "mmsi_attribute_meas", "mmsi_motion_obj", "mmsi_motion_cam", "mmsi_msr"]


class Blunt(Model):
    """A model that answers B and fails to draw."""

    def __init__(self) -> None:
        super().__init__("blunt")
        self.asked: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(context)
        return Reply(text="``B``")

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(text="I would rather not draw.")


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write(tmp_path / "data" / "msr.parquet", [row(7, "MSR", images=4)])


@pytest.fixture
def play(one: Path, tmp_path: Path) -> Play:
    """Run a model on the one row, as a rule with a drawing."""

    def played(model: Model, task: str = "mmsi_msr_visual_cot", **options: Any) -> RunFolder:
        return sketchmark.run(model, task, **{"data": one, "output_path": tmp_path / "run", **options}).folder

    return played


def test_four_images_are_sent_in_both_stages(play: Play) -> None:
    recorder = Recorder(make("random"))
    [(_, episode)] = play(recorder).played("mmsi_msr.visual_cot")
    (drawing, drawn_from, _), (answering, answered_from, _) = recorder.requests
    assert (drawing, answering) == ("draw", "say")
    originals = [scene(place) for place in range(4)]
    assert drawn_from.pictures == originals
    assert answered_from.pictures == [*originals, *episode.drawings]


def test_the_annotators_thought_is_never_shown(play: Play) -> None:
    recorder = Recorder(make("random"))
    play(recorder, "mmsi_msr", mode="direct,visual_cot,text_cot")
    assert not any("SECRET" in text for _, context, _ in recorder.requests for text in context.texts)


def test_the_groups_hold_the_five_categories() -> None:
    assert [(pick.task, pick.mode) for pick in Catalog().pick("mmsi")] == [(name, None) for name in FIVE]
    assert [(pick.task, pick.mode) for pick in Catalog().pick("mmsi_visual_cot")] == [
        (name, "visual_cot") for name in FIVE
    ]


def test_every_task_finds_its_own_file_in_a_folder(tmp_path: Path) -> None:
    data = five_files(tmp_path)
    for name in FIVE:
        samples = list(Catalog().task(name).samples(data=data))
        assert len(samples) == 4
        assert {sample.groups["category"] for sample in samples} == {
            Catalog().task(name).config["source"]["category"]
        }


def test_one_file_of_all_categories_serves_each_task_its_own(tmp_path: Path) -> None:
    file = write(tmp_path / "MMSI_Bench.parquet", [row(1, "MSR"), row(2, "Motion (Cam.)"), row(3, "MSR", raw=False)])
    assert [sample.id for sample in Catalog().task("mmsi_msr").samples(data=file)] == ["1", "3"]
    with pytest.raises(BadInput, match=r"no question of category 'Motion \(Obj\.\)'.*Motion \(Cam\.\)"):
        list(Catalog().task("mmsi_motion_obj").samples(data=file))


def test_images_as_raw_bytes(tmp_path: Path) -> None:
    file = write(tmp_path / "msr.parquet", [row(1, "MSR", images=3, raw=True)])
    [sample] = Catalog().task("mmsi_msr").samples(data=file)
    assert sample.pictures["images"] == [scene(0), scene(1), scene(2)]


def test_a_dash_and_a_hyphen_are_one_category(tmp_path: Path) -> None:
    rows = [
        row(1, "Positional Relationship (Cam.–Obj.)", answer="B"),
        row(2, "Positional Relationship (Cam.-Obj.)", answer="A"),
        row(3, "MSR", answer="B"),
    ]
    file = write(tmp_path / "test.parquet", rows)
    cell = sketchmark.run(Blunt(), "mmsi_bench", data=file, output_path=tmp_path / "run").folder.results().tasks
    by = cell["mmsi_bench.direct"].by["category"]
    assert {name: (found.n, found.metrics["accuracy"].mean) for name, found in by.items()} == {
        "MSR": (1, 1.0),
        "Positional Relationship (Cam.–Obj.)": (2, 0.5),
    }
    overall = cell["mmsi_bench.direct"].metrics["accuracy"]
    assert overall.mean == pytest.approx(2 / 3), "the mean over questions, not over categories"
    low, high = overall.ci95
    assert low is not None and high is not None and low < 2 / 3 < high
    assert by["MSR"].metrics["accuracy"].ci95


@pytest.mark.parametrize("dash", "-‐‑‒–—−")
def test_every_dash_is_the_same(dash: str) -> None:
    assert category_of(f"Positional Relationship (Obj.{dash}Reg.)") == "Positional Relationship (Obj.–Reg.)"


def _per_model(tmp_path: Path) -> Path:
    source = Path(sketchmark.__file__).parent / "benchmarks" / "mmsi" / "mmsi_msr.yaml"
    body = yaml.safe_load(source.read_text("utf-8"))
    body["include"] = str(source.parent / body["include"])
    blocks = body["modes"]["visual_cot"]["lmms_eval_specific_kwargs"]
    blocks["blunt"] = {"generation_prompt": "Sketch the answer to: {question}"}
    file = tmp_path / "my_msr.yaml"
    file.write_text(yaml.safe_dump(body), "utf-8")
    return file


def test_a_models_own_prompts_are_merged_over_the_default(one: Path, tmp_path: Path) -> None:
    include = (_per_model(tmp_path),)
    for model, prompt in (
        ("blunt", "Sketch the answer to: In which direction"),
        ("player/random", "Create a visual"),
    ):
        mode = Catalog(include).task("my_msr", TaskOptions(model=model)).mode("visual_cot")
        sample = next(Catalog(include).task("my_msr").samples(data=one))
        script = mode.fill(sample, "truth")
        assert script.text("generation_prompt").startswith(prompt)
        assert script.text("ask").startswith("You are given the original image(s)"), "not overridden, so the default"


def test_a_generation_prompt_that_holds_an_option_is_reported_in_the_summary(play: Play, tmp_path: Path) -> None:
    [warning] = play(Blunt(), "my_msr_visual_cot", include=(_per_model(tmp_path),)).results().warnings
    assert "sample 7 contains its option A ('Left, while moving backward')" in warning


def test_the_published_prompts_do_not_leak(tmp_path: Path) -> None:
    for prompts in ("seed", "unig2u"):
        folder = sketchmark.run(
            "player/random",
            "mmsi_visual_cot",
            data=five_files(tmp_path),
            prompts=prompts,
            output_path=tmp_path / prompts,
        ).folder
        assert folder.results().warnings == []


def cli(*arguments: object) -> Any:
    return CliRunner().invoke(root, ["run", "--quiet", "--no-cache", *map(str, arguments)], standalone_mode=False)


def test_strict_leaks_stop_the_run_before_the_first_call(one: Path, tmp_path: Path) -> None:
    file = _per_model(tmp_path)
    body = file.read_text("utf-8").replace("blunt:", "player:")
    file.write_text(body, "utf-8")
    leaky = ("--model", "player/random", "--tasks", "my_msr_visual_cot", "--include", file, "--data", one)
    loose = cli(*leaky, "--output_path", tmp_path / "loose")
    assert (loose.exception, "warning: my_msr.visual_cot" in loose.stderr) == (None, True)
    strict = cli(*leaky, "--strict-leaks", "--output_path", tmp_path / "strict")
    assert isinstance(strict.exception, BadInput)
    assert not (tmp_path / "strict").exists()


def test_a_failed_drawing_fails_the_episode_and_stage_two_is_not_asked(play: Play) -> None:
    model = Blunt()
    cell = play(model).results().tasks["mmsi_msr.visual_cot"]
    assert model.asked == []
    assert cell.failures == {"no_picture": 1}
    assert cell.metrics["accuracy"].mean == 0.0


def test_only_with_continue_is_stage_two_asked_without_the_drawing(play: Play) -> None:
    model = Blunt()
    cell = play(model, on_draw_failure="continue").results().tasks["mmsi_msr.visual_cot"]
    [context] = model.asked
    assert len(context.pictures) == 4
    assert "I would rather not draw." not in context.texts, "stage 1's text is not an answer"
    assert cell.failures == {"no_picture": 1}, "and the failed drawing is still counted"
    assert cell.metrics["accuracy"].mean == 1.0


def test_there_is_no_oracle_for_photographs(play: Play) -> None:
    with pytest.raises(CannotPlay, match="no true pictures"):
        play(Blunt(), canvas="oracle")


@pytest.mark.parametrize("canvas", ["blank", "other"])
def test_the_other_canvases_replace_the_drawing(play: Play, tmp_path: Path, canvas: str) -> None:
    data = write(tmp_path / "msr.parquet", [row(1, "MSR"), row(2, "MSR", images=3)])
    recorder = Recorder(make("random"))
    play(recorder, canvas=canvas, data=data)
    seen = [context.pictures[-1] for act, context, _ in recorder.requests if act == "say"]
    white = [picture.image().getcolors() == [(48 * 32, (255, 255, 255))] for picture in seen]
    assert all(white) if canvas == "blank" else not any(white)


def test_an_unparsed_answer_is_wrong_with_a_note(play: Play) -> None:
    class Mute(Blunt):
        async def say(self, context: Context, options: Options) -> Reply:
            return Reply(text="Hard to say.")

    [scores] = play(Mute(), "mmsi_msr").scores("mmsi_msr.direct")
    assert scores.values == {"accuracy": 0.0}
    assert scores.notes["no_letter"] == "cannot find answer"
    assert scores.flags == ["unparsed"]


@tabled
def test_a_row_that_cannot_be_used_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    file = write(tmp_path / "msr.parquet", [{**row(7, "MSR"), **change}])
    with pytest.raises(BadInput, match=message):
        list(Catalog().task("mmsi_msr").samples(data=file))


def test_without_data_the_three_ways_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"--data PATH.*SKETCHMARK_DATA.*the hub's"):
        list(Catalog().task("mmsi_bench").samples(data=tmp_path))


@tabled
def test_options_are_found_as_questions_write_them(question: str, options: list[str]) -> None:
    assert [text for _, text in options_of(question)] == options


def test_of_a_very_long_option_the_beginning_gives_it_away() -> None:
    option = "the left side of the room " * 20
    assert _holds(f"draw {option[:230]} and more", option.strip())
    assert not _holds(f"draw {option[:150]} and more", option.strip())
    assert _holds("draw the left side", "left side") and not _holds("draw the left sides", "left side")


def test_what_is_joined_is_split_again() -> None:
    assert split(join("Draw it.", "Which?\nA: left, B: right")) == ("Draw it.", "Which?\nA: left, B: right")


def test_a_plain_question_is_not_of_the_combined_form() -> None:
    assert split("Which?") is None
    assert split("[QUESTION]Which?[/QUESTION]") is None


def test_the_question_can_be_put_into_the_generation_prompt() -> None:
    assert split("[GEN_PROMPT]Draw: {question}[/GEN_PROMPT] [QUESTION] Which? [/QUESTION]") == (
        "Draw: Which?",
        "Which?",
    )


def test_a_model_that_wants_combined_prompt_gets_one_call_and_its_drawing_is_kept(play: Play) -> None:
    model = OnePrompt()
    folder = play(model)
    [context] = model.asked
    assert len(context.pictures) == 4
    assert split(context.texts[-1])
    cell = folder.results().tasks["mmsi_msr.visual_cot"]
    assert cell.metrics["accuracy"].mean == 1.0
    assert cell.usage["calls"] == 1
    [record] = folder.episodes("mmsi_msr.visual_cot")
    assert folder.pictures.load(drawn_names(record)[0]) == scene(9)


def test_its_missing_picture_is_a_failed_drawing(play: Play) -> None:
    assert play(OnePrompt(draws=False)).results().tasks["mmsi_msr.visual_cot"].failures == {"no_picture": 1}


def test_no_other_canvas_can_be_put_before_it(play: Play) -> None:
    with pytest.raises(CannotPlay, match="looks at its drawings itself"):
        play(OnePrompt(), canvas="blank")
