"""A run with sounds: refused for a model without hearing; written, resumed and repaired like images."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sketchmark import Sample, Sound, Usage
from sketchmark.cli import root
from sketchmark.errors import CannotPlay
from sketchmark.folder import RunFolder
from sketchmark.folder.records import media_names
from sketchmark.runs.checks import check, estimate
from sketchmark.runs.worker import (
    Pictures,
    episodes_in,
    pack_job,
    pack_outcome,
    samples_in,
    unpack_job,
    unpack_outcome,
)
from tests.core.hearing import Deaf, Ear, tone
from tests.runs.making import make_cell, make_sample, make_task, run

CELL = "shades.direct"


def _sample(number: int) -> Sample:
    return make_sample(f"s{number}", sounds={"picture": [tone(220 * (number + 1))]}, pictures={})


def _samples(count: int = 3) -> list[Sample]:
    return [_sample(number) for number in range(count)]


def test_a_model_without_hearing_is_refused_before_the_first_call() -> None:
    cell = make_cell(make_task(_samples()))
    with pytest.raises(CannotPlay, match=r"is to be listened to \(sample s0\), and deaf takes no sounds"):
        check(cell, "deaf", Deaf("deaf").abilities)
    check(cell, "ear", Ear().abilities)


async def test_a_later_sound_fails_only_its_episode_without_a_call(tmp_path: Path) -> None:
    model = Deaf()
    folder = await run(tmp_path, [make_cell(make_task([make_sample("seen"), _sample(1)]))], model)
    failures = [line.failure and line.failure.kind for line in folder.episodes(CELL)]
    assert failures == [None, "cannot_hear"] and len(model.contexts) == 1
    assert folder.results().tasks[CELL].failures == {"cannot_hear": 1}


async def test_an_episode_is_written_and_read_back_with_its_sounds(tmp_path: Path) -> None:
    model = Ear()
    folder = await run(tmp_path, [make_cell(make_task(_samples()))], model)
    assert [context.sounds for context in model.contexts] == [[tone(220)], [tone(440)], [tone(660)]]
    for number, episode in RunFolder.open(tmp_path).played(CELL):
        assert episode.sample.sounds == {"picture": [tone(220 * (number + 1))]}
        assert episode.sample.fingerprint() == _sample(number).fingerprint()
        assert episode.turns[0].added[0].content == tone(220 * (number + 1))
    for line in folder.episodes(CELL):
        assert set(media_names(line)) == {f"{tone(220 * (line.index + 1)).digest}.wav"}


async def test_an_episode_with_a_lost_or_repaired_sound_is_run_again(tmp_path: Path) -> None:
    cells, name = [make_cell(make_task(_samples()))], f"{tone(440).digest}.wav"
    folder = await run(tmp_path, cells, Ear())
    for damaged in (False, True):
        folder.pictures.path(name).unlink()
        if damaged:
            folder.pictures.path(name).write_bytes(tone(441).data)
            with pytest.raises(Exception, match="does not hold what its name says"):
                list(folder.played(CELL))
            done = CliRunner().invoke(root, ["repair", str(tmp_path)])
            assert done.exit_code == 0 and name in done.output
        model = Ear()
        await run(tmp_path, cells, model)
        assert [context.sounds for context in model.contexts] == [[tone(440)]]
        assert folder.pictures.load_sound(name) == tone(440)


async def test_a_sound_is_sent_to_a_worker_and_back(tmp_path: Path) -> None:
    cell = make_cell(make_task(_samples()))
    folder = await run(tmp_path, [cell], Ear())
    parcel = pack_job(cell, 1, _sample(1), None)
    job, known = unpack_job(parcel)
    sample, _ = samples_in(job, known)
    assert sample.sounds == {"picture": [tone(440)]} and sample.fingerprint() == _sample(1).fingerprint()
    episode = next(episode for number, episode in folder.played(CELL) if number == 1)
    outcome, new = unpack_outcome(pack_outcome(job, known, [episode], [None], Usage()))
    assert new.files == {}  # it came with the job
    (back,) = episodes_in(outcome, new, parcel, None)
    assert back.turns[0].added[0].content == tone(440)
    assert isinstance(Pictures({"x.wav": tone().data}).load_sound("x.wav"), Sound)


def test_an_estimate_counts_sounds() -> None:
    short = estimate([make_cell(make_task([make_sample("s", pictures={})]))])[CELL].usage["tokens_in"]
    heard = make_sample("s", pictures={}, sounds={"picture": [tone(seconds=2)]})
    assert estimate([make_cell(make_task([heard]))])[CELL].usage["tokens_in"] == short + 64
