"""What is fuzzed: everything that reads what others wrote. Each takes bytes, and may refuse them only in our words.

A target that raises anything but a `SketchmarkError` has found a bug, and so has one that takes long or fills memory
(the fuzzer's own limits see to that). `make fuzz` runs them under atheris, which looks for inputs that reach new
code; the tests run each on its seeds, so that a target cannot rot.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from sketchmark import answers as marked
from sketchmark.answers import choices, numbers, phrases
from sketchmark.answers import phrases as open_answers
from sketchmark.answers import yes_no as yesno
from sketchmark.answers.choices import options_of
from sketchmark.benchmarks import mmsi as published
from sketchmark.benchmarks.medical import medevalkit as extract
from sketchmark.benchmarks.medical import medevalkit as judges
from sketchmark.benchmarks.medical import medevalkit as open_end
from sketchmark.benchmarks.medical import radiology as radiology_metrics
from sketchmark.benchmarks.mmmu import official
from sketchmark.benchmarks.voila import judge, rules
from sketchmark.cli import root
from sketchmark.episode.protocol import split
from sketchmark.errors import SketchmarkError
from sketchmark.files.yaml import load
from sketchmark.folder import EPISODES, SCORES, RunFolder
from sketchmark.folder.index import RunView
from sketchmark.lmms_eval.shape import checked_config
from sketchmark.media import Picture
from sketchmark.media.sound import Sound
from sketchmark.models.failures import BadReply
from sketchmark.models.providers.openai_wire import read_chat, read_image
from sketchmark.models.wrappers import price_of
from sketchmark.results.score_file import reply_sets
from sketchmark.serve import batches as batch_lines
from sketchmark.serve import bodies
from sketchmark.serve import chat as chat_request
from sketchmark.serve.bodies import WireError
from sketchmark.settings import Shard, parse_arguments
from sketchmark.settings.run_file import read_suite
from sketchmark.worlds import moves as answers
from sketchmark.worlds import moves as tagged

OPTIONS = ("left atrium", "right ventricle", "Yes", "3.5 cm")
LETTERS = dict(zip("ABCD", OPTIONS, strict=True))

REPLIES = (
    b"Answer: \\boxed{\\text{B}}",
    b"<think>A or B?</think> The answer is (C), not A.",
    b'<ANSWER_JSON>["up", "left"]</ANSWER_JSON>',
    b'<FINAL_ANSWER_JSON>{"choice": 1, "rationale": "it fits"}</FINAL_ANSWER_JSON>',
    b"``B``. I cannot say yes or no: 3,000.5 is 1e3.",
    "[1] two dogs swimming; 答案是C。".encode(),
    b'{"answer": "D", "steps": [1, 2]}',
)


@dataclass(frozen=True)
class Target:
    """`kind` is what the closing table counts inputs by."""

    kind: str
    take: Callable[[bytes], object]
    seeds: tuple[bytes, ...]

    def __call__(self, data: bytes) -> None:
        with suppress(SketchmarkError, WireError, BadReply):
            self.take(data)


def _text(data: bytes) -> str:
    """Any text that Python can hold, lone surrogates too."""
    return data.decode("utf-8", "surrogatepass" if data[:1] == b"\xed" else "replace")


def _reading(*readers: Callable[[str], object]) -> Callable[[bytes], None]:
    def take(data: bytes) -> None:
        try:
            text = _text(data)
        except UnicodeDecodeError:
            return
        for reader in readers:
            reader(text)

    return take


def _json(*readers: Callable[[Any], object]) -> Callable[[bytes], None]:
    def take(data: bytes) -> None:
        body = bodies.json_object(data)
        for reader in readers:
            reader(body)

    return take


def _in_file(name: str, reader: Callable[[Path], object]) -> Callable[[bytes], None]:
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))

    def take(data: bytes) -> None:
        path = folder / name
        path.write_bytes(data)
        reader(path)

    return take


def use(found: object) -> None:
    """Read every public attribute of an object, and call every public method that needs no argument."""
    for name in dir(type(found)):
        if name.startswith("_") or isinstance(inspect.getattr_static(found, name), classmethod):
            continue
        with suppress(SketchmarkError):
            value = getattr(found, name)
            if inspect.ismethod(value) and not _required(value):
                made = value()
                if isinstance(made, Iterator):
                    list(made)


def _required(method: Callable[..., Any]) -> list[str]:
    given = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(method).parameters.values()
    return [one.name for one in parameters if one.default is one.empty and one.kind not in given]


def _commands(group: click.Group) -> Iterator[click.Command]:
    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        if isinstance(found, click.Group):
            yield from _commands(found)
        elif found:
            yield found


def _command_line() -> Callable[[bytes], None]:
    """Parse the words of a command, one per line, without running it. The first byte chooses the command."""
    commands = list(_commands(root))

    def take(data: bytes) -> None:
        command = commands[data[0] % len(commands)] if data else root
        words = data[1:].decode("utf-8", "surrogateescape").replace("\0", "").split("\n")
        with (
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),
            suppress(click.ClickException, click.exceptions.Exit),
        ):
            command.make_context(command.name, words)

    return take


def _task_file(path: Path) -> None:
    checked_config(load(path), str(path))


def _run_folder() -> Callable[[bytes], None]:
    """A run folder whose files are what the fuzzer says, one of them at a time."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    cell = "maze.direct"
    sound: Mapping[str, bytes] = {
        "run.json": json.dumps(
            {
                "format": 3,
                "sketchmark": "0",
                "model": {"name": "m"},
                "cells": {cell: {"task": "maze", "mode": "direct"}},
            }
        ).encode(),
        f"episodes/{cell}.jsonl": b"",
        f"scores/{cell}.jsonl": b"",
        "results.json": b"{}",
    }

    def take(data: bytes) -> None:
        for number, (name, content) in enumerate(sound.items()):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data[1:] if data[:1] == bytes([number]) else content)
        run = RunFolder.open(folder)
        run.about(), run.results(), list(run.episodes(cell)), list(run.scores(cell)), run.scored(cell)
        view = RunView(run, "a run")
        view.refresh()
        use(view)
        for opened in view.cells.values():
            use(opened)

    return take


