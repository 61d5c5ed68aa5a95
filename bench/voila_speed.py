"""Speed and memory of making, listing and addressing VOILA questions, and of drawing and reading images.

python bench/voila_speed.py
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from sketchmark.media import Picture
from sketchmark.worlds import voila
from sketchmark.worlds.voila import bank, reader
from sketchmark.worlds.voila.make import SetOrder, make

MILLION = 19 * 52_632


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(what: str, count: int, work: Callable[[], object]) -> None:
    start, start_cpu = time.perf_counter(), time.process_time()
    work()
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    rate = f"{count / cpu:>12,.0f}/s of CPU time"
    print(f"{what:<44}{count:>10,} in {seconds:>6.1f} s {rate}   peak {peak_megabytes():>5.0f} MB", flush=True)


def exhaust(items: Iterable[object]) -> None:
    for _ in items:
        pass


def write_table() -> None:
    with TemporaryDirectory() as folder:
        make(Path(folder) / "set.csv", SetOrder(MILLION, pictures=False))


def main() -> None:
    rng = random.Random(0)
    indices = [rng.randrange(voila.space_size(True)) for _ in range(100_000)]
    nd = voila.space_size(False)
    measure("whole space without distraction, listed", nd, lambda: exhaust(voila.all_questions(False)))
    measure(
        "index to question to index", len(indices), lambda: [voila.index_of(voila.question_at(i)) for i in indices]
    )
    measure("questions drawn", MILLION, lambda: exhaust(voila.sample_questions(MILLION, 0, distraction=True)))
    measure("questions drawn and written as CSV", MILLION, write_table)
    scenes = list(islice(voila.SCENES, 0, None, 5))
    pictures: list[Picture] = []
    measure("pictures drawn (PNG)", len(scenes), lambda: pictures.extend(bank.picture(scene) for scene in scenes))
    reader.read(pictures[0])
    measure("pictures read", len(pictures), lambda: [reader.read(picture) for picture in pictures])


if __name__ == "__main__":
    main()
