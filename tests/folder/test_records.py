"""Episodes as lines of a run folder, and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sketchmark import Part, Reply, Sound
from sketchmark.episode import Episode, Failure, Turn
from sketchmark.files.jsonl import plain
from sketchmark.files.media_store import PictureStore
from sketchmark.folder.records import media_names, pack_episode, unpack_episode
from sketchmark.media import Picture
from tests.runs.making import colour, cost, make_episode, make_sample


def _whole() -> Episode:
    frames = [colour("pink"), colour("brown")]
    sample = make_sample(
        "s0",
        pictures={"picture": colour("red"), "more": [colour("green"), colour("cyan")]},
        groups={"cluster": "c"},
        steps=2,
        frames=lambda: frames,
    )
    drawn = Reply("", colour("blue"), usage=cost(1, pictures_out=1), left_out=("a video",), raw={"id": 1})
    turns = (
        Turn("show", (Part(colour("red")), Part("words"))),
        Turn("draw", (Part("label"), Part(colour("white"), "model")), "Draw.", drawn, 0.25),
        Turn("say", (Part("yes", "model"),), "Ask.", Reply("yes", finish="length", usage=cost(0, tokens_in=3)), 0.5),
        Turn("skip", note="left out on purpose"),
    )
    settings = {"mode": "visual_cot", "canvas": "blank", "steps": "truth"}
    return Episode(sample, turns, Failure("timeout", "slow", True), 12.5, 0.75, settings)


def test_an_episode_comes_back_as_it_was(tmp_path: Path) -> None:
    store, episode = PictureStore(tmp_path), _whole()
    record = pack_episode(episode, 4, store.save)
    again = unpack_episode(record, store)
    assert record.index == 4 and replace(again, sample=episode.sample) == episode
    assert again.sample.fingerprint() == episode.sample.fingerprint() == record.sample.fingerprint
    assert again.sample.frames is not None and again.sample.frames() == [colour("pink"), colour("brown")]
    assert pack_episode(again, 4, store.save) == record
    shades = ("red", "green", "cyan", "pink", "brown", "red", "white", "blue")
    assert list(media_names(record)) == [f"{colour(shade).digest}.png" for shade in shades]


def test_times_are_rounded_and_success_has_no_failure(tmp_path: Path) -> None:
    store = PictureStore(tmp_path)
    record = pack_episode(make_episode(None, Reply("yes"), started=1.23456, seconds=0.123456), 0, store.save)
    assert record.failure is None and unpack_episode(record, store).failure is None
    assert (record.started, record.seconds) == (1.235, 0.1235)


def test_ground_truth_images_are_kept_only_if_something_was_drawn(tmp_path: Path) -> None:
    store = PictureStore(tmp_path)
    sample = make_sample("s0", frames=lambda: [colour("pink")])
    said = pack_episode(make_episode(sample, Reply("yes")), 0, store.save)
    drew = pack_episode(make_episode(sample, Reply(picture=colour("blue")), act="draw"), 0, store.save)
    without = pack_episode(make_episode(make_sample("s1"), Reply(picture=colour("blue")), act="draw"), 0, store.save)
    assert said.sample.frames is None and without.sample.frames is None
    assert drew.sample.frames == [f"{colour('pink').digest}.png"]
    assert unpack_episode(said, store).sample.frames is None


def test_a_line_has_no_defaults_and_saves_each_image_once() -> None:
    saved: list[Picture | Sound] = []

    def save(shown: Picture | Sound) -> str:
        saved.append(shown)
        return "name"

    record = pack_episode(make_episode(None, Reply("yes")), 0, save)
    reply = {"text": "yes", "finish": "stop", "usage": {"calls": 1}}
    assert plain(record.turns) == [
        {"act": "show", "added": []},
        {"act": "say", "added": [], "reply": reply, "seconds": 0.0},
    ]
    assert saved == [colour("red")]
