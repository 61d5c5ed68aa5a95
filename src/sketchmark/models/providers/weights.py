"""Weights from a folder or the hub, the wording of their contexts, and repairs of models inside pipelines."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadInput, DataMissing, MissingExtra, SketchmarkError
from sketchmark.models import layout
from sketchmark.models.arguments import Arguments

if TYPE_CHECKING:
    from PIL import Image


_ADAPTER = "adapter_config.json"
_PIXELS = {"max_pixels": "longest_edge", "min_pixels": "shortest_edge"}
"""Argument → its name in the `size` of an image processor."""
DTYPES = ("auto", "float32", "bfloat16", "float16")
_NO_MEMORY = "DefaultCPUAllocator|MPS backend out of memory"
_BLOCK = 2**16
_BLOCKS = 64


@dataclass(frozen=True)
class Source:
    """Location of the weights, and settings for loading them."""

    pretrained: str
    device: str
    dtype: str
    device_map: str | None
    attn_implementation: str | None
    revision: str | None
    trust_remote_code: bool
    tokenizer: str | None = None
    """Another tokenizer than the checkpoint's."""
    peft: str | None = None
    """Folder of an adapter (LoRA) to lay on the weights."""
    bits: str | None = None
    """`4bit` or `8bit`: the weights are quantised when they are loaded."""
    pixels: Mapping[str, int] = field(default_factory=dict)
    """`max_pixels` and `min_pixels` of the image processor."""

    @classmethod
    def read(cls, owner: str, pretrained: str, args: Arguments) -> Source:
        if not pretrained:
            raise BadInput(f"{owner}: no weights named", f"{owner}/PATH_OR_ID, or pretrained=PATH_OR_ID")
        for module in ("torch", "transformers"):
            if importlib.util.find_spec(module) is None:
                raise MissingExtra(f"model {owner}/{pretrained}", "local")
        folder = Path(pretrained)
        # Anything else may be the id of a model on the hub, which only loading can show.
        if (folder.is_absolute() or folder.exists()) and not (folder / "config.json").is_file():
            adapter = (folder / _ADAPTER).is_file()
            raise DataMissing(
                f"{pretrained} is not a folder with a model",
                f"it holds an adapter: {owner}/BASE_MODEL with peft={pretrained}"
                if adapter
                else "it should hold a config.json and weights",
            )
        flash = "flash_attention_2" if args.flag("use_flash_attention_2", False) else None
        return cls(
            pretrained=pretrained,
            device=args.text("device") or "auto",
            dtype=args.choice("dtype", DTYPES) or "auto",
            device_map=args.text("device_map"),
            attn_implementation=args.text("attn_implementation") or flash,
            revision=args.text("revision"),
            trust_remote_code=args.flag("trust_remote_code", False),
            tokenizer=existing(args.text("tokenizer"), "tokenizer"),
            peft=_adapter(owner, args),
            bits=_bits(owner, args),
            pixels={name: args.whole(name, 0, least=1) for name in _PIXELS if args.text(name)},
        )

    @property
    def is_text_only(self) -> bool:
        """Return whether a folder's config is that of a model without images; for an id on the hub this is unknown
        before loading."""
        try:
            config = json.loads((Path(self.pretrained) / "config.json").read_text("utf-8"))
        except (OSError, ValueError):
            return False
        if not isinstance(config, dict) or "vision_config" in config or "auto_map" in config:
            return False
        return _takes_text_only(str(config.get("model_type")))

    def identity(self) -> dict[str, Any]:
        """Return what identifies the weights. The device is not part of it."""
        folder = Path(self.pretrained)
        known = {
            "dtype": self.dtype,
            "attn_implementation": self.attn_implementation,
            "revision": self.revision,
            "weights": fingerprint(folder) if folder.is_dir() else None,
            "tokenizer": self.tokenizer,
            "peft": fingerprint(Path(self.peft)) if self.peft and Path(self.peft).is_dir() else self.peft,
            "load_in": self.bits,
            **self.pixels,
        }
        return {key: value for key, value in known.items() if value is not None}


