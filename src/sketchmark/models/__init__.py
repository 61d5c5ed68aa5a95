"""Models by name: built-in providers, aliases, models of plug-ins and of users' files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module, metadata
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

from sketchmark.episode.model import Model
from sketchmark.errors import BadInput, UnknownName
from sketchmark.models.code_drawing import DrawsByCode, taken_from
from sketchmark.models.providers import Factory, Provider
from sketchmark.secrets import address_digests, to_write_down
from sketchmark.settings import AND
from sketchmark.worlds import Worlds

_PROVIDERS = "sketchmark.models.providers"
MODELS = {
    "player": "sketchmark.models.players",
    "openai": f"{_PROVIDERS}.openai",
    "azure": f"{_PROVIDERS}.azure",
    "gemini": f"{_PROVIDERS}.gemini",
    "anthropic": f"{_PROVIDERS}.anthropic",
    "bagel": f"{_PROVIDERS}.bagel",
    "hf": f"{_PROVIDERS}.hf",
    "janus": f"{_PROVIDERS}.image_tokens:JANUS",
    "emu3": f"{_PROVIDERS}.image_tokens:EMU3",
    "diffusers": f"{_PROVIDERS}.diffusers",
}
"""Modules of the built-in providers, imported when needed. Each declares itself as `PROVIDER`, or as the variable
after the colon."""


class Alias(NamedTuple):
    """A name used by other tools: our provider, with the model and arguments that the name implies there."""

    provider: str
    name: str = ""
    arguments: Mapping[str, str] = MappingProxyType({})
    drawer: str = ""
    """The drawer, if the name is of a pair."""


_HF = (
    *("qwen2_vl", "qwen2_5_vl", "qwen2_5_vl_interleave", "qwen3_vl", "qwen3_5", "llava_hf", "llava_onevision"),
    *("llava_onevision1_5", "llava_onevision2", "internvl", "internvl2", "internvl3", "internvl3_5", "internvl_hf"),
    *("idefics2", "gemma3", "gemma4", "llama_vision", "llama4_scout", "phi4_multimodal", "glm4v", "mistral3_vl"),
    *("aria", "lfm2_5_vl", "huggingface", "async_hf_model"),
)
ALIASES = {
    "openai_compatible": Alias("openai"),
    **dict.fromkeys(("async_openai", "gpt4v"), Alias("openai")),
    "azure_openai": Alias("azure"),
    "azure_trapi": Alias("azure", "gpt-6-luna"),
    "azure_trapi_visual_cot": Alias("azure", "gpt-6-luna", {"image_deployment": "gpt-image-2"}),
    "gemini_api": Alias("gemini"),
    "nano_banana_visual_cot": Alias("gemini", "gemini-nano-banana-2.1"),
    "claude": Alias("anthropic"),
    **dict.fromkeys(("bagel_visual_cot", "bagel_unig2u", "bagel_umm", "bagel_lmms_engine"), Alias("bagel")),
    "janus_pro": Alias("janus"),
    **dict.fromkeys(_HF, Alias("hf")),
    "qwen_image_edit": Alias("hf", "Qwen/Qwen2.5-VL-7B-Instruct", drawer="diffusers/Qwen/Qwen-Image-Edit"),
}
"""Names of lmms-eval and its forks. With `pretrained=` they run these weights, else the model named here. Each may
end in `_visual_cot`."""


def _alias(name: str) -> Alias | None:
    short = name.removesuffix("_visual_cot")
    return ALIASES.get(name) or ALIASES.get(short) or (Alias(short) if short != name and short in MODELS else None)


_WITHOUT_ADAPTER = (
    *("ovis_u1", "illume_plus", "mmada", "showo2", "omnigen2", "javisgpt", "mammothmoda", "onecat", "star_7b"),
    *("tokenflow", "uae", "unipic2", "univideo", "uniworld", "x_omni", "uni_moe_2_omni", "vora", "ross", "cogvlm2"),
    *("minicpm_o", "minimonkey", "oryx", "vila", "vita", "slime", "tinyllava", "longva", "ola", "phi3v", "neo_ov"),
)
"""Models of lmms-eval and its forks that are neither in transformers nor in diffusers."""

_SERVERS = {
    **dict.fromkeys(("vllm", "vllm_generate"), "vllm serve {}"),
    **dict.fromkeys(("sglang", "srt_api", "llava_sglang"), "sglang serve {}"),
    "litellm": "litellm --model {}",
}
"""Names of lmms-eval that load weights by a server's package -> the command that serves them."""

