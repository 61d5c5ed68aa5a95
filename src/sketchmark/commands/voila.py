"""`sketchmark voila`: make, check and count visual analogies."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import ClassVar, Literal

import click

from sketchmark.commands import voila_infer as _voila_infer
from sketchmark.commands import voila_score as _voila_score
from sketchmark.commands.options import NAMES, OutputPath
from sketchmark.terminal import tell, tell_all

_YES_NO = click.Choice(["yes", "no"])


class _OldNames(click.Group):
    """The commands, also by the names of the original's scripts, with or without `.py`."""

    _SCRIPTS: ClassVar = {"create-dataset": "make", "inference-test": "infer", "score-model-results": "score"}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = cmd_name.lower().replace("_", "-").removesuffix(".py")
        script, _, dataset = name.partition("-voila-")
        script = "score-model-results" if script == "score-model-result" else script
        found = super().get_command(ctx, self._SCRIPTS.get(script, name))
        return _of_dataset(found, dataset) if found and dataset in ("wd", "nd") else found


def _of_dataset(command: click.Command, dataset: str) -> click.Command:
    """Return the command of a script that has its dataset in its name."""
    made = copy.copy(command)
    made.params = [copy.copy(param) for param in command.params]
    for param in made.params:
        if param.name == "distraction":
            param.required, param.default = False, "yes" if dataset == "wd" else "no"
    return made


@click.group("voila", cls=_OldNames)
def voila_command() -> None:
    """VOILA: make, check and count analogies; run and score them.

    The original's scripts are understood by their names, with all their arguments: create_dataset,
    inference_test_VOILA_WD, inference_test_VOILA_ND, score_model_result.
    """


voila_command.add_command(_voila_infer.command)
voila_command.add_command(_voila_score.command)


@voila_command.command("make")
@click.option(
    "--csv_output",
    "--csv_file_name",
    *NAMES[:-1],
    "target",
    required=True,
    type=OutputPath(path_type=Path, dir_okay=False),
    help="Where to write: the ending .csv, .jsonl or .parquet chooses the format.",
)
@click.option(
    "--dataset",
    required=True,
    type=click.Choice(["training", "testing"]),
    help="Training sets have a fourth picture and nine pictures per scene.",
)
@click.option("--distraction", required=True, type=_YES_NO, help="All 19 structures, or the 7 without distraction.")
@click.option("--count", required=True, type=click.IntRange(min=1), help="How many questions in all.")
@click.option("--collage", required=True, type=_YES_NO, help="Also join the three pictures of each question in one.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Same seed, same set.")
@click.option(
    "--images",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with Train_Images and Test_Images; without it the built-in pictures are drawn.",
)
@click.option(
    "--columns",
    default="released",
    show_default=True,
    type=click.Choice(["released", "generator"]),
    help="Column names of the released files, or of the published generator.",
)
@click.option("--balance", is_flag=True, help="Use every value equally often, instead of drawing uniformly.")
@click.option(
    "--pictures",
    default="yes",
    show_default=True,
    type=_YES_NO,
    help="'no' writes only the table and draws no built-in images.",
)
def make_command(
    target: Path,
    dataset: Literal["training", "testing"],
    distraction: str,
    count: int,
    collage: str,
    seed: int,
    images: Path | None,
    columns: Literal["released", "generator"],
    balance: bool,
    pictures: str,
) -> None:
    """Make a set of analogies, with pictures."""
    from sketchmark.worlds.voila.make import SetOrder, make

    order = SetOrder(
        count=count,
        dataset=dataset,
        distraction=distraction == "yes",
        collage=collage == "yes",
        seed=seed,
        columns=columns,
        balance=balance,
        images=images,
        pictures=pictures == "yes",
    )
    tell(f"{make(target, order)} questions in {target}")


@voila_command.command("check", short_help="Verify a VOILA file against the rules.")
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_context
def check_command(context: click.Context, file: Path) -> None:
    """Verify a VOILA file (CSV, JSONL or parquet) against the rules; exit code 1 if anything is wrong."""
    from sketchmark.worlds.voila.sets import check_file

    found = 0
    for violation in check_file(file):
        tell(violation)
        found += 1
    tell(f"{found or 'no'} violation{'' if found == 1 else 's'} in {file}")
    if found:
        context.exit(1)


@voila_command.command("count")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
def count_command(as_json: bool) -> None:
    """Print the size of each structure and of the whole question space."""
    from sketchmark.terminal.tables import Table, print_table, tell_wrapped
    from sketchmark.worlds.voila.questions import space_size, structures
    from sketchmark.worlds.voila.sets import largest_count

    if as_json:
        sizes = {str(structure.id): structure.size for structure in structures(True)}
        totals = {
            name: {"total": space_size(distraction), "largest_count": largest_count(distraction)}
            for name, distraction in (("with_distraction", True), ("without_distraction", False))
        }
        tell_all(json.dumps({"structures": sizes, **totals}, indent=2))
        return
    table = Table("Questions of each structure", ("rule", "n s a", "questions", "without distraction"), texts=2)
    for structure in structures(True):
        mark = "" if structure.has_distraction else "yes"
        table.add(str(structure.id), structure.letters, f"{structure.size:,}", mark)
    print_table(table)
    for label, distraction in (("with distraction", True), ("without distraction", False)):
        tell_wrapped(
            f"{label}: {space_size(distraction):,} questions; "
            f"equal shares without repeats up to --count {largest_count(distraction)}"
        )
