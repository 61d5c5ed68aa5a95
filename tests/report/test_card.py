"""The reproduction card: what it says, that its command repeats the run, and that a stranger's folder stays text."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.folder import RunFolder
from sketchmark.report.card import card, digest
from sketchmark.settings import Settings, command
from tests.benchmarks.questions.files import jsonl
from tests.command_line import sketchmark as cli
from tests.tabled import tabled


def _command(text: str) -> list[str]:
    (found,) = re.findall(r"^```sh\n(.*)\n```$", text, re.MULTILINE)
    words = shlex.split(found)
    assert words[:2] == ["sketchmark", "run"]
    return words[1:]


def _episodes(run: Path) -> list[Any]:
    """Without what differs between two runs of the same: times."""
    lines = [
        json.loads(line) for file in sorted((run / "episodes").iterdir()) for line in file.read_text().splitlines()
    ]
    for line in lines:
        for turn in line["turns"]:
            turn.pop("seconds", None)
    return sorted((line["sample"]["id"], line["mode"], json.dumps(line["turns"])) for line in lines)


@pytest.mark.slow
def test_the_command_on_the_card_resumes_the_run_or_repeats_it_elsewhere(tmp_path: Path) -> None:
    run = tmp_path / "my runs" / "first"
    asked = (
        *("--model", "player/sketcher", "--model_args", "lookahead=2,hand_error=0.3", "--tasks", "maze,jigsaw"),
        *("--mode", "direct,visual-cot", "--canvas", "own,blank", "--limit", "3", "--seed", "7", "--no-cache"),
        *("--task_args", "", "--gen_kwargs", "temperature=0.5", "--scoring", "strict,official", "--steps", "model"),
    )
    first = cli("run", *asked, "-o", str(run), "--quiet", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    text = cli("card", str(run), cwd=tmp_path).stdout
    words = _command(text)
    before = {path: path.read_bytes() for path in (run / "episodes").iterdir()}
    again = cli(*words, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert {path: path.read_bytes() for path in (run / "episodes").iterdir()} == before, "nothing is run twice"
    words[words.index("--output-path") + 1] = str(tmp_path / "second")
    anew = cli(*words, "--no-cache", cwd=tmp_path)
    assert anew.returncode == 0, anew.stderr
    assert _episodes(tmp_path / "second") == _episodes(run)
    one, other = (json.loads((path / "results.json").read_text())["tasks"] for path in (run, tmp_path / "second"))
    assert {name: cell["metrics"] for name, cell in one.items()} == {
        name: cell["metrics"] for name, cell in other.items()
    }


class Versioned(Model):
    """Names its version with each reply, as servers do, and cannot pass on every picture."""

    async def say(self, context: Context, options: Options) -> Reply:
        raw = {"model": "gpt-9-2026-11-01", "system_fingerprint": "fp_7"}
        return Reply('["up"]', usage=Usage(7, 5, 1), left_out=("1 of 2 pictures: it takes one",), raw=raw)


def test_the_card_says_what_was_run(tmp_path: Path) -> None:
    folder = sketchmark.run(Versioned("gpt-9"), "maze", limit=3, output_path=tmp_path / "run", no_cache=True).folder
    text = card(folder, "run")
    facts = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    assert facts["version, as the server reports it"] == "gpt-9-2026-11-01 (fp\\_7), 3 replies"
    assert facts["announced retirement"].startswith("not reported")
    assert facts["scored by"] == "strict" and facts["seed"] == "0"
    about = folder.about().cells["maze.direct"]
    assert f"`{digest(about)[:16]}`" in text and "[run.json](<run/run.json>)" in text
    assert (tmp_path / "run/episodes/maze.direct.jsonl").exists()
    assert "[maze.direct](<run/episodes/maze.direct.jsonl>)" in text
    assert "| maze.direct | 3 | 0 | none | 3 episodes, 3 calls |" in text
    assert "* left out 3 times: 1 of 2 pictures: it takes one" in text
    assert "| maze.direct | 3 | 21 | 15 | 3 | 0 |" in text
    assert "no command repeats this (its model or an argument was an object in Python)" in text


def test_an_episode_without_a_score_is_not_counted_as_scored(tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": "up"} | ({"type": "judged"} if n > 1 else {}) for n in range(4)]
    for name, some in (("half", rows), ("none", rows[2:])):
        path = jsonl(tmp_path / f"{name}.jsonl", *some)
        folder = sketchmark.run(Versioned("gpt-9"), str(path), output_path=tmp_path / name, no_cache=True).folder
        assert f"| {name}.direct | {len(some)} | 2 | " in card(folder, "run")


class Mute(Model):
    """Is asked to draw, and does not."""

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("0")

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply()


def test_failures_are_counted_and_an_old_folder_has_no_command(tmp_path: Path) -> None:
    folder = sketchmark.run(
        Mute("mute"), "jigsaw", mode="visual_cot", limit=4, output_path=tmp_path / "run", no_cache=True
    ).folder
    assert "| jigsaw.visual\\_cot | 4 | 0 | no\\_picture 4 | nothing |" in card(folder, "run")
    about = json.loads(folder.run_file.read_text())
    del about["asked"]
    folder.run_file.write_text(json.dumps(about))
    assert "no command repeats this (the folder does not say how)" in card(folder, "run")


@tabled
def test_a_command_is_written_if_it_repeats_the_run(given: dict[str, Any], expected: list[str] | None) -> None:
    words = command(Settings(model="player/solver", tasks="maze", **given), "run")
    start = ["sketchmark", "run", "--model", "player/solver", "--tasks", "maze", "--mode", "direct"]
    assert words == (None if expected is None else [*start, *expected, "--output-path", "run"])


def test_an_untrusted_folder_stays_text(tmp_path: Path) -> None:
    folder = sketchmark.run("player/random", "maze", limit=2, output_path=tmp_path / "run", no_cache=True).folder
    nasty = "x|y <script>alert(1)</script> [l](javascript:x)\n# Title\n```\n\x1b[31m"
    about = json.loads(folder.run_file.read_text())
    about["model"]["name"] = about["started"] = nasty
    about["machine"] = {nasty: nasty}
    cell = about["cells"]["maze.direct"]
    cell["source"], cell["canvas"], cell["steps"] = {nasty: nasty}, nasty, nasty
    cell["play"]["protocol"] = nasty
    about["asked"]["maze.direct"] |= {"tasks": nasty, "model": "`$(rm -rf ~)`; rm -rf ~"}
    folder.run_file.write_text(json.dumps(about))
    results = json.loads(folder.results_file.read_text())
    results["tasks"]["maze.direct"]["failures"] = {nasty: 1}
    folder.results_file.write_text(json.dumps(results))
    text = card(RunFolder(folder.path), "a (b) <c>\n")
    assert "<script" not in text.replace("\\<script", "") and "\x1b" not in text
    assert "[l](javascript" not in text.replace("\\[l](javascript", "")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in text.splitlines() if re.match(r"# Reproduction card|## [WSCT]", line)
    ]
    assert "```" not in text.replace("\\`\\`\\`", ""), "no command with a line break in it"
    about["asked"]["maze.direct"] |= {"tasks": "maze"}
    folder.run_file.write_text(json.dumps(about))
    words = _command(card(RunFolder(folder.path), "run"))
    assert words[2] == "`$(rm -rf ~)`; rm -rf ~", "one word to a shell, whatever it holds"


def test_the_card_is_written_to_its_path_with_links_from_there(tmp_path: Path) -> None:
    sketchmark.run("player/solver", "maze", limit=2, output_path=tmp_path / "runs/a", no_cache=True)
    (tmp_path / "notes").mkdir()
    done = cli("card", "runs/a", "--output_path", "notes/CARD.md", cwd=tmp_path)
    assert done.returncode == 0 and "written to notes/CARD.md" in done.stdout
    assert "[run.json](<../runs/a/run.json>)" in (tmp_path / "notes/CARD.md").read_text()
    (tmp_path / "link.md").symlink_to("notes/CARD.md")
    (tmp_path / "notes/CARD.md").write_text("")
    assert cli("card", "runs/a", "-o", "link.md", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.md").is_symlink() and (tmp_path / "notes/CARD.md").read_text(), "written into, not over"
    done = cli("card", "notes", cwd=tmp_path)
    assert done.returncode == 2 and "is not a run folder" in done.stderr and "Traceback" not in done.stderr
