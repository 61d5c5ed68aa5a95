"""The leak test, on the wire: whatever is shown in the drawing's place, nothing of the drawing itself goes back."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from PIL import Image

from sketchmark import Context, Model, Options, Part, Reply
from sketchmark.catalog import Catalog
from sketchmark.episode.desk import CANVASES
from sketchmark.errors import CannotPlay
from sketchmark.media import Picture
from sketchmark.models.wrappers import Wrapped
from sketchmark.runs.checks import plan
from sketchmark.runs.episodes import play
from sketchmark.runs.plan import cells_of
from sketchmark.settings import Settings
from tests.models.fake_server import (
    PICTURE_FIELDS,
    FarEnd,
    Seen,
    anthropic_answer,
    chat_answer,
    gemini_answer,
    in_base64,
    picture_block,
)

STEPS = 3
WORDS = "I drew the dot where TRAP is."
SIGNED = base64.b64encode(b"TRAP of a signature").decode()
SIGNED_SAYING = base64.b64encode(b"signed when it said something").decode()
KNOWS_THE_DRAWING = ("TRAP", SIGNED, "ig_", "revised_")
STATE = (
    *(*KNOWS_THE_DRAWING, SIGNED_SAYING, "rs_", "msg_", "encrypted_content", "thoughtSignature", "signature"),
    *("reasoning_details", "previous_", "conversation"),
)
"""Traps in every corner of a reply: the image, its code, the words with it, and state by which a provider would
remember it. With `history=native` such state does go back, on the canvas `own` only."""
CODE = "trap-of-code"


def adapter(name: str, **more: str) -> Callable[[FarEnd], tuple[str, dict[str, Any]]]:
    def where(far: FarEnd) -> tuple[str, dict[str, Any]]:
        if name.startswith("azure"):
            return name, {"azure_endpoint": far.url, "image_deployment": "d", **more}
        path = "/v1" if name.startswith(("openai", "bagel")) else ""
        return name, {"base_url": f"{far.url}{path}", **more}

    return where


PIXELS = {
    "chat": adapter("openai/m"),
    "images": adapter("openai/m", draw_model="gpt-image-2"),
    "azure": adapter("azure/m"),
    "responses": adapter("openai/m", draw_with="responses"),
    "azure, responses": adapter("azure/m", draw_with="responses"),
    "gemini": adapter("gemini/m-image"),
    "bagel": adapter("bagel/m"),
}
SVG = {f"{name}, by svg": adapter(f"{name}/m", draw_with="svg") for name in ("openai", "gemini", "anthropic")}
NATIVE = {f"{name}, native": adapter(name, history="native") for name in ("openai/m", "azure/m", "gemini/m-image")}
WAYS = PIXELS | SVG
ALL = [(way, canvas) for way in WAYS for canvas in CANVASES if canvas != "source" or way in SVG]
"""An adapter that draws pixels has no code to show: it refuses the canvas `source`."""


@dataclass
class Trapper:
    """Answers as each provider would, with a different drawing for each request and a trap in every corner."""

    sample: str = ""
    """The sample of the episode: the one that is run, or the one that lends it drawings."""

    seen: dict[str, list[Seen]] = field(default_factory=dict)
    drawn: dict[str, list[Picture]] = field(default_factory=dict)

    def __call__(self, seen: Seen) -> dict[str, Any]:
        self.seen.setdefault(self.sample, []).append(seen)
        by_code = "as SVG code" in json.dumps(seen.body)
        config = seen.body.get("generationConfig", {})
        draws = "/images/" in seen.path or "image" in seen.body.get("modalities", ())
        draws = draws or "IMAGE" in config.get("responseModalities", ()) or "tools" in seen.body
        said = WORDS if draws else "Next, move one step up."
        picture = self._drawing() if draws or by_code else None
        if by_code and picture:
            said = f"{WORDS} {_code(picture)}"
        shown = picture if draws else None
        if seen.path.endswith("/v1/messages"):
            thinking = {"type": "thinking", "thinking": WORDS, "signature": SIGNED}
            return anthropic_answer(said) | {"id": "msg_TRAP", "content": [thinking, {"type": "text", "text": said}]}
        if "/images/" in seen.path and shown:
            return {"created": 1, "data": [{"b64_json": in_base64(shown), "revised_prompt": WORDS}]}
        if seen.path.endswith("/chat/completions"):
            return _chat(said, shown)
        if seen.path.endswith("/responses"):
            return _response(said, shown, len(self.seen[self.sample]))
        return _gemini(said, shown)

    def _drawing(self) -> Picture:
        of = self.drawn.setdefault(self.sample, [])
        red, green, blue, *_ = hashlib.sha256(f"{self.sample} {len(of)}".encode()).digest()
        of.append(Picture.from_image(Image.new("RGB", (40, 40), (red, green, blue))))
        return of[-1]


class Marked(Wrapped):
    """Names the sample of each request for the server, because some requests do not."""

    def __init__(self, model: Model, trapper: Trapper) -> None:
        super().__init__(model)
        self._trapper = trapper

    async def say(self, context: Context, options: Options) -> Reply:
        self._trapper.sample = context.pictures[0].pixel_digest
        return await self._model.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        self._trapper.sample = context.pictures[0].pixel_digest
        return await self._model.draw(context, options)


def _code(picture: Picture) -> str:
    red, green, blue = (int(value) for value in picture.values[0, 0])
    inner = f'<rect id="{CODE}" width="40" height="40" fill="rgb({red},{green},{blue})"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">{inner}</svg>'


def _chat(said: str, shown: Picture | None) -> dict[str, Any]:
    content = [{"type": "text", "text": said}, picture_block(shown)] if shown else said
    state = {"reasoning": WORDS, "reasoning_content": WORDS, "reasoning_details": [{"data": SIGNED, "id": "rs_TRAP"}]}
    answer = chat_answer({"role": "assistant", "content": content, **state})
    return answer | {"id": "ig_TRAP", "metrics": {"think_text": WORDS}}


def _response(said: str, shown: Picture | None, number: int) -> dict[str, Any]:
    """Items as OpenAI returns them, with fields that are empty, and with the ids of this very response."""
    thought: dict[str, Any] = {"type": "reasoning", "id": f"rs_{number}", "summary": [], "status": None}
    thought["encrypted_content"] = SIGNED if shown else SIGNED_SAYING
    block = {"type": "output_text", "text": said, "annotations": []}
    message: dict[str, Any] = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    message |= {"phase": "final_answer", "content": [block]}
    call = {"type": "image_generation_call", "id": f"ig_{number}", "status": "generating", "revised_prompt": WORDS}
    drawing = [{**call, "result": in_base64(shown), "size": "40x40", "error": None}] if shown else []
    return {"id": "resp_TRAP", "status": "completed", "output": [thought, *drawing, message]}


def _gemini(said: str, shown: Picture | None) -> dict[str, Any]:
    signed = SIGNED if shown else SIGNED_SAYING
    parts: list[dict[str, Any]] = [{"text": WORDS, "thought": True}, {"text": said, "thoughtSignature": signed}]
    if shown:
        data = {"mimeType": "image/png", "data": in_base64(shown)}
        parts += [{"inlineData": data, "thoughtSignature": SIGNED}]
    return gemini_answer(parts) | {"responseId": "TRAP"}


async def played(far: FarEnd, way: str, canvas: str) -> tuple[list[Seen], list[Picture]]:
    """The requests of one episode, and what was drawn in it. Two steps and more of a real maze."""
    far.bagel = way == "bagel"
    far.answer = trapper = Trapper()
    name, arguments = (WAYS | NATIVE)[way](far)
    model = Marked(Catalog().model(name, arguments), trapper)
    steps = {"min_steps": STEPS, "max_steps": STEPS}
    request = Settings(model=name, tasks="maze", mode="visual_cot", canvas=canvas, limit=2, task_args=steps)
    [cell] = plan(request, Catalog(), model) if canvas == "own" or way in WAYS else cells_of(request, Catalog())
    sample, donor = cell.samples()
    try:
        episode = await play(model, cell, sample, donor)
    finally:
        await model.close()
    assert episode.failure is None, episode.failure
    shown = sample.pictures["initial"]
    assert isinstance(shown, Picture)
    own, drawn = trapper.seen[shown.pixel_digest], trapper.drawn[shown.pixel_digest]
    assert len(drawn) == STEPS and len(own) == 2 * STEPS + 1
    assert [picture.pixel_digest for picture in drawn] == [picture.pixel_digest for picture in episode.drawings]
    return own, drawn


def _words_of(value: Any) -> str:
    """A request's body without the data of pictures, in which any three letters may stand."""
    if isinstance(value, dict):
        return " ".join(
            key if key in PICTURE_FIELDS and isinstance(item, str) else f"{key} {_words_of(item)}"
            for key, item in value.items()
        )
    if isinstance(value, list):
        return " ".join(map(_words_of, value))
    return str(value)


