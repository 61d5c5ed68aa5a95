"""Addresses and keys of untrusted origin: what tells two servers apart, what may be sent where, what is written."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import sketchmark
from sketchmark import Model, Options, Reply
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, RunConflict
from sketchmark.media import Picture
from sketchmark.models import load_model, own_variables
from sketchmark.models.cache import call_key
from sketchmark.models.providers.batch import connect
from sketchmark.secrets import address_digest, redact, remember, without_credentials
from sketchmark.settings.run_file import read_suite
from sketchmark.suites import prepare_all
from tests.media.test_broken_pictures import chunk
from tests.models.fake_server import DRAWN, KEY, FarEnd, chat_answer, in_base64
from tests.tabled import tabled

# Two addresses are two models


@tabled
@pytest.mark.parametrize("provider", ["openai/m", "anthropic/m", "gemini/m", "bagel/m", "azure/m"])
def test_addresses_that_differ_only_in_what_is_hidden_are_two_models(
    far: FarEnd, provider: str, one: str, two: str
) -> None:
    name = "azure_endpoint" if provider.startswith("azure") else "base_url"
    models = [load_model(provider, {name: address}) for address in (one, two, one)]
    first, second, again = (model.identity() for model in models)
    assert first != second and first == again
    keys = {call_key(model, "say", of("?"), Options()) for model in models}
    assert len(keys) == 2
    written = json.dumps([first, second, *(dict(model.arguments) for model in models)])
    assert not re.search(r"deployment|word-|ada|eve|0123456789abcdef0", written)


@pytest.mark.parametrize("address", ["http://h/v1", "https://h:8000/v1/", "http://[::1]:8000/v1"])
def test_an_address_without_secrets_is_known_as_before(far: FarEnd, address: str) -> None:
    assert address_digest(address) == ""
    assert "base_url_digest" not in load_model("openai/m", {"base_url": address}).identity()


def test_a_digest_does_not_follow_from_the_shown_part_and_covers_every_server() -> None:
    found = {address_digest(f"http://{host}/v1?d=a") for host in ("h", "i")}
    found |= {address_digest("http://h/v1|http://i/v1?d=a"), address_digest("http://h/v1|http://i/v1?d=b")}
    assert len(found) == 4 and all(re.fullmatch("[0-9a-f]{16}", one) for one in found)


def test_a_model_of_a_plug_in_is_told_apart_by_its_whole_address(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(
        "from sketchmark import Model, Reply\n\nclass Far(Model):\n"
        "    def __init__(self, name='', base_url=''):\n        super().__init__(name)\n\n"
        "    async def say(self, context, options):\n        return Reply('left')\n"
    )
    for deployment in ("a", "b"):
        asked: dict[str, Any] = {"include": tmp_path / "far.py", "limit": 1, "cache": tmp_path / "cache"}
        asked |= {"output_path": tmp_path / "run", "model_args": {"base_url": f"http://h/v1?deployment={deployment}"}}
        if deployment == "a":
            sketchmark.run("far", "maze", **asked)
            continue
        with pytest.raises(RunConflict, match="base_url_digest"):
            sketchmark.run("far", "maze", **asked)
    assert "deployment" not in (tmp_path / "run/run.json").read_text()


def test_several_servers_may_differ_in_their_query_only(far: FarEnd) -> None:
    both = "http://h/v1?deployment=a|http://h/v1?deployment=b"
    assert type(load_model("openai/m", {"base_url": both})).__name__ == "Several"
    with pytest.raises(BadInput, match="names a server twice"):
        load_model("openai/m", {"base_url": "http://h/v1?d=a|http://h/v1?d=a"})


def test_a_batch_job_belongs_to_the_whole_address(far: FarEnd) -> None:
    servers = [connect("openai/m", {"base_url": f"http://h/v1{query}"}).server for query in ("", "?d=a", "?d=b")]
    assert servers[0] == "http://h/v1" and len(set(servers)) == 3 and all("d=" not in one for one in servers)


# Variables that a run file names


def suite(folder: Path, text: str, **over: Any) -> Any:
    (folder / "suite.yaml").write_text(text)
    return prepare_all(read_suite(folder / "suite.yaml", **over))


FOREIGN = [
    ("openai/m", "api_key_env: AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY"),
    ("openai/m", "api_key_env: ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
    ("openai/m", 'api_key_env: "OPENAI_API_KEY|HOME"', "HOME"),
    ("openai/m", "api_key_env: openai_api_key", "openai_api_key"),
    ("openai_compatible/m", "api_key_env: GH_TOKEN", "GH_TOKEN"),
    ("gemini/m", "api_key_env: OPENAI_API_KEY", "OPENAI_API_KEY"),
    ("azure/m", "api_key_env: PATH", "PATH"),
    ("bagel/m", "api_key_env: PATH", "PATH"),
    ("mine/m", "token_env: GH_TOKEN", "GH_TOKEN"),
]


@pytest.mark.parametrize(("model", "argument", "variable"), FOREIGN)
@pytest.mark.parametrize("place", ["model", "judge"])
def test_a_run_file_may_not_name_another_services_variable(
    far: FarEnd, tmp_path: Path, model: str, argument: str, variable: str, place: str
) -> None:
    where = f"base_url: {far.url}/v1, azure_endpoint: {far.url}"
    text = f"models:\n  - model: {model}\n    model_args: {{{where}, {argument}}}\ntasks: maze\n"
    if place == "judge":
        text = f"models: [player/solver]\ntasks: maze\njudge: {model}\njudge_args: {{{where}, {argument}}}\n"
    with pytest.raises(BadInput, match=rf"line [34]: .* names the variable {variable}, .*--allow-env {variable} on"):
        suite(tmp_path, text)
    assert far.seen == []
    (other,) = [one for one in suite(tmp_path, text, allow_env=variable) if one] or [None]
    assert other is not None, "the person who starts the run may allow it"


@pytest.mark.parametrize("model", ["openai/m", "openai_compatible/m", "gemini/m", "anthropic/m", "bagel/m"])
def test_a_run_file_may_name_its_providers_own_variable(far: FarEnd, tmp_path: Path, model: str) -> None:
    (variable, *_) = own_variables(model)
    text = (
        f"models: [{{model: {model}, model_args: {{base_url: {far.url}/v1, api_key_env: {variable}}}}}]\ntasks: maze"
    )
    assert suite(tmp_path, text)[0].errors == []


@pytest.mark.parametrize("key", ["allow_env: HOME", "allow-env: HOME"])
def test_a_run_file_cannot_allow_itself(tmp_path: Path, key: str) -> None:
    with pytest.raises(BadInput, match=r"is not for a run file to say|unknown key"):
        suite(tmp_path, f"models: [player/solver]\ntasks: maze\n{key}\n")


# Keys in images, user names


def png(**places: bytes) -> bytes:
    """An image with texts in the places that PNG has for them, and behind its end."""
    data = Picture.from_image(Image.new("RGB", (4, 4), "red")).data
    head, tail = data[:33], data[33:]
    end = tail.index(b"IEND") - 4
    return (
        head
        + places.get("before", b"")
        + tail[:end]
        + places.get("after", b"")
        + tail[end:]
        + places.get("behind", b"")
    )


PLANTED: dict[str, Callable[[bytes], bytes]] = {
    "text": lambda key: png(before=chunk(b"tEXt", b"Comment\0" + key)),
    "late text": lambda key: png(after=chunk(b"tEXt", b"Comment\0" + key)),
    "packed text": lambda key: png(before=chunk(b"zTXt", b"Comment\0\0" + zlib.compress(key * 9))),
    "late packed text": lambda key: png(after=chunk(b"zTXt", b"Comment\0\0" + zlib.compress(key * 9))),
    "international": lambda key: png(before=chunk(b"iTXt", b"Comment\0\1\0\0\0" + zlib.compress(key * 9))),
    "unknown chunk": lambda key: png(before=chunk(b"kEYs", key)),
    "wide": lambda key: png(before=chunk(b"eXIf", key.decode().encode("utf-16-le"))),
    "behind the end": lambda key: png(behind=key),
    "name of a chunk's text": lambda key: png(before=chunk(b"tEXt", key[:60] + b"\0x")),
}


@pytest.mark.parametrize("place", PLANTED)
def test_a_key_in_the_file_of_a_drawing_reaches_no_disk(far: FarEnd, tmp_path: Path, place: str) -> None:
    drawn = Picture.from_bytes(PLANTED[place](KEY.encode()))
    content = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{in_base64(drawn)}"}}]
    far.answer = lambda seen: chat_answer(
        {"role": "assistant", "content": content if "modalities" in seen.body else "up"}
    )
    folder = sketchmark.run(
        "openai/m", "maze", mode="visual_cot", limit=1, output_path=tmp_path / "run", cache=tmp_path / "cache",
        model_args={"base_url": f"{far.url}/v1"},
    ).folder  # fmt: skip
    [(_, episode)] = folder.played("maze.visual_cot")
    assert episode.drawings and episode.drawings[0].pixel_digest == drawn.pixel_digest
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert KEY.encode() not in path.read_bytes(), path
    for path in tmp_path.rglob("*.png"):
        assert not Picture.from_bytes(path.read_bytes())._packed_text_holds_key()


def test_an_image_without_a_key_keeps_its_bytes_and_one_that_is_broken_is_dropped() -> None:
    plain = Picture.from_bytes(png(before=chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"hello")), behind=b"more"))
    assert Reply(picture=plain).picture is plain and Reply(picture=DRAWN).picture is DRAWN
    remember(KEY)
    assert Reply(picture=Picture(struct.pack(">8s", b"\x89PNG\r\n\x1a\n") + KEY.encode(), "png")).picture is None


@tabled
def test_a_user_name_of_an_address_is_hidden_where_it_is_echoed(address: str, echo: str) -> None:
    without_credentials(address)
    assert redact(f"no such user: {echo}, try again") == "no such user: [key], try again"
    assert redact("Canada has users") == "Canada has users"


class Echo(Model):
    async def say(self, context: Any, options: Any) -> Reply:
        return Reply("hello planted-user")


async def test_a_reply_that_echoes_the_user_name_is_hidden(far: FarEnd) -> None:
    without_credentials("http://planted-user:x@h/v1")
    assert (await Echo("e").say(of("?"), Options())).text == "hello [key]"
