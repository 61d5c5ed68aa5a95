"""The viewer opens a window where there can be one."""

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
@pytest.mark.parametrize(("display", "opened"), [("", False), (":0", True)])
def test_without_a_window_only_the_address_is_told(tmp_path: Path, display: str, opened: bool) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\necho noise >&2\n')
    opener.chmod(0o755)
    kept = {name: text for name, text in os.environ.items() if name not in ("WAYLAND_DISPLAY", "BROWSER")}
    known = {**kept, "DISPLAY": display, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "sketchmark", "view", str(tmp_path)]
    with subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout
        address = re.findall(r"http://127\.0\.0\.1:\S+", server.stdout.readline())[0]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"Sketchmark" in browser.open(address, timeout=60).read()  # the window was tried before it answers
        server.send_signal(signal.SIGINT)
        told = server.communicate(timeout=60)[1]
    assert told == ("noise\n" if opened else "")
    assert (tmp_path / "opened").exists() == opened
    assert not opened or (tmp_path / "opened").read_text().strip() == address