def _goes_back(requests: list[Seen], drawn: list[Picture]) -> bool:
    known = {picture.pixel_digest for picture in drawn}
    return any(picture.pixel_digest in known for seen in requests for picture in seen.pictures)


@pytest.mark.parametrize(("way", "canvas"), ALL)
async def test_only_what_the_canvas_shows_goes_back(way: str, canvas: str, far: FarEnd) -> None:
    requests, drawn = await played(far, way, canvas)
    for seen in requests:
        words = _words_of(seen.body)
        assert not [trap for trap in STATE if trap in words], words
    assert _goes_back(requests, drawn) == (canvas == "own"), "the image, on the canvas `own` only"
    code = any(CODE in _words_of(seen.body) for seen in requests)
    assert code == (canvas == "source"), "its code, on the canvas `source` only"


@pytest.mark.parametrize("way", SVG)
async def test_own_and_blank_differ_in_the_image_only_for_drawings_by_code(way: str, far: FarEnd) -> None:
    own, _ = await played(far, way, "own")
    blank, _ = await played(far, way, "blank")
    assert [_words_of(seen.body) for seen in own] == [_words_of(seen.body) for seen in blank]
    assert [len(seen.pictures) for seen in own] == [len(seen.pictures) for seen in blank]


@pytest.mark.parametrize("way", NATIVE)
async def test_native_history_sends_the_models_own_turns_back_on_its_own_canvas(way: str, far: FarEnd) -> None:
    requests, drawn = await played(far, way, "own")
    assert _goes_back(requests, drawn)
    last = _words_of(requests[-1].body)
    assert last.count(SIGNED) >= STEPS and last.count(SIGNED_SAYING) == STEPS
    assert "previous_" not in last and "conversation" not in last and "resp_" not in last
    first = _words_of(requests[0].body)
    assert not [trap for trap in (SIGNED, SIGNED_SAYING, "ig_", "rs_") if trap in first]


