"""`sketchmark make` and `read`, with one subcommand per world, and `demo`: scripted players on all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click

from sketchmark.api import run
from sketchmark.catalog import Catalog
from sketchmark.commands.options import NAMES, OutputPath, output_option
from sketchmark.comparison.findings import bounds, mean_of, span
from sketchmark.comparison.headlines import run_sentences, score_of
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, BadPicture
from sketchmark.folder import RunFolder
from sketchmark.media import Picture
from sketchmark.terminal import counted, notice, tell, tell_all
from sketchmark.terminal.tables import Table, print_table, tell_wrapped
from sketchmark.worlds import (
    Argument,
    Board,
    BoardReading,
    Making,
    World,
    Worlds,
    installed_worlds,
    refuse_training_seed,
)


class WorldGroup(click.Group):
    """Group of one subcommand per world. `build` makes it, or returns None for a world that has none here."""

    def __init__(self, *arguments: Any, build: Callable[[World], click.Command | None], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._build = build
        self.params.append(
            click.Option(
                ["--include", "--include-path", "include"],
                multiple=True,
                is_eager=True,  # before --help, which lists the worlds
                expose_value=False,
                type=click.Path(path_type=Path),
                callback=_include,
                help="Python file with a world of your own.",
            )
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(world.name for world in _worlds(ctx) if self._build(world))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        worlds = _worlds(ctx)
        return self._build(worlds[cmd_name]) if cmd_name in worlds else None


def _include(context: click.Context, option: click.Parameter, value: tuple[Path, ...]) -> None:
    if value:
        context.obj = Catalog(value, notify=notice).worlds


def _worlds(context: click.Context) -> Worlds:
    return context.obj if isinstance(context.obj, Worlds) else installed_worlds()


def grid_option(board: Board) -> click.Option:
    """`--grid ROWSxCOLS`, passed on as (rows, columns)."""
    return click.Option(
        ["--grid"],
        metavar="ROWSxCOLS",
        default=f"{board.size[0]}x{board.size[1]}",
        show_default=True,
        callback=_parse,
        help="Size of the board.",
    )


def _parse(context: click.Context, option: click.Parameter, value: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})[xX×](\d{1,3})", value)
    if not found:
        raise click.BadParameter(f"{value!r} is not a size such as 6x6", context, option)
    return int(found[1]), int(found[2])


def _make_command(world: World) -> click.Command | None:
    if world.making is None:
        return None
    options = [
        click.Option(["--count"], required=True, type=click.IntRange(min=1), help="How many."),
        click.Option(
            ["--seed"], default=0, show_default=True, type=click.IntRange(min=0), help="Same seed, same set."
        ),
        click.Option([*NAMES], required=True, type=OutputPath(path_type=Path, file_okay=False), help="Folder."),
        click.Option(
            ["--format", "form"],
            type=click.Choice(["jsonl", "parquet", "folder"]),
            default="jsonl",
            show_default=True,
            help="JSONL with image files, that with parquet in the published schema, or the published folders.",
        ),
    ]
    if world.board:
        options.append(grid_option(world.board))
    options += [_option(argument) for argument in world.making.arguments]
    return click.Command(
        world.name,
        params=[*options],
        callback=partial(_make, world, world.making),
        help=world.making.about,
        short_help=f"Make puzzles of the world {world.name}.",
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
    refuse_training_seed(seed)
    _write(world.name, making, making.samples(seed=seed, data=None, **arguments), count, output_path, form)


def _write(name: str, making: Making, samples: Iterator[Sample], count: int, out: Path, form: str) -> None:
    from sketchmark.worlds import disk as writing

    numbered = zip(range(count), samples, strict=False)
    try:
        with writing.writer(name, making, form, out) as add, counted(numbered, count, name) as bar:
            for number, sample in bar:
                add(number, sample)
    except OSError as error:
        raise BadInput(f"cannot write to {out}: {error.strerror}") from error
    tell(f"{count} x {name} in {out}")


@click.group("make", cls=WorldGroup, build=_make_command)
def make_command() -> None:
    """Write generated puzzles with their images, step images and answers.

    `sketchmark run` uses the same puzzles with the same seed and settings.
    """


def _read_command(world: World) -> click.Command | None:
    params: list[click.Parameter] = [click.Argument(["file"], type=click.Path(path_type=Path))]
    if world.board:
        callback: Callable[..., None] = partial(_show, world.board)
        params.append(grid_option(world.board))
    elif world.reading:
        callback = partial(_tell_reading, world.name, world.reading)
    else:
        return None
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="Print JSON instead of text."))
    return click.Command(
        world.name,
        params=params,
        callback=callback,
        help=world.board.legend if world.board else "The image as text, as the mode text_input writes it.",
        short_help=f"Read an image of the world {world.name}.",
    )


def _tell_reading(name: str, reading: Callable[[Picture], str | None], file: Path, as_json: bool) -> None:
    picture = Picture.from_file(file)
    with _blaming(file):
        found = reading(picture)
    if as_json:
        tell_all(json.dumps({"text": found}))
        return
    if found is None:
        raise BadInput(f"{file} does not show a puzzle of {name}, or shows something else as well")
    for line in found.splitlines():
        tell(line)


def _show(board: Board, file: Path, grid: tuple[int, int], as_json: bool) -> None:
    board.sized(*grid)  # refuses a size that cannot be
    seen = _read(board, file, grid)
    if as_json:
        tell_all(json.dumps({"grid": seen.grid, **seen.places}))
        return
    for row in seen.grid:
        tell(" ".join(f"{'.' if label == ' ' else label:>2}" for label in row))
    for name, place in seen.places.items():
        tell(f"{name}: " + (f"row {place[0]}, column {place[1]}, counted from 0" if place else "not found"))


def _read(board: Board, file: Path, grid: tuple[int, int]) -> BoardReading:
    picture = Picture.from_file(file)
    with _blaming(file):
        return board.read(picture, *grid)


@contextmanager
def _blaming(file: Path) -> Iterator[None]:
    """Name the file of a damaged image, which is noticed only when it is decoded."""
    try:
        yield
    except BadPicture as error:
        raise BadPicture(f"{file}: {error}") from error


@click.group("read", cls=WorldGroup, build=_read_command)
def read_command() -> None:
    """Read an image the way drawn steps are scored."""


_CANVASES = {"player/sketcher": "own,blank,other,oracle"}


def play_demo(limit: int, path: Path) -> int:
    folders = []
    for name in ("player/random", "player/solver", "player/sketcher"):
        tell(f"{name} …", err=True)
        folders.append(_play(name, limit, path / name.partition("/")[2], path / "cache"))
    _print(folders)
    last = folders[-1]
    tell_wrapped(f"player/sketcher sees only a few moves ahead. {' '.join(run_sentences(last.results()))}")
    tell_wrapped(f"Control: {_control(last)}")
    tell()
    tell(f"report:      {last.path / 'report.html'} (one file; open it in any browser)")
    tell(f"look closer: sketchmark view {path}")
    return 0


def _control(folder: RunFolder) -> str:
    """Say what a blank image in place of the drawing does."""
    blank = [gain for gain in folder.results().gains if gain.canvas == "blank"]
    gained = ", ".join(f"{span(gain)} on {gain.task}" for gain in blank)
    return f"shown a blank image instead of its drawing, it gains {gained}."


def _play(name: str, limit: int, path: Path, cache: Path) -> RunFolder:
    return run(
        name,
        ",".join(_generated()),
        mode="direct,visual_cot,text_cot",
        canvas=_CANVASES.get(name, "own"),
        limit=limit,
        output_path=path,
        cache=cache,
        quiet=False,
    ).folder


def _generated() -> list[str]:
    """Return the first three generated worlds: more would take too long. Each has a task of its name."""
    return [world.name for world in installed_worlds() if world.making][:3]


def _print(folders: list[RunFolder]) -> None:
    """Print one table: the headline score of each mode, and the gain by drawing."""
    modes = ("direct", "text_cot", "visual_cot")
    columns = ("player", "world", "direct", "text", "drawn", "gain", "95%", "blank", "failed")
    table = Table("Does drawing help? Headline scores in percent, with 95% intervals", columns, texts=2)
    for folder in folders:
        results = folder.results()
        for world in _generated():
            found = {gain.canvas: gain for gain in results.gains if (gain.task, gain.mode) == (world, "visual_cot")}
            cells = [cell for cell in results.tasks.values() if cell.task == world]
            by_mode = {cell.mode: cell for cell in cells if cell.canvas == "own"}
            table.add(
                *(results.model, world, *(score_of(by_mode[mode]) if mode in by_mode else "" for mode in modes)),
                *(mean_of(found.get("own")), bounds(found.get("own"))),
                mean_of(found["blank"]) if "blank" in found else "",
                str(sum(sum(cell.failures.values()) for cell in cells)),
            )
    table.below = ("gain: drawn minus direct, on the same samples; blank: the same gain, shown a blank image.",)
    print_table(table)


@click.command()
@click.option("--limit", type=click.IntRange(2), default=16, show_default=True, help="Samples of each world.")
@output_option("Folder of the demo's runs.", default=Path("runs/demo"), show_default=True)
def demo_command(limit: int, output_path: Path) -> int:
    """Three scripted players show what a run looks like and what the controls are for.

    `random` sits at chance, `solver` is always right, and `sketcher` sees only a few moves ahead: drawing helps it,
    and a blank canvas takes the help away.
    """

    return play_demo(limit, output_path)
