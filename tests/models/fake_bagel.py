"""A tiny stand-in for a checkout of the official BAGEL repository, written to disk by the tests.

It has the same module names and call signatures and no weights worth the name. It also has a `torch` and an
`accelerate`, because the real ones are not in the test environment. It keeps its arguments in `seen`.
"""

from __future__ import annotations

import json
from pathlib import Path

MODULES = {
    "seen.py": """
        calls = []
        def note(name, **what):
            calls.append((name, what))
    """,
    "torch.py": """
        import seen
        def manual_seed(seed):
            seen.note("seed", seed=seed)
    """,
    "accelerate.py": """
        import contextlib, seen
        empty = False
        @contextlib.contextmanager
        def init_empty_weights():
            global empty
            empty = True
            yield
            empty = False
        def infer_auto_device_map(model, max_memory=None, no_split_module_classes=None):
            assert no_split_module_classes == ["Bagel", "Qwen2MoTDecoderLayer"]
            return {"language_model": 0, "time_embedder": 1, "connector": 0, "vit_pos_embed": 1, "vit_model": 1,
                    "latent_pos_embed": 0, "vae2llm": 0, "llm2vae": 0}
        def load_checkpoint_and_dispatch(model, checkpoint, device_map=None, dtype=None, force_hooks=False):
            seen.note("load", checkpoint=checkpoint, device_map=device_map, dtype=dtype, force_hooks=force_hooks)
            return model
    """,
    "modeling/__init__.py": "",
    "modeling/bagel.py": """
        import json, types, accelerate, seen
        class _Config(types.SimpleNamespace):
            @classmethod
            def from_json_file(cls, path):
                with open(path) as file:
                    return cls(**json.load(file))
        class Qwen2Config(_Config): pass
        class SiglipVisionConfig(_Config): pass
        class BagelConfig:
            def __init__(self, *, visual_gen, visual_und, llm_config, vit_config, vae_config,
                         vit_max_num_patch_per_side, connector_act, latent_patch_size, max_latent_size):
                assert llm_config.qk_norm and not llm_config.tie_word_embeddings
                assert llm_config.layer_module == "Qwen2MoTDecoderLayer"
                assert vit_config.rope is False and vit_config.num_hidden_layers == 26
                assert vae_config == "vae config"
        class Qwen2ForCausalLM:
            def __init__(self, config):
                assert accelerate.empty
        class SiglipVisionModel:
            def __init__(self, config):
                self.vision_model = self.embeddings = self
            def convert_conv2d_to_linear(self, config, meta):
                assert meta
                seen.note("linear")
        class Bagel:
            def __init__(self, language_model, vit_model, config):
                self.vit_model = vit_model
            def eval(self):
                return self
    """,
    "modeling/qwen2.py": """
        class Qwen2Tokenizer:
            @classmethod
            def from_pretrained(cls, path):
                return cls()
            def encode(self, text):
                return text.split()
    """,
    "modeling/autoencoder.py": """
        class Vae:
            def to(self, device):
                assert device == "cuda"
                return self
            def eval(self):
                return self
        def load_ae(local_path):
            assert local_path.endswith("ae.safetensors")
            return Vae(), "vae config"
    """,
    "data/__init__.py": "",
    "data/transforms.py": """
        class ImageTransform:
            def __init__(self, most, least, stride):
                self.sizes = (most, least, stride)
    """,
    "data/data_utils.py": """
        def add_special_tokens(tokenizer):
            return tokenizer, {"eos_token_id": 1}, 4
    """,
    "inferencer.py": """
        import threading, time
        from PIL import Image
        import seen
        class InterleaveInferencer:
            def __init__(self, model, vae_model, tokenizer, vae_transform, vit_transform, new_token_ids):
                assert vae_transform.sizes == (1024, 512, 16) and vit_transform.sizes == (980, 224, 14)
                self.tokenizer = tokenizer
                self.busy = False
            def interleave_inference(self, input_lists, think=False, understanding_output=False,
                    max_think_token_n=1000, do_sample=False, text_temperature=0.3, cfg_text_scale=3.0,
                    cfg_img_scale=1.5, cfg_interval=[0.4, 1.0], timestep_shift=3.0, num_timesteps=50,
                    cfg_renorm_min=0.0, cfg_renorm_type="global", image_shapes=(1024, 1024),
                    enable_taylorseer=False):
                assert not self.busy, "two contexts at once"
                self.busy = True
                time.sleep(0.02)
                self.busy = False
                seen.note("infer", **{key: value for key, value in locals().items() if key != "self"},
                          thread=threading.current_thread().name)
                if "fail" in input_lists:
                    raise RuntimeError("CUDA out of memory")
                if understanding_output:
                    return [" ".join(["left"] * min(3, max_think_token_n - 1))]
                return (["a plan"] if think else []) + [Image.new("RGB", (16, 8), "red")]
    """,
}


def write_checkout(folder: Path) -> Path:
    for name, source in MODULES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = source.strip("\n").splitlines()
        path.write_text("\n".join(line.removeprefix("        ") for line in lines) + "\n")
    return folder


def write_weights(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "llm_config.json").write_text(json.dumps({"num_hidden_layers": 28}))
    (folder / "vit_config.json").write_text(json.dumps({"num_hidden_layers": 27}))
    for name in ("ae.safetensors", "ema.safetensors"):
        (folder / name).write_bytes(b"")
    return folder
