"""`draw_with=svg`: any model that generates text also draws, by writing SVG that is rendered here.

The prompt is plain text, so all providers, local weights and players draw in the same way. The SVG is untrusted:
`sketchmark.media.svg` checks it and renders it in a separate process. Unusable SVG is a model failure, or the model
is asked again with the reason (`svg_retries`).

A drawing's `Reply.text` is only its code, which the canvas `source` shows. `raw` keeps the rest of the text and the
failed attempts for inspection.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sketchmark.episode.model import Abilities, Model, Options, Reply, Usage
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, BadPicture, CallFailed
from sketchmark.media import Picture
from sketchmark.media.svg import MOST_CHARACTERS, MOST_SIDE, render, require_renderer
from sketchmark.models.arguments import Arguments
from sketchmark.models.layout import finish_of_drawing
from sketchmark.models.wrappers import Wrapped

_TAG = re.compile(r"<(?P<closes>/?)svg(?![\w:.-])[^<>]*?(?P<empty>/?)>")
"""Ends before the next tag begins, so that a long text is searched once."""


def svg_in(text: str) -> str:
    """Return the SVG document that ends last: earlier ones are drafts. Raises BadPicture if there is none."""
    if len(text) > 2 * MOST_CHARACTERS:
        raise BadPicture(f"a reply of {len(text)} characters", f"an SVG has at most {MOST_CHARACTERS}")
    found, begun = "", list[int]()
    for tag in _TAG.finditer(text):
        if not tag["closes"]:
            begun.append(tag.start())
        if begun and (tag["closes"] or tag["empty"]):
            found = text[begun.pop() : tag.end()]
    if found:
        return found
    raise BadPicture("the SVG has no end: </svg> is missing" if begun else "there is no SVG in the reply")


SVG = "svg"
_TOKENS = 4096
_MOST_RETRIES = 5
_LONGEST_SAID = 200_000
"""Characters of a reply that are kept with its code, and shown to the model again if it was unusable."""
_PROMPTS = Path(__file__).with_suffix(".yaml")
_FOR_PIXELS = ("draw_with", "draw_model")
"""Keys of an adapter's identity that describe how it draws without code."""


@dataclass(frozen=True)
class ByCode:
    """Settings for drawing by code."""

    retries: int = 0
    """Retries after unusable SVG, each with the reason."""

    tokens: int = _TOKENS
    """Token limit of a reply with a drawing."""

    def written_down(self) -> dict[str, Any]:
        return {"draw_with": SVG, "svg_retries": self.retries, "svg_tokens": self.tokens}


def taken_from(settings: dict[str, Any], owner: str) -> ByCode | None:
    """Take the settings for drawing by code out of a model's arguments. None, and no change, if there are none."""
    if settings.get("draw_with") != SVG:
        return None
    if settings.get("draw_model"):
        raise BadInput(f"{owner}: draw_with=svg lets the model draw itself", "leave out draw_model")
    names = ("draw_with", "svg_retries", "svg_tokens")
    args = Arguments(owner, {name: settings.pop(name) for name in names if name in settings})
    retries, tokens = args.whole("svg_retries", 0), args.whole("svg_tokens", _TOKENS, least=1)
    if retries > _MOST_RETRIES:
        raise BadInput(f"{owner}: svg_retries={retries} is not a whole number from 0 to {_MOST_RETRIES}")
    return ByCode(retries, tokens)


