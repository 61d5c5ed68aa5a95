"""Keys are found where users keep them and nowhere else; `test_contract.py` plants one in every adapter's replies."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from sketchmark import Reply
from sketchmark.errors import BadInput
from sketchmark.models import load_model
from sketchmark.models.arguments import Arguments
from sketchmark.models.failures import BadReply
from sketchmark.models.http import Answer, read_object
from sketchmark.secrets import find_key, redact, remember, to_write_down, without_credentials
from tests.command_line import sketchmark
from tests.models.fake_server import KEY, FarEnd
from tests.tabled import tabled


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("MY_KEY=abcdefgh", "abcdefgh"),
        ("export MY_KEY=abcdefgh", "abcdefgh"),
        ('MY_KEY="abcdefgh" # mine', "abcdefgh"),
        ("MY_KEY = abcdefgh # mine", "abcdefgh"),
        ("MY_KEY=abc${HOME_KEY}def$x", "abc${HOME_KEY}def$x"),
        ('MY_KEY="stray-space-key-2\\r\\n"', "stray-space-key-2"),
        ("OPENAI_API_KEY=from-the-file", KEY),
        ("", None),
    ],
)
def test_a_key_is_read_from_an_env_file_as_people_write_it(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch, file: str, found: str | None
) -> None:
    names = ["EMPTY", "NAKED", "OPENAI_API_KEY" if "OPENAI" in file else "MY_KEY"]
    assert find_key(names) in (None, KEY)
    monkeypatch.setenv("HOME_KEY", "from-elsewhere")
    Path(".env").write_text(f"# keys\n\nnot a variable\nEMPTY=\nNAKED\n{file}\n")
    assert find_key(names) == found and "MY_KEY" not in os.environ
    Path(".env").write_bytes(b"\xff\xfe\x00")
    assert find_key(["MY_KEY"]) is None


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "  ", "\t"])
def test_white_space_around_a_key_is_no_part_of_it(far: FarEnd, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setenv("MY_KEY", f" stray-space-key-1{end}")
    assert find_key(["MY_KEY"]) == "stray-space-key-1"
    monkeypatch.setenv("MY_KEY", end)
    assert find_key(["MY_KEY"]) is None


@pytest.mark.parametrize(
    "key", ["abc\rdefgh123", "abc\ndefgh123", "abc\r\ndefgh123", "abc\tdefgh1", "abc\x7fdefgh1", "abé-123456"]
)
@pytest.mark.parametrize("model", ["openai/m", "anthropic/m", "gemini/m", "azure/m", "bagel/m"])
def test_a_key_that_no_header_can_hold_is_refused_by_its_variable(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch, model: str, key: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    where = {"azure_endpoint" if model.startswith("azure") else "base_url": f"{far.url}/v1"}
    with pytest.raises(BadInput, match="the key in MY_KEY holds a") as told:
        load_model(model, {**where, "api_key_env": "MY_KEY"})
    assert key not in str(told.value) and key[-6:] not in str(told.value)


@pytest.mark.parametrize("name", ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID"])
def test_an_account_that_no_header_can_hold_is_refused(
    far: FarEnd, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "a\nb")
    with pytest.raises(BadInput, match=f"{name} holds a character"):
        load_model("openai/m", {"base_url": f"{far.url}/v1"})


def test_a_key_that_was_read_is_taken_out_of_any_text(far: FarEnd, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "s/e+c=r et!")
    find_key(["MY_KEY"])
    assert redact("a s/e+c=r et! b s%2Fe%2Bc%3Dr%20et%21 c") == "a [key] b [key] c"


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
    """Only letters that it shares with its neighbours may remain of it in base64."""
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


# Settings that are written into run.json


PLAIN = "ordinaryword"
NAMES = [
    "api_key", "apikey", "apiKey", "API-KEY", "openai_api_key", "key", "token", "hf_token", "hfToken", "authToken",
    "access_token", "secret", "client_secret", "secret_key", "secretAccessKey", "password", "passwd", "db_password2",
    "pwd", "passphrase", "credential", "credentials", "auth", "authorization", "bearer", "cookie", "session_jwt",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_that_is_a_key_by_name_is_refused_without_showing_it(name: str) -> None:
    with pytest.raises(BadInput, match="put it in the environment") as caught:
        to_write_down({name: PLAIN})
    assert name in str(caught.value) and PLAIN not in str(caught.value)


@tabled
def test_a_setting_that_only_sounds_like_a_key_is_written_down(name: str, value: Any) -> None:
    assert to_write_down({name: value}) == {name: value}


@tabled
def test_a_value_that_has_the_form_of_a_key_is_refused_under_any_name(value: str) -> None:
    for settings in ({"note": value}, {"headers": {"X-Note": value}}, {"notes": ["fine", value]}):
        with pytest.raises(BadInput, match="would be written down") as caught:
            to_write_down(settings)
        assert value not in str(caught.value)


def test_a_secret_of_the_environment_is_refused_and_taken_out_of_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_GATEWAY_TOKEN", "plum4pear4quince4\n")
    with pytest.raises(BadInput, match=r"note=… is a key"):
        to_write_down({"note": "x-plum4pear4quince4-y"})
    monkeypatch.setenv("LAB_PASSWORD", "medlar5sloe5damson5")
    to_write_down({})
    reply = Reply("I am medlar5sloe5damson5!", raw={"medlar5sloe5damson5": ["medlar5sloe5damson5", 1, None]})
    assert (reply.text, reply.raw) == ("I am [key]!", {"[key]": ["[key]", 1, None]})


@pytest.mark.parametrize(("name", "value"), [("LAB_PASSWORD", "strawberries"), ("LAB_NOTE", "cherry7cherry7")])
def test_ordinary_words_in_the_environment_stay_in_replies(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    to_write_down({})
    assert Reply(value).text == value


def test_a_file_that_holds_keys_is_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "credentials1.json"
    path.write_text("{}")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    assert to_write_down({"file": str(path)}) == {"file": str(path)}


def test_an_address_is_written_down_without_the_keys_in_it() -> None:
    written = to_write_down(
        {"base_url": "https://u:hush-hush-1@host/sk-0123456789abcdef/v1?api-version=2024-06-01&k=hush-hush-2"}
    )
    assert written == {"base_url": "https://host/[key]/v1"}
    assert to_write_down({"api_version": "2024-06-01"}) == {"api_version": "2024-06-01"}


def test_a_key_in_the_wrong_place_is_not_in_the_error() -> None:
    with pytest.raises(BadInput, match=r"timeout=\[key\] is not a number"):
        Arguments("openai/m", {"timeout": "sk-9876543210zyxwvuts"}).number("timeout")


MODEL = """
import os
from sketchmark import Model, Reply

