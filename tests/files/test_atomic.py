"""Whole files that replace others, and the store of images."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sketchmark.errors import BadInput
from sketchmark.files import PictureStore, replacing, write_atomic, write_json
from tests.runs.making import colour


def test_json_is_indented_and_valid_for_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "deep/value.json"
    write_json(path, {"a": "ä", "b": float("inf")})
    assert path.read_text("utf-8") == '{\n "a": "ä",\n "b": "Infinity"\n}\n'


def test_a_file_is_replaced_as_a_whole_and_leaves_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "deep/file"
    for content in (b"first and longer", b"old"):
        write_atomic(path, content)
        assert path.read_bytes() == content
        assert list(path.parent.iterdir()) == [path]
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        assert path.read_bytes() == b"old"
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"


@pytest.mark.parametrize("durable", [True, False])
def test_a_durable_file_is_synced_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durable: bool
) -> None:
    synced: list[tuple[int, bool]] = []
    fsync, path = os.fsync, tmp_path / "file"

    def watched(file: int) -> None:
        fsync(file)
        synced.append((os.fstat(file).st_size, path.exists()))

    monkeypatch.setattr(os, "fsync", watched)
    write_atomic(path, b"content", durable=durable)
    assert synced == ([(7, False)] if durable else [])


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")
    code = (
        "import resource, sys; from pathlib import Path; from sketchmark.files import write_atomic;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); write_atomic(Path(sys.argv[1]), b'x' * 5000)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert f"OSError: [Errno 27] File too large: '{path}'" in done.stderr, "by the name that the user knows"
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_link_under_the_temporary_name_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / f".file.{os.getpid()}.{threading.get_ident()}").symlink_to(victim)
    write_atomic(tmp_path / "file", b"content")
    assert victim.read_bytes() == b"precious" and (tmp_path / "file").read_bytes() == b"content"


def test_an_image_is_kept_once_under_its_digest_and_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are several per episode; an episode whose image a power cut takes is run again."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    store, red = PictureStore(tmp_path / "pictures"), colour("red")
    name = store.save(red)
    assert name == f"{red.digest}.png" and store.path(name) == tmp_path / "pictures" / name[:2] / name
    before = store.path(name).stat().st_mtime_ns, store.path(name).stat().st_ino
    assert store.save(red) == name
    assert (store.path(name).stat().st_mtime_ns, store.path(name).stat().st_ino) == before
    assert store.load(name) == red and store.holds(name) and synced == []


def test_an_empty_image_is_written_again_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    store, red = PictureStore(tmp_path), colour("red")
    name = store.save(red)
    store.path(name).write_bytes(b"")
    assert not store.holds(name)
    PictureStore(tmp_path).save(red)
    assert store.load(name) == red
    store.path(name).write_bytes(colour("blue").data)
    with pytest.raises(BadInput, match="does not hold what its name says"):
        store.load(name)


@pytest.mark.parametrize("name", ["../secret.png", "a/b.png", "0" * 64 + ".png/../x", "0" * 63 + ".png", "0" * 64])
def test_an_image_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    for ask in (PictureStore(tmp_path).load, PictureStore(tmp_path).holds, PictureStore(tmp_path).path):
        with pytest.raises(BadInput, match="not a picture name"):
            ask(name)
