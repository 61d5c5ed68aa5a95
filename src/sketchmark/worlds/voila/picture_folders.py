"""Where the pictures of a question come from: a user's folder in the published naming, or the built-in bank.

A shelf lists its files once. The original lists the folder again for every pick and copies the training folder to
keep track of what is used (docs/benchmarks/voila.md, "Picking pictures"); here a queue per scene does that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from sketchmark.errors import DataMissing
from sketchmark.picture import Picture
from sketchmark.worlds.voila.vocabulary import SCENES, Scene, file_prefix, scene_of_file

Dataset = Literal["training", "testing"]

TRAINING_VARIATIONS = 9

FOLDERS: dict[Dataset, str] = {"training": "Train_Images", "testing": "Test_Images"}

_PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")


class PictureFolders(Protocol):
    def files(self, scene: Scene) -> Sequence[str]:
        """Names of the pictures of a scene, in a fixed order; never empty."""

    def picture(self, name: str) -> Picture:
        """The picture behind a name that `files` gave."""


class FolderShelf:
    """A flat folder of files named `{number}_{subject}_{action}_{anything}.png`, letter case ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Scene, list[str]] = {}
        try:
            names = sorted(entry.name for entry in folder.iterdir())
        except OSError as error:
            raise DataMissing(f"cannot list pictures in {folder}: {error.strerror}") from error
        for name in names:
            scene = scene_of_file(name)
            if scene is not None and name.lower().endswith(_PICTURE_SUFFIXES):
                self._files.setdefault(scene, []).append(name)
        missing = [scene for scene in SCENES if scene not in self._files]
        if missing:
            raise DataMissing(
                f"{folder} lacks pictures of {len(missing)} of {len(SCENES)} scenes, first '{missing[0].describe()}'",
                f"files are named like {file_prefix(missing[0])}0.png",
            )

    def files(self, scene: Scene) -> Sequence[str]:
        return self._files[scene]

    def picture(self, name: str) -> Picture:
        return Picture.from_file(self._folder / name)


class BankShelf:
    """The built-in pictures: variation 0 for testing, 1 to 9 for training, drawn when asked for."""

    def __init__(self, dataset: Dataset, seed: int) -> None:
        self._variations = range(1) if dataset == "testing" else range(1, 1 + TRAINING_VARIATIONS)
        self._seed = seed

    def files(self, scene: Scene) -> Sequence[str]:
        prefix = file_prefix(scene)
        return [f"{prefix}{variation}.png" for variation in self._variations]

    def picture(self, name: str) -> Picture:
        from sketchmark.worlds.voila import bank

        scene = scene_of_file(name)
        if scene is None:
            raise DataMissing(f"the built-in bank has no picture {name}")
        return bank.picture(scene, variation=int(Path(name).stem.rsplit("_", 1)[1]), seed=self._seed)


def open_shelf(images: Path | None, dataset: Dataset, seed: int) -> PictureFolders:
    """The user's folder (or the published sub-folder in it) when one is given, the built-in bank otherwise."""
    if images is None:
        return BankShelf(dataset, seed)
    inner = images / FOLDERS[dataset]
    return FolderShelf(inner if inner.is_dir() else images)


class Rotation:
    """Training picks: every picture of a scene is used once before any is used again.

    The fourth picture is never one of the first three as long as the scene has a second picture to offer; the
    original can slip here (docs/benchmarks/voila.md, "Picked again after a refill").
    """

    def __init__(self, shelf: PictureFolders) -> None:
        self._shelf = shelf
        self._left: dict[Scene, deque[str]] = {}

    def pick_row(self, scenes: Iterable[Scene], fourth: Scene) -> tuple[tuple[str, str, str], str]:
        first, second, third = (self._next(scene, avoid=()) for scene in scenes)
        shown = (first, second, third)
        return shown, self._next(fourth, avoid=shown)

    def _next(self, scene: Scene, avoid: Sequence[str]) -> str:
        left = self._left.setdefault(scene, deque())
        if not left:
            files = self._shelf.files(scene)
            left.extend(name for name in files if name not in avoid)
            left.extend(name for name in files if name in avoid)
        return left.popleft()
