"""A cache that cannot be written or read costs nothing but the cache."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sketchmark
from sketchmark.episode.model import Options, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput
from sketchmark.models.cache import Cached, CallCache, default_cache, with_cache
from tests.runs.making import Speaker, colour

FULL = """
import asyncio, resource, sys
from pathlib import Path
from sketchmark.episode.model import Options
from sketchmark.models.cache import with_cache
from sketchmark.episode.sample import of
from tests.runs.making import Speaker

async def main():
    model = with_cache(Speaker(), Path(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    said = [(await model.say(of(text), Options())).text for text in "abc"]
    drawn = [(await model.draw(of(text), Options())).picture is not None for text in "ab"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await model.say(of("there is room again"), Options())
    print(said, drawn)

asyncio.run(main())
"""


@pytest.mark.parametrize("room", [0, 9], ids=["no byte more", "half a file"])
def test_a_full_disk_costs_no_reply_and_is_told_in_one_line(tmp_path: Path, room: int) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "cache"), str(room)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "['yes', 'yes', 'yes'] [True, True]\n"
    (line,) = ran.stderr.splitlines()
    assert "call cache" in line and "too large" in line and str(tmp_path / "cache") in line
    (kept,) = (tmp_path / "cache/calls").rglob("*.json")
    assert json.loads(kept.read_bytes())["text"] == "yes"


@pytest.mark.parametrize("blocked", ["calls", "pictures"])
async def test_a_file_where_a_folder_should_be_costs_no_drawing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, blocked: str
) -> None:
    model = with_cache(Speaker(), tmp_path)
    (tmp_path / blocked).write_text("in the way")
    for text in "abc":
        assert (await model.draw(of(text), Options())).picture == colour("blue")
    (told,) = caplog.messages
    assert "the call cache in" in told and "\n" not in told


async def test_a_reply_that_json_cannot_say_is_kept_as_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    odd = Reply("yes", raw={"score": float("nan")})
    model = Cached(Speaker(answer=lambda id: odd), CallCache(tmp_path))
    assert (await model.say(of("a"), Options())).text == "yes"
    kept = await model.say(of("a"), Options())
    assert kept.usage.calls == 0 and kept.raw == {"score": "NaN"} and caplog.messages == []


async def test_a_kept_reply_with_an_end_that_is_never_kept_is_asked_again(tmp_path: Path) -> None:
    inner = Speaker()
    model = Cached(inner, CallCache(tmp_path))
    await model.say(of("a"), Options())
    (entry,) = tmp_path.rglob("*.json")
    entry.write_text(entry.read_text().replace('"stop"', '"refused"'))
    assert (await model.say(of("a"), Options())).finish == "stop"
    assert len(inner.calls) == 2


def test_a_run_goes_on_without_the_default_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    sketchmark.run("player/solver", "maze", judge="player/solver", limit=2, output_path=tmp_path / "run")
    assert len((tmp_path / "run/episodes/maze.direct.jsonl").read_bytes().splitlines()) == 2
    (told,) = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert told.startswith(f"cannot keep a call cache in {default_cache()}: Not a directory")


def test_a_cache_that_somebody_named_and_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="cannot keep a call cache"):
        with_cache(Speaker(), tmp_path / "file/cache")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_named_cache_that_is_read_only_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="cannot be written to"):
        with_cache(Speaker(), tmp_path)
