"""The same samples as an lmms-eval task."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from PIL import Image


def doc_to_visual(doc: dict[str, Any]) -> list[Image.Image]:
    return [Image.open(Path(os.environ["BENCH_SAMPLES"]) / doc["picture"]).convert("RGB")]


def doc_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: Any = None) -> str:
    return str(doc["prompt"])


def doc_to_messages(doc: dict[str, Any], lmms_eval_specific_kwargs: Any = None) -> list[dict[str, Any]]:
    content = [{"type": "image", "url": doc_to_visual(doc)[0]}, {"type": "text", "text": doc_to_text(doc)}]
    return [{"role": "user", "content": content}]


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    return {"right": float(results[0].strip() == doc["answer"])}
