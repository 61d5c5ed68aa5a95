"""Tiny models with random weights, of transformers' real classes, and contexts as concurrent episodes bring them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from sketchmark import Context, Part
from sketchmark.episode.sample import of
from sketchmark.media import Picture


def painted(colour: str, size: tuple[int, int] = (40, 30)) -> Picture:
    return Picture.from_image(Image.new("RGB", size, colour))


RED, BLUE, GREEN = painted("red"), painted("blue", (30, 60)), painted("green", (64, 64))

MIXED: list[Context] = [
    of("What is between ", RED, " and ", BLUE, "?"),
    of("Hi"),
    of(GREEN, "A much longer question about a thing that is green and has four corners, I believe."),
    of("A question without any picture."),
    of(RED, BLUE, GREEN, BLUE, "Which one is odd?"),
    Context((Part("Plan."), Part(RED), Part("I go up.", "model"), Part(BLUE, "model"), Part("And now?"))),
    of("?", BLUE),
]
SPECIAL = ("<pad>", "<s>", "</s>", "<image>", "<boi>", "<eoi>", "<fake_token_around_image>", "<end_of_utterance>")
SIDE = 28
"""Pixels of a picture's side as the models see it."""
IN_ORDER = (
    "<s>{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
PICTURES_FIRST = (
    "{% for message in messages %}{% for part in message['content'] %}{% if part['type'] == 'image' %}<image>"
    "{% endif %}{% endfor %}{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}"
    "{% endif %}{% endfor %}{% endfor %}"
)
TEXT = {
    "model_type": "llama", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 16384, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": SIDE}
CLIP = {**VISION, "model_type": "clip_vision_model", "intermediate_size": 64, "patch_size": 14, "projection_dim": 32}


def _tokenizer(**more: Any) -> Any:
    """One token a printable character, so that different answers look different, and the special ones."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    # The byte-level form writes the space and the new line as these two letters.
    vocabulary = [*SPECIAL, *map(chr, range(33, 127)), "Ġ", "Ċ"]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(vocabulary)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", **more
    )


def _lively(model: Any) -> Any:
    """Random weights as usual are so small that every answer is the same letter: larger ones let the input matter."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and "vqmodel" not in name:
                weight.mul_(6.0)
    return model


def make_text(folder: Path) -> Path:
    """A model without images: a checkpoint for a blind baseline."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(5)
    template = (
        "<s>{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
        "{% if enable_thinking is defined and not enable_thinking %}quick {% endif %}assistant: "
    )
    tokenizer = _tokenizer(chat_template=template)
    tokenizer.save_pretrained(folder)
    # bitsandbytes packs 64 weights together
    config: Any = {**TEXT, "hidden_size": 64, "vocab_size": len(tokenizer)}
    del config["model_type"]
    _lively(LlamaForCausalLM(LlamaConfig(**config))).save_pretrained(folder)
    return folder


def make_processor(folder: Path, kind: Any, images: Any) -> None:
    kind(images, _tokenizer(), patch_size=14, chat_template=IN_ORDER).save_pretrained(folder)


def make_llava(folder: Path, template: str | None = IN_ORDER) -> Path:
    import torch
    from transformers import CLIPImageProcessorPil, LlavaConfig, LlavaForConditionalGeneration, LlavaProcessor

    torch.manual_seed(1)
    tokenizer = _tokenizer()
    size = {"height": SIDE, "width": SIDE}
    images = CLIPImageProcessorPil(size=size, do_center_crop=False, do_convert_rgb=True, crop_size=SIDE)
    whole: Any = {"vision_feature_select_strategy": "full"}
    LlavaProcessor(
        images, tokenizer, patch_size=14, num_additional_image_tokens=1, chat_template=template, **whole
    ).save_pretrained(folder)
    config = LlavaConfig(
        text_config={**TEXT, "vocab_size": len(tokenizer)},
        vision_config=CLIP,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=5,
        **whole,
    )
    _lively(LlavaForConditionalGeneration(config)).save_pretrained(folder)
    return folder


def make_idefics3(folder: Path) -> Path:
    import torch
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessorPil,
        Idefics3Processor,
    )

    torch.manual_seed(14)
    tokenizer = _tokenizer()
    images = Idefics3ImageProcessorPil(
        size={"longest_edge": 2 * SIDE}, max_image_size={"longest_edge": SIDE}, do_image_splitting=True
    )
    Idefics3Processor(images, tokenizer, image_seq_len=1, chat_template=IN_ORDER).save_pretrained(folder)
    config = Idefics3Config(
        text_config={**TEXT, "vocab_size": len(tokenizer)},
        vision_config={**VISION, "intermediate_size": 64, "patch_size": 14},
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        scale_factor=2,
    )
    _lively(Idefics3ForConditionalGeneration(config)).save_pretrained(folder)
    return folder


def make_janus(folder: Path) -> Path:
    import torch
    from transformers import JanusConfig, JanusForConditionalGeneration, JanusImageProcessorPil, JanusProcessor

    torch.manual_seed(14)
    ends = {"image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>"}
    tokenizer = _tokenizer(extra_special_tokens=ends)
    patches = (SIDE // 7) ** 2
    images = JanusImageProcessorPil(size={"height": SIDE, "width": SIDE})
    JanusProcessor(images, tokenizer, chat_template=IN_ORDER, num_image_tokens=patches).save_pretrained(folder)
    config = JanusConfig(
        text_config={**TEXT, "vocab_size": len(tokenizer)},
        vision_config={
            **VISION, "patch_size": 7, "projection_dim": 32, "mlp_ratio": 2.0, "num_image_tokens": patches,
        },
        vq_config={
            "embed_dim": 8, "num_embeddings": 64, "latent_channels": 32, "base_channels": 32,
            "channel_multiplier": [1, 1, 1], "num_res_blocks": 1, "projection_dim": 32, "image_token_embed_dim": 32,
        },
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        tie_word_embeddings=False,
    )  # fmt: skip
    model = _lively(JanusForConditionalGeneration(config))
    # A configuration marked as derived loses its custom entries when it is read back.
    model.generation_config._from_model_config = False
    model.generation_config.generation_kwargs = {"boi_token_id": tokenizer.convert_tokens_to_ids("<boi>")}
    model.save_pretrained(folder)
    return folder


def make_emu3(folder: Path) -> Path:
    """Write a model with sixteen colours for codes, and a decoder that makes one code eight pixels wide and high."""
    import torch
    from transformers import Emu3Config, Emu3ForConditionalGeneration, Emu3ImageProcessor, Emu3Processor

    torch.manual_seed(15)
    ends = {"boi_token": "<boi>", "eoi_token": "<eoi>", "image_token": "<image>"}
    ends |= {"image_wrapper_token": "<|image token|>", "eof_token": "<|extra_201|>"}
    tokenizer = _tokenizer(extra_special_tokens=ends)
    codes = [f"<|visual token {code:06d}|>" for code in range(16)]
    tokenizer.add_tokens(["<|extra_200|>", *codes], special_tokens=True)
    images = Emu3ImageProcessor(min_pixels=256, max_pixels=1024)
    Emu3Processor(images, tokenizer, chat_template=IN_ORDER).save_pretrained(folder)
    config = Emu3Config(
        text_config={**TEXT, "vocab_size": len(tokenizer), "model_type": "emu3_text_model"},
        vq_config={
            "codebook_size": 16, "embed_dim": 4, "base_channels": 32, "channel_multiplier": [1, 1, 1, 1],
            "num_res_blocks": 1, "hidden_size": 32, "attn_resolutions": [],
        },
        vocabulary_map=tokenizer.get_vocab(),
    )  # fmt: skip
    _lively(Emu3ForConditionalGeneration(config)).save_pretrained(folder)
    return folder


def make_chameleon(folder: Path) -> Path:
    """Write a model without a chat template, whose images are four of sixteen codes."""
    import torch
    from transformers import (
        ChameleonConfig,
        ChameleonForConditionalGeneration,
        ChameleonImageProcessorPil,
        ChameleonProcessor,
    )

    torch.manual_seed(16)
    marks = {"image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>"}
    tokenizer = _tokenizer(sep_token="<end_of_utterance>", extra_special_tokens=marks)
    letters = str.maketrans("0123456789", "ABCDEFGHIJ")
    tokenizer.add_tokens([f"IMGIMG{str(code).translate(letters)}Z" for code in range(16)], special_tokens=True)
    images = ChameleonImageProcessorPil(size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16})
    ChameleonProcessor(images, tokenizer, image_seq_length=4).save_pretrained(folder)
    text = {key: value for key, value in TEXT.items() if key != "model_type"}
    config = ChameleonConfig(
        **text, vocab_size=len(tokenizer), vocabulary_map=tokenizer.get_vocab(),
        vq_config={
            "embed_dim": 4, "num_embeddings": 16, "latent_channels": 4, "resolution": 16, "base_channels": 32,
            "channel_multiplier": [1, 1, 1, 1], "num_res_blocks": 1, "attn_type": "vanilla",
        },
    )  # fmt: skip
    _lively(ChameleonForConditionalGeneration(config)).save_pretrained(folder)
    return folder
