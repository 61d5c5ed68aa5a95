"""`sketchmark make`: write generated puzzles to disk, one subcommand for each world that can be made."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from sketchmark.commands._output import NAMES, Place
from sketchmark.commands._worlds import WorldGroup, grid_option
from sketchmark.errors import BadInput
from sketchmark.parts import Sample
from sketchmark.terminal import counted, tell
from sketchmark.worlds.description import Argument, Making, World


def _build(world: World) -> click.Command | None:
    if world.making is None:
        return None
    options = [
        click.Option(["--count"], required=True, type=click.IntRange(min=1), help="How many."),
        click.Option(
            ["--seed"], default=0, show_default=True, type=click.IntRange(min=0), help="Same seed, same set."
        ),
        click.Option([*NAMES], required=True, type=Place(path_type=Path, file_okay=False), help="Folder."),
        click.Option(
            ["--format", "form"],
            type=click.Choice(["jsonl", "parquet", "folder"]),
            default="jsonl",
            show_default=True,
            help="JSONL with picture files; that and parquet in the published schema; the published folders.",
        ),
    ]
    if world.board:
        options.append(grid_option(world.board))
    options += [_option(argument) for argument in world.making.arguments]
    return click.Command(
        world.name, params=[*options], callback=partial(_make, world, world.making), help=world.making.about
    )


def _option(argument: Argument) -> click.Option:
    names = [f"--{(argument.option or argument.name).replace('_', '-')}", argument.name]
    if argument.is_folder:
        return click.Option(names, type=click.Path(file_okay=False), help=argument.help)
    kind = click.Choice(argument.among) if argument.among else type(argument.default)
    return click.Option(names, default=argument.default, show_default=True, type=kind, help=argument.help)


def _make(
    world: World,
    making: Making,
    count: int,
    seed: int,
    output_path: Path,
    form: str,
    grid: tuple[int, int] | None = None,
    **arguments: Any,
) -> None:
    if world.board and grid:
        arguments |= world.board.sized(*grid)
    for argument in making.arguments:  # a folder that was not named
        if arguments[argument.name] is None:
            arguments[argument.name] = argument.default
    _write(world.name, making, making.samples(seed=seed, data=None, **arguments), count, output_path, form)


def _write(name: str, making: Making, samples: Iterator[Sample], count: int, out: Path, form: str) -> None:
    from sketchmark.worlds import writing

    numbered = zip(range(count), samples, strict=False)
    try:
        with writing.writer(name, making, form, out) as add, counted(numbered, count, name) as bar:
            for number, sample in bar:
                add(number, sample)
    except OSError as error:
        raise BadInput(f"cannot write to {out}: {error.strerror}") from error
    tell(f"{count} x {name} in {out}")


@click.group("make", cls=WorldGroup, build=_build)
def command() -> None:
    """Write generated puzzles with their pictures, step pictures and answers.

    They are the puzzles that `sketchmark run` plays with the same seed and settings.
    """
