"""Tiny pipelines with random weights, of diffusers' real classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.local.tiny import CLIP, IN_ORDER, TEXT, _lively, _tokenizer
from tests.servers.weights import make_qwen25vl

SIDE = 32
"""Pixels of a drawing's side."""
BLOCKS = {
    "down_block_types": ("DownEncoderBlock2D",) * 2,
    "up_block_types": ("UpDecoderBlock2D",) * 2,
    "block_out_channels": (8,) * 2,
    "layers_per_block": 1,
    "norm_num_groups": 4,
    "sample_size": SIDE,
}


def _clip() -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel

    tokenizer = _tokenizer()
    config = CLIPTextConfig(
        hidden_size=32, intermediate_size=37, num_hidden_layers=2, num_attention_heads=4, projection_dim=32,
        vocab_size=len(tokenizer), max_position_embeddings=77, bos_token_id=1, eos_token_id=2, pad_token_id=0,
    )  # fmt: skip
    return CLIPTextModel(config).eval()


def _vae(blocks: int = 2) -> Any:
    """Make an encoder that shrinks images by half per block but one."""
    from diffusers import AutoencoderKL

    lists = {name: value[:1] * blocks for name, value in BLOCKS.items() if isinstance(value, tuple)}
    return AutoencoderKL(latent_channels=4, **BLOCKS | lists).eval()


def make_stable_diffusion(folder: Path, *, edits: bool = False, checker: bool = False, black: bool = False) -> Path:
    """InstructPix2Pix (`edits`), or text to image: with a safety checker that objects to everything, or all black."""
    import torch
    from diffusers import (
        DDIMScheduler,
        StableDiffusionInstructPix2PixPipeline,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )

    torch.manual_seed(1)
    unet = UNet2DConditionModel(
        sample_size=SIDE // 2, in_channels=8 if edits else 4, out_channels=4, layers_per_block=1,
        block_out_channels=(8, 16), norm_num_groups=4, cross_attention_dim=32, attention_head_dim=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    safety = _safety() if checker else (None, None)
    vae = _vae()
    if black:
        vae.decoder.conv_out.weight.data.zero_()
        vae.decoder.conv_out.bias.data.fill_(-9.0)
    kind = StableDiffusionInstructPix2PixPipeline if edits else StableDiffusionPipeline
    kind(
        vae=vae, text_encoder=_clip(), tokenizer=_tokenizer(model_max_length=77), unet=unet.eval(),
        scheduler=DDIMScheduler(clip_sample=False, steps_offset=1),
        safety_checker=safety[0], feature_extractor=safety[1], requires_safety_checker=False,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def _safety() -> tuple[Any, Any]:
    """Make a safety checker to which every concept is close enough."""
    from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessorPil

    vision = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 4,
              "image_size": 28, "patch_size": 14, "projection_dim": 32}  # fmt: skip
    checker = StableDiffusionSafetyChecker(CLIPConfig(vision_config=vision, projection_dim=32))
    checker.concept_embeds_weights.data.fill_(-2.0)
    return checker.eval(), CLIPImageProcessorPil(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28})


