"""`gemini/NAME`: Google's models through google-genai, with interleaved texts and images in and out.

Models with images among their outputs (the "nano banana" family) draw. For the others `draw_model=` names one that
does. Through an OpenAI-compatible gateway the same models are `openai/NAME` with `base_url=`. With `history=native`
the model's turns go back as its parts, each with its signature.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from sketchmark.episode.model import Abilities, Finish, Options, Reply, Usage
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, CannotPlay, MissingExtra
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value, stop_words
from sketchmark.models.call import LARGEST_DRAWING, LARGEST_TEXT, Call, Endpoint
from sketchmark.models.failures import BadReply
from sketchmark.models.http_bodies import picture_from_bytes
from sketchmark.models.http_bounds import SdkCalls, refuse_no_address
from sketchmark.models.layout import (
    Piece,
    drafts_left_out,
    finish_of_drawing,
    finish_of_text,
    for_looking,
    read,
    usage_in,
    wants_native,
    written,
)
from sketchmark.models.providers import Provider
from sketchmark.secrets import require_key

if TYPE_CHECKING:
    from google.genai import types


def record_of(parts: Sequence[types.Part], drawing: types.Part | None) -> str:
    """Return the record of a reply's texts and images, with thoughts and empty texts only if they are signed.

    The drawing keeps empty `data`, where the image is put in again. Other images keep none.
    """
    kept: list[Piece] = []
    for part in parts:
        if part.text is None and not part.inline_data:  # a call of a tool that it was not given
            continue
        if not part.thought_signature and (part.thought or part.text == ""):
            continue
        piece = part.model_copy(update={"inline_data": None}).model_dump(
            mode="json", exclude_none=True, by_alias=True
        )
        if part.inline_data:
            piece["inlineData"] = {
                "mimeType": part.inline_data.mime_type,
                **({"data": ""} if part is drawing else {}),
            }
        kept.append(piece)
    return written(kept)


def _own_parts(part: Part) -> tuple[list[types.Part], int]:
    """Return the parts with the original bytes of the drawing, and the number of missing images."""
    from google.genai import types

    pieces = read(part.native)
    sent = [piece for piece in pieces if "data" in piece.get("inlineData", {"data": ""})]
    made = [types.Part.model_validate(piece) for piece in sent]
    for one in made:
        if one.inline_data and part.picture:
            one.inline_data.data = part.picture.data
    return made, len(pieces) - len(sent)


_SAMPLING = ("top_p", "top_k", "presence_penalty", "frequency_penalty")
_DRAWS = re.compile(r"image|banana")
_SOUNDS = ("wav", "mp3", "aac", "ogg", "flac")
_FINISHES: dict[str, Finish] = {
    "STOP": "stop",
    **dict.fromkeys(("MAX_TOKENS", "CONTINUATION"), "length"),
    "NO_IMAGE": "no_picture",
    # The model called a tool that it was not given. The text before is the whole reply.
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"), "stop"),
    **dict.fromkeys(
        (
            "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
            "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION",
        ),
        "refused",
    ),
}  # fmt: skip
"""OTHER, MALFORMED_RESPONSE and unknown reasons say nothing about the model. MISSING_THOUGHT_SIGNATURE is about the
request and PUP_LIMITED_DISABLED about the account. None of them is a reply, and the call is retried."""


class Gemini(Endpoint):
    provider: ClassVar[str] = "gemini"
    key_variables: ClassVar[tuple[str, ...]] = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    formats: ClassVar[frozenset[str]] = frozenset({"png", "jpeg", "webp"})

    def __init__(self, name: str, **model_args: Value) -> None:
        if not name:
            raise BadInput("gemini needs the name of a model", "write gemini/NAME")
        args = Arguments(f"gemini/{name}", model_args)
        super().__init__(name, args)
        self._model = name
        self._drawer = args.text("draw_model") or (name if _DRAWS.search(name) else None)
        self._image = {key: args.text(key) for key in ("aspect_ratio", "image_size")}
        self._native = wants_native(args)
        args.refuse_unknown()
        refuse_no_address(self.base_url or "https://generativelanguage.googleapis.com")
        if self._native and self._drawer not in (None, name):
            raise BadInput(
                f"{self.name}: history=native is for one model that says and draws, and {self._drawer} is another",
                "leave out draw_model: no model takes another's signatures",
            )
        try:
            import httpx2
            from google import genai
            from google.genai import types
        except ImportError:
            raise MissingExtra(f"model {self.name}", "gemini") from None
        self._calls = SdkCalls()
        # By default this SDK uses aiohttp if it is installed, whose responses could not be limited.
        self._http = httpx2.AsyncClient(
            timeout=self.timeout, limits=httpx2.Limits(), follow_redirects=True, event_hooks=self._calls.hooks
        )
        self._client = genai.Client(
            api_key=require_key(self.name, self.keys),
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=self.base_url,
                timeout=int(self.timeout * 1000),
                retry_options=types.HttpRetryOptions(attempts=1),
                httpx_async_client=self._http,
            ),
        )

    @property
    def abilities(self) -> Abilities:
        draws = self._drawer is not None
        return Abilities(say=True, draw=draws, max_pictures=self.max_pictures, native=self._native, hear=True)

    def receives(self, act: str) -> Collection[str]:
        known = {"max_new_tokens", "temperature", "seed", "stop", "until", *_SAMPLING}
        return known | ({*self._image} if act == "draw" else set())

    def _settings(self) -> dict[str, Any]:
        drawer = self._drawer if self._drawer != self._model else None
        return {"draw_model": drawer, **self._image, "history": "native" if self._native else None}

    async def close(self) -> None:
        await self._client.aio.aclose()
        await self._http.aclose()
        self._client.close()

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._generate(self._model, context, options, draw=False)

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._drawer is None:
            raise CannotPlay(f"{self.name} does not draw", "give draw_model= or use an image model")
        return await self._generate(self._drawer, context, options, draw=True)

    async def _generate(self, model: str, context: Context, options: Options, *, draw: bool) -> Reply:
        system, context = layout.system_apart(context)
        context, empty = layout.without_empty_texts(context)
        contents, lost = await self._contents(context)
        left_out = (*empty, *lost)

        async def attempt(call: Call) -> Reply:
            try:
                with self._calls.headers(call.up_to(LARGEST_DRAWING if draw else LARGEST_TEXT)) as headers:
                    response = await self._client.aio.models.generate_content(
                        model=model, contents=contents, config=self._config(options, headers, system, draw=draw)
                    )
            except TypeError as error:  # the SDK fails so on JSON that is not an object
                raise BadReply(f"the server sent JSON that is not a reply: {error}") from None
            call.used = _usage(response, len(context.pictures))
            return await _read(response, call.used, left_out, draw=draw, native=self._native)

        return await self._call(attempt, options.notes)

    async def _contents(self, context: Context) -> tuple[list[Any], layout.LeftOut]:
        """Return the contents to send, and what they lack of earlier turns."""
        from google.genai import types

        contents: list[Any] = []
        drafts = 0
        for message in layout.messages(context, native=self._native):
            parts: list[types.Part] = []
            for part in message.parts:
                own, missing = _own_parts(part) if self._native and part.native else ([await self._part(part)], 0)
                parts += own
                drafts += missing
            contents.append(types.Content(role="model" if message.role == "assistant" else "user", parts=parts))
        return contents, drafts_left_out(drafts)

    async def _part(self, part: Part) -> types.Part:
        """Convert a part. Bytes are passed without base64: this SDK encodes them when it writes the body."""
        from google.genai import types

        if part.sound is not None:
            known = part.sound.format in _SOUNDS
            sound = part.sound if known else await asyncio.to_thread(part.sound.as_wav)
            return types.Part.from_bytes(data=sound.data, mime_type=f"audio/{sound.format}")
        if part.picture is None:
            return types.Part(text=part.text)
        picture = await self._encoder.sendable(part.picture)
        return types.Part.from_bytes(data=picture.data, mime_type=picture.media_type)

    def _config(
        self, options: Options, headers: dict[str, str], system: str, *, draw: bool
    ) -> types.GenerateContentConfig:
        from google.genai import types

        image: dict[str, Any] = {key: value or options.extra.get(key) for key, value in self._image.items()}
        return types.GenerateContentConfig(
            http_options=types.HttpOptions(headers=headers),
            system_instruction=system or None,
            temperature=options.temperature,
            max_output_tokens=options.max_new_tokens,
            seed=options.seed,
            stop_sequences=stop_words(options.extra) or None,
            **{name: options.extra[name] for name in _SAMPLING if name in options.extra},
            response_modalities=["TEXT", "IMAGE"] if draw else ["TEXT"],
            image_config=types.ImageConfig(**image) if draw and any(image.values()) else None,
        )


def _usage(response: types.GenerateContentResponse, pictures_in: int) -> Usage:
    counted = response.usage_metadata
    content = response.candidates[0].content if response.candidates else None
    pictures = sum(bool(part.inline_data and not part.thought) for part in (content and content.parts) or [])
    if counted is None:
        return usage_in({}, pictures_in, pictures)
    tokens = {"input_tokens": counted.prompt_token_count, "output_tokens": counted.candidates_token_count or 0}
    thoughts = Usage(tokens_out=counted.thoughts_token_count or 0, calls=0)
    return usage_in({"usage": tokens}, pictures_in, pictures) + thoughts


async def _read(
    response: types.GenerateContentResponse, usage: Usage, left_out: layout.LeftOut, *, draw: bool, native: bool
) -> Reply:
    """Read the first candidate. Parts marked `thought` may hold drafts: they are not the reply."""
    candidate = response.candidates[0] if response.candidates else None
    content = candidate.content if candidate else None
    blocked = response.prompt_feedback is not None and response.prompt_feedback.block_reason is not None
    if not blocked and not content and not (candidate and candidate.finish_reason):
        raise BadReply("the server sent neither an answer nor a reason for none")
    came = (content.parts if content else None) or []
    parts = [part for part in came if not part.thought]
    text = "".join(part.text for part in parts if part.text)
    drawn = [part for part in parts if part.inline_data and part.inline_data.data]
    pictures = [part.inline_data.data for part in drawn if part.inline_data and part.inline_data.data]
    finish: Finish = "stop"
    if candidate and candidate.finish_reason and not (draw and pictures):
        reason = candidate.finish_reason.value
        if reason not in _FINISHES:
            raise BadReply(f"the model's reply ended with {reason}")
        finish = _FINISHES[reason]
    if blocked:
        finish = "refused"
    usage = replace(usage, pictures_out=len(pictures))
    picture = await picture_from_bytes(pictures[-1]) if draw and pictures else None
    finish = finish_of_drawing(finish, picture is not None) if draw else finish_of_text(finish, text)
    raw = for_looking(response.model_dump(mode="json", exclude_none=True, exclude={"sdk_http_response"}))
    record = record_of(came, drawn[-1] if draw and drawn else None) if native else ""
    return Reply(text, picture, finish, usage, left_out, raw, native=record)


PROVIDER = Provider(
    Gemini,
    "gemini/NAME: Google Gemini, native text and image output",
    addresses=("base_url",),
    variables=Gemini.key_variables,
    families=("gemini", "nano-banana"),
    hears=True,
)
