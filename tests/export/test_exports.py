"""Exports, each read back with the tool it was made for."""

from __future__ import annotations

import csv
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.commands.folders import export_command
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.export import FORMATS, export
from sketchmark.folder import RunFolder
from sketchmark.folder.records import drawn_names
from sketchmark.media import Picture
from tests.view import hostile
from tests.view.making import HEADLINE, Maker, fail, play, sample

CELLS = ("maze.direct", "maze.visual_cot", "maze.visual_cot.blank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    maker = Maker(tmp_path_factory.mktemp("runs") / "run", model="player/te:st", cells=CELLS).fill(8)
    maker.add("maze.visual_cot", fail(sample(8), "visual_cot", "timeout", "took longer than 60 s"), 8)
    maker.add("maze.direct", play(sample(9), "direct", False, text=hostile.ALL), 9)
    return maker.finish()


def mean_of(folder: RunFolder, cell: str) -> float:
    return folder.results().tasks[cell].metrics[HEADLINE].mean


def test_lmms_eval_results_have_its_names_and_our_means(folder: RunFolder, tmp_path: Path) -> None:
    results_file, *_ = export(folder, "lmms-eval", tmp_path / "out")
    assert results_file.parent.name == "player__te__st" and results_file.name == "20260102_030405_results.json"
    results = json.loads(results_file.read_text("utf-8"))
    visual = results["results"]["maze_visual_cot"]
    assert visual["alias"] == "maze_visual_cot"
    assert visual[f"{HEADLINE},none"] == pytest.approx(mean_of(folder, "maze.visual_cot"))
    assert 0 < visual[f"{HEADLINE}_stderr,none"] < 0.3
    assert set(results["results"]) == {"maze", "maze_visual_cot", "maze_visual_cot_blank"}
    assert results["n-samples"]["maze_visual_cot"] == {"original": 9, "effective": 8}
    assert {"configs", "versions", "n-shot", "higher_is_better", "config", "task_hashes"} <= set(results)
    assert results["config"]["model"] == "player/te:st"
    assert visual["sketchmark_scoring"] == "strict" and visual["sketchmark_cut"] == 0
    assert results["results"]["maze"]["sketchmark_unparsed"] == pytest.approx(1 / 9)


def test_lmms_eval_samples_hold_questions_answers_and_scores(folder: RunFolder, tmp_path: Path) -> None:
    files = {path.name: path for path in export(folder, "lmms-eval", tmp_path / "out")}
    text = files["20260102_030405_samples_maze_visual_cot.jsonl"].read_text("utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line]
    assert [line["doc_id"] for line in lines] == list(range(9))
    for line in lines[:8]:
        assert isinstance(line["target"], str) and line["filtered_resps"][0].startswith("<ANSWER_JSON>")
        assert line["input"] == "You are a precise maze solver." and len(line["doc_hash"]) == 64
        assert line[HEADLINE] in (0.0, 1.0)
    assert len({line["doc_hash"] for line in lines}) == 9
    failed = lines[8]
    assert failed["filtered_resps"] == [""] and failed["sketchmark_failure"]["kind"] == "timeout"
    assert HEADLINE not in failed


def test_inspect_reads_its_log_with_messages_pictures_and_scores(folder: RunFolder, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import ContentImage

    paths = {path.name.split("_")[1]: path for path in export(folder, "inspect", tmp_path / "out")}
    log = read_eval_log(str(paths["maze-visual-cot"]), resolve_attachments=True)
    assert log.status == "success" and log.eval.task == "maze_visual_cot" and log.eval.model == "player/te:st"
    assert log.results is not None and log.samples is not None
    assert log.eval.metadata is not None and log.eval.metadata["sketchmark_scoring"] == "strict"
    assert log.results.scores[0].name == HEADLINE
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(mean_of(folder, "maze.visual_cot"))
    record = next(iter(folder.episodes("maze.visual_cot")))
    first = log.samples[0]
    assert first.id == record.sample.id and first.scores is not None
    assert first.scores[HEADLINE].value in (0.0, 1.0)
    shown = [part for message in first.messages if isinstance(message.content, list) for part in message.content]
    pictures = [part.image for part in shown if isinstance(part, ContentImage)]
    drawn = drawn_names(record)
    assert [_digest(picture) for picture in pictures[1:]] == [name.partition(".")[0] for name in drawn]
    assert first.output.completion.startswith("<ANSWER_JSON>")
    assert log.samples[8].error is not None and "timeout" in log.samples[8].error.message


def _digest(address: str) -> str:
    import base64

    return Picture.from_bytes(base64.b64decode(address.partition("base64,")[2])).digest


def test_inspect_shows_what_a_model_saw_instead_of_its_drawing(folder: RunFolder, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    paths = {path.name.split("_")[1]: path for path in export(folder, "inspect", tmp_path / "out")}
    log = read_eval_log(str(paths["maze-visual-cot-blank"]))
    assert log.samples is not None
    assert any("(shown instead of the drawing)" in message.text for message in log.samples[0].messages)


def test_inspect_lists_the_logs_of_the_folder(folder: RunFolder, tmp_path: Path) -> None:
    from inspect_ai.log import list_eval_logs

    export(folder, "inspect", tmp_path / "out")
    assert {log.task for log in list_eval_logs(str(tmp_path / "out"))} == {
        "maze",
        "maze-visual-cot",
        "maze-visual-cot-blank",
    }


def test_datasets_loads_the_folder_with_pictures(folder: RunFolder, tmp_path: Path) -> None:
    load_dataset = import_module("datasets").load_dataset
    export(folder, "hf", tmp_path / "out")
    rows: Any = load_dataset(
        str(tmp_path / "out"), "maze.visual_cot", split="train", cache_dir=str(tmp_path / "cache")
    )
    assert len(rows) == 9
    record = next(iter(folder.episodes("maze.visual_cot")))
    first = rows[0]
    assert first["sample"] == record.sample.id and first["score"] in (0.0, 1.0)
    assert len(first["drawings"]) == len(first["true_frames"]) == record.sample.steps
    assert first["drawings"][0].convert("RGB").tobytes() == (
        folder.pictures.load(drawn_names(record)[0]).image().tobytes()
    )
    assert rows[8]["failure"] == "timeout" and rows[8]["answer"] == "" and rows[8]["score"] is None


def test_wandb_gets_an_offline_run_with_numbers_and_tables(folder: RunFolder, tmp_path: Path) -> None:
    (run,) = export(folder, "wandb", tmp_path / "out")
    stored = b"".join(path.read_bytes() for path in run.rglob("*.wandb"))
    assert b"maze_visual_cot/maze_text_exact" in stored and b"gain/maze_visual_cot" in stored
    tables = list(run.rglob("*.table.json"))
    assert len(tables) == 3 and len(list(run.rglob("*.png"))) == 9 + 9 + 8
    strips = [Picture.from_file(path).image() for path in run.rglob("maze_visual_cot/strips*.png")]
    assert len(strips) == 9 and len({strip.size for strip in strips}) == 1, "W&B cuts pictures of unequal size"


@pytest.mark.parametrize(("to", "module"), [("wandb", "wandb"), ("hf", "pyarrow")])
def test_a_missing_library_is_named_with_what_to_install(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"sketchmark\[(wandb|data)\]"):
        export(folder, to, tmp_path / "out")


@pytest.mark.parametrize("to", [name for name in FORMATS if name != "wandb"])
def test_an_export_is_the_same_every_time(folder: RunFolder, tmp_path: Path, to: str) -> None:
    made = [export(folder, to, tmp_path / name) for name in ("one", "two")]
    for one, two in zip(*made, strict=True):
        assert one.name == two.name and one.read_bytes() == two.read_bytes()


def test_an_unknown_format_an_empty_run_and_a_folder_with_files_are_refused(
    folder: RunFolder, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(BadInput, match="not an empty folder"):
        export(folder, "lmms-eval", tmp_path)
    assert (tmp_path / "kept").read_text() == "mine"
    with pytest.raises(UnknownName, match="lmms-eval, inspect, wandb, hf"):
        export(folder, "paper", tmp_path / "out")
    with pytest.raises(BadInput, match="no episodes"):
        export(Maker(tmp_path / "run").folder, "inspect", tmp_path / "out")


def test_a_model_name_cannot_leave_the_folder(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "run", model="../../../etc/model").fill(1)
    for path in export(maker.finish(), "lmms-eval", tmp_path / "out"):
        assert path.resolve().is_relative_to((tmp_path / "out").resolve())


def test_the_command_prints_the_files_it_made(folder: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(export_command, [str(folder.path), "--to", "lmms-eval", "--out", str(out)])
    assert result.exit_code == 0
    assert all(Path(line).is_file() for line in result.output.splitlines()) and len(result.output.splitlines()) == 4


def test_the_default_folder_is_next_to_the_run(tmp_path: Path) -> None:
    run = Maker(tmp_path / "run", cells=CELLS[:1]).fill(1).finish()
    result = CliRunner().invoke(export_command, [str(run.path), "--to", "lmms_eval"])
    assert result.exit_code == 0, result.output
    assert all(Path(line).is_relative_to(tmp_path / "run-lmms-eval") for line in result.output.splitlines())


# `sketchmark export --to csv`: every episode, one line each.


class Formula(Model):
    async def say(self, context: Context, options: Options) -> Reply:
        return Reply(text="=1+1\nand more")


def test_csv_has_every_episode_with_its_answer_scores_and_usage(tmp_path: Path) -> None:
    run = sketchmark.run(
        "player/sketcher", "maze", mode="direct,visual_cot", limit=3, output_path=tmp_path / "run", no_cache=True
    )
    (path,) = export(run.folder, "csv")
    assert path == tmp_path / "run-csv/episodes.csv"
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["cell"] for line in lines] == ["maze.direct"] * 3 + ["maze.visual_cot"] * 3
    assert [line["sample"] for line in lines[:3]] == [f"maze-0-{place:06d}" for place in range(3)]
    assert all(line["answer"] and line["scored"] == "True" and int(line["usage.calls"]) > 0 for line in lines)
    mean = sum(float(line["score.maze_text_exact"]) for line in lines[3:]) / 3
    assert mean == run.results.tasks["maze.visual_cot"].metrics["maze_text_exact"].mean


def test_a_reply_that_is_a_formula_stays_text(tmp_path: Path) -> None:
    run = sketchmark.run(Formula("formula"), "maze", limit=1, output_path=tmp_path / "run")
    (path,) = export(run.folder, "csv")
    with path.open(newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["answer"] == "'=1+1\nand more"
