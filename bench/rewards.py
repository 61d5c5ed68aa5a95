"""Speed of the reward server over real HTTP, next to the bare image reader on the same frames.

python -m bench.rewards [--worlds gears,reach] [--frames 120] [--at-once 1000]

A request is a rollout: the frames of a training sample, in UniRL's JSON. A sample has a group of eight rollouts, and
16 rollouts are a body. Frames of another size (maze, sliding, jigsaw) are resized to 512x512, as a model draws them.
Every frame has bytes of its own, so that no cache of the image reader knows it. The formats are PNG as drawn, PNG
with noise in every pixel as a decoder of images makes it, and the same as JPEG of quality 95, UniRL's default.
Jigsaws have the printed looks.

Rates are per second of CPU time of the server's processes (HTTP, JSON, base64, decoding, reading, scores), so they
are per core. The bare reader decodes the same files and reads them in as many processes, without any server. One
server does all worlds and formats. The table is as in docs/train.md.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import numpy as np
from PIL import Image

from bench.wire.watching import peak_of, tree
from bench.worlds import Drawn, subjects
from sketchmark.episode.sample import Sample
from sketchmark.media import Picture
from sketchmark.training import Course, worlds
from sketchmark.worlds import LEVELS
from sketchmark.worlds.jigsaw.panels import PRINTED
from sketchmark.worlds.maze import board as maze
from sketchmark.worlds.steps import SIZE

FORMATS = ("PNG", "noisy PNG", "noisy JPEG")
GROUP, BATCH, CONNECTIONS = 8, 16, 8
Rollout = tuple[int, int, str, list[bytes]]
"""Seed, level, look and frames."""


def _file(picture: Picture, kind: str, dice: np.random.Generator) -> bytes:
    """Return the frame as a file that Sketchmark did not write, with other bytes than every other file."""
    drawn = picture.image()
    pixels = np.asarray(drawn if drawn.size == (SIZE, SIZE) else drawn.resize((SIZE, SIZE))).astype(np.int16)
    pixels[:, -1] = np.clip(pixels[:, -1] + dice.integers(-2, 3, pixels[:, -1].shape), 0, 255)
    if kind != "PNG":
        pixels += np.rint(dice.normal(0, 2, pixels.shape)).astype(np.int16)
    made = io.BytesIO()
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    image.save(made, "JPEG", quality=95) if kind.endswith("JPEG") else image.save(made, "PNG")
    return made.getvalue()


def rollouts(world: str, kind: str, frames: int, levels: Sequence[int] = LEVELS) -> list[Rollout]:
    looks = PRINTED if world == "jigsaw" else ()
    course, dice = Course(world, levels=tuple(levels), looks=looks), np.random.default_rng(7)
    made: list[Rollout] = []
    seed = 0
    while frames > 0:
        sample, level = course.sample(seed), course.level_of(seed)
        true = sample.frames() if sample.frames else []
        look = str(sample.groups.get("look", ""))
        group = [(seed, level, look, [_file(one, kind, dice) for one in true]) for _ in range(GROUP)]
        made += group
        frames -= sum(len(one[3]) for one in group)
        seed += 1
    return made


def read_bare(world: str, made: Sequence[Rollout]) -> tuple[int, float]:
    """Return how many frames were decoded and read, and the seconds of CPU that it took. Those of the first rollouts
    are a warm-up."""
    read, begin, count = subjects()[world].read, 0.0, 0
    shown = {(seed, look): _shown(world, Course(world).sample(seed, level, look)) for seed, level, look, _ in made}
    for place, (seed, _, look, files) in enumerate(made):
        if place == WARM_UP:
            begin, count = time.process_time(), 0
        for index, file in enumerate(files):
            found = read(Picture.from_bytes(file), shown[seed, look](index))
            assert found is not None, f"{world}: a frame was not read"
            count += 1
    return count, time.process_time() - begin


def _shown(world: str, sample: Sample) -> Callable[[int], Any]:
    """Return what an image reader is told about each frame: a board's look, or the two completed panels."""
    look, frames = str(sample.groups["look"]), sample.frames() if sample.frames else []
    if world == "maze":
        return lambda index: maze.Maze((), (0, 0), (0, 0), look=look)
    if world == "sliding":
        return lambda index: ((), look)
    return lambda index: (index, frames) if world == "jigsaw" else Drawn(None)


WARM_UP = 4


def _asked(world: str, rollout: Rollout) -> dict[str, Any]:
    seed, level, look, frames = rollout
    return {
        "history": [{"image_b64": base64.b64encode(frame).decode()} for frame in frames],
        "required_rewards": [f"{world}_frames"],
        "metadata": {"seed": seed, "level": level, "look": look},
        "request_id": f"{world}-{seed}",
    }


def bodies(world: str, made: Sequence[Rollout], batch: int) -> list[bytes]:
    asked = [_asked(world, one) for one in made]
    batches = [asked[at : at + batch] for at in range(0, len(asked), batch)]
    return [msgspec.json.encode({"protocol_version": "1", "requests": one}) for one in batches]


