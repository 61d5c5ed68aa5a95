"""How many of lmms-eval's own task folders load, and play on made-up rows, and why the others do not.

    .venv-lmms/bin/python -m bench.lmms_eval_tasks                with lmms-eval installed (make lmms-eval-tasks)
    .venv/bin/python -m bench.lmms_eval_tasks --source PATH       without it, in a copy of its source

PATH is the folder `lmms_eval/tasks` of a source or of an unpacked wheel. Of every folder one task of the type
`generate_until` is taken: the file with the shortest name, which is the main one as a rule. `loads` means that its
file is understood and every function that it names is there. `plays` means that `sketchmark.run` plays four rows to
the end with a scripted model and gives a metric of its list a value, or writes the file that a server wants in its
place: rows from `--data`, the task's own `process_docs`, `doc_to_visual`, `doc_to_text`, filters, `process_results`
and aggregation. The rows are made up (documents.py), and so is what stands around a task (surroundings.py): media
files appear where its code looks for them, judges are answered by a server on this machine (judges.py), packages find
what they load (resources.py), and nobody waits. Each folder has a process and a time of its
own, as many at once as there are cores; nothing is fetched.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from bench.lmms_eval_tasks import page
from bench.lmms_eval_tasks.finding import PLAYS
from bench.lmms_eval_tasks.processes import tried

SECONDS = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", help="only these")
    parser.add_argument("--source", type=Path, help="lmms_eval/tasks; unless named, that of the installed package")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="a folder's processor time")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="folders that are tried at once")
    parser.add_argument("--json", type=Path, help="write what was found here")
    parser.add_argument("--again", type=Path, help="what --json wrote: only those that did not play are tried")
    asked = parser.parse_args()
    source = asked.source or _installed()
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    _import_what_all_need()
    before = page.read(asked.again) if asked.again else {}
    wanted = [one for one in _tasks(source) if not asked.folders or one[0].name in asked.folders]
    found = {
        one.name: before[one.name] for one, _ in wanted if one.name in before and before[one.name].state == PLAYS
    }
    for name, told in tried([one for one in wanted if one[0].name not in found], asked.seconds, asked.at_once):
        found[name] = told
        print(f"{len(found)} of {len(wanted)} {name}: {told.state} {told.reason}"[:300], flush=True)
        if asked.json:
            page.write(found, asked.json)
    print(page.counts({"all": found}))
    print(page.reasons(found))


def _installed() -> Path:
    spec = find_spec("lmms_eval")
    if spec is None or not spec.origin:
        sys.exit("lmms-eval is not installed here: name --source lmms_eval/tasks")
    return Path(spec.origin).parent / "tasks"


def _import_what_all_need() -> None:
    """Once, before the processes part."""
    import datasets  # type: ignore[import-untyped]

    import sketchmark.api  # noqa: F401

    datasets.disable_progress_bars()
    if find_spec("lmms_eval"):
        import lmms_eval.api.metrics
        import lmms_eval.tasks  # noqa: F401


def _tasks(source: Path) -> Iterator[tuple[Path, Path]]:
    """(folder, its first task that generates)."""
    from sketchmark.errors import SketchmarkError
    from sketchmark.lmms_eval.shape import is_group, read_config
    from sketchmark.tasks.files import yaml_files

    for folder in sorted(path for path in source.iterdir() if path.is_dir()):
        for file in sorted(yaml_files(folder), key=lambda file: (len(file.parts), len(file.name), file)):
            try:
                config = read_config(file)
            except SketchmarkError:
                continue
            named = isinstance(config.get("task"), str) and not is_group(config)
            if named and config.get("output_type", "generate_until") == "generate_until":
                yield folder, file
                break


if __name__ == "__main__":
    main()
