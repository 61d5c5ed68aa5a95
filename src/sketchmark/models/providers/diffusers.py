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
import re
from collections.abc import Collection, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
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
    existing,
    fingerprint,
    fitted,
    one_line,
    out_of_memory,
    release_memory,
    repair,
)

if TYPE_CHECKING:
    from PIL import Image

_OF_IMAGES = ("image", "images", "input_images", "reference_image")
"""Arguments of pipelines that take the images to draw from."""

_BATCHES_IMAGES = ("Img2ImgPipeline", "Pix2PixPipeline", "KontextPipeline")
"""Ends of the names of pipelines that pair the n-th prompt with the n-th image. Others may take all images for each
prompt, so their calls with images are not batched."""

_NOT_HERE = re.compile(r"mask_image|control_image|.*(video|frames|audio).*|frame_size|layers")
"""Arguments of pipelines that need more than a prompt and images, or make something else than an image."""


@dataclass(frozen=True)
class _Kind:
    """Facts about a class of pipelines that its signature does not show."""

    pictures: int = 1
    """Images of one drawing that are sent by default. Where it is 1, a list of images is a batch."""
    nested: bool = False
    """It takes a list of images per prompt, so that it can batch."""
    place: str = ""
    """Mark of the n-th image in a prompt that holds the places of the images."""
    instruction: str = ""
    """Key of the prompt in the JSON that it takes in place of a text."""
    one_stream: bool = False
    """It uses the first random stream for a whole batch."""
    reads_all: bool = False
    """Its tokenizer truncates only a part of the prompt, such as words to be drawn."""
    step: int = 0
    """It fails without a size, or stretches every image to its own: sides are multiples of this. The drawing has the
    newest image's size then."""
    frames: int = 0
    """It edits an image by a film of so many frames, whose last one is the drawing."""
    only_bfloat16: bool = False
    """It converts images to this dtype, whatever its weights have."""


_PLAIN = _Kind()
_KINDS = {
    "BriaFiboEditPipeline": _Kind(instruction="edit_instruction"),
    "ChronoEditPipeline": _Kind(step=16, frames=5),
    "Flux2KleinKVPipeline": _Kind(4),
    "Flux2KleinPipeline": _Kind(4),
    "Flux2Pipeline": _Kind(10),
    "GlmImagePipeline": _Kind(4, one_stream=True, reads_all=True, step=32),
    "JoyImageEditPlusPipeline": _Kind(4),
    "OmniGenPipeline": _Kind(3, nested=True, place="<img><|image_{}|></img>"),
    "QwenImage21Pipeline": _Kind(3),
    "QwenImageEditPlusPipeline": _Kind(3),
    "ZImageOmniPipeline": _Kind(4, only_bfloat16=True),
}
_SIDE = 1024
"""Pixels of a side, if a pipeline needs a size and the context has no image."""

_FROM_TASK = ("num_inference_steps", "guidance_scale", "true_cfg_scale", "negative_prompt", "height", "width")
"""Generation settings of a task or of --gen-kwargs that are passed on. Your arguments take precedence."""

