"""`bagel` (alias `bagel_visual_cot`): BAGEL-7B-MoT, one model that reads and draws, run in one of two ways.

  base_url=URL               a vLLM-Omni server: chat completions with `modalities` and BAGEL's settings as extra body
                             fields; a drawing is conditioned on one image only
  code=PATH,pretrained=PATH  the official checkout and weights on this machine: every text and image of the
                             context, in order, one call at a time

`mode=understanding` only reads; `mode=generation` (the default) reads and draws.

The checkout is the user's, and importing it runs its code. torch and accelerate are imported from the user's
environment, only when a model is loaded.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sketchmark.episode.model import Abilities, Listing, Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CallFailed, CannotPlay, MissingExtra, SketchmarkError
from sketchmark.media import Picture
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.layout import finish_of_text
from sketchmark.models.providers import Provider
from sketchmark.models.providers.openai_chat import ChatEndpoint, as_user_texts, by_stage

NUMBERS = (
    *("cfg_text_scale", "cfg_img_scale", "cfg_interval", "cfg_renorm_min", "timestep_shift", "text_temperature"),
)
_WHOLES = ("num_timesteps", "max_think_tokens", "height", "width")
WORDS = ("cfg_renorm_type", "negative_prompt")
_FLAGS = ("think", "do_sample")
SETTINGS = (*NUMBERS, *_WHOLES, *WORDS, *_FLAGS)
_DRAWING = (
    *("cfg_text_scale", "cfg_img_scale", "cfg_interval", "cfg_renorm_min", "cfg_renorm_type", "timestep_shift"),
    "num_timesteps",
)
_FOR_READING = ("think", "max_think_tokens", "do_sample", "text_temperature")
OTHER_SPELLINGS = {"num_inference_steps": "num_timesteps", "max_think_token_n": "max_think_tokens"}


def make(name: str, **model_args: Value) -> Model:
    """Make a model. `name` is the value of `pretrained=`: the weights' folder, or the model's name on the server."""
    if model_args.get("base_url"):
        return BagelServer(name, **model_args)
    if model_args.get("code"):
        return BagelCode(name, **model_args)
    if name:
        raise BadInput(
            f"bagel: the weights {name} are understood (pretrained=); the code that runs them is missing",
            "code=CHECKOUT of the official repository, or base_url=http://HOST:PORT/v1 of a vLLM-Omni server of them",
        )
    raise BadInput(
        "bagel needs to know how to run the model",
        "base_url=http://HOST:PORT/v1 of a vLLM-Omni server, or code=CHECKOUT,pretrained=WEIGHTS",
    )


class Settings:
    """BAGEL's generation settings. The user's take precedence over the task's (`Options.extra`)."""

    def __init__(self, args: Arguments) -> None:
        found: dict[str, Any] = {name: args.number(name) for name in NUMBERS}
        found |= {name: args.whole(name, 0) or None for name in _WHOLES}
        found |= {name: args.text(name) for name in WORDS}
        found |= {name: args.flag(name, False) if args.text(name) else None for name in _FLAGS}
        self.given = {name: value for name, value in found.items() if value is not None}

    def with_task(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        proposed = {OTHER_SPELLINGS.get(name, name): value for name, value in extra.items()}
        chosen = {name: proposed[name] for name in SETTINGS if name in proposed} | self.given
        if isinstance(chosen.get("cfg_interval"), int | float):
            # The model takes a pair. Published task files give only its lower end.
            chosen["cfg_interval"] = [float(chosen["cfg_interval"]), 1.0]
        return chosen


WEIGHTS = ("llm_config.json", "vit_config.json", "ae.safetensors", "ema.safetensors")
_TOGETHER = (
    "language_model.model.embed_tokens",
    "time_embedder",
    "latent_pos_embed",
    "vae2llm",
    "llm2vae",
    "connector",
    "vit_pos_embed",
)
"""Modules whose outputs are added without a transfer between them: they must share a device."""


class Inferencer(Protocol):
    """The part of the checkout's InterleaveInferencer that we use."""

    tokenizer: Any

    def interleave_inference(self, input_lists: list[Any], **settings: Any) -> list[Any]: ...


def check(code: Path, weights: Path) -> None:
    """Check both folders before minutes of loading."""
    if not (code / "inferencer.py").is_file():
        raise BadInput(
            f"code={code} is not a BAGEL checkout: inferencer.py is missing", "clone the official repository"
        )
    missing = [name for name in WEIGHTS if not (weights / name).is_file()]
    if missing:
        raise BadInput(f"pretrained={weights} lacks {', '.join(missing)}", "download ByteDance-Seed/BAGEL-7B-MoT")


def load(code: Path, weights: Path) -> Inferencer:
    if str(code) not in sys.path:
        sys.path.insert(0, str(code))
    try:
        accelerate = importlib.import_module("accelerate")
        bagel = importlib.import_module("modeling.bagel")
        load_ae = importlib.import_module("modeling.autoencoder").load_ae
        tokenizer_class = importlib.import_module("modeling.qwen2").Qwen2Tokenizer
        transform = importlib.import_module("data.transforms").ImageTransform
        add_special_tokens = importlib.import_module("data.data_utils").add_special_tokens
        inferencer_class = importlib.import_module("inferencer").InterleaveInferencer
    except ModuleNotFoundError as error:
        if error.name in ("torch", "accelerate"):
            raise MissingExtra("BAGEL from a checkout", "local") from error
        raise BadInput(f"the BAGEL checkout needs a module that is missing: {error.name}") from error
    vae, vae_config = load_ae(local_path=str(weights / "ae.safetensors"))
    model = _model(accelerate, bagel, weights, vae_config)
    tokenizer, new_token_ids, _ = add_special_tokens(tokenizer_class.from_pretrained(str(weights)))
    inferencer: Inferencer = inferencer_class(
        model=model,
        vae_model=vae.to("cuda").eval(),  # where the checkout decodes latents
        tokenizer=tokenizer,
        vae_transform=transform(1024, 512, 16),
        vit_transform=transform(980, 224, 14),
        new_token_ids=new_token_ids,
    )
    return inferencer


def _model(accelerate: Any, bagel: Any, weights: Path, vae_config: Any) -> Any:
    llm_config = bagel.Qwen2Config.from_json_file(str(weights / "llm_config.json"))
    llm_config.qk_norm = True
    llm_config.tie_word_embeddings = False
    llm_config.layer_module = "Qwen2MoTDecoderLayer"
    vit_config = bagel.SiglipVisionConfig.from_json_file(str(weights / "vit_config.json"))
    vit_config.rope = False
    vit_config.num_hidden_layers -= 1
    config = bagel.BagelConfig(
        visual_gen=True,
        visual_und=True,
        llm_config=llm_config,
        vit_config=vit_config,
        vae_config=vae_config,
        vit_max_num_patch_per_side=70,
        connector_act="gelu_pytorch_tanh",
        latent_patch_size=2,
        max_latent_size=64,
    )
    with accelerate.init_empty_weights():
        empty = bagel.Bagel(bagel.Qwen2ForCausalLM(llm_config), bagel.SiglipVisionModel(vit_config), config)
        empty.vit_model.vision_model.embeddings.convert_conv2d_to_linear(vit_config, meta=True)
    placed = accelerate.infer_auto_device_map(empty, no_split_module_classes=["Bagel", "Qwen2MoTDecoderLayer"])
    if "disk" in placed.values():
        raise BadInput("BAGEL does not fit into this machine's memory", "it takes about 30 GB in bfloat16")
    return accelerate.load_checkpoint_and_dispatch(
        empty,
        checkpoint=str(weights / "ema.safetensors"),
        device_map=_keep_together(placed),
        dtype="bfloat16",
        force_hooks=True,
    ).eval()


def _keep_together(placed: dict[str, Any]) -> dict[str, Any]:
    home = _device_of(_TOGETHER[0], placed)
    return placed | {name: home for name in _TOGETHER if _device_of(name, placed) != home}


def _device_of(module: str, placed: dict[str, Any]) -> Any:
    """Return a module's device: that of its nearest ancestor in the map, which names whole subtrees."""
    while module and module not in placed:
        module = module.rpartition(".")[0]
    return placed.get(module)


_DEFAULT_MAX_NEW_TOKENS = 1000
"""The checkout's own limit, used if the task has none."""


class BagelCode(Model):
    """BAGEL from a checkout, one context at a time in one worker thread: the inferencer has no batching."""

    def __init__(self, pretrained: str, **model_args: Value) -> None:
        args = Arguments("bagel", model_args)
        weights = pretrained or args.text("pretrained")
        code = args.text("code")
        self._draws = args.choice("mode", ("understanding", "generation")) != "understanding"
        self._settings = Settings(args)
        args.refuse_unknown()
        if "negative_prompt" in self._settings.given:
            raise BadInput("bagel from a checkout takes no negative_prompt: its inferencer has none")
        if not weights or not code:
            raise BadInput("bagel from a checkout needs both code= and pretrained=")
        self._code, self._weights = Path(code).resolve(), Path(weights).resolve()
        check(self._code, self._weights)
        super().__init__(f"bagel/{self._weights.name}")
        self._inferencer: Inferencer | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bagel")

    @property
    def abilities(self) -> Abilities:
        return Abilities(say=True, draw=self._draws)

    def receives(self, act: str) -> Collection[str]:
        """Return BAGEL's settings. Its inferencer has no other sampling, and no limit of a drawing's text."""
        named = {*SETTINGS, *OTHER_SPELLINGS, "temperature", "seed"} - {"negative_prompt"}
        return named | ({"max_new_tokens"} if act == "say" else set())

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "pretrained": str(self._weights), **self._settings.given}

    async def close(self) -> None:
        self._inferencer = None
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)

    async def say(self, context: Context, options: Options) -> Reply:
        context, left_out = layout.without_empty_texts(context)
        limit = options.max_new_tokens or _DEFAULT_MAX_NEW_TOKENS
        chosen = _for_text(self._settings.with_task(options.extra), options) | {"max_think_token_n": limit}
        outputs = await self._run(context, options.seed, {**chosen, "understanding_output": True})
        text = "".join(output for output in outputs if isinstance(output, str))
        tokens = await asyncio.get_running_loop().run_in_executor(self._worker, self._count_tokens, text)
        # The inferencer does not report why it stopped. Its limit includes the start token.
        finish = finish_of_text("length" if tokens >= limit - 1 else "stop", text)
        return Reply(text, None, finish, Usage(tokens_out=tokens, pictures_in=len(context.pictures)), left_out)

    async def draw(self, context: Context, options: Options) -> Reply:
        if not self._draws:
            raise CannotPlay(f"{self.name} does not draw with mode=understanding", "give mode=generation")
        context, left_out = layout.without_empty_texts(context)
        chosen = self._settings.with_task(options.extra)
        drawing = {key: chosen[key] for key in _DRAWING if key in chosen}
        if "width" in chosen and "height" in chosen:
            drawing["image_shapes"] = (chosen["height"], chosen["width"])
        outputs = await self._run(context, options.seed, {**_for_text(chosen, options), **drawing})
        text = "".join(output for output in outputs if isinstance(output, str))
        pictures = [output for output in outputs if not isinstance(output, str)]
        usage = Usage(pictures_in=len(context.pictures), pictures_out=len(pictures))
        if not pictures:
            return Reply(text, None, "no_picture", usage, left_out)
        return Reply(text, await asyncio.to_thread(Picture.from_image, pictures[-1]), "stop", usage, left_out)

    async def _run(self, context: Context, seed: int | None, settings: dict[str, Any]) -> list[Any]:
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._infer, context, seed, settings)

    def _infer(self, context: Context, seed: int | None, settings: dict[str, Any]) -> list[Any]:
        if self._inferencer is None:
            try:
                self._inferencer = load(self._code, self._weights)
            except BadInput as error:
                raise CallFailed("weights", str(error.args[0]), stops_run=True, hint=error.hint) from error
        inputs = [part.text if part.picture is None else part.picture.image() for part in context]
        if seed is not None:
            importlib.import_module("torch").manual_seed(seed)
        try:
            return self._inferencer.interleave_inference(inputs, **settings)
        except SketchmarkError:
            raise
        except Exception as error:
            kind = (
                "out_of_memory" if "out of memory" in str(error) or isinstance(error, MemoryError) else "local_error"
            )
            raise CallFailed(kind, f"{self.name}: {type(error).__name__}: {error}") from error

    def _count_tokens(self, text: str) -> int:
        return len(self._inferencer.tokenizer.encode(text)) if self._inferencer else 0


