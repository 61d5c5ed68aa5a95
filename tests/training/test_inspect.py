"""The worlds as tasks of Inspect: the same contexts and scores as in a run, by its own commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from sketchmark.episode.sample import Context, Part
from sketchmark.errors import BadPicture
from sketchmark.folder import RunFolder
from sketchmark.testing import BLANK
from sketchmark.training.inspect_tasks import context_of, messages_of


def evaluated(folder: Path, *arguments: str) -> EvalLog:
    """Run `inspect eval` from another folder, and read its log."""
    command = [str(Path(sys.executable).with_name("inspect")), "eval", *arguments, "--display", "none"]
    done = subprocess.run(
        [*command, "--log-dir", str(folder), "--log-format", "json"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (log,) = folder.glob("*.json")
    return read_eval_log(str(log))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["direct", "visual_cot"])
def test_inspect_gives_the_scores_of_a_run(tmp_path: Path, played: Callable[..., RunFolder], mode: str) -> None:
    log = evaluated(
        tmp_path, "sketchmark/maze", "--model", "sketchmark/player/sketcher", "-T", f"mode={mode}", "-T", "samples=6"
    )
    folder = played("player/sketcher", "maze", mode=mode, limit=6)
    (cell,) = folder.cells
    ours = {
        row.sample: {name: value for name, value in row.values.items() if value is not None}
        for row in folder.scores(cell)
    }
    assert log.status == "success"
    assert {str(one.id): (one.scores or {})["scores"].value for one in log.samples or ()} == ours
    differ = len({json.dumps(values) for values in ours.values()}) > 1
    assert differ == (mode == "direct")  # it needs its drawings, so the comparison is one of different scores


@pytest.mark.slow
def test_a_wrong_setting_is_refused_in_words(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("inspect")), "eval", "sketchmark/maze", "-T", "canvas=pink"]
    done = subprocess.run(
        [*command, "--model", "sketchmark/player/solver", "--display", "none"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and "no canvas 'pink'" in done.stdout + done.stderr


def test_a_context_survives_the_way_through_chat_messages() -> None:
    context = Context((Part("a"), Part(BLANK), Part("b"), Part("plan", "model"), Part(BLANK, "model"), Part("c")))
    assert context_of(messages_of(context)) == context
    assert [len(message.content) for message in messages_of(context)] == [3, 2, 1]


def test_an_image_elsewhere_is_not_fetched() -> None:
    from inspect_ai.model import ChatMessageUser, ContentImage

    for address in ("http://127.0.0.1/x.png", "/etc/passwd", "data:image/png;base64,@"):
        with pytest.raises(BadPicture):
            context_of([ChatMessageUser(content=[ContentImage(image=address)])])