class DrawsByCode(Wrapped):
    """A model that draws by having the model inside write SVG."""

    def __init__(self, model: Model, how: ByCode) -> None:
        super().__init__(model)
        if not model.abilities.say:
            raise BadInput(f"{model.name} only draws: it cannot write SVG", "leave out --draw svg or draw_with=svg")
        if model.abilities.native:
            raise BadInput(f"{model.name}: who draws by code has no native history", "leave out history=native")
        require_renderer("drawing by SVG")
        self.arguments = {**model.arguments, **how.written_down()}
        self._how = how
        self._renderers: ThreadPoolExecutor | None = None
        """Threads that wait for renderer processes: one per core, whatever the number of episodes."""

    @property
    def abilities(self) -> Abilities:
        return replace(self._model.abilities, draw=True, combined_prompt=False, draws_code=True)

    @property
    def inside(self) -> Model:
        """Return the model that writes the code."""
        return self._model

    def receives(self, act: str) -> Collection[str] | None:
        """Return the settings of text: the code of a drawing is one."""
        return self._model.receives("say")

    def identity(self) -> dict[str, Any]:
        inside = {key: value for key, value in self._model.identity().items() if key not in _FOR_PIXELS}
        prompts = hashlib.sha256("\0".join(_prompts().values()).encode()).hexdigest()[:12]
        return {**inside, **self._how.written_down(), "svg_prompts": prompts}

    async def close(self) -> None:
        renderers, self._renderers = self._renderers, None
        if renderers is not None:
            renderers.shutdown(wait=False, cancel_futures=True)
        await super().close()

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._model.say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        limit = min(self._how.tokens, options.max_new_tokens or self._how.tokens)
        options = replace(options, max_new_tokens=limit)
        request = request_for(context.pictures)
        asked = Context((*context, Part(request)))
        usage, failed = Usage(calls=0), list[dict[str, str]]()
        while True:
            try:
                reply = await self._model.say(asked, options)
            except CallFailed:
                if options.notes is not None and usage.calls:
                    options.notes.billed(usage)  # the tries before it were answered
                raise
            usage += reply.usage
            came = reply.usage.tokens_out or options.max_new_tokens
            reply = replace(reply, usage=usage, picture=None, raw=_kept(reply, request, failed))
            if reply.finish == "refused":
                return reply
            try:
                code = svg_in(reply.text)
                picture = await self._rendered(code, context.pictures)
            except BadPicture as error:
                # A server may have a lower limit than the one that it was sent.
                cut = f"the reply was cut at {came} tokens: " if reply.finish == "length" else ""
                why = cut + " ".join(str(error).split())
                said = reply.text[:_LONGEST_SAID]
                failed.append({"said": said, "why": why})
                if len(failed) > self._how.retries:
                    finish = finish_of_drawing(reply.finish, drawn=False)
                    return replace(reply, finish=finish, trouble=why)
                asked += (Part(said, "model"),) if said.strip() else ()
                asked += (Part(_prompts()["again"].format(reason=why)),)
                continue
            return replace(reply, text=code, picture=picture, finish="stop")

    async def _rendered(self, code: str, pictures: Sequence[Picture]) -> Picture:
        """Render on white paper, as a PNG that is identified by its pixels."""
        if self._renderers is None:
            self._renderers = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="svg")
        return await asyncio.get_running_loop().run_in_executor(
            self._renderers, lambda: Picture.from_image(render(code, pictures=pictures).image())
        )


@lru_cache(maxsize=1)
def _prompts() -> dict[str, str]:
    import yaml

    found: dict[str, str] = yaml.safe_load(_PROMPTS.read_text("utf-8"))
    return found


def request_for(pictures: Sequence[Picture]) -> str:
    """Return the prompt for a drawing, with the images that it may use."""
    prompts = _prompts()
    named = [
        prompts["picture"].format(number=number, width=picture.size[0], height=picture.size[1])
        for number, picture in enumerate(pictures, start=1)
    ]
    page = prompts["page"].format(pictures=", ".join(named)) if named else prompts["empty_page"]
    return prompts["draw"].format(side=MOST_SIDE, page=page)


def _kept(reply: Reply, request: str, failed: list[dict[str, str]]) -> dict[str, Any]:
    """Return the provider's reply with the prompt for code, the whole text and the failed attempts."""
    about = {"asked": request, "said": reply.text[:_LONGEST_SAID], "failed": failed}
    return {**(reply.raw if isinstance(reply.raw, dict) else {"reply": reply.raw}), "svg": about}
