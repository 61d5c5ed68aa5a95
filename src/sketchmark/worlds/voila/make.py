"""Making a VOILA data set: questions, their pictures and collages, into CSV, JSONL or parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.picture import Picture
from sketchmark.worlds.voila.collage import collage, collage_name
from sketchmark.worlds.voila.parquet import PicturedRow, write_parquet
from sketchmark.worlds.voila.picture_folders import FOLDERS, BankShelf, Dataset, Rotation, open_shelf
from sketchmark.worlds.voila.questions import Question
from sketchmark.worlds.voila.sampling import hidden_scene, sample_questions
from sketchmark.worlds.voila.table import Columns, QuestionRow, make_row, write_csv, write_jsonl

COLLAGE_FOLDER = "Image_Questions"


@dataclass(frozen=True)
class SetOrder:
    """What `sketchmark voila make` was asked for."""

    count: int
    dataset: Dataset = "testing"
    distraction: bool = True
    collage: bool = False
    seed: int = 0
    columns: Columns = "released"
    balance: bool = False
    images: Path | None = None
    pictures: bool = True
    """Whether built-in pictures are written beside the table; a user's own are never copied."""


def make(target: Path, order: SetOrder) -> int:
    """Write the set and return how many questions it holds.

    The table appears under its name only when it is complete; the original appends to whatever is there.
    """
    if target.suffix not in (".csv", ".jsonl", ".parquet"):
        raise BadInput(f"cannot tell the format of {target.name}", "end the name in .csv, .jsonl or .parquet")
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
        """Rows whose pictures and collages lie in folders beside the table, in the published places."""
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
