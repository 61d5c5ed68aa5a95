"""Faults on the way to a dataset: no access, no such file, no network, half a download."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import termios
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from sketchmark.errors import BadInput
from sketchmark.files.hub import Listing
from sketchmark.files.tables import inside, rows
from tests.benchmarks.medical import fixtures
from tests.hub.conftest import Machine
from tests.hub.loopback import Fault, Hub
from tests.hub.test_every_id import means

RAD = "flaviagiammarino/vqa-rad"
SHARDS = ("data/test-00000-of-00002.parquet", "data/test-00001-of-00002.parquet")


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line with which a run ends before it began."""
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert "Traceback" not in line and not done.stdout
    return line


@pytest.mark.slow
def test_a_gated_set_says_which_page_to_visit_and_which_variable_to_set(machine: Machine, hub: Hub) -> None:
    hub.gated[RAD] = "hf_of_somebody_who_was_let_in"
    line = refused(machine.play("vqa_rad"))
    assert f"{hub.url}/datasets/{RAD}" in line and "HF_TOKEN" in line and "is gated" in line
    (machine.home / "own.yaml").write_text(
        f"task: own\ndataset_path: {RAD}\ntest_split: test\noutput_type: generate_until\n"
        'doc_to_text: "{{question}}"\ndoc_to_target: answer\nmetric_list: [{metric: exact_match}]\n'
    )
    line = refused(machine.play("own", "--include", str(machine.home), "--trust-code"))
    assert f"{hub.url}/datasets/{RAD}" in line and "HF_TOKEN" in line, "the same for a task file of lmms-eval's shape"
    machine.settings["HF_TOKEN"] = "hf_of_a_stranger"
    limited = refused(machine.play("vqa_rad", "--limit", "2"))
    assert "the account of your token is not let in" in limited
    machine.settings["HF_TOKEN"] = hub.gated[RAD]
    assert machine.play("vqa_rad").returncode == 0


@pytest.mark.parametrize(
    ("task", "repo", "said"),
    [
        ("vqa_rad", RAD, f"there is no dataset {RAD} at "),
        ("vqa_rad", RAD, f"{RAD} on the hub holds no split 'test'"),
        ("slake", "BoKelvin/SLAKE", "BoKelvin/SLAKE on the hub holds no imgs.zip"),
    ],
)
def test_a_dataset_or_file_that_does_not_exist_is_named(
    machine: Machine, hub: Hub, task: str, repo: str, said: str
) -> None:
    files = hub.repositories.pop(repo)
    if "there is no" not in said:
        hub.repositories[repo] = {key: data for key, data in files.items() if key not in (*SHARDS, "imgs.zip")}
    line = refused(machine.play(task))
    assert said in line and (hub.url if repo not in hub.repositories else f"{hub.url}/datasets/{repo}") in line


@pytest.mark.slow
def test_a_cut_download_is_taken_up_where_it_was_and_a_passing_fault_is_outwaited(machine: Machine, hub: Hub) -> None:
    """The client writes, and so keeps, ten megabytes at a time: the file is larger than that."""
    hub.repositories[RAD] = {**hub.repositories[RAD], SHARDS[0]: large_shard(24_000_000)}
    hub.faults += [
        Fault(f"/api/datasets/{RAD}", status=503),
        Fault(SHARDS[0], cut_after=16_000_000),
        Fault("/test.json", status=500),
    ]
    done = machine.play("vqa_rad,slake")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if ".direct: " not in line] == []  # nothing of the libraries'
    assert not any(fault.times for fault in hub.faults)
    _, again = [one for one in hub.asked if one.method == "GET" and one.path.endswith(SHARDS[0])]
    assert again.range and again.given < 16_000_000
    assert means(machine.home / "run")["vqa_rad.direct"]["episodes"] == 5 + 3


def test_a_hub_that_fails_for_good_ends_the_run_and_breaks_no_row(machine: Machine, hub: Hub) -> None:
    hub.faults.append(Fault("imgs.zip", status=503, times=99))
    line = refused(machine.play("slake", "--limit", "2"))
    assert "cannot load BoKelvin/SLAKE from the hub: it answers 503" in line and "run it again" in line


@pytest.mark.slow
def test_downloaded_files_are_used_without_the_hub(machine: Machine, hub: Hub) -> None:
    machine.settings["HF_HUB_OFFLINE"] = "1"
    line = refused(machine.play("vqa_rad"))
    assert f"{RAD} is not in the hub's cache" in line and "run it once with a network, or give --data PATH" in line
    machine.settings.clear()
    assert machine.play("vqa_rad").returncode == 0
    machine.settings["HF_ENDPOINT"] = "http://127.0.0.1:9"  # no server listens there
    assert machine.play("vqa_rad", out="again").returncode == 0
    assert means(machine.home / "again") == means(machine.home / "run")


