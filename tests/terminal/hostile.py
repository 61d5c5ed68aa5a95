"""A child process of its own, on a terminal of its own: every command over files that a stranger filled with what a
terminal obeys and what Rich takes for markup. `python -m tests.terminal.hostile FOLDER` makes the files and runs
the commands there, and prints each one's exit code."""

from __future__ import annotations

import json
import logging
import sys
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import msgspec
import yaml

from sketchmark.cli import main
from sketchmark.folder.format import RunRecord

EVIL = (
    "[/INST][bold]b[/bold][link=http://evil.example]l[/link]:bomb:"  # markup and emoji
    "\x1b[2J\x1b]0;title\x07\x1b]52;c;Y2xpcA==\x07\x1b]8;;http://evil.example\x1b\\"  # clear, title, clipboard, link
    "\x9b2J\x90q\x85\x7f\x08\r\x00"  # the same as C1 controls; delete, backspace, return, NUL
    "\u202eoverride\u2066\u200b\ufeff\u2028\U000e0041"  # direction, zero width, separators, tags
)
NAME = EVIL.replace("\x00", "").replace("/", "∕")
"""As a file may be called."""

_CODE = f"""
from PIL import Image
from sketchmark import Model, Picture, Reply, Sample, Scores
EVIL = {EVIL!r}

def samples(*, seed, data):
    for number in range(6):
        pictures = {{"p": Picture.from_image(Image.new("RGB", (4, 4)))}}
        groups = {{EVIL: f"{{EVIL}}{{number % 2}}"}}
        yield Sample(f"{{EVIL}}{{number}}", pictures=pictures, fields={{"q": EVIL}}, groups=groups)

def score(sample, episode, grading):
    return Scores({{EVIL: 1.0}}, notes={{"read": EVIL}})

class Evil(Model):
    calls = 0

    async def say(self, context, options):
        Evil.calls += 1
        if Evil.calls % 2:
            raise OSError("first\\nsketchmark: a second line" + EVIL)
        return Reply(text=EVIL)
"""


def _task() -> dict[str, object]:
    mode = {"protocol": "direct", "prompts": {"inputs": ["<p>", "{q}", EVIL], "ask": EVIL}}
    return {
        "about": EVIL,
        "source": {"use": "evil_code:samples"},
        "modes": {"direct": mode},
        "scorers": ["evil_code:score"],
        "headline": EVIL,
        "breakdown": [EVIL],
    }


def make(folder: Path) -> None:
    from tests.view.making import Maker, fail, play, sample

    tasks = folder / "tasks"
    tasks.mkdir()
    (tasks / "evil_code.py").write_text(_CODE, "utf-8")
    (tasks / "evil.yaml").write_text(yaml.safe_dump(_task()), "utf-8")
    (folder / f"{NAME}.yaml").write_text(yaml.safe_dump({**_task(), EVIL: EVIL}), "utf-8")
    maker = Maker(folder / "run", model=EVIL)
    for number in range(4):
        of = replace(sample(number), id=f"{number}{EVIL}", groups={EVIL: EVIL, "steps": f"{EVIL}{number % 2}"})
        maker.add("maze.direct", play(of, "direct", False, text=EVIL), number)
        maker.add("maze.visual_cot", play(of, "visual_cot", number > 0), number)
    maker.add("maze.direct", fail(of, "direct", EVIL, EVIL), 3)
    run = maker.finish()
    about = run.about()
    about.cells["maze.direct"].headline = about.cells["maze.visual_cot"].headline = "maze_text_exact"
    run.run_file.write_bytes(msgspec.json.encode(msgspec.structs.replace(about, started=EVIL, machine={EVIL: EVIL})))
    assert msgspec.json.decode(run.run_file.read_bytes(), type=RunRecord).started == EVIL
    (folder / "broken").mkdir()
    (folder / "broken" / "run.json").write_text(json.dumps({"format": EVIL}))
    (folder / "voila.csv").write_text(f"Question,{EVIL}\n{EVIL},{EVIL}\n", "utf-8", newline="")
    (folder / "replies.json").write_text(json.dumps([{"id": EVIL, "response": EVIL}]))


def commands() -> list[tuple[int, list[str]]]:
    """(exit code, arguments)."""
    evil = ["--include", "tasks", "--trust-code"]
    playing = ["run", *evil, "--model", "evil", "--tasks", "evil", "--no-cache", "--include", "tasks/evil_code.py"]
    return [
        (1, [*playing, "-o", f"played-{NAME}"]),
        (1, [*playing, "-o", f"played-{NAME}"]),
        (0, [*playing, "--dry-run"]),
        (0, ["list", "tasks", *evil]),
        (0, ["show", "evil", *evil]),
        (2, ["show", NAME, "--include", f"{NAME}.yaml"]),
        (0, ["score", f"played-{NAME}", *evil]),
        (0, ["score", "run", "--scoring", "strict,lenient"]),
        (2, ["score", "run", "--scoring", EVIL]),
        (0, ["report", "run"]),
        (0, ["compare", "run"]),
        *((0, ["compare", "run", "--format", form]) for form in ("md", "csv", "latex", "json")),
        (2, ["compare", "run", "--metric", EVIL]),
        (0, ["export", "run", "--to", "lmms-eval"]),
        (0, ["export", "run", "--to", "inspect"]),
        (2, ["export", "run", "--to", EVIL]),
        (2, ["submission", "run"]),
        *((2, [name, "broken"]) for name in ("score", "report", "compare", "submission")),
        (2, ["view", NAME]),
        (2, ["report", NAME]),
        (1, ["voila", "check", "voila.csv"]),
        (2, ["read", "maze", f"{NAME}.png"]),
        (2, ["score-file", "--task", "mmmu", "--data", NAME, "--predictions", "replies.json"]),
        (2, ["run", "--model", EVIL, "--tasks", "maze"]),
        (2, ["run", "--model", "player/solver", "--tasks", EVIL]),
        (2, ["run", "--model", "player/solver", "--tasks", "maze", "--model-args", f"{EVIL}=1"]),
        (2, [EVIL]),
        (2, ["list", EVIL]),
        (2, ["list", "tasks", f"--{EVIL}"]),
    ]


def others() -> None:
    """What reaches the terminal without anyone printing it."""
    logging.getLogger("sketchmark").warning("logged %s", EVIL)
    warnings.warn(f"warned {EVIL}", stacklevel=1)
    thread = threading.Thread(target=lambda: (_ for _ in ()).throw(RuntimeError(f"threw {EVIL}")))
    thread.start()
    thread.join()
    sys.excepthook(RuntimeError, RuntimeError(f"raised {EVIL}"), None)


if __name__ == "__main__":
    import os

    os.chdir(sys.argv[1])
    make(Path())
    for number, (_, arguments) in enumerate(commands()):
        try:
            main([argument.replace("\x00", "") for argument in arguments])
        except SystemExit as end:
            sys.stdout.write(f"\nended {number} {end.code}\n")
    others()
    sys.stdout.write("\nall done\n")
