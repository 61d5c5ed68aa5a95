"""A CPU platform for vLLM-Omni 0.30, as a plug-in (`environment.py` installs it), for tiny diffusion models."""

from __future__ import annotations

from typing import Any

import psutil
import torch
from vllm.platforms.cpu import CpuPlatform
from vllm_omni.platforms.interface import OmniPlatform, OmniPlatformEnum


def plugin() -> str:
    return "omni_cpu.CpuOmniPlatform"


class CpuOmniPlatform(OmniPlatform, CpuPlatform):  # type: ignore[misc]  # neither is installed where mypy runs
    _omni_enum = OmniPlatformEnum.OOT
    device_type = "cpu"

    @classmethod
    def get_omni_ar_worker_cls(cls) -> str:
        return "vllm_omni.worker.gpu_ar_worker.GPUARWorker"

    @classmethod
    def get_omni_generation_worker_cls(cls) -> str:
        return "vllm_omni.worker.gpu_generation_worker.GPUGenerationWorker"

    @classmethod
    def get_diffusion_attn_backend_cls(cls, *_: Any, **__: Any) -> Any:
        from vllm_omni.diffusion.attention.backends import abstract, sdpa
        from vllm_omni.diffusion.attention.backends.registry import DiffusionAttentionBackendEnum
        from vllm_omni.diffusion.models.bagel import pipeline_bagel

        # It turns autocast off on the CPU, and its parts of float32 and of bfloat16 need it.
        pipeline_bagel.torch = _Autocasting()
        # Their forward asks the platform by name, and a plug-in's has none. Plain SDPA runs on any device.
        own = [kind for kind in vars(sdpa).values() if isinstance(kind, type)]
        for kind in (abstract.AttentionImpl, *own):
            if issubclass(kind, abstract.AttentionImpl):
                kind.forward = _sdpa
        return DiffusionAttentionBackendEnum["TORCH_SDPA"].get_path()

    @classmethod
    def supports_torch_inductor(cls) -> bool:
        return False

    @classmethod
    def get_torch_device(cls, local_rank: int | None = None) -> Any:
        return torch.device("cpu")

    @classmethod
    def get_device_count(cls) -> int:
        return 1

    @classmethod
    def get_device_version(cls) -> None:
        return None

    @classmethod
    def set_device(cls, device: Any) -> None:
        pass

    @classmethod
    def synchronize(cls) -> None:
        pass

    @classmethod
    def get_free_memory(cls, device: Any = None) -> int:
        return int(psutil.virtual_memory().available)

    @classmethod
    def get_device_memory(cls, device: Any = None) -> tuple[int, int]:
        memory = psutil.virtual_memory()
        return int(memory.available), int(memory.total)

    @classmethod
    def get_device_total_memory(cls, device_id: int = 0) -> int:
        return int(psutil.virtual_memory().total)


class _Autocasting:
    """The module torch, whose `autocast` is always on."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def autocast(self, device_type: str, enabled: bool = True, dtype: Any = None) -> Any:
        return torch.autocast(device_type, dtype=dtype)


def _sdpa(self: Any, query: Any, key: Any, value: Any, attn_metadata: Any = None) -> Any:
    return self.forward_cuda(query, key, value, attn_metadata)


def _nothing(*_: Any, **__: Any) -> int:
    return 0


for _counter in (
    "reset_peak_memory_stats", "max_memory_allocated", "max_memory_reserved", "memory_reserved", "memory_allocated",
    "empty_cache", "ipc_collect", "manual_seed_all", "manual_seed", "current_device",
):  # fmt: skip
    setattr(CpuOmniPlatform, _counter, staticmethod(_nothing))