def large_shard(size: int) -> bytes:
    """A parquet file with a group of four small rows, and one of a row of this size."""
    row = {"image": fixtures.cell(fixtures.png(1)), "question": "is it?", "answer": "yes", "more": b""}
    buffer = io.BytesIO()
    table = pa.Table.from_pylist([row] * 4)
    with pq.ParquetWriter(buffer, table.schema) as writer:
        writer.write_table(table)
        writer.write_table(pa.Table.from_pylist([{**row, "more": Random(0).randbytes(size)}], table.schema))
    return buffer.getvalue()


@pytest.mark.slow
def test_a_limit_fetches_the_parts_it_needs_and_keeps_them(machine: Machine, hub: Hub) -> None:
    junk = 24_000_000
    hub.repositories[RAD] = {**hub.repositories[RAD], SHARDS[0]: large_shard(junk)}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("imgs/xmlab1/source.jpg", fixtures.png(1))
        file.writestr("imgs/another.jpg", Random(0).randbytes(junk))
    hub.repositories["BoKelvin/SLAKE"] = {**hub.repositories["BoKelvin/SLAKE"], "imgs.zip": archive.getvalue()}
    hub.faults.append(Fault(SHARDS[0], cut_after=1000))
    done = machine.play("vqa_rad,slake", "--limit", "2")
    assert done.returncode == 0, done.stderr
    given = hub.given()
    assert 0 < given[RAD, SHARDS[0]] < junk / 2 and 0 < given["BoKelvin/SLAKE", "imgs.zip"] < junk / 2
    assert (RAD, SHARDS[1]) not in given
    hub.asked.clear()
    machine.settings["HF_HUB_OFFLINE"] = "1"
    assert machine.play("vqa_rad,slake", "--limit", "2", out="again").returncode == 0
    assert "is not in the hub's cache" in refused(machine.play("vqa_rad", out="whole"))


def test_progress_is_shown_on_a_terminal_and_not_in_a_pipe(machine: Machine, tmp_path: Path) -> None:
    assert "Fetching" not in machine.play("vqa_rad").stderr
    machine.settings["HF_HOME"] = str(tmp_path / "other")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-m", "sketchmark", "run", "--model", "player/random", "--tasks", "vqa_rad"]
    command += ["--output_path", "shown"]
    where = {"env": machine.environment, "cwd": machine.home}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, **where) as process:  # type: ignore[call-overload]
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # Linux's way to say that the other end is closed
            pass
        os.close(ours)
    assert process.returncode == 0 and b"2/2" in shown


# Files of a split, and links of the cache


NAMES = ("data/test-00000-of-00001.parquet", "data/train-00000-of-00001.parquet", "Math/dev-00000-of-00001.parquet")


@pytest.mark.parametrize(
    ("data_files", "split", "found"),
    [
        ([{"split": "test", "path": "data/test-*"}, {"split": "train", "path": "data/train-*"}], "test", [NAMES[0]]),
        ({"test": ["data/test-*"], "train": "data/train-*"}, "train", [NAMES[1]]),
        ("data/*", "train", [NAMES[0], NAMES[1]]),
        ("data/*", "test", []),
        ([{"split": "dev", "path": "**/dev-*"}], "dev", [NAMES[2]]),
        (None, "test", None),
    ],
)
def test_a_card_names_the_files_of_a_split_in_several_ways(
    data_files: Any, split: str, found: list[str] | None
) -> None:
    listing = Listing("o/n", "c", dict.fromkeys(NAMES, 1), [{"config_name": "default", "data_files": data_files}])
    assert listing.declared(None, split) == found


def test_a_file_of_another_split_is_never_taken_for_the_one_that_is_missing(tmp_path: Path) -> None:
    fixtures.write_parquet(tmp_path / "Math" / "validation-00000-of-00001.parquet", [{"id": 1}])
    with pytest.raises(BadInput, match="holds no Math/test-"):
        rows(tmp_path, hub="MMMU/MMMU", config="Math", split="test")
    assert list(rows(tmp_path, hub="MMMU/MMMU", config="Math", split="validation")) == [{"id": 1}]


def test_links_in_the_hubs_cache_are_followed_only_to_blobs_of_the_same_dataset(tmp_path: Path) -> None:
    own, other = tmp_path / "datasets--o--n", tmp_path / "datasets--o--other"
    snapshot = own / "snapshots" / "abc"
    for folder in (own / "blobs", other / "blobs", snapshot):
        folder.mkdir(parents=True)
    for repository in (own, other):
        (repository / "blobs" / "1").write_text(repository.name)
        (snapshot / repository.name).symlink_to(repository / "blobs" / "1")
    assert inside(snapshot, own.name, "row 1").read_text() == own.name
    with pytest.raises(BadInput, match="leads out of"):
        inside(snapshot, other.name, "row 1")
