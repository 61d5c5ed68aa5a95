"""Commands that show or convert a run: `card`, `export`, `plot`, `report`, `view`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sketchmark.commands.options import RUN, open_address, output_option
from sketchmark.terminal import tell, tell_all


@click.command("card")
@click.argument("run", type=RUN)
@output_option("Write there instead of printing.", folder=False)
def card_command(run: Path, output_path: Path | None) -> None:
    """Print a reproduction card of RUN in Markdown: the model and its version as the server reports it, protocol,
    prompts by digest, what was left out, scoring, failures, cost, versions, and the command that repeats it. A run of
    people also gets what a study of human baselines must report.

    \b
    sketchmark card runs/my-run --output_path CARD.md
    """
    from sketchmark.folder import RunFolder
    from sketchmark.human.group import people_section
    from sketchmark.report.card import card

    folder = RunFolder.open(run)
    where = str(run) if output_path is None else os.path.relpath(run, output_path.parent)
    people = people_section(folder)
    text = card(folder, where) + (f"\n{people}" if people else "")
    if output_path is None:
        tell_all(text)
        return
    output_path.write_text(text, "utf-8")
    tell(f"written to {output_path}")


@click.command("export")
@click.argument("run", type=RUN)
@click.option("--to", "to", required=True, help="csv, lmms-eval, inspect, wandb (offline) or hf.")
@output_option("A new or empty folder [default: RUN-FORMAT].")
def export_command(run: Path, to: str, output_path: Path | None) -> None:
    """Write RUN in another tool's format."""
    from sketchmark.export import export
    from sketchmark.folder import RunFolder

    for path in export(RunFolder.open(run), to, output_path):
        tell(path)


@click.command("plot")
@click.argument("runs", nargs=-1, required=True, type=RUN)
@output_option("FILE.pdf, FILE.svg or FILE.png.", folder=False, required=True)
@click.option("--kind", default="gain", show_default=True, help="gain, scores, difficulty, strip or leaderboard.")
@click.option("--task", default="", help="Only this task [default: all].")
@click.option("--sample", default="", help="Episode of a strip [default: the first that drawing helped].")
@click.option("--width", default="", help="column (3.25 in), page (6.875 in) or inches [default: by kind].")
def plot_command(runs: tuple[Path, ...], output_path: Path, kind: str, task: str, sample: str, width: str) -> None:
    """Draw a figure of RUNS for a paper, with its numbers as CSV next to it.

    \b
    sketchmark plot runs/a runs/b --out gain.pdf
    sketchmark plot runs/a --kind scores --out scores.svg
    """
    from sketchmark.plots.figures import figure, opened

    for path in figure(list(opened(runs)), kind, task=task, sample=sample, width=width).save(output_path):
        tell(path)


@click.command("report")
@click.argument("run", type=RUN)
def report_command(run: Path) -> None:
    """Write RUN/report.html, one self-contained file to send to a colleague."""
    from sketchmark.folder import RunFolder
    from sketchmark.report import write_report

    tell(write_report(RunFolder.open(run)))


@click.command("view")
@click.argument("folder", default=".", type=RUN)
@click.option("--port", default=0, show_default=True, help="0 takes any free port.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option(
    "--export",
    "site",
    type=click.Path(path_type=Path),
    help="Write the viewer there as static files, for a web server or a paper's supplement, and do not serve.",
)
def view_command(folder: Path, port: int, no_browser: bool, site: Path | None) -> None:
    """Show the runs in FOLDER (a run, or a folder of runs) in the browser, also while they are running."""
    if site is not None:
        from sketchmark.view.site import estimate, export

        tell(f"about {estimate(folder).in_words()} to {site}")
        tell(f"written: {export(folder, site).in_words()}; open {site / 'index.html'} from any web server")
        return
    from sketchmark.view import serve

    def ready(address: str) -> None:
        tell(f"Looking at {folder} on {address}  (Ctrl-C to stop)")
        open_address(address, no_browser)

    serve(folder, port, ready)
