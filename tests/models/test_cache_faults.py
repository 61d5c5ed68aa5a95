"""Calls are counted, priced and cached; a cache that cannot be written or read costs nothing but the cache."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput
from sketchmark.models.cache import Cached, CallCache, default_cache, with_cache
from sketchmark.models.wrappers import CallCount, CountedModel, Price, price_of, together
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
def test_a_full_disk_costs_no_reply_and_is_reported_in_one_line(tmp_path: Path, room: int) -> None:
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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_named_cache_that_is_read_only_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="cannot be written to"):
        with_cache(Speaker(), tmp_path)


def test_the_cache_keeps_the_record_and_plain_replies_have_no_field_for_it(tmp_path: Path) -> None:
    cache = CallCache(tmp_path)
    cache.put("a", Reply("Left.", native='[{"id":"rs_1"}]'))
    cache.put("b", Reply("Left."))
    kept = cache.get("a")
    assert kept and kept.native == '[{"id":"rs_1"}]'
    texts = [path.read_text("utf-8") for path in sorted(tmp_path.rglob("*.json"))]
    assert ["native" in text for text in texts] == [True, False]


# Counts


class Teller(Model):
    def __init__(self, tally: CallCount) -> None:
        super().__init__("teller")
        self.tally = tally
        self.seen: list[int] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.seen.append(self.tally.under_way)
        if context.texts[0] == "break":
            raise OSError("no line, sk-planted-0123456789abcdef")
        return Reply("yes", usage=Usage(tokens_in=10, tokens_out=3))

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(usage=Usage(tokens_in=1, tokens_out=2, pictures_out=1))


async def test_calls_tokens_and_images_are_added_up_and_cache_hits_are_separate(tmp_path: Path) -> None:
    tally = CallCount()
    teller = Teller(tally)
    model = CountedModel(with_cache(teller, tmp_path), tally)
    for _ in range(3):
        await model.say(of("a"), Options())
    await model.draw(of("b"), Options())
    assert (tally.answered, tally.from_cache, tally.under_way, teller.seen) == (2, 2, 0, [1])
    assert tally.usage == {"tokens_in": 11, "tokens_out": 5, "pictures_out": 1}
    assert model.identity() == teller.identity() and model.abilities == teller.abilities


async def test_an_error_is_kept_without_keys_until_the_next_reply() -> None:
    tally = CallCount()
    model = CountedModel(Teller(tally), tally)
    with pytest.raises(OSError, match="no line"):
        await model.say(of("break"), Options())
    assert (tally.error, tally.silent, tally.under_way) == ("no line, [key]", 1, 0)
    await model.say(of("a"), Options())
    assert (tally.silent, tally.error) == (0, "no line, [key]")


def test_tallies_are_summed() -> None:
    one = CallCount(under_way=2, answered=5, tokens_in=7, error="slow", silent=0)
    other = CallCount(under_way=1, answered=1, retries=3, error="dead", silent=4)
    total = together([one, other])
    assert (total.under_way, total.answered, total.tokens_in, total.retries) == (3, 6, 7, 3)
    assert (total.error, total.silent) == ("dead", 4)
    assert together([]) == CallCount()


# Prices


TABLE = "openai/gpt-4o: {input: 2.5, output: 10}\nopenai/gpt-image-2: {picture: 0.04}\n"


def price(tmp_path: Path, text: str, model: str = "m") -> Price:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    found = price_of(path, model)
    assert isinstance(found, Price)
    return found


def test_tokens_cost_by_the_million_and_pictures_by_the_piece(tmp_path: Path) -> None:
    assert price(tmp_path, TABLE, "openai/gpt-4o")(asdict(Usage(2_000_000, 100_000))) == pytest.approx(6.0)
    assert price(tmp_path, TABLE, "openai/gpt-image-2")(asdict(Usage(500, 9, pictures_out=3))) == pytest.approx(0.12)


def test_a_model_without_a_price_is_refused_not_taken_as_free(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no entry 'gemini/x' .*openai/gpt-4o"):
        price(tmp_path, TABLE, "gemini/x")


@pytest.mark.parametrize(
    "text", ["- a", ":[", "m: 3", "m: {input: cheap}", "m: {inputs: 1}", "m: {input: -1}", "m: {input: .nan}"]
)
def test_a_table_that_is_not_one_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="price table"):
        price(tmp_path, text)


def test_a_run_file_is_a_table_by_its_prices_and_what_it_names_is_not_followed(tmp_path: Path) -> None:
    file = "models: [m]\ntasks: maze\n"
    assert price(tmp_path, f"{file}prices: {{m: {{picture: 2}}}}") == Price(picture=2)
    with pytest.raises(BadInput, match=r"has no entry 'm' \(it has: n\)"):
        price(tmp_path, f"{file}prices: {{n: {{picture: 2}}}}")
    with pytest.raises(BadInput, match="has no table of prices"):
        price(tmp_path, file)
    (tmp_path / "own.yaml").write_text("m: {picture: 2}")
    with pytest.raises(BadInput, match=r"names its price table: own.yaml \(give that file instead"):
        price(tmp_path, f"{file}prices: own.yaml")
