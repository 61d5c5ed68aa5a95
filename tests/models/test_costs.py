"""Usage that providers report, and what a run pays: no report, a false one or a failed attempt is not free."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.episode.sample import of
from sketchmark.errors import CallFailed
from sketchmark.models.code_drawing import ByCode, DrawsByCode
from sketchmark.models.wrappers import CallCount, CountedModel, Metered
from sketchmark.runs import PreparedRun, prepare
from tests.models.fake_server import (
    DRAWN,
    FarEnd,
    Fault,
    chat_answer,
    default_answer,
    gemini_answer,
    in_base64,
    picture_block,
)
from tests.models.test_contract import ADAPTERS, DRAWERS, adapter
from tests.models.test_http import photo

HUGE = 2**53


@pytest.mark.parametrize(
    ("given", "count"),
    [(0, 0), (7, 7), (HUGE, HUGE), (7.0, 7), ("7", 7), (np.int64(7), 7), *((odd, None) for odd in (
        -1, HUGE + 1, 2**63, 10**400, True, None, "-7", "", "7e3", "٧", "9" * 17, 0.5, float("inf"), float("nan"), [],
        {}, object()))],
)  # fmt: skip
def test_a_count_from_0_to_2_53_is_known_and_anything_else_is_not(given: Any, count: int | None) -> None:
    usage = Usage(given, 3, pictures_out=1)
    assert (usage.tokens_in, usage.tokens_out, usage.pictures_out, usage.calls) == (count or 0, 3, 1, 1)
    assert usage.uncounted == (count is None) and all(type(value) is int for value in vars(usage).values())
    total = usage + Usage(HUGE, calls=2)
    assert (total.tokens_in, total.calls, total.uncounted) == (HUGE, 3, usage.uncounted)
    assert Usage(calls=given).calls == (1 if count is None else count)


FALSE: dict[str, Any] = {"negative": (-37_500, -9), "beyond": (2**63, 10**400), "nothing": (None, None), "0": (0, 0)}


@pytest.mark.parametrize("kind", FALSE)
@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_false_or_missing_report_is_unknown_for_every_adapter(far: FarEnd, name: str, kind: str) -> None:
    sent, came = FALSE[kind]
    names = {"gemini": ("promptTokenCount", "candidatesTokenCount"), "anthropic": ("input_tokens", "output_tokens")}
    keys = names.get(name, ("prompt_tokens", "completion_tokens"))
    usage = dict(zip(keys, (sent, came), strict=True)) if kind != "nothing" else None

    def answer(seen: Any) -> dict[str, Any]:
        return {**default_answer(seen), "usageMetadata" if name == "gemini" else "usage": usage}

    far.answer = answer
    reply = await adapter(far, name).say(of("Hm?"), Options())
    assert reply.text == "left" and reply.usage == Usage(uncounted=1)


def into(paid: list[Usage]) -> Callable[[Usage], bool]:
    def charge(usage: Usage) -> bool:
        paid.append(usage)
        return True

    return charge


CUT = {"b64_json": in_base64(DRAWN)[:40]}
BROKEN = picture_block(DRAWN)["image_url"]["url"][:60]
BAD = {
    "openai": chat_answer({"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": BROKEN}}]}),
    "bagel": chat_answer({"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": BROKEN}}]}),
    "azure": {"created": 1, "data": [CUT], "usage": {"input_tokens": 11, "output_tokens": 5}},
    "gemini": gemini_answer([{"inlineData": {"mimeType": "image/png", "data": in_base64(DRAWN)[:40]}}]),
}


@pytest.mark.parametrize("name", DRAWERS)
async def test_a_drawing_that_cannot_be_used_is_paid_for_at_every_attempt(far: FarEnd, name: str) -> None:
    paid: list[Usage] = []
    tally = CallCount()
    model = CountedModel(Metered(adapter(far, name, max_retries=2), into(paid)), tally)
    far.faults = [Fault(500), Fault(200, body=BAD[name]), Fault(200, body=BAD[name])]
    with pytest.raises(CallFailed, match="bad_reply"):
        await model.draw(of("Draw."), Options())
    assert [(one.tokens_in, one.tokens_out, one.pictures_out, one.uncounted) for one in paid] == [(11, 5, 1, 0)] * 2
    assert (tally.tokens_in, tally.pictures_out, tally.answered, tally.retries) == (22, 2, 0, 2)
    far.faults = [Fault(200, body=BAD[name])]
    assert (await model.draw(of("Draw."), Options())).picture == DRAWN
    assert len(paid) == 4 and tally.pictures_out == 4


@pytest.mark.parametrize("name", ADAPTERS)
async def test_a_lost_reply_is_paid_for_as_the_longest_and_an_error_is_not(far: FarEnd, name: str) -> None:
    paid: list[Usage] = []
    model = Metered(adapter(far, name), into(paid))
    for status in (400, 429, 500):
        far.faults = [Fault(status)]
        with pytest.raises(CallFailed):
            await model.say(of("Hm?"), Options())
    assert paid == []
    far.faults = [Fault(200, body={"choices": "no", "content": 7, "candidates": 7})]
    with pytest.raises(CallFailed, match="bad_reply"):
        await model.say(of("x" * 400), Options(max_new_tokens=50))
    assert [(one.tokens_in, one.tokens_out, one.uncounted) for one in paid] == [(100, 50, 1)]


async def test_attempts_end_where_the_cost_limit_is_reached(far: FarEnd) -> None:
    far.faults = [Fault(200, body=BAD["openai"]) for _ in range(9)]
    left = [True, True, False]
    model = Metered(adapter(far, "openai", max_retries=6), lambda usage: left.pop(0))
    with pytest.raises(CallFailed, match="not tried again: the cost limit is reached") as caught:
        await model.draw(of("Draw."), Options())
    assert (caught.value.kind, caught.value.stops_run, len(far.seen)) == ("cost_limit", False, 3)


async def test_a_drawing_whose_download_fails_is_paid_for(far: FarEnd) -> None:
    far.answer = {"created": 1, "data": [{"url": f"{far.url}/gone.png"}], "usage": {"input_tokens": 3}}
    paid: list[Usage] = []
    model = Metered(adapter(far, "openai", draw_model="gpt-image-2"), into(paid))
    with pytest.raises(CallFailed):
        await model.draw(of("Draw."), Options())
    assert [(one.tokens_in, one.pictures_out) for one in paid] == [(3, 1)]


async def test_tries_of_a_drawing_by_code_are_paid_for_also_where_a_later_call_fails() -> None:
    class Fading(Model):
        calls = 0

        async def say(self, context: Context, options: Options) -> Reply:
            self.calls += 1
            if self.calls == 2:
                raise CallFailed("connection", "gone")
            return Reply("no svg", usage=Usage(5, 7))

    paid: list[Usage] = []
    model = Metered(DrawsByCode(Fading("f"), ByCode(retries=2)), into(paid))
    with pytest.raises(CallFailed, match="gone"):
        await model.draw(of("Draw."), Options())
    assert paid == [Usage(5, 7)]


# Whole runs with --max-cost


def _prepared(far: FarEnd, tmp_path: Path, engine: str = "local", **more: Any) -> PreparedRun:
    prices = {"openai/m": {"input": 1000, "output": 1000, "picture": 1}}
    asked = {"limit": 30, "max_cost": 5, "concurrency": 2, "engine": engine, "prices": prices, "no_cache": True}
    args = {"base_url": f"{far.url}/v1", "max_retries": 2}
    return prepare("openai/m", "maze", output_path=tmp_path / "run", model_args=args, **{**asked, **more})


def _chat(usage: Any) -> dict[str, Any]:
    answer = chat_answer({"role": "assistant", "content": "left"})
    return {**answer, "usage": usage} if usage else {key: value for key, value in answer.items() if key != "usage"}


def test_a_cost_limit_holds_though_no_usage_is_reported(
    far: FarEnd, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    far.answer = lambda seen: _chat(None)
    run = _prepared(far, tmp_path)
    folder = run.play()
    assert 5 <= run.budget.spent < 10 and run.budget.estimated == len(far.seen) < 15 and run.is_stopped_by_cost()
    told = [record.message for record in caplog.records if "estimated" in record.message]
    assert len(told) == 1 and "4 characters are a token" in told[0]
    assert folder.results().tasks["maze.direct"].usage["uncounted"] == len(far.seen)
    assert len(list(folder.scores("maze.direct"))) == len(list(folder.episodes("maze.direct"))) == len(far.seen)


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_drawings_that_cannot_be_used_reach_the_cost_limit(far: FarEnd, tmp_path: Path, engine: str) -> None:
    cut, few = photo("PNG")[:2000], {"prompt_tokens": 1, "completion_tokens": 1}

    def answer(seen: Any) -> dict[str, Any]:
        if "image" not in seen.body.get("modalities", ()):
            return _chat(few)
        url = f"data:image/png;base64,{in_base64(sketchmark.Picture(cut, 'png'))}"
        content = [{"type": "image_url", "image_url": {"url": url}}]
        return chat_answer({"role": "assistant", "content": content}) | {"usage": few}

    far.answer = answer
    run = _prepared(far, tmp_path, engine, mode="visual_cot", max_cost=8, replicas=1)
    run.play()
    drawings = sum("image" in seen.body.get("modalities", ()) for seen in far.seen)
    assert run.budget.spent >= 8 and drawings <= run.budget.spent < drawings + 5, "one for each drawing, and tokens"
    assert drawings < 20 and run.is_stopped_by_cost()


def test_a_model_of_your_own_that_reports_nothing_is_estimated(tmp_path: Path) -> None:
    class Silent(Model):
        async def say(self, context: Context, options: Options) -> Reply:
            return Reply("left")

    prices = {"silent": {"input": 1000}}
    asked: dict[str, Any] = {"limit": 20, "prices": prices, "max_cost": 3, "concurrency": 1}
    run = prepare(Silent("silent"), "maze", output_path=tmp_path / "run", **asked)
    run.play()
    assert 3 <= run.budget.spent < 5 and run.budget.estimated < 6


@pytest.mark.parametrize(
    "odd",
    [
        lambda: Reply(7),  # type: ignore[arg-type]
        lambda: Reply("left", finish=7),  # type: ignore[arg-type]
        lambda: Reply("left", trouble=["no"]),  # type: ignore[arg-type]
        lambda: Reply("left", left_out=(7,)),  # type: ignore[arg-type]
    ],
)
def test_a_reply_that_could_not_be_read_again_fails_its_episode_and_no_other(
    tmp_path: Path, odd: Callable[[], Reply]
) -> None:
    class Odd(Model):
        calls = 0

        async def say(self, context: Context, options: Options) -> Reply:
            self.calls += 1
            return odd() if self.calls == 2 else Reply("left")

    folder = sketchmark.run(Odd("odd"), "maze", limit=3, concurrency=1, output_path=tmp_path).folder
    cell = folder.results().tasks["maze.direct"]
    assert (cell.n, cell.failures["error"]) == (2, 1) and len(list(folder.episodes("maze.direct"))) == 3
