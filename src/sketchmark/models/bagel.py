"""`bagel` (alias `bagel_visual_cot`): BAGEL-7B-MoT, one model that reads and draws, run in one of two ways.

  base_url=URL               a vLLM-Omni server; a drawing is conditioned on one picture only
  code=PATH,pretrained=PATH  the official checkout and weights on this machine; the whole context, one call at a time

`mode=understanding` reads only; `mode=generation` (the default) reads and draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.models.arguments import Arguments, Value
from sketchmark.models.base import Model

NUMBERS = (
    "cfg_text_scale",
    "cfg_img_scale",
    "cfg_interval",
    "cfg_renorm_min",
    "timestep_shift",
    "text_temperature",
)
WHOLES = ("num_timesteps", "max_think_tokens", "height", "width")
WORDS = ("cfg_renorm_type", "negative_prompt")
FLAGS = ("think", "do_sample")
SETTINGS = (*NUMBERS, *WHOLES, *WORDS, *FLAGS)
OTHER_SPELLINGS = {"num_inference_steps": "num_timesteps", "max_think_token_n": "max_think_tokens"}


def make(name: str, **model_args: Value) -> Model:
    """`name` is what `pretrained=` says: the weights' folder, or the model's name on the server."""
    if model_args.get("base_url"):
        from sketchmark.models.bagel_server import BagelServer

        return BagelServer(name, **model_args)
    if model_args.get("code"):
        from sketchmark.models.bagel_code import BagelCode

        return BagelCode(name, **model_args)
    raise BadInput(
        "bagel needs to know how to run the model",
        "base_url=http://HOST:PORT/v1 of a vLLM-Omni server, or code=CHECKOUT,pretrained=WEIGHTS",
    )


class Settings:
    """BAGEL's generation settings. A task's YAML proposes them (`Options.extra`); what the user names wins."""

    def __init__(self, args: Arguments) -> None:
        found: dict[str, Any] = {name: args.number(name) for name in NUMBERS}
        found |= {name: args.whole(name, 0) or None for name in WHOLES}
        found |= {name: args.text(name) for name in WORDS}
        found |= {name: args.flag(name, False) if args.text(name) else None for name in FLAGS}
        self.given = {name: value for name, value in found.items() if value is not None}

    def with_task(self, extra: Mapping[str, Any]) -> dict[str, Any]:
        proposed = {OTHER_SPELLINGS.get(name, name): value for name, value in extra.items()}
        chosen = {name: proposed[name] for name in SETTINGS if name in proposed} | self.given
        if isinstance(chosen.get("cfg_interval"), int | float):
            # The model wants a pair; published task files write its lower end alone.
            chosen["cfg_interval"] = [float(chosen["cfg_interval"]), 1.0]
        return chosen
