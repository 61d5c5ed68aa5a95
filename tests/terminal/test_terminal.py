"""What others wrote is printed, and nothing in it is obeyed."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.progress import TextColumn

from sketchmark.terminal import one_line, shown
from sketchmark.terminal.console import bars
from tests.terminal.hostile import EVIL, commands

_OURS = re.compile(rb"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
"""Colours, and what a progress bar needs to draw itself anew."""


def test_controls_are_spelled_out_and_everything_else_is_as_it_was() -> None:
    assert shown("\x1b[2J\x9b\r\x00\x7f") == "\\u001b[2J\\u009b\\u000d\\u0000\\u007f"
    assert shown("\u202e\u200b\u2028\U000e0041\ud800") == "\\u202e\\u200b\\u2028\\udb40\\udc41\\ud800"
    plain = "äé 漢字 🎨 [bold] :bomb: \\ → −\n\tindented"
    assert shown(plain) == plain


def test_printed_json_is_the_same_json() -> None:
    assert json.loads(shown(json.dumps([EVIL], ensure_ascii=False))) == [EVIL]


def test_an_errors_text_is_one_line_and_not_without_end() -> None:
    assert one_line("a\nb\r\nc\x0bd\x85e\u2028f") == "a b c d e f"
    assert len(one_line("x" * 1_000_000)) < 2_100 and one_line("x" * 1_000_000).endswith("(1,000,000 characters)")


def test_the_texts_beside_a_bar_are_only_texts() -> None:
    progress = bars()
    progress.add_task(EVIL, failed=EVIL, rate=EVIL)
    texts = [column.render(progress.tasks[0]) for column in progress.columns if isinstance(column, TextColumn)]
    assert [text.plain for text in texts] == [one_line(EVIL)] * 3
    assert not any(text.spans for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("forced", [False, True], ids=["plain", "forced_colour"])
def test_no_command_passes_on_what_a_terminal_obeys(tmp_path: Path, forced: bool) -> None:
    ours, theirs = pty.openpty()
    settings = termios.tcgetattr(theirs)
    settings[1] &= ~termios.OPOST  # a line feed stays one
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    unset = ("FORCE_COLOR", "NO_COLOR", "COLUMNS")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    environment |= {
        "TERM": "xterm-256color",
        "XDG_CACHE_HOME": str(tmp_path),
        **({"FORCE_COLOR": "1"} if forced else {}),
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.terminal.hostile", str(tmp_path)],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            said += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert child.wait() == 0 and said.rstrip().endswith(b"all done"), said[-3000:].decode()
    text = _OURS.sub(b"", said).decode()
    obeyed = set(EVIL) - set(EVIL.encode("ascii", "ignore").decode()) | {chr(code) for code in range(32)} - {"\n"}
    assert sorted(obeyed & set(text)) == []
    codes = [int(code) for code in re.findall(r"^ended \d+ (\d+)$", text, re.M)]
    assert codes == [code for code, _ in commands()]
    assert text.count("Traceback") == 1  # the one that was planted
    assert "first sketchmark: a second line" in text and not re.search(r"^sketchmark: a second line", text, re.M)
    for word in ("[/INST]", ":bomb:", "[link=http://evil.example]"):
        assert word in text
    for way in ("logged", "warned", "threw", "raised"):
        assert f"{way} [/INST]" in text
