"""Checkpoints with random weights, of the real classes and with all their files, so that real servers load them.

    python -m tests.servers.weights FOLDER [small|middle]
    python -m tests.servers.weights FOLDER edit QWEN25VL
    python -m tests.servers.weights FOLDER bagel

`small` has 1 million parameters, `middle` 67 million. The tokenizer is trained on this repository's pages. `edit` is
a Qwen-Image-Edit-Plus whose text encoder is the Qwen2.5-VL in the other folder; it needs diffusers. `bagel` is a
BAGEL of 86 million parameters, most of them in the decoder, whose size vLLM-Omni fixes; it needs vLLM-Omni.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_PAGES = Path(__file__).resolve().parents[2] / "docs"
_VOCABULARY = 2048
_TOKENS = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
    "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
_TEMPLATE = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}<|im_start|>system\n"
    "You are a helpful assistant.<|im_end|>\n{% endif %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] in ('image', 'image_url') %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SIZES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "small": (
        {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4},
        {"hidden_size": 64, "intermediate_size": 128, "depth": 2, "num_heads": 2},
    ),
    "middle": (
        {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 16},
        {"hidden_size": 384, "intermediate_size": 1536, "depth": 8, "num_heads": 6},
    ),
}


def tokenizer() -> Any:
    """Train a tokenizer of bytes and pairs with the special tokens of Qwen2.5-VL."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY - 48, special_tokens=list(_TOKENS), initial_alphabet=alphabet, show_progress=False
    )
    made.train([str(page) for page in sorted(_PAGES.glob("*.md"))], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=list(_TOKENS[1:]),
        model_max_length=32768,
        chat_template=_TEMPLATE,
    )


def make_qwen25vl(folder: Path, size: str = "small", *, ends: float = 1.0) -> Path:
    """Write a Qwen2.5-VL. A larger `ends` makes the end of a reply more likely at each token."""
    import torch
    from transformers import GenerationConfig, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    words = tokenizer()
    ids = {token: words.convert_tokens_to_ids(token) for token in _TOKENS}
    text, vision = _SIZES[size]
    config = Qwen2_5_VLConfig(
        text_config={
            **text,
            "num_key_value_heads": text["num_attention_heads"] // 2,
            "vocab_size": _VOCABULARY,
            "max_position_embeddings": 32768,
            "rms_norm_eps": 1e-6,
            "bos_token_id": ids["<|endoftext|>"],
            "eos_token_id": ids["<|im_end|>"],
            "tie_word_embeddings": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [4, 6, 6]},
        },
        vision_config={
            **vision,
            "out_hidden_size": text["hidden_size"],
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
            "fullatt_block_indexes": [vision["depth"] - 1],
            "in_chans": 3,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    torch.manual_seed(7)
    model = Qwen2_5_VLForConditionalGeneration(config).to(torch.float32)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                # The usual small weights give every input the same reply.
                weight.copy_(torch.randn_like(weight) * (1.0 if "embed" in name else 0.6 / weight.shape[-1] ** 0.5))
        head = model.lm_head.weight
        head[len(words) :] = 0.0
        for token in _TOKENS:
            head[ids[token]] *= ends if token == "<|im_end|>" else 0.0
    model.generation_config = GenerationConfig(
        bos_token_id=ids["<|endoftext|>"],
        eos_token_id=[ids["<|im_end|>"], ids["<|endoftext|>"]],
        pad_token_id=ids["<|endoftext|>"],
        do_sample=False,
    )
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(_TEMPLATE, "utf-8")
    processor = "Qwen2_5_VLProcessor"
    images = {
        "min_pixels": 3136, "max_pixels": 200704, "patch_size": 14, "temporal_patch_size": 2, "merge_size": 2,
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        "image_processor_type": "Qwen2VLImageProcessor", "processor_class": processor,
    }  # fmt: skip
    (folder / "preprocessor_config.json").write_text(json.dumps(images), "utf-8")
    about = folder / "tokenizer_config.json"
    more = {
        "processor_class": processor,
        "tokenizer_class": "PreTrainedTokenizerFast",
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
    }
    about.write_text(json.dumps({**json.loads(about.read_text("utf-8")), **more}), "utf-8")
    return folder


def make_image_edit(folder: Path, encoder: Path) -> Path:
    """Write a Qwen-Image-Edit-Plus pipeline. Its decoder halves the sides four times instead of three, because the
    pipeline enlarges every image to a megapixel: a drawing then takes seconds on a CPU."""
    import torch
    from diffusers import (
        AutoencoderKLQwenImage,
        FlowMatchEulerDiscreteScheduler,
        QwenImageEditPlusPipeline,
        QwenImageTransformer2DModel,
    )
    from transformers import AutoProcessor, AutoTokenizer, Qwen2_5_VLForConditionalGeneration

    torch.manual_seed(0)
    reader = Qwen2_5_VLForConditionalGeneration.from_pretrained(encoder)
    channels, halvings = 4, 4
    painter = QwenImageTransformer2DModel(
        patch_size=2,
        in_channels=4 * channels,
        out_channels=channels,
        num_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=reader.config.get_text_config().hidden_size,
        axes_dims_rope=(8, 4, 4),
    )
    decoder = AutoencoderKLQwenImage(
        base_dim=2 * channels,
        z_dim=channels,
        dim_mult=[1] * (halvings + 1),
        num_res_blocks=1,
        temperal_downsample=[False] * halvings,
        latents_mean=[0.0] * channels,
        latents_std=[1.0] * channels,
    )
    QwenImageEditPlusPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=decoder,
        text_encoder=reader,
        tokenizer=AutoTokenizer.from_pretrained(encoder),
        processor=AutoProcessor.from_pretrained(encoder),
        transformer=painter,
    ).save_pretrained(folder)
    return folder


