"""`sketchmark list`: what there is."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("what", type=click.Choice(["tasks", "models", "worlds"]))
@click.option("--include", multiple=True, type=click.Path(path_type=Path), help="Tasks or models of your own.")
@click.option("--trust-code", is_flag=True, help="Run Python found inside --include folders.")
def command(what: str, include: tuple[Path, ...], trust_code: bool) -> int:
    """List tasks, models or worlds."""
    from rich.table import Table

    from sketchmark.catalog import ALIASES, Catalog
    from sketchmark.terminal.console import console
    from sketchmark.worlds import every_world

    catalog = Catalog(include, trust_code)
    table = Table(box=None, pad_edge=False)
    if what == "tasks":
        for name in ("task", "modes", "about"):
            table.add_column(name, overflow="fold" if name == "about" else "ellipsis", no_wrap=name != "about")
        for name in catalog.task_names():
            task = catalog.summary(name)
            table.add_row(name, ", ".join(task["modes"]), task["about"])
        for name in catalog.group_names():
            table.add_row(name, "(group)", ", ".join(catalog.group_members(name)))
    elif what == "models":
        table.add_column("model", no_wrap=True)
        table.add_column("what it is")
        for name in catalog.model_names():
            alias = ALIASES.get(name)
            table.add_row(name, f"the same as {alias.provider}" if alias else _MODELS.get(name, "a plug-in"))
    else:
        table.add_column("world", no_wrap=True)
        table.add_column("what you see and may do")
        for world in every_world():
            table.add_row(world.name, _first_lines(world.about))
    console().print(table)
    return 0


_MODELS = {
    "player": "scripted players: player/random, player/solver, player/sketcher, player/flawed (no key, no weights)",
    "openai": "openai/NAME: OpenAI and any compatible server (base_url=…)",
    "azure": "azure/DEPLOYMENT: Azure OpenAI",
    "gemini": "gemini/NAME: Google Gemini, native text and image output",
    "anthropic": "anthropic/NAME: reads pictures, does not draw",
    "bagel": "BAGEL: base_url=… to a vLLM-Omni server, or code=…,pretrained=… for local weights",
    "hf": "hf/PATH_OR_ID: any transformers image-text-to-text model",
    "janus": "janus/PATH_OR_ID: transformers' Janus, says and draws",
}


def _first_lines(about: str) -> str:
    """A world's own docstring is its page: its first paragraph and the next."""
    return " ".join(" ".join(about.split("\n\n")[:2]).split())