_OF_ITS_DRAWER = ("num_inference_steps", "guidance_scale")
_OF_ITS_FILES = ("save_generated_images", "generated_image_dir", "intermediate_dir", "output_type", "fail_gracefully")
"""Arguments of lmms-eval's models that go to the drawer of a pair, and those about files: a run folder always keeps
every image and text."""


class Understood(NamedTuple):
    """A model and its drawer by our names, and a line that says how another tool's name was understood."""

    model: str
    model_args: dict[str, Any]
    drawer: str
    drawer_args: dict[str, Any]
    told: str = ""


def understood(
    model: str, model_args: Mapping[str, Any], drawer: str = "", drawer_args: Mapping[str, Any] | None = None
) -> Understood:
    """Resolve another tool's name. A pair gets both our names; a single model keeps its name, and `told` explains
    it."""
    own, drawers, alias = dict(model_args), dict(drawer_args or {}), _alias(model)
    if alias is None:
        return Understood(model, own, drawer, drawers)
    if not alias.drawer:
        weights = next((own[key] for key in _WEIGHTS if own.get(key)), alias.name or "…")
        more = "".join(f", {key}={value}" for key, value in alias.arguments.items() if key not in own)
        return Understood(model, own, drawer, drawers, f"{model} is understood as {alias.provider}/{weights}{more}")
    for name in _OF_ITS_FILES:
        own.pop(name, None)
    edit, think = own.pop("pretrained_edit", ""), own.pop("pretrained_understand", "")
    weights = own.pop("pretrained", "")
    if own.pop("mode", "") == "editing":
        edit, weights = edit or weights, ""
    if "torch_dtype" in own:
        own["dtype"] = own.pop("torch_dtype")
    drawers = {key: own.pop(key) for key in _OF_ITS_DRAWER if key in own} | drawers
    drawers = {key: value for key, value in own.items() if key in ("dtype", "device")} | drawers
    provider, _, by_default = alias.drawer.partition("/")
    thinker, draws = (
        f"{alias.provider}/{think or weights or alias.name}",
        drawer or f"{provider}/{edit or by_default}",
    )
    told = f"{model} is understood as --model {thinker} --drawer {draws}"
    return Understood(thinker, own, draws, drawers, told)


_WEIGHTS = ("pretrained", "model", "model_version")
"""Arguments that name the model, in other tools."""

_OF_DRAWER = "drawer."
"""Prefix of a drawer's arguments among those of its pair."""


