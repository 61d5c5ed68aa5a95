"""`diffusers/PATH_OR_ID`: any pipeline of diffusers that takes a prompt, and images if it can. It draws and generates
no text, so it is a drawer (`--drawer`).

The signature of the pipeline's `__call__` shows which argument takes images and which settings exist. All texts of
the context are the prompt. The newest images are sent, as many as the pipeline takes, and `left_out` names the rest.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
from collections.abc import Collection, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.episode.model import Model, Options, Reply, Usage
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput, CallFailed, DataMissing, MissingExtra, SketchmarkError
from sketchmark.media import Picture
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.layout import LeftOut
from sketchmark.models.providers import Provider
from sketchmark.models.providers.rows import Batcher, at_once
from sketchmark.models.providers.weights import (
    DTYPES,
    device_named,
    fingerprint,
    one_line,
    out_of_memory,
    release_memory,
)

if TYPE_CHECKING:
    from PIL import Image

_OF_IMAGES = ("image", "images", "input_images", "reference_image")
"""Arguments of pipelines that take the images to draw from."""

_SEVERAL = {
    "QwenImageEditPlusPipeline": 3,
    "QwenImage21Pipeline": 3,
    "Flux2Pipeline": 10,
    "Flux2KleinPipeline": 4,
    "Flux2KleinKVPipeline": 4,
    "OmniGenPipeline": 3,
    "GlmImagePipeline": 4,
    "JoyImageEditPlusPipeline": 4,
    "ZImageOmniPipeline": 4,
}
"""Pipelines that draw from several images at once -> how many are sent by default. For other pipelines a list of
images is a batch, so they take one."""

_NESTED = ("OmniGenPipeline",)
"""Pipelines of several images that take a list of images per prompt, so that they can batch."""

_BATCHES_IMAGES = ("Img2ImgPipeline", "Pix2PixPipeline", "KontextPipeline")
"""Ends of the names of pipelines that pair the n-th prompt with the n-th image. Others may take all images for each
prompt, so their calls with images are not batched."""

_PLACED = {"OmniGenPipeline": "<img><|image_{}|></img>"}
"""Pipelines whose prompts hold the places of the images -> the mark of the n-th image."""

_NOT_HERE = ("mask_image", "control_image", "num_frames", "audio_length_in_s", "audio_end_in_s")
"""Arguments of pipelines that need more than a prompt and images, or make something else than an image."""

_FROM_TASK = ("num_inference_steps", "guidance_scale", "true_cfg_scale", "negative_prompt", "height", "width")
"""Generation settings of a task or of --gen-kwargs that are passed on. Your arguments take precedence."""

_OURS = ("prompt", "generator", "output_type", "return_dict", "num_images_per_prompt", *_OF_IMAGES)
_OFFLOADS = ("model", "sequential")
_AUTO_BATCH = 8
_LOADING = (
    *("pipeline", "dtype", "device", "device_map", "offload", "lora", "lora_scale", "variant", "revision"),
    *("trust_remote_code", "batch_size", "seed", "pictures", "texts", "size", "steps", "guidance"),
)
"""Arguments that are not the pipeline's."""


@dataclass(frozen=True)
class _Job:
    """One drawing to make."""

    prompt: str
    images: tuple[Image.Image, ...]
    seed: int
    settings: tuple[tuple[str, Any], ...]


