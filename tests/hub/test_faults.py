"""What a user meets on the way to a data set: no entry, no such thing, no network, half a download."""

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

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

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
    machine.settings["HF_TOKEN"] = "hf_of_a_stranger"
    limited = refused(machine.play("vqa_rad", "--limit", "2"))
    assert "the account of your token is not let in" in limited
    machine.settings["HF_TOKEN"] = hub.gated[RAD]
    assert machine.play("vqa_rad").returncode == 0


@pytest.mark.slow
def test_a_task_file_of_lmms_evals_shape_on_a_gated_set_says_the_same(machine: Machine, hub: Hub) -> None:
    hub.gated[RAD] = "hf_of_somebody_who_was_let_in"
    (machine.home / "own.yaml").write_text(
        f"task: own\ndataset_path: {RAD}\ntest_split: test\noutput_type: generate_until\n"
        'doc_to_text: "{{question}}"\ndoc_to_target: answer\nmetric_list: [{metric: exact_match}]\n'
    )
    line = refused(machine.play("own", "--include", str(machine.home), "--trust-code"))
    assert f"{hub.url}/datasets/{RAD}" in line and "HF_TOKEN" in line


def test_a_data_set_that_is_not_there_is_named(machine: Machine, hub: Hub) -> None:
    del hub.repositories[RAD]
    assert f"there is no data set {RAD} at {hub.url}" in refused(machine.play("vqa_rad"))


@pytest.mark.parametrize(
    ("task", "repo", "name"), [("vqa_rad", RAD, "split 'test'"), ("slake", "BoKelvin/SLAKE", "imgs.zip")]
)
def test_a_file_that_is_not_there_is_named_with_the_page(
    machine: Machine, hub: Hub, task: str, repo: str, name: str
) -> None:
    gone = (*SHARDS, "imgs.zip")
    hub.repositories[repo] = {key: data for key, data in hub.repositories[repo].items() if key not in gone}
    line = refused(machine.play(task))
    assert f"{repo} on the hub holds no {name}" in line and f"{hub.url}/datasets/{repo}" in line


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


def test_a_hub_that_stays_away_is_said_and_no_row_is_called_broken_for_it(machine: Machine, hub: Hub) -> None:
    hub.faults.append(Fault("imgs.zip", status=503, times=99))
    line = refused(machine.play("slake", "--limit", "2"))
    assert "cannot load BoKelvin/SLAKE from the hub: it answers 503" in line and "run it again" in line


@pytest.mark.slow
def test_a_hub_that_is_gone_leaves_what_was_downloaded(machine: Machine, hub: Hub) -> None:
    machine.settings["HF_HUB_OFFLINE"] = "1"
    line = refused(machine.play("vqa_rad"))
    assert f"{RAD} is not in the hub's cache" in line and "run it once with a network, or give --data PATH" in line
    machine.settings.clear()
    assert machine.play("vqa_rad").returncode == 0
    machine.settings["HF_ENDPOINT"] = "http://127.0.0.1:9"  # nobody listens there
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
    with subprocess.Popen(
        [*command, "--output_path", "shown"],
        env=machine.environment,
        cwd=machine.home,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # Linux's way to say that the other end is closed
            pass
        os.close(ours)
    assert process.returncode == 0 and b"2/2" in shown
