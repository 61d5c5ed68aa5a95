"""Files that become pipes while they are read: no request may wait, and the viewer ends when it is told to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from sketchmark.errors import BadInput
from sketchmark.files.jsonl import LineWriter, Tail, line_at, open_regular, whole_lines
from tests.view.making import Maker, browse, heard, play, sample

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")


def test_a_pipe_is_refused_at_once_by_every_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (
        open_regular,
        lambda path: list(whole_lines(path)),
        lambda path: list(Tail(path)),
        lambda path: line_at(path, 0),
    ):
        with pytest.raises(BadInput, match="is not a regular file"):
            read(pipe)
    with pytest.raises(OSError):
        LineWriter(pipe)


def test_a_link_that_took_a_files_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError):
        open_regular(tmp_path / "link")


def test_a_request_whose_file_becomes_a_pipe_is_answered_and_the_viewer_ends(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", cells=("maze.direct",))
    maker.add("maze.direct", play(heard(sample(0)), "direct", True), 0)
    store = maker.finish().pictures
    (tmp_path / "run" / "report.html").write_text("<p>report</p>")
    files = [next(store.folder.rglob("*.png")), next(store.folder.rglob("*.wav")), tmp_path / "run" / "report.html"]
    files += [tmp_path / "run" / "results.json", tmp_path / "run" / "episodes" / "maze.direct.jsonl"]
    command = [sys.executable, "-m", "sketchmark", "view", str(tmp_path), "--no-browser"]
    viewer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    stop = threading.Event()
    swapping = threading.Thread(target=_swap, args=(files, stop))
    try:
        assert viewer.stdout is not None
        address = re.findall(r"http://\S+", viewer.stdout.readline())[0]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        opener.open(address, timeout=20).read()
        home = address.partition("?")[0]
        asked = [
            f"picture?run=run&name={files[0].name}",
            f"sound?run=run&name={files[1].name}",
            "report?run=run",
            "api/run?run=run",
            "api/episode?run=run&cell=maze.direct&sample=maze-00000",
        ]
        swapping.start()
        for _ in range(30):
            for path in asked:
                try:
                    opener.open(home + path, timeout=20).read()
                except urllib.error.HTTPError as error:
                    assert error.code == 404, error.read()
        stop.set()
        swapping.join()
        viewer.send_signal(signal.SIGTERM)
        assert viewer.wait(15) is not None
    finally:
        stop.set()
        viewer.kill()
        viewer.wait()
        viewer.stdout.close() if viewer.stdout else None


def _swap(files: list[Path], stop: threading.Event) -> None:
    """Put a pipe in the place of each file and the file back, as fast as it goes."""
    for file in files:
        os.mkfifo(file.with_name(f".{file.name}.pipe"))
        file.with_name(f".{file.name}.kept").write_bytes(file.read_bytes())
    while not stop.is_set():
        for ending in ("pipe", "kept"):
            for file in files:
                side = file.with_name(f".{file.name}.new")
                os.link(file.with_name(f".{file.name}.{ending}"), side)
                side.replace(file)


@pytest.mark.parametrize(
    ("asked", "status", "expected"),
    [
        ("bytes=0-3", 206, slice(0, 4)),
        ("bytes=4-", 206, slice(4, None)),
        ("bytes=-5", 206, slice(-5, None)),
        ("bytes=0-999999", 206, slice(None)),
        ("bytes=999999-", 416, slice(0, 0)),
        ("bytes=3-1", 416, slice(0, 0)),
        ("lines=0-3", 200, slice(None)),
        ("", 200, slice(None)),
    ],
)
def test_a_sound_is_served_in_ranges(tmp_path: Path, asked: str, status: int, expected: slice) -> None:
    maker = Maker(tmp_path / "run", cells=("maze.direct",))
    maker.add("maze.direct", play(heard(sample(0)), "direct", True), 0)
    path = next(maker.finish().pictures.folder.rglob("*.wav"))
    with browse(tmp_path) as client:
        answer = client.get(
            "/sound", params={"run": "run", "name": path.name}, headers={"Range": asked} if asked else {}
        )
    data = path.read_bytes()
    assert answer.status_code == status and answer.content == data[expected]
    assert answer.headers["content-length"] == str(len(data[expected]))
    if status == 206:
        start = expected.indices(len(data))[0]
        assert answer.headers["content-range"] == f"bytes {start}-{start + len(answer.content) - 1}/{len(data)}"
