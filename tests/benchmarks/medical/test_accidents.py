"""Accidents of the published programs: minimal cases, derived from their source."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark.benchmarks.medical.medevalkit import judge_choice
from sketchmark.benchmarks.medical.scores import checked_scoring, grade, settle
from sketchmark.benchmarks.mmmu.official import parse_choice_medevalkit
from sketchmark.benchmarks.mmmu.scores import sample_of
from sketchmark.cli import root as cli
from sketchmark.folder import RunFolder
from sketchmark.folder.results_format import CellResult
from sketchmark.results.score_file import score_files
from tests.benchmarks.medical import fixtures
from tests.benchmarks.medical.test_runs import Scripted, play, score_as

SUBJECTS = ("Pharmacy", "Art", "Math")


def _choice(name: str, answer: str, response: str) -> dict[str, Any]:
    choices = {"all_choices": ["A", "B"], "index2ans": {"A": "a thing", "B": "b's thing"}}
    return {"id": name, "question_type": "multiple-choice", "answer": answer, "response": response, **choices}


def _open(name: str, answer: Any, response: str) -> dict[str, Any]:
    return {"id": name, "question_type": "open", "answer": answer, "response": response}


def _published_outputs(folder: Path) -> Path:
    """Open questions have neither options nor `index2ans` there."""
    choices = [_choice(f"validation_Electronics_{n}", answer, "(B)") for n, answer in ((1, "B"), (2, "A"))]
    opened = _open("validation_Electronics_3", "8.4", "The answer is 8.4")
    art = [_open("validation_Art_1", ["1/4", "0.25"], "0.25"), _open("validation_Art_2", "7", "6")]
    fixtures.write_json(folder / "Electronics" / "output.json", [*choices, opened])
    fixtures.write_json(folder / "Art" / "output.json", art)
    return folder


def _scored(predictions: Path, scoring: str, task: str = "mmmu", **more: Any) -> dict[str, CellResult]:
    return score_files(task, predictions, scoring, **more).tasks


def test_mmmus_own_outputs_are_scored_whole_and_give_the_published_table(tmp_path: Path) -> None:
    outputs = _published_outputs(tmp_path / "llava")
    asked = ["score-file", "--task", "mmmu", "--predictions", str(outputs), "--scoring", "strict,official", "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.exception
    strict = json.loads(done.output)["tasks"]["mmmu.llava"]
    assert strict["n"] == 5 and not strict.get("unknown")
    table = strict["scorings"]["official"]["aggregate"]
    assert table == {
        "Overall-Art and Design": {"num": 2, "acc": 0.5},
        "Art": {"num": 2, "acc": 0.5},
        "Overall-Tech and Engineering": {"num": 3, "acc": 0.667},
        "Electronics": {"num": 3, "acc": 0.667},
        "Overall": {"num": 5, "acc": 0.6},
        "unparsed": 0,
    }


def test_a_folder_of_models_is_scored_model_by_model(tmp_path: Path) -> None:
    for model in ("llava", "qwen"):
        _published_outputs(tmp_path / "example_outputs" / model)
    cells = _scored(tmp_path / "example_outputs", "official")
    assert list(cells) == ["mmmu.llava", "mmmu.qwen"]
    assert all(cell.n == 5 for cell in cells.values())


def test_a_choice_without_its_options_still_needs_the_data() -> None:
    row = {"id": "validation_Math_1", "question_type": "multiple-choice", "answer": "A", "response": "A"}
    assert sample_of(row) is None
    assert sample_of({"id": "validation_Math_1", "answer": "A", "response": "A"}) is None
    assert sample_of({**row, "question_type": "open"}) is not None


def _nested(answer: str, response: str, number: int = 29) -> dict[str, Any]:
    options = str([[f"option {i}" for i in range(10)]])
    named = {"id": f"validation_Accounting_{number}", "subject": "Accounting"}
    return {**named, "options": options, "answer": answer, "response": response}


@pytest.mark.parametrize("response", ["Answer: D", "Answer: A", "no idea"])
def test_a_list_in_a_list_is_wrong_as_published_and_not_scored_strictly(response: str, tmp_path: Path) -> None:
    plain = {"id": "test_Art_1", "subject": "Art", "options": "['x', 'y']", "answer": "B", "response": "Answer: B"}
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, (plain, _nested("D", response)))) + "\n")
    (cell,) = _scored(path, "strict,official", task="mmmu_pro").values()
    official = cell.scorings["official"]
    assert cell.unknown == []
    assert official.aggregate["Overall"] == {"num": 2, "acc": 0.5}
    assert (official.metrics["correct"].mean, official.metrics["correct"].n) == (0.5, 2)
    assert (cell.metrics["correct"].mean, cell.metrics["correct"].n) == (1.0, 1)
    assert cell.aggregate["Overall"] == {"num": 1, "acc": 1.0}


def test_a_list_in_a_list_is_asked_like_any_other_row(tmp_path: Path) -> None:
    row = {key: value for key, value in _nested("D", "").items() if key != "response"}
    image = {"image": fixtures.cell(fixtures.png(1)), "topic_difficulty": "Hard"}
    fixtures.write_parquet(tmp_path / "d" / "MMMU_Pro" / "vision" / "test-00000-of-00001.parquet", [row | image])
    model = Scripted("Answer: D")
    folder = play(model, "mmmu_pro_vision", tmp_path / "d", tmp_path / "run", scoring="official")
    cell = folder.results().tasks["mmmu_pro_vision.direct"]
    assert (len(model.said), cell.n, "broken_row" in cell.failures) == (1, 1, False)
    assert cell.metrics["correct"].mean == 0.0


def _outputs_by_lot(root: Path, reverse: bool = False) -> tuple[Path, float]:
    """Eight unreadable replies per subject, each with the gold that the published order draws for it."""
    rng = random.Random(42)
    drawn = {name: [rng.choice("AB") for _ in range(8)] for name in sorted(SUBJECTS)}
    for subject in SUBJECTS:
        rows = [
            _choice(f"validation_{subject}_{i}", gold, "no idea") for i, gold in enumerate(drawn[subject], start=1)
        ]
        images = {f"image_{i}": fixtures.cell(fixtures.png(i)) if i == 1 else None for i in range(1, 8)}
        asked = {"question": "<image 1>?", "options": str(["a thing", "b's thing"]), **images}
        kept = [{"id": row["id"], "answer": row["answer"], **asked} for row in rows]
        fixtures.write_parquet(
            root / "data" / "MMMU" / subject / "validation-00000-of-00001.parquet", kept[:: -1 if reverse else 1]
        )
        fixtures.write_json(root / "outputs" / subject / "output.json", rows)
    return root, 1.0


@pytest.mark.parametrize("reverse", [False, True])
def test_draws_follow_the_published_order_whichever_way_the_replies_came_in(reverse: bool, tmp_path: Path) -> None:
    """Subjects by name, each in the order of its file, whatever the order of the data and of our domains."""
    root, published = _outputs_by_lot(tmp_path, reverse)
    arguments: dict[str, Any] = {"data": root / "data", "task_args": f"subjects={'+'.join(SUBJECTS)}"}
    (alone,) = _scored(root / "outputs", "official").values()
    (matched,) = _scored(root / "outputs", "official", **arguments).values()
    assert alone.aggregate["Overall"] == matched.aggregate["Overall"] == {"num": 24, "acc": published}


def test_a_run_draws_in_the_published_order_too(tmp_path: Path) -> None:
    root, published = _outputs_by_lot(tmp_path)
    asked: dict[str, Any] = {"task_args": {"subjects": "+".join(SUBJECTS)}, "scoring": "official"}
    folder = play(Scripted("no idea"), "mmmu_val", root / "data", tmp_path / "run", **asked)
    assert folder.results().tasks["mmmu_val.direct"].aggregate["Overall"]["acc"] == published


@pytest.mark.parametrize("scoring", ["code-upstream", "code-fork", "official"])
@pytest.mark.parametrize("gold", ["yes", "no"])
def test_a_box_that_was_cut_off_says_neither_yes_nor_no(gold: str, scoring: str) -> None:
    """It used to become the word None, in which there is a `no`."""
    how = checked_scoring(scoring)
    target = {"kind": "yes_no", "gold": gold}
    for dataset in ("vqa_rad", "path_vqa"):
        assert not grade(dataset, target, {}, "Let me see. \\boxed{yes", how).right
    structured = {"kind": "yes_no", "gold": gold, "first_gold": gold, "options": ["yes", "no"], "shown": []}
    assert not grade("radrestruct", structured, {"answer_type": "single_choice"}, "\\boxed{yes", how).right


def test_the_tag_decides_before_a_box_that_is_only_spoken_of_in_radrestruct() -> None:
    target = {"kind": "yes_no", "gold": "no", "first_gold": "no", "options": ["yes", "no"], "shown": []}
    said = "It is boxed in. <answer>No</answer>"
    assert grade("radrestruct", target, {"answer_type": "single_choice"}, said, "code-upstream").right


def test_the_word_that_stands_for_no_box_is_lower_cased_before_options_are_compared() -> None:
    """As `None` it resembles the second option least, as `none` most."""
    shown = ["A. Nausea", "B. none of these"]
    assert judge_choice(shown, "B", "The answer is \\boxed{B")
    assert not judge_choice(shown, "A", "The answer is \\boxed{B")


def test_of_two_equal_options_the_golds_own_counts() -> None:
    assert judge_choice(["left", "left", "right"], "B", "left")
    assert judge_choice(["left", "left", "right"], "A", "left")
    assert not judge_choice(["left", "left", "right"], "C", "left")


def test_medevalkit_opens_a_box_inside_the_tags_of_mmmu() -> None:
    assert parse_choice_medevalkit("<answer>\\boxed{B}</answer>", {"A": "x", "B": "y"}, None) == "B"
    assert parse_choice_medevalkit("<answer>\\boxed{B</answer>", {"A": "x", "B": "y"}, None) is None


@pytest.mark.parametrize(("scoring", "stops"), [("code-upstream", True), ("code-fork", False)])
@pytest.mark.parametrize("reply", [" ", "\n\t ", "\\boxed{ }", ""])
def test_white_space_stops_slakes_program_at_an_open_question(reply: str, scoring: Any, stops: bool) -> None:
    target = {"kind": "open", "gold": "Lung"}
    graded = grade("slake", target, {}, reply, scoring)
    assert (graded.right, graded.stopped) == (False, stops)


def _twice(tmp_path: Path, task: str, data: Path, *said: str) -> CellResult:
    folder = play(Scripted(*said), task, data, tmp_path / "run")
    return score_as(folder, ["code-fork", "strict"])[f"{task}.direct"]


def test_the_fork_does_not_mix_up_pmc_vqa_whose_records_have_no_question(tmp_path: Path) -> None:
    folder = tmp_path / "d" / "PMC_VQA"
    fixtures.pmc_vqa(tmp_path / "d")
    table = (folder / "test_2.csv").read_text()
    (folder / "test_2.csv").write_text(table.replace("../../secret.jpg", "PMC1_f1.jpg"))
    cell = _twice(tmp_path, "pmc_vqa", tmp_path / "d", "B", "A")
    assert cell.aggregate["total metrics"] == {"total": 2, "right": 1, "acc": 0.5}


def test_the_fork_reuses_the_whole_last_record_of_omnimedvqa(tmp_path: Path) -> None:
    """The same question and letter with other options, of another kind: the second record stands for both, with its
    own options and kind. Only its reply, with the first one's options, would be wrong."""
    base = {"question": "What is seen?", "gt_answer": "Nodule", "option_B": "Nodule", "image_path": "Images/1.png"}
    rows = [
        {**base, "option_A": "Effusion", "question_type": "Lesion Grading", "modality_type": "CT"},
        {**base, "gt_answer": "Cyst", "option_A": "Nodule", "option_B": "Cyst", "question_type": "Disease Diagnosis"},
    ]
    name = "OmniMedVQA/QA_information/Open-access/x.json"
    members = {name: json.dumps(rows).encode(), "OmniMedVQA/Images/1.png": fixtures.png(1)}
    fixtures.write_zip(tmp_path / "d" / "OmniMedVQA" / "OmniMedVQA.zip", members)
    cell = _twice(tmp_path, "omnimedvqa", tmp_path / "d", "A", "Cyst")
    assert cell.aggregate["total metrics"] == {"total": 2, "right": 2, "acc": 1.0}
    assert cell.aggregate["question type metrics"] == {"Disease Diagnosis": {"total": 2, "right": 2, "acc": 1.0}}
    assert cell.scorings["strict"].aggregate["total metrics"]["right"] == 1


