"""Files that are there whole or not at all, for readers in other processes and after a kill."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from sketchmark.files.plain import plain


def write_atomic(path: Path, data: bytes) -> None:
    """Written to the side and renamed: the name never stands for half a file, whoever else writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    temporary.write_bytes(data)
    temporary.replace(path)


def write_json(path: Path, value: Any) -> None:
    write_atomic(path, (json.dumps(plain(value), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
