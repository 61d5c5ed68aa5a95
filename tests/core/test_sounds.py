"""Sounds: read by what they begin with, kept as they came, bounded, and told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sketchmark import Part, Sample, Sound
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput
from sketchmark.media import sound as sounds
from sketchmark.media.sound import is_sound
from tests.core.hearing import CODECS, encoded, tone
from tests.core.helpers import colour


@pytest.mark.parametrize("name", CODECS)
def test_a_format_is_known_by_its_first_bytes_and_can_be_had_as_wav(name: str) -> None:
    sound = encoded(name)
    assert sound.format == name and is_sound(sound.data) and sound.media_type.startswith("audio/")
    values, rate = sound.as_wav().samples()
    assert sound.as_wav().format == "wav" and rate == 48000
    assert values.shape[0] == 1 and 4800 <= values.shape[1] <= 7200  # codecs pad
    assert 0.45 < np.abs(values).max() < 0.55


def test_a_wav_is_handed_on_as_it_is() -> None:
    assert (sound := tone()).as_wav() is sound


def test_sixteen_bits_come_back_to_the_last_one() -> None:
    numbers = np.array([[0, 1, -1, 32767, -32768], [5, 4, 3, 2, 1]], dtype=np.int16)
    by_number = Sound.from_samples(numbers, 8000)
    assert Sound.from_samples(numbers / 2**15, 8000) == by_number
    values, rate = by_number.samples()
    assert rate == 8000 and np.array_equal(np.rint(values * 2**15), numbers)


def test_what_is_too_loud_is_cut_and_what_is_no_number_is_silent() -> None:
    values, _ = Sound.from_samples(np.array([2.0, -2.0, np.nan]), 8000).samples()
    assert np.rint(values * 2**15).tolist() == [[32767, -32768, 0]]


def test_another_rate_is_another_number_of_samples() -> None:
    values, rate = tone(rate=16000, seconds=0.1).samples(8000)
    assert rate == 8000 and values.shape == (1, 800)


@pytest.mark.parametrize("data", [b"", b"x", b"\xff", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBP", colour("red").data])
def test_what_is_no_sound_is_not_taken_for_one(data: bytes) -> None:
    assert not is_sound(data) and not is_sound(data.decode("latin1"))
    with pytest.raises(BadInput, match="not a sound"):
        Sound.from_bytes(data)


@pytest.mark.parametrize("data", [b"RIFF\0\0\0\0WAVEjunk", b"fLaC" + bytes(99), b"OggS", tone().data[:44]])
def test_a_broken_sound_is_told_in_one_line(data: bytes) -> None:
    with pytest.raises(BadInput, match="broken") as told:
        Sound.from_bytes(data).samples()
    assert "\n" not in str(told.value)


def test_a_play_list_that_begins_like_a_sound_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.wav").write_bytes(tone().data)
    listed = f"#EXTM3U\nfile://{tmp_path}/secret.wav\n"
    with pytest.raises(BadInput):
        Sound(listed.encode(), "mp3").samples()


def test_a_sound_is_bounded_as_it_comes_and_as_it_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound, packed = tone(), encoded("mp3", seconds=2)
    (tmp_path / "a.wav").write_bytes(sound.data)
    monkeypatch.setattr(sounds, "MAX_BYTES", len(sound.data) - 1)
    tries: tuple[Callable[[], object], ...] = (
        lambda: Sound.from_bytes(sound.data),
        lambda: Sound.from_file(tmp_path / "a.wav"),
        lambda: Sound.from_samples(np.zeros(len(sound.data)), 16000),
        packed.as_wav,
        packed.samples,
    )
    for make in tries:
        with pytest.raises(BadInput, match="over"):
            make()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read sound .*gone\.wav"):
        Sound.from_file(tmp_path / "gone.wav")


@pytest.mark.parametrize(("shape", "rate"), [((2, 2, 2), 8000), ((65, 3), 8000), ((3,), 0), ((3,), 2**21)])
def test_numbers_that_can_be_no_sound_are_refused(shape: tuple[int, ...], rate: int) -> None:
    with pytest.raises(BadInput, match="not a sound: numbers of the shape"):
        Sound.from_samples(np.zeros(shape), rate)


def test_a_context_with_another_sound_is_another_context() -> None:
    high, low = tone(880), tone(440)
    assert high == tone(880) and high != low and len({high, tone(880), low}) == 2
    keys = {context.key() for context in (of("a", high), of("a", low), of(high, "a"), of("a"), of("a", high.digest))}
    assert len(keys) == 5
    assert of("a", high, colour("red"), low).sounds == [high, low]
    assert (Part(high).sound, Part(high).picture, Part(high).text) == (high, None, None)


def test_a_sample_with_another_sound_is_another_sample_and_without_any_is_as_before() -> None:
    silent, low, high = Sample("s"), Sample("s", sounds={"a": [tone(440)]}), Sample("s", sounds={"a": [tone(880)]})
    assert len({sample.fingerprint() for sample in (silent, low, high)}) == 3
    assert silent.fingerprint() == "04ecd1c58c27e569"


def test_the_layout_shows_a_name_s_pictures_and_then_its_sounds() -> None:
    from sketchmark import FilledPrompts

    red, low = colour("red"), tone()
    sample = Sample("s", pictures={"visuals": [red]}, sounds={"visuals": [low]}, fields={"question": "?"})
    layout = ["<visuals>", {"when": "visuals", "parts": ["{question}"]}]
    assert FilledPrompts(sample, {"inputs": layout}).parts() == [red, low, "?"]
    heard = Sample("s", sounds={"visuals": [low]}, fields={"question": "?"})
    assert FilledPrompts(heard, {"inputs": layout}).parts() == [low, "?"]
    assert of(red, low).pictures == [red]
