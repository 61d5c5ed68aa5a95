"""Every line of the README, as a reader pastes it: in order, in a copy of the checkout, with a home of its own.

Three kinds of lines cannot be run as they stand, and are named here: those that would set up a second environment
(`make`, `pip install`), those that run until Ctrl-C, and those for which one needs a key or a data set. The README
marks the last two by the words before their block. Each is tried as far as it goes.

The lines are tried in bash. That zsh, in which an interactive line has no remarks and a pattern without a match is an
error, takes them alike is a rule about how they are written: those characters stand between quotes or not at all.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SETTINGS = (ROOT / "docs/settings.md").read_text("utf-8")
UNTIL = "Until Ctrl-C"
WITH = "With a key"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NEEDED = ("src", "docs", "examples", "pyproject.toml", "Makefile", "README.md", "LICENSE")


@dataclass(frozen=True)
class Line:
    """One line of a shell block, and the paragraph before it."""

    text: str
    before: str

    @property
    def kind(self) -> str:
        if re.match(r"(make|pip) ", self.text):
            return "sets up"
        if self.before.startswith(UNTIL):
            return "until Ctrl-C"
        return "needs something" if self.before.startswith(WITH) else "as it stands"


def shell_lines() -> list[Line]:
    found = []
    for block in _BLOCK.finditer(README):
        if block[1] in ("sh", "bash"):
            _, _, before = README[: block.start()].rstrip().rpartition("\n\n")
            found += [Line(line, before) for line in block[2].splitlines() if line.strip()]
    return found


LINES = shell_lines()


def of(kind: str) -> list[str]:
    return [line.text for line in LINES if line.kind == kind]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as a reader has it after `make demo`: its environment is the one that the tests run in."""
    folder = tmp_path_factory.mktemp("clone") / "sketchmark"
    folder.mkdir()
    for name in _NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def surroundings(copy: Path) -> dict[str, str]:
    """A home of its own, no keys, no hub; the package is that of the copy."""
    home = copy.parent / "home"
    home.mkdir(exist_ok=True)
    ours = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache"), "PYTHONPATH": str(copy / "src")}
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home / "hf"), "NO_COLOR": "1", "COLUMNS": "80"}
    return {"PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ['PATH']}", "LANG": "C.UTF-8", **ours, **quiet}


def typed(line: str, copy: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line],
        cwd=copy,
        env={**surroundings(copy), **more},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_code_block_is_of_a_kind_that_is_tried_here() -> None:
    assert {language for language, _ in _BLOCK.findall(README)} == {"sh", "python", "text"}
    assert len(README.splitlines()) <= 150 and "`make test`" in README and LINES[0].text == "make demo"
    outside = _BLOCK.sub("", README)
    assert not re.search(r"^( {4}|\t)", outside, re.MULTILINE), "an indented block is not looked at by these tests"
    assert "```" not in outside
    kinds = [line.kind for line in LINES]
    assert {kind: kinds.count(kind) for kind in kinds}.keys() == {
        "sets up",
        "as it stands",
        "until Ctrl-C",
        "needs something",
    }


@pytest.mark.parametrize("line", [line.text for line in LINES])
def test_a_line_means_the_same_to_zsh(line: str) -> None:
    bare = _QUOTED.sub("", line)
    assert not re.search(r"[#*?\[\]~^!]|(^|\s)=", bare), (
        "a remark goes into the words around it, a pattern into quotes"
    )


