"""How models of transformers that draw token by token are steered, and their pixels made a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sketchmark.picture import Picture


def picture_of(pixels: Any, processor: Any) -> Picture:
    """(height, width, 3). The normalisation undone by hand: transformers 5's processor without torchvision takes the
    rows of the decoded picture for its colours and fails."""
    import numpy as np
    from PIL import Image

    scaled = (pixels.numpy() * np.array(processor.image_std) + np.array(processor.image_mean)) * 255
    return Picture.from_image(Image.fromarray(scaled.clip(0, 255).astype(np.uint8)))


def logits_processors(one: Callable[[Any, Any], Any]) -> Any:
    from transformers import LogitsProcessorList

    return LogitsProcessorList([one])


class Brush:
    """Classifier-free guidance, then sampling by Gumbel noise: the largest of (score / temperature + noise) is a
    sample of the softmax. Each row has a random stream of its own, which transformers' sampling has not, so a drawing
    does not depend on what else is in its batch."""

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
