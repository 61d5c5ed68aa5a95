"""Write the entries of inspect_evals' register, one per world: python hubs/inspect_evals.py ADDRESS COMMIT FOLDER

ADDRESS is the public address of this repository, COMMIT the commit that the entries name, and FOLDER the folder
`register` of a clone of inspect_evals.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from sketchmark.training import worlds
from sketchmark.worlds import installed_worlds

TASKS = "src/sketchmark/training/inspect_tasks.py"
SAMPLES = 50


def entry(world: str, address: str, commit: str) -> dict[str, Any]:
    making = installed_worlds()[world].making
    assert making is not None
    name = world.replace("_", " ")
    about = f"{making.about} A model may draw each step, and every drawing is read back from its pixels and scored."
    return {
        "full_title": f"Sketchmark: {name}, with drawn steps",
        "common_title": f"Sketchmark {name}",
        "description": about,
        "contributors": [address.rstrip("/").split("/")[-2]],
        "tags": ["Multimodal", "Reasoning"],
        "source": {"repository_url": address, "repository_commit": commit},
        "tasks": [{"name": world, "task_path": TASKS, "dataset_samples": SAMPLES}],
    }


def write(address: str, commit: str, folder: Path) -> None:
    for world in worlds():
        file = folder / f"sketchmark_{world}" / "eval.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(entry(world, address, commit), sort_keys=False, width=1000), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    write(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
