"""`sketchmark voila infer`: the original script's arguments, and the file that `voila score` reads."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sketchmark import Context, Model, Options, Reply
from sketchmark.benchmarks.voila.results_file import pair
from sketchmark.benchmarks.voila.totals import by_judge, by_rule
from sketchmark.cli import root as cli
from sketchmark.commands.voila import Inference, infer
from sketchmark.errors import BadInput, CallFailed, RunConflict
from sketchmark.folder import RunFolder
from sketchmark.serve import serving
from sketchmark.worlds.voila.make import SetOrder, make
from tests.benchmarks.voila.making import Judge


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inference:
    """Seven questions whose pictures are in another folder than their CSV."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make(tmp_path / "made" / "questions.csv", SetOrder(count=7, distraction=False, seed=2))
    (tmp_path / "made" / "Test_Images").rename(tmp_path / "pictures")
    return Inference(
        model_name="player/solver",
        distraction=False,
        output_path=tmp_path / "out" / "results.json",
        csv=tmp_path / "made" / "questions.csv",
        images=tmp_path / "pictures",
        quiet=True,
    )


def test_the_file_has_the_published_shape(asked: Inference) -> None:
    path, failed = infer(asked)
    elements = json.loads(path.read_text())
    assert (len(elements), failed) == (7, [])
    for place, element in enumerate(elements):
        assert list(element) == ["query0", "query1", "query2"]
        for query in element.values():
            assert list(query) == ["question", "row_index", "scenes", "query", "generated_text"]
            assert query["question"] == query["row_index"] == place
            answer = query["generated_text"][0]  # as the published scorer takes it
            assert len(query["generated_text"]) == 1 and len(answer) > 20
    first = elements[0]
    assert first["query0"]["query"].startswith("Describe the content of the first three images")
    assert first["query1"]["query"].startswith("Identify the changed and unchanged properties")
    assert first["query2"]["query"].startswith("Apply the identified")


def test_what_the_solver_says_is_right_by_rule_and_nothing_is_drawn(asked: Inference) -> None:
    path, _ = infer(asked)
    assert asked.csv
    marked = by_rule(pair(path, asked.csv).items)
    assert list(marked) == [1, 2, 3]
    assert all(verdict.scores()["overall"] == 1 for verdicts in marked.values() for verdict in verdicts.values())


def test_answers_to_another_csv_are_refused(asked: Inference, tmp_path: Path) -> None:
    path, _ = infer(asked)
    make(tmp_path / "other" / "questions.csv", SetOrder(count=7, distraction=False, seed=3, pictures=False))
    with pytest.raises(BadInput, match=r"answers other questions than .*other.questions.csv asks: row 1"):
        pair(path, tmp_path / "other" / "questions.csv")


def test_data_is_where_the_questions_are_as_for_run(asked: Inference, tmp_path: Path) -> None:
    (tmp_path / "pictures").rename(tmp_path / "made" / "Test_Images")
    path, failed = infer(replace(asked, csv=None, images=None, data=tmp_path / "made"))
    assert asked.csv and (len(pair(path, asked.csv).items), failed) == (7, [])
    with pytest.raises(BadInput, match="--data says where"):
        infer(replace(asked, images=None, data=tmp_path / "made"))


async def test_a_drawing_is_read_and_can_be_judged(asked: Inference) -> None:
    import asyncio

    path, _ = await asyncio.to_thread(infer, replace(asked, draw=True, limit=3))
    assert asked.csv
    items = [item for item in pair(path, asked.csv).items if item.answers.draws]
    assert len(items) == 3
    assert all(verdict.scores()["overall"] == 1 for verdict in by_rule(items)[4].values())
    judged = await by_judge(Judge(), items, False, 2)
    assert [verdict.marks for verdict in judged[4].values()] == [((1, 0, 0),)] * 3


