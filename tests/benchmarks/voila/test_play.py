from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.catalog import Catalog
from sketchmark.cli import root
from sketchmark.errors import BadInput, DataMissing
from sketchmark.folder import RunFolder
from sketchmark.models.players import Solver
from sketchmark.tasks import TaskOptions
from sketchmark.worlds import voila
from sketchmark.worlds.voila import bank
from sketchmark.worlds.voila.scenes import file_prefix
from sketchmark.worlds.voila.table import make_row, write_csv

SPEC_STEP_3_ND = (
    "Apply the identified unchanged and changed properties to the Image 3 to predict the fourth image. "
    "Give me the answer for the fourth image in the format of 'The answer is number = {number}, subject ="
    " {subject}, action = {action}'. Use the following rules to determine the properties for the fourth "
    "image: 1. If a property remains constant between Image 1 and Image 2, the property in the fourth "
    "image will have the same value as the property from Image 3. 2. If a property (excluding number of "
    "subjects) changes between Image 1 and Image 2 and is the same in Image 1 and Image 3, set the "
    "property value from Image 2 to the fourth image. 3. To determine the number of subjects in the "
    "fourth image, apply the increase or decrease rate observed from Image 1 to Image 2 to the number of "
    "subjects in Image 3."
)


def _metrics(folder: sketchmark.RunFolder, cell: str) -> dict[str, float]:
    found = folder.results().tasks[cell]
    assert found.failures == {}
    return {name: metric.mean for name, metric in found.metrics.items()}


@pytest.mark.parametrize("arguments", [{"distraction": True}, {"distraction": False}])
@pytest.mark.parametrize("shown", ["sequence", "collage"])
def test_the_solver_gets_all_four_steps_right(tmp_path: Path, arguments: dict[str, Any], shown: str) -> None:
    folder = sketchmark.run(
        "player/solver",
        "voila",
        mode="direct,stepwise",
        limit=19 if shown == "sequence" else 4,
        output_path=tmp_path,
        task_args={**arguments, "input": shown},
    ).folder
    stepwise = _metrics(folder, "voila.stepwise")
    assert len(stepwise) == 16 and set(stepwise.values()) == {1.0}
    assert set(_metrics(folder, "voila.direct").values()) == {1.0}


def test_questions_stream_one_of_each_structure_in_turn_and_none_twice() -> None:
    task = Catalog().task("voila")
    seen, rules = set(), []
    for sample in task.samples(seed=5, limit=38):
        seen.add(str(sample.target["scenes"]))
        rules.append(sample.target["rule"])
    assert len(seen) == 38
    assert rules == list(range(1, 20)) * 2


def test_structures_are_categories_and_never_a_degree_of_difficulty() -> None:
    filed = [sample.groups["rule"] for sample in Catalog().task("voila").samples(limit=19)]
    assert filed == sorted(filed) == [f"{rule:02}" for rule in range(1, 20)]


class Watched(Model):
    """The solver without a hand, remembering what it was asked."""

    def __init__(self) -> None:
        super().__init__("watched")
        self.asked: list[list[str]] = []
        self._solver = Solver()

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append([part.text or f"<picture by {part.by}>" for part in context])
        return await self._solver.say(context, options)


def test_every_step_sees_the_pictures_and_the_models_own_earlier_answers(tmp_path: Path) -> None:
    model = Watched()
    folder = sketchmark.run(
        model, "voila", mode="stepwise", limit=1, output_path=tmp_path, task_args={"distraction": False}
    ).folder
    first, second, third = model.asked
    assert first[:3] == ["<picture by task>"] * 3 and first[3].startswith("Describe the content of the first three")
    assert second[:4] == first and second[4].startswith("Image 1: ") and second[5].startswith("Identify the changed")
    assert third[:6] == second and third[6].startswith("Number ") and third[7] == SPEC_STEP_3_ND
    record = next(folder.episodes("voila.stepwise"))
    assert record.turns[-1].act == "skip" and "does not draw" in record.turns[-1].note


