"""Tasks that are to be listened to: what their code is given of a data set's sounds, and what a model hears of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped]
import pytest

import sketchmark
from sketchmark.errors import CannotPlay
from sketchmark.folder.results_format import CellResult
from sketchmark.lmms_eval.data import decode_sounds
from tests.core.hearing import Deaf, Ear, encoded, tone

TASK = """
task: tones
dataset_path: json
test_split: test
output_type: generate_until
doc_to_visual: {visual}
doc_to_text: question
doc_to_target: answer
metric_list: [{{metric: exact_match, aggregation: mean}}]
"""
CODE = """
def visual(doc):
    sound = doc["audio"]
    assert sorted(sound) == ["array", "path", "sampling_rate"] and sound["array"].ndim == 1
    return [{"array": sound["array"] / 2, "sampling_rate": sound["sampling_rate"]}]


def newer(doc):
    assert type(doc["audio"]).__name__ == "AudioDecoder"
    samples = doc["audio"].get_all_samples()
    numbers = samples.data.cpu().numpy()
    assert numbers.ndim == 2 and type(numbers).__name__ == "ndarray"
    return [{"array": numbers.flatten() / 2, "sampling_rate": samples.sample_rate}]


def only_odd(docs):
    return docs.filter(lambda doc: doc["number"] % 2 == 1).map(lambda doc: {"length": len(doc["audio"]["array"])})
"""


def tones(tmp_path: Path, visual: str, *, rate: int | None = None, more: str = "") -> Path:
    """A task folder, and beside it the data as the hub has it."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "tones.yaml").write_text(TASK.format(visual=visual) + more)
    (mine / "code.py").write_text(CODE)
    asked = {"question": "Which?", "answer": "1 sounds"}
    rows = [
        {"audio": {"bytes": sound.data, "path": f"{number}.x"}, "number": number, **asked}
        for number, sound in enumerate([tone(220, seconds=0.1), encoded("flac")])
    ]
    made = datasets.Dataset.from_list(rows).cast_column("audio", datasets.Audio(sampling_rate=rate))
    made.to_parquet(str(tmp_path / "test.parquet"))
    return mine


def played(mine: Path, model: sketchmark.Model, mode: str = "direct") -> CellResult:
    asked: dict[str, Any] = {"include": (mine,), "trust_code": True, "data": mine.parent / "test.parquet"}
    ran = sketchmark.run(model, "tones", mode=mode, output_path=mine.parent / "out", no_cache=True, **asked)
    return ran.results.tasks[f"tones.{mode}"]


@pytest.mark.parametrize("function", ["visual", "newer"])
def test_a_function_gets_numbers_and_a_model_hears_what_it_made_of_them(tmp_path: Path, function: str) -> None:
    ear = Ear()
    cell = played(tones(tmp_path, f"!function code.{function}"), ear)
    assert (cell.n, cell.metrics["exact_match"].mean) == (2, 1.0)
    heard = [context.sounds[0].samples() for context in ear.contexts]
    assert [rate for _, rate in heard] == [16000, 48000]
    assert [abs(values).max() for values, _ in heard] == pytest.approx([0.25, 0.25], abs=0.01)


def test_sounds_are_brought_to_the_rate_that_the_data_set_names(tmp_path: Path) -> None:
    ear = Ear()
    played(tones(tmp_path, "!function code.visual", rate=8000), ear)
    assert [context.sounds[0].samples()[1] for context in ear.contexts] == [8000, 8000]


def test_process_docs_works_on_documents_with_sounds(tmp_path: Path) -> None:
    ear = Ear()
    cell = played(tones(tmp_path, "!function code.visual", more="process_docs: !function code.only_odd\n"), ear)
    assert cell.n == 1 and ear.contexts[0].sounds[0].samples()[1] == 48000


def test_a_document_without_a_sound_stays_without_and_a_file_keeps_its_name() -> None:
    rows = datasets.Dataset.from_list([{"audio": None}, {"audio": {"bytes": tone().data, "path": "a.wav"}}])
    silent, named = decode_sounds(rows.cast_column("audio", datasets.Audio()))
    assert silent["audio"] is None and named["audio"]["path"] == "a.wav"


def test_a_column_is_heard_as_it_is_in_the_file(tmp_path: Path) -> None:
    ear = Ear()
    played(tones(tmp_path, "audio"), ear, "visual_cot")
    assert sorted({context.sounds[0].format for context in ear.contexts}) == ["flac", "wav"]
    assert len(ear.contexts) == 4 and all(len(context.sounds) == 1 for context in ear.contexts)


def test_whoever_hears_nothing_is_not_asked(tmp_path: Path) -> None:
    deaf = Deaf()
    with pytest.raises(CannotPlay, match="is to be listened to"):
        played(tones(tmp_path, "audio"), deaf)
    assert deaf.contexts == []
