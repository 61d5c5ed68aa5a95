"""`sketchmark voila`: make, check and count visual analogies."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import click

from sketchmark.benchmarks.voila.results_file import write_results
from sketchmark.catalog import Catalog
from sketchmark.commands import voila_score as _voila_score
from sketchmark.commands.options import NAMES, OutputPath, output_option
from sketchmark.episode.model import Abilities, Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput
from sketchmark.report import report_run
from sketchmark.runs import prepare
from sketchmark.terminal import show_progress, tell, tell_all

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


@click.command("infer", short_help="Run VOILA's steps and write the results file.")
@click.option("--model_name", required=True, help="A Sketchmark model (openai/gpt-6-luna), or a hub id or path.")
@click.option(
    "--dataset_name", default="nlylmz/VOILA", show_default=True, help="On the hub, or a folder with CSV and pictures."
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True),
    help="A VOILA CSV file, or a folder with one, and its images next to it: as for `sketchmark run`.",
)
@click.option(
    "--csv",
    "--csv_file_name",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Questions from a VOILA CSV file.",
)
@click.option(
    "--images",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The CSV's images [default: Test_Images next to it].",
)
@click.option("--distraction", required=True, type=click.Choice(["yes", "no"]), help="VOILA-WD or VOILA-ND.")
@output_option("The results file.", folder=False, default="results.json", show_default=True)
@click.option("--max_new_tokens", default=3048, show_default=True, type=click.IntRange(1))
@click.option("--temperature", default=0.5, show_default=True, type=click.FloatRange(0))
@click.option("--device_map", default="auto", show_default=True, help="For hub models.")
@click.option("--model_args", default="", help="key=value,… for the model.")
@click.option("--draw", is_flag=True, help="Also step 4, if the model draws. The original stops after step 3.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N questions.")
@click.option("--concurrency", default=16, show_default=True, type=click.IntRange(1), help="Questions at once.")
@click.option("--fresh", is_flag=True, help="Discard the earlier run and start over.")
@click.option("--quiet", is_flag=True, help="No progress.")
def infer_command(distraction: str, model_args: str, **options: Any) -> int:
    """Run VOILA's steps and write the results file, as the original's inference_test.py does.

    The run folder is kept next to the file (results.json.run). The same command again resumes where it stopped and
    reruns failed questions.

    \b
      sketchmark voila infer --model_name openai/gpt-6-luna --distraction yes
      sketchmark voila infer --model_name player/solver --csv voila.csv \\
          --distraction no --draw
    """
    from sketchmark.settings import parse_arguments

    if options["quiet"]:
        show_progress(False)
    asked = Inference(distraction=distraction == "yes", model_args=parse_arguments(model_args), **options)
    path, failed = infer(asked)
    tell(f"results: {path}")
    tell(f"run:     {asked.run_folder}")
    if failed:
        named = ", ".join(map(str, failed[:10])) + (", …" if len(failed) > 10 else "")
        tell(
            f"sketchmark: {len(failed)} questions failed and are not in the results ({named}); "
            "the same command reruns them",
            err=True,
        )
    return 1 if failed else 0


HUB = "nlylmz/VOILA"
MODE = "stepwise"


@dataclass(frozen=True)
class Inference:
    """Arguments of the command. Sampling with temperature 0.5 and 3048 tokens are the published defaults
    (docs/benchmarks/voila.md, "Inference settings")."""

    model_name: str
    distraction: bool
    output_path: Path
    dataset_name: str = HUB
    data: Path | None = None
    csv: Path | None = None
    images: Path | None = None
    max_new_tokens: int = 3048
    temperature: float = 0.5
    device_map: str = "auto"
    model_args: dict[str, Any] | None = None
    draw: bool = False
    limit: int | None = None
    concurrency: int = 16
    fresh: bool = False
    quiet: bool = False

    @property
    def run_folder(self) -> Path:
        return self.output_path.with_name(f"{self.output_path.name}.run")


class _WithoutDrawing(Model):
    """The published script stops after step 3, also for models that could draw."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.name)
        self._model = model

    @property
    def abilities(self) -> Abilities:
        can = self._model.abilities
        return Abilities(say=can.say, draw=False, max_pictures=can.max_pictures)

    def identity(self) -> dict[str, Any]:
        """Return a name that shows whether it draws, so that `--draw` on a run without drawings is noticed."""
        return {**self._model.identity(), "draws": False}

    async def say(self, context: Context, options: Options) -> Reply:
        return await self._model.say(context, options)


def infer(asked: Inference) -> tuple[Path, list[int]]:
    """Run, and write the results file. Return it and the questions that failed; the same call reruns those."""
    name, arguments = _model(asked)
    prepared = prepare(
        name,
        "voila_wd" if asked.distraction else "voila_nd",
        mode=MODE,
        limit=asked.limit,
        data=_data(asked),
        model_args=arguments,
        gen_kwargs={"max_new_tokens": asked.max_new_tokens, "temperature": asked.temperature},
        concurrency=asked.concurrency,
        retry_failed=True,
        fresh=asked.fresh,
        output_path=asked.run_folder,
        quiet=asked.quiet,
    )
    if not asked.draw:
        prepared = replace(prepared, model=_WithoutDrawing(prepared.model))
    folder = prepared.play(report_run)
    episodes = folder.played(prepared.cells[0].name)
    return asked.output_path, write_results(episodes, folder.pictures, asked.output_path)


def _model(asked: Inference) -> tuple[str, dict[str, Any]]:
    """A Sketchmark name as it is; anything else is a transformers model, as in the original."""
    provider = asked.model_name.partition("/")[0]
    known = provider in Catalog().model_names()
    name = asked.model_name if known else f"hf/{asked.model_name}"
    arguments = dict(asked.model_args or {})
    if name.startswith("hf/"):
        arguments.setdefault("device_map", asked.device_map)
    return name, arguments


def _data(asked: Inference) -> Path | None:
    """Return the place of the questions. A link brings a CSV and a folder of images into the published layout."""
    if asked.data is not None:
        if asked.csv or asked.images or asked.dataset_name != HUB:
            raise BadInput("--data says where the questions are", "leave out --csv, --images and --dataset_name")
        return asked.data
    if asked.csv is None:
        if asked.images is not None:
            raise BadInput("--images goes with --csv")
        if asked.dataset_name == HUB:
            return None
        if not Path(asked.dataset_name).exists():
            raise BadInput(
                f"no dataset {asked.dataset_name!r}", f"{HUB} on the hub, a folder on disk, or --csv and --images"
            )
        return Path(asked.dataset_name)
    if asked.images is None:
        return asked.csv
    inner = asked.images / "Test_Images"
    pictures = (inner if inner.is_dir() else asked.images).resolve()
    layout = asked.run_folder / "data"
    layout.mkdir(parents=True, exist_ok=True)
    table, link = layout / f"questions{asked.csv.suffix}", layout / "Test_Images"
    table.write_bytes(asked.csv.read_bytes())
    if link.is_symlink():
        link.unlink()
    link.symlink_to(pictures, target_is_directory=True)
    return table


voila_command.add_command(infer_command)
