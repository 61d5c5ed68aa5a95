"""Sounds of a data set as task code knows them: `{"array", "sampling_rate", "path"}`.

`datasets` has given an object of `torchcodec` since version 4, which takes torch and FFmpeg, and which code that was
written before does not know.
"""

from __future__ import annotations

from typing import Any

from sketchmark.sounds import Sound


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
    return {"array": samples.mean(axis=0), "sampling_rate": rate, "path": one.get("path")}
