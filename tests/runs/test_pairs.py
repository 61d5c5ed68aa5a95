"""A thinker and a drawer run as one model, on every engine, with separate addresses, prices and caches."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Picture, Reply, Usage
from sketchmark.cli import main
from sketchmark.comparison.leaderboard import leaderboard
from sketchmark.doctor import examine
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CannotPlay, RunConflict, SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.models import load_model, paired
from sketchmark.models.wrappers import Metered, PairPrice, Price, price_of
from sketchmark.report.card import card
from sketchmark.runs import prepare
from sketchmark.runs.engine import _shared_out
from sketchmark.runs.worker import Recipe
from sketchmark.settings import Settings, command
from sketchmark.suites import run_suite
from sketchmark.testing import Recorder, colour, serving, tone

SMALL = "rows=3,cols=3,min_steps=2,max_steps=3"
NAME = "player/sketcher + player/solver"
PRICES = {"player/sketcher": {"output": 1_000_000}, "player/solver": {"picture": 1000}}


def play(
    folder: Path, thinker: str | Model = "player/sketcher", drawer: str | Model = "player/solver", **more: Any
) -> RunFolder:
    asked = {"mode": "direct,visual_cot", "limit": 3, "task_args": SMALL, "engine": "local", **more}
    return sketchmark.run(thinker, "maze", drawer=drawer, output_path=folder, **asked).folder


def scores(folder: RunFolder) -> dict[str, Any]:
    return {name: sorted((row.sample, row.values) for row in folder.scores(name)) for name in folder.cells}


def drawings(folder: RunFolder) -> list[Any]:
    """Return the replies of all drawing calls."""
    return [
        turn.reply
        for line in folder.episodes("maze.visual_cot")
        for turn in line.turns
        if turn.act == "draw" and turn.reply
    ]


class Talker(Model):
    """A model that only generates text."""

    async def say(self, context: Context, options: Options) -> Reply:
        return Reply("up")


class Brush(Model):
    """A model that only draws, from one image, and reports no usage."""

    max_pictures = 1

    def __init__(self) -> None:
        super().__init__("brush")
        self.shown: list[Context] = []

    async def draw(self, context: Context, options: Options) -> Reply:
        self.shown.append(context)
        return Reply(picture=colour("red"), left_out=("the frame",))


def test_everything_that_names_the_model_names_both(tmp_path: Path) -> None:
    folder = play(tmp_path / "run")
    about = folder.about()
    assert about.model.name == NAME and folder.results().model == NAME
    shown = (card(folder, "run"), (folder.path / "report.html").read_text("utf-8"))
    assert [NAME in text for text in shown] == [True, True]
    assert leaderboard(tmp_path).rows[0].model == NAME
    words = command(about.asked["maze.direct"], "x")
    assert words and words[words.index("--drawer") + 1] == "player/solver"
    assert {name: cell.model["name"] for name, cell in about.cells.items()} == dict.fromkeys(folder.cells, NAME)
    for to in ("lmms-eval", "inspect"):
        with pytest.raises(SystemExit) as ended:
            main(["export", str(folder.path), "--to", to, "--out", str(tmp_path / to)])
        assert not ended.value.code
        assert any(NAME in file.read_text("utf-8", "ignore") for file in (tmp_path / to).rglob("*") if file.is_file())


def test_the_default_folder_and_a_resumed_command_keep_pairs_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = sketchmark.run("player/sketcher", "maze", drawer="player/solver", limit=1).path
    assert folder.name != sketchmark.run("player/sketcher", "maze", limit=1).path.name
    with pytest.raises(RunConflict, match="player/random"):
        play(tmp_path / folder, drawer="player/random", mode="direct", limit=1, task_args="")
    with pytest.raises(RunConflict, match="another model"):
        sketchmark.run("player/sketcher", "maze", mode="visual_cot", limit=1, output_path=folder)


@pytest.mark.parametrize("part", ["thinker", "drawer", "both"])
def test_either_part_may_be_behind_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    here = play(tmp_path / "here")
    with serving(load_model("player/sketcher")) as thinker, serving(load_model("player/solver")) as drawer:
        asked: dict[str, Any] = {}
        if part != "drawer":
            asked |= {"thinker": "openai/thinker", "model_args": {"base_url": thinker}}
        if part != "thinker":
            asked |= {"drawer": "openai/drawer", "drawer_args": {"base_url": drawer, "max_concurrent": 2}}
        there = play(tmp_path / "there", **asked)
    assert scores(there) == scores(here)
    assert scores(here)["maze.visual_cot"] and all(
        values["maze_img_exact"] == 1 for _, values in scores(here)["maze.visual_cot"]
    )
    written = there.about().model.args
    assert set(written) == {"thinker": {"base_url"}, "drawer": {"drawer.base_url", "drawer.max_concurrent"}}.get(
        part, {"base_url", "drawer.base_url", "drawer.max_concurrent"}
    )


def test_worker_processes_run_pairs_and_charge_both_parts(tmp_path: Path) -> None:
    here = play(tmp_path / "here", prices=PRICES, no_cache=True)
    run = prepare(
        "player/sketcher", "maze", drawer="player/solver", output_path=tmp_path / "there", mode="direct,visual_cot",
        limit=3, task_args=SMALL, engine="processes", replicas=2, prices=PRICES, no_cache=True,
    )  # fmt: skip
    there = run.play()
    assert scores(there) == scores(here)
    images = len(drawings(there))
    spent = sum(run.budget.price(cell.usage) for cell in there.results().tasks.values()) if run.budget.price else 0
    assert run.budget.spent == spent and spent > 1000 * images > 0


def test_limits_of_both_parts_are_divided_among_workers() -> None:
    settings = Settings(
        model="a/a", drawer="b/b", model_args={"max_requests_per_minute": 60},
        drawer_args={"max_concurrent": 4, "max_requests_per_minute": 10},
    )  # fmt: skip
    recipe, size = _shared_out(Recipe(settings), 8, 100)
    assert size == 4
    assert recipe.settings.model_args == {"max_requests_per_minute": 15}
    assert recipe.settings.drawer_args == {"max_concurrent": 1, "max_requests_per_minute": 2.5}


def test_the_drawer_is_given_what_it_takes_and_the_rest_is_left_out(tmp_path: Path) -> None:
    brush = Brush()
    folder = play(tmp_path / "run", drawer=brush, limit=1)
    later = [reply.left_out for reply in drawings(folder)]
    assert later[0] == ["the frame"], "the maze only"
    assert later[1] == ["1 of 2 pictures: brush takes no more, the newest was sent", "the frame"]
    assert [len(context.pictures) for context in brush.shown] == [1] * len(brush.shown)
    assert any(part.by == "model" for part in brush.shown[0]), "the thinker's plan is in the drawer's context"
    pair = paired(Recorder(), Brush())
    reply = asyncio.run(pair.draw(of("listen", tone()), Options()))
    assert reply.left_out == ("1 sound: brush takes none", "the frame")


@pytest.mark.parametrize(
    ("thinker", "drawer", "more", "told"),
    [
        ("player/sketcher", Talker("talker"), {}, "talker does not draw"),
        ("player/sketcher", "player/quoter", {}, "player/quoter does not draw"),
        (Brush(), "player/solver", {}, "brush only draws"),
        ("player/sketcher", "player/solver", {"draw": "svg"}, "leave out one"),
        ("player/sketcher", "", {"drawer_args": "a=b"}, "drawer_args are for a drawer"),
        ("player/sketcher", Recorder(), {"drawer_args": "a=b"}, "drawer_args are for a drawer"),
        ("player/sketcher", Recorder(), {"engine": "processes"}, "give the model by its name"),
        ("player/sketcher", 3, {}, "3 is not a model"),
        ("player/sketcher", "player/nobody", {}, "no player named 'nobody'"),
        ("player/sketcher", "player/solver", {"prices": {"player/sketcher": {}}}, "no entry 'player/solver'"),
    ],
)  # fmt: skip
def test_pairs_that_cannot_run_are_refused_before_the_first_call(
    tmp_path: Path, thinker: Any, drawer: Any, more: dict[str, Any], told: str
) -> None:
    with pytest.raises((CannotPlay, BadInput, SketchmarkError), match=told) as refused:
        play(tmp_path / "run", thinker, drawer, **more)
    assert "\n" not in str(refused.value) and not (tmp_path / "run").exists()


def test_native_history_is_refused_for_pairs() -> None:
    native = load_model("gemini/x", {"history": "native", "api_key_env": "PATH"})
    with pytest.raises(BadInput, match="history=native"):
        paired(native, Recorder())


def test_a_drawer_may_write_svg(tmp_path: Path) -> None:
    folder = play(tmp_path / "run", drawer_args={"draw_with": "svg"}, canvas="own,source", mode="visual_cot", limit=1)
    assert set(folder.cells) == {"maze.visual_cot", "maze.visual_cot.source"}
    assert "<svg" in drawings(folder)[0].text


def test_each_part_has_its_own_price_and_the_cost_limit_counts_both(tmp_path: Path) -> None:
    folder = play(tmp_path / "all", prices=PRICES)
    usage = folder.results().tasks["maze.visual_cot"].usage
    images, said = len(drawings(folder)), usage["tokens_out"]
    assert usage["drawer_calls"] == usage["drawer_pictures_out"] == usage["pictures_out"] == images
    price = price_of(PRICES, NAME)
    assert isinstance(price, PairPrice) and price(usage) == said + 1000 * images
    assert leaderboard(tmp_path, prices=lambda model: price_of(PRICES, model)).rows[0].costs
    limited = prepare(
        "player/sketcher", "maze", drawer="player/solver", output_path=tmp_path / "some", mode="visual_cot", limit=3,
        task_args=SMALL, prices=PRICES, max_cost=1500, no_cache=True, engine="local", concurrency=1,
    )  # fmt: skip
    limited.play()
    assert limited.is_stopped_by_cost() and 1500 <= limited.budget.spent < price(usage)


def test_unknown_usage_of_a_drawer_is_estimated_at_the_drawers_price() -> None:
    charged: list[Usage] = []

    def charge(usage: Usage) -> bool:
        charged.append(usage)
        return True

    model = Metered(paired(Talker("talker"), Brush()), charge)
    asyncio.run(model.draw(of("draw " * 100), Options()))
    asyncio.run(model.say(of("say"), Options()))
    drawn, said = charged
    assert drawn.drawer_pictures_out == drawn.pictures_out == 1 and drawn.drawer_tokens_in == drawn.tokens_in == 125
    assert said.drawer_calls == said.drawer_tokens_in == 0 < said.tokens_out
    price = PairPrice(Price(input=1, output=1), Price(picture=2))
    assert price(vars(drawn)) == 2


def test_the_parts_share_no_cache_entries_and_keep_theirs_with_another_partner(tmp_path: Path) -> None:
    play(tmp_path / "a", limit=1)
    again = play(tmp_path / "b", drawer="player/flawed", drawer_args={"draw_error": 0.0}, limit=1)
    first, *_ = again.episodes("maze.direct")
    assert [turn.reply.usage.get("cached") for turn in first.turns if turn.reply] == [1], "the thinker's is known"
    assert all(reply.usage.get("calls") == 1 for reply in drawings(again)), "another drawer draws itself"


def test_a_dry_run_estimates_both_with_their_prices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    prices = tmp_path / "prices.yaml"
    prices.write_text("player/sketcher: {output: 1000}\nplayer/solver: {picture: 1}\n", "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["run", "-m", "player/sketcher", "--drawer", "player/solver", "-t", "maze", "--mode", "visual_cot",
              "--task-args", SMALL, "--limit", "2", "--prices", str(prices), "--dry-run"])  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    row = next(line.split() for line in lines if "drawer player/solver" in line)
    assert not ended.value.code
    calls, images, cost = row[-6], row[-4], row[-1]
    assert calls == images and float(cost) == int(images)
    own = next(line.split() for line in lines if "the model" in line)
    assert own[-4] == "0" and float(own[-1]) > 0


SUITE = """
models:
- model: player/sketcher
  drawer: player/solver