def make_flux(folder: Path, *, edits: bool = False) -> Path:
    """FLUX.1: Kontext (`edits`), or text to image."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxKontextPipeline, FluxPipeline, FluxTransformer2DModel
    from transformers import T5Config, T5EncoderModel

    torch.manual_seed(2)
    transformer = FluxTransformer2DModel(
        patch_size=1, in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=32, pooled_projection_dim=32, guidance_embeds=edits, axes_dims_rope=(4, 4, 8),
    )  # fmt: skip
    words = _tokenizer(model_max_length=77)
    t5 = T5EncoderModel(T5Config(d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4, vocab_size=len(words)))
    kind = FluxKontextPipeline if edits else FluxPipeline
    kind(
        scheduler=FlowMatchEulerDiscreteScheduler(), vae=_flux_vae(), text_encoder=_clip(), tokenizer=words,
        text_encoder_2=t5.eval(), tokenizer_2=_tokenizer(model_max_length=512),
        transformer=_lively(transformer).eval(),
    ).save_pretrained(folder)  # fmt: skip
    return folder


def _flux_vae(channels: int = 4) -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        latent_channels=channels, use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06,
        scaling_factor=1.5, **BLOCKS,
    ).eval()  # fmt: skip


def make_flux2(folder: Path) -> Path:
    """FLUX.2 klein, which draws from several images."""
    import torch
    from diffusers import (
        AutoencoderKLFlux2,
        FlowMatchEulerDiscreteScheduler,
        Flux2KleinPipeline,
        Flux2Transformer2DModel,
    )
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(3)
    words = _tokenizer(chat_template="{% for message in messages %}{{ message['content'] }}{% endfor %}")
    text = {key: value for key, value in TEXT.items() if key != "model_type"}
    encoder = Qwen3ForCausalLM(Qwen3Config(**text | {"num_hidden_layers": 30, "head_dim": 8}, vocab_size=len(words)))
    transformer = Flux2Transformer2DModel(
        in_channels=16, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=96, timestep_guidance_channels=32, axes_dims_rope=(4, 4, 4, 4), guidance_embeds=False,
    )  # fmt: skip
    Flux2KleinPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(), vae=AutoencoderKLFlux2(latent_channels=4, **BLOCKS).eval(),
        text_encoder=encoder.eval(), tokenizer=words, transformer=_lively(transformer).eval(),
    ).save_pretrained(folder)  # fmt: skip
    return folder


def make_omnigen(folder: Path) -> Path:
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, OmniGenPipeline, OmniGenTransformer2DModel

    torch.manual_seed(4)
    words = _tokenizer()
    transformer = OmniGenTransformer2DModel(
        hidden_size=16, num_attention_heads=4, num_key_value_heads=4, intermediate_size=32, num_layers=1,
        pad_token_id=0, vocab_size=len(words), in_channels=4, time_step_dim=4,
        rope_scaling={"long_factor": [1, 2], "short_factor": [1, 2]},
    )  # fmt: skip
    OmniGenPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(invert_sigmas=True, num_train_timesteps=1),
        transformer=_lively(transformer).eval(), vae=_vae(4), tokenizer=words,
    ).save_pretrained(folder)  # fmt: skip
    return folder


def _qwen(folder: Path) -> dict[str, Any]:
    """Make the tiny Qwen2.5-VL that reads prompts and images in the pipelines below."""
    from transformers import AutoProcessor, AutoTokenizer, Qwen2_5_VLForConditionalGeneration

    make_qwen25vl(folder)
    return {
        "text_encoder": Qwen2_5_VLForConditionalGeneration.from_pretrained(folder).eval(),
        "tokenizer": AutoTokenizer.from_pretrained(folder),
        "processor": AutoProcessor.from_pretrained(folder),
    }


def make_qwen_image_edit(folder: Path) -> Path:
    """Qwen-Image-Edit-Plus (2509, 2511), which draws from several images."""
    import torch
    from diffusers import (
        AutoencoderKLQwenImage,
        FlowMatchEulerDiscreteScheduler,
        QwenImageEditPlusPipeline,
        QwenImageTransformer2DModel,
    )

    reader = _qwen(folder.parent / "reader")
    torch.manual_seed(6)
    channels = 4
    transformer = QwenImageTransformer2DModel(
        patch_size=2, in_channels=4 * channels, out_channels=channels, num_layers=1, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=128, axes_dims_rope=(8, 4, 4),
    )  # fmt: skip
    vae = AutoencoderKLQwenImage(
        base_dim=12, z_dim=channels, dim_mult=[1, 2, 4], num_res_blocks=1, temperal_downsample=[False, True],
        latents_mean=[0.0] * channels, latents_std=[1.0] * channels,
    )  # fmt: skip
    QwenImageEditPlusPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(), vae=vae.eval(), transformer=_lively(transformer).eval(), **reader
    ).save_pretrained(folder)
    return folder


def make_longcat(folder: Path) -> Path:
    """LongCat-Image-Edit."""
    import torch
    from diffusers import (
        FlowMatchEulerDiscreteScheduler,
        LongCatImageEditPipeline,
        LongCatImageTransformer2DModel,
    )

    reader = _qwen(folder.parent / "reader")
    torch.manual_seed(7)
    transformer = LongCatImageTransformer2DModel(
        in_channels=64, num_layers=1, num_single_layers=1, attention_head_dim=16, num_attention_heads=2,
        joint_attention_dim=128, pooled_projection_dim=32, axes_dims_rope=[4, 4, 8],
    )  # fmt: skip
    LongCatImageEditPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(), vae=_flux_vae(16), text_encoder=reader["text_encoder"],
        tokenizer=reader["tokenizer"], text_processor=reader["processor"], transformer=_lively(transformer).eval(),
    ).save_pretrained(folder)  # fmt: skip
    return folder


def make_glm_image(folder: Path) -> Path:
    """GLM-Image: a first model makes tokens of an image from the prompt and images, and a pipeline refines them."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, GlmImagePipeline, GlmImageTransformer2DModel
    from transformers import (
        ByT5Tokenizer,
        GlmImageConfig,
        GlmImageForConditionalGeneration,
        GlmImageImageProcessor,
        GlmImageProcessor,
        T5Config,
        T5EncoderModel,
    )

    torch.manual_seed(8)
    # Tokens of images are the first of the vocabulary: three codes, one that is not generated, start and end.
    codes, start, end = 3, 4, 5
    grid = {"grid_bos_token": "<fake_token_around_image>", "grid_eos_token": "<end_of_utterance>"}
    words = _tokenizer(extra_special_tokens={"image_token": "<image>", **grid}, padding_side="left")
    template = IN_ORDER.replace("<image>", "<boi><image><eoi>")
    text = {key: value for key, value in TEXT.items() if key != "model_type"}
    planner = GlmImageForConditionalGeneration(
        GlmImageConfig(
            text_config=text | {
                "vocab_size": len(words), "vision_vocab_size": end + 1, "eos_token_id": end,
                "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]},
            },
            vision_config={
                "depth": 1, "hidden_size": 32, "num_heads": 4, "intermediate_size": 64, "patch_size": 16,
                "image_size": SIDE,
            },
            vq_config={"embed_dim": 8, "num_embeddings": codes, "latent_channels": 32},
            image_token_id=words.convert_tokens_to_ids("<image>"), image_start_token_id=start, image_end_token_id=end,
        )
    )  # fmt: skip
    planner.generation_config.suppress_tokens = [codes, start, end]  # random weights would end an image early
    planner.generation_config._from_model_config = False
    images = GlmImageImageProcessor(
        patch_size=16, temporal_patch_size=1, merge_size=1, size={"shortest_edge": 32 * 32, "longest_edge": 128 * 128}
    )
    transformer = GlmImageTransformer2DModel(
        in_channels=4, out_channels=4, num_layers=1, attention_head_dim=16, num_attention_heads=2, text_embed_dim=32,
        time_embed_dim=16, condition_dim=8, prior_vq_quantizer_codebook_size=codes,
    )  # fmt: skip
    vae = _vae(4)
    vae.register_to_config(latents_mean=[0.0] * 4, latents_std=[1.0] * 4)
    glyphs = T5EncoderModel(T5Config(d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4, vocab_size=384))
    GlmImagePipeline(
        tokenizer=ByT5Tokenizer(), processor=GlmImageProcessor(images, words, chat_template=template),
        text_encoder=glyphs.eval(), vision_language_encoder=_lively(planner).eval(), vae=vae,
        transformer=_lively(transformer).eval(),
        scheduler=FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, time_shift_type="linear"),
    ).save_pretrained(folder)  # fmt: skip
    return folder