_OURS = ("prompt", "generator", "output_type", "return_dict", "num_images_per_prompt", *_OF_IMAGES)
_OUTPUTS = ("images", "image", "frames")
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
        self._lora, self._lora_scale = existing(args.text("lora"), "lora"), args.number("lora_scale")
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
        self._counter: Any = None
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
        other = "pipeline=CLASS loads the weights as another pipeline of diffusers"
        strange = [] if _kind(pipeline).frames else [key for key in takes if _NOT_HERE.fullmatch(key)]
        if strange or "Prior" in name:
            why = f"it takes {strange[0]}" if strange else "it makes no image, but the input of another pipeline"
            raise BadInput(
                f"{self.name} is a {name}, which is not for drawing from a prompt and images: {why}", other
            )
        argument = _image_argument(takes)
        if self._pictures and argument is None:
            raise BadInput(f"{self.name} is a {name}, which takes no images", "leave out pictures=")
        needed = [
            key for key, one in takes.items() if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD
        ]
        if self._pictures == 0 and argument in needed:
            raise BadInput(f"{self.name} is a {name}, which needs an image", "leave out pictures=0")
        lacking = [key for key in needed if key not in ("self", "prompt", argument, *self._call)]
        if lacking:
            more = f"give it as an argument ({lacking[0]}=…), or pipeline=CLASS for another pipeline of diffusers"
            raise BadInput(f"{self.name} is a {name}, which needs {', '.join(lacking)}, too", more)
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
        context, no_texts = layout.newest_texts(context, self._texts)
        context, no_images = layout.newest_pictures(context, most, f"{kind.__name__} takes {most or 'none'}")
        prompt, places = _prompt(context, kind)
        if not prompt.strip():
            raise CallFailed("no_text", f"{self.name} draws from texts, and the context has none")
        settings = {key: value for key, value in options.extra.items() if key in _FROM_TASK and key in takes}
        settings = _completed(kind, context, settings | self._call)
        cut = await asyncio.to_thread(_cut, kind, self._counter, prompt, settings)
        images = tuple([await asyncio.to_thread(picture.image) for picture in context.pictures])
        seed = self._seed + options.repeat if options.seed is None else options.seed
        job = _Job(prompt, images, seed, tuple(sorted(settings.items())))
        reply = await self._batcher.submit(job, self._group(job))
        return replace(reply, left_out=(*no_sounds, *no_texts, *no_images, *places, *cut))

    def _most(self, kind: type) -> int:
        """Return the number of images that the pipeline draws from."""
        if _image_argument(inspect.signature(kind.__call__).parameters) is None:
            return 0
        return self._pictures if self._pictures is not None else _kind(kind).pictures

    def _group(self, job: _Job) -> Hashable:
        """Return the group of jobs that one call may make: the same settings, and images of the same sizes."""
        name, kind = type(self._pipeline).__name__, _kind(type(self._pipeline))
        together = not job.images or kind.nested or (len(job.images) == 1 and name.endswith(_BATCHES_IMAGES))
        sizes = tuple(image.size for image in job.images)
        return (job.settings, sizes) if together and not kind.one_stream else id(job)

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
        if "output_type" in takes:
            settings["output_type"] = "pil"
        with torch.random.fork_rng(), torch.no_grad():
            torch.manual_seed(first.seed)  # for pipelines that draw some numbers elsewhere
            try:
                made = pipeline(prompt=first.prompt if one else [job.prompt for job in jobs], **settings)
            except NameError as error:  # diffusers leaves names out where a package is missing
                told = f"{self.name} needs a package that is missing: {error.name}"
                raise CallFailed("weights", told, stops_run=True, hint=f"pip install {error.name}") from error
            except (ValueError, TypeError, AttributeError) as error:
                if argument is None or first.images:
                    raise
                told = f"{self.name} draws from images, and this drawing was asked for without one"
                raise CallFailed("needs_image", f"{told} ({one_line(error)})", stops_run=True) from error
        images = next((found for name in _OUTPUTS if (found := getattr(made, name, None)) is not None), None)
        if images is None or len(images) < len(jobs):
            raise CallFailed("local_error", f"{self.name} returned no image", stops_run=True)
        flagged = getattr(made, "nsfw_content_detected", None) or [False] * len(jobs)
        return [self._reply(*each) for each in zip(jobs, images, flagged, strict=False)]

    def _images(self, jobs: list[_Job]) -> Any:
        kind = _kind(type(self._pipeline))
        if len(jobs) > 1:
            return [list(job.images) if kind.nested else job.images[0] for job in jobs]
        images = fitted(self._pipeline, jobs[0].images)
        return images if kind.pictures > 1 or len(images) > 1 else images[0]

    def _reply(self, job: _Job, image: Any, flagged: bool) -> Reply:
        """Return the drawing: the last of several images that were made for one prompt (layers, frames)."""
        usage = Usage(pictures_in=len(job.images), pictures_out=1)
        while isinstance(image, list | tuple):
            image = image[-1] if image else None
        if flagged or image is None:
            why = "its safety checker withheld the drawing" if flagged else "it returned no image for this prompt"
        elif all(high == 0 for _, high in image.convert("RGB").getextrema()):
            why = "the drawing is all black, as pipelines return what they withhold, or what overflows in this dtype"
        else:
            return Reply(
                picture=Picture.from_image(image if image.mode == "RGBA" else image.convert("RGB")), usage=usage
            )
        return Reply(finish="refused", trouble=f"{self.name}: {why}", usage=replace(usage, pictures_out=0))

    def _load(self) -> None:
        """Load the pipeline once. A failure is kept: the calls that wait would fail in the same way."""
        if self._pipeline is not None or self._broken is not None:
            return
        try:
            pipeline = self._loaded()
            self._check(type(pipeline))
            self._pipeline, self._counter = pipeline, _counter(pipeline)
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
        placed = {"device_map": self._device_map} if self._device_map else {}
        try:
            revision = {key: value for key, value in self._from.items() if key == "revision"}
            name = (
                self._class_name or diffusers.DiffusionPipeline.load_config(self._source, **revision)["_class_name"]
            )
            known = getattr(diffusers, name, diffusers.DiffusionPipeline)
            kind: Any = _class_named(self.name, name) if self._class_name else known
            half = device.type == "cuda" or _kind(kind).only_bfloat16
            dtype = ("bfloat16" if half else "float32") if self._dtype == "auto" else self._dtype
            found = kind.from_pretrained(self._source, dtype=getattr(torch, dtype), **self._from, **placed)
            self._add_lora(found)
            if self._offload == "model":
                found.enable_model_cpu_offload(device=device)
            elif self._offload:
                found.enable_sequential_cpu_offload(device=device)
            elif not self._device_map:
                found.to(device)
        except SketchmarkError:
            raise
        except Exception as error:
            raise DataMissing(f"cannot load {self._source}: {one_line(error)}", _hint(error)) from error
        found.set_progress_bar_config(disable=True)
        repair(found)
        return found

    def _add_lora(self, pipeline: Any) -> None:
        if not self._lora:
            return
        try:
            pipeline.load_lora_weights(self._lora)
            if self._lora_scale is not None:
                pipeline.set_adapters(pipeline.get_active_adapters(), self._lora_scale)
        except Exception as error:
            none = (
                f"{type(pipeline).__name__} takes no LoRA" if isinstance(error, AttributeError) else one_line(error)
            )
            raise DataMissing(f"cannot load lora={self._lora}: {none}", _hint(error, "LoRA weights")) from error


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
    if packages := getattr(found, "_backends", None):
        raise BadInput(f"{owner}: {name} needs a package that is missing", f"pip install {' '.join(packages)}")
    if not isinstance(found, type) or not issubclass(found, diffusers.DiffusionPipeline):
        raise BadInput(
            f"{owner}: diffusers {diffusers.__version__} has no pipeline {name}",
            "a newer diffusers may have it, or pipeline=CLASS names another",
        )
    return found


