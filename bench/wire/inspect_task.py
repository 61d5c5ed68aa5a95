"""The same samples as an Inspect task: one picture and a question, one generation, the letter compared."""

from __future__ import annotations

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def textures(folder: str, count: int) -> Task:
    samples = []
    with (Path(folder) / "questions.jsonl").open() as rows:
        for _, line in zip(range(count), rows, strict=False):
            row = json.loads(line)
            content = [ContentImage(image=str(Path(folder) / row["picture"])), ContentText(text=row["prompt"])]
            question = [ChatMessageUser(content=content)]  # type: ignore[arg-type]
            samples.append(Sample(id=row["id"], input=question, target=row["answer"]))  # type: ignore[arg-type]
    config = GenerateConfig(temperature=0, max_tokens=16)
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match(location="exact"), config=config)
