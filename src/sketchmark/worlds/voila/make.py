"""VOILA datasets: questions, their images and collages, written as CSV, JSONL or parquet.

Images come from your folder in the published naming, or from the built-in bank. A shelf lists its files once. The
original lists the folder again for every pick and copies the training folder to keep track of used files
(docs/benchmarks/voila.md, "Picking pictures"); here a queue per scene does that. A collage puts three images in one
row, for models that take a single image ("The collage").
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from sketchmark.errors import BadInput, DataMissing
from sketchmark.media import Picture
from sketchmark.worlds.voila.questions import Question
from sketchmark.worlds.voila.scenes import SCENES, Scene, file_prefix, scene_of_file
from sketchmark.worlds.voila.sets import hidden_scene, sample_questions
from sketchmark.worlds.voila.table import (
    Columns,
    PicturedRow,
    QuestionRow,
    make_row,
    write_csv,
    write_jsonl,
    write_parquet,
)

if TYPE_CHECKING:
    from PIL import Image


GAP = 50


def collage(pictures: Sequence[Picture]) -> Picture:
    """Left to right at the height of the tallest, white gaps of 50 pixels; no labels, no frame, no fourth cell."""
    return Picture.from_image(collage_image([picture.image() for picture in pictures]))


def collage_image(images: Sequence[Image.Image]) -> Image.Image:
    from PIL import Image

    height = max(image.height for image in images)
    scaled = [
        image
        if image.height == height
        else image.resize((max(1, int(image.width * height / image.height)), height), Image.Resampling.LANCZOS)
        for image in images
    ]
    width = sum(image.width for image in scaled) + GAP * (len(scaled) - 1)
    canvas = Image.new("RGB", (width, height), "white")
    left = 0
    for image in scaled:
        canvas.paste(image, (left, 0))
        left += image.width + GAP
    return canvas


def collage_name(number: int) -> str:
    """File name of the question's collage, counted from 1 over the whole run."""
    return f"image_questions_{number}.png"


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
    """Training picks: every picture of a scene is used once before any is used again. The fourth picture is never one
    of the first three as long as the scene has a second picture to offer; the original can slip here
    (docs/benchmarks/voila.md, "Picked again after a refill")."""

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


COLLAGE_FOLDER = "Image_Questions"


@dataclass(frozen=True)
class SetOrder:
    """Arguments of `sketchmark voila make`."""

    count: int
    dataset: Dataset = "testing"
    distraction: bool = True
    collage: bool = False
    seed: int = 0
    columns: Columns = "released"
    balance: bool = False
    images: Path | None = None
    pictures: bool = True
    """If true, built-in images are written next to the table; your own are never copied."""


def make(target: Path, order: SetOrder) -> int:
    """Write the set and return how many questions it holds. The table appears under its name only when it is
    complete; the original appends to whatever is there."""
    if target.suffix not in (".csv", ".jsonl", ".parquet"):
        raise BadInput(f"unknown format of {target.name}", "end the name in .csv, .jsonl or .parquet")
    if order.collage and not order.pictures:
        raise BadInput("a collage needs pictures", "drop one of --collage yes and --pictures no")
    if target.suffix == ".parquet" and not order.pictures:
        raise BadInput("a parquet file holds its pictures", "drop --pictures no, or write .csv or .jsonl")
    maker = _Maker(order, target)
    with _whole_file(target) as part:
        if target.suffix == ".parquet":
            write_parquet(maker.pictured(), part, order.columns, order.dataset == "training", order.collage)
        else:
            with part.open("w", newline="", encoding="utf-8") as file:
                if target.suffix == ".csv":
                    write_csv((row for _, row in maker.saved()), file, order.columns)
                else:
                    write_jsonl(maker.saved(), file, order.columns)
    return order.count


@contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(target)
    except OSError as error:
        raise BadInput(f"cannot write {target}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


class _Maker:
    """One pass over the questions, choosing files as it goes: training picks depend on all picks before them."""

    def __init__(self, order: SetOrder, target: Path) -> None:
        self._order = order
        self._folder = target.parent
        self._questions = sample_questions(order.count, order.seed, order.distraction, order.balance)
        self._shelf = open_shelf(order.images, order.dataset, order.seed)
        self._rotation = Rotation(self._shelf)

    def rows(self) -> Iterator[tuple[Question, QuestionRow]]:
        for number, question in enumerate(self._questions, 1):
            shown, fourth = self._pick(question)
            name = collage_name(number) if self._order.collage else ""
            yield question, make_row(question, shown, fourth, name, self._order.columns)

    def _pick(self, question: Question) -> tuple[tuple[str, str, str], str | None]:
        if self._order.dataset == "training":
            return self._rotation.pick_row(question.scenes, hidden_scene(question, self._order.seed))
        first, second, third = (self._shelf.files(scene)[0] for scene in question.scenes)
        return (first, second, third), None

    def saved(self) -> Iterator[tuple[int, QuestionRow]]:
        """Yield rows whose images and collages are in folders next to the table, in the published places."""
        written: set[str] = set()
        own_pictures = isinstance(self._shelf, BankShelf) and self._order.pictures
        for question, row in self.rows():
            if own_pictures:
                names = row[:4] if self._order.dataset == "training" else row[:3]
                for name in names:
                    if name not in written:
                        written.add(name)
                        self._store(FOLDERS[self._order.dataset], name, self._shelf.picture(name))
            if row.collage:
                self._store(COLLAGE_FOLDER, row.collage, collage(self._three(row)))
            yield question.index, row

    def pictured(self) -> Iterator[PicturedRow]:
        """Rows with their pictures, for parquet."""
        for question, row in self.rows():
            pictures = self._three(row)
            fourth = self._shelf.picture(row.image4) if self._order.dataset == "training" else None
            joined = collage(pictures) if row.collage else None
            yield PicturedRow(question.index, row, pictures, fourth, joined)

    def _three(self, row: QuestionRow) -> tuple[Picture, Picture, Picture]:
        return self._shelf.picture(row.image1), self._shelf.picture(row.image2), self._shelf.picture(row.image3)

    def _store(self, folder: str, name: str, picture: Picture) -> None:
        place = self._folder / folder
        place.mkdir(exist_ok=True)
        (place / name).write_bytes(picture.data)
