"""Small real models for the server to stand in front of, and `sketchmark serve` with one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.episode.model import Finish
from sketchmark.errors import CallFailed
from sketchmark.media import Picture


def painted(colour: str, size: tuple[int, int] = (8, 8)) -> Picture:
    return Picture.from_image(Image.new("RGB", size, colour))


class Mirror(Model):
    """Says what it was shown, part by part, with its settings, and draws its last picture turned by 90 degrees."""

    def __init__(self) -> None:
        super().__init__("test/mirror")

    async def say(self, context: Context, options: Options) -> Reply:
        seen = {"parts": [part.key() for part in context], "options": options.key()}
        return Reply(text=json.dumps(seen), usage=Usage(tokens_in=len(context), tokens_out=7))

    async def draw(self, context: Context, options: Options) -> Reply:
        drawn = context.pictures[-1].image().rotate(90) if context.pictures else Image.new("RGB", (4, 4), "red")
        text = json.dumps({"parts": [part.key() for part in context], "options": options.key()})
        return Reply(text=text, picture=Picture.from_image(drawn), usage=Usage(tokens_in=3, tokens_out=9))


class Speaker(Model):
    """Says one fixed thing and cannot draw."""

    def __init__(self, text: str = "two words", finish: Finish = "stop", left_out: tuple[str, ...] = ()) -> None:
        super().__init__("test/speaker")
        self.reply = Reply(text=text, finish=finish, left_out=left_out)

    async def say(self, context: Context, options: Options) -> Reply:
        return self.reply


class Painter(Model):
    """Draws one fixed thing, or does not."""

    def __init__(self, picture: Picture | None = None, finish: Finish = "stop") -> None:
        super().__init__("test/painter")
        self.reply = Reply(picture=picture, finish=finish)

    async def draw(self, context: Context, options: Options) -> Reply:
        return self.reply


class Moody(Model):
    """Repeats the last text, but fails in the way that the text asks for."""

    max_pictures = 1

    async def say(self, context: Context, options: Options) -> Reply:
        text = context.texts[-1]
        if text == "crash":
            raise RuntimeError("secret-in-a-traceback")
        if text == "fail":
            raise CallFailed("upstream", "the provider is away")
        return Reply(text=text)


PARROT = """
from sketchmark.episode.model import Model, Reply

class Parrot(Model):
    async def say(self, context, options):
        return Reply(text=context.texts[-1])

    async def close(self):
        print("closed", flush=True)
"""
Served = tuple[subprocess.Popen[str], str]


def command(folder: Path, *options: str, model: str = "parrot") -> list[str]:
    """`sketchmark serve` with a parrot that a file in `folder` holds, or with another model."""
    (folder / "parrots.py").write_text(PARROT)
    include = ("--include", str(folder / "parrots.py"), "--model", model)
    return [sys.executable, "-m", "sketchmark", "serve", *include, *options]


@contextmanager
def started(folder: Path, *options: str, model: str = "parrot", **environment: str) -> Iterator[Served]:
    """The process of that command and the address that it prints."""
    pipe, environment = subprocess.PIPE, {**os.environ, **environment}
    given = command(folder, *(() if "--port" in options else ("--port", "0")), *options, model=model)
    with subprocess.Popen(given, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line.startswith(f"Serving {model} at http://127.0.0."), line
            yield process, line.split()[-1]
        finally:
            process.kill()