def test_the_same_command_again_plays_nothing_again(asked: Inference) -> None:
    infer(asked)
    episodes = RunFolder(asked.run_folder).episodes_file("voila_nd.stepwise")
    before = episodes.read_bytes()
    asked.output_path.unlink()
    path, _ = infer(asked)
    assert episodes.read_bytes() == before
    assert len(json.loads(path.read_text())) == 7


def test_drawings_are_not_added_to_a_run_without_them_in_silence(asked: Inference) -> None:
    infer(replace(asked, limit=1))
    with pytest.raises(RunConflict, match="draws"):
        infer(replace(asked, limit=1, draw=True))


def test_changed_questions_are_played_over_an_old_run_by_the_option_that_the_error_names(
    asked: Inference, tmp_path: Path
) -> None:
    infer(replace(asked, limit=2))
    make(tmp_path / "other" / "questions.csv", SetOrder(count=7, distraction=False, seed=3))
    typed = ["voila", "infer", "--model_name", "player/solver", "--distraction", "no", "--limit", "2", "--quiet",
             "--output_path", str(asked.output_path), "--data", str(tmp_path / "other")]  # fmt: skip
    refused = CliRunner().invoke(cli, typed).exception
    assert isinstance(refused, RunConflict) and "--fresh" in str(refused)
    done = CliRunner().invoke(cli, [*typed, "--fresh"])
    assert done.exit_code == 0, done.output
    assert len(pair(asked.output_path, tmp_path / "other" / "questions.csv").missing) == 5


def test_a_jsonl_file_and_pictures_elsewhere_are_played_as_the_csv_is(asked: Inference, tmp_path: Path) -> None:
    table = tmp_path / "made" / "questions.jsonl"
    make(table, SetOrder(count=7, distraction=False, seed=2, pictures=False))
    path, failed = infer(replace(asked, csv=table, limit=2))
    assert asked.csv and (len(pair(path, asked.csv).missing), failed) == (5, [])


class Recorder(Model):
    """Remembers the settings, and is not there for every call of step 2 until it is mended."""

    def __init__(self) -> None:
        super().__init__("test/recorder")
        self.broken = True
        self.seen: list[Options] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.seen.append(options)
        if self.broken and "Identify the changed" in context.texts[-1] and len(self.seen) % 2:
            raise CallFailed("upstream", "away")
        return Reply("something")


def test_a_failed_question_is_left_out_and_named_and_played_again_by_the_same_command(asked: Inference) -> None:
    model = Recorder()
    with serving(model) as url:
        over_the_wire = replace(
            asked,
            model_name="openai/test",
            model_args={"base_url": url, "max_retries": 0},
            concurrency=1,
            max_new_tokens=77,
            temperature=0.25,
        )
        path, failed = infer(over_the_wire)
        assert failed
        kept = [element["query0"]["question"] for element in json.loads(path.read_text())]
        assert sorted([*kept, *failed]) == list(range(7))
        model.broken = False
        path, failed = infer(over_the_wire)
    assert failed == []
    assert [element["query0"]["question"] for element in json.loads(path.read_text())] == list(range(7))
    assert {(options.max_new_tokens, options.temperature) for options in model.seen} == {(77, 0.25)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"csv": None}, "--images goes with --csv"),
        ({"csv": None, "images": None, "dataset_name": "someone/else"}, "no dataset 'someone/else'"),
    ],
)
def test_questions_that_cannot_be_found_are_an_error(asked: Inference, change: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        infer(replace(asked, **change))


def test_the_command_takes_the_originals_arguments(asked: Inference) -> None:
    typed = ["infer", "--model_name", "player/solver", "--distraction", "no", "--device_map", "auto"]
    typed += ["--output_path", str(asked.output_path), "--csv", str(asked.csv), "--images", str(asked.images)]
    done = CliRunner().invoke(
        cli, ["voila", *typed, "--max_new_tokens", "2048", "--temperature", "0", "--limit", "2", "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert f"results: {asked.output_path}" in done.output
    assert len(json.loads(asked.output_path.read_text())) == 2
