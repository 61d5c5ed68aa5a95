"""Keys are found where users keep them, and are found nowhere else afterwards."""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from sketchmark.episode.model import Model, Options
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.failures import BadReply
from sketchmark.models.http import Answer, read_object
from sketchmark.models.providers.anthropic import Anthropic
from sketchmark.models.providers.azure import Azure
from sketchmark.models.providers.gemini import Gemini
from sketchmark.models.providers.openai import OpenAI
from sketchmark.secrets import find_key, redact, remember, without_credentials
from tests.models.fake_server import KEY, FarEnd, Fault, anthropic_answer, chat_answer, gemini_answer


def test_the_environment_goes_before_the_env_file(far: FarEnd) -> None:
    Path(".env").write_text("OPENAI_API_KEY=from-the-file\n")
    assert find_key(["OPENAI_API_KEY"]) == KEY


@pytest.mark.parametrize(
    "line", ["MY_KEY=abcdefgh", "export MY_KEY=abcdefgh", 'MY_KEY="abcdefgh" # mine', "MY_KEY = abcdefgh # mine"]
)
def test_an_env_file_is_read_as_people_write_it(far: FarEnd, line: str) -> None:
    Path(".env").write_text(f"# keys\n\nOTHER=1\n{line}\n")
    assert find_key(["MY_KEY"]) == "abcdefgh"
    assert "MY_KEY" not in os.environ


def test_a_dollar_in_a_key_is_not_filled_in(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME_KEY", "from-elsewhere")
    Path(".env").write_text("MY_KEY=abc${HOME_KEY}def$x\n")
    assert find_key(["MY_KEY"]) == "abc${HOME_KEY}def$x"


def test_a_line_that_is_no_variable_does_not_hide_the_others(far: FarEnd) -> None:
    Path(".env").write_text("not a variable\nEMPTY=\nNAKED\nMY_KEY=abcdefgh\n")
    assert find_key(["EMPTY", "NAKED", "MY_KEY"]) == "abcdefgh"


def test_a_missing_or_unreadable_env_file_holds_no_key(far: FarEnd) -> None:
    assert find_key(["MY_KEY"]) is None
    Path(".env").write_bytes(b"\xff\xfe\x00")
    assert find_key(["MY_KEY"]) is None


def test_a_key_that_was_read_is_taken_out_of_any_text(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s/e+c=r et!")
    find_key(["MY_KEY"])
    assert redact("a s/e+c=r et! b s%2Fe%2Bc%3Dr%20et%21 c") == "a [key] b [key] c"


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "  ", "\t"])
def test_white_space_around_a_key_is_no_part_of_it(far: FarEnd, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setenv("MY_KEY", f" stray-space-key-1{end}")
    assert find_key(["MY_KEY"]) == "stray-space-key-1"
    monkeypatch.setenv("MY_KEY", end)
    Path(".env").write_text('MY_KEY="stray-space-key-2\\r\\n"\n')
    assert find_key(["MY_KEY"]) == "stray-space-key-2"


ODD = """k3y"'/+\\<&é\t~of=many_forms"""


@pytest.mark.parametrize(
    "spell",
    [
        str, repr, json.dumps, quote, quote_plus, html.escape,
        lambda key: quote(key, safe=""),
        lambda key: repr(key.encode()),
        lambda key: json.dumps(key, ensure_ascii=False),
        lambda key: repr(f"{key}\r\n"),
        lambda key: f"http://host/?key={quote(key)}&x=1",
        lambda key: base64.b64encode(key.encode()).decode(),
        lambda key: base64.b64encode(f"a{key}".encode()).decode(),
        lambda key: base64.b64encode(f"me:{key}".encode()).decode(),
        lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
        lambda key: base64.urlsafe_b64encode(f":{key}\n".encode()).decode(),
    ],
)  # fmt: skip
def test_a_key_is_taken_out_however_it_is_spelt(spell: Callable[[str], str]) -> None:
    """What may remain of it in base64 are the letters that it shares with its neighbours."""
    key = remember(ODD)
    hidden = redact(f"a {spell(key)} b")
    assert "[key]" in hidden
    assert "many" not in hidden and len(hidden) < len(spell(key)) + 4


def test_a_key_is_taken_out_of_a_reply_before_that_is_cut() -> None:
    remember("sk-0123456789abcdef0123")
    data = b"x" * 70 + b"sk-0123456789abcdef0123"
    with pytest.raises(BadReply) as told:
        read_object(Answer(200, {}, data, "http://127.0.0.1"))
    assert "x" * 70 in str(told.value) and "sk-0" not in str(told.value)


def test_a_url_is_written_down_without_its_credentials() -> None:
    assert without_credentials("https://u:pass-word@h:1/v1/?key=x#y") == "https://h:1/v1"
    assert redact("pass-word") == "[key]"


def adapters(far: FarEnd) -> list[Model]:
    return [
        OpenAI("m", base_url=f"{far.url}/v1", max_retries=0),
        Azure("m", azure_endpoint=far.url, max_retries=0),
        Gemini("m", base_url=far.url, max_retries=0),
        Anthropic("m", base_url=far.url, max_retries=0),
    ]


ECHO = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key", "key": KEY}}


async def test_a_planted_key_is_in_no_error_traceback_or_log(far: FarEnd, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for model in adapters(far):
        for status in (400, 401, 429, 500):
            far.faults = [Fault(status, body=ECHO, headers={"x-echo": KEY})]
            with pytest.raises(CallFailed) as caught:
                await model.say(of("Hm?"), Options())
            shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
            assert "[key]" in shown
            assert KEY not in shown
            assert caught.value.__context__ is None
    assert caplog.records
    assert KEY not in "\n".join(f"{record.getMessage()} {record.exc_text} {record.args}" for record in caplog.records)


async def test_a_planted_key_is_in_no_reply_identity_or_repr(far: FarEnd, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"Your key is {KEY}."
    chat = chat_answer({"role": "assistant", "content": said, "note": KEY})
    echoes = {
        "openai/m": chat,
        "azure/m": chat,
        "gemini/m": gemini_answer([{"text": said}]) | {"modelVersion": KEY},
        "anthropic/m": anthropic_answer(said) | {"model": KEY},
    }
    for model in adapters(far):
        far.answer = echoes[model.name]
        reply = await model.say(of("Hm?"), Options())
        assert reply.text == "Your key is [key]."
        assert "[key]" in json.dumps(reply.raw)
        assert KEY not in json.dumps(reply.raw)
        assert KEY not in json.dumps(model.identity()) + repr(model) + repr(vars(model))
    assert KEY not in caplog.text