class Diffusers(Model):
    """A pipeline, loaded by the first call. It runs in one thread: a second call would compete for its memory."""

    def __init__(self, name: str, **model_args: Value) -> None:
        super().__init__(f"diffusers/{name}")
        if not name:
            raise BadInput("diffusers: no pipeline named", "diffusers/PATH_OR_ID, or pretrained=PATH_OR_ID")
        for module in ("torch", "diffusers"):
            if importlib.util.find_spec(module) is None:
                raise MissingExtra(f"model {self.name}", "diffusers")
        args = Arguments(self.name, {key: value for key, value in model_args.items() if key in _LOADING})
        self._source, self._class_name = name, args.text("pipeline") or _class_in(name)
        self._dtype, self._device = args.choice("dtype", DTYPES) or "auto", args.text("device") or "auto"
        self._device_map, self._offload = args.text("device_map"), args.choice("offload", _OFFLOADS)
        self._lora, self._lora_scale = args.text("lora"), args.number("lora_scale")
        self._from: dict[str, Any] = {key: value for key in ("variant", "revision") if (value := args.text(key))}
        if args.flag("trust_remote_code", False):
            self._from["trust_remote_code"] = True
        if self._offload and self._device_map:
            raise BadInput(f"{self.name}: offload= and device_map= both place the weights", "leave out one of them")
        if self._lora_scale is not None and not self._lora:
            raise BadInput(f"{self.name}: lora_scale= without lora=", "name the weights: lora=PATH_OR_ID")
        size = args.text("batch_size")
        limit = _AUTO_BATCH if size == "auto" else args.whole("batch_size", _AUTO_BATCH, least=1)
        self._seed = args.whole("seed", 0)
        self._pictures = args.whole("pictures", 0) if args.text("pictures") else None
        self._texts = args.whole("texts", 0, least=1) or None if args.text("texts") else None
        self._call: dict[str, Any] = self._sides(args.text("size"))
        if args.text("steps"):
            self._call["num_inference_steps"] = args.whole("steps", 1, least=1)
        if (guidance := args.number("guidance")) is not None:
            self._call["guidance_scale"] = guidance
        self._call |= {key: value for key, value in model_args.items() if key not in _LOADING}
        args.refuse_unknown()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="diffusers")
        self._pipeline: Any = None
        self._broken: SketchmarkError | None = None
        self._batcher: Batcher[_Job, Reply] = Batcher(
            at_once(self._draw_together), limit, self._thread, out_of_memory=out_of_memory, release=release_memory
        )
        if self._class_name:
            self._check(_class_named(self.name, self._class_name))

    def _sides(self, size: str | None) -> dict[str, Any]:
        if size is None:
            return {}
        width, _, height = size.lower().partition("x")
        if not width.isdecimal() or not (height or width).isdecimal() or not int(width) or not int(height or width):
            raise BadInput(f"{self.name}: size={size} is not a size", "size=512 or size=512x768 (width x height)")
        return {"width": int(width), "height": int(height or width)}

    def _check(self, pipeline: type) -> None:
        """Refuse a pipeline that cannot draw from a prompt, and arguments that it does not have."""
        name, takes = pipeline.__name__, inspect.signature(pipeline.__call__).parameters
        if "prompt" not in takes:
            raise BadInput(f"{self.name} is a {name}, which takes no prompt", "use a pipeline that draws from texts")
        for more in _NOT_HERE:
            if more in takes:
                raise BadInput(
                    f"{self.name} is a {name}, which is not for drawing from a prompt and images: it takes {more}",
                    "pipeline=CLASS loads the weights as another pipeline of diffusers",
                )
        if self._pictures and _image_argument(takes) is None:
            raise BadInput(f"{self.name} is a {name}, which takes no images", "leave out pictures=")
        unknown = [key for key in self._call if key not in takes or key in _OURS]
        if unknown:
            known = [key for key in takes if key not in (*_OURS, "self", "kwargs") and not key.endswith("embeds")]
            raise BadInput(
                f"{self.name} is a {name}, which takes no {', '.join(unknown)}",
                f"it takes: {', '.join(known)}; to load and call it: {', '.join(_LOADING)}",
            )

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, **self._identity, **self._call}

    @cached_property
    def _identity(self) -> dict[str, Any]:
        known = {
            "pipeline": self._class_name,
            "dtype": self._dtype,
            "seed": self._seed,
            "pictures": self._pictures,
            "texts": self._texts,
            "lora": self._lora,
            "lora_scale": self._lora_scale,
            "weights": _all_fingerprints(self._source),
            "lora_weights": _all_fingerprints(self._lora or ""),
            **self._from,
        }
        return {key: value for key, value in known.items() if value is not None}

    def receives(self, act: str) -> Collection[str]:
        """Return the settings of a task that the pipeline has. An id of the hub is only known when it is loaded."""
        known = _class_named(self.name, self._class_name) if self._class_name else None
        takes = inspect.signature(known.__call__).parameters if known else _FROM_TASK
        return {"seed", *(name for name in _FROM_TASK if name in takes)}

    async def close(self) -> None:
        """Wait for the current drawing, because torch cannot be interrupted, and free the weights."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._pipeline = None

    async def draw(self, context: Context, options: Options) -> Reply:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)
        if self._broken:
            raise self._broken
        kind = type(self._pipeline)
        takes = inspect.signature(kind.__call__).parameters
        most = self._most(kind)
        context, no_sounds = layout.without_sounds(context, kind.__name__)
        context, no_texts = _newest_texts(context, self._texts)
        context, no_images = layout.newest_pictures(context, most, f"{kind.__name__} takes {most or 'none'}")
        prompt, places = _prompt(context, kind.__name__)
        if not prompt.strip():
            raise CallFailed("no_text", f"{self.name} draws from texts, and the context has none")
        settings = {key: value for key, value in options.extra.items() if key in _FROM_TASK and key in takes}
        settings |= self._call
        cut = await asyncio.to_thread(_cut, self._pipeline, prompt, settings)
        images = tuple([await asyncio.to_thread(picture.image) for picture in context.pictures])
        seed = (self._seed if options.seed is None else options.seed) + options.repeat
        job = _Job(prompt, images, seed, tuple(sorted(settings.items())))
        reply = await self._batcher.submit(job, self._group(job))
        return replace(reply, left_out=(*no_sounds, *no_texts, *no_images, *places, *cut))

    def _most(self, kind: type) -> int:
        """Return the number of images that the pipeline draws from."""
        if _image_argument(inspect.signature(kind.__call__).parameters) is None:
            return 0
        return self._pictures if self._pictures is not None else _SEVERAL.get(kind.__name__, 1)

    def _group(self, job: _Job) -> Hashable:
        """Return the group of jobs that one call may make: the same settings, and images of the same sizes."""
        name = type(self._pipeline).__name__
        together = not job.images or name in _NESTED or (len(job.images) == 1 and name.endswith(_BATCHES_IMAGES))
        sizes = tuple(image.size for image in job.images)
        return (job.settings, sizes) if together else id(job)

    def _draw_together(self, jobs: list[_Job]) -> list[Reply]:
        import torch

        pipeline, first = self._pipeline, jobs[0]
        takes = inspect.signature(type(pipeline).__call__).parameters
        settings, one = dict(first.settings), len(jobs) == 1
        if isinstance(settings.get("negative_prompt"), str) and not one:
            settings["negative_prompt"] = [settings["negative_prompt"]] * len(jobs)
        argument = _image_argument(takes)
        if first.images and argument:
            settings[argument] = self._images(jobs)
        streams = [torch.Generator("cpu").manual_seed(job.seed) for job in jobs]
        if "generator" in takes:
            settings["generator"] = streams[0] if one else streams
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(first.seed)  # for pipelines that draw some numbers elsewhere
            made = pipeline(prompt=first.prompt if one else [job.prompt for job in jobs], **settings)
        images = getattr(made, "images", None)
        if images is None or len(images) < len(jobs):
            raise CallFailed("local_error", f"{self.name} returned no image", stops_run=True)
        flagged = getattr(made, "nsfw_content_detected", None) or [False] * len(jobs)
        return [self._reply(*each) for each in zip(jobs, images, flagged, strict=False)]

    def _images(self, jobs: list[_Job]) -> Any:
        name = type(self._pipeline).__name__
        if len(jobs) > 1 and name in _NESTED:
            return [list(job.images) for job in jobs]
        if len(jobs) > 1:
            return [job.images[0] for job in jobs]
        return list(jobs[0].images) if name in _SEVERAL or len(jobs[0].images) > 1 else jobs[0].images[0]

    def _reply(self, job: _Job, image: Any, flagged: bool) -> Reply:
        usage = Usage(pictures_in=len(job.images), pictures_out=1)
        extrema = image.convert("RGB").getextrema()
        if flagged:
            why = "its safety checker withheld the drawing"
        elif all(high == 0 for _, high in extrema):
            why = "the drawing is all black, as pipelines return what they withhold, or what overflows in this dtype"
        else:
            return Reply(picture=Picture.from_image(image.convert("RGB")), usage=usage)
        return Reply(finish="refused", trouble=f"{self.name}: {why}", usage=replace(usage, pictures_out=0))

    def _load(self) -> None:
        """Load the pipeline once. A failure is kept: the calls that wait would fail in the same way."""
        if self._pipeline is not None or self._broken is not None:
            return
        try:
            pipeline = self._loaded()
            self._check(type(pipeline))
            self._pipeline = pipeline
        except SketchmarkError as error:
            self._broken = CallFailed("weights", str(error.args[0]), stops_run=True, hint=error.hint)

    def _loaded(self) -> Any:
        import diffusers
        import torch
        import transformers

        # Warnings for programmers. What matters to a drawing is reported with it.
        diffusers.utils.logging.set_verbosity_error()
        diffusers.utils.logging.disable_progress_bar()
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        device = device_named(self._device)
        dtype = ("bfloat16" if device.type == "cuda" else "float32") if self._dtype == "auto" else self._dtype
        kind: Any = _class_named(self.name, self._class_name) if self._class_name else diffusers.DiffusionPipeline
        placed = {"device_map": self._device_map} if self._device_map else {}
        try:
            found = kind.from_pretrained(self._source, dtype=getattr(torch, dtype), **self._from, **placed)
            if self._lora:
                found.load_lora_weights(self._lora)
                if self._lora_scale is not None:
                    found.set_adapters(found.get_active_adapters(), self._lora_scale)
            if self._offload == "model":
                found.enable_model_cpu_offload(device=device)
            elif self._offload:
                found.enable_sequential_cpu_offload(device=device)
            elif not self._device_map:
                found.to(device)
        except Exception as error:
            raise DataMissing(f"cannot load {self._source}: {one_line(error)}", _hint(error)) from error
        found.set_progress_bar_config(disable=True)
        return found


def _class_in(source: str) -> str:
    """Return the class that a folder names. An id of the hub is only known when it is loaded: empty."""
    folder = Path(source)
    if folder.is_file():
        raise BadInput(f"{source} is a file", "a pipeline is a folder with model_index.json, or an id of the hub")
    if not folder.is_dir():
        if folder.is_absolute():
            raise DataMissing(f"there is no folder {source}", "a folder with model_index.json, or an id of the hub")
        return ""
    index = folder / "model_index.json"
    try:
        found = json.loads(index.read_text("utf-8")).get("_class_name")
    except FileNotFoundError as error:
        hint = "it has a config.json: hf/ loads models of transformers" if (folder / "config.json").is_file() else ""
        told = hint or "it should hold a model_index.json, as save_pretrained writes it"
        raise DataMissing(f"{source} is not a pipeline of diffusers", told) from error
    except (OSError, ValueError, AttributeError) as error:
        raise DataMissing(
            f"{index} cannot be read: {one_line(error)}", "save or download the pipeline again"
        ) from error
    name = found[-1] if isinstance(found, list) and found else found
    return name if isinstance(name, str) else ""


def _class_named(owner: str, name: str) -> type:
    import diffusers

    found = getattr(diffusers, name, None) if name.endswith("Pipeline") else None
    if not isinstance(found, type) or not issubclass(found, diffusers.DiffusionPipeline):
        raise BadInput(
            f"{owner}: diffusers {diffusers.__version__} has no pipeline {name}",
            "a newer diffusers may have it, or pipeline=CLASS names another",
        )
    return found


def _image_argument(takes: Mapping[str, Any]) -> str | None:
    return next((name for name in _OF_IMAGES if name in takes), None)


def _prompt(context: Context, kind: str) -> tuple[str, LeftOut]:
    """Join the texts, with the images' marks between them if the pipeline knows such."""
    if kind not in _PLACED:
        return layout.as_prompt(context, kind)
    pieces, count = [], 0
    for part in context:
        count += part.picture is not None
        pieces.append(_PLACED[kind].format(count) if part.text is None else part.text)
    return "\n\n".join(pieces), ()


