"""`sketchmark view`: look at runs in the browser."""

from __future__ import annotations

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
            click.launch(address)

    serve(folder, port, ready)
