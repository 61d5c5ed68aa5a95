"""`sketchmark score-file` on the forms that people have their replies in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark import Reply, Sample
from sketchmark.cli import root as cli
from sketchmark.episode import Episode, Grading, Scores
from sketchmark.errors import BadInput, CallFailed
from sketchmark.progress import NOBODY
from sketchmark.results.score_file import Matched, _summary, score_files
from tests.benchmarks.medical import fixtures
from tests.runs.making import make_episode, make_samples, make_task


def scored(*arguments: str) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["score-file", *arguments, "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.output)["tasks"]  # type: ignore[no-any-return]


def official_item(number: int, answer: str, response: object, **changes: Any) -> dict[str, Any]:
    row = {"id": f"validation_Math_{number}", "question_type": "multiple-choice", "answer": answer}
    choices = {"all_choices": ["A", "B"], "index2ans": {"A": "left", "B": "right"}}
    return {**row, **choices, "response": response, **changes}


def test_the_official_mmmu_folder_needs_no_data(tmp_path: Path) -> None:
    fixtures.write_json(
        tmp_path / "llava" / "Math" / "output.json",
        [official_item(1, "B", "B"), official_item(2, "A", "(B)"), official_item(3, "A", None)],
    )
    opened = official_item(1, "36", "36 watts", question_type="open", all_choices=[], index2ans={})
    opened["id"] = "validation_Physics_1"
    fixtures.write_json(tmp_path / "llava" / "Physics" / "output.json", [opened])
    cells = scored("--task", "mmmu", "--predictions", str(tmp_path / "llava"), "--scoring", "strict,official")
    strict = cells["mmmu.llava"]
    assert strict["n"] == 4 and strict["failures"] == {"unparsed": 1}
    assert strict["aggregate"]["Overall"] == {"num": 4, "acc": 0.5}
    assert strict["aggregate"]["Physics"] == {"num": 1, "acc": 1.0}
    assert strict["scorings"]["official"]["aggregate"]["Math"]["num"] == 3


def test_mmmu_pro_outputs_are_scored_file_by_file(tmp_path: Path) -> None:
    base = {"options": "['left', 'right']", "answer": "B", "subject": "Art", "topic_difficulty": "Hard"}
    lines = [
        {"id": "test_Art_1", **base, "response": "Let me see.\nAnswer: B"},
        {"id": "test_Art_2", **base, "response": {"error": "timeout"}},
        {"id": "test_Art_3", **base, "options": "exec('x')", "response": "A"},
    ]
    for name in ("m_standard_cot", "m_vision_direct"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    cells = scored("--task", "mmmu_pro", "--predictions", str(tmp_path))
    assert set(cells) == {"mmmu_pro.m_standard_cot", "mmmu_pro.m_vision_direct"}
    cell = cells["mmmu_pro.m_standard_cot"]
    assert cell["metrics"]["correct"]["mean"] == 0.5 and cell["failures"] == {"unparsed": 1}
    assert cell["unknown"][0].startswith("test_Art_3: options are not")


@pytest.mark.parametrize("form", ["list", "mapping", "jsonl"])
def test_replies_by_id_are_matched_with_the_data_set(form: str, tmp_path: Path) -> None:
    data = fixtures.vqa_rad(tmp_path / "data")
    replies: dict[str, Any] = {"vqa_rad-000000": "Yes.", "vqa_rad-000002": "right lobe", "vqa_rad-000999": "yes"}
    listed = [{"id": name, "response": reply} for name, reply in replies.items()]
    path = tmp_path / f"replies.{'jsonl' if form == 'jsonl' else 'json'}"
    lines = "\n".join(map(json.dumps, listed)) + "\n"
    path.write_text({"list": json.dumps(listed), "mapping": json.dumps(replies), "jsonl": lines}[form])
    (cell,) = scored("--task", "VQA_RAD", "--predictions", str(path), "--data", str(data)).values()
    assert cell["n"] == 3, "an item without a reply stays in the denominator; a broken row does not count"
    assert cell["metrics"]["correct"]["mean"] == pytest.approx(2 / 3)
    assert cell["unanswered"] == ["vqa_rad-000001"] and cell["unknown"] == ["vqa_rad-000999"]
    assert cell["failures"] == {"unparsed": 1}


def test_replies_without_ids_are_taken_in_the_order_of_the_data_set(tmp_path: Path) -> None:
    data = fixtures.vqa_rad(tmp_path / "data")
    path = tmp_path / "results.json"
    path.write_text(json.dumps([{"response": reply} for reply in ("yes", "no", "right lobe")]))
    (cell,) = scored("--task", "vqa_rad", "--predictions", str(path), "--data", str(data)).values()
    assert cell["metrics"]["correct"]["mean"] == pytest.approx(2 / 3)
    path.write_text(json.dumps([{"response": "yes"}]))
    with pytest.raises(BadInput, match="1 replies without `id` for 3 samples"):
        score_files("vqa_rad", path, data=data)


def test_the_data_may_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKETCHMARK_DATA", str(fixtures.vqa_rad(tmp_path / "data")))
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"vqa_rad-000000": "yes"}))
    (cell,) = scored("--task", "vqa_rad", "--predictions", str(path)).values()
    assert cell["n"] == 3


def test_several_scorings_stand_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([official_item(1, "B", "B"), official_item(2, "A", "(B)")]))
    asked = ["score-file", "--task", "mmmu", "--predictions", str(path), "--scoring", "strict,official"]
    lines = CliRunner().invoke(cli, asked).output.splitlines()
    assert "mmmu.replies: the same replies, scored 2 ways" in [line.strip() for line in lines]
    (overall,) = [line for line in lines if "Overall / acc" in line]
    assert overall.split()[-2:] == ["50.0", "50.0"]


def test_the_table_names_what_could_not_be_matched(tmp_path: Path) -> None:
    data = fixtures.vqa_rad(tmp_path / "data")
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"vqa_rad-000000": "yes"}))
    done = CliRunner().invoke(
        cli, ["score-file", "--task", "vqa_rad", "--predictions", str(path), "--data", str(data)]
    )
    assert done.exit_code == 0
    assert "correct" in done.output and "2 unanswered, the first: vqa_rad-000001" in done.output


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.json", "{", "cannot be read as JSON"),
        ("x.json", "[1]", "not a list of objects"),
        ("x.json", '[{"id": "a"}]', "no `response`"),
        ("x.json", "[" * 100_000, "cannot be read as JSON"),
        ("x.json", '[{"id": "a", "response": "yes"}, {"id": "a", "response": "no"}]', "two replies for a"),
        ("replies.jsonl", "", "replies holds no reply"),
    ],
)
def test_a_file_without_usable_replies_is_refused(name: str, content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadInput, match=words):
        score_files("mmmu", tmp_path / name)


def test_a_group_of_different_tasks_is_scored_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"a": "b"}))
    with pytest.raises(BadInput, match="scored differently"):
        score_files("medical", path, data=tmp_path)
    with pytest.raises(BadInput, match="no such file"):
        score_files("mmmu", tmp_path / "nothing")
    with pytest.raises(BadInput, match="neither"):
        score_files("mmmu", tmp_path)


def test_a_judge_without_a_verdict_is_counted_and_makes_the_exit_code_1(tmp_path: Path) -> None:
    data = fixtures.vqa_rad(tmp_path / "d")
    (tmp_path / "replies.json").write_text(json.dumps([{"response": text} for text in ("yes", "no", "somewhere")]))
    asked = ["score-file", "--task", "vqa_rad", "--data", str(data), "--predictions", str(tmp_path / "replies.json")]
    done = CliRunner().invoke(cli, [*asked, "--judge", "player/solver"], standalone_mode=False)
    assert done.return_value == 1, done.exception
    assert "vqa_rad.replies: judge_failed 1, the first: vqa_rad-000002: no verdict in:" in done.stderr
    assert "1 episodes could not be scored; the same command tries again" in done.stderr


async def test_a_judge_that_cannot_go_on_is_not_asked_for_the_rest() -> None:
    asked: list[str] = []

    async def scorer(sample: Sample, episode: Episode, grading: Grading) -> Scores:
        asked.append(sample.id)
        raise CallFailed("quota", "the account is empty", stops_run=True)

    matched = Matched([make_episode(sample, Reply("yes")) for sample in make_samples(40)])
    with pytest.raises(CallFailed, match="the account is empty"):
        await _summary(make_task([], scorer=scorer), matched, Grading(), "mine", NOBODY)
    assert 1 <= len(asked) <= 16
