"""Options of commands: those of `sketchmark run` from the settings record, and those that several commands share.

Shared options are spelled alike in all commands. lmms-eval's spelling of --include is accepted, too.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from sketchmark.catalog import near_misses
from sketchmark.errors import BadInput
from sketchmark.secrets import keys_in
from sketchmark.settings import Field, fields
from sketchmark.terminal import keep_log

F = TypeVar("F", bound=Callable[..., Any])


INCLUDE_NAMES = ("--include", "--include-path", "include")
"""Spellings; the last is the parameter's name."""


def include_option(help: str) -> Callable[[F], F]:
    return click.option(*INCLUDE_NAMES, multiple=True, type=click.Path(path_type=Path), help=help)


def limit(context: click.Context, option: click.Parameter, value: str | None) -> int | float | None:
    """Read a limit: `20` is a count, a number between 0 and 1 a fraction."""
    if value is None:
        return None
    try:
        number: int | float = int(value) if value.isdecimal() else float(value)
    except ValueError:
        number = 0
    if (number >= 1 and isinstance(number, int)) or 0 < number < 1:
        return number
    told = f"{value!r} is neither a count (20) nor a share (0.1); without --limit all are run"
    raise click.BadParameter(told, context, option)


details_option = click.option(
    "--details", is_flag=True, help="Also print every score, breakdown and gain (results.json has them all)."
)