def _for_text(chosen: dict[str, Any], options: Options) -> dict[str, Any]:
    """Return the sampling settings of the text part, by default those of the call's temperature (0: greedy)."""
    sampled = {"do_sample": True, "text_temperature": options.temperature} if options.temperature > 0 else {}
    out = {"think": False, "do_sample": False, **sampled}
    out |= {key: chosen[key] for key in ("think", "do_sample", "text_temperature") if key in chosen}
    if "max_think_tokens" in chosen:
        out["max_think_token_n"] = chosen["max_think_tokens"]
    return out


_DEFAULT_NAME = "ByteDance-Seed/BAGEL-7B-MoT"


class BagelServer(ChatEndpoint):
    """BAGEL on a server. It reads the whole context, and draws from all its texts and its newest image.

    For a drawing the server joins the texts of the user's messages, takes the first image, and ignores the rest,
    including assistant messages (docs/benchmarks/bagel.md, "What reaches a drawing"). So everything goes as the
    user's, including the model's plan, with exactly one image: the newest, which in a drawing protocol is the current
    state. The reply names what could not be sent.
    """

    provider: ClassVar[str] = "bagel"

    def __init__(self, name: str, **model_args: Value) -> None:
        super().__init__(name or _DEFAULT_NAME, Arguments("bagel", model_args))

    def _read_arguments(self, name: str, args: Arguments) -> None:
        self._drawer = None if args.choice("mode", ("understanding", "generation")) == "understanding" else name
        self._bagel = Settings(args)
        self._stages = args.choice("stages", ("1", "2"))

    def receives(self, act: str) -> Collection[str]:
        return {*super().receives(act), *OTHER_SPELLINGS, *(SETTINGS if act == "draw" else _FOR_READING)}

    async def listing(self) -> Listing:
        """Return nothing: a server of one stage lists BAGEL like a pipeline that only draws, but it reads, too."""
        await super().listing()
        return Listing()

    @property
    def _has_one_stage(self) -> bool:
        return self._stages == "1" or (not self._stages and self._listed is not None and self._listed.says is False)

    def _settings(self) -> dict[str, Any]:
        return {**self._body, **self._bagel.given, "stages": self._stages}

    async def say(self, context: Context, options: Options) -> Reply:
        """Read the whole context. A server of one stage (`stages=1`) reads as it draws: see `_reduced`."""
        if not self._has_one_stage:
            return await super().say(context, options)
        context, left_out = self._reduced(context, "reads with")
        reply = await super().say(context, options)
        return replace(reply, left_out=(*left_out, *reply.left_out))

    def _reduced(self, context: Context, how: str) -> tuple[Context, layout.LeftOut]:
        """Return the part of the context that reaches the model of a drawing, as the user's, and name the rest."""
        return as_user_texts(context, most=1, how=f"{how} one")

    async def _base_request(self, model: str, context: Context, options: Options) -> dict[str, Any]:
        """Return a chat request without the sampling that a default deployment adds to the request's own:
        `repetition_penalty` 1.05, and `top_k` 1 at any temperature."""
        request = await super()._chat_request(model, context, options)
        plain = {"repetition_penalty": 1.0, **({"top_k": -1} if options.temperature > 0 else {})}
        return request | {name: value for name, value in plain.items() if name not in request}

    async def _chat_request(self, model: str, context: Context, options: Options) -> dict[str, Any]:
        request = await self._base_request(model, context, options)
        chosen = self._bagel.with_task(options.extra)
        reading = {name: chosen[name] for name in _FOR_READING if name in chosen}
        if self._has_one_stage:
            # It ignores the usual names of these settings.
            hot, most = options.temperature, options.max_new_tokens
            sampled = {"do_sample": hot > 0, **({"text_temperature": hot} if hot > 0 else {})}
            reading = {**sampled, **({"max_think_tokens": most} if most else {}), **reading}
        return {**request, "modalities": ["text"], **reading}

    async def draw(self, context: Context, options: Options) -> Reply:
        if self._drawer is None:
            raise CannotPlay(f"{self.name} does not draw with mode=understanding", "give mode=generation")
        context, empty = layout.without_empty_texts(context)
        context, lost = self._reduced(context, "conditions a drawing on")
        request = await self._base_request(self._drawer, context, options)
        chosen = self._bagel.with_task(options.extra)
        if "num_timesteps" in chosen:
            chosen["num_inference_steps"] = chosen.pop("num_timesteps")
        staged = by_stage(request, chosen, options.seed) if self._stages == "2" else {}
        request |= {"modalities": ["image"], **chosen, **staged}
        return await self._drawing_in_chat(request, len(context.pictures), (*empty, *lost), options.notes)


PROVIDER = Provider(
    make,
    "BAGEL: base_url=… (vLLM-Omni) or code=…,pretrained=…",
    addresses=("base_url",),
    variables=BagelServer.key_variables,
    families=("bagel",),
)
