"""`sketchmark compare`: what drawing changed, and how one run differs from another."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.terminal import tell, tell_all


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN ...]", type=click.Path(path_type=Path))
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
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write there instead of printing.")
def command(
    runs: tuple[Path, ...], metric: str, power: float | None, published: bool, anyway: bool, form: str,
    output: Path | None,
) -> None:  # fmt: skip
    """Compare modes and canvases within a run, and further runs with the first, on the same samples.

    Differences run from the first to the second: positive means that drawing, or the later run, is better.
    Published figures are shown and marked; `differs`, `compatible` or `too few to tell` weighs both uncertainties.
    """
    from sketchmark.comparison import compare
    from sketchmark.comparison.formats import FORMATS

    text = FORMATS[form](compare(runs, metric=metric, power=power, anyway=anyway, published=published))
    if output:
        output.write_text(text, "utf-8")
        tell(f"written to {output}")
    else:
        tell_all(text)
