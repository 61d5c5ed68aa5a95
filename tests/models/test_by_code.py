"""Drawing by code: the request to the model, the image of its SVG, and the reason where it cannot be used."""

from __future__ import annotations

import asyncio
import re

import pytest

from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.episode.model import Finish
from sketchmark.episode.sample import of
from sketchmark.errors import MissingExtra
from sketchmark.media.svg import render
from sketchmark.models import load_model
from sketchmark.models.code_drawing import ByCode, DrawsByCode
from tests.core.helpers import colour

NAMES = 'xmlns="http://www.w3.org/2000/svg"'
RED = f'<svg {NAMES} width="4" height="3"><rect width="4" height="3" fill="#ff0000"/></svg>'
BOMB = '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
SLOW = (
    f'<svg {NAMES} width="4000" height="4000"><filter id="f"><feTurbulence baseFrequency="0.9" numOctaves="9999999"/>'
    '</filter><rect width="4000" height="4000" filter="url(#f)"/></svg>'
)


class Writer(Model):
    """Says one text after the other, the last again and again, and keeps what it was asked."""

    def __init__(self, *texts: str, finish: Finish = "stop") -> None:
        super().__init__("writer")
        self.texts, self.finish = texts, finish
        self.asked: list[tuple[Context, Options]] = []

    async def say(self, context: Context, options: Options) -> Reply:
        text = self.texts[min(len(self.asked), len(self.texts) - 1)]
        self.asked.append((context, options))
        return Reply(text, finish=self.finish, usage=Usage(10, 5, pictures_in=1), raw={"model": "writer-1"})


async def drawn(writer: Model, context: Context | None = None, **how: int) -> Reply:
    return await DrawsByCode(writer, ByCode(**how)).draw(context or of("Draw!", colour("blue")), Options(None, 0.3))


async def test_the_picture_is_what_its_code_shows_and_the_reply_keeps_the_code() -> None:
    reply = await drawn(Writer(f"Here you are:\n```svg\n{RED}\n```\nIt is red."))
    assert reply.picture == colour("#ff0000", (4, 3)), "known by its pixels"
    assert (reply.text, reply.finish, reply.trouble) == (RED, "stop", "")
    assert reply.usage == Usage(10, 5, pictures_in=1, calls=1)
    assert reply.raw["model"] == "writer-1" and "It is red." in reply.raw["svg"]["said"]
    empty = await drawn(Writer(f'<svg {NAMES} width="2" height="2"/>'))
    assert empty.picture == colour("white", (2, 2)), "the page is white"


async def test_the_request_holds_the_context_and_numbers_its_images() -> None:
    writer = Writer(RED)
    context = of("Look", colour("blue", (30, 20)), colour("lime", (8, 9)), "Draw!")
    reply = await drawn(writer, context, tokens=77)
    asked, options = writer.asked[0]
    assert asked.parts[:-1] == context.parts and asked.parts[-1].by == "task"
    request = asked.texts[-1]
    assert "picture:1 of 30x20 pixels, picture:2 of 8x9 pixels" in request and "SVG" in request
    assert not re.search(r"\{\w*\}", request), "nothing is left to be filled in"
    assert options == Options(77, 0.3) and reply.raw["svg"]["asked"] == request
    await drawn(writer, of("Draw!"))
    assert "picture:1" not in writer.asked[1][0].texts[-1] and "empty page" in writer.asked[1][0].texts[-1]


async def test_a_drawing_may_show_an_image_of_the_context() -> None:
    code = f'<svg {NAMES} width="16" height="16"><image href="picture:2" width="16" height="16"/></svg>'
    reply = await drawn(Writer(code), of(colour("blue"), "and", colour("lime")))
    assert reply.picture == colour("lime")
    assert "base64" not in reply.text, "the code stays as the model wrote it"


BAD = {  # tests/svg has everything that the renderer refuses
    "none": ("I would rather not.", "there is no SVG in the reply"),
    "empty": ("", "there is no SVG in the reply"),
    "no end": (f"<svg {NAMES} width='4' height='4'><rect/>", "</svg> is missing"),
    "broken": (f'<svg {NAMES} width="4" height="4"><rect></svg>', "not well-formed"),
    "long": (f"<svg {NAMES}>{'<!-- -->' * 150_000}</svg>", "an SVG of 12000"),
    "longer": ("<svg" * 600_000, "a reply of 2400000 characters"),
    "no such picture": (f'<svg {NAMES}><image href="picture:2"/></svg>', "shows picture 2 (there are 1 to 1)"),
    "no room": (f'<svg {NAMES} width="0" height="0"></svg>', "cannot be rendered"),
    "an entity": (f'{BOMB}<svg {NAMES} width="4" height="4"><text>&b;</text></svg>', "undefined entity"),
    "slow": (SLOW, "stopped"),
}


