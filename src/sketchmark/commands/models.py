"""`sketchmark doctor` and `sketchmark serve`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import click

from sketchmark.catalog import Catalog
from sketchmark.commands.options import include_option
from sketchmark.doctor import CHECKS, examine
from sketchmark.doctor.checks import Calls, Check, Examination
from sketchmark.engines import run_async
from sketchmark.episode.model import Model
from sketchmark.errors import BadInput
from sketchmark.models import paired
from sketchmark.models.arguments import refuse_misspelt, structured
from sketchmark.models.wrappers import price_of
from sketchmark.settings import pair_name, parse_arguments
from sketchmark.terminal import notice, tell, tell_all
from sketchmark.terminal.tables import wrapped

_VERDICT, _CHECK = 10, 34
F = TypeVar("F", bound=Callable[..., Any])


def _drawer_options(command: F) -> F:
    command = click.option("--drawer-args", default="", help="Its arguments: key=value,key=value.")(command)
    return click.option("--drawer", default="", help="As in `run`: a second model, which makes the drawings.")(
        command
    )


def _made(include: tuple[Path, ...], model: str, model_args: str, drawer: str, drawer_args: str) -> Model:
    """Make the model, or the pair of it and its drawer."""
    catalog = Catalog(include, notify=notice)
    known = catalog.understood(model, parse_arguments(model_args), drawer, parse_arguments(drawer_args))
    if known.drawer_args and not known.drawer:
        raise BadInput("--drawer-args without a drawer", "add --drawer MODEL")
    draws = catalog.model(known.drawer, known.drawer_args) if known.drawer else None
    return paired(catalog.model(known.model, known.model_args), draws)


def in_lines(found: Examination, width: int) -> Iterator[str]:
    yield f"{found.model}: {'all well' if found.is_healthy else 'not all is well'}"
    for note in found.notes:
        yield from wrapped(note, width)
    yield ""
    for finding in found.findings:
        head = f"{finding.verdict:<{_VERDICT}}{finding.check:<{_CHECK}}"
        yield from wrapped(finding.seen, width, head)
        if finding.means:
            yield from wrapped(finding.means, width, f"{'':<{_VERDICT}}→ ")
    yield ""
    for mode, state in found.modes.items():
        yield from wrapped(state, width, f"{mode:<{_VERDICT + 2}}")
    yield ""
    for act, calls in (("says", found.says), ("draws", found.draws)):
        if calls.calls:
            yield f"{act:<11} {_took(calls)}"
    if found.cost is not None:
        yield f"{'cost':<11} {found.cost:.4f}"


def _took(calls: Calls) -> str:
    return (
        f"{calls.calls} calls, {calls.seconds:.2f} s median, {calls.tokens_in:,} tokens in, {calls.tokens_out:,} out"
    )


def _unsent(settings: Collection[str], model: Model) -> Iterator[str]:
    """Name each setting that neither kind of call passes on."""
    received = [names for act in ("say", "draw") if (names := model.receives(act)) is not None]
    if received and (unknown := [name for name in settings if not any(name in names for names in received)]):
        yield f"--gen_kwargs {', '.join(unknown)}: {model.name} does not receive {'them' if unknown[1:] else 'it'}"


@click.command("doctor")
@click.option("--model", "-m", required=True, help="As in `run`: provider/name or an alias.")
@click.option("--model-args", default="", help="Its arguments: key=value,key=value.")
@_drawer_options
@include_option("A Python file with a model of yours.")
@click.option("--gen-kwargs", default="", help="As in `run`: settings of every call (num_inference_steps=8).")
@click.option("--prices", type=click.Path(path_type=Path, exists=True), help="YAML price table, for what it cost.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def doctor_command(
    model: str,
    model_args: str,
    drawer: str,
    drawer_args: str,
    include: tuple[Path, ...],
    gen_kwargs: str,
    prices: Path | None,
    as_json: bool,
) -> int:
    """Examine a MODEL by some twenty small calls, each checked by our own readers.

    \b
    Does it see all pictures, in order? Does its drawing follow the prompt, and
    what it said before? Does an edit keep the rest? Are size, seed and limits
    kept to, or dropped without a word? What that means for the modes is
    below each finding.
      sketchmark doctor --model openai/NAME \\
          --model-args base_url=http://127.0.0.1:8000/v1
      sketchmark doctor --model player/patient
    Exit code: 0 when all that the model says it can do works, 1 when something
    does not, 2 when the model cannot be reached.
    """

    price = price_of(prices, pair_name(model, drawer)) if prices else None
    patient = _made(include, model, model_args, drawer, drawer_args)
    settings = structured(parse_arguments(gen_kwargs))
    if own := [name for name in ("max_new_tokens", "temperature", "seed") if name in settings]:
        raise BadInput(f"--gen-kwargs {', '.join(own)}: the doctor's calls have their own")
    refuse_misspelt(settings)
    for line in _unsent(settings, patient):
        notice(line)
    done = count(1)

    def told(finding: Check) -> None:
        tell(f"{next(done)}/{len(CHECKS)} {finding.check}: {finding.verdict}", err=True)

    async def look() -> Examination:
        try:
            return await examine(patient, price, told, settings)
        finally:
            await patient.close()

    found = run_async(look())
    if as_json:
        tell_all(json.dumps({**asdict(found), "healthy": found.is_healthy}, indent=1, ensure_ascii=False))
    else:
        from sketchmark.terminal.console import columns

        for line in in_lines(found, columns()):
            tell(line)
    return 0 if found.is_healthy else 1


def _key(name: str | None) -> str | None:
    """Return the key in an environment variable, which is kept out of all output from then on."""
    from sketchmark.secrets import remember

    key = remember(os.environ.get(name, "")) if name else None
    if name and not key:
        raise BadInput(f"--key-env: the environment has no {name}", f"export {name}=...")
    return key


@click.command("serve")
@click.option("--model", required=True, help="The model to serve, as in `run`: player/solver, hf/PATH...")
@click.option("--model-args", default="", help="Its arguments: key=value,key=value.")
@_drawer_options
@include_option("A Python file with a model of yours.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address only with --key-env.")
@click.option("--port", default=8000, show_default=True, help="0 takes any free port.")
@click.option("--latency", default="", help="Wait before each answer: 50ms, 1.5s.")
@click.option("--fail", default="", help="Faults and their chances: 429:0.1,500:0.05,reset:0.02.")
@click.option(
    "--silent",
    default="",
    help="Faults without an error: ignores_prompt, ignores_history, first_picture, drops_settings, wrong_size, "
    "stretches.",
)
@click.option("--batch", default="complete", show_default=True, help="How batch jobs end, in turn.")
@click.option("--seed", default=0, show_default=True, help="Decides which requests fail.")
@click.option("--key-env", default=None, help="Require the bearer token in this environment variable.")
def serve_command(
    model: str,
    model_args: str,
    drawer: str,
    drawer_args: str,
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
    from sketchmark.serve import serve
    from sketchmark.serve.batches import parse_fates
    from sketchmark.serve.faults import Faults, Silent, parse_silent

    unheard = parse_silent(silent)
    faults = Faults.parse(fail, latency, seed)
    fates = parse_fates(batch)
    key = _key(key_env)
    served = Silent(_made(include, model, model_args, drawer, drawer_args), unheard)

    def ready(url: str) -> None:
        tell(f"Serving {pair_name(model, drawer)} at {url}")

    asyncio.run(serve(served, host=host, port=port, ready=ready, faults=faults, key=key, fates=fates))


@click.command("rewards")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address only with --key-env.")
@click.option("--port", default=8436, show_default=True, help="0 takes any free port.")
@click.option("--processes", default=0, type=click.IntRange(0, 512), help="Processes that score; 0: one per core.")
@click.option("--key-env", default=None, help="Require the key in this environment variable.")
def rewards_command(host: str, port: int, processes: int, key_env: str | None) -> None:
    """Serve the rewards of generated worlds: drawn frames in, numbers out, as JSON."""
    from sketchmark.training.server import serve_rewards

    key = _key(key_env)

    def ready(url: str) -> None:
        tell(f"Rewards at {url}/score  (Ctrl-C stops)")

    run_async(serve_rewards(host=host, port=port, key=key, processes=processes, ready=ready))
