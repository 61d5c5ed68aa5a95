"""The samples of `bench.wire.samples`, read one by one as a data set's are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sketchmark import Picture, Sample

OPTIONS = ["sand", "snow", "grass", "bark"]


def samples(*, seed: int, data: Path | None) -> Iterator[Sample]:
    assert data is not None
    with (data / "questions.jsonl").open() as rows:
        for line in rows:
            row = json.loads(line)
            yield Sample(
                id=f"texture-{row['id']:05d}",
                pictures={"picture": Picture.from_file(data / row["picture"])},
                fields={"question": row["prompt"]},
                target={"answer": row["answer"], "options": OPTIONS},
            )
