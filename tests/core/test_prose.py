"""The counter of tics, `tools/prose`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.prose import TICS, hits_in, main, read_allowed


def _cures(name: str, text: str, allowed: str = "") -> list[str]:
    return [TICS[hit.tic][2] for hit in hits_in(Path(name), text, read_allowed(allowed))]


@pytest.mark.parametrize(
    ("name", "text", "cure"),
    [
        ("a.py", '"""What it is."""', "noun phrase"),
        ("a.py", "x = 1  # nobody knows", "name the actor"),
        ("a.py", "# a file\n# a sample is written", "per"),
        ("a.py", 'raise E(f"{name} is no " f"number")', "is not a"),
        ("a.py", "# one; two; three", "split"),
        ("a.md", "A task is\nplayed.", "run"),
        ("a.yaml", "about: How it is played\nmodes: {}", "run"),
        ("a.yaml", "modes: {}  # played", "run"),
        ("a.js", "const title = 'Nothing was played';", "run"),
        ("a.js", "// beside it", "next to, with"),
        ("a.css", "/* the bar beside it */", "next to, with"),
        ("a.html", "<p>The run is playing</p>", "run"),
    ],
)
def test_a_planted_tic_is_found(name: str, text: str, cure: str) -> None:
    assert _cures(name, text) == [cure]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "play = told(beside)"),
        ("a.py", 'key = "beside"'),
        ("a.py", 'pattern = re.compile(r"he (stands|lies)")'),
        ("a.py", "# `play` calls PreparedRun.play, play() and runs/episodes.py; the model is player/solver"),
        ("a.py", '"""Run it with --play, see _play.yaml."""'),
        ("a.md", "Text.\n```sh\nnobody told him\n```\n"),
        ("a.md", "See [the page](play/alone.md)."),
        ("a.js", "const beside = play['alone'];"),
    ],
)
def test_code_does_not_count(name: str, text: str) -> None:
    assert _cures(name, text) == []


def test_published_prompts_do_not_count() -> None:
    text = (
        "modes:\n  direct:\n    prompts:\n      ask: |-\n        # Told alone; he plays; nobody.\n      x: played\n"
    )
    assert _cures("a.yaml", text) == []


def test_a_checked_exception_covers_its_own_text_only() -> None:
    assert _cures("a.md", "playing soccer, playing chess", "# people\nplaying soccer\n") == ["run"]
    assert _cures("a.md", "playing soccer, playing chess", r"/playing \w+/") == []


def test_more_hits_than_the_limit_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text("Nobody knows.\nIt was told.\n", "utf-8")
    assert main([str(page), "--limit", "2"]) == 0
    assert main([str(page), "--limit", "1", "--list", "--top"]) == 1
    assert f"{page}:2: It was told.  ← " in capsys.readouterr().out