def _newest_texts(context: Context, most: int | None) -> tuple[Context, LeftOut]:
    """Keep the newest texts, if `texts=` limits them: some pipelines read only the first few of a long prompt."""
    total = len(context.texts)
    if most is None or total <= most:
        return context, ()
    to_skip, kept = total - most, []
    for part in context:
        if part.text is not None and to_skip:
            to_skip -= 1
        else:
            kept.append(part)
    return Context(tuple(kept)), (f"{total - most} of {total} texts: texts={most}",)


def _cut(pipeline: Any, prompt: str, settings: Mapping[str, Any]) -> LeftOut:
    """Report the end of a prompt that the pipeline's tokenizer cuts off. Of several tokenizers the last counts: it
    has the longest limit. A pipeline whose code truncates nothing reads all of it."""
    names = [
        name for name in ("tokenizer_3", "tokenizer_2", "tokenizer") if getattr(pipeline, name, None) is not None
    ]
    if not names or "truncation=True" not in inspect.getsource(inspect.getmodule(type(pipeline)) or type(pipeline)):
        return ()
    tokenizer = getattr(pipeline, names[0])
    takes = inspect.signature(type(pipeline).__call__).parameters
    by_default = takes["max_sequence_length"].default if "max_sequence_length" in takes else None
    limit = settings.get("max_sequence_length") or by_default or tokenizer.model_max_length
    count = len(tokenizer(prompt, truncation=False, verbose=False).input_ids)
    if count <= limit:
        return ()
    return (f"the last {count - limit} of {count} tokens of the prompt: {type(pipeline).__name__} reads {limit}",)


