"""The result of `sketchmark.run` in a notebook, a terminal and a script; partly in a real kernel."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from jupyter_client.manager import KernelManager
from PIL import Image

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.commands.run import run_command
from sketchmark.commands.tables import print_all
from sketchmark.folder.lock import note_ending
from sketchmark.media import Picture
from sketchmark.notebook import Run
from sketchmark.runs import prepare
from tests.core.hearing import tone
from tests.view import hostile
from tests.view.making import Maker, fail, heard, play, sample

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def _as_wide_as_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that run side by side are given a terminal's width."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("runs") / "sketcher"
    return sketchmark.run(
        "player/sketcher", "maze", mode="direct,visual_cot", limit=6, output_path=path, no_cache=True, engine="local"
    )


def test_a_run_shows_its_scores_with_intervals_and_the_gain(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = str(run)
    gain = r"^maze +\d+\.\d +100\.0 +\+\d+\.\d  \[[-+]\d+\.\d, \+\d+\.\d\] +\w+ +6$"
    assert re.search(gain, text, re.MULTILINE) and "rawing helps" in text
    every = r"^maze\.direct +maze_text_exact +\d+\.\d +\[\d+\.\d, \d+\.\d\] +6 "
    assert re.search(every, run.details(), re.MULTILINE) and "Gain over direct" in run.details()
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, str(run).splitlines())) <= 80
    html = run._repr_html_()
    for cell in ("maze", "100.0", f"{100 * (run.results.gains[0].gain or 0):+.1f}"):
        assert f">{cell}</t" in html
    assert repr(run) == f"Run({str(run.path)!r})"


def test_every_scoring_and_the_corrected_verdict_are_shown_as_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: Any = {"mode": "direct,visual_cot", "canvas": "own,blank,oracle", "scoring": "lenient,strict,official"}
    asked["engine"] = "local"
    run = sketchmark.run("player/sketcher", "maze", limit=9, output_path=tmp_path, no_cache=True, **asked)
    oracle = next(gain for gain in run.results.gains if gain.canvas == "oracle")
    assert oracle.p and oracle.p < 0.05 and oracle.p_holm and oracle.p_holm > 0.05
    print_all(run.results, "", run.folder, details=True)
    printed = capsys.readouterr().out.splitlines()
    text, details = str(run).splitlines(), run.details().splitlines()
    assert printed[: len(text)] == text
    at = printed.index("Gain over direct, on the same samples")
    assert printed[at : at + 6] == details[details.index(printed[at]) :][:6]
    (row,) = [line for line in details if line.strip().startswith("oracle ")]
    assert row.split()[-6:] == [f"{oracle.p_holm:.3f}", "unclear", "6", "0", "3", f"{oracle.p:.3f}"]
    html = run._repr_html_()
    for told in ("verdict", "own − control", "lenient", "strict", "official", "unclear"):
        assert f">{told}</t" in html and told in str(run)


def test_a_run_that_stopped_at_the_cost_limit_shows_its_progress(run: Run, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"mode": "visual_cot", "limit": 6, "output_path": tmp_path, "no_cache": True}
    prices = {"player/solver": {"picture": 1.0}}
    stopped = sketchmark.run("player/solver", "jigsaw", prices=prices, max_cost=4, concurrency=1, **asked)
    line = "stopped: at the cost limit (jigsaw.visual_cot 2 of 6 episodes); the same call resumes it"
    assert line in str(stopped).splitlines() and line in stopped._repr_html_()
    resumed = sketchmark.run("player/solver", "jigsaw", **asked)
    assert "stopped" not in str(resumed) and "stopped" not in str(run)


def test_a_run_without_scores_shows_its_model_and_its_ending(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", model="player/cut-off", cells=("maze.direct",))
    maker.add("maze.direct", play(sample(0), "direct", True), 0)
    note_ending(maker.folder.path, KeyboardInterrupt())
    model, ended = str(Run(maker.folder.path)).splitlines()
    assert model == "player/cut-off: no scores yet"
    assert ended.startswith("stopped: by a signal or an interrupt (maze.direct 1 episodes); ")


class Broken(Model):
    """Fails while `broken` is set."""

    broken = True

    async def say(self, context: Context, options: Options) -> Reply:
        if self.broken:
            raise ValueError("kaput")
        return Reply(text="left")


def test_failures_are_shown_with_the_reason_also_when_the_run_is_opened_again(tmp_path: Path) -> None:
    model = Broken("broken")
    run = sketchmark.run(model, "maze", limit=3, output_path=tmp_path)
    reason = "maze.direct: error, the first: maze-0-000000: ValueError: kaput"
    for shown in (run, Run(tmp_path)):
        assert reason in str(shown).splitlines() and reason in shown._repr_html_()
        assert "error 3 of 3 episodes: maze.direct 3" in str(shown)
    assert list(run.folder.failed("maze.direct")) == [f"maze-0-{number:06d}" for number in range(3)]
    model.broken = False
    fewer = sketchmark.run(model, "maze", limit=2, output_path=tmp_path)
    assert fewer.folder.failed("maze.direct") == {}, "neither earlier attempts nor samples beyond the limit"
    fixed = sketchmark.run(model, "maze", limit=3, output_path=tmp_path)
    assert fixed.results.tasks["maze.direct"].reasons == {} and "error" not in str(fixed)


def test_results_are_those_of_the_folder_and_a_run_opens_again(run: Run) -> None:
    assert run.results == Run(run.path).results == run.folder.results()
    with pytest.raises(sketchmark.SketchmarkError, match="is not a run folder"):
        Run(run.path / "pictures")


def test_episodes_have_scores_and_images_that_are_displayed(run: Run) -> None:
    episodes = run.episodes("maze.visual_cot")
    assert len(episodes) == 6 and len(run.episodes()) == 12 and len(episodes[2:4]) == 2
    assert [one.sample for one in episodes] == [f"maze-0-{number:06d}" for number in range(6)]
    for one in episodes:
        (moves, drawn) = (one.episode.sample.steps, one.drawings)
        assert one.values["maze_text_exact"] in (0.0, 1.0) and len(drawn) == moves
        png = drawn[0]._repr_png_()
        assert png and Image.open(io.BytesIO(png)).size == drawn[0].size
    html = episodes[0]._repr_html_()
    assert html and html.count("<img ") >= len(episodes[0].drawings) and "maze-0-000000" in html
    with pytest.raises(sketchmark.SketchmarkError, match=r"it has: maze\.direct, maze\.visual_cot"):
        run.episodes("maze")


def test_an_episode_has_its_sounds_and_shows_their_names(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", cells=("maze.direct",))
    maker.add("maze.direct", play(heard(sample(0)), "direct", True), 0)
    (one,) = Run(maker.finish().path).episodes()
    assert one.episode.sample.sounds == {"clip": [tone()]} and one.episode.turns[0].added[-1].sound == tone()
    assert "a sound, wav, 8 kB" in (one._repr_html_() or "")


def test_a_data_frame_has_one_row_per_episode_and_needs_pandas(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = run.to_pandas()
    assert len(frame) == 12 and list(frame.columns[:5]) == ["cell", "task", "mode", "canvas", "sample"]
    means = frame.groupby("cell")["maze_text_exact"].mean()
    for cell, summary in run.results.tasks.items():
        assert means[cell] == pytest.approx(summary.metrics["maze_text_exact"].mean)
    assert set(frame["group.size"]) == {"6x6"}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sketchmark.SketchmarkError) as refused:
        run.to_pandas()
    assert str(refused.value) == "to_pandas() needs pandas (pip install pandas)"


def test_an_unscored_episode_is_shown_without_a_number(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run").fill(3)
    maker.add("maze.visual_cot", fail(sample(3), "visual_cot", "timeout", "took longer than 60 s"), 3)
    shown = Run(maker.finish().path)
    frame = shown.to_pandas().set_index(["cell", "sample"])
    failed = frame.loc[("maze.visual_cot", "maze-00003")]
    assert not failed["scored"] and failed["flags"] == "timeout" and failed.isna()["maze_text_exact"]
    assert "timeout 1" in str(shown) and "timeout 1" in shown._repr_html_()
    assert repr(shown.episodes("maze.visual_cot")[3]) == "PlayedEpisode(maze.visual_cot, maze-00003: failed: timeout)"


def test_the_data_frame_has_no_withheld_scores(tmp_path: Path) -> None:
    folder = Maker(tmp_path / "run").fill(4).finish()
    broken = folder.scores_file("maze.visual_cot")
    first, rest = broken.read_text("utf-8").split("\n", 1)
    broken.write_text(first.partition(',"crc":')[0].replace('"flags":[', '"flags":["scorer_failed"') + "}\n" + rest)
    frame = Run(folder.path).to_pandas().set_index("cell")
    assert frame.loc["maze.visual_cot", "maze_text_exact"].isna().all()
    assert frame.loc["maze.direct", "maze_text_exact"].notna().all()


def test_untrusted_text_stays_text_in_every_display(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", model=hostile.ALL)
    attacked = replace(sample(1), id=hostile.ALL, fields={hostile.IMAGE: hostile.ALL})
    maker.add("maze.direct", play(attacked, "direct", False, text=hostile.ALL), 0)
    maker.add("maze.visual_cot", fail(attacked, "visual_cot", hostile.ALL, hostile.ALL), 0)
    maker.add("maze.visual_cot", play(sample(2), "visual_cot", True), 1)
    maker.add("maze.direct", play(sample(2), "direct", True), 1)
    shown = Run(maker.finish().path)
    episodes = shown.episodes()
    pages = [shown._repr_html_(), *(one._repr_html_() or "" for one in episodes)]
    for page in pages:
        assert not re.search(r"<(script|svg|textarea|img src=x)", page)
    assert any("&lt;script&gt;" in page for page in pages[:1]) and any("&lt;img src=x" in page for page in pages[1:])
    compared = sketchmark.compare(shown)
    assert "<script" not in compared._repr_markdown_().replace("\\<", "")
    for text in (str(shown), str(compared), *map(repr, episodes)):
        assert "\x1b" not in text and "\x00" not in text and "\u202e" not in text


@pytest.mark.parametrize("kind", ["JPEG", "GIF", "PNG"])
def test_an_image_of_any_format_is_shown_as_png(kind: str) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 4), "red").save(buffer, kind)
    png = Picture.from_bytes(buffer.getvalue())._repr_png_()
    assert png and Image.open(io.BytesIO(png)).format == "PNG" and Image.open(io.BytesIO(png)).size == (8, 4)
    assert kind != "PNG" or png == buffer.getvalue()


def test_a_broken_image_is_not_shown() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(buffer, "JPEG")
    assert Picture.from_bytes(buffer.getvalue()[:200])._repr_png_() is None


def test_runs_are_compared_like_their_paths(run: Run, tmp_path: Path) -> None:
    other = sketchmark.run(
        "player/solver", "maze", mode="direct,visual_cot", limit=6, output_path=tmp_path / "b", no_cache=True
    )
    assert sketchmark.compare([run, other]) == sketchmark.compare([str(run.path), other.path])
    assert sketchmark.compare(run, other) == sketchmark.compare([run, other]) != sketchmark.compare(other, run)
    assert sketchmark.compare(run) == sketchmark.compare([run]) == sketchmark.compare(str(run.path))


ONLY_THERE = {"dry_run", "log_samples", "log_samples_suffix", "run_file", "verbosity"}
"""Options that only the command line has."""


def out_of_range() -> Iterator[Any]:
    """Yield values that the command line refuses by a range or a choice."""
    for option in [option for option in run_command.params if option.name not in ONLY_THERE]:
        kind = option.type
        if isinstance(kind, (click.IntRange, click.FloatRange)) and kind.min is not None:
            yield pytest.param(option.name, kind.min if kind.min_open else kind.min - 1, id=option.name)
        elif isinstance(kind, click.Choice):
            yield pytest.param(option.name, "nonsense", id=option.name)


@pytest.mark.parametrize(("name", "value"), list(out_of_range()))
def test_python_refuses_what_the_command_line_refuses(name: str, value: Any, tmp_path: Path) -> None:
    spelled = {} if name not in ("max_cost", "num_gpus") else {"prices": tmp_path / "p.yaml", "engine": "ray"}
    with pytest.raises(sketchmark.SketchmarkError, match=re.escape(str(value))):
        prepare("player/solver", "maze", output_path=tmp_path / "run", **{**spelled, name: value})


def test_a_script_sees_no_progress_unless_requested(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked: dict[str, Any] = {"limit": 1, "output_path": tmp_path / "run", "engine": "local"}
    sketchmark.run("player/solver", "maze", **asked)
    assert capfd.readouterr() == ("", "")
    sketchmark.run("player/solver", "maze", quiet=False, fresh=True, **asked)
    assert "maze.direct: 1 episodes" in capfd.readouterr().err


def made_notebook(folder: Path) -> tuple[Any, Any]:
    """(as it is in the repository, as it comes out now)"""
    spec = importlib.util.spec_from_file_location("make_notebook", DOCS / "make_notebook.py")
    assert spec and spec.loader
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    return maker.nbformat.read(maker.NOTEBOOK, as_version=4), maker.executed(folder)


def outputs(notebook: Any) -> list[list[tuple[str, list[str]]]]:
    return [
        [(one.output_type, sorted(one.get("data", {}))) for one in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.slow
def test_the_notebook_of_the_docs_runs_with_the_stored_output(tmp_path: Path) -> None:
    stored, now = made_notebook(tmp_path)
    assert outputs(stored) == outputs(now), "run docs/make_notebook.py"
    progress, table = now.cells[1].outputs
    assert re.search(r"^maze\.visual_cot █{20} 12/12 episodes, 0 failed", progress.data["text/plain"], re.MULTILINE)
    assert table.data["text/plain"] == stored.cells[1].outputs[1].data["text/plain"], "run docs/make_notebook.py"
    (compared,) = now.cells[-1].outputs
    assert "No change seen on maze" in compared.data["text/plain"] and "| maze |" in compared.data["text/markdown"]
    assert len((DOCS / "notebook.ipynb").read_bytes()) < 100_000
    assert not re.search(r"/(home|tmp|root|work)/", (DOCS / "notebook.ipynb").read_text("utf-8"))


def answer_to(kernel: Any, asked: str) -> dict[str, Any]:
    """Return the reply to this request; earlier replies may still arrive."""
    while (reply := kernel.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != asked:
        pass
    content: dict[str, Any] = reply["content"]
    return content


@pytest.mark.slow
def test_interrupting_the_cell_stops_the_run_and_the_next_call_resumes_it(tmp_path: Path) -> None:
    code = (
        "import sketchmark\nfrom tests.core.slow_solver import Slow\n"
        "run = sketchmark.run(Slow('slow'), 'maze', limit={limit}, output_path='run', concurrency=1)"
    )
    manager = KernelManager(kernel_name="python3")
    root = str(DOCS.parent)
    manager.start_kernel(cwd=str(tmp_path), env={**os.environ, "PYTHONPATH": root, "IPYTHONDIR": str(tmp_path)})
    kernel = manager.client()
    kernel.start_channels()
    try:
        kernel.wait_for_ready(timeout=60)
        # Whatever comes within a moment of an error is put off by the kernel (`aborted`), unless it is told not to.
        asked = kernel.execute(code.format(limit=5000), stop_on_error=False)
        while not re.search("[1-9]/5000 episodes", str(kernel.get_iopub_msg(timeout=60)["content"].get("data"))):
            pass
        manager.interrupt_kernel()
        assert answer_to(kernel, asked).get("ename") == "KeyboardInterrupt"
        done = kernel.execute(code.format(limit=3) + "\nassert run.results.tasks['maze.direct'].n == 3")
        assert (reply := answer_to(kernel, done))["status"] == "ok", reply
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
