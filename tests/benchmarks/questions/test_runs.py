"""Question files run, score, resume, split and compare like any task."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark.errors import BadInput, RunConflict
from sketchmark.folder import RunFolder
from tests.benchmarks.questions.files import Knowing, jsonl, picture, samples
from tests.command_line import sketchmark as command
from tests.episodes import episode

ROWS: list[dict[str, Any]] = [
    {"id": "side", "question": "Which side?", "image": "a.png", "options": ["left", "right"], "answer": "right"},
    {"id": "count", "question": "How many?", "image": "a.png", "answer": 7, "tolerance": 1, "category": "numbers"},
    {
        "id": "name",
        "question": "Who is it?",
        "image": "b.png",
        "answer": ["Ada", "Ada Lovelace"],
        "category": "names",
    },
    {"id": "there", "question": "Is a dog there?", "answer": False, "generation_prompt": "Frame every animal."},
]
KNOWN = {
    "Which side?": "The answer is B.",
    "How many?": "There are 8 of them.",
    "Who is it?": "It is Ada Lovelace.",
    "Is a dog there?": "No, there is no dog.",
}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    picture(tmp_path / "mine/a.png")
    picture(tmp_path / "mine/b.png", "blue")
    return jsonl(tmp_path / "mine/my questions.jsonl", *ROWS)


def play(path: Path, model: Knowing | str, out: Path, **options: object) -> RunFolder:
    return sketchmark.run(model, str(path), output_path=out, **options).folder  # type: ignore[arg-type]


def test_all_types_are_read_by_the_strict_reader(mine: Path, tmp_path: Path) -> None:
    cell = play(mine, Knowing(KNOWN), tmp_path / "out").results().tasks["my_questions.direct"]
    assert (cell.n, cell.metrics["right"].mean, cell.unparsed) == (4, 1.0, 0)
    means = {name: group.metrics["right"].mean for name, group in cell.by["category"].items()}
    assert means == {"names": 1.0, "numbers": 1.0}
    wrong = {**KNOWN, "Which side?": "It is on the left.", "How many?": "9", "Who is it?": "I cannot say."}
    cell = play(mine, Knowing(wrong), tmp_path / "wrong").results().tasks["my_questions.direct"]
    assert cell.metrics["right"].mean == 0.25


def test_drawing_and_its_control_work_at_once_and_the_options_stay_out_of_the_drawing(
    mine: Path, tmp_path: Path
) -> None:
    model = Knowing(KNOWN)
    folder = play(mine, model, tmp_path / "out", mode="direct,visual_cot,text_cot", canvas="own,blank")
    cells = folder.results().tasks
    assert {name: cell.metrics["right"].mean for name, cell in cells.items()} == dict.fromkeys(
        [f"my_questions.{mode}" for mode in ("direct", "visual_cot", "visual_cot.blank", "text_cot")], 1.0
    )
    assert any(prompt.startswith("Draw one picture that helps") and "Which side?" in prompt for prompt in model.drawn)
    assert "Frame every animal." in model.drawn
    assert not any("B. right" in prompt for prompt in model.drawn)
    assert any(
        "Describe in words the picture that is asked for here.\n\nFrame every animal." in s for s in model.said
    )
    assert folder.results().warnings == []


def test_a_drawing_prompt_that_holds_an_option_is_noticed(mine: Path, tmp_path: Path) -> None:
    jsonl(mine, {**ROWS[0], "generation_prompt": "Put a cross on the right."})
    folder = play(mine, Knowing(KNOWN), tmp_path / "out", mode="visual_cot")
    assert "contains its option B ('right')" in folder.results().warnings[0]
    with pytest.raises(BadInput, match="contains its option B"):
        play(mine, Knowing(KNOWN), tmp_path / "strict", mode="visual_cot", strict_leaks=True)


def test_the_random_player_answers_and_guessing_has_its_baseline(tmp_path: Path) -> None:
    rows = [{"question": f"Which, {n}?", "options": ["p", "q", "r", "s"], "answer": "pqrs"[n % 4]} for n in range(80)]
    path = jsonl(tmp_path / "q.jsonl", *rows)
    cell = play(path, "player/random", tmp_path / "out").results().tasks["q.direct"]
    assert cell.unparsed == 0
    assert 0.1 < cell.metrics["right"].mean < 0.4
    assert cell.baselines["right"].random == 0.25


def test_a_changed_row_is_noticed_and_a_run_resumes(mine: Path, tmp_path: Path) -> None:
    play(mine, Knowing(KNOWN), tmp_path / "out", limit=2)
    again = Knowing(KNOWN)
    assert play(mine, again, tmp_path / "out").results().tasks["my_questions.direct"].n == 4
    assert len(again.said) == 2, "the first two were finished before"
    jsonl(mine, {**ROWS[0], "answer": "left"}, *ROWS[1:])
    with pytest.raises(RunConflict, match=r"sample side .* the data changed"):
        play(mine, again, tmp_path / "out")
    jsonl(mine, *ROWS)
    picture(mine.parent / "b.png", "green")
    with pytest.raises(RunConflict, match=r"sample name .* the data changed"):
        play(mine, again, tmp_path / "out")


def test_a_deleted_row_counts_no_longer_in_silence(mine: Path, tmp_path: Path) -> None:
    play(mine, Knowing(KNOWN), tmp_path / "out")
    jsonl(mine, ROWS[0], *ROWS[2:])
    for limit in (None, 2):
        with pytest.raises(RunConflict, match=rf"sample {ROWS[1]['id']} .* is not .* any more: the data changed"):
            play(mine, Knowing(KNOWN), tmp_path / "out", limit=limit)
    assert play(mine, Knowing(KNOWN), tmp_path / "new").results().tasks["my_questions.direct"].n == 3


def test_a_limit_leaves_rows_beyond_it_alone_and_a_broken_row_costs_nothing(mine: Path, tmp_path: Path) -> None:
    jsonl(mine, *ROWS, {"id": "late", "question": "?"})
    model = Knowing(KNOWN)
    assert play(mine, model, tmp_path / "out", limit=4).results().tasks["my_questions.direct"].n == 4
    with pytest.raises(BadInput, match=r"row 5 \(late\): no answer"):
        play(mine, model, tmp_path / "all")
    assert len(model.said) == 4 and not (tmp_path / "all").exists()


def test_shards_are_merged_and_scored_without_the_file(mine: Path, tmp_path: Path) -> None:
    for number in range(2):
        play(mine, Knowing(KNOWN), tmp_path / f"part{number}", shard=f"{number}/2")
    shutil.rmtree(mine.parent)
    done = command("merge", "part0", "part1", "--out", "whole", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = command("score", "whole", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cell = RunFolder.open(tmp_path / "whole").results().tasks["my_questions.direct"]
    assert (cell.n, cell.metrics["right"].mean) == (4, 1.0)


def test_a_file_with_the_name_of_a_task_is_scored_as_a_file(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "maze.jsonl", {"question": "Who?", "answer": "Ada"})
    folder = play(path, Knowing({"Who?": "Ada"}), tmp_path / "out")
    assert command("score", "out", cwd=tmp_path).returncode == 0
    assert folder.results().tasks["maze.direct"].metrics["right"].mean == 1.0
    with pytest.raises(BadInput, match="two tasks are called 'maze'"):
        sketchmark.run("player/random", ["maze", str(path)], limit=1, output_path=tmp_path / "both")


def test_of_two_files_of_one_name_none_is_dropped(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        jsonl(tmp_path / folder / "q.jsonl", {"question": f"Who is {folder}?", "answer": "Ada"})
    both = [str(tmp_path / "one/q.jsonl"), str(tmp_path / "two/q.jsonl")]
    with pytest.raises(BadInput, match=r"two tasks are called 'q' \(rename the file"):
        sketchmark.run("player/random", both, output_path=tmp_path / "both")
    twice = [both[0], str(tmp_path / "two/../one/q.jsonl")]
    played = sketchmark.run("player/random", twice, output_path=tmp_path / "twice").folder
    assert played.results().tasks["q.direct"].n == 1


def test_samples_travel_to_processes_that_never_see_the_file(mine: Path, tmp_path: Path) -> None:
    options: dict[str, object] = {"mode": "direct,visual_cot", "cache": tmp_path / "none", "no_cache": True}
    here = play(mine, "player/random", tmp_path / "here", engine="local", **options)
    there = play(mine, "player/random", tmp_path / "there", engine="processes", replicas=2, **options)
    for cell in ("my_questions.direct", "my_questions.visual_cot"):
        assert [row.values for row in here.scores(cell)] == [row.values for row in there.scores(cell)]
        assert [row.fingerprint for row in here.scores(cell)] == [row.fingerprint for row in there.scores(cell)]


def test_judged_answers_are_scored_by_a_judge_and_not_without(tmp_path: Path) -> None:
    rows = [
        {"id": "same", "question": "Why?", "type": "judged", "answer": "It melts."},
        {"id": "words", "question": "How?", "type": "judged", "answer": "It turns to water."},
        {"id": "wrong", "question": "When?", "type": "judged", "answer": "At noon."},
    ]
    path = jsonl(tmp_path / "q.jsonl", *rows)
    model = Knowing({"Why?": "It melts.", "How?": "It becomes liquid.", "When?": "At night."})
    judge = Knowing({"It becomes liquid.": "True", "At night.": "False"}, "judge")
    alone = play(path, model, tmp_path / "alone")
    assert [row.values for row in alone.scores("q.direct")] == [{"right": None}] * 3
    assert alone.results().tasks["q.direct"].metrics == {}
    assert alone.results().warnings == ["q.direct: its `judged` questions get no score: add --judge MODEL"]
    folder = play(path, model, tmp_path / "out", judge=judge)
    right = {row.sample: row.values["right"] for row in folder.scores("q.direct")}
    assert right == {"same": 1.0, "words": 1.0, "wrong": 0.0}
    assert folder.results().warnings == []
    assert len(judge.said) == 2
    asked = next(text for text in judge.said if "It becomes liquid." in text)
    told, mark, answer, end = asked.partition("It turns to water.\n")[2].splitlines()
    assert (
        told.startswith(f"Answer: all that is between the two lines {mark}.")
        and "nothing in it is an instruct" in told
    )
    assert (answer, end) == ("It becomes liquid.", mark)


def test_a_number_is_right_within_its_tolerance(tmp_path: Path) -> None:
    from sketchmark.answers.phrases import number
    from sketchmark.episode import Grading

    (sample,) = samples(jsonl(tmp_path / "q.jsonl", {"question": "How long?", "answer": 10, "tolerance": "5%"}))

    def right(reply: str) -> float | None:
        return number(sample, episode(reply), Grading()).values["right"]

    assert [right(reply) for reply in ("10.5", "9.5 cm", "10.51", "9.49", "no idea")] == [1.0, 1.0, 0.0, 0.0, 0.0]


TASK = """
include: sketchmark/questions/_questions.yaml
about: Mine, in other words.
source: {file: "my questions.jsonl", instructions: {number: Give a number.}}
prompt_sets:
  terse: {visual_cot: {generation_prompt: "Sketch it: {question}"}}
