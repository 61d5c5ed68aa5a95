"""The task files of a folder that a user includes. One that cannot be read hinders no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.task_files.yaml_text import Glance, glance


def task_files_in(folder: Path, meant: Callable[[Glance, str], bool]) -> Iterator[tuple[Path, Glance]]:
    """What lies beside tasks and is not `meant` for us is passed over, whatever it is."""
    for file in sorted(path for path in folder.rglob("*.yaml") if not path.is_dir()):
        seen = glance(file)
        if meant(seen, file.name):
            yield file, seen


@dataclass(frozen=True)
class Unread:
    """A file that cannot be read, and why: for whoever asks for a task by one of its names."""

    file: Path
    names: tuple[str, ...]
    labels: tuple[str, ...]
    error: BadInput

    @classmethod
    def of(cls, file: Path, seen: Glance, error: BadInput) -> Unread:
        """The names that it gives itself, as far as can be seen. Where `task` is a list, `group` is the name."""
        task, group = seen.keys.get("task", []), seen.keys.get("group", [])
        named, labels = (task, [*group, *seen.keys.get("tag", [])]) if len(task) == 1 else (group[:1], [])
        return cls(file, (*named, file.stem), tuple(labels), error)


def in_words(files: Sequence[Unread]) -> str:
    count = "1 file" if len(files) == 1 else f"{len(files)} files, the first"
    return f"{count}: {files[0].error}"