async def post(url: str, sent: Sequence[bytes], connections: int) -> list[dict[str, float]]:
    """Post all bodies, so many at once, and return the rewards. A request that fails is an error."""
    gate = asyncio.Semaphore(connections)

    async def one(client: aiohttp.ClientSession, body: bytes) -> list[dict[str, float]]:
        headers = {"Content-Type": "application/json"}
        async with gate, client.post(f"{url}/score", data=body, headers=headers) as reply:
            reply.raise_for_status()
            found = msgspec.json.decode(await reply.read())
            assert not any(found["errors"]), found["errors"]
            return [next(iter(result.values())) for result in found["results"]]

    connector = aiohttp.TCPConnector(limit=connections)
    timeout = aiohttp.ClientTimeout(total=900)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as client:
        return [score for part in await asyncio.gather(*(one(client, body) for body in sent)) for score in part]


@contextmanager
def server(processes: int) -> Iterator[tuple[str, int]]:
    """Start `sketchmark rewards`; give its address and process id."""
    command = [sys.executable, "-m", "sketchmark", "rewards", "--port", "0", "--processes", str(processes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[2].removesuffix("/score"), process.pid
        finally:
            process.send_signal(signal.SIGINT)


@dataclass(frozen=True)
class Measured:
    """Frames per second of CPU time, kilobytes per frame, and the megabytes of all the server's processes."""

    size: float
    bare: float
    served: float
    peak: float

    @property
    def cells(self) -> str:
        return f"{self.bare:.0f} | {self.served:.0f} | {self.served / self.bare:.2f}"


def _used(pid: int) -> float:
    """Return the seconds of CPU of a process tree, exactly: `stat` counts hundredths."""
    tasks = (task for one in tree(pid) for task in Path(f"/proc/{one}/task").iterdir())
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def _forget_peak(pid: int) -> None:
    for one in tree(pid):
        Path(f"/proc/{one}/clear_refs").write_text("5")


class Bench(NamedTuple):
    """The running server, and as many processes for the bare image reader."""

    url: str
    pid: int
    alone: ProcessPoolExecutor
    processes: int


def measure(world: str, kind: str, frames: int, bench: Bench) -> Measured:
    url, pid, alone, share = bench
    made = rollouts(world, kind, frames + (LEVELS[0] + LEVELS[1]) * GROUP)
    size = sum(len(frame) for one in made for frame in one[3]) / sum(len(one[3]) for one in made) / 1000
    warm, rest = made[: 2 * GROUP], made[2 * GROUP :]
    counted = sum(len(one[3]) for one in rest)
    read = list(alone.map(read_bare, [world] * share, [made[at::share] for at in range(share)]))
    bare = sum(count for count, _ in read) / sum(seconds for _, seconds in read)
    asyncio.run(post(url, bodies(world, warm, 1), CONNECTIONS))
    _forget_peak(pid)
    used = _used(pid)
    scores = asyncio.run(post(url, bodies(world, rest, BATCH), CONNECTIONS))
    used = _used(pid) - used
    assert [one["right"] for one in scores] == [1.0] * len(rest), f"{world}: a true frame was not right"
    return Measured(size, bare, counted / used, peak_of(tree(pid)))


HEAD = f"""\
| world |{"".join(f" {kind}: bare | served | ratio |" for kind in FORMATS)} peak MB |
|---|{"---|" * 10}"""


def table(names: Sequence[str], frames: int, processes: int) -> None:
    found: list[Measured] = []
    print(HEAD)
    with ProcessPoolExecutor(processes, get_context("spawn")) as alone, server(processes) as (url, pid):
        for world in names:
            row = [measure(world, kind, frames, Bench(url, pid, alone, processes)) for kind in FORMATS]
            cells = " | ".join(one.cells for one in row)
            print(f"| {world} | {cells} | {max(one.peak for one in row):.0f} |", flush=True)
            found += row
    sizes = [sorted(one.size for one in found[at :: len(FORMATS)]) for at in range(len(FORMATS))]
    ranges = (f"{kind} {each[0]:.0f} to {each[-1]:.0f}" for kind, each in zip(FORMATS, sizes, strict=True))
    print(f"\nKilobytes per frame: {', '.join(ranges)}. Slowest: {min(one.served for one in found):.0f} per second.")


def at_once(count: int, processes: int) -> None:
    made = rollouts("gears", "PNG", count, levels=(1,))[:count]
    sent = bodies("gears", made, 1)
    with server(processes) as (url, pid):
        begin = time.perf_counter()
        scores = asyncio.run(post(url, sent, count))
        wall, peak = time.perf_counter() - begin, peak_of(tree(pid))
    right = sum(one["right"] == 1.0 for one in scores)
    megabytes = sum(map(len, sent)) / 1e6
    print(
        f"\n{count:,} requests at once on {count:,} connections, {sum(len(one[3]) for one in made):,} frames, "
        f"{megabytes:.0f} MB:\n{len(scores):,} answered, {right:,} of them right, {wall:.1f} s, peak {peak:.0f} MB"
    )


def main() -> None:
    known = list(worlds())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--worlds", default=",".join(known))
    parser.add_argument("--frames", type=int, default=120, help="per world and format")
    parser.add_argument("--at-once", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if unknown := {*given.worlds.split(",")} - {*known}:
        parser.error(f"{', '.join(sorted(unknown))}: only {', '.join(known)} are measured")
    load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"Frames of 512x512 per second of CPU time, {time.strftime('%Y-%m-%d')}, {load}\n")
    table(given.worlds.split(","), given.frames, given.processes)
    if given.at_once:
        at_once(given.at_once, given.processes)


if __name__ == "__main__":
    main()