def complete(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """Complete the last of several names with commas. `names` is called only when a shell asks."""

    def completed(context: click.Context, option: click.Parameter, typed: str) -> list[str]:
        before, comma, last = typed.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return completed


def _tasks() -> list[str]:
    from sketchmark.catalog import Catalog

    catalog = Catalog()
    return [*catalog.task_names(), *catalog.group_names()]


def _models() -> list[str]:
    from sketchmark.catalog import Catalog
    from sketchmark.models.players import PLAYERS

    return [*(f"player/{name}" for name in PLAYERS), *(f"{name}/" for name in Catalog().model_names())]


def _canvases() -> list[str]:
    from sketchmark.episode.desk import CANVASES

    return [*CANVASES, "all"]


COMPLETED: dict[str, Callable[[], Iterable[str]]] = {
    "tasks": _tasks,
    "model": _models,
    "drawer": _models,
    "judge": _models,
    "mode": lambda: ("direct", "visual_cot", "text_cot", "blind", "text_input"),
    "canvas": _canvases,
}
"""Settings whose values a shell completes."""


class RunPath(click.Path):
    """Path of a run folder; a shell completes run folders below the current one, and other paths as usual."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from sketchmark.folder import run_folders

        found = map(str, run_folders(Path()))
        listed = [CompletionItem(path) for path in found if path.startswith(incomplete)]
        return listed or super().shell_complete(ctx, param, incomplete)


RUN = RunPath(path_type=Path)


class Joined(click.Option):
    """A list with commas. Given twice it is one longer list: otherwise the first would be lost silently."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        if (default := settings.pop("default", None)) is not None:
            settings["default"] = [default] if default else []
        super().__init__(*given, **settings | {"multiple": True})

    def process_value(self, ctx: click.Context, value: Any) -> str | None:
        found = super().process_value(ctx, value)
        return ",".join(found) if found else None if self.default is None else ""


def is_given(context: click.Context, name: str) -> bool:
    """Check that an option is on the command line."""
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def open_log(context: click.Context, option: click.Parameter, value: Path | None) -> None:
    if value:
        keep_log(value)


def origin(context: click.Context, name: str, file: str) -> str:
    """Say where the value of an option came from."""
    source = context.get_parameter_source(name)
    words = {
        click.core.ParameterSource.COMMANDLINE: "command line",
        click.core.ParameterSource.ENVIRONMENT: variable(name),
        click.core.ParameterSource.DEFAULT_MAP: file,
    }
    return words.get(source, "default") if source else "default"


def log_level(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value:
        logging.getLogger().setLevel(value)


def refused(instead: str) -> Callable[[click.Context, click.Parameter, object], None]:
    """Refuse an option of another tool and say what to type instead."""

    def refuse(context: click.Context, option: click.Parameter, value: object) -> None:
        if value is not None:
            raise BadInput(f"there is no {option.opts[0]} here", instead)

    return refuse


NAMES = ("--output-path", "--output", "--out", "-o", "output_path")
"""Spellings; the last is the parameter's name."""


class OutputPath(click.Path):
    """Path to write to. It must not be empty: an unset shell variable would mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)


def output_option(help: str, *also: str, folder: bool = True, **settings: Any) -> Callable[[F], F]:
    """Make the option for an output folder, or for a file if `folder` is false. `also` are further spellings."""
    kind = OutputPath(path_type=Path) if folder else OutputPath(path_type=Path, dir_okay=False)
    return click.option(*also, *NAMES, type=kind, help=help, **settings)


def setting_options(before: Mapping[str, Sequence[click.Option]]) -> Iterator[click.Option]:
    """Make an option of each setting. `before` are options of the command, listed before the setting they name."""
    for field in fields("C"):
        yield from before.get(field.name, ())
        yield _setting_option(field)


NEVER_BY_DEFAULT = frozenset({"fresh", "trust_code", "shard", "retry_failed", "quiet"})
"""Settings that only a command line gives: they delete, run code, or are meant for one invocation."""


def variable(name: str) -> str:
    """Return the environment variable that gives a setting its default."""
    return f"SKETCHMARK_{name.upper()}"


def file_defaults(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the defaults in `sketchmark.toml`, or under `[tool.sketchmark]` in `pyproject.toml`, and their file.

    A file in the current folder may come from someone else. So it deletes nothing, names no Python file and holds no
    key, as a run file.
    """
    import tomllib

    for name in ("sketchmark.toml", "pyproject.toml"):
        path = folder / name
        if not path.is_file():
            continue
        try:
            found = tomllib.loads(path.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInput(f"{name} cannot be read: {error}", "it is TOML: key = value") from error
        settings = found if name == "sketchmark.toml" else found.get("tool", {}).get("sketchmark")
        if settings:
            return name, {key: _from_file(name, key, value) for key, value in settings.items()}
    return "", {}


def _from_file(file: str, key: str, value: Any) -> Any:
    """Return a default as an option takes it; refuse what a file must not say."""
    known = {field.name: field for field in fields("C")}
    field = known.get(key.replace("-", "_"))
    if field is None:
        close = near_misses(key, list(known))
        raise BadInput(f"{file}: there is no setting {key!r}", close if close.startswith("did") else "see docs")
    if field.name in NEVER_BY_DEFAULT:
        raise BadInput(f"{file}: {key} is not for a file to say", f"give {field.option} on the command line")
    for secret in keys_in({key: value}):
        raise BadInput(f"{file}: {secret} is a key or looks like one", "keys are in the environment, never in a file")
    listed = value if isinstance(value, list) else [value]
    if field.kind == "paths" and any(str(one).endswith(".py") for one in listed):
        raise BadInput(f"{file}: {key} names code", f"give {field.option} on the command line, if you trust it")
    if field.kind == "arguments":
        text = value if isinstance(value, str) else ",".join(f"{name}={one}" for name, one in value.items())
        return [text]
    if field.kind in ("names", "words", "paths") or field.name == "model":
        return [str(one) for one in listed]
    return value if field.kind == "flag" else str(value)


def _setting_option(field: Field) -> click.Option:
    about = field.about
    names = [field.option, *filter(None, [about.flag])]
    common: dict[str, Any] = {"help": about.help, "hidden": about.hidden}
    if field.name not in NEVER_BY_DEFAULT:
        common["envvar"] = variable(field.name)
    if field.name in COMPLETED:
        common["shell_complete"] = complete(COMPLETED[field.name])
    if field.kind == "flag":
        return click.Option(names, is_flag=True, **common)
    if field.kind == "paths":
        return click.Option(INCLUDE_NAMES, multiple=True, type=click.Path(path_type=Path), **common)
    if field.kind == "output":
        return click.Option(NAMES, type=OutputPath(path_type=Path), **common)
    if field.kind == "limit":
        return click.Option(names, callback=limit, metavar="N|SHARE", **common)
    if field.kind in ("path", "prices"):
        return click.Option(names, type=click.Path(path_type=Path, exists=field.kind == "prices"), **common)
    shown = {"default": field.default, "show_default": field.default not in ("", None) and about.shows_default}
    if field.kind in ("names", "words"):
        return Joined(names, **common, **(shown if field.default else {}))
    if field.kind == "arguments":
        return Joined(names, default="", **common)
    if field.name == "model":
        return Joined(names, **common)
    return click.Option(names, type=_number_or_choice(field), **common, **shown)


def _number_or_choice(field: Field) -> click.ParamType[Any] | type[str]:
    if field.about.choices:
        return click.Choice(field.about.choices)
    if field.kind not in ("whole", "number"):
        return str
    bounds = field.bounds
    least, above = bounds.ge, bounds.gt
    if least is None and above is None:
        return click.INT if field.kind == "whole" else click.FLOAT
    kind: Any = click.IntRange if field.kind == "whole" else click.FloatRange
    found: click.ParamType[Any] = kind(least) if above is None else kind(above, min_open=True)
    return found


def open_address(address: str, no_browser: bool) -> None:
    """Open the browser, unless no window can open (ssh, container): there the opener would only print errors."""
    windows = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    seen = not sys.platform.startswith("linux") or any(os.environ.get(name) for name in windows)
    if seen and not no_browser:
        click.launch(address)
