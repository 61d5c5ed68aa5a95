"""`sketchmark show TASK`: its prompts, its protocol, and one rendered sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sketchmark.commands._include import include_option
from sketchmark.commands._output import output_option
from sketchmark.terminal import notice, tell, tell_all
from sketchmark.terminal.tables import tell_wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sketchmark.parts import Content, Sample
    from sketchmark.sounds import Sound
    from sketchmark.task import Task


@click.command()
@click.argument("task")
@click.option("--mode", default="", help="Only this mode.")
@click.option("--prompts", default="", help="A prompt set of the task.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--data", type=click.Path(path_type=Path), envvar="SKETCHMARK_DATA", help="Where the task's data is on disk."
)
@output_option("Write the sample's pictures into this folder.", "--save")
@include_option("Tasks of your own.")
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
def command(
    task: str, mode: str, prompts: str, seed: int, data: Path | None, output_path: Path | None,
    include: tuple[Path, ...], trust_code: bool,
) -> int:  # fmt: skip
    """Show what TASK, which may be a file of questions, asks, exactly as a model would get it."""
    from sketchmark.catalog import Catalog
    from sketchmark.errors import DataMissing
    from sketchmark.task import TaskOptions

    catalog = Catalog(include, trust_code, notice)
    pick = catalog.pick(task)[0]
    found = catalog.task(pick.task, TaskOptions(prompts=prompts))
    tell(found.name, bold=True)
    tell_wrapped(found.about)
    tell_wrapped(f"headline score: {found.headline}    prompt sets: {', '.join(sorted(found.prompt_sets))}")
    try:
        sample = next(found.samples(seed=seed, data=data, limit=1), None)
    except DataMissing as error:
        tell(f"(no sample: {error})")
        sample = None
    for name in [mode or pick.mode] if mode or pick.mode else found.modes:
        _show_mode(found, str(name), sample)
    if sample and output_path:
        _save(sample, output_path)
    return 0


def _show_mode(task: Task, name: str, sample: Sample | None) -> None:
    mode = task.mode(name)
    in_words = ", each drawing put into words" if mode.in_words else ""
    tell()
    tell(f"── {name}: protocol {mode.protocol_name}{in_words}", bold=True)
    tell_wrapped(f"generation: {_plain(mode.saying.key())}")
    tell_wrapped(f"drawing: {_plain(mode.drawing.key())}")
    if sample is None:
        for key, value in mode.prompts.items():
            tell_all(f"[{key}] {value}")
        return
    prompts = mode.fill(sample, "truth")
    tell(f"sample {sample.id}:")
    for part in prompts.parts():
        tell_all(_in_short(part))
    for key in mode.prompts:
        if key not in ("inputs", "prompt") and "@" not in key and isinstance(mode.prompts[key], str):
            tell_all(f"  {key}: {prompts.text(key)}")


def _in_short(part: Content) -> str:
    from sketchmark.picture import Picture

    if isinstance(part, str):
        return _indent(part)
    if isinstance(part, Picture):
        return f"  [picture {part.size[0]}x{part.size[1]}]"
    return f"  [sound, {part.format}, {len(part.data):,} bytes]"


def _plain(options: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in options.items() if value not in (None, {}))


def _indent(text: str) -> str:
    return "\n".join(f"  │ {line}" for line in text.splitlines())


def _save(sample: Sample, folder: Path) -> None:
    from sketchmark.files.names import file_name
    from sketchmark.picture import Picture

    folder.mkdir(parents=True, exist_ok=True)
    pictures = {name: [one] if isinstance(one, Picture) else one for name, one in sample.pictures.items()}
    shown: list[tuple[str, Sequence[Picture | Sound]]] = [*pictures.items(), *sample.sounds.items()]
    for name, several in shown:
        for number, one in enumerate(several):
            path = folder / f"{file_name(name)}{number or ''}.{one.format}"
            path.write_bytes(one.data)
            tell(f"wrote {path}")
