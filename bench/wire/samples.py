"""The samples that every contestant is given: noisy PNG files, and a question to each in `questions.jsonl`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from bench.wire.server import answer_to

PROMPT = "This is sample {number}. Which texture is it?\nA. sand\nB. snow\nC. grass\nD. bark\nAnswer with a letter."


def make(folder: Path, count: int, side: int) -> int:
    """How many bytes a picture has, about. No two are alike, and none can be packed well."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "questions.jsonl").open("w") as questions:
        for number in range(count):
            path = folder / f"{number:05d}.png"
            dice = np.random.default_rng(number)
            noise = dice.integers(0, 256, (side, side, 3), dtype=np.uint8) & 0xF0
            Image.fromarray(noise).save(path, compress_level=1)
            row = {"id": number, "picture": path.name, "prompt": PROMPT.format(number=number)}
            questions.write(json.dumps({**row, "answer": answer_to(number)}) + "\n")
    return path.stat().st_size if count else 0