def _all_fingerprints(source: str) -> str | None:
    """Hash the weights in a folder and in the folders of its parts. None for an id of the hub."""
    folder = Path(source)
    if not source or not folder.is_dir():
        return None
    parts = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    return "-".join(fingerprint(part)[:8] for part in parts)


def _hint(error: Exception) -> str:
    if out_of_memory(error):
        return (
            "it does not fit into memory: dtype=bfloat16, offload=model, device_map=balanced, or a smaller pipeline"
        )
    text = f"{error!r}".lower()
    for package, when in (
        ("peft", "lora needs"),
        ("accelerate", "offload and device_map need"),
        ("gguf", "it needs"),
    ):
        if package in text and importlib.util.find_spec(package) is None:
            return f"{when}: pip install {package}"
    lacks_a_name = isinstance(error, NameError)  # diffusers leaves names out where a package is missing
    if ("torchvision" in text or lacks_a_name) and importlib.util.find_spec("torchvision") is None:
        return "its processor needs torchvision: pip install torchvision"
    if "trust_remote_code" in text:
        return "it brings its own code: trust_remote_code=true runs it, if you trust it"
    return "a folder saved with save_pretrained, or the id of a pipeline on the hub"


PROVIDER = Provider(
    Diffusers,
    "diffusers/PATH_OR_ID: pipelines that draw, for --drawer",
    batches=True,
    families=("flux", "stable-diffusion", "qwen-image", "longcat-image", "glm-image", "omnigen", "sana"),
)
