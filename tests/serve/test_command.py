from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import openai
import pytest

PARROT = """
from sketchmark.episode.model import Model, Reply

class Parrot(Model):
    async def say(self, context, options):
        return Reply(text=context.texts[-1])

    async def close(self):
        print("closed", flush=True)
"""


@pytest.fixture
def parrot(tmp_path: Path) -> Path:
    path = tmp_path / "parrots.py"
    path.write_text(PARROT)
    return path


def command(parrot: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "sketchmark", "serve", "--include", str(parrot), "--model", "parrot", *more]


@contextmanager
def running(arguments: list[str], **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line.startswith("Serving parrot at http://127.0.0.1:"), line
            yield process, line.split()[-1]
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_answers_and_stops_in_order_on_a_signal(parrot: Path, number: signal.Signals) -> None:
    with running(command(parrot, "--port", "0")) as (process, url):
        client = openai.OpenAI(base_url=url, api_key="any")
        answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
        assert answer.choices[0].message.content == "hello"
        process.send_signal(number)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "closed\n", "")


def test_the_key_comes_from_the_environment(parrot: Path) -> None:
    with running(command(parrot, "--port", "0", "--key-env", "SESAME"), SESAME="open") as (_, url):
        assert httpx.get(f"{url}/models").status_code == 401
        assert httpx.get(f"{url}/models", headers={"Authorization": "Bearer open"}).status_code == 200


def test_faults_and_latency_come_from_the_command_line(parrot: Path) -> None:
    with running(command(parrot, "--port", "0", "--fail", "503:1", "--latency", "100ms")) as (_, url):
        answer = httpx.get(f"{url}/models")
        assert answer.status_code == 503
        assert answer.elapsed.total_seconds() >= 0.1


@pytest.mark.parametrize(
    "wrong", [["--fail", "x"], ["--latency", "x"], ["--batch", "x"], ["--key-env", "NOT_THERE"], ["--port", "70000"]]
)
def test_a_wrong_option_is_one_clear_line(parrot: Path, wrong: list[str]) -> None:
    done = subprocess.run(command(parrot, *wrong), capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("sketchmark: ")


def test_a_port_that_is_taken_is_one_clear_line(parrot: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(command(parrot, "--port", port), capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr


def test_another_address_than_loopback_needs_a_token(parrot: Path) -> None:
    refused = subprocess.run(
        command(parrot, "--port", "0", "--host", "0.0.0.0"), capture_output=True, text=True, timeout=60
    )
    assert refused.returncode == 2
    assert "--host 0.0.0.0 would serve anyone who can reach it" in refused.stderr and "--key-env" in refused.stderr


def test_with_a_token_it_serves_under_any_name(parrot: Path) -> None:
    """127.0.0.2 stands for another address of this machine, which no name of loopback covers."""
    arguments = command(parrot, "--port", "0", "--host", "127.0.0.2", "--key-env", "THE_TOKEN")
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, env={**os.environ, "THE_TOKEN": "s3"}
    ) as process:
        try:
            assert process.stdout
            url = process.stdout.readline().split()[-1]
            assert url.startswith("http://127.0.0.2:")
            assert httpx.get(f"{url}/models").status_code == 401
            named = {"Authorization": "Bearer s3", "Host": "a-name-of-mine"}
            assert httpx.get(f"{url}/models", headers=named).status_code == 200
        finally:
            process.kill()