def make_chrono_edit(folder: Path) -> Path:
    """ChronoEdit, which edits an image by a film of a few frames."""
    import torch
    from diffusers import (
        AutoencoderKLWan,
        ChronoEditPipeline,
        ChronoEditTransformer3DModel,
        FlowMatchEulerDiscreteScheduler,
    )
    from transformers import CLIPImageProcessor, CLIPVisionConfig, CLIPVisionModel, UMT5Config, UMT5EncoderModel

    torch.manual_seed(9)
    words = _tokenizer(model_max_length=512)
    vision = CLIPVisionModel(CLIPVisionConfig(**{key: value for key, value in CLIP.items() if key != "model_type"}))
    transformer = ChronoEditTransformer3DModel(
        num_attention_heads=2, attention_head_dim=12, in_channels=36, out_channels=16, text_dim=32, freq_dim=32,
        ffn_dim=32, num_layers=1, image_dim=32, added_kv_proj_dim=24,
    )  # fmt: skip
    vae = AutoencoderKLWan(base_dim=3, z_dim=16, dim_mult=[1, 1, 1, 1], num_res_blocks=1)
    t5 = UMT5EncoderModel(UMT5Config(d_model=32, d_kv=8, d_ff=37, num_layers=1, num_heads=4, vocab_size=len(words)))
    ChronoEditPipeline(
        tokenizer=words, text_encoder=t5.eval(), image_encoder=vision.eval(), vae=vae.eval(),
        image_processor=CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}),
        transformer=_lively(transformer).eval(), scheduler=FlowMatchEulerDiscreteScheduler(),
    ).save_pretrained(folder)  # fmt: skip
    return folder


def make_z_image_omni(folder: Path) -> Path:
    """Z-Image-Omni, which draws from several images, in bfloat16 only."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, ZImageOmniPipeline, ZImageTransformer2DModel
    from transformers import (
        Qwen3Config,
        Qwen3Model,
        Siglip2ImageProcessor,
        Siglip2VisionConfig,
        Siglip2VisionModel,
    )

    torch.manual_seed(10)
    words = _tokenizer(chat_template=IN_ORDER)
    text = {key: value for key, value in TEXT.items() if key != "model_type"}
    transformer = ZImageTransformer2DModel(
        in_channels=4, dim=32, n_layers=1, n_refiner_layers=1, n_heads=2, n_kv_heads=2, cap_feat_dim=32,
        siglip_feat_dim=32, axes_dims=[8, 4, 4], axes_lens=[256, 64, 64],
    )  # fmt: skip
    vision = Siglip2VisionConfig(
        hidden_size=32, intermediate_size=37, num_hidden_layers=1, num_attention_heads=4, num_patches=16, patch_size=4
    )
    ZImageOmniPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(), vae=_flux_vae(4), tokenizer=words,
        text_encoder=Qwen3Model(Qwen3Config(**text | {"head_dim": 8}, vocab_size=len(words))).eval(),
        transformer=_lively(transformer).eval(), siglip=Siglip2VisionModel(vision).eval(),
        siglip_processor=Siglip2ImageProcessor(patch_size=4, max_num_patches=16),
    ).save_pretrained(folder)  # fmt: skip
    return folder
