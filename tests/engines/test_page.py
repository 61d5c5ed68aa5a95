"""docs/scale.md: what it shows can be used as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml

from sketchmark.commands.run import run_command

PAGE = (Path(__file__).parents[2] / "docs/scale.md").read_text("utf-8")


def test_the_rayjob_is_yaml_and_its_entrypoint_a_command_of_ours() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    job = yaml.safe_load(block)
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    head, (workers,) = (
        job["spec"]["rayClusterSpec"]["headGroupSpec"],
        job["spec"]["rayClusterSpec"]["workerGroupSpecs"],
    )
    for group in (head, workers):
        (container,) = group["template"]["spec"]["containers"]
        assert container["image"] and container["resources"]["limits"]
    _parses(job["spec"]["entrypoint"])


def test_every_command_on_the_page_is_one_that_sketchmark_takes() -> None:
    plain = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL).replace("\\\n", " ")
    commands = re.findall(r"^ {4}.*?(sketchmark run .*)$", plain, re.MULTILINE)
    assert len(commands) == 6
    for line in commands:
        _parses(line)


def _parses(line: str) -> None:
    program, sub, *arguments = shlex.split(line)
    assert (program, sub) == ("sketchmark", "run")
    run_command.make_context("run", arguments, token_normalize_func=lambda token: token.replace("_", "-"))
