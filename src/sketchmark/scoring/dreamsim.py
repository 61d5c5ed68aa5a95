"""DreamSim, the learned distance of two pictures that Uni-MMMU scores jigsaws with (arXiv 2306.09344).

It needs torch and downloaded weights, so it is an extra; `jigsaw_img_similarity` stands beside it without either.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from sketchmark.errors import MissingExtra
from sketchmark.picture import Picture


def distance(one: Picture, two: Picture) -> float:
    """0: the same to the eye."""
    torch, model, prepare = _loaded()
    with torch.no_grad():
        return float(model(prepare(one.image()), prepare(two.image())).item())


@cache
def _loaded() -> tuple[Any, Any, Any]:
    try:
        torch, package = import_module("torch"), import_module("dreamsim")
    except ImportError as error:
        raise MissingExtra("the DreamSim metric", "dreamsim") from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, preprocess = package.dreamsim(pretrained=True, device=device)
    return torch, model, lambda image: preprocess(image).to(device)
