"""Loading BAGEL from the user's own checkout of the official repository. Nothing of that code is ours.

Importing the checkout runs it: the user named the folder. torch and accelerate are imported here, from the user's
environment, and only when a model is really loaded.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Protocol

from sketchmark.errors import BadInput, MissingExtra

WEIGHTS = ("llm_config.json", "vit_config.json", "ae.safetensors", "ema.safetensors")
TOGETHER = (
    "language_model.model.embed_tokens",
    "time_embedder",
    "latent_pos_embed",
    "vae2llm",
    "llm2vae",
    "connector",
    "vit_pos_embed",
)
"""Modules whose outputs are added without a transfer between them: they must share a device."""


class Inferencer(Protocol):
    """What we use of the checkout's InterleaveInferencer."""

    tokenizer: Any

    def interleave_inference(self, input_lists: list[Any], **settings: Any) -> list[Any]: ...


def check(code: Path, weights: Path) -> None:
    """Before minutes of loading: are both folders what they are said to be?"""
    if not (code / "inferencer.py").is_file():
        raise BadInput(f"code={code} is no BAGEL checkout: inferencer.py is missing", "clone the official repository")
    missing = [name for name in WEIGHTS if not (weights / name).is_file()]
    if missing:
        raise BadInput(f"pretrained={weights} lacks {', '.join(missing)}", "download ByteDance-Seed/BAGEL-7B-MoT")


def load(code: Path, weights: Path) -> Inferencer:
    if str(code) not in sys.path:
        sys.path.insert(0, str(code))
    try:
        accelerate = importlib.import_module("accelerate")
        bagel = importlib.import_module("modeling.bagel")
        load_ae = importlib.import_module("modeling.autoencoder").load_ae
        tokenizer_class = importlib.import_module("modeling.qwen2").Qwen2Tokenizer
        transform = importlib.import_module("data.transforms").ImageTransform
        add_special_tokens = importlib.import_module("data.data_utils").add_special_tokens
        inferencer_class = importlib.import_module("inferencer").InterleaveInferencer
    except ModuleNotFoundError as error:
        if error.name in ("torch", "accelerate"):
            raise MissingExtra("BAGEL from a checkout", "local") from error
        raise BadInput(f"the BAGEL checkout needs a module that is missing: {error.name}") from error
    vae, vae_config = load_ae(local_path=str(weights / "ae.safetensors"))
    model = _model(accelerate, bagel, weights, vae_config)
    tokenizer, new_token_ids, _ = add_special_tokens(tokenizer_class.from_pretrained(str(weights)))
    inferencer: Inferencer = inferencer_class(
        model=model,
        vae_model=vae.to("cuda").eval(),  # where the checkout decodes latents
        tokenizer=tokenizer,
        vae_transform=transform(1024, 512, 16),
        vit_transform=transform(980, 224, 14),
        new_token_ids=new_token_ids,
    )
    return inferencer


def _model(accelerate: Any, bagel: Any, weights: Path, vae_config: Any) -> Any:
    llm_config = bagel.Qwen2Config.from_json_file(str(weights / "llm_config.json"))
    llm_config.qk_norm = True
    llm_config.tie_word_embeddings = False
    llm_config.layer_module = "Qwen2MoTDecoderLayer"
    vit_config = bagel.SiglipVisionConfig.from_json_file(str(weights / "vit_config.json"))
    vit_config.rope = False
    vit_config.num_hidden_layers -= 1
    config = bagel.BagelConfig(
        visual_gen=True,
        visual_und=True,
        llm_config=llm_config,
        vit_config=vit_config,
        vae_config=vae_config,
        vit_max_num_patch_per_side=70,
        connector_act="gelu_pytorch_tanh",
        latent_patch_size=2,
        max_latent_size=64,
    )
    with accelerate.init_empty_weights():
        empty = bagel.Bagel(bagel.Qwen2ForCausalLM(llm_config), bagel.SiglipVisionModel(vit_config), config)
        empty.vit_model.vision_model.embeddings.convert_conv2d_to_linear(vit_config, meta=True)
    placed = accelerate.infer_auto_device_map(empty, no_split_module_classes=["Bagel", "Qwen2MoTDecoderLayer"])
    if "disk" in placed.values():
        raise BadInput("BAGEL does not fit into this machine's memory", "it takes about 30 GB in bfloat16")
    return accelerate.load_checkpoint_and_dispatch(
        empty,
        checkpoint=str(weights / "ema.safetensors"),
        device_map=_keep_together(placed),
        dtype="bfloat16",
        force_hooks=True,
    ).eval()


def _keep_together(placed: dict[str, Any]) -> dict[str, Any]:
    home = _device_of(TOGETHER[0], placed)
    return placed | {name: home for name in TOGETHER if _device_of(name, placed) != home}


def _device_of(module: str, placed: dict[str, Any]) -> Any:
    """A device map names whole subtrees; a module sits where its nearest named ancestor does."""
    while module and module not in placed:
        module = module.rpartition(".")[0]
    return placed.get(module)