def _takes_text_only(model_type: str) -> bool:
    from transformers.models.auto import modeling_auto as known

    takes_images = model_type in known.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
    return model_type in known.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and not takes_images


def existing(path: str | None, argument: str) -> str | None:
    """Refuse a path that is missing. Anything else may be an id of the hub, which only loading can show."""
    folder = Path(path or "")
    if path and (folder.is_absolute() or path.startswith(".")) and not folder.exists():
        raise DataMissing(f"{argument}={path}: there is no such file or folder", "a path, or an id of the hub")
    return path


def _adapter(owner: str, args: Arguments) -> str | None:
    folder = existing(args.text("peft"), "peft")
    if folder is None:
        return None
    if importlib.util.find_spec("peft") is None:
        raise BadInput(f"{owner}: peft={folder} needs the package peft", "pip install peft")
    if Path(folder).exists() and not (Path(folder) / _ADAPTER).is_file():
        raise DataMissing(f"peft={folder} is not a folder with an adapter", f"it should hold {_ADAPTER}")
    return folder


def _bits(owner: str, args: Arguments) -> str | None:
    wanted = [bits for bits in ("4bit", "8bit") if args.flag(f"load_in_{bits}", False)]
    if len(wanted) > 1:
        raise BadInput(f"{owner}: load_in_4bit and load_in_8bit exclude each other")
    if wanted and importlib.util.find_spec("bitsandbytes") is None:
        raise BadInput(f"{owner}: load_in_{wanted[0]} needs the package bitsandbytes", "pip install bitsandbytes")
    return wanted[0] if wanted else None


@dataclass(frozen=True)
class Wording:
    """Arguments of the chat template: lmms-eval's arguments of the same names, and the template's own."""

    system_prompt: str = ""
    """Shown before a context that has no system message."""
    reasoning_prompt: str = ""
    """Put after the last text."""
    interleave_visuals: bool = True
    """False: the images of a message come before its texts."""
    template: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the chat template, such as `enable_thinking`."""

    @classmethod
    def read(cls, owner: str, args: Arguments) -> Wording:
        if args.whole("max_num_frames", 0):
            told = f"{owner}: max_num_frames is about videos, and no task here shows one: it changes nothing"
            logging.getLogger("sketchmark").warning(told)
        template = args.mapping("chat_template_kwargs")
        if args.text("enable_thinking"):
            template["enable_thinking"] = args.flag("enable_thinking", True)
        asked = (args.text(name) or "" for name in ("system_prompt", "reasoning_prompt"))
        system, reasoning = (text.replace("\\n", "\n") for text in asked)
        return cls(system, reasoning, args.flag("interleave_visuals", True), template)

    def identity(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value != getattr(AS_IS, name)}

    def of(self, context: Context) -> Context:
        parts = list(context)
        if self.system_prompt and not any(part.by == "system" for part in parts):
            parts.insert(0, Part(self.system_prompt, "system"))
        if self.reasoning_prompt and (last := max((i for i, part in enumerate(parts) if part.text), default=-1)) >= 0:
            parts[last] = replace(parts[last], content=f"{parts[last].text}{self.reasoning_prompt}")
        if not self.interleave_visuals:
            messages = layout.messages(Context(tuple(parts)))
            parts = [part for one in messages for part in sorted(one.parts, key=lambda part: part.picture is None)]
        return Context(tuple(parts))


AS_IS = Wording()


@dataclass(frozen=True)
class Weights:
    model: Any
    processor: Any
    text_only: bool = False


class TextProcessor:
    """A tokenizer in the shape of a processor, for a model without images."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.chat_template = tokenizer.chat_template

    def apply_chat_template(self, chat: list[dict[str, Any]], **more: Any) -> str:
        """Render a chat. Templates of text models take a message's content as one text."""
        plain = [{**one, "content": "\n".join(part["text"] for part in one["content"])} for one in chat]
        text: str = self.tokenizer.apply_chat_template(plain, **more)
        return text

    def __call__(self, text: list[str], images: None = None, **more: Any) -> Any:
        from transformers import BatchFeature

        return BatchFeature(dict(self.tokenizer(text, **more)))


