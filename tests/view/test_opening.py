"""`sketchmark view` as a command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has xdg-open")
@pytest.mark.parametrize(
    ("display", "more", "opened"), [("", [], False), (":0", [], True), (":0", ["--no-browser"], False)]
)
def test_the_command_prints_an_address_opens_it_if_there_is_a_display_and_stops_at_ctrl_c(
    tmp_path: Path, display: str, more: list[str], opened: bool
) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\necho noise >&2\n')
    opener.chmod(0o755)
    kept = {name: text for name, text in os.environ.items() if name not in ("WAYLAND_DISPLAY", "BROWSER")}
    known = {**kept, "DISPLAY": display, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "sketchmark", "view", str(tmp_path), *more]
    with subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = re.findall(r"http://127\.0\.0\.1:\S+", server.stdout.readline())[0]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"Sketchmark" in browser.open(address, timeout=60).read()  # the window was tried before it answers
        server.send_signal(signal.SIGINT)
        errors = server.communicate(timeout=60)[1]
    assert (server.returncode, errors) == (0, "noise\n" if opened else "")
    assert (tmp_path / "opened").exists() == opened
    assert not opened or (tmp_path / "opened").read_text().strip() == address
