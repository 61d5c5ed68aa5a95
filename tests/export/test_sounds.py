"""Exports of a run with something to listen to: each sound goes along, or is named."""

from __future__ import annotations

import base64
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sketchmark import Sound
from sketchmark.export import export
from sketchmark.folder import RunFolder
from tests.core.hearing import tone
from tests.view.making import Maker, heard, play, sample

FLAC = Sound.from_bytes(b"fLaC" + bytes(1500))
NAMES = [f"{tone().digest}.wav", f"{FLAC.digest}.flac"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The first of two samples has a WAV and a FLAC."""
    maker = Maker(tmp_path_factory.mktemp("runs") / "run", cells=("maze.direct",))
    for number, of in enumerate((heard(sample(0), tone(), FLAC), sample(1))):
        maker.add("maze.direct", play(of, "direct", True), number)
    return maker.finish()


def test_lmms_eval_samples_name_their_sounds(folder: RunFolder, tmp_path: Path) -> None:
    _, samples = export(folder, "lmms-eval", tmp_path / "out")
    first, second = map(json.loads, samples.read_text("utf-8").splitlines())
    assert first["sketchmark_input_sounds"] == NAMES and "sketchmark_input_sounds" not in second


def test_inspect_holds_the_sounds_it_supports_and_names_the_others(folder: RunFolder, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ContentAudio, ContentText

    (path,) = export(folder, "inspect", tmp_path / "out")
    log = read_eval_log(str(path), resolve_attachments=True)
    assert log.samples is not None
    *_, wav, flac = list(log.samples[0].messages[0].content)
    assert isinstance(wav, ContentAudio) and wav.format == "wav"
    head, _, data = wav.audio.partition(",")
    assert head == "data:audio/wav;base64" and base64.b64decode(data) == tone().data
    assert isinstance(flac, ContentText) and flac.text == f"(a sound, flac, 2 kB: {NAMES[1]})"


def test_datasets_loads_the_bytes_of_sounds(folder: RunFolder, tmp_path: Path) -> None:
    datasets = import_module("datasets")
    export(folder, "hf", tmp_path / "out")
    rows: Any = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert rows.features["sounds"] == datasets.List(datasets.Audio(decode=False))
    assert [(one["bytes"], one["path"]) for one in rows[0]["sounds"]] == [
        (tone().data, NAMES[0]),
        (FLAC.data, NAMES[1]),
    ]
    assert rows[1]["sounds"] == []


def test_a_run_without_sounds_has_no_column_for_them(tmp_path: Path) -> None:
    parquet = import_module("pyarrow.parquet")
    folder = Maker(tmp_path / "run", cells=("maze.direct",)).fill(1).finish()
    _, path = export(folder, "hf", tmp_path / "out")
    assert "sounds" not in parquet.read_schema(path).names


def test_wandb_names_sounds_below_the_strip(folder: RunFolder, tmp_path: Path) -> None:
    (run,) = export(folder, "wandb", tmp_path / "out")
    stored = b"".join(path.read_bytes() for path in run.rglob("*.wandb"))
    assert b"[a sound, wav, 8 kB; a sound, flac, 2 kB]" in stored
