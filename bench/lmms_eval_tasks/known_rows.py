"""What is known beforehand of the rows of some data sets (known_rows.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def known_rows() -> dict[str, dict[str, Any]]:
    """By folder."""
    known: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
    return known