class Registry:
    """All known models: built in, of installed plug-ins, and added ones."""

    def __init__(self) -> None:
        self._added: dict[str, Provider] = {
            point.name: _declared(point.load()) for point in metadata.entry_points(group="sketchmark.models")
        }

    def add(self, module: ModuleType) -> None:
        """Add the model classes that the module itself defines, by their lower-case names."""
        self._added |= {
            name.lower(): Provider(value)
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

    def provider(self, name: str) -> Provider | None:
        """Return the provider of a model's name or alias, None if it is unknown."""
        provider = meant_by(name).provider
        if provider in self._added:
            return self._added[provider]
        return _built_in(provider) if provider in MODELS else None

    def model(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        hint: Callable[[str], str] | None = None,
        worlds: Worlds | None = None,
    ) -> Model:
        """Make a model from `provider/name`, or from an alias with `pretrained=`, `model=` or the like.

        `hint` writes the advice for an unknown provider.
        """
        _, _, rest = name.partition("/")
        alias = meant_by(name)
        settings = {**alias.arguments, **(arguments or {})}
        for of_files in ("save_intermediate", *(_OF_ITS_FILES if _alias(name) else ())):
            settings.pop(of_files, None)
        by_code = taken_from(settings, name) if "draw_with" in settings else None
        provider = self.provider(name)
        if provider is None:
            if name.startswith("human/"):
                raise UnknownName(f"{name} is a person", "people answer in the browser: sketchmark play TASK")
            if name.removesuffix("_visual_cot") in _WITHOUT_ADAPTER:
                raise UnknownName(
                    f"{name} has no adapter here: neither transformers nor diffusers have the class of this model",
                    "serve it (openai/NAME with base_url=URL), or add one class with --include",
                )
            if command := _SERVERS.get(name):
                weights = next((str(settings[key]) for key in _WEIGHTS if settings.get(key)), "MODEL")
                raise UnknownName(
                    f"{name} is a server here, not part of this process",
                    f"{command.format(weights)}, then --model openai/{weights} --model-args base_url=URL",
                )
            told = hint(alias.provider) if hint else suggestion(alias.provider, sorted(self.names()))
            raise UnknownName(f"no model named {name!r}", _with_provider(name) or told)
        make = provider.make
        if provider.by_world:
            make = _in_worlds(make, worlds)
        named = (settings.pop(key, "") for key in _WEIGHTS)
        rest = rest or next((str(value) for value in [*named] if value), "") or alias.name
        try:
            inspect.signature(make).bind(rest, **settings)
        except TypeError as error:
            raise BadInput(f"model {name!r}: {error}", "check --model_args") from error
        written_down = to_write_down(settings)
        where = next((key for key in provider.addresses if "|" in str(settings.get(key, ""))), None)
        if where:
            from sketchmark.models.replicas import make_several

            model: Model = make_several(name, where, settings, lambda own: make(rest, **own))
        else:
            model = make(rest, **settings)
        model.name = model.name or name
        model.arguments = written_down | address_digests(settings)
        return DrawsByCode(model, by_code) if by_code else model


def _built_in(name: str) -> Provider:
    module, _, variable = MODELS[name].partition(":")
    return _declared(getattr(import_module(module), variable or "PROVIDER"))


def _declared(found: Provider | Factory) -> Provider:
    return found if isinstance(found, Provider) else Provider(found)


def _in_worlds(make: Factory, worlds: Worlds | None) -> Factory:
    return lambda name, **settings: make(name, worlds, **settings)


def meant_by(name: str) -> Alias:
    """Return the provider in a model's name, with what an alias implies."""
    provider = name.partition("/")[0]
    return _alias(provider) or Alias(provider)


def takes_batches(name: str) -> bool:
    provider = Registry().provider(name)
    return provider is not None and provider.batches


def address_arguments(name: str) -> tuple[str, ...]:
    """Return the arguments that name a model's server, `base_url` for an unknown model, and those of its drawer."""
    model, _, drawer = name.partition(AND)
    provider = Registry().provider(model)
    own = provider.addresses if provider else ("base_url",)
    return (*own, *pair_arguments({}, dict.fromkeys(address_arguments(drawer)))) if drawer else own


def pair_arguments(model: Mapping[str, Any], drawer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model and of its drawer as one mapping."""
    return {**model, **{f"{_OF_DRAWER}{name}": value for name, value in drawer.items()}}


def paired(model: Model, drawer: Model | None = None) -> Model:
    """Join a model and its drawer; without a drawer, return the model."""
    if drawer is None:
        return model
    from sketchmark.models.wrappers import Pair

    return Pair(model, drawer)


def hearing() -> list[str]:
    """Return the built-in providers that send sounds."""
    registry = Registry()
    return [name for name in MODELS if (provider := registry.provider(name)) and provider.hears]


def own_variables(name: str) -> tuple[str, ...]:
    """Return the environment variables that a model's provider reads keys from."""
    provider = Registry().provider(name)
    return provider.variables if provider else ()


def about(names: Iterable[str]) -> dict[str, str]:
    """Return the lines of providers and aliases for `list models`."""
    registry = Registry()
    declared = {name: registry.provider(name) or Provider for name in names}
    return {name: _about(ALIASES[name]) if name in ALIASES else found.about for name, found in declared.items()}


def _about(alias: Alias) -> str:
    drawer = f", with {alias.drawer.partition('/')[0]} as drawer" if alias.drawer else ""
    return f"the same as {alias.provider}{drawer}"


def load_model(name: str, arguments: Mapping[str, Any] | None = None) -> Model:
    """Make a built-in or installed model by name."""
    return Registry().model(name, arguments)


def _with_provider(name: str) -> str:
    """Suggest the provider that has models of such a name; empty if none has."""
    before, _, bare = name.rpartition("/")
    if get_close_matches(before.lower(), MODELS):
        return ""
    for provider in MODELS:
        if bare.lower().startswith(_built_in(provider).families):
            return f"did you mean {provider}/{name}?"
    return ""


def suggestion(name: str, known: Sequence[str]) -> str:
    """Suggest the known names closest to an unknown one."""
    close = get_close_matches(name.lower(), known, n=3)
    return f"did you mean {' or '.join(close)}?" if close else "see `sketchmark list tasks` and `list models`"
