"""An episode: its answer, its drawings and the context of each call."""

from __future__ import annotations

from sketchmark import Part, Reply, Sample
from sketchmark.episode import Act, Episode, Failure, Turn
from sketchmark.testing import colour


def _turn(act: Act, text: str = "", *, added: str = "", suffix: str = "", drawn: bool = False) -> Turn:
    return Turn(act, (Part(added),) if added else (), suffix, Reply(text, colour("red") if drawn else None))


def test_the_answer_is_the_last_thing_said_and_descriptions_are_not_said() -> None:
    turns = (_turn("say", "first"), _turn("say", "last"), _turn("describe", "a picture"))
    assert Episode(Sample("s"), turns).answer == "last"
    assert Episode(Sample("s"), turns).says == ["first", "last"]
    assert Episode(Sample("s"), turns, Failure("error", "")).answer == ""
    assert Episode(Sample("s"), ()).answer == ""


def test_drawings_and_attempts_are_counted_separately() -> None:
    turns = (_turn("draw", drawn=True), _turn("draw"), _turn("say", drawn=True), _turn("describe"))
    episode = Episode(Sample("s"), turns)
    assert len(episode.drawings) == 1 and episode.draw_attempts == 2


def test_the_context_of_a_call_is_all_that_was_added_before_and_its_own_suffix() -> None:
    turns = (Turn("show", (Part("q"),)), _turn("say", added="a", suffix="s1"), _turn("say", added="b"), Turn("skip"))
    contexts = [context.texts for _, context in Episode(Sample("s"), turns).contexts()]
    assert contexts == [["q", "s1"], ["q", "a"]]


def test_defaults_are_no_time_no_reply_and_no_blame() -> None:
    assert Turn("show").seconds == 0 and Turn("show").reply is None and Turn("show").note == ""
    episode = Episode(Sample("s"), ())
    assert (episode.started, episode.seconds, episode.settings, episode.failure) == (0, 0, {}, None)
    assert not Failure("connection", "gone").blames_model
