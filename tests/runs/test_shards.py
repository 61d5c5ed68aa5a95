"""A shard plays its part of a run, and whatever is made of it says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

import sketchmark
from sketchmark import Reply
from sketchmark.errors import BadInput, CallFailed, RunConflict, RunStopped
from sketchmark.folder import RunFolder
from sketchmark.media import Picture
from sketchmark.report import write_report
from sketchmark.runs.checks import Estimate, estimate
from sketchmark.runs.plan import Cell
from sketchmark.settings import Shard
from tests.runs.making import Looker, Speaker, make_config, make_samples, planned, run

SAMPLES = make_samples(8)


def test_three_shards_play_every_sample_once_between_them() -> None:
    shards = [Shard.parse(text) for text in ("0/3", "1/3", "2/3")]
    assert [[number for number in range(8) if shard.plays(number)] for shard in shards] == [
        [0, 3, 6],
        [1, 4, 7],
        [2, 5],
    ]
    assert [shard.size(8) for shard in shards] == [3, 3, 2]
    assert Shard.parse("5/7").size(3) == 0 and Shard.parse("0/1").size(None) is None


@pytest.mark.parametrize("text", ["3/3", "0/0", "1", "a/b", "-1/3", "1/3/5", "0.5/2", "1/" + "9" * 30])
def test_a_shard_that_there_cannot_be_is_refused_with_the_way_to_write_one(text: str) -> None:
    with pytest.raises(BadInput, match=r"\d/\d"):
        Shard.parse(text)


async def test_a_shard_plays_its_samples_in_every_cell_and_says_that_it_is_a_part(tmp_path: Path) -> None:
    model, looker = Speaker(), Looker()
    asked = {"mode": "direct,visual_cot", "limit": 8, "shard": Shard(1, 3)}
    cells = planned(tmp_path, make_config(SAMPLES), model, **asked)
    folder = await run(tmp_path / "run", cells, model, looker)
    for cell in ("shades.direct", "shades.visual_cot"):
        assert sorted(line.index for line in folder.episodes(cell)) == [1, 4, 7]
        assert ("begin", cell, 3, 0) in looker.told
    about = folder.about()
    assert about.shard == "1/3" and about.totals == {"shades.direct": 8, "shades.visual_cot": 8}
    assert folder.results().part.startswith("shard 1/3 only, a part of the run: 3 of 8 samples")
    assert "shard 1/3 only, a part of the run: 3 of 8 samples" in write_report(folder).read_text()
    assert {name: found.usage["episodes"] for name, found in estimate_of(cells).items()} == {
        "shades.direct": 3,
        "shades.visual_cot": 3,
    }


def estimate_of(cells: list[Cell]) -> dict[str, Estimate]:
    """In a thread: `estimate` has a loop of its own."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(estimate, cells).result()


async def test_a_shard_is_resumed_as_the_same_shard_and_as_no_other(tmp_path: Path) -> None:
    model = Speaker()

    async def play(shard: Shard | None) -> None:
        cells = planned(tmp_path, make_config(SAMPLES), model, limit=8, shard=shard)
        await run(tmp_path / "run", cells, model)

    await play(Shard(0, 3))
    first = len(model.calls)
    await play(Shard(0, 3))
    assert len(model.calls) == first == 3
    with pytest.raises(RunConflict, match=r"holds shard 0/3, and shard 1/3 is asked for \(give --shard 0/3"):
        await play(Shard(1, 3))
    with pytest.raises(RunConflict, match=r"holds shard 0/3, and the whole run is asked for"):
        await play(None)


async def test_the_whole_run_is_not_continued_as_a_shard(tmp_path: Path) -> None:
    model = Speaker()
    await run(tmp_path / "run", planned(tmp_path, make_config(SAMPLES), model), model)
    cells = planned(tmp_path, make_config(SAMPLES), model, shard=Shard(0, 2))
    with pytest.raises(RunConflict, match="holds a run without --shard, and shard 0/2 is asked for"):
        await run(tmp_path / "run", cells, model)


async def test_who_lends_drawings_in_a_shard_is_who_lends_them_in_the_whole_run(tmp_path: Path) -> None:
    drawn = {f"s{number}": Reply(picture=shade(number)) for number in range(7)}
    seen = {}
    for shard in (None, Shard(0, 2)):
        model = Speaker(drawing=drawn.__getitem__)
        asked = {"mode": "visual_cot", "canvas": "other", "limit": 7, "shard": shard}
        cells = planned(tmp_path, make_config(SAMPLES), model, **asked)
        folder = await run(tmp_path / f"run{shard and shard.index}", cells, model)
        seen[shard] = {
            line.sample.id: [part.picture for turn in line.turns for part in turn.added if turn.act == "draw"]
            for line in folder.episodes("shades.visual_cot")
        }
    assert seen[Shard(0, 2)] == {id: shown for id, shown in seen[None].items() if id in ("s0", "s2", "s4", "s6")}
    assert len({str(shown) for shown in seen[None].values()}) == 6, "the odd last one borrows from the one before it"


def shade(number: int) -> Picture:
    return Picture.from_image(Image.new("RGB", (4, 4), (number * 30, 0, 0)))


async def test_how_many_samples_there_are_is_not_noted_before_all_were_gone_through(tmp_path: Path) -> None:
    def refuse(id: str) -> Reply:
        raise CallFailed("auth", "no", stops_run=True)

    model = Speaker(answer=refuse)
    cells = planned(tmp_path, make_config(SAMPLES), model, shard=Shard(0, 2))
    with pytest.raises(RunStopped):
        await run(tmp_path / "run", cells, model)
    assert RunFolder(tmp_path / "run").about().totals == {}
    model.answer = lambda id: "yes"
    folder = await run(tmp_path / "run", cells, model)
    assert folder.about().totals == {"shades.direct": 8}


@pytest.mark.slow
def test_the_slurm_script_on_the_page_plays_the_shards_that_the_merge_joins(tmp_path: Path) -> None:
    pages = (Path(__file__).parents[2] / "docs").glob("scale*.md")
    (script,) = (block for page in pages for block in re.findall(r"```bash\n(.*?)```", page.read_text(), re.DOTALL))
    smaller = script.replace("OF=8", "OF=2").replace("--limit 24", "--limit 3")
    assert smaller.count("OF=2") == smaller.count("--limit 3") == 1
    (tmp_path / "shards.sbatch").write_text(smaller)
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
    for shard in ("0", "1"):
        slurm = {"SLURM_ARRAY_TASK_ID": shard, "SLURM_ARRAY_TASK_COUNT": "1"}
        subprocess.run(["bash", "shards.sbatch"], cwd=tmp_path, env=environment | slurm, check=True)
    folders = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert folders == ["maze-shard-0-of-2", "maze-shard-1-of-2"]
    command = [
        sys.executable,
        "-m",
        "sketchmark",
        "merge",
        *(f"runs/{name}" for name in folders),
        "--out",
        "runs/maze",
    ]
    subprocess.run([*command, "--quiet"], cwd=tmp_path, check=True)
    assert {cell.n for cell in RunFolder(tmp_path / "runs/maze").results().tasks.values()} == {3}


def test_a_shard_has_a_folder_of_its_own_unless_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = sketchmark.run("player/random", "maze", limit=3, shard="1/2").folder
    assert folder.path == Path("runs/player-random-shard-1-of-2")
    assert [line.index for line in folder.episodes("maze.direct")] == [1]
