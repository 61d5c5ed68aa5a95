"""Which files of a repository are a split, and which links of the hub's cache are followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sketchmark.errors import BadInput
from sketchmark.files.hub import Listing
from sketchmark.files.tables import inside, rows
from tests.benchmarks.medical.fixtures import write_parquet

NAMES = ("data/test-00000-of-00001.parquet", "data/train-00000-of-00001.parquet", "Math/dev-00000-of-00001.parquet")


@pytest.mark.parametrize(
    ("data_files", "split", "found"),
    [
        ([{"split": "test", "path": "data/test-*"}, {"split": "train", "path": "data/train-*"}], "test", [NAMES[0]]),
        ({"test": ["data/test-*"], "train": "data/train-*"}, "train", [NAMES[1]]),
        ("data/*", "train", [NAMES[0], NAMES[1]]),
        ("data/*", "test", []),
        ([{"split": "dev", "path": "**/dev-*"}], "dev", [NAMES[2]]),
        (None, "test", None),
    ],
)
def test_a_card_names_the_files_of_a_split_in_several_ways(
    data_files: Any, split: str, found: list[str] | None
) -> None:
    listing = Listing("o/n", "c", dict.fromkeys(NAMES, 1), [{"config_name": "default", "data_files": data_files}])
    assert listing.declared(None, split) == found


def test_a_file_of_another_split_is_never_taken_for_the_one_that_is_missing(tmp_path: Path) -> None:
    write_parquet(tmp_path / "Math" / "validation-00000-of-00001.parquet", [{"id": 1}])
    with pytest.raises(BadInput, match="holds no Math/test-"):
        rows(tmp_path, hub="MMMU/MMMU", config="Math", split="test")
    assert list(rows(tmp_path, hub="MMMU/MMMU", config="Math", split="validation")) == [{"id": 1}]


def test_links_in_the_hubs_cache_are_followed_to_the_blobs_of_the_same_set_alone(tmp_path: Path) -> None:
    own, other = tmp_path / "datasets--o--n", tmp_path / "datasets--o--other"
    snapshot = own / "snapshots" / "abc"
    for folder in (own / "blobs", other / "blobs", snapshot):
        folder.mkdir(parents=True)
    for repository in (own, other):
        (repository / "blobs" / "1").write_text(repository.name)
        (snapshot / repository.name).symlink_to(repository / "blobs" / "1")
    assert inside(snapshot, own.name, "row 1").read_text() == own.name
    with pytest.raises(BadInput, match="leads out of"):
        inside(snapshot, other.name, "row 1")