- model: player/sketcher
  drawer: player/flawed
  drawer_args: {draw_error: 1.0}
- player/random
drawer: player/random
tasks: maze
task_args: {rows: 3, cols: 3, min_steps: 2, max_steps: 3}
mode: visual_cot
limit: 2
"""


def test_run_files_give_each_model_its_drawer(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    outcomes = run_suite(tmp_path / "suite.yaml", tmp_path / "runs")
    assert [outcome.errors for outcome in outcomes] == [[], [], []]
    assert [outcome.folder.about().model.name for outcome in outcomes if outcome.folder] == [
        NAME, "player/sketcher + player/flawed", "player/random + player/random"
    ]  # fmt: skip
    bad = SUITE.replace("{draw_error: 1.0}", "{code: ./x}")
    (tmp_path / "suite.yaml").write_text(bad, "utf-8")
    with pytest.raises(BadInput, match=r"drawer_args\.code has code run"):
        run_suite(tmp_path / "suite.yaml")
    (tmp_path / "suite.yaml").write_text(SUITE.replace("draw_error: 1.0", "api_key_env: HOME"), "utf-8")
    with pytest.raises(BadInput, match="HOME, which is not for player/flawed"):
        run_suite(tmp_path / "suite.yaml")


def test_shards_with_drawers_at_other_addresses_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for shard in ("0/2", "1/2"):
        with serving(load_model("player/solver")) as url:
            play(
                tmp_path / shard[0], drawer="openai/d", drawer_args={"base_url": url}, shard=shard, mode="visual_cot"
            )
    with pytest.raises(SystemExit) as ended:
        main(["merge", str(tmp_path / "0"), str(tmp_path / "1"), "-o", str(tmp_path / "all")])
    assert not ended.value.code
    assert RunFolder(tmp_path / "all").results().tasks["maze.visual_cot"].n == 3


def test_the_doctor_checks_both_and_prices_each() -> None:
    pair = paired(load_model("player/patient"), load_model("player/patient"))
    found = asyncio.run(examine(pair, PairPrice(Price(), Price(picture=1))))
    assert found.model == "player/patient + player/patient" and found.is_healthy
    assert found.cost == found.draws.calls > 0
    blind = paired(load_model("player/patient"), Brush())
    amiss = {one.check for one in asyncio.run(examine(blind)).findings if one.verdict != "yes"}
    assert "the drawing follows the prompt" in amiss and "reads a picture" not in amiss


def _spoken(pair: Model) -> str:
    return asyncio.run(pair.say(of("Hello."), Options())).text


def test_a_pair_is_served_as_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    pair = paired(load_model("player/sketcher"), load_model("player/solver"))
    with serving(pair) as url:
        there = sketchmark.run(
            "openai/pair", "maze", output_path=tmp_path / "there", model_args={"base_url": url},
            mode="direct,visual_cot", limit=3, task_args=SMALL,
        ).folder  # fmt: skip
    assert scores(there) == scores(play(tmp_path / "here"))


def test_a_pair_closes_names_and_retires_both() -> None:
    closed: list[str] = []

    class Closing(Talker):
        keys = ("A_KEY",)

        async def draw(self, context: Context, options: Options) -> Reply:
            return Reply(picture=Picture.from_image(colour("red").image()))

        async def retirements(self) -> dict[str, str]:
            return {self.name: "2026-12-01"}

        async def close(self) -> None:
            closed.append(self.name)

    pair = paired(Closing("one"), Closing("two"))
    assert pair.keys == ("A_KEY",) and asyncio.run(pair.retirements()) == {"one": "2026-12-01", "two": "2026-12-01"}
    asyncio.run(pair.close())
    assert sorted(closed) == ["one", "two"] and _spoken(pair) == "up"
    assert json.dumps(pair.identity()["drawer"]) == json.dumps(Closing("two").identity())
