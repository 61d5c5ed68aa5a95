"""CPU milliseconds of an episode of the generated worlds, by world, mode and scripted player.

python -m bench.worlds_cpu [EPISODES]

Everything a run does is included: samples, episodes, call cache, run folder, scores and report. Each cell has a
separate process and folder; costs per process (imports, tables) are paid on other samples before the clock starts.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import sketchmark

WORLDS = ("maze", "sliding", "jigsaw", "voila")
MODES = ("direct", "visual_cot", "text_cot")
PLAYERS = ("random", "solver", "sketcher")


def milliseconds(world: str, mode: str, player: str, episodes: int) -> float:
    """An episode's CPU time, that of processes which the run starts included."""
    used = 0.0
    with TemporaryDirectory() as folder:
        for seed, limit in ((1, 2), (0, episodes)):
            before = os.times()
            sketchmark.run(
                f"player/{player}",
                world,
                mode=mode,
                limit=limit,
                seed=seed,
                output_path=Path(folder, f"run{seed}"),
                cache=Path(folder, "cache"),
            )
            used = sum(os.times()[:4]) - sum(before[:4])
    return used * 1000 / episodes


def main() -> None:
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print(f"CPU milliseconds an episode, {episodes} episodes a cell, {time.strftime('%Y-%m-%d')}\n")
    print(f"{'world':<10}{'mode':<12}" + "".join(f"{player:>10}" for player in PLAYERS))
    for world in WORLDS:
        for mode in MODES:
            print(f"{world:<10}{mode:<12}", end="", flush=True)
            for player in PLAYERS:
                with ProcessPoolExecutor(1, get_context("spawn")) as process:
                    print(f"{process.submit(milliseconds, world, mode, player, episodes).result():>10.1f}", end="")
            print(flush=True)


if __name__ == "__main__":
    main()
