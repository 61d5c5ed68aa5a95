"""Model arguments (`--model_args`) and the names of generation settings (`--gen_kwargs`).

A model ignores generation settings that it does not know, because they may be meant for another model; a run names
them (`Model.receives`). A misspelt name would be ignored by all models, so names close to a known one are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.secrets import redacted

Value = str | int | float | bool


class Arguments:
    """Arguments that the user gave a model, as text (command line) or typed (Python).

    The known names are those that were read, so the error for a misspelt one cannot list stale names.
    """

    def __init__(self, owner: str, given: Mapping[str, Value]) -> None:
        self._owner = owner
        self._given = dict(given)
        self._known: set[str] = set()

    def text(self, name: str) -> str | None:
        self._known.add(name)
        value = self._given.get(name)
        return None if value is None or value == "" else str(value)

    def number(self, name: str) -> float | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self._bad(name, value, "a number")
        return number

    def above_zero(self, name: str) -> float | None:
        value = self.number(name)
        if value is not None and not value > 0:
            raise self._bad(name, value, "a number above 0")
        return value

    def chance(self, name: str, default: float) -> float:
        value = self.number(name)
        if value is None:
            return default
        if not 0 <= value <= 1:
            raise self._bad(name, value, "a chance from 0 to 1")
        return value

    def whole(self, name: str, default: int, least: int = 0) -> int:
        value = self.number(name)
        if value is None:
            return default
        if value != int(value) or value < least:
            raise self._bad(name, value, f"a whole number from {least}")
        return int(value)

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name)
        if value is None:
            return default
        if value.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise self._bad(name, value, "true or false")
        return value.lower() in ("true", "1", "yes")

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        value = self.text(name)
        if value is not None and value not in choices:
            raise self._bad(name, value, " or ".join(choices))
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """Read an object: a mapping in Python, JSON or YAML on the command line. Empty if it is not given."""
        import yaml

        self._known.add(name)
        value: Any = self._given.get(name)
        if isinstance(value, str) and value:
            try:
                value = yaml.safe_load(value)
            except (yaml.YAMLError, ValueError):
                raise self._bad(name, value, 'an object such as {"enable_thinking": false}') from None
        if value is None or value == "":
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise self._bad(name, value, 'an object such as {"enable_thinking": false}')
        return dict(value)

    def refuse_unknown(self) -> None:
        """Refuse names that were not read. Call it last: an ignored setting would give a wrong result unnoticed."""
        unknown = sorted(set(self._given) - self._known)
        if unknown:
            raise BadInput(
                f"{self._owner} takes no argument {', '.join(unknown)}", f"it takes: {', '.join(sorted(self._known))}"
            )

    def _bad(self, name: str, value: Value, wanted: str) -> BadInput:
        return BadInput(f"{self._owner}: {name}={redacted(value)} is not {wanted}")


KNOWN = (
    *("max_new_tokens", "temperature", "seed"),  # every model
    *("top_p", "top_k", "min_p", "repetition_penalty", "no_repeat_ngram_size"),  # local weights
    *("frequency_penalty", "presence_penalty", "stop", "reasoning_effort", "response_format"),  # chat endpoints
    *("size", "quality", "background", "input_fidelity", "output_format", "width", "height"),  # image endpoints
    *("aspect_ratio", "image_size"),  # aspect of a drawing
    *("cfg_text_scale", "cfg_img_scale", "cfg_interval", "cfg_renorm_min", "cfg_renorm_type", "timestep_shift"),
    *("num_timesteps", "num_inference_steps", "max_think_tokens", "max_think_token_n", "think", "negative_prompt"),
    *("text_temperature", "do_sample"),  # diffusion
    *("guidance_scale", "true_cfg_scale", "strength", "flow_shift", "layers", "resolution", "lora"),  # vLLM-Omni
    *("repeat_penalty", "typical_p", "length_penalty", "min_tokens"),  # servers of open models
    *("stop_token_ids", "bad_words", "logit_bias", "ignore_eos"),
    *("until", "num_beams"),  # lmms-eval's task files
)
"""Names that some model knows, by kind of model."""

_ELSEWHERE = {
    **dict.fromkeys(
        ("max_tokens", "max_gen_toks", "max_completion_tokens", "max_output_tokens", "max_length"), "max_new_tokens"
    ),
    "temp": "temperature",
}
_WHOLE = ("max_new_tokens", "seed", "top_k", "no_repeat_ngram_size", "width", "height", "num_beams")
_NUMBERS = (
    *("temperature", "text_temperature", "top_p", "min_p"),
    *("repetition_penalty", "frequency_penalty", "presence_penalty"),
)


def refuse_misspelt(settings: Mapping[str, Any]) -> None:
    """Refuse names close to a known one. Other unknown names may be meant for the user's own model."""
    for name, value in settings.items():
        if not name:
            raise BadInput(f"--gen_kwargs: a setting without a name: {value!r}", "write key=value,key=value")
        low = name.lower()
        close = [_ELSEWHERE[low]] if low in _ELSEWHERE else get_close_matches(low, KNOWN, n=1, cutoff=0.8)
        if close and name not in KNOWN:
            raise BadInput(f"--gen_kwargs: no generation setting is named {name}", f"did you mean {close[0]}?")
        whole = name in _WHOLE
        kinds = int if whole else (int, float)
        if (whole or name in _NUMBERS) and (isinstance(value, bool) or not isinstance(value, kinds)):
            raise BadInput(f"--gen_kwargs: {name} is {value!r}, and no {'whole ' * whole}number")
        if name == "max_new_tokens" and value < 1:
            raise BadInput(f"--gen_kwargs: {name} is {value}", "it must be at least 1")


_STRUCTURED = ("stop", "until", "stop_token_ids", "bad_words", "logit_bias", "response_format", "lora")
"""Settings that may be a list or an object, and are text on the command line: `stop=["a", "b"]`."""


def structured(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Read lists and objects that were given as text. Any other text stays as it is."""
    import yaml

    found = dict(settings)
    for name in _STRUCTURED:
        value = found.get(name)
        if isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                read = yaml.safe_load(value)
            except (yaml.YAMLError, ValueError):
                continue
            found[name] = read if isinstance(read, list | dict) else value
    return found


def stop_words(extra: Mapping[str, Any]) -> list[str]:
    """Return the texts at which a reply ends: `stop`, and lmms-eval's name for it, `until`."""
    given = (extra.get(name) or () for name in ("stop", "until"))
    texts = [one for value in given for one in ([value] if isinstance(value, str) else value)]
    return list(dict.fromkeys(str(one) for one in texts if one))