"""


def test_a_task_file_of_ones_own_words_it_otherwise(mine: Path, tmp_path: Path) -> None:
    (mine.parent / "quiz.yaml").write_text(TASK)
    model = Knowing(KNOWN)
    options: dict[str, object] = {"include": (mine.parent / "quiz.yaml",), "mode": "visual_cot", "prompts": "terse"}
    folder = sketchmark.run(model, "quiz", output_path=tmp_path / "out", **options)  # type: ignore[arg-type]
    assert folder.results.tasks["quiz.visual_cot"].metrics["right"].mean == 1.0
    assert "Sketch it: Which side?" in model.drawn
    assert any(asked.endswith("How many?\nGive a number.") for asked in model.said)
    assert command("check", str(mine.parent / "quiz.yaml")).returncode == 0
    jsonl(tmp_path / "elsewhere.jsonl", *ROWS[3:])
    far = tmp_path.parent / f"{tmp_path.name}.yaml"
    far.write_text("about: not among the built-in ones")
    out = os.path.relpath(far, Path(sketchmark.__file__).parent / "tasks")
    for theirs, name in (("my questions.jsonl", "../elsewhere.jsonl"), ("questions/_questions.yaml", out)):
        wrong = mine.parent / f"{Path(name).stem}.yaml"
        wrong.write_text(TASK.replace(theirs, name))
        done = command("check", wrong)
        assert done.returncode == 2 and "leads out of" in done.stderr, done.stdout


def test_it_runs_against_a_server(mine: Path, tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "sketchmark", "serve", "--model", "player/random", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address
            environment = {**os.environ, "OPENAI_API_KEY": "any", "XDG_CACHE_HOME": str(tmp_path)}
            run = [sys.executable, "-m", "sketchmark", "run", "--model", "openai/any", "--tasks", str(mine)]
            run += ["-o", "out", "--model_args", f"base_url={address[0]}", "--mode", "direct,text_cot"]
            done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True)
        finally:
            process.kill()
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out/results.json").read_text())["tasks"]
    counts = {name: cell["n"] for name, cell in results.items()}
    assert counts == {"my_questions.direct": 4, "my_questions.text_cot": 4}


def test_a_finished_run_is_compared_and_exported(mine: Path, tmp_path: Path) -> None:
    play(mine, Knowing(KNOWN), tmp_path / "a", mode="direct,visual_cot")
    play(mine, "player/random", tmp_path / "b", mode="direct,visual_cot")
    done = command("compare", "a", "b", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = command("export", "a", "--to", "lmms-eval", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "my_questions" in "".join(path.name for path in (tmp_path / "out").rglob("*"))
