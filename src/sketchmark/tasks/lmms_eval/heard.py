"""Sounds of a data set as task code knows them: `{"array", "sampling_rate", "path"}`, which can also be asked for all
its samples.

`datasets` has given an object of `torchcodec` since version 4, which takes torch and FFmpeg. Code that was written
before does not know it, and code that was written since may know nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sketchmark.sounds import Sound


class AudioDecoder(dict[str, Any]):
    """Has the name of what `datasets` gives: some code looks at it before it asks."""

    def get_all_samples(self) -> AudioSamples:
        return AudioSamples(np.atleast_2d(self["array"]).view(_Numbers), int(self["sampling_rate"]))


@dataclass(frozen=True)
class AudioSamples:
    data: _Numbers
    """As (channels, length)."""

    sample_rate: int


class _Numbers(np.ndarray[Any, Any]):
    """Takes what is asked of a tensor on the way to its numbers."""

    def cpu(self) -> _Numbers:
        return self

    def numpy(self) -> Any:
        return self.view(np.ndarray)


def heard(documents: Any) -> Any:
    """The same documents, with their sounds decoded when a document is looked at."""
    from datasets import Audio  # type: ignore[import-untyped]

    columns = {name: kind for name, kind in documents.features.items() if isinstance(kind, Audio)}
    for name in columns:
        documents = documents.cast_column(name, Audio(decode=False))

    def decoded(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        for name, kind in columns.items():
            if name in batch:
                batch[name] = [_decoded(one, kind.sampling_rate) for one in batch[name]]
        return batch

    return documents.with_transform(decoded) if columns else documents


def _decoded(one: Any, rate: int | None) -> Any:
    """In one channel, as `datasets` did it; what is no file's content stays as it is."""
    if not isinstance(one, dict) or not one.get("bytes"):
        return one
    samples, rate = Sound.from_bytes(one["bytes"]).samples(rate)
    return AudioDecoder(array=samples.mean(axis=0), sampling_rate=rate, path=one.get("path"))