def test_the_fork_reuses_the_whole_last_record_of_medframeqa(tmp_path: Path) -> None:
    base = {"question": "Which?", "correct_answer": "B", "modality": "CT", "system": "s", "organ": "o"}
    images = {f"image_{i}": fixtures.cell(fixtures.png(i)) if i == 1 else None for i in range(1, 6)}
    rows = [{**base, "options": ["heart", "lung"], **images}, {**base, "options": ["lung", "liver"], **images}]
    fixtures.write_parquet(tmp_path / "d" / "MedFrameQA" / "data" / "test-00000-of-00001.parquet", rows)
    cell = _twice(tmp_path, "medframeqa", tmp_path / "d", "B", "lung")
    assert cell.aggregate["total metrics"] == {"total": 2, "right": 0, "acc": 0.0}


def test_table_and_aggregate_show_one_number_for_radrestruct(tmp_path: Path) -> None:
    """One question about the two pictures of a report, answered yes (right) and no: the fork scores no twice. Rows,
    table, comparison and totals all say so, also after another scoring of the same folder."""
    fixtures.radrestruct(tmp_path / "d")
    root = tmp_path / "d" / "Radrestruct"
    (root / "imgs" / "CXR1_IM-0002.png").write_bytes(fixtures.png(2, "L"))
    fixtures.write_json(
        root / "id_to_img_mapping_frontal_reports.json", {"1": ["CXR1_IM-0001", "CXR1_IM-0002"], "2": []}
    )
    said = ("yes", "A", "A", "no", "A", "A")
    cell = _twice(tmp_path, "radrestruct", tmp_path / "d", *said)
    total = cell.aggregate["total metrics"]
    assert total["acc"] == cell.metrics["correct"].mean
    assert cell.aggregate["single_choice"] == {"total": 4, "right": 0, "acc": 0.0}
    folder = RunFolder(tmp_path / "run")
    again = score_as(folder, ["code-upstream", "code-fork"])["radrestruct.direct"]
    assert again.aggregate["single_choice"]["right"] == 1
    assert again.scorings["code-fork"].metrics["correct"].mean == total["acc"]
    values = [row.values["correct"] for row in folder.scored("radrestruct.direct", "code-fork").values()]
    assert sum(value or 0 for value in values) == total["right"]


def test_what_a_row_is_worth_by_itself_is_known_after_it_was_settled() -> None:
    """The last record may be beyond a limit the next time."""
    rows = [
        {"sample": name, "values": {"correct": value}, "notes": {"item": {"key": "k", "values": {"correct": value}}}}
        for name, value in (("first", 1.0), ("last", 0.0))
    ]
    assert settle(rows, "code-fork") == {"first": {"correct": 0.0}, "last": {"correct": 0.0}}
    moved = {**rows[0], "values": {"correct": 0.0}}
    assert settle([moved], "code-fork") == {"first": {"correct": 1.0}}
    assert settle(rows, "code-upstream") == {}


def test_replies_from_elsewhere_are_settled_too(tmp_path: Path) -> None:
    """The two questions of VQA-RAD are alike: the fork scores the second record for both."""
    data = fixtures.vqa_rad(tmp_path / "d")
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"response": reply} for reply in ("yes", "no", "right lobe")]))
    (cell,) = _scored(path, "code-fork", task="vqa_rad", data=data).values()
    assert cell.metrics["correct"].mean == cell.aggregate["total metrics"]["acc"] == pytest.approx(1 / 3)