def test_a_run_says_before_and_after_that_a_model_which_does_not_draw_skips_step_4(tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text(
        "from sketchmark import Model, Reply\n\n\nclass Mute(Model):\n"
        "    async def say(self, context, options):\n        return Reply('one cat')\n"
    )
    asked = ["run", "--include", tmp_path / "mute.py", "--model", "mute", "--tasks", "voila", "--mode"]
    asked += ["visual_cot,text_cot", "--limit", 1, "--output_path", tmp_path / "run", "--cache", tmp_path / "cache"]
    said = CliRunner().invoke(root, [str(word) for word in asked])
    line = "voila.visual_cot: mute does not draw, so its drawing step is skipped; --draw svg lets it draw by code"
    assert f"warning: {line}" in said.stderr and "voila.text_cot: mute" not in said.stderr
    assert RunFolder.open(tmp_path / "run").results().warnings == [line]


def test_a_canvas_that_nothing_would_look_at_is_not_dropped_in_silence(tmp_path: Path) -> None:
    asked = ["run", "--model", "player/solver", "--tasks", "voila", "--mode", "visual_cot", "--canvas", "own,blank"]
    asked += ["--limit", "1", "--quiet", "--output_path", str(tmp_path / "run"), "--cache", str(tmp_path / "cache")]
    said = CliRunner().invoke(root, asked)
    assert "warning: voila.visual_cot: the drawing comes last, so --canvas changes nothing" in said.stderr


def test_the_wording_of_step_3_follows_distraction_and_the_prompt_set() -> None:
    catalog = Catalog()
    texts = {}
    for prompts in ("", "code", "readme"):
        for name in ("yes", "no"):
            task = catalog.task("voila", TaskOptions(prompts=prompts), {"distraction": name == "yes"})
            sample = next(task.samples(limit=1))
            texts[prompts, name] = task.mode("stepwise").fill(sample, "truth").text("apply")
    assert texts["", "no"] == texts["code", "no"] == SPEC_STEP_3_ND
    assert "between Image1 and Image 2 and is the same in the Image 1 and Image 3" in texts["code", "yes"]
    assert "observed from Image 1  to Image 2" in texts["code", "yes"]
    assert "to predict" in texts["readme", "yes"] and "Image1" not in texts["readme", "yes"]
    assert texts["readme", "no"] == SPEC_STEP_3_ND.replace("to the Image 3", "to Image 3")


def _published(folder: Path, distraction: bool, count: int) -> Path:
    (folder / "Test_Images").mkdir(parents=True)
    rows = []
    for question in voila.sample_questions(count, 1, distraction):
        names = []
        for scene in question.scenes:
            names.append(f"{file_prefix(scene)}111.png")
            (folder / "Test_Images" / names[-1]).write_bytes(bank.picture(scene).data)
        rows.append(make_row(question, (names[0], names[1], names[2]), None, "", "released"))
    path = folder / f"VOILA_{'WD' if distraction else 'ND'}.csv"
    with path.open("w", newline="") as file:
        write_csv(rows, file, "released")
    return path


@pytest.mark.parametrize(("task", "distraction", "count"), [("voila_nd", False, 7), ("voila_wd", True, 19)])
def test_the_published_layout_is_played_from_csv_and_images(
    tmp_path: Path, task: str, distraction: bool, count: int
) -> None:
    table = _published(tmp_path / "data", distraction, count)
    for data in (table, table.parent):
        folder = sketchmark.run(
            "player/solver", task, mode="stepwise", output_path=tmp_path / f"run{data.is_file()}", data=data
        ).folder
        assert set(_metrics(folder, f"{task}.stepwise").values()) == {1.0}
        assert folder.results().tasks[f"{task}.stepwise"].n == count


def test_a_missing_picture_and_a_missing_table_are_named(tmp_path: Path) -> None:
    table = _published(tmp_path / "data", False, 7)
    victim = sorted((tmp_path / "data/Test_Images").iterdir())[0]
    victim.unlink()
    task = Catalog().task("voila_nd")
    with pytest.raises(BadInput, match=victim.name.split("_")[0]):
        list(task.samples(data=table))
    with pytest.raises(DataMissing, match="no VOILA CSV"):
        list(task.samples(data=tmp_path))


@pytest.mark.parametrize(
    ("name", "contents", "words"),
    [
        ("mine.jsonl", b'{"id": "a", "question": "q", "answer": "b"}\n', "row 1: 3 fields instead of 12"),
        ("mine.csv", b"id,question,answer\na,q,b\n", "row 1: 3 fields instead of 12"),
        ("noise.jsonl", b"\x9c\xff\n", "line 1: not JSON"),
        ("noise.csv", b"\x9c\xff\n", "not CSV"),
    ],
)
@pytest.mark.parametrize(
    "command",
    ["run --model player/solver -t voila_nd --mode stepwise --data", "voila infer --model_name player/solver "
     "--distraction no --data", "voila infer --model_name player/solver --distraction no --csv"],
)  # fmt: skip
def test_a_file_that_is_no_table_of_voila_is_refused_in_one_line(
    tmp_path: Path, command: str, name: str, contents: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(contents)
    done = CliRunner().invoke(root, [*command.split(), str(tmp_path / name), "--output_path", str(tmp_path / "out")])
    assert isinstance(done.exception, BadInput) and words in str(done.exception)


def test_of_several_tables_in_a_folder_none_is_chosen_in_silence(tmp_path: Path) -> None:
    table = _published(tmp_path, False, 7)
    task = Catalog().task("voila_nd")

    contents = table.read_bytes()

    def named(*names: str) -> None:
        for old in tmp_path.glob("*.csv"):
            old.unlink()
        for name in names:
            (tmp_path / name).write_bytes(contents)

    for names in (["VOILA_ND_3.6K.csv", "other.csv"], ["voila-nd.csv", "voila-wd.csv", "x.csv"], ["random.csv"]):
        named(*names)
        assert len(list(task.samples(data=tmp_path))) == 7
    for names in (["questions.csv", "random.csv"], ["a_nd.csv", "b_nd.csv", "x.csv"]):
        named(*names)
        with pytest.raises(BadInput, match=rf"several CSV files: {names[0]}, {names[1]} "):
            list(task.samples(data=tmp_path))
    named("voila_wd.csv")
    with pytest.raises(DataMissing, match=r"no VOILA CSV file for ND, only voila_wd\.csv"):
        list(task.samples(data=tmp_path))


def test_questions_with_distraction_are_not_played_as_those_without(tmp_path: Path) -> None:
    table = _published(tmp_path, True, 19)
    assert len(list(Catalog().task("voila_wd").samples(data=table))) == 19
    with pytest.raises(BadInput, match=r"row \d+: a question with distraction.*voila_wd"):
        list(Catalog().task("voila_nd").samples(data=table))
