"""What a release carries beside the code says the same as the code."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner

from sketchmark import __version__
from sketchmark.cli import root

ROOT = Path(__file__).parents[2]


def test_the_citation_names_this_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == __version__


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.name)
def test_what_runs_at_a_release_exists(path: Path) -> None:
    """A workflow that calls `make dist` needs that target."""
    file = yaml.safe_load(path.read_text("utf-8"))
    made = {line.partition(":")[0] for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if ":" in line}
    for job in file.get("jobs", {}).values():
        for step in job["steps"]:
            words = step.get("run", "").split()
            if words[:1] == ["make"]:
                assert words[1] in made
            if words[:1] == ["bash"]:
                assert (ROOT / words[1]).is_file()


_OF_THE_CLONE = re.compile(r"\b(?:docs|examples)/|README|CONTRIBUTING")
"""Files that a wheel does not have."""


def _commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        yield (*before, name)
        if isinstance(found, click.Group):
            yield from _commands(found, (*before, name))


@pytest.mark.parametrize(
    "typed",
    [
        ("--help",),
        *((*names, "--help") for names in _commands(root)),
        *(("list", what, "--json") for what in ("tasks", "models", "worlds")),
    ],
    ids=" ".join,
)
def test_what_is_told_sends_nobody_to_a_file_that_a_wheel_has_not(typed: tuple[str, ...]) -> None:
    told = CliRunner().invoke(root, typed)
    assert told.exit_code == 0 and len(told.output) > 100
    assert not _OF_THE_CLONE.findall(told.output)
    assert "  # " not in told.output, "a line that is pasted into zsh takes its remark for arguments"


def test_no_message_sends_anybody_to_a_file_that_a_wheel_has_not() -> None:
    """Docstrings and comments are for who has the clone; every other text of the code may be printed."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        if "docs/" not in (source := path.read_text("utf-8")):
            continue
        tree = ast.parse(source)
        unprinted = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in unprinted:
                assert "docs/" not in node.value, f"{path}:{node.lineno}: {node.value}"


def test_the_root_of_the_site_leads_to_its_front_page() -> None:
    folder = ROOT / "docs/site"
    conf = runpy.run_path(str(folder / "conf.py"))
    (page,) = [folder / extra / "index.html" for extra in conf["html_extra_path"]]
    assert set(re.findall(r'(?:url|href)="?=?([^">]+)', page.read_text("utf-8"))) == {f"{conf['root_doc']}.html"}
    assert (ROOT / f"{conf['root_doc']}.md").is_file()


@pytest.mark.parametrize(("user", "told"), [("0", "Installing Chromium"), ("1000", "No Chromium here")])
def test_a_browser_that_cannot_be_installed_is_said_and_hinders_no_test(tmp_path: Path, user: str, told: str) -> None:
    for name, body in {"apt-get": "exit 100", "id": f"echo {user}"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    make = shutil.which("make")
    assert make
    done = subprocess.run([make, "-C", ROOT, "browser"], env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout and "No Chromium here: the tests in a browser are skipped" in done.stdout
