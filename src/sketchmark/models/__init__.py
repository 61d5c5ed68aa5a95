"""Models by name: the built-in providers, other names for them, and the models of plug-ins and users' files."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import metadata
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from sketchmark.episode.model import Model
from sketchmark.errors import BadInput, UnknownName
from sketchmark.models.code_drawing import DrawsByCode, taken_from
from sketchmark.secrets import to_write_down

Factory = Callable[..., Model]
"""A model's class or a function that makes it, called with (name, **model_args)."""


@dataclass(frozen=True)
class Provider:
    """A built-in provider. Its module is imported when a model of it is made."""

    factory: str
    """`module:attribute` of its Factory."""

    about: str
    """Its line in `sketchmark list models`."""

    by_address: bool = False
    """The user may give its address, and therefore several (`base_url=a|b`)."""

    batches: bool = False
    """It takes `batch_size`."""


MODELS = {
    "player": Provider("sketchmark.models.players:make", "player/NAME: random, solver, sketcher, flawed, patient"),
    "openai": Provider(
        "sketchmark.models.providers.openai:OpenAI",
        "openai/NAME: OpenAI or a compatible server (base_url=…)",
        by_address=True,
    ),
    "azure": Provider("sketchmark.models.providers.azure:Azure", "azure/DEPLOYMENT: Azure OpenAI", by_address=True),
    "gemini": Provider(
        "sketchmark.models.providers.gemini:Gemini",
        "gemini/NAME: Google Gemini, native text and image output",
        by_address=True,
    ),
    "anthropic": Provider(
        "sketchmark.models.providers.anthropic:Anthropic",
        "anthropic/NAME: reads pictures, does not draw",
        by_address=True,
    ),
    "bagel": Provider(
        "sketchmark.models.providers.bagel:make",
        "BAGEL: base_url=… (vLLM-Omni) or code=…,pretrained=…",
        by_address=True,
    ),
    "hf": Provider(
        "sketchmark.models.providers.hf:TransformersChat",
        "hf/PATH_OR_ID: any transformers image-text-to-text model",
        batches=True,
    ),
    "janus": Provider(
        "sketchmark.models.providers.janus:Janus",
        "janus/PATH_OR_ID: transformers' Janus, says and draws",
        batches=True,
    ),
    "emu3": Provider("sketchmark.models.providers.emu3:Emu3", "emu3/PATH_OR_ID: transformers' Emu3, says and draws"),
}


class Alias(NamedTuple):
    """A name in use elsewhere: our provider, and what that name stands for there unless the user says otherwise."""

    provider: str
    name: str = ""
    arguments: Mapping[str, str] = MappingProxyType({})


ALIASES = {
    "openai_compatible": Alias("openai"),
    "azure_trapi_visual_cot": Alias("azure", "gpt-6-luna", {"image_deployment": "gpt-image-2"}),
    "nano_banana_visual_cot": Alias("gemini", "gemini-3.1-flash-image"),
    "bagel_visual_cot": Alias("bagel"),
    "qwen2_5_vl": Alias("hf"),
    "qwen2_vl": Alias("hf"),
    "llava_onevision": Alias("hf"),
    "internvl": Alias("hf"),
}


class Registry:
    """The models in reach: the built-in ones, those of installed plug-ins, and those that are added."""

    def __init__(self) -> None:
        self._added: dict[str, Factory] = {
            point.name: point.load() for point in metadata.entry_points(group="sketchmark.models")
        }

    def add(self, module: ModuleType) -> None:
        """Add the model classes that the module defines itself, by their names in lower case."""
        self._added |= {
            name.lower(): value
            for name, value in vars(module).items()
            if isinstance(value, type)
            and issubclass(value, Model)
            and value is not Model
            and value.__module__ == module.__name__
        }

    def names(self) -> set[str]:
        return {*MODELS, *ALIASES, *self._added}

    def knows(self, provider: str) -> bool:
        return provider in MODELS or provider in self._added

    def model(
        self, name: str, arguments: Mapping[str, Any] | None = None, hint: Callable[[str], str] | None = None
    ) -> Model:
        """`provider/name` or an alias with `pretrained=`, `model=` or the like among its arguments. `hint` words what
        is said of a provider that is not known."""
        _, _, rest = name.partition("/")
        alias = meant_by(name)
        provider, settings = alias.provider, {**alias.arguments, **(arguments or {})}
        settings.pop("save_intermediate", None)  # asked for elsewhere; here every picture and text is always kept
        by_code = taken_from(settings, name) if "draw_with" in settings else None
        if not self.knows(provider):
            told = hint(provider) if hint else suggestion(provider, sorted(self.names()))
            raise UnknownName(f"no model named {name!r}", told)
        factory = self._added.get(provider) or _imported(MODELS[provider])
        named = (settings.pop(key, "") for key in ("pretrained", "model", "model_version"))
        rest = rest or next((str(value) for value in [*named] if value), "") or alias.name
        try:
            inspect.signature(factory).bind(rest, **settings)
        except TypeError as error:
            raise BadInput(f"model {name!r}: {error}", "check --model_args") from error
        written_down = to_write_down(settings)
        if _has_addresses(provider) and any(
            "|" in str(settings.get(key, "")) for key in ("base_url", "azure_endpoint")
        ):
            from sketchmark.models.replicas import make_several

            model: Model = make_several(name, settings, lambda own: factory(rest, **own))
        else:
            model = factory(rest, **settings)
        model.name = model.name or name
        model.arguments = written_down
        return DrawsByCode(model, by_code) if by_code else model


def meant_by(name: str) -> Alias:
    """The provider in a model's name, with what an alias stands for."""
    provider = name.partition("/")[0]
    return ALIASES.get(provider, Alias(provider))


def takes_batches(name: str) -> bool:
    provider = MODELS.get(meant_by(name).provider)
    return provider is not None and provider.batches


def about(provider: str) -> str:
    """A provider's line in a listing."""
    if provider in ALIASES:
        return f"the same as {ALIASES[provider].provider}"
    return MODELS[provider].about if provider in MODELS else "a plug-in"


def load_model(name: str, arguments: Mapping[str, Any] | None = None) -> Model:
    """A model by name, from the built-in and installed ones."""
    return Registry().model(name, arguments)


def suggestion(name: str, known: Sequence[str]) -> str:
    """The names most like one that is not known."""
    close = get_close_matches(name.lower(), known, n=3)
    return f"did you mean {' or '.join(close)}?" if close else "see `sketchmark list tasks` and `list models`"


def _imported(provider: Provider) -> Factory:
    module, _, attribute = provider.factory.partition(":")
    found: Factory = getattr(importlib.import_module(module), attribute)
    return found


def _has_addresses(provider: str) -> bool:
    return provider in MODELS and MODELS[provider].by_address
