"""Where a task's aggregation writes a file for a benchmark's server."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def generate_submission_file(file_name: str, args: Any, subpath: str = "submissions") -> str:
    """A path in the run's own folder, which the aggregation is told as `args.output_path`; made if it is missing."""
    named = getattr(args, "output_path", None)
    folder = Path(named) / subpath if named is not None else Path(subpath)
    folder.mkdir(parents=True, exist_ok=True)
    return str((folder / file_name).absolute())
