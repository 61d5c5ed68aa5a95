"""Declaration of a provider: what general code needs to know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sketchmark.episode.model import Model

Factory = Callable[..., Model]
"""A model's class or a function that makes it, called with (name, **model_args)."""


@dataclass(frozen=True)
class Provider:
    """The variable `PROVIDER` of a built-in provider's module, or an entry point of a package."""

    make: Factory
    about: str = "a plug-in"
    """Its line in `sketchmark list models`."""

    addresses: tuple[str, ...] = ()
    """Arguments that name its server. Each may name several (`base_url=a|b`); then it also takes `max_retries`."""

    variables: tuple[str, ...] = ()
    """Environment variables that its key is read from. A run file may name no others (`api_key_env`)."""

    batches: bool = False
    """It takes `batch_size`."""

    hears: bool = False
    """It sends sounds to models that take them."""

    families: tuple[str, ...] = ()
    """First letters of its models' names, to suggest it for a name without a provider."""

    by_world: bool = False
    """Its models act in the known worlds: `make` takes these after the name."""
