"""`sketchmark list`: what there is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sketchmark.commands._include import include_option
from sketchmark.terminal import notice

if TYPE_CHECKING:
    from sketchmark.catalog import Catalog


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

    catalog = Catalog(include, trust_code, notice)
    if what == "tasks":
        print_tasks(find_tasks(catalog, words), as_json=as_json)
    else:
        print_about(find_about(_models(catalog) if what == "models" else _worlds(), what, words), as_json=as_json)
    return 0


def _models(catalog: Catalog) -> dict[str, str]:
    from sketchmark.catalog import ALIASES

    return {
        name: f"the same as {ALIASES[name].provider}" if name in ALIASES else _MODELS.get(name, "a plug-in")
        for name in catalog.model_names()
    }


_MODELS = {
    "player": "player/NAME: random, solver, sketcher, flawed, patient",
    "openai": "openai/NAME: OpenAI or a compatible server (base_url=…)",
    "azure": "azure/DEPLOYMENT: Azure OpenAI",
    "gemini": "gemini/NAME: Google Gemini, native text and image output",
    "anthropic": "anthropic/NAME: reads pictures, does not draw",
    "bagel": "BAGEL: base_url=… (vLLM-Omni) or code=…,pretrained=…",
    "hf": "hf/PATH_OR_ID: any transformers image-text-to-text model",
    "janus": "janus/PATH_OR_ID: transformers' Janus, says and draws",
    "emu3": "emu3/PATH_OR_ID: transformers' Emu3, says and draws",
}


def _worlds() -> dict[str, str]:
    """A world's own docstring is its page: its first paragraph and the next."""
    from sketchmark.worlds import every_world

    return {world.name: " ".join(" ".join(world.about.split("\n\n")[:2]).split()) for world in every_world()}
