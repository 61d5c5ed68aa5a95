from __future__ import annotations

from pathlib import Path

from sketchmark import Context, Model, Options, Reply
from sketchmark.benchmarks.medical.scores import judge_open, judge_prompt, read_verdict
from sketchmark.models.cache import with_cache
from tests.tabled import tabled

TEXT = (
    "\nYour task is to determine whether the user's answer is correct based on the provided questions and standard "
    "answers (for example, if the user expresses a similar meaning to the standard answer, or another interpretation "
    "of the standard answer, it is considered correct.)\n\nThe question is: Q\n\nThe standard answer: A\n\n"
    "The user's answer: R\n\nPlease strictly follow the following format for output(0 represents correct, 1 "
    "represents incorrect):\n<think>{your concise think step}</think>\n<judge>{0/1}</judge>\n\nfor example:\n"
    "<think>The standard answer is right, and the user's answer is right frontal lobe, they express the same "
    "meaning, so it is correct.</think>\n<judge>0</judge>\n    "
)


class Strict(Model):
    """Calls an answer correct when it equals the standard answer in the text it is shown."""

    name = "strict"

    def __init__(self) -> None:
        self.seen: list[tuple[str, Options]] = []

    async def say(self, context: Context, options: Options) -> Reply:
        (text,) = context.texts
        self.seen.append((text, options))
        gold = text.partition("The standard answer: ")[2].partition("\n")[0]
        given = text.partition("The user's answer: ")[2].partition("\n")[0]
        return Reply(f"<think>.</think>\n<judge>{int(gold != given)}</judge>")


def test_the_judge_text_is_exactly_as_published() -> None:
    assert judge_prompt("Q", "A", "R") == TEXT


def test_braces_in_an_answer_stay_as_they_are() -> None:
    assert "The user's answer: {R}\n" in judge_prompt("{Q}", "A", "{R}")


@tabled
def test_zero_means_correct(reply: str, correct: bool | None) -> None:
    assert read_verdict(reply).correct is correct


async def test_any_model_can_judge() -> None:
    judge = Strict()
    assert (await judge_open(judge, "where?", "left lung", "left lung")).correct is True
    assert (await judge_open(judge, "where?", "left lung", "right lung")).correct is False
    text, options = judge.seen[0]
    assert text == judge_prompt("where?", "left lung", "left lung")
    assert (options.temperature, options.max_new_tokens) == (0.0, 4096)


async def test_an_answer_without_words_is_wrong_and_not_sent() -> None:
    judge = Strict()
    assert (await judge_open(judge, "where?", "left lung", "  ")).correct is False
    assert judge.seen == []


async def test_what_is_no_verdict_is_not_kept_and_what_is_one_is(tmp_path: Path) -> None:
    class Waking(Strict):
        async def say(self, context: Context, options: Options) -> Reply:
            reply = await super().say(context, options)
            return Reply("Hm?") if len(self.seen) == 1 else reply

    judge = Waking()
    cached = with_cache(judge, tmp_path)
    found = [(await judge_open(cached, "where?", "left", "left")).correct for _ in range(3)]
    assert found == [None, True, True] and len(judge.seen) == 2
