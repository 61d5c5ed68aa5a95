"""The command line: the group of commands, exit codes and signals.

Each command is a function in a module of `sketchmark.commands`, imported only when it is used. Ctrl-C and SIGTERM end
a command in order: work in progress is dropped, files are closed, and one line says how to resume. The second signal
ends the process at once.
"""

from __future__ import annotations

import errno
import importlib
import io
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from sketchmark import __version__
from sketchmark.commands import COMMANDS, MEANT
from sketchmark.errors import BadInput, SketchmarkError, UnknownName
from sketchmark.terminal import show_progress, tell, tell_all, tell_of_the_rest, write_anywhere

if TYPE_CHECKING:
    import asyncio


class Signals:
    """Signal handler that keeps the first signal."""

    first: int | None = None

    @property
    def exit_code(self) -> int:
        return 128 + (self.first or signal.SIGINT)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.first = number
        for each in (signal.SIGINT, signal.SIGTERM):  # the default handler works whatever Python is doing
            signal.signal(each, signal.SIG_DFL)
        loop = _running_loop()
        if loop is None:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(_cancel_all)


@contextmanager
def ending_in_order(signals: Signals) -> Iterator[None]:
    """Handle signals during a command. Only the main thread can do so; in other threads this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in heard:  # a shell may start a background job with Ctrl-C ignored
        signal.signal(number, signals)
    try:
        yield
    except BaseException as error:
        if signals.first is not None and type(error).__name__ == "CancelledError":
            raise KeyboardInterrupt from None
        raise
    finally:
        if signals.first is None:  # otherwise the process is ending, and a second signal ends it at once
            for number, handler in heard.items():
                signal.signal(number, handler)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    if "asyncio" not in sys.modules:  # most commands do not need it, and importing it is slow
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _cancel_all() -> None:
    import asyncio

    for task in asyncio.all_tasks():
        task.cancel()


class LazyGroup(click.Group):
    """A command group that imports a command only when it is used, so that `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is refused with the one that was probably meant."""
        if args and args[0].replace("_", "-") not in COMMANDS and not args[0].startswith("-"):
            raise UnknownName(f"there is no command {args[0]!r}", _meant_command(args))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse options of `run` without `run`, as lmms-eval and VLMEvalKit take them, with the whole line."""
        option = args[0].partition("=")[0].replace("_", "-") if args else ""
        if option.startswith("-") and option in _run_options():
            raise BadInput(f"{args[0]} is an option of `sketchmark run`", f"type: sketchmark run {shlex.join(args)}")
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"sketchmark.commands.{COMMANDS[cmd_name].module}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))
        for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
            with formatter.section(group):
                entries = [(name, entry) for name, entry in COMMANDS.items() if entry.group == group]
                formatter.write_dl([(name.ljust(widest), entry.about) for name, entry in entries])


def _meant_command(args: list[str]) -> str:
    """Suggest what to type instead of an unknown command."""
    asked = args[0].lower().replace("_", "-")
    if asked == "help":
        known = args[1] if len(args) > 1 and args[1] in COMMANDS else ""
        return f"type: sketchmark {f'{known} ' if known else ''}--help"
    close = MEANT.get(asked) or next(iter(get_close_matches(asked, [*COMMANDS, *MEANT], n=1, cutoff=0.5)), "")
    close = MEANT.get(close, close)
    return f"did you mean `sketchmark {close}`?" if close else "`sketchmark --help` lists all commands"


def _run_options() -> set[str]:
    """Return the spellings of the options of `sketchmark run`."""
    from sketchmark.commands.run import run_command

    return {name for param in run_command.params for name in param.opts} - {"-h", "--help"}


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda token: token.replace("_", "-"),
        "max_content_width": 110,
    },
)
@click.version_option(__version__, prog_name="sketchmark")
@click.pass_context
def root(context: click.Context) -> None:
    """Does drawing help a multimodal model think?

    \b
    First run, no key, no weights, no network:
      sketchmark run --model player/sketcher --tasks maze,sliding \\
          --mode direct,visual_cot --limit 50
    Look at it:
      sketchmark view runs

    \b
    Modes: direct, visual_cot (draw, look, continue), text_cot (describe
    instead of drawing), blind (direct without its images) or, in generated
    worlds, text_input (the puzzle as text). A canvas is what the model sees
    in place of its drawing: own, blank, other, oracle, corrupt, caption or
    source. A cell is one task in one mode on one canvas;
    an episode is the transcript of one sample in a cell.

    \b
    Options may be spelled with dashes or underscores. Shell completion, for
    bash (zsh and fish likewise), also of tasks, models and run folders:
      eval "$(_SKETCHMARK_COMPLETE=bash_source sketchmark)"
    """
    if context.invoked_subcommand in ("run", "audit"):
        from sketchmark.commands.options import file_defaults

        _, defaults = file_defaults(Path())
        context.default_map = {"run": defaults, "audit": defaults}


def _in_words(error: OSError) -> str:
    what = f"{error.filename or 'input or output'}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the disk is full: {what}; what is done is kept: free space and run the same command"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{what}; what is done is kept: make it accessible, or use another folder"
    return what


def main(arguments: list[str] | None = None) -> Any:
    """Run a command line. An error meant for the user is one line and an exit code; only a bug shows a traceback."""
    signals = Signals()
    write_anywhere()
    tell_of_the_rest()
    show_progress()
    try:
        with ending_in_order(signals):
            code = root.main(args=arguments, prog_name="sketchmark", standalone_mode=False)
    except SketchmarkError as error:
        tell(f"sketchmark: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)  # it quotes the arguments
        tell_all(said.getvalue(), err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        tell("sketchmark: interrupted; what was finished is kept, the same command resumes from there", err=True)
        sys.exit(signals.exit_code)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:  # a full disk or a folder without permission; a traceback would not help
        tell(f"sketchmark: {_in_words(error)}", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
