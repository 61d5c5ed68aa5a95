"""Reading `--model_args`: each value by name and kind, and a clear refusal of any name nobody asked for.

The generation settings that some model knows, and names that are nearly one of them.

A setting that a model does not know is meant for another one and is left out; a misspelt one would be left out of
all, and nobody would see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.secrets import redacted

Value = str | int | float | bool


class Arguments:
    """What the user gave a model. Values may come as text (command line) or typed (Python); both read the same.

    The known names are those that were asked for, so the error for a misspelt one can never list stale names.
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
            return float(value)
        except ValueError:
            raise self._bad(name, value, "a number") from None

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

    def refuse_unknown(self) -> None:
        """Call after the last value was read: a silently ignored setting is a wrong result nobody sees."""
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
    *("aspect_ratio", "image_size"),  # Gemini
    *("cfg_text_scale", "cfg_img_scale", "cfg_interval", "cfg_renorm_min", "cfg_renorm_type", "timestep_shift"),
    *("num_timesteps", "num_inference_steps", "max_think_tokens", "max_think_token_n", "think", "negative_prompt"),
    *("text_temperature", "do_sample"),  # BAGEL
    *("until", "num_beams"),  # lmms-eval's task files
)
"""By who knows them."""

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
    """A name that nobody here knows may be meant for a model of one's own, unless it is nearly a known one."""
    for name, value in settings.items():
        if not name:
            raise BadInput(f"--gen_kwargs: a setting without a name: {value!r}", "write key=value,key=value")
        low = name.lower()
        close = [_ELSEWHERE[low]] if low in _ELSEWHERE else get_close_matches(low, KNOWN, n=1, cutoff=0.8)
        if close and name not in KNOWN:
            raise BadInput(f"--gen_kwargs: no generation setting is named {name}", f"did you mean {close[0]}?")
        whole = name in _WHOLE
        if (whole or name in _NUMBERS) and not _is_number(value, whole):
            raise BadInput(f"--gen_kwargs: {name} is {value!r}, and no {'whole ' * whole}number")
        if name == "max_new_tokens" and value < 1:
            raise BadInput(f"--gen_kwargs: {name} is {value}", "it must be at least 1")


def unknown(settings: Mapping[str, Any]) -> list[str]:
    """Names that are told to models of one's own alone."""
    return [name for name in settings if name not in KNOWN]


def _is_number(value: Any, whole: bool) -> bool:
    return isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
