"""Picking pictures: the published naming, one listing, rotation through all nine."""

from pathlib import Path

import pytest

from sketchmark.errors import DataMissing
from sketchmark.worlds.voila.make import BankShelf, FolderShelf, Rotation, open_shelf
from sketchmark.worlds.voila.scenes import SCENES, Scene, file_prefix

CATS = Scene(2, 5, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = tmp_path / "Test_Images"
    images.mkdir()
    for scene in SCENES:
        (images / f"{file_prefix(scene)}7111.png").touch()
    return tmp_path


def test_a_users_folder_is_found_by_its_published_name_and_read_by_prefix(folder: Path) -> None:
    (folder / "Test_Images" / "notes.txt").touch()
    (folder / "Test_Images" / "Two_Cats_walking_3.PNG").touch()
    shelf = open_shelf(folder, "testing", seed=0)
    assert list(shelf.files(CATS)) == ["Two_Cats_walking_3.PNG", "two_cats_walking_7111.png"]
    assert list(shelf.files(Scene(1, 5, 3))) == ["one_cat_walking_7111.png"]


def test_a_folder_that_lacks_a_scene_is_refused_before_anything_is_made(folder: Path) -> None:
    (folder / "Test_Images" / "two_cats_walking_7111.png").unlink()
    with pytest.raises(DataMissing, match="lacks pictures of 1 of 728 scenes, first 'two cats walking'"):
        FolderShelf(folder / "Test_Images")


def test_all_nine_training_pictures_are_used_before_any_returns() -> None:
    rotation = Rotation(BankShelf("training", seed=0))
    others = (Scene(1, 0, 0), Scene(1, 1, 1))
    picks = [rotation.pick_row((CATS, *others), Scene(1, 2, 2))[0][0] for _ in range(18)]
    assert len(set(picks[:9])) == len(set(picks[9:])) == 9


def test_the_fourth_picture_is_never_one_of_the_first_three_even_right_after_a_refill() -> None:
    rotation = Rotation(BankShelf("training", seed=0))
    for _ in range(40):
        shown, fourth = rotation.pick_row((Scene(1, 0, 0), CATS, Scene(1, 1, 1)), CATS)
        assert fourth not in shown


def test_a_scene_with_a_single_picture_may_repeat_it_because_there_is_no_other(folder: Path) -> None:
    rotation = Rotation(FolderShelf(folder / "Test_Images"))
    shown, fourth = rotation.pick_row((Scene(1, 0, 0), CATS, Scene(1, 1, 1)), CATS)
    assert fourth == shown[1]
