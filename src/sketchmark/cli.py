"""The command line. Each command is one module in `sketchmark.commands`, imported only when it is used."""

from __future__ import annotations

import errno
import importlib
import io
import pkgutil
import sys
from typing import Any

import click

from sketchmark import __version__, commands
from sketchmark.commands._signals import Signals, ending_in_order
from sketchmark.errors import SketchmarkError
from sketchmark.terminal import show_progress, tell, tell_all, tell_of_the_rest


class LazyGroup(click.Group):
    """Finds commands by module name, so that `--help` stays quick and adding a command touches one file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            module.name.replace("_", "-")
            for module in pkgutil.iter_modules(commands.__path__)
            if not module.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"sketchmark.commands.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command


@click.group(
    cls=LazyGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda token: token.replace("_", "-"),
        "max_content_width": 110,
    },
)
@click.version_option(__version__, prog_name="sketchmark")
def root() -> None:
    """Does drawing help a multimodal model think?

    \b
    First run, no key, no weights, no network:
      sketchmark run --model player/sketcher --tasks maze,sliding \\
          --mode direct,visual_cot --limit 50
    Look at it:
      sketchmark view runs

    \b
    A mode is a way to play a task: direct, visual_cot (draw, look, continue)
    or text_cot (describe instead of drawing). A canvas is what the model is
    shown of its drawing: own, blank, other, oracle, corrupt, caption or
    source. A cell is one task in one mode on one canvas; an episode is one
    sample played in a cell.

    \b
    Options may be spelled with dashes or underscores. Shell completion, for
    bash (zsh and fish likewise):
      eval "$(_SKETCHMARK_COMPLETE=bash_source sketchmark)"
    """


def _in_words(error: OSError) -> str:
    what = f"{error.filename or 'input or output'}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the disk is full: {what}; what is done is kept: free space and run the same command"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{what}; what is done is kept: make it accessible, or use another folder"
    return what


def main(arguments: list[str] | None = None) -> Any:
    """Errors meant for the user are one line and an exit code; only a bug shows a traceback."""
    signals = Signals()
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
    except OSError as error:  # a full disk, a folder that may not be written: nothing a traceback would help with
        tell(f"sketchmark: {_in_words(error)}", err=True)
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
