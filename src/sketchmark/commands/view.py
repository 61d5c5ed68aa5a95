"""`sketchmark view`: look at runs in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from sketchmark.terminal import tell


@click.command("view")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option("--port", default=0, show_default=True, help="0 takes any free port.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(folder: Path, port: int, no_browser: bool) -> None:
    """Look at the runs in FOLDER (a run, or a folder of runs), also while they are being played."""
    from sketchmark.view.running import serve

    def ready(address: str) -> None:
        tell(f"Looking at {folder} on {address}  (Ctrl-C to stop)")
        if not no_browser:
            _open(address)

    serve(folder, port, ready)


def _open(address: str) -> None:
    """Over ssh or in a container no window can open: there, the opener of Linux only tells what it has not found."""
    windows = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if not sys.platform.startswith("linux") or any(os.environ.get(name) for name in windows):
        click.launch(address)
