"""Science scenes: `science/dim_all.json` of the extracted data.tar (docs/benchmarks/uni-mmmu.md, "Science")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput
from sketchmark.parts import Pictures, Sample
from sketchmark.picture import Picture
from sketchmark.tasks.uni_mmmu import folder

_FILE = "dim_all.json"


@dataclass(frozen=True)
class _Scene:
    """One sample of the file, whether it is whole or not."""

    where: str
    picture: object
    condition: str
    truth: str
    groups: Mapping[str, str]

    @property
    def whole(self) -> bool:
        return bool(self.picture and self.condition)


def scenes(*, seed: int, data: Path | None, origin: Mapping[str, str]) -> Iterator[Sample]:
    """Samples without a picture or a condition are not played, and the others are numbered without them.

    The published scorer numbers all of them, so that behind a gap each drawing is judged against the truth of another
    sample (accident 4). `official` does the same: what it compares with is in the target where it differs.
    """
    place = folder.find(data, "science", lambda place: (place / _FILE).is_file())
    if place is None:
        raise folder.missing(data, origin["hub"], f"science/{_FILE}")
    found = list(_read(place / _FILE))
    for number, scene in enumerate(scene for scene in found if scene.whole):
        compared = found[number]
        pictures: dict[str, Pictures] = {"image": _picture(place, scene)}
        target: dict[str, Any] = {"final_state": scene.truth}
        if compared is not scene:
            target["compared"] = {"condition": compared.condition, "final_state": compared.truth}
            if compared.picture:
                pictures["compared"] = _picture(place, compared)
        yield Sample(
            id=f"case_{number + 1:02d}",
            pictures=pictures,
            fields={"condition": scene.condition},
            target=target,
            groups=scene.groups,
        )


def _picture(place: Path, scene: _Scene) -> Picture:
    return Picture.from_file(folder.path_in(place, scene.picture, scene.where))


def _read(file: Path) -> Iterator[_Scene]:
    blocks = folder.read_json(file)
    if not isinstance(blocks, list):
        raise BadInput(f"{file} is not a list of blocks, each with its samples")
    for number, block in enumerate(blocks):
        where = f"{file}, block {number}"
        samples = block.get("samples") if isinstance(block, dict) else None
        if not isinstance(samples, list):
            raise BadInput(f"{where} has no list of samples")
        groups = {
            name: str(block[key])
            for name, key in (("discipline", "level_1_category"), ("part", "level_2_category"))
            if block.get(key)
        }
        for at, sample in enumerate(samples):
            if not isinstance(sample, dict):
                raise BadInput(f"{where}, sample {at} is not an object")
            shown = sample.get("input_image_file_path_list")
            yield _Scene(
                f"{where}, sample {at}",
                next(iter(shown), None) if isinstance(shown, list) else shown,
                str(sample.get("input_prompt") or "").strip(),
                str(sample.get("output_prompt") or "").strip(),
                groups,
            )