def _line(data: bytes) -> None:
    for read in (EPISODES.one, SCORES.one):
        with suppress(SketchmarkError):
            use(read(data, "a line"))


def _picture(data: bytes) -> None:
    use(Picture.from_bytes(data))


def _sound(data: bytes) -> None:
    use(Sound.from_bytes(data))


def _mmmu(parse: Callable[[str, Mapping[str, str], random.Random | None], object]) -> Callable[[str], object]:
    return lambda text: parse(text, LETTERS, None)


TARGETS: dict[str, Target] = {
    "strict": Target(
        "readers",
        _reading(
            numbers.read_number,
            lambda text: phrases.answers_with(["left lung", "heart"], text),
            lambda text: choices.read_choice(text, OPTIONS),
            lambda text: choices.read_choices(text, OPTIONS),
            yesno.read_yes_no,
            lambda text: yesno.read_yes_no(text, "Is there a pneumothorax in the left lung?"),
            lambda text: yesno.read_yes_no("There is no heart. The heart is large.", text),
            open_answers.read_answer,
            lambda text: open_answers.open_scores("3.5 cm", text),
            lambda text: open_answers.closed_is_right("yes", text),
        ),
        REPLIES,
    ),
    "tagged": Target(
        "readers",
        _reading(
            *(
                lambda text, scoring=scoring: tagged.tagged_moves(text, scoring)
                for scoring in ("official", "lenient")
            ),
            *(
                lambda text, scoring=scoring: tagged.tagged_choice(text, scoring)
                for scoring in ("official", "lenient")
            ),
            *(lambda text, scoring=scoring: published.letter(text, scoring) for scoring in ("official", "lenient")),
            tagged.echoes_template,
            answers.strict_choice,
            answers.strict_moves,
            marked.boxed,
        ),
        REPLIES,
    ),
    "published": Target(
        "readers",
        _reading(
            _mmmu(official.parse_choice),
            _mmmu(official.parse_choice_medevalkit),
            _mmmu(official.parse_choice_pro),
            official.parse_open,
            extract.parse_response,
            extract.box_or_tag,
            lambda text: judges.judge_choice(OPTIONS, "B", text),
            lambda text: judges.judge_yes_no("yes", text),
            lambda text: open_end.open_metrics("3.5 cm", text),
        ),
        REPLIES,
    ),
    "voila": Target(
        "readers",
        _reading(rules.read_step1, rules.read_step2, lambda text: judge.read_verdict(1, 1, text)),
        (*REPLIES, b"[1]: 2, dog, running", b"1. number: change from 1 to 2\n2. subject: stay"),
    ),
    "metrics": Target(
        "readers", _reading(lambda text: radiology_metrics.report_scores("no acute disease", text)), REPLIES
    ),
    "combined": Target(
        "parsers", _reading(split, options_of), (b"[GEN_PROMPT]draw[/GEN_PROMPT][QUESTION]what?[/QUESTION]",)
    ),
    "chat_reply": Target(
        "parsers",
        _json(read_chat, read_image),
        (
            b'{"choices": [{"message": {"content": "![a](data:image/png;base64,AA==)"}, "finish_reason": "stop"}]}',
            b'{"data": [{"b64_json": "AAAA"}]}',
        ),
    ),
    "chat_request": Target(
        "parsers",
        _json(chat_request.read_chat),
        (b'{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}',),
    ),
    "batch_file": Target(
        "parsers",
        lambda data: batch_lines.read_lines(data, "/v1/chat/completions"),
        (b'{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {}}\n',),
    ),
    "replies_file": Target(
        "parsers", _in_file("replies.json", reply_sets), (b'[{"id": "a", "response": "B"}]', b'{"a": "B"}')
    ),
    "picture": Target(
        "pictures", _picture, (b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"BM", b"II*\x00")
    ),
    "task_file": Target(
        "task files",
        _in_file("task.yaml", _task_file),
        (
            b"about: x\nsource: {use: 'maze:samples'}\nmodes: {direct: {protocol: direct, prompts: {inputs: [hi]}}}\n"
            b"scorers: [maze.solved]\nheadline: right\n",
            b"group: g\ntask: [a, b]\n",
            b"task: t\ndataset_path: owner/name\ndoc_to_text: '{{q}}'\noutput_type: generate_until\n",
        ),
    ),
    "sound": Target("pictures", _sound, (b"RIFF\x24\0\0\0WAVEfmt ", b"fLaC", b"ID3", b"OggS")),
    "run_file": Target(
        "task files",
        _in_file("suite.yaml", lambda path: use(read_suite(path))),
        (
            b"models: [player/random, {model: player/solver, name: it}]\ntasks: [maze, {task: sliding}]\n"
            b"limit: 2\ngen_kwargs: {seed: 1}\nprices: {player/random: {input: 1}}\n",
            b"models: [openai/m]\ntasks: maze\nmodel_args: {base_url: 'http://host/v1', api_key_env: A}\n",
        ),
    ),
    "prices": Target(
        "task files",
        _in_file("prices.yaml", lambda path: price_of(path, "m")({"tokens_in": 1})),
        (b"m: {input: 1, output: 2.5, picture: 0.1}\n",),
    ),
    "command": Target(
        "command lines",
        _command_line(),
        tuple(bytes([n]) + b"--model\nplayer/solver\n--tasks\nmaze\n--limit\n2\n-o\nout" for n in range(0, 30, 3)),
    ),
    "arguments": Target(
        "command lines", _reading(parse_arguments, Shard.parse), (b"a=1,b=[1,2],c={x: y}", b"1/3", b"k=2026-13-45")
    ),
    "line": Target(
        "run folders",
        _line,
        (b'{"index": 0, "sample": {"id": "a", "fingerprint": "f"}, "turns": []}', b'{"sample": "a", "values": {}}'),
    ),
    "folder": Target("run folders", _run_folder(), (b"\x00{}", b"\x01{}\n", b"\x02{}\n", b"\x03{}")),
}


def workers() -> int:
    return os.cpu_count() or 1