@pytest.mark.slow
def test_the_lines_that_need_nothing_work_as_pasted(copy: Path) -> None:
    """In one shell, as they stand, so that `. .venv/bin/activate` and what a line leaves behind hold for the next."""
    script = "".join(f'{line}\necho "<<$?>>"\n' for line in of("as it stands"))
    own = Path(sys.prefix) / "bin"
    path = ":".join(one for one in os.environ["PATH"].split(":") if Path(one) != own)  # the first lines put it there
    done = typed(f"exec 2>&1\n{script}", copy, PATH=path)
    told = re.findall(r"(.*?)<<(\d+)>>\n", done.stdout, re.DOTALL)
    assert len(told) == len(of("as it stands"))
    for line, (said, code) in zip(of("as it stands"), told, strict=True):
        assert code == "0" and "Traceback" not in said, f"{line}\n{said}"
    for left in ("runs/a/report.html", "runs/b/results.json", "runs/svg/results.json", "out/episodes.csv"):
        assert (copy / left).exists(), left
    (shown,) = [body for language, body in _BLOCK.findall(README) if language == "text"]
    assert shown in done.stdout, "the output in the README is what the line prints"
    assert not (copy.parent / "home" / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("line", of("until Ctrl-C"))
def test_a_server_answers_until_it_is_interrupted(copy: Path, line: str) -> None:
    command = shlex.split(line)
    (copy / "runs").mkdir(exist_ok=True)
    started = {**surroundings(copy), "BROWSER": "true", "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(
        command, cwd=copy, env=started, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert server.stdout is not None
    try:
        said = ""
        while not (address := re.search(r"http://127\.0\.0\.1:\d+\S*", said)):
            line_told = server.stdout.readline()
            assert line_told, f"{line} ended: {said}"
            said += line_told
        known = address[0] if "token" in address[0] else f"{address[0].rstrip('/')}/models"
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(known, timeout=60) as answer:
            assert answer.status == 200
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
    assert server.returncode in (0, 130)


@pytest.mark.parametrize("line", of("needs something"))
def test_what_needs_a_key_or_a_set_is_refused_for_that_alone(copy: Path, line: str) -> None:
    """Options, names and files are right, or the refusal would be another. Nothing is asked of anyone."""
    (copy / "replies.jsonl").write_text('{"id": "1", "response": "A"}\n')
    if "runs/a" in line:
        made = typed("sketchmark run --model player/sketcher --tasks maze --limit 1 -o runs/a -q", copy)
        assert made.returncode in (0, 2), made.stderr
    done = typed(line, copy)
    assert done.returncode == 2
    assert re.search(r"OPENAI_API_KEY is not set|give --data PATH|the hub", done.stderr), done.stderr
    if line.startswith("sketchmark run"):
        counted = typed(f"{line} --dry-run", copy)
        assert counted.returncode == 2 and re.search("hub", counted.stderr), counted.stderr


def test_what_sets_up_leads_to_what_it_says(copy: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for line in of("sets up"):
        words = shlex.split(line)
        if words[0] == "make":
            (target,) = words[1:]
            done = typed(f"make --dry-run {target}", copy)
            assert done.returncode == 0, done.stderr
            assert {"demo": "bin/sketchmark demo", "test": "bin/pytest"}[target] in done.stdout
        else:
            assert words[:3] == ["pip", "install", "-e"], line
            named = re.fullmatch(r"\.\[([\w,-]+)\]", words[3])
            assert named and set(named[1].split(",")) <= extras.keys(), line


@pytest.mark.slow
def test_the_lines_of_python_work_as_pasted(copy: Path) -> None:
    (code,) = [body for language, body in _BLOCK.findall(README) if language == "python"]
    *before, last = code.strip().splitlines()
    value, _, told = last.partition("  # ")
    shown = [*before, f"assert {value} == {told}, {value}"]
    done = typed(shlex.join([sys.executable, "-c", "\n".join(shown)]), copy)
    assert done.returncode == 0, done.stderr
    assert "No change seen on maze (100.0)." in done.stdout


def test_the_line_of_shell_completion_completes_commands_and_options(copy: Path) -> None:
    line = re.search(r'`(eval "\$\(_SKETCHMARK_COMPLETE=bash_source sketchmark\)")`', SETTINGS)
    assert line is not None
    for words, wanted in (("sketchmark comp", "compare"), ("sketchmark run --output-p", "--output-path")):
        typing = f"COMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _sketchmark_completion sketchmark"
        done = typed(f'{line[1]}\n{typing}\necho "${{COMPREPLY[@]}}"', copy)
        assert done.stdout.split() == [wanted], done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_there_for_every_shell_that_is_named(shell: str, copy: Path) -> None:
    asked = f"_SKETCHMARK_COMPLETE={shell}_source sketchmark"
    assert asked in SETTINGS
    done = typed(asked, copy)
    assert done.returncode == 0 and f"_SKETCHMARK_COMPLETE={shell}_complete" in done.stdout
