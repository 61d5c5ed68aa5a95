"""Weights from a folder or the hub, and sampling for models of transformers that draw token by token."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, DataMissing, MissingExtra, SketchmarkError
from sketchmark.media import Picture
from sketchmark.models.arguments import Arguments


def picture_of(pixels: Any, processor: Any) -> Picture:
    """Convert pixels (height, width, 3) to an image.

    The normalisation is undone here: without torchvision, transformers 5's processor takes rows for colours and
    fails.
    """
    import numpy as np
    from PIL import Image

    scaled = (pixels.numpy() * np.array(processor.image_std) + np.array(processor.image_mean)) * 255
    return Picture.from_image(Image.fromarray(scaled.clip(0, 255).astype(np.uint8)))


def logits_processors(one: Callable[[Any, Any], Any]) -> Any:
    from transformers import LogitsProcessorList

    return LogitsProcessorList([one])


class Brush:
    """Classifier-free guidance, then sampling by Gumbel noise.

    The largest of (score / temperature + noise) is a sample of the softmax. Each row has a separate random stream,
    unlike in transformers' sampling, so a drawing does not depend on the rest of its batch.
    """

    def __init__(self, seeds: list[int], temperature: float, guidance: float) -> None:
        import torch

        self._streams = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature
        self._guidance = guidance

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        guided, free = scores.float().chunk(2)
        mixed = free + self._guidance * (guided - free)
        if self._temperature <= 0:
            return mixed
        noise = torch.stack([-torch.empty(mixed.shape[1]).exponential_(generator=s).log() for s in self._streams])
        return mixed / self._temperature + noise.to(mixed.device)


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
            raise DataMissing(
                f"{pretrained} is not a folder with a model", "it should hold a config.json and weights"
            )
        return cls(
            pretrained=pretrained,
            device=args.text("device") or "auto",
            dtype=args.choice("dtype", DTYPES) or "auto",
            device_map=args.text("device_map"),
            attn_implementation=args.text("attn_implementation"),
            revision=args.text("revision"),
            trust_remote_code=args.flag("trust_remote_code", False),
        )

    def identity(self) -> dict[str, Any]:
        """Return what identifies the weights. The device is not part of it."""
        folder = Path(self.pretrained)
        known = {
            "dtype": self.dtype,
            "attn_implementation": self.attn_implementation,
            "revision": self.revision,
            "weights": fingerprint(folder) if folder.is_dir() else None,
        }
        return {key: value for key, value in known.items() if value is not None}


@dataclass(frozen=True)
class Weights:
    model: Any
    processor: Any


def load(source: Source, *, needs_chat_template: bool = True) -> Weights:
    import transformers

    # Its warnings repeat with every call and are for programmers. The important ones are checked below.
    transformers.logging.set_verbosity_error()
    common = {"revision": source.revision, "trust_remote_code": source.trust_remote_code}
    placed = {"device_map": source.device_map} if source.device_map else {}
    try:
        processor = transformers.AutoProcessor.from_pretrained(source.pretrained, **common)
        model, report = transformers.AutoModelForImageTextToText.from_pretrained(
            source.pretrained,
            dtype=source.dtype,
            attn_implementation=source.attn_implementation,
            output_loading_info=True,
            **common,
            **placed,
        )
        if not source.device_map:
            model.to(device_named(source.device))
    except SketchmarkError:
        raise
    except Exception as error:
        raise DataMissing(f"cannot load {source.pretrained}: {one_line(error)}", _hint(error)) from error
    if report["missing_keys"]:
        # transformers fills these with random numbers, so the score would be of another model.
        names = sorted(report["missing_keys"])
        raise DataMissing(f"{source.pretrained} lacks {len(names)} weights ({names[0]}...)", "download it again")
    if needs_chat_template and getattr(processor, "chat_template", None) is None:
        raise BadInput(f"{source.pretrained} has no chat template", "use the instruction-tuned version of the model")
    tokenizer = processor.tokenizer
    # New tokens continue a row on its right, so a batch must be padded on the left.
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Weights(model.eval(), processor)


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