@pytest.mark.parametrize("canvas", [canvas for canvas in CANVASES if canvas not in ("own", "source")])
@pytest.mark.parametrize("way", NATIVE)
async def test_native_history_is_refused_on_every_other_canvas_and_even_there_forgets_the_drawing(
    way: str, canvas: str, far: FarEnd
) -> None:
    name, arguments = NATIVE[way](far)
    model = Catalog().model(name, arguments)
    with pytest.raises(CannotPlay, match="a separate condition: run the controls without it"):
        plan(Settings(model=name, tasks="maze", mode="visual_cot", canvas=canvas, limit=2), Catalog(), model)
    await model.close()
    requests, drawn = await played(far, way, canvas)
    for seen in requests:
        words = _words_of(seen.body)
        assert not [trap for trap in KNOWS_THE_DRAWING if trap in words], words
    assert not _goes_back(requests, drawn)


@pytest.mark.parametrize("way", [way for way in PIXELS if way not in ("images", "azure", "bagel")])
async def test_a_plain_history_sends_no_native_state_of_a_part(way: str, far: FarEnd) -> None:
    far.answer = Trapper()
    name, arguments = WAYS[way](far)
    model = Catalog().model(name, arguments)
    record = json.dumps([{"type": "reasoning", "id": "rs_TRAP", "summary": []}])
    shown = Picture.from_image(Image.new("RGB", (40, 40), "red"))
    context = Context((Part(shown), Part("Left.", "model", record), Part(shown, "model", record), Part("So?")))
    for reply in (await model.say(context, Options()), await model.draw(context, Options())):
        assert reply.native == ""
    await model.close()
    for seen in far.seen:
        assert "TRAP" not in _words_of(seen.body) and len(seen.pictures) == 2
