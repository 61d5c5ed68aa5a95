"""`sketchmark voila score` as it is typed, with its judge behind `sketchmark serve`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import openai
import pytest
from click.testing import CliRunner

from sketchmark import Context, Options, Reply
from sketchmark.benchmarks.voila.results_file import pair
from sketchmark.cli import root as cli
from sketchmark.serve import Faults, serving
from sketchmark.worlds.voila.make import SetOrder, make
from tests.benchmarks.voila.making import KEY, Judge, element, questions, right_answers, write_answers
from tests.command_line import Done, sketchmark


def score(folder: Path, *options: str) -> list[str]:
    base = ["voila", "score", "--json_file_name", str(folder / "results.json")]
    return [*base, "--csv_file_name", str(folder / "questions.csv"), "--distraction", "no", *options]


def run(folder: Path, *options: str, key: str | None = None) -> Done:
    return sketchmark(*score(folder, *options), cwd=folder, env={"OPENAI_API_KEY": key, "OPENAI_BASE_URL": None})


def batch(url: str) -> list[str]:
    return ["--judge", "openai/gpt-4o-2024-08-06", "--batch", "--judge_args", f"base_url={url}"]


def prepared(folder: Path, count: int = 14) -> list[list[str]]:
    answers = right_answers(questions(folder, count))
    write_answers(folder / "results.json", answers)
    return answers


def test_without_a_judge_the_rules_score_and_nothing_is_asked(tmp_path: Path) -> None:
    prepared(tmp_path)
    done = run(tmp_path, "--by", "rule")
    assert done.returncode == 0, done.stderr
    assert "by rule" in done.stdout and "100.0 [78.5, 100.0]" in done.stdout
    assert "structure 19 (2 questions)" in done.stdout
    assert "Published figures are a judge's: these are not comparable" in done.stdout
    assert "judge" not in json.loads(run(tmp_path, "--json").stdout)


def test_the_published_command_line_judges_as_published(tmp_path: Path) -> None:
    prepared(tmp_path)
    with serving(Judge()) as url:
        done = run(tmp_path, "--json", "--open_api_key", KEY, "--judge_args", f"base_url={url}")
    assert done.returncode == 0, done.stderr
    judged = json.loads(done.stdout)["judge"]
    assert (judged["model"], judged["batch"]) == ("openai/gpt-4o-2024-08-06", True)
    assert "judging with openai/gpt-4o-2024-08-06 through the Batch API, as published" in done.stderr
    assert (tmp_path / "batch_step1.jsonl").exists()


def test_answers_that_may_belong_to_another_csv_are_scored_and_said_to_be_unchecked(tmp_path: Path) -> None:
    told = "do not say what their questions showed: whether they belong to this CSV"
    prepared(tmp_path)
    published = json.loads((tmp_path / "results.json").read_text())
    make(tmp_path / "other" / "questions.csv", SetOrder(count=14, distraction=False, pictures=False, seed=9))
    done = run(tmp_path, "--csv_file_name", str(tmp_path / "other" / "questions.csv"))
    assert done.returncode == 0 and f"14 answers {told}" in " ".join(done.stdout.split())
    assert "0.0 [0.0" in done.stdout
    assert json.loads(run(tmp_path, "--json").stdout)["unchecked"] == 14
    for answer, item in zip(
        published, pair(tmp_path / "results.json", tmp_path / "questions.csv").items, strict=True
    ):
        answer["query0"]["scenes"] = [list(scene) for scene in item.scenes]
    (tmp_path / "results.json").write_text(json.dumps(published))
    assert json.loads(run(tmp_path, "--json").stdout)["unchecked"] == 0
    assert "could not be checked" not in run(tmp_path).stdout


def test_missing_and_surplus_rows_are_named_and_count_as_0(tmp_path: Path) -> None:
    answers = prepared(tmp_path)
    kept = [element(i, answers[i]) for i in range(14) if i not in (2, 5)] + [element(99, ["a", "b", "c"])]
    (tmp_path / "results.json").write_text(json.dumps(kept))
    done = run(tmp_path)
    assert "2 rows without an answer, counted as 0: 2, 5" in done.stdout
    assert "1 answers without a row, left out: 99" in done.stdout
    whole = json.loads(run(tmp_path, "--json").stdout)
    assert whole["rule"]["steps"]["3"]["overall"]["percent"] == pytest.approx(100 * 12 / 14)
    partly = json.loads(run(tmp_path, "--json", "--answered_only").stdout)
    assert (partly["questions"], partly["rule"]["steps"]["3"]["overall"]["percent"]) == (12, 100)


def test_the_batch_path_from_file_to_table(tmp_path: Path) -> None:
    answers = prepared(tmp_path)
    answers[0][2] = "The answer is number = nine, subject = ghosts, action = sleeping"
    answers[1][0] += " <prose>"
    answers[2][1] += " <refuse>"
    answers[3][2] += " <seven>"
    answers[4][2] += " <other>"
    answers[5][2] += " <crash>"
    answers[6][1] = ""
    write_answers(tmp_path / "results.json", answers)
    with serving(Judge()) as url:
        done = run(tmp_path, "--json", *batch(url))
        again = run(tmp_path, *batch(url))
    assert (done.returncode, again.returncode) == (1, 1), done.stderr
    summary = json.loads(done.stdout)
    judged = summary["judge"]
    assert judged["failed_verdicts"]["1"] == {"not JSON": 1}
    assert judged["failed_verdicts"]["2"] == {"refused": 1}
    assert {why.split(":")[0]: n for why, n in judged["failed_verdicts"]["3"].items()} == {
        "not 0 or 1": 1,
        "not about this question": 1,
        "500": 1,
    }
    overall = {step: found["overall"] for step, found in judged["steps"].items()}
    assert [found["n"] for found in overall.values()] == [13, 13, 11]
    assert overall["1"]["percent"] == 100
    assert overall["2"]["percent"] == pytest.approx(100 * 12 / 13), "an empty answer is wrong, a refused verdict none"
    assert overall["3"]["percent"] == pytest.approx(100 * 10 / 11)
    assert summary["agreement"]["3"]["overall"] == {"n": 11, "raw": 1.0, "kappa": 1.0}
    assert "batch_step3.jsonl: completed, 13 of 14 done, 1 failed" in done.stderr
    assert "rule and judge agree (kappa)" in again.stdout
    assert "step 1: 1 failed verdicts, not counted (n = 13): not JSON (1)" in again.stdout
    assert "5 verdicts could not be had and are not counted; the same command asks for only these" in again.stderr
    assert "batch_step1.jsonl: uploaded 1 requests" in again.stderr, "what is finished is not asked for again"
    assert "batch_step3.jsonl: uploaded 3 requests" in again.stderr
    (line,) = [json.loads(line) for line in (tmp_path / "batch_step1.jsonl").read_text().splitlines()]
    assert (line["custom_id"], line["url"], line["body"]["temperature"]) == ("question1", "/v1/chat/completions", 0.1)


def test_a_live_judge_that_cannot_judge_gives_no_number_anywhere(tmp_path: Path) -> None:
    prepared(tmp_path)
    done = run(tmp_path, "--json", "--no_cache", "--judge", "player/solver")
    assert done.returncode == 1 and "42 verdicts could not be had" in done.stderr
    judged = json.loads(done.stdout)["judge"]
    assert [sum(problems.values()) for problems in judged["failed_verdicts"].values()] == [14, 14, 14]
    assert {value["percent"] for step in judged["steps"].values() for value in step.values()} == {None}


class Recovering(Judge):
    """No verdict for the first questions it is asked."""

    bad = 5

    async def say(self, context: Context, options: Options) -> Reply:
        reply = await super().say(context, options)
        return Reply("It looks fine to me.") if len(self.asked) <= self.bad else reply


def test_a_live_judge_is_asked_again_for_what_it_did_not_answer_and_for_nothing_else(tmp_path: Path) -> None:
    prepared(tmp_path, 7)
    judge = Recovering()
    with serving(judge) as url:
        live = ["--judge", "openai/m", "--judge_args", f"base_url={url}", "--cache", str(tmp_path / "kept")]
        typed = score(tmp_path, *live, "--concurrency", "1")
        first, whole = (CliRunner().invoke(cli, typed, standalone_mode=False) for _ in range(2))
    assert first.return_value == 1
    assert "  step 1: 5 failed verdicts, not counted (n = 2): not JSON (5)" in first.stdout
    assert "5 verdicts could not be had and are not counted; the same command asks for only these" in first.stderr
    assert whole.return_value == 0 and "failed verdicts" not in whole.stdout, whole.stderr
    assert len(judge.asked) == 21 + 5


def test_a_judge_that_answers_nothing_has_a_table_without_numbers(tmp_path: Path) -> None:
    prepared(tmp_path, 7)
    with serving(Judge(), faults=Faults.parse("400:1")) as url:
        done = run(tmp_path, "--judge", "openai/m", "--judge_args", f"base_url={url}", "--cache", "kept")
    assert done.returncode == 1 and "21 verdicts could not be had" in done.stderr
    judged = done.stdout.partition("by judge")[2].partition("rule and judge agree")[0]
    assert "step 3: 7 failed verdicts, not counted (n = 0): bad_request (7)" in judged
    assert "%" not in judged and "0.0" not in judged and judged.count("–") == 12


def test_an_expired_job_ends_the_command_and_only_the_rest_is_sent_again(tmp_path: Path) -> None:
    prepared(tmp_path)
    with serving(Judge(), fates=("expire", "expire", "expire", "complete")) as url:
        expired = run(tmp_path, *batch(url))
        assert expired.returncode != 0
        assert expired.stderr.count("expired; 7 of 14 answers are kept") == 3
        done = run(tmp_path, "--json", *batch(url))
        client = openai.OpenAI(base_url=url, api_key="any")
        sizes = sorted(job.request_counts.total for job in client.batches.list() if job.request_counts)
    assert json.loads(done.stdout)["judge"]["steps"]["3"]["overall"]["percent"] == 100
    assert sizes == [7, 7, 7, 14, 14, 14]


@pytest.mark.slow
def test_killed_while_polling_it_resumes_without_a_second_upload(tmp_path: Path) -> None:
    prepared(tmp_path)
    with serving(Judge(), fates=("slow",)) as url:
        command = [sys.executable, "-m", "sketchmark", *score(tmp_path, *batch(url))]
        polling = subprocess.Popen(command, cwd=tmp_path, stderr=-1)
        _wait_for(lambda: all(_sent(tmp_path / f"batch_step{i}.jsonl.state.json") for i in (1, 2, 3)))
        polling.send_signal(signal.SIGKILL)
        polling.communicate()
        assert not (tmp_path / "results_step1.jsonl").exists()
        done = run(tmp_path, "--json", *batch(url))
        client = openai.OpenAI(base_url=url, api_key="any")
        assert len(list(client.files.list(purpose="batch"))) == 3
        assert len(list(client.batches.list())) == 3
    assert done.returncode == 0, done.stderr
    assert "uploaded" not in done.stderr
    assert json.loads(done.stdout)["judge"]["steps"]["3"]["overall"]["percent"] == 100


def _wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _sent(state: Path) -> bool:
    return state.exists() and json.loads(state.read_text())["batch_id"] is not None


@pytest.mark.parametrize("given", ["environment", "command line"])
def test_the_key_is_used_and_is_nowhere_to_be_found_afterwards(tmp_path: Path, given: str) -> None:
    prepared(tmp_path)
    typed = ["--open_api_key", KEY] if given == "command line" else []
    with serving(Judge(), key=KEY) as url:
        done = run(tmp_path, *batch(url), *typed, key=None if typed else KEY)
    assert done.returncode == 0, done.stderr
    assert ("visible to others" in done.stderr) == bool(typed)
    _nowhere(KEY, tmp_path, done)


def test_a_refused_key_is_an_error_in_one_line_without_the_key(tmp_path: Path) -> None:
    prepared(tmp_path)
    with serving(Judge(), key="another-key-entirely") as url:
        done = run(tmp_path, *batch(url), key=KEY)
    assert done.returncode == 2
    assert "auth" in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.count("Incorrect API key") == 1  # though three jobs met it
    assert "check the key in OPENAI_API_KEY" in done.stderr
    _nowhere(KEY, tmp_path, done)


@pytest.mark.parametrize("live", [True, False])
def test_a_refused_key_of_the_command_line_is_looked_for_there(tmp_path: Path, live: bool) -> None:
    prepared(tmp_path)
    with serving(Judge(), key="another-key-entirely") as url:
        how = [option for option in batch(url) if option != "--batch" or not live]
        done = run(tmp_path, *how, "--open_api_key", KEY)
    assert done.returncode == 2 and "check the key that --open_api_key gave" in done.stderr
    assert "OPENAI_API_KEY;" not in done.stderr.splitlines()[-1]  # progress may name the variable before


def _nowhere(key: str, folder: Path, done: Done) -> None:
    assert key not in done.stdout + done.stderr
    for path in folder.rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes(), path


def test_openai_itself_wants_a_key(tmp_path: Path) -> None:
    prepared(tmp_path)
    done = run(tmp_path, "--judge", "openai/gpt-4o-2024-08-06", "--batch")
    assert done.returncode == 2
    assert "OPENAI_API_KEY is not set" in done.stderr


def test_what_is_for_a_judge_is_refused_without_one(tmp_path: Path) -> None:
    prepared(tmp_path)
    assert "--batch needs a judge" in run(tmp_path, "--batch").stderr
    assert "--judge_args needs a judge" in run(tmp_path, "--judge_args", "base_url=http://127.0.0.1:1/v1").stderr


def test_a_key_that_would_not_be_used_is_refused(tmp_path: Path) -> None:
    prepared(tmp_path)
    done = run(tmp_path, "--open_api_key", KEY, "--judge_args", "api_key_env=OTHER")
    assert done.returncode == 2 and "both name the judge's key" in done.stderr