_BAGEL_TEXT: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": _VOCABULARY, "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
    "rope_theta": 1e6, "tie_word_embeddings": False, "hidden_act": "silu",
}  # fmt: skip
_BAGEL_VISION: dict[str, Any] = {
    "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "patch_size": 14,
    "image_size": 980, "num_channels": 3, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6,
}  # fmt: skip
_LATENTS, _PATCHES = 64, 70
"""Patches along a side: of a drawing, and of an image that is read."""


def make_bagel(folder: Path) -> Path:
    """Write a BAGEL with the files and tensor names of the official weights."""
    import torch
    from safetensors.torch import save_file
    from transformers import SiglipVisionConfig, SiglipVisionModel
    from vllm_omni.diffusion.models.bagel.autoencoder import AutoEncoder
    from vllm_omni.diffusion.models.bagel.pipeline_bagel import default_ae_params

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    vision = SiglipVisionModel(SiglipVisionConfig(**_BAGEL_VISION, vision_use_head=False)).state_dict()
    tensors = {f"vit_model.vision_model.{name}": one.contiguous() for name, one in vision.items()} | _bagel_tensors()
    save_file(tensors, folder / "ema.safetensors")
    decoder = AutoEncoder(default_ae_params()).to(torch.bfloat16).state_dict()
    save_file({name: one.contiguous() for name, one in decoder.items()}, folder / "ae.safetensors")
    tokenizer().save_pretrained(folder)
    about = {
        "model_type": "bagel", "architectures": ["BagelForConditionalGeneration"], "llm_config": _BAGEL_TEXT,
        "vit_config": _BAGEL_VISION, "vae_config": {"z_channels": 16, "downsample": 8}, "latent_patch_size": 2,
        "max_latent_size": _LATENTS, "vit_max_num_patch_per_side": _PATCHES, "connector_act": "gelu_pytorch_tanh",
    }  # fmt: skip
    side = {"height": 980, "width": 980}
    images = {
        "image_processor_type": "SiglipImageProcessor",
        "size": side,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
    }
    for name, content in (
        ("config", about),
        ("llm_config", {"model_type": "qwen2", **_BAGEL_TEXT}),
        ("vit_config", {"model_type": "siglip_vision_model", **_BAGEL_VISION}),
        ("preprocessor_config", images),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return folder


def _bagel_tensors() -> dict[str, Any]:
    """Return the tensors besides the two image encoders. Each layer has two experts: for text and for drawings."""
    import torch

    found: dict[str, Any] = {}
    wide, inner, heads = (
        int(_BAGEL_TEXT[name]) for name in ("hidden_size", "intermediate_size", "num_attention_heads")
    )
    keys = wide * _BAGEL_TEXT["num_key_value_heads"] // heads

    def linear(name: str, out: int, into: int, *, bias: bool = True) -> None:
        found[f"{name}.weight"] = torch.randn(out, into) * 0.6 / into**0.5
        if bias:
            found[f"{name}.bias"] = torch.zeros(out)

    language = "language_model.model"
    found[f"{language}.embed_tokens.weight"] = torch.randn(_VOCABULARY, wide)
    linear("language_model.lm_head", _VOCABULARY, wide, bias=False)
    for expert in ("", "_moe_gen"):
        found[f"{language}.norm{expert}.weight"] = torch.ones(wide)
        for number in range(_BAGEL_TEXT["num_hidden_layers"]):
            layer = f"{language}.layers.{number}"
            for name, out in (("q", wide), ("k", keys), ("v", keys)):
                linear(f"{layer}.self_attn.{name}_proj{expert}", out, wide)
            linear(f"{layer}.self_attn.o_proj{expert}", wide, wide, bias=False)
            for name, out, into in (("gate", inner, wide), ("up", inner, wide), ("down", wide, inner)):
                linear(f"{layer}.mlp{expert}.{name}_proj", out, into, bias=False)
            for name, size in (("self_attn.q_norm", wide // heads), ("self_attn.k_norm", wide // heads)):
                found[f"{layer}.{name}{expert}.weight"] = torch.ones(size)
            for name in ("input_layernorm", "post_attention_layernorm"):
                found[f"{layer}.{name}{expert}.weight"] = torch.ones(wide)
    for name, out, into in (
        ("time_embedder.mlp.0", wide, 256),
        ("time_embedder.mlp.2", wide, wide),
        ("vae2llm", wide, 64),
        ("llm2vae", 64, wide),
        ("connector.fc1", wide, _BAGEL_VISION["hidden_size"]),
        ("connector.fc2", wide, wide),
    ):
        linear(name, out, into)
    found["latent_pos_embed.pos_embed"] = torch.randn(_LATENTS**2, wide) * 0.02
    found["vit_pos_embed.pos_embed"] = torch.randn(_PATCHES**2, wide) * 0.02
    return found


if __name__ == "__main__":
    out, *rest = sys.argv[1:]
    if rest[:1] == ["edit"]:
        make_image_edit(Path(out), Path(rest[1]))
    elif rest[:1] == ["bagel"]:
        make_bagel(Path(out))
    else:
        make_qwen25vl(Path(out), *rest)