class Leaky(Model):
    def __init__(self, name, hf_token="", loud=False, honest=True):
        super().__init__("leaky")
        self.loud, self.honest = loud, honest

    def identity(self):
        key = {} if self.honest else {"token": os.environ["LAB_TOKEN"]}
        return {"name": "leaky", **key}

    async def say(self, context, options):
        if self.loud:
            raise RuntimeError("refused: " + os.environ["LAB_TOKEN"] + "\\\\r")
        return Reply("(A) says " + os.environ["LAB_TOKEN"])
"""
SECRET = "walnut-8-hazel-8-almond"
"""It has no form of a key: only the name of its variable says that it is one."""


@pytest.mark.parametrize(
    ("args", "code"), [("loud=false", 0), ("loud=true", 1), ("honest=false", 2), (f"hf_token={SECRET}", 2)]
)
def test_a_model_of_your_own_leaves_its_key_nowhere(tmp_path: Path, args: str, code: int) -> None:
    (tmp_path / "leaky.py").write_text(MODEL)
    asked = "run --include leaky.py --model leaky --tasks maze --mode direct --limit 1 -o run --cache cache"
    done = sketchmark(*asked.split(), "--model-args", args, cwd=tmp_path, env={"LAB_TOKEN": SECRET})
    assert done.returncode == code, done.stderr
    found = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == []
    assert SECRET not in done.stdout + done.stderr
    if code < 2:
        assert any(b"[key]" in path.read_bytes() for path in (tmp_path / "run").rglob("*.jsonl"))
