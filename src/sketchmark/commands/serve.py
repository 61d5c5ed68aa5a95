"""`sketchmark serve`: any model behind an OpenAI-compatible server on loopback."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from sketchmark.commands._include import include_option
from sketchmark.errors import BadInput
from sketchmark.terminal import notice, tell


@click.command("serve")
@click.option("--model", required=True, help="The model to serve, as in `run`: player/solver, hf/PATH...")
@click.option("--model-args", default="", help="Its arguments: key=value,key=value.")
@include_option("A Python file with a model of yours.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address only with --key-env.")
@click.option("--port", default=8000, show_default=True, help="0 takes any free port.")
@click.option("--latency", default="", help="Wait before each answer: 50ms, 1.5s.")
@click.option("--fail", default="", help="Faults and their chances: 429:0.1,500:0.05,reset:0.02.")
@click.option(
    "--silent",
    default="",
    help="Faults that nobody is told of: ignores_prompt, ignores_history, first_picture, drops_settings, wrong_size.",
)
@click.option("--batch", default="complete", show_default=True, help="How batch jobs end, in turn.")
@click.option("--seed", default=0, show_default=True, help="Decides which requests fail.")
@click.option("--key-env", default=None, help="Ask for the bearer token that this environment variable holds.")
def command(
    model: str,
    model_args: str,
    include: tuple[Path, ...],
    host: str,
    port: int,
    latency: str,
    fail: str,
    silent: str,
    batch: str,
    seed: int,
    key_env: str | None,
) -> None:
    """Serve MODEL to OpenAI clients on this machine, optionally slow and unreliable on purpose."""
    from sketchmark.catalog import Catalog
    from sketchmark.key_values import parse_arguments
    from sketchmark.models.secrets import remember
    from sketchmark.serve.batches import parse_fates
    from sketchmark.serve.faults import Faults
    from sketchmark.serve.running import serve
    from sketchmark.serve.silent import Silent, parse_silent

    unheard = parse_silent(silent)
    faults = Faults.parse(fail, latency, seed)
    fates = parse_fates(batch)
    key = remember(os.environ.get(key_env, "")) if key_env else None
    if key_env and not key:
        raise BadInput(f"--key-env: the environment has no {key_env}", f"export {key_env}=...")
    served = Silent(Catalog(include, notify=notice).model(model, parse_arguments(model_args)), unheard)

    def ready(url: str) -> None:
        tell(f"Serving {model} at {url}")

    asyncio.run(serve(served, host=host, port=port, ready=ready, faults=faults, key=key, fates=fates))