def load(source: Source, *, needs_chat_template: bool = True) -> Weights:
    import transformers

    # Its warnings repeat with every call and are for programmers. The important ones are checked below.
    transformers.logging.set_verbosity_error()
    common = {"revision": source.revision, "trust_remote_code": source.trust_remote_code}
    placed: dict[str, Any] = {"device_map": source.device_map} if source.device_map else {}
    if source.bits:
        packed = transformers.BitsAndBytesConfig(**{f"load_in_{source.bits}": True})
        placed = {"device_map": source.device_map or "auto", "quantization_config": packed}
    try:
        config = transformers.AutoConfig.from_pretrained(source.pretrained, **common)
        text_only = not hasattr(config, "auto_map") and _takes_text_only(config.model_type)
        processor = processor_of(source, common, text_only=text_only)
        kind = transformers.AutoModelForCausalLM if text_only else transformers.AutoModelForImageTextToText
        model, report = kind.from_pretrained(
            source.pretrained,
            dtype=source.dtype,
            attn_implementation=source.attn_implementation,
            output_loading_info=True,
            **common,
            **placed,
        )
        if not placed:
            model.to(device_named(source.device))
        if source.peft:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, source.peft)
    except SketchmarkError:
        raise
    except Exception as error:
        raise DataMissing(f"cannot load {source.pretrained}: {one_line(error)}", _hint(error)) from error
    if report["missing_keys"]:
        # transformers fills these with random numbers, so the score would be of another model.
        names = sorted(report["missing_keys"])
        raise DataMissing(f"{source.pretrained} lacks {len(names)} weights ({names[0]}...)", "download it again")
    if needs_chat_template and getattr(processor, "chat_template", None) is None and not end_of_turn(processor):
        raise BadInput(f"{source.pretrained} has no chat template", "use the instruction-tuned version of the model")
    tokenizer = processor.tokenizer
    # New tokens continue a row on its right, so a batch must be padded on the left.
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Weights(model.eval(), processor, text_only)


def processor_of(source: Source, common: Mapping[str, Any], *, text_only: bool) -> Any:
    import transformers

    named = source.tokenizer or source.pretrained
    if text_only:
        if source.pixels:
            raise BadInput(f"{source.pretrained} takes no images, so {', '.join(source.pixels)} means nothing")
        return TextProcessor(transformers.AutoTokenizer.from_pretrained(named, **common))
    processor = transformers.AutoProcessor.from_pretrained(source.pretrained, **common, **source.pixels)
    if source.tokenizer:
        processor.tokenizer = transformers.AutoTokenizer.from_pretrained(source.tokenizer, **common)
    images = getattr(processor, "image_processor", None)
    sizes = dict(getattr(images, "size", None) or {})
    for name, edge in _PIXELS.items():
        wanted = source.pixels.get(name)
        if wanted and wanted not in (getattr(images, name, None), sizes.get(edge)):
            raise BadInput(f"the image processor of {source.pretrained} has no {name}", "leave it out")
    return processor


def end_of_turn(processor: Any) -> str | None:
    """Return the mark between turns of a processor that has no chat template, and sets the last mark itself."""
    return processor.tokenizer.sep_token if type(processor).__name__ == "ChameleonProcessor" else None


