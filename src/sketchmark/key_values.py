"""`key=value,key=value`: arguments as the command line takes them."""

from __future__ import annotations

from typing import Any

from sketchmark.errors import BadInput


def parse_arguments(text: str | None) -> dict[str, Any]:
    """`k=v,k2=v2` as in lmms-eval: true/false, numbers and quoted text are understood; the rest stays text."""
    import yaml

    values: dict[str, Any] = {}
    for piece in filter(None, (text or "").split(",")):
        key, equals, value = piece.partition("=")
        if not equals:
            raise BadInput(f"{piece!r} is not key=value", "write arguments as key=value,key=value")
        try:
            scalar = yaml.safe_load(value) if value else ""
        except yaml.YAMLError:
            scalar = value
        kept = isinstance(scalar, (bool, int, float)) or (isinstance(scalar, str) and value[:1] in ("'", '"'))
        values[key.strip().replace("-", "_")] = scalar if kept else value
    return values
