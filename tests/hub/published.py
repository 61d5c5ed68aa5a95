"""Every dataset that the tasks name by its hub id, in small, in the layout in which it is published.

File names, configurations and splits are those of the hub; rows are those of the tests of each benchmark, written as
`datasets` writes them: pictures as `{"bytes", "path"}`, shards as `split-00000-of-00002.parquet`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sketchmark.benchmarks.mmmu import SUBJECTS
from sketchmark.benchmarks.voila import generated
from tests.benchmarks.medical import fixtures
from tests.benchmarks.mmsi import published as mmsi
from tests.benchmarks.uni_mmmu import published as uni_mmmu
from tests.benchmarks.unig2u import published as unig2u
from tests.hub.loopback import Hub


def card(**configs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The head of a README: each configuration with its splits and where their files are."""
    return {
        "configs": [
            {"config_name": name, "data_files": [{"split": split, "path": path} for split, path in splits]}
            for name, splits in configs.items()
        ]
    }


def sharded(folder: Path, split: str, rows: list[dict[str, Any]], shards: int) -> None:
    """Rows over files of equal length, named as `push_to_hub` names them."""
    each = -(-len(rows) // shards)
    for number in range(shards):
        name = f"{split}-{number:05d}-of-{shards:05d}.parquet"
        fixtures.write_parquet(folder / name, rows[number * each : (number + 1) * each])


def _mmsi(root: Path) -> dict[str, Any]:
    """Images are bytes in a list; the card gives the one file its split."""
    mmsi.write(root / "MMSI_Bench.parquet", [mmsi.row(number, "MSR", raw=True) for number in range(4)])
    return card(default=[("test", "MMSI_Bench.parquet")])


def _unig2u(root: Path) -> None:
    """Files in folders and no configuration: tasks name the file."""
    unig2u.everything(root)


def _uni_mmmu(root: Path) -> dict[str, Any]:
    names = ("jigsaw", "maze", "sliding", "geometry")
    for name in names:
        sharded(root / name, "test", getattr(uni_mmmu, f"{name}_rows")(), 1)
    return card(**{name: [("test", f"{name}/test-*")] for name in names})


def _mmmu(root: Path) -> dict[str, Any]:
    for subject in SUBJECTS:
        for split, count in (("dev", 1), ("validation", 3), ("test", 2)):
            rows = [fixtures.mmmu_row(f"{split}_{subject}_{number}") for number in range(1, count + 1)]
            sharded(root / subject, split, rows, 1)
    splits = ("dev", "validation", "test")
    return card(**{name: [(split, f"{name}/{split}-*") for split in splits] for name in SUBJECTS})


def _mmmu_pro(root: Path) -> dict[str, Any]:
    fixtures.mmmu_pro(root.parent)
    ten = root / "standard (10 options)" / "test-00000-of-00001.parquet"
    four = root / "standard (4 options)" / "test-00000-of-00001.parquet"
    four.parent.mkdir()
    four.write_bytes(ten.read_bytes())
    names = ("standard (10 options)", "standard (4 options)", "vision")
    return card(**{name: [("test", f"{name}/test-*")] for name in names})


def _vqa(root: Path) -> dict[str, Any]:
    """A train split and a test split, which is in two shards."""
    asked = [(fixtures.cell(fixtures.png(number)), f"is this {number}?") for number in range(6)]
    rows = [{"image": image, "question": question, "answer": "yes"} for image, question in asked]
    sharded(root / "data", "train", rows, 1)
    sharded(root / "data", "test", rows, 2)
    return card(default=[("train", "data/train-*"), ("test", "data/test-*")])


def _voila(root: Path) -> None:
    """No configuration and no card that says more: the split is read off the files' names."""
    rows = []
    for sample in islice(generated(seed=0, data=None, distraction=True, input="sequence", dataset="testing"), 3):
        pictures = sample.pictures["images"]
        assert isinstance(pictures, list)
        row: dict[str, Any] = {f"image{n}": fixtures.cell(one.data) for n, one in enumerate(pictures, start=1)}
        rows.append({**row, "descriptions": sample.target["combined"]})
    sharded(root / "data", "train", rows, 1)


def _named(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """A set whose fixture makes a folder of the set's name in the folder it is given."""

    def write(root: Path) -> None:
        make(root.parent)

    return write


LAYOUTS: dict[str, tuple[str, Callable[[Path], dict[str, Any] | None]]] = {
    "RunsenXu/MMSI-Bench": ("MMSI-Bench", _mmsi),
    "kkv233/unig2u_dataset": ("unig2u_dataset", _unig2u),
    "lmms-lab-eval/UniMMMU": ("UniMMMU", _uni_mmmu),
    "MMMU/MMMU": ("MMMU", _mmmu),
    "MMMU/MMMU_Pro": ("MMMU_Pro", _mmmu_pro),
    "SuhaoYu1020/MedFrameQA": ("MedFrameQA", _named(fixtures.medframeqa)),
    "TsinghuaC3I/MedXpertQA": ("MedXpertQA", _named(fixtures.medxpertqa)),
    "RadGenome/PMC-VQA": ("PMC_VQA", _named(fixtures.pmc_vqa)),
    "foreverbeliever/OmniMedVQA": ("OmniMedVQA", _named(fixtures.omnimedvqa)),
    "flaviagiammarino/vqa-rad": ("vqa-rad", _vqa),
    "flaviagiammarino/path-vqa": ("path-vqa", _vqa),
    "BoKelvin/SLAKE": ("SLAKE", _named(fixtures.slake)),
    "nlylmz/VOILA": ("VOILA", _voila),
}
"""Hub id → the folder it is written to, and what writes it and returns its card."""


def publish_all(hub: Hub, folder: Path) -> None:
    for repo, (name, write) in LAYOUTS.items():
        root = folder / repo.partition("/")[0] / name
        found = write(root)
        hub.publish(repo, root, found)