def repair(pipeline: Any) -> None:
    """Fill two gaps between diffusers 0.42 and transformers 5.

    A reader of prompts and images (Qwen2.5-VL) places its tokens by `mm_token_type_ids`, which most pipelines do not
    pass on: without them images get the positions of text (diffusers #14194). And GLM-Image's first model returns
    an image's features in another shape than its pipeline takes.
    """
    source = inspect.getsource(inspect.getmodule(type(pipeline)) or type(pipeline))
    for part in pipeline.components.values():
        takes = inspect.signature(part.forward).parameters if hasattr(part, "register_forward_pre_hook") else {}
        if "mm_token_type_ids" in takes and "mm_token_type_ids" not in source:
            part.register_forward_pre_hook(_mark_images, with_kwargs=True)
    if type(pipeline).__name__ == "GlmImagePipeline" and "get_image_tokens(\n" in source:
        _flatten_features(pipeline.vision_language_encoder)


def _mark_images(part: Any, args: Any, given: dict[str, Any]) -> Any:
    if given.get("pixel_values") is not None and given.get("mm_token_type_ids") is None:
        given["mm_token_type_ids"] = (given["input_ids"] == part.config.image_token_id).int()
    return args, given


def _flatten_features(planner: Any) -> None:
    """Let GLM-Image's first model give and take features as rows of tokens, as its pipeline passes them on."""
    import torch

    features, tokens = planner.get_image_features, planner.get_image_tokens

    def as_rows(*args: Any, **more: Any) -> Any:
        made = features(*args, **more)
        if not more:  # transformers names its arguments, the pipeline does not
            made.pooler_output = [one.flatten(1).T for one in made.pooler_output]
        return made

    def from_rows(rows: Any, grids: Any) -> Any:
        images = torch.split(rows, grids.prod(-1).tolist())
        return tokens([one.T.unflatten(1, grid[1:].tolist()) for one, grid in zip(images, grids, strict=True)], grids)

    planner.get_image_features, planner.get_image_tokens = as_rows, from_rows


def fitted(pipeline: Any, images: Sequence[Image.Image]) -> list[Image.Image]:
    """Return images of sizes that the pipeline takes. GLM-Image's two models shrink others differently, and fail."""
    if type(pipeline).__name__ != "GlmImagePipeline":
        return list(images)
    reader = pipeline.processor.image_processor
    grids = reader(images=list(images), return_tensors="pt")["image_grid_thw"].tolist()
    side = 2 * reader.patch_size
    return [one.resize((side * width, side * height)) for one, (_, height, width) in zip(images, grids, strict=True)]


def device_named(name: str) -> Any:
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"device={name}: {one_line(error)}", "device=auto, cpu, cuda, cuda:1 or mps") from error
    return device


def _hint(error: Exception) -> str:
    if out_of_memory(error):
        return "it does not fit into memory: a smaller dtype=, device_map=auto, or a smaller model"
    text = f"{error!r}".lower()
    if "flash" in text and "attn" in text.replace("attention", "attn"):
        return "flash-attention is not there: pip install flash-attn, or leave out the argument that asks for it"
    if ("torchvision" in text or "video_processor" in text) and importlib.util.find_spec("torchvision") is None:
        return "its processor handles video too and needs torchvision: pip install torchvision"
    if "accelerate" in text and importlib.util.find_spec("accelerate") is None:
        return "device_map needs: pip install accelerate"
    if "trust_remote_code" in text:
        return "it brings its own code: trust_remote_code=true runs it, if you trust it"
    return "a folder saved with save_pretrained, or the id of a model on the hub"


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def out_of_memory(error: Exception) -> bool:
    import torch

    # Accelerators raise a special class. On CPU and MPS the allocator raises a plain RuntimeError.
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and re.search(_NO_MEMORY, str(error)) is not None
    )


def release_memory() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def fingerprint(folder: Path) -> str:
    """Hash the small files and evenly spread blocks of the large ones.

    Reading all of them would take as long as loading, and retrained weights differ everywhere.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".json", ".safetensors", ".bin", ".jinja", ".txt", ".model"):
            continue
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}:".encode())
        with path.open("rb") as file:
            for start in range(0, size, max(_BLOCK, size // _BLOCKS)):
                file.seek(start)
                digest.update(file.read(_BLOCK))
    return digest.hexdigest()[:16]
