"""`sketchmark list`: what there is."""

from __future__ import annotations

from pathlib import Path

import click

from sketchmark.commands._include import include_option
from sketchmark.terminal import notice


@click.command()
@click.argument("what", type=click.Choice(["tasks", "models", "worlds"]))
@click.argument("words", nargs=-1, metavar="[WORD ...]")
@click.option("--json", "as_json", is_flag=True, help="All that is known of them, as JSON.")
@include_option("Tasks or models of your own.")
@click.option("--trust-code", is_flag=True, help="Run Python that a task in an --include folder names.")
def command(what: str, words: tuple[str, ...], as_json: bool, include: tuple[Path, ...], trust_code: bool) -> int:
    """List tasks, models or worlds; with a WORD those that hold it in their name or fit it as a pattern.

    \b
      sketchmark list tasks
      sketchmark list tasks maze
      sketchmark list tasks 'uni_mmmu*' --json
    """
    from sketchmark.catalog import Catalog
    from sketchmark.commands._lists import find_about, find_tasks, print_about, print_tasks
    from sketchmark.models import registry

    catalog = Catalog(include, trust_code, notice)
    if what == "tasks":
        print_tasks(find_tasks(catalog, words), as_json=as_json)
    elif what == "models":
        models = {name: registry.about(name) for name in catalog.model_names()}
        print_about(find_about(models, what, words), as_json=as_json)
    else:
        print_about(find_about(_worlds(), what, words), as_json=as_json)
    return 0


def _worlds() -> dict[str, str]:
    """A world's own docstring is its page: its first paragraph and the next."""
    from sketchmark.worlds import every_world

    return {world.name: " ".join(" ".join(world.about.split("\n\n")[:2]).split()) for world in every_world()}
