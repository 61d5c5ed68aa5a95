"""Runs of scripted players with all that makes tables wide: several tasks, one with a long name, modes and canvases,
tiny p values, replies that fail or are read differently."""

from __future__ import annotations

from pathlib import Path

import sketchmark
from sketchmark import Context, Model, Options, Reply, worlds
from sketchmark.cli import root as root_command
from tests.benchmarks.uni_mmmu import published, published_rest
from tests.benchmarks.voila.making import questions, right_answers, write_answers
from tests.episodes import moves_answer

LONG = "a_maze_of_a_lab_that_likes_its_names_long_and_whole"


class Clumsy(Model):
    """Answers in a form that not every scoring takes, does not always draw, and is cut now and then: which of these
    follows from what it sees, so that every run is the same."""

    async def say(self, context: Context, options: Options) -> Reply:
        luck = int(context.key()[:4], 16)
        answer = moves_answer("up", "left") if luck % 2 else 'I would go up: ["up"]'
        return Reply(answer, finish="stop" if luck % 5 else "length")

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply(picture=context.pictures[0] if int(context.key()[:4], 16) % 3 else None)


def play(root: Path) -> None:
    """Run folders, VOILA's files in `voila`, a price table, and the folder `mine` with a task of one's own."""
    (root / "mine").mkdir()
    (root / "mine" / f"{LONG}.yaml").write_text(f"include: {Path(worlds.__file__).parent / 'maze' / 'maze.yaml'}\n")
    (root / "prices.yaml").write_text(
        "player/solver: {picture: 1}\nplayer/random: {input: 2500000, output: 10000000}\n", "utf-8"
    )
    mine = [root / "mine"]
    for name, canvas in (("random", "own"), ("sketcher", "own,blank,oracle")):
        sketchmark.run(
            f"player/{name}",
            f"jigsaw,{LONG}",
            mode="direct,visual_cot,text_cot",
            canvas=canvas,
            limit=12,
            include=mine,
            output_path=root / name,
            engine="local",
        )
    root_command.main(
        ["score", str(root / "sketcher"), "--scoring", "strict,ra-al", "--include", str(root / "mine")],
        standalone_mode=False,
    )
    sketchmark.run(
        Clumsy("a-clumsy-model"),
        f"maze,{LONG}",
        mode="direct,visual_cot",
        limit=8,
        scoring="strict,lenient,official",
        include=mine,
        output_path=root / "clumsy",
    )
    sketchmark.run(
        "player/solver",
        "uni_mmmu_maze100,uni_mmmu_jigsaw100",
        mode="direct,visual_cot",
        data=published.parquet_folder(root / "data"),
        output_path=root / "published",
    )
    published_rest.science(root / "science")
    (root / "voila").mkdir()
    write_answers(root / "voila" / "results.json", right_answers(questions(root / "voila")))
