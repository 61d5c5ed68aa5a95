"""`sketchmark compare`: what drawing changed, and how one run differs from another."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.commands._output import output_option
from sketchmark.errors import BadInput
from sketchmark.terminal import tell, tell_all


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="FOLDER | RUN [RUN ...]", type=click.Path(path_type=Path))
@click.option("--metric", default="", help="Compare this score instead of each task's headline.")
@click.option("--power", type=float, metavar="GAIN", help="How many samples would show a gain of this size (0.05).")
@click.option("--published", is_flag=True, help="Beside each score, what others published for the same task.")
@click.option("--anyway", is_flag=True, help="Compare although prompts, scoring or data differ.")
@click.option(
    "--format",
    "form",
    default="table",
    show_default=True,
    type=click.Choice(["table", "md", "csv", "latex", "json"]),
    help="csv and json hold all digits.",
)
@click.option("--prices", type=click.Path(path_type=Path, exists=True), help="A price table or run file, for costs.")
@output_option("Write there instead of printing.", folder=False)
def command(
    runs: tuple[Path, ...], metric: str, power: float | None, published: bool, anyway: bool, form: str,
    prices: Path | None, output_path: Path | None,
) -> None:  # fmt: skip
    """Compare modes and canvases within a run, and further runs with the first, on the same samples; or print the
    leaderboard of a folder of runs.

    \b
      sketchmark compare runs/a runs/b
      sketchmark compare runs --format latex --output_path board.tex

    Differences run from the first to the second: positive means that drawing, or the later run, is better.
    Published figures are shown and marked; `differs`, `compatible` or `too few to tell` weighs both uncertainties.
    """
    from sketchmark.comparison import compare
    from sketchmark.comparison.formats import FORMATS
    from sketchmark.comparison.leaderboard import is_shelf

    if len(runs) == 1 and is_shelf(runs[0]):
        if power is not None or anyway or published:
            raise BadInput(
                "--power, --anyway and --published are for comparing runs",
                f"name them: sketchmark compare {runs[0]}/…",
            )
        text = _leaderboard(runs[0], metric, prices, form)
    elif prices is not None:
        raise BadInput("--prices is for the leaderboard of a folder of runs", "name the folder they are in")
    else:
        text = FORMATS[form](compare(runs, metric=metric, power=power, anyway=anyway, published=published))
    if output_path:
        output_path.write_text(text, "utf-8")
        tell(f"written to {output_path}")
    else:
        tell_all(text)


def _leaderboard(folder: Path, metric: str, prices: Path | None, form: str) -> str:
    from sketchmark.comparison.board_formats import BOARD_FORMATS
    from sketchmark.comparison.leaderboard import leaderboard
    from sketchmark.models.prices import price_of

    known = (lambda model: price_of(prices, model)) if prices else (lambda model: None)
    return BOARD_FORMATS[form](leaderboard(folder, metric=metric, prices=known))
