"""Paths and names of untrusted files: each refusal is tried, and what is next to it is let through."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sketchmark.errors import BadInput
from sketchmark.files import PictureStore, file_name, file_names, own_file, own_folder
from sketchmark.files.tables import as_picture, check_in_repository, inside, is_hub_id, rows
from sketchmark.settings.run_file import read_suite
from tests.core.helpers import colour

HEAD = "models: [player/random]\ntasks: jigsaw\n"


@pytest.mark.parametrize(
    "value", ["a/../../b", "..", "../x", "/etc/passwd", "~root", "~/x", "[a, ../b]", "{a: {b: /etc}}"]
)
def test_an_argument_of_a_task_that_leads_out_of_the_folder_is_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "suite.yaml").write_text(f"{HEAD}task_args: {{pictures: {value}}}\n")
    with pytest.raises(BadInput, match=r"line 3: task_args\.pictures leads out of its folder \(give --task-args on"):
        read_suite(tmp_path / "suite.yaml")


@pytest.mark.parametrize("value", ["a/b", "a..b", "...", "x~", "4", "a/b..c/d", "[a, b]", "true", "a//b"])
def test_an_argument_of_a_task_that_stays_in_the_folder_is_let_through(tmp_path: Path, value: str) -> None:
    (tmp_path / "suite.yaml").write_text(f"{HEAD}task_args: {{pictures: {value}}}\n")
    (start,) = read_suite(tmp_path / "suite.yaml").entries[0].starts
    assert "pictures" in start.options["task_args"]


@pytest.mark.parametrize("key", ["data", "prices", "include"])
@pytest.mark.parametrize("value", ["../x", "/etc", ".ssh", "a/.hidden/b", "a/../../b", '"a\\0b"', "link/x"])
def test_a_file_that_a_run_file_names_stays_in_its_folder(tmp_path: Path, key: str, value: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here/link").symlink_to(tmp_path)
    (tmp_path / "here/suite.yaml").write_text(f"{HEAD}{key}: {value}\n")
    with pytest.raises(BadInput, match=f"{key} leads out of its folder"):
        read_suite(tmp_path / "here/suite.yaml")
    (tmp_path / "here/suite.yaml").write_text(f"{HEAD}{key}: a/b.c\n")
    assert read_suite(tmp_path / "here/suite.yaml").entries


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "link", "link/x", "a/../.."])
def test_a_data_file_names_only_files_below_it(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    (root / "own").symlink_to(root / "a")
    with pytest.raises(BadInput, match=r"row 1: the path .* leads out of"):
        inside(root, name, "row 1")
    with pytest.raises(BadInput, match="leads out of"):
        as_picture({"path": name}, "row 1", root)
    for fine in ("a/x", "x", "a/../x", "own/x", "..x"):
        assert inside(root, fine, "row 1").is_relative_to(root.resolve())


def test_a_run_folder_is_entered_only_through_real_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real/out").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "real/pipe")
    refused: list[tuple[Any, tuple[str, ...], str]] = [
        (own_file, ("link", "file"), "is a link, not a folder"),
        (own_file, ("real", "out"), "is a link, not a file"),
        (own_file, ("real", "pipe"), "is a pipe, not a file"),
        (own_file, ("real",), "is a folder, not a file"),
        (own_folder, ("link",), "is a link, not a folder"),
        (own_folder, ("real", "file"), "is a file, not a folder"),
    ]
    for find, names, why in refused:
        with pytest.raises(BadInput, match=rf"{why} of this folder \(it is not followed; remove it"):
            find(tmp_path, *names)
    assert own_file(tmp_path, "real", "file").read_text() == "x"
    assert own_file(tmp_path, "real", "new") == tmp_path / "real/new" and own_folder(tmp_path, "no", "such")
    (tmp_path / "pictures").symlink_to(tmp_path / "real")
    with pytest.raises(BadInput, match="is a link"):
        PictureStore(tmp_path, "pictures").save(colour("red"))


@pytest.mark.parametrize(
    "name", ["squad", "a/b/c", "../a", "/a/b", "a/", "https://h/a", "a b/c", "-a/b", ".a/b", "a/..", ""]
)
def test_only_owner_and_name_are_a_hub_id(tmp_path: Path, name: str) -> None:
    assert not is_hub_id(name) and is_hub_id("Owner_1/Na-me.2")
    with pytest.raises(BadInput, match="is not a hub id"):
        rows(None, hub=name)


@pytest.mark.parametrize(
    "name", ["http://h/x", "file:///etc/passwd", "/etc/passwd", "~/x", "../x", "a/../../x", "a/.."]
)
def test_only_a_file_of_the_repository_is_fetched(name: str) -> None:
    with pytest.raises(BadInput, match="is not a file of a hub repository"):
        check_in_repository(name)
    with pytest.raises(BadInput, match="is not a file of a hub repository"):
        rows(None, hub="Owner/Name", files=name)
    for fine in ("data/test-*.parquet", "a..b/c", "x~"):
        check_in_repository(fine)


@pytest.mark.parametrize(
    "text", ["../x", "a/b", "", ".", "..", ".hidden", "con", "NUL.txt", "a\0b", "x" * 200, "a.", "é", "-x"]
)
def test_a_text_becomes_a_file_name_and_never_a_path(text: str) -> None:
    name = file_name(text)
    assert name != text and "/" not in name and "\0" not in name and name not in ("", ".", "..")
    assert not name.startswith((".", "-")) and len(name) < 100 and file_name("a-b_1.json") == "a-b_1.json"
    assert len({one.lower() for one in file_names({"1": "A", "2": "a", "3": text}).values()}) == 3
