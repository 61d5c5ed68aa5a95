"""Mode `blind`: the direct prompt without its images, for every task, and its difference from direct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import sketchmark
from sketchmark import Context, Model, Options, Reply, Sample
from sketchmark.benchmarks import add_image_index_to_report_prompt, direct, get_image_index_info
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.episode.desk import Desk
from sketchmark.episode.protocol import FilledPrompts
from sketchmark.errors import CannotPlay
from sketchmark.runs.plan import cells_of
from sketchmark.settings import Settings
from sketchmark.testing import Recorder, colour
from tests.runs.making import make_config, make_samples, planned


def command(*words: str) -> Result:
    return CliRunner().invoke(root, list(words), standalone_mode=False)


SHADES = Path(__file__).parents[1] / "lmms_eval" / "shades"


@pytest.mark.parametrize(
    ("tasks", "more"),
    [
        ("maze", {}),
        ("jigsaw", {}),
        ("voila", {}),
        ("examples/questions/shapes.jsonl", {}),
        ("shades_both", {"include": (SHADES,), "trust_code": True}),
    ],
)
async def test_every_kind_of_task_has_its_direct_prompt_without_images(tasks: str, more: dict[str, Any]) -> None:
    """Worlds, benchmarks, question files and lmms-eval's files, none of which names the mode."""
    catalog = Catalog(more.get("include", ()), bool(more), lambda line: None)
    cells = cells_of(Settings(model="player/random", tasks=tasks, mode="direct,blind", limit=1), catalog)
    contexts = {}
    for cell in cells:
        model = Recorder()
        desk = Desk(model, blind=cell.mode.blind)
        await cell.mode.protocol.play(desk, cell.mode.fill(next(cell.samples()), "truth"))
        contexts[cell.mode.name] = model.calls[0][1]
    assert contexts["direct"].pictures and not contexts["blind"].pictures
    assert contexts["blind"].texts and set(contexts["blind"].texts) <= set(contexts["direct"].texts)
    assert any(cell.name.endswith(".blind") for cell in cells)


async def test_a_protocol_of_ones_own_cannot_show_an_image_to_a_blind_model() -> None:
    model = Recorder()
    desk = Desk(model, blind=True)
    desk.show(colour("red"), "What is it?")
    await desk.say()
    assert model.calls[0][1].texts == ["What is it?"] and not model.calls[0][1].pictures


@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("report", [False, True])
async def test_the_sentence_that_numbers_the_images_goes_with_them(images: int, report: bool) -> None:
    info, plain = get_image_index_info(images), "You are a doctor. Which one?\nA. left\nAnswer with a letter."
    prompt = add_image_index_to_report_prompt(plain, info) if report else f"Which one?\n{info}Answer with a letter."
    sample = Sample("a", {"images": [colour("red")] * images}, {"prompt": prompt})
    model = Recorder()
    prompts = {"inputs": [{"each": "images", "parts": ["<image_{i}>: ", "<it>"]}, "{prompt}"]}
    await direct.play(Desk(model, blind=True), FilledPrompts(sample, prompts, blind=True))
    assert model.calls[0][1].texts == [plain if report else "Which one?\nAnswer with a letter."]


class TextOnly(Model):
    """A model that takes no images."""

    max_pictures = 0

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("no" if context.pictures else "yes")


def test_a_model_of_text_only_runs_blind_and_is_refused_all_that_shows_an_image(tmp_path: Path) -> None:
    config = make_config(make_samples(2))
    (cell,) = planned(tmp_path, config, TextOnly("texter"), mode="blind")
    assert cell.mode.blind and cell.name.endswith(".blind")
    with pytest.raises(CannotPlay, match="takes text only") as refused:
        planned(tmp_path, config, TextOnly("texter"), mode="direct")
    assert "--mode blind" in str(refused.value.hint)


def test_a_run_shows_what_seeing_adds_in_table_results_compare_and_leaderboard(tmp_path: Path) -> None:
    made = sketchmark.run(
        "player/solver", "maze", mode="blind,direct,visual_cot", limit=8, output_path=tmp_path / "a", engine="local"
    )
    seen = next(gain for gain in made.results.gains if gain.over == "blind")
    assert (seen.mode, seen.gain, seen.n, seen.verdict) == ("direct", 1.0, 8, "better")
    assert [gain.mode for gain in made.results.gains if gain.over == "direct"] == ["visual_cot"]
    assert seen.family == "differences of modes in this run: 2"
    for line in (["compare", str(tmp_path / "a")], ["score", str(tmp_path / "a")]):
        said = command(*line).stdout
        assert "Seeing helps on maze: +100.0 points" in said, said
    board = command("compare", str(tmp_path)).stdout
    assert "of direct over blind" in board.replace("\n", " ") and "100.0 +100.0" in board
    record = json.loads((tmp_path / "a" / "run.json").read_text("utf-8"))["cells"]
    assert record["maze.blind"]["play"]["blind"] and not record["maze.direct"]["play"]["blind"]
    report = (tmp_path / "a" / "report.html").read_text("utf-8")
    assert "direct − blind" in report and "Answers without the images" in report


def test_a_blind_run_of_questions_without_images_says_that_it_is_the_same_as_direct(tmp_path: Path) -> None:
    (tmp_path / "plain.jsonl").write_text('{"id": "a", "question": "2 + 2?", "answer": "4"}\n')
    found = command("run", "-m", "player/random", "-t", str(tmp_path / "plain.jsonl"), "--mode", "blind",
                    "-o", str(tmp_path / "run"))  # fmt: skip
    assert "sample a has no image, so blind asks what direct asks" in found.stderr + found.stdout
