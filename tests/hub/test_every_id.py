"""Every task that is on the hub, run from it by `sketchmark run` with the real clients."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sketchmark.catalog import Catalog
from sketchmark.worlds import Worlds
from tests.hub.conftest import Machine
from tests.hub.loopback import Hub
from tests.hub.published import LAYOUTS

NOT_ON_THE_HUB = {"voila", "iu_xray", "mimic_cxr", "chexpert_plus", "radrestruct"}
NOT_ON_THE_HUB |= {
    "uni_mmmu_science",
    "uni_mmmu_code",
    *(f"{world}{hard}" for world in Worlds().names for hard in ("", "_hard")),
}
"""Generated, or read from the user's own copy."""


@cache
def layouts() -> list[str]:
    """A task for every layout of a dataset on the hub: its repository, configuration, split or file."""
    catalog, found = Catalog(), dict[str, str]()
    for name in catalog.task_names():
        source = catalog.task(name).declared.source
        where = {key: source[key] for key in ("use", "origin", "config", "subset", "split") if key in source}
        if name not in NOT_ON_THE_HUB:
            found.setdefault(json.dumps(where, sort_keys=True), name)
    return list(found.values())


def means(run: Path) -> dict[str, Any]:
    """Return the scores and the counts of episodes and failures of each cell."""
    cells: dict[str, Any] = json.loads((run / "results.json").read_text())["tasks"]
    return {name: {key: cell[key] for key in ("metrics", "episodes", "failures")} for name, cell in cells.items()}


def test_every_task_on_the_hub_takes_the_limit() -> None:
    catalog = Catalog()
    told = {name for name in catalog.task_names() if "limit" in catalog.task(name).source_parameters()}
    assert told == set(catalog.task_names()) - NOT_ON_THE_HUB


@pytest.mark.slow
def test_two_samples_of_every_layout_come_from_the_hub(machine: Machine, hub: Hub) -> None:
    """A task whose hub id is not among the layouts here ends the run: it must be published here, too."""
    done = machine.play(",".join(layouts()), "--limit", "2")
    assert done.returncode == 1, done.stderr  # two rows of the small sets are broken on purpose
    assert {repo for repo, _ in hub.given()} == set(LAYOUTS)
    found = means(machine.home / "run")
    assert sorted(found) == sorted(f"{name}.direct" for name in layouts())
    broken = {name for name, cell in found.items() if "broken_row" in cell["failures"]}
    assert broken == {"medxpertqa_mm.direct", "pmc_vqa.direct"}


@pytest.mark.slow
def test_whole_datasets_are_downloaded_once_by_split_and_work_offline(machine: Machine, hub: Hub) -> None:
    whole = {json.dumps(Catalog().task(name).declared.source["use"]): name for name in layouts()}
    tasks = ",".join([*whole.values(), "mmmu_art"])
    machine.play(tasks)
    found = means(machine.home / "run")
    assert found["mmmu_art.direct"]["episodes"] == 12 and found["vqa_rad.direct"]["episodes"] == 6
    given = hub.given()
    assert given == {(repo, name): len(hub.repositories[repo][name]) for repo, name in given}
    assert {name for repo, name in given if name.startswith("Art/")} == {"Art/validation-00000-of-00001.parquet"}
    assert [name for repo, name in given if repo.endswith("vqa-rad") and "train-" in name] == []
    hub.asked.clear()
    machine.settings["HF_HUB_OFFLINE"] = "1"
    machine.play(tasks, out="again")
    assert hub.asked == [] and means(machine.home / "again") == found


COMPARING = """
import datasets, json, sys
from sketchmark.files.tables import rows

def same(one, other):
    return json.dumps(list(one), default=str, sort_keys=True) == json.dumps(list(other), default=str, sort_keys=True)

for hub, config, split in json.loads(sys.argv[1]):
    at_once = datasets.load_dataset(hub, config, split=split)
    streamed = datasets.load_dataset(hub, config, split=split, streaming=True)
    ours = list(rows(None, hub=hub, config=config, split=split))
    assert ours and same(at_once, ours) and same(streamed, ours), (hub, config, split)
    assert same(rows(None, hub=hub, config=config, split=split, limit=1), ours), (hub, config, split)
"""


@pytest.mark.slow
def test_rows_are_those_of_the_datasets_library_streamed_or_not(machine: Machine) -> None:
    """It finds files by the card, by folders and by names, in its own way: ours must find the same."""
    sets = [
        ("RunsenXu/MMSI-Bench", None, "test"),
        ("lmms-lab-eval/UniMMMU", "sliding", "test"),
        ("MMMU/MMMU", "Math", "validation"),
        ("MMMU/MMMU_Pro", "standard (10 options)", "test"),
        ("MMMU/MMMU_Pro", "vision", "test"),
        ("SuhaoYu1020/MedFrameQA", None, "test"),
        ("flaviagiammarino/vqa-rad", None, "test"),
        ("nlylmz/VOILA", None, "train"),
    ]
    done = machine.python("-c", COMPARING, json.dumps(sets))
    assert done.returncode == 0, done.stderr[-2000:]
