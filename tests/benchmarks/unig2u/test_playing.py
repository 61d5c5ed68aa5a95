"""Every subtask of UniG2U, played on files in the published schema: what is asked, and what a right answer scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.errors import BadInput
from sketchmark.tasks import TaskOptions
from tests.benchmarks.medical.fixtures import png, write_parquet
from tests.benchmarks.unig2u import published
from tests.benchmarks.unig2u.players import Says, white
from tests.episodes import Judge
from tests.tabled import tabled

JUDGES = {
    "unig2u_geometry3k": '{"answer_correct":1,"reason":"same"}',
    "unig2u_auxsolidmath_easy": '{"reasoning_rigorous":1,"conclusion_correct":1,"text_ok":1,"text_reason":""}',
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published.everything(tmp_path_factory.mktemp("unig2u"))


@pytest.mark.parametrize("task", published.OWN)
def test_a_right_answer_scores_one_directly_with_a_drawing_and_in_words(
    task: str, data: Path, tmp_path: Path
) -> None:
    folder = sketchmark.run(
        Says(published.RIGHT[task]),
        task,
        mode="direct,visual_cot,text_cot",
        data=data,
        judge=Judge(JUDGES.get(task, "True")),
        output_path=tmp_path / "run",
    ).folder
    results = folder.results()
    assert sorted(results.tasks) == sorted(f"{task}.{mode}" for mode in ("direct", "visual_cot", "text_cot"))
    for cell in results.tasks.values():
        assert cell.metrics[cell.headline].mean == 1.0, cell
        assert (cell.n, cell.failures) == (2, {})


@pytest.mark.parametrize("scoring", ["strict", "official"])
def test_a_wrong_answer_scores_nothing(scoring: str, data: Path, tmp_path: Path) -> None:
    judge = Judge('False {"answer_correct": 0, "text_ok": 0}')
    tasks = ",".join(published.OWN)
    run = sketchmark.run(Says("D"), tasks, data=data, scoring=scoring, judge=judge, output_path=tmp_path / "run")
    cells = run.folder.results().tasks
    assert {name: (cell.metrics[cell.headline].mean, cell.n) for name, cell in cells.items()} == {
        f"{task}.direct": (0.0, 2) for task in published.OWN
    }


@tabled
def test_all_pictures_go_into_both_stages(task: str, pictures: int, data: Path, tmp_path: Path) -> None:
    model = Says("B")
    for mode in ("direct", "visual_cot"):
        sketchmark.run(model, task, mode=mode, limit=1, data=data, output_path=tmp_path / "run")
    (_, direct), (_, drawing), (_, answering) = model.asked
    assert len(direct.pictures) == len(drawing.pictures) == pictures
    assert answering.pictures == [*drawing.pictures, white()]
    assert direct.pictures == drawing.pictures
    assert [part.picture is not None for part in direct][:pictures] == [True] * pictures, "pictures first"


def test_the_map_that_is_asked_about_is_the_last_picture(data: Path, tmp_path: Path) -> None:
    model = Says("B")
    sketchmark.run(model, "vsp_collision", limit=1, data=data, output_path=tmp_path / "run")
    [(_, context)] = model.asked
    assert [picture.data for picture in context.pictures] == [png(251), png(250), png(0)]
    assert context.texts[0].endswith(
        "[Test Image]\n\nThe car is moving left with speed 1.0, and the person is moving up with speed 0.5."
    )


def test_the_interleaved_prompts_put_each_picture_where_the_text_speaks_of_it(data: Path) -> None:
    for name, shown in (("vsp_collision", 3), ("vsp_google_map", 2)):
        task = Catalog().task(name, TaskOptions(prompts="interleaved"))
        sample = next(task.samples(data=data))
        for mode in task.modes:
            parts = task.mode(mode).fill(sample, "truth").parts()
            texts = [part for part in parts if isinstance(part, str)]
            images = 0 if mode == "blind" else shown
            assert len(parts) - len(texts) == images and not any("Image]" in text for text in texts)
            assert isinstance(parts[0], str) and isinstance(parts[1], str) == (mode == "blind")
        whole = Catalog().task(name).mode("direct").fill(sample, "truth").text("asked")
        for text in texts:
            assert text in whole


def asked(task: str, data: Path, mode: str = "visual_cot") -> tuple[str, str]:
    found = Catalog().task(task)
    filled = found.mode(mode).fill(next(found.samples(data=data)), "truth")
    return filled.text("generation_prompt"), filled.text("ask")


def test_the_prompts_are_the_published_ones(data: Path) -> None:
    drawing, ask = asked("VisualPuzzles_algorithmic", data)
    block = "Question: What comes next?\nOptions:\n(A) seven\n(B) eight\n(C) nine\n(D) ten"
    assert drawing.startswith(
        "You are given an algorithmic reasoning puzzle. Analyze the puzzle and create a helpful visualization."
        f"\n\n{block}"
    )
    assert ask.startswith(f"{block}\n\nYou are given TWO images:") and ask.endswith("(A, B, C, or D) directly.")
    _, ask = asked("illusionbench_arshia_icon_shape", data)
    assert ask.startswith(
        "You are given TWO images: the original image and an auxiliary visualization. This image contains a icon "
    )
    assert "options:Animal, Face_Emoji, Music, Sport, Stationery, Vehicle,Ocean, Origami," in ask
    assert "Bazaar_market, Time_square Provide your response" in ask, "no full stop, as published"
    _, ask = asked("illusionbench_arshia_icon_scene", data)
    assert "Bazaar_market, Time_square. Provide your response" in ask
    drawing, ask = asked("realunify_attentional_focusing", data)
    assert drawing.startswith("Here is the question: Which colour is it after turning?\nPlease highlight")
    assert ask.endswith(
        "\n\nWhich colour is it after turning?\nA. red\nB. blue\nC. green\nD. grey\nAnswer with the letter."
    )
    _, ask = asked("chartqa100", data)
    assert ask.endswith("question.\n\nHow many?\nAnswer the question with a single word.")
    _, ask = asked("babyvision_fine_grained", data)
    assert ask.endswith(
        "Where is the odd one?\nChoices:\n(A) left\n(B) right\n(C) top\n\n"
        "Think step by step and give your final answer in \\boxed{Answer} format."
    )
    _, ask = asked("unig2u_geometry3k", data)
    assert ask.startswith("<image>Find AD.\n\nYou are given TWO images:")


def test_options_that_stand_in_the_picture_are_pointed_to(data: Path) -> None:
    task = Catalog().task("VisualPuzzles_spatial")
    _, second = task.samples(data=data)
    assert task.mode("direct").fill(second, "truth").text("asked") == (
        "Question: What comes next?\nOptions: Choose from (A) (B) (C) (D) in the image.\n"
        "Answer the question with the option's letter from the given choices directly."
    )


def test_the_words_for_a_drawing_never_speak_of_a_second_picture(data: Path) -> None:
    for name in published.OWN:
        drawing, ask = asked(name, data, "text_cot")
        assert "escribe" in drawing, name
        assert not any(word in ask for word in ("TWO images", "{a_kind}", "{shows}", "{use}")), name


def test_only_prompts_that_quote_the_options_are_reported_as_leaks(data: Path, tmp_path: Path) -> None:
    own = ",".join(f"{name}_visual_cot" for name in published.OWN)
    folder = sketchmark.run(Says("B"), own, limit=1, data=data, output_path=tmp_path / "run").folder
    leaks = [warning.partition(".")[0] for warning in folder.results().warnings if "contains its option" in warning]
    assert leaks == [name for name in published.OWN if "VisualPuzzles" in name]


@tabled
def test_the_published_token_limits(task: str, tokens: tuple[int, ...]) -> None:
    found = Catalog().task(task)
    assert tuple(found.mode(mode).saying.max_new_tokens for mode in ("direct", "visual_cot", "text_cot")) == tokens


def test_the_true_lines_of_a_solid_are_its_oracle(data: Path, tmp_path: Path) -> None:
    model = Says("12")
    sketchmark.run(
        model, "auxsolidmath_easy_visual_cot", canvas="oracle", limit=1, data=data, output_path=tmp_path / "run"
    )
    seen = model.asked[-1][1].pictures
    assert [picture.data for picture in seen] == [png(20), png(23)]


def test_a_row_that_cannot_be_used_is_counted_and_named(tmp_path: Path) -> None:
    rows = [published.illusion(0, "animal"), {"image_name": "animal.png", "image": published.picture(1)}]
    write_parquet(tmp_path / "illusion_icon_test100.parquet", rows)
    run = sketchmark.run(
        Says("Animal"), "illusionbench_arshia_icon_shape_test", data=tmp_path, output_path=tmp_path / "run"
    ).folder
    cell = run.results().tasks["unig2u_illusionbench_arshia_icon_shape_test.direct"]
    assert (cell.n, cell.failures) == (1, {"broken_row": 1})
    [broken] = [line.failure for line in run.episodes(f"{cell.task}.direct") if line.failure]
    assert "the name 'animal.png' does not give shape, scene and difficulty" in broken.message


@tabled
def test_a_broken_row_of_every_file_is_a_sample_that_says_why(
    task: str, change: dict[str, object], tmp_path: Path
) -> None:
    path, rows = published.file_of(task, 2)
    write_parquet(tmp_path / path, [{**rows[0], **change}, rows[1]])
    broken, whole = Catalog().task(task).samples(data=tmp_path)
    assert broken.fields["broken"].startswith("row 0: ")
    assert "broken" not in whole.fields


def test_a_file_without_rows_of_the_kind_is_refused(tmp_path: Path) -> None:
    write_parquet(tmp_path / "file.parquet", [published.realunify(0, "mental_tracking")])
    with pytest.raises(BadInput, match=r"no row with task_type 'attentional_focusing' \(it has: mental_tracking\)"):
        list(Catalog().task("realunify_attentional_focusing").samples(data=tmp_path / "file.parquet"))


def test_one_file_serves_both_of_babyvision_their_own_rows(data: Path) -> None:
    for task, kind in (
        ("babyvision_fine_grained", "Fine-grained"),
        ("babyvision_visual_tracking", "Visual Tracking"),
    ):
        names = [sample.id for sample in Catalog().task(task).samples(data=data)]
        assert len(names) == 2 and all(name.startswith(kind) for name in names)


def cli(*arguments: object) -> str:
    wide = {"COLUMNS": "200"}
    done = CliRunner(env=wide).invoke(root, [str(argument) for argument in arguments], standalone_mode=False)
    assert done.exception is None, done.output
    return done.output


def test_show_and_dry_run_know_every_subtask(data: Path, tmp_path: Path) -> None:
    shown = cli("show", "unig2u_chartqa100", "--data", data)
    assert "headline score: relaxed_overall" in shown and "Answer the question with a single word." in shown
    dry = cli(
        *("run", "--model", "player/random", "--tasks", "unig2u,unig2u_GtA", "--data", data, "--limit", 1),
        *("--dry-run", "--output_path", tmp_path / "run"),
    )
    [whole] = [line.split() for line in dry.splitlines() if line.startswith("total")]
    assert whole[1] == "62", "thirty-one tasks in two modes"
    assert not (tmp_path / "run").exists()
