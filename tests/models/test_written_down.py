"""What a model was made with is written into run.json: a key among it is refused, by its name or by its value."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sketchmark.episode.model import Reply
from sketchmark.errors import BadInput
from sketchmark.models import load_model
from sketchmark.models.arguments import Arguments
from sketchmark.secrets import to_write_down

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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 512), ("max_new_tokens", "512"), ("tokenizer", "org/name"), ("key_frames", "first,last"),
        ("api_key_env", "MY_KEY"), ("token_scope", "https://host/.default"), ("key", True), ("eos_token", "</s>"),
        ("image_token", "<image>"), ("pad_token", "[PAD]"), ("image_token", 151655), ("monkey", "donkey"),
        ("secretary", "Ms Smith"), ("author", "me"), ("compass", "north"), ("password", ""), ("token", None),
        ("revision", "a3f9c1e5b2d80467a3f9c1e5b2d80467a3f9c1e5"), ("pretrained", "/models/sk-llama-3.2-11b-instruct"),
        ("name", "task-sk-learn"), ("api_version", "2025-04-01-preview"), ("size", "1024x1024"),
    ],
)  # fmt: skip
def test_a_setting_that_only_sounds_like_a_key_is_written_down(name: str, value: Any) -> None:
    assert to_write_down({name: value}) == {name: value}


@pytest.mark.parametrize(
    "value",
    [
        "sk-proj-Ab3dEf6hIj9lMn0pQr", "hf_AbCdEfGhIjKlMnOp12345", "AIzaSyA1234567890abcdefghijklmnopqrstu",
        "ghp_0123456789abcdefghijABCDEFGHIJ", "AKIA0123456789ABCDEF", "Bearer sk-ant-api03-0123456789abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "-----BEGIN RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_a_value_that_has_the_form_of_a_key_is_refused_under_any_name(value: str) -> None:
    for settings in ({"note": value}, {"headers": {"X-Note": value}}, {"notes": ["fine", value]}):
        with pytest.raises(BadInput, match="would be written down") as caught:
            to_write_down(settings)
        assert value not in str(caught.value)


def test_a_secret_of_the_environment_is_refused_under_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_GATEWAY_TOKEN", "plum4pear4quince4\n")
    with pytest.raises(BadInput, match=r"note=… is a key"):
        to_write_down({"note": "x-plum4pear4quince4-y"})


def test_a_secret_of_the_environment_is_in_no_reply_of_a_model_that_read_it_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


def test_a_key_is_refused_before_the_model_is_made() -> None:
    with pytest.raises(BadInput, match="hf_token=… is a key"):
        load_model("player/solver", {"hf_token": PLAIN})


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
KEY = "walnut-8-hazel-8-almond"


@pytest.mark.parametrize(
    ("args", "code"), [("loud=false", 0), ("loud=true", 1), ("honest=false", 2), (f"hf_token={KEY}", 2)]
)
def test_a_model_of_ones_own_leaves_its_key_nowhere(tmp_path: Path, args: str, code: int) -> None:
    (tmp_path / "leaky.py").write_text(MODEL)
    command = [
        *(sys.executable, "-m", "sketchmark", "run", "--include", "leaky.py", "--model", "leaky"),
        *("--tasks", "maze", "--mode", "direct", "--limit", "1", "--model-args", args),
        *("--output-path", "run", "--cache", "cache"),
    ]
    environment = {**os.environ, "LAB_TOKEN": KEY}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    found = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert found == []
    assert KEY not in done.stdout + done.stderr
    if code < 2:
        assert any(b"[key]" in path.read_bytes() for path in (tmp_path / "run").rglob("*.jsonl"))
