"""What a release carries beside the code says the same as the code."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sketchmark import __version__

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