def _image_argument(takes: Mapping[str, Any]) -> str | None:
    return next((name for name in _OF_IMAGES if name in takes), None)


def _kind(pipeline: type) -> _Kind:
    return _KINDS.get(pipeline.__name__, _PLAIN)


def _prompt(context: Context, pipeline: type) -> tuple[str, LeftOut]:
    """Join the texts, with the images' marks between them if the pipeline knows such."""
    kind = _kind(pipeline)
    if not kind.place:
        prompt, lost = layout.as_prompt(context, pipeline.__name__)
        if kind.instruction and prompt.strip():
            prompt = json.dumps({kind.instruction: prompt}, ensure_ascii=False)
        return prompt, lost
    pieces, count = [], 0
    for part in context:
        count += part.picture is not None
        pieces.append(kind.place.format(count) if part.text is None else part.text)
    return "\n\n".join(pieces), ()


def _completed(pipeline: type, context: Context, settings: dict[str, Any]) -> dict[str, Any]:
    """Add what the pipeline needs: the size of the newest image, a number of frames."""
    kind = _kind(pipeline)
    if kind.frames:
        settings = {"num_frames": kind.frames, **settings}
    if not kind.step or "height" in settings or "width" in settings:
        return settings
    sides = context.pictures[-1].size if context.pictures else (_SIDE, _SIDE)
    width, height = (max(kind.step, round(side / kind.step) * kind.step) for side in sides)
    return settings | {"width": width, "height": height}


def _counter(pipeline: Any) -> Any:
    """Return a copy of the tokenizer that cuts off a long prompt, if one does. The last of several counts, since it
    has the longest limit. It is a copy, because a call sets a tokenizer's truncation for all
    threads, also for a drawing's."""
    source = inspect.getsource(inspect.getmodule(type(pipeline)) or type(pipeline))
    if "truncation=True" not in source or _kind(type(pipeline)).reads_all:
        return None
    names = ("tokenizer_3", "tokenizer_2", "tokenizer")
    return deepcopy(next((found for name in names if (found := getattr(pipeline, name, None)) is not None), None))


def _cut(pipeline: type, tokenizer: Any, prompt: str, settings: Mapping[str, Any]) -> LeftOut:
    """Report the end of a prompt that the pipeline's tokenizer cuts off."""
    if tokenizer is None:
        return ()
    takes = inspect.signature(pipeline.__call__).parameters
    by_default = takes["max_sequence_length"].default if "max_sequence_length" in takes else None
    limit = settings.get("max_sequence_length") or by_default or tokenizer.model_max_length
    count = len(tokenizer(prompt, truncation=False, verbose=False).input_ids)
    if count <= limit:
        return ()
    return (f"the last {count - limit} of {count} tokens of the prompt: {pipeline.__name__} reads {limit}",)


def _all_fingerprints(source: str) -> str | None:
    """Hash the weights in a folder and in the folders of its parts. None for an id of the hub."""
    folder = Path(source)
    if not source or not folder.is_dir():
        return None
    parts = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    return "-".join(fingerprint(part)[:8] for part in parts)


def _hint(error: Exception, what: str = "a pipeline") -> str:
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
    return f"a folder saved with save_pretrained, or the id of {what} on the hub"


PROVIDER = Provider(
    Diffusers,
    "diffusers/PATH_OR_ID: pipelines that draw, for --drawer",
    batches=True,
    families=("flux", "stable-diffusion", "qwen-image", "longcat-image", "glm-image", "omnigen", "sana"),
)
