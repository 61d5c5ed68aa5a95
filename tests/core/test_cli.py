from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner
from rich.cells import cell_len

from sketchmark.cli import main, root
from sketchmark.folder.lock import RunLock
from tests.command_line import sketchmark

HEAVY = ("numpy", "PIL", "rich", "yaml", "starlette", "uvicorn", "openai", "torch", "reportlab", "nltk", "datasets")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom sketchmark.cli import root\n"
        "try:\n    root.main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for command in ("run", "score", "list", "show", "demo", "view", "compare", "export", "serve", "voila"):
        assert f"\n  {command} " in done.stdout


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield f"{path}{name}", found
        if isinstance(found, click.Group):
            yield from commands(found, f"{path}{name} ")


def test_no_help_is_cut_or_wider_than_eighty_columns() -> None:
    shown = {"": root, **dict(commands(root))}
    for name in shown:
        text = CliRunner(env={"COLUMNS": "80"}).invoke(root, [*name.split(), "--help"]).output
        assert max(map(cell_len, text.splitlines())) <= 80, name
        assert "…" not in text.replace("=…", "").replace(",…", ""), name
        assert not re.search(r"\w\.\.\.$", text.partition("Commands:")[2], re.MULTILINE), name
    text = CliRunner(env={"COLUMNS": "80"}).invoke(root, ["--help"]).output
    groups = ["Run:", "Look:", "Share:", "Make:", "Maintain:"]
    assert [line for line in text.splitlines() if line in groups] == groups


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("viw runs", "did you mean `sketchmark view`?"),
        ("leaderboard", "did you mean `sketchmark compare runs`?"),
        ("help run", "type: sketchmark run --help"),
        ("help", "type: sketchmark --help"),
        ("version", "did you mean `sketchmark --version`?"),
        ("scorefile", "did you mean `sketchmark score-file`?"),
        ("qqqqq", "`sketchmark --help` lists all commands"),
        ("--model player/solver --tasks maze", "type: sketchmark run --model player/solver --tasks maze"),
        ("--model_args=a=b", "type: sketchmark run --model_args=a=b"),
        ("-t maze", "type: sketchmark run -t maze"),
        ("run -m gpt-4o -t maze", "did you mean openai/gpt-4o?"),
        ("run -m claude-sonnet-5 -t maze", "did you mean anthropic/claude-sonnet-5?"),
        ("run -m Qwen/Qwen2.5-VL-7B -t maze", "did you mean hf/Qwen/Qwen2.5-VL-7B?"),
        ("run -m openi/gpt-4o -t maze", "did you mean openai?"),
    ],
)
def test_a_near_miss_gets_what_to_type(typed: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    lines = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and len(lines) == 1 and lines[0].endswith(f"({told})")


@pytest.mark.parametrize(
    ("words", "typed", "offered"),
    [
        (["run", "--tasks"], "maze,sli", {"maze,sliding", "maze,sliding_hard"}),
        (["run", "--model"], "player/so", {"player/solver"}),
        (["run", "-m"], "open", {"openai/", "openai_compatible/"}),
        (["run", "--mode"], "direct,v", {"direct,visual_cot"}),
        (["run", "--canvas"], "own,b", {"own,blank"}),
        (["compare"], "runs/", {"runs/a", "runs/deep/b"}),
        (["compare", "runs/a"], "runs/d", {"runs/deep/b"}),
        *(([command], "runs/a", {"runs/a"}) for command in ("report", "plot", "card", "export")),
    ],
)
def test_values_complete(
    words: list[str], typed: str, offered: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "deep/b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    found = BashComplete(root, {}, "sketchmark", "_SKETCHMARK_COMPLETE").get_completions(words, typed)
    assert {one.value for one in found} == offered


def test_list_without_arguments_lists_tasks_and_first_those_without_data() -> None:
    lines = CliRunner(env={"COLUMNS": "80"}).invoke(root, ["list"]).output.splitlines()
    assert lines[0] == "worlds (direct, visual_cot, text_cot, text_input): generated, no data needed"
    assert lines == CliRunner(env={"COLUMNS": "80"}).invoke(root, ["list", "tasks"]).output.splitlines()
    first = next(line for line in lines if line.endswith("needs data"))
    assert lines.index(first) > max(place for place, line in enumerate(lines) if "generated" in line)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--model", "player/solver", "--tasks", "mazze"), "did you mean maze"),
        (("run", "--model", "plaier/solver", "--tasks", "maze"), "did you mean player"),
        (("run", "--model", "player/solver", "--tasks", "maze", "--mode", "visual"), "it has: direct"),
        (("run", "--model", "player/solver", "--tasks", "maze", "--model_args", "seed"), "key=value"),
        (
            ("run", "--model", "player/solver", "--tasks", "maze", "--task_args", "rows=2,cols=2,min_steps=50"),
            "steps",
        ),
        (("run", "--model", "player/solver", "--tasks", "maze", "--model_args", "api_key=sk-1"), "api_key"),
        (("run", "--model", "player/solver", "--tasks", "maze", "--task_args", "rows=many"), "rows=many is not"),
        (("run", "--model", "player/sketcher", "--tasks", "maze", "--model_args", "lookahead=x"), "lookahead=x"),
        (("run", "--model", "player/sketcher", "--tasks", "maze", "--model_args", "hand_error=5"), "hand_error=5"),
        (("run", "--model", "player/solver", "--tasks", "maze", "--model_args", "look=1"), "it takes: seed"),
        (("run", "--model", "player/solver", "--tasks", "maze", "-o", "/proc/none"), "/proc/none"),
        (("run", "--model", "player/solver", "--tasks", "maze", "-o", "/dev/null"), "/dev/null"),
        (("run", "--model", "player/solver", "--tasks", "maze", "--cache", "/proc/none"), "--no-cache"),
        (("score", "nowhere"), "not a run folder"),
        (("show", "mazze"), "did you mean"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = sketchmark(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_run_prints_its_table_and_where_things_are(tmp_path: Path) -> None:
    arguments = "run --model player/sketcher --tasks maze --mode direct,visual_cot --limit 6 --output_path out"
    done = sketchmark(*arguments.split(), "--log_samples", "--batch_size", "", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for expected in ("direct  drawn   gain", "Whether drawing helps is unclear on maze: ", "out", "report.html"):
        assert expected in done.stdout
    assert (tmp_path / "out/report.html").exists()
    assert json.loads((tmp_path / "out/results.json").read_text())["tasks"]["maze.direct"]["n"] == 6


def test_an_episode_that_fails_makes_the_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "from sketchmark import Model\n\nclass Broken(Model):\n"
        "    async def say(self, context, options):\n        raise OSError('no line')\n"
    )
    done = sketchmark(
        "run", "--include", "broken.py", "--model", "broken", "--tasks", "maze", "--limit=2", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "2 episodes failed by an exception in code (-v prints where); fix the adapter" in done.stderr
    told = sketchmark("run", "--include", "broken.py", "--model", "broken", "--tasks", "maze", "--limit=2", "-v",
                      "--log-file", "log.txt", cwd=tmp_path)  # fmt: skip
    assert "    broken.py, line 5, in say: raise OSError('no line')" in told.stderr.splitlines()
    kept = (tmp_path / "log.txt").read_text()
    assert all(line in kept for line in told.stderr.splitlines())
    line = json.loads((tmp_path / "runs/broken/episodes/maze.direct.jsonl").read_text().splitlines()[-1])
    assert line["failure"]["traceback"].endswith("broken.py, line 5, in say: raise OSError('no line')")


def test_what_the_model_failed_is_a_result_and_no_failure_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "shy.py").write_text(
        "from sketchmark import Model, Reply\n\nclass Shy(Model):\n"
        "    async def say(self, context, options):\n        return Reply('left')\n"
        "    async def draw(self, context, options):\n        return Reply('no')\n"
    )
    asked = ("--include", "shy.py", "--model", "shy", "--tasks", "maze", "--limit=2", "--mode", "visual_cot")
    done = sketchmark("run", *asked, cwd=tmp_path)
    assert done.returncode == 0 and "no_picture 2 (by the model itself, scored as wrong)" in done.stderr
    assert "not one drawing came; `sketchmark doctor --model " in done.stderr
    assert "run again" not in done.stderr and "--retry-failed" not in done.stderr
    assert "maze.visual_cot: 2 episodes, 0 failed" in done.stderr and "no_picture 2" in done.stdout


def test_an_episode_that_could_not_be_scored_makes_the_exit_code_1_until_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "one.yaml").write_text(
        'source: {use: "one:samples"}\nmodes: {direct: {prompts: {inputs: [hello]}}}\nscorers: ["one:score"]\n'
        "headline: right\n"
    )
    code = "from sketchmark import Sample, Scores\n\ndef samples(*, seed, data):\n    yield Sample('a')\n\n"
    (folder / "one.py").write_text(code + "def score(sample, episode, grading):\n    return 1 / 0\n")
    arguments = ("run", "--include", "own", "--trust-code", "--tasks", "one", "--model", "player/random")
    broken = sketchmark(*arguments, cwd=tmp_path)
    assert broken.returncode == 1 and "1 episodes could not be scored" in broken.stderr
    assert "scorer_failed 1, the first: a: ZeroDivisionError: division by zero" in broken.stderr
    assert "one.direct: no score is shown: 1 scorer failure" in broken.stdout
    again = sketchmark("score", "runs/player-random", "--include", "own", "--trust-code", cwd=tmp_path)
    assert again.returncode == 1 and "no score is shown: 1 scorer failure" in again.stderr
    (folder / "one.py").write_text(
        code + "def score(sample, episode, grading):\n    return Scores({'right': 1.0}) # mended\n"
    )
    assert sketchmark(*arguments, cwd=tmp_path).returncode == 0


def test_a_batch_size_of_one_suits_every_model(tmp_path: Path) -> None:
    arguments = "run --model player/solver --tasks maze --limit 2 --batch_size 1"
    assert sketchmark(*arguments.split(), cwd=tmp_path).returncode == 0


def test_a_dry_run_needs_no_key_and_bounds_what_the_run_charges(tmp_path: Path) -> None:
    priced = ("--prices", str(Path(__file__).parents[2] / "examples/prices.yaml"))
    keyless = sketchmark("run", "-m", "openai/gpt-4o", "-t", "maze", "--limit=2", *priced, "--dry-run", cwd=tmp_path)
    assert keyless.returncode == 0 and "total" in keyless.stdout
    refused = sketchmark("run", "-m", "openai/gpt-4o", "-t", "maze", "--limit=2", *priced, cwd=tmp_path)
    assert refused.returncode == 2 and "OPENAI_API_KEY is not set" in refused.stderr
    asked = "run -m player/sketcher -t maze --mode visual_cot --canvas own,blank,other --limit 6 --engine local"
    dry = sketchmark(*asked.split(), *priced, "--dry-run", cwd=tmp_path)
    done = sketchmark(*asked.split(), *priced, cwd=tmp_path)
    charged = float(re.search(r"cost: +(\S+) now", done.stdout)[1])  # type: ignore[index]
    text = " ".join(dry.stdout.split())
    most, images = map(float, re.search(r"Of (\S+), (\S+) is for images", text).groups())  # type: ignore[union-attr]
    free = float(re.search(r"of the calls, (\S+) of the cost, repeat others", text)[1])  # type: ignore[index]
    assert free > 0 and images - free <= charged <= most


def test_a_dry_run_counts_and_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    arguments = "run --model player/solver --tasks jigsaw --mode direct,visual_cot --limit 3 --dry-run"
    done = sketchmark(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 0
    row = next(line for line in done.stdout.splitlines() if "jigsaw.visual_cot" in line)
    assert row.split()[1:5] == ["3", "9", "36", "6"]
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_run_writes_hardly_more_than_it_keeps(tmp_path: Path) -> None:
    """Bytes that the process handed to write(2), against the bytes in the run folder and the cache."""
    code = (
        "import sys\nfrom sketchmark.cli import root\n"
        "try:\n    root.main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print('\\nWROTE', open('/proc/self/io').read().split('wchar: ')[1].split()[0])"
    )
    arguments = "run --model player/solver --tasks maze --mode direct,visual_cot --limit 40 --quiet --engine local"
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, *arguments.split(), "-o", "out", "--cache", "cache"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    kept = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    wrote = int(done.stdout.split("WROTE")[1])
    assert wrote <= 1.1 * kept, (wrote, kept)


def test_two_processes_do_not_share_a_run_folder(tmp_path: Path) -> None:
    lock = RunLock(tmp_path / "out")
    done = sketchmark("run", "--model", "player/solver", "--tasks", "maze", "--output_path", "out", cwd=tmp_path)
    lock.release()
    assert done.returncode == 2 and "another process" in done.stderr


def test_a_run_may_be_scored_by_several_rules_at_once(tmp_path: Path) -> None:
    (tmp_path / "loose.py").write_text(
        "from sketchmark import Model, Reply\n\nclass Loose(Model):\n"
        "    async def say(self, context, options):\n        return Reply(text='up it is: [\"up\"]')\n"
    )
    arguments = "run --include loose.py --model loose --tasks maze --limit 2 --scoring official,lenient -o out"
    done = sketchmark(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cell = json.loads((tmp_path / "out/results.json").read_text())["tasks"]["maze.direct"]
    assert cell["failures"] == {"unparsed": 2}
    assert cell["scorings"]["lenient"]["failures"] == {}