@pytest.mark.parametrize("kind", BAD)
async def test_svg_that_cannot_be_used_is_the_models_failure_with_its_reason(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sketchmark.models.code_drawing.render", lambda text, **more: render(text, seconds=1, **more))
    text, why = BAD[kind]
    reply = await drawn(Writer(text))
    assert (reply.picture, reply.finish, reply.text) == (None, "no_picture", text)
    assert why in reply.trouble and "\n" not in reply.trouble and len(reply.trouble) < 500
    assert reply.raw["svg"]["failed"] == [{"said": text[:200_000], "why": reply.trouble}]


async def test_a_cut_reply_counts_only_if_its_drawing_was_whole() -> None:
    cut = await drawn(Writer(RED[:-6], finish="length"), tokens=9)
    assert cut.finish == "length" and cut.trouble.startswith("the reply was cut at 5 tokens: "), "as its usage says"
    whole = await drawn(Writer(RED + " and so", finish="length"))
    assert whole.picture is not None and whole.finish == "stop"


async def test_a_refusal_stays_one_and_is_not_asked_again() -> None:
    writer = Writer("No.", finish="refused")
    reply = await drawn(writer, retries=3)
    assert (reply.finish, reply.picture, len(writer.asked)) == ("refused", None, 1)


async def test_a_retry_holds_the_renderers_words_and_all_calls_count() -> None:
    bad = f'<svg {NAMES} width="4" height="4"><rect></svg>'
    writer = Writer(bad, RED)
    reply = await drawn(writer, retries=1)
    assert reply.picture == colour("#ff0000", (4, 3)) and reply.trouble == ""
    assert reply.usage == Usage(20, 10, pictures_in=2, calls=2)
    first, again = (context for context, _ in writer.asked)
    assert again.parts[: len(first)] == first.parts
    assert [part.by for part in again.parts[len(first) :]] == ["model", "task"]
    assert again.texts[-2] == bad and "not well-formed" in again.texts[-1]
    [failed] = reply.raw["svg"]["failed"]
    assert failed["said"] == bad and failed["why"] in again.texts[-1]


async def test_a_drawing_is_retried_as_often_as_asked_with_short_and_full_texts_only() -> None:
    writer = Writer("no", "still no", "never")
    reply = await drawn(writer, retries=1)
    assert reply.picture is None and len(writer.asked) == 2 and reply.usage.calls == 2
    assert [failed["said"] for failed in reply.raw["svg"]["failed"]] == ["no", "still no"]
    for first in ("<svg" * 600_000, ""):
        writer = Writer(first, RED)
        assert (await drawn(writer, retries=1)).picture is not None
        texts = writer.asked[1][0].texts
        assert all(texts) and sum(map(len, texts)) < 210_000, "providers refuse empty texts"


def test_a_model_may_be_used_in_one_event_loop_after_the_other() -> None:
    model = DrawsByCode(Writer(RED), ByCode())

    async def many() -> list[Reply]:
        return await asyncio.gather(*(model.draw(of("Draw!"), Options()) for _ in range(9)))

    for _ in range(2):
        assert all(reply.picture for reply in asyncio.run(many()))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"first {RED} then <svg>2</svg> end", "<svg>2</svg>"),
        ("<svg><svg/><svg>in</svg></svg>", "<svg><svg/><svg>in</svg></svg>"),
        ("I shall write <svg> first. <svg>it</svg>", "<svg>it</svg>"),
        ("</svg> stray <svg>it</svg>", "<svg>it</svg>"),
        ("<svgx>no</svgx><svg\n a='1'>it</svg\n>", "<svg\n a='1'>it</svg\n>"),
    ],
)
def test_the_document_that_ends_last_counts(text: str, found: str) -> None:
    from sketchmark.models.code_drawing import svg_in

    assert svg_in(text) == found


def test_the_identity_holds_what_could_change_a_drawing_by_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    plain, coded = load_model("openai/gpt-4o"), load_model("openai/gpt-4o", {"draw_with": "svg", "svg_retries": 1})
    assert {"draw_model", "draw_with"} <= plain.identity().keys()
    assert coded.identity() == {
        "name": "openai/gpt-4o",
        "draw_with": "svg",
        "svg_retries": 1,
        "svg_tokens": 4096,
        "svg_prompts": coded.identity()["svg_prompts"],
    }
    assert coded.arguments == {"draw_with": "svg", "svg_retries": 1, "svg_tokens": 4096}
    more = load_model("openai/gpt-4o", {"draw_with": "svg", "svg_tokens": "9000"})
    assert more.identity() != coded.identity()


def test_other_words_for_the_model_are_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    from sketchmark.models import code_drawing

    before = load_model("player/solver", {"draw_with": "svg"}).identity()
    words = {**code_drawing._prompts(), "again": "Try {reason}"}
    monkeypatch.setattr(code_drawing, "_prompts", lambda: words)
    assert load_model("player/solver", {"draw_with": "svg"}).identity() != before


def test_a_model_that_draws_by_code_keeps_its_abilities_and_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    plain, coded = load_model("anthropic/m"), load_model("anthropic/m", {"draw_with": "svg"})
    assert (plain.abilities.draw, plain.abilities.draws_code) == (False, False)
    assert (coded.abilities.draw, coded.abilities.draws_code, coded.abilities.max_pictures) == (True, True, 100)
    from sketchmark.runs.engine import key_variables

    assert key_variables(coded) == key_variables(plain) == ("ANTHROPIC_API_KEY",)


def test_a_missing_renderer_is_an_error_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="drawing by SVG"):
        DrawsByCode(Writer(RED), ByCode())
