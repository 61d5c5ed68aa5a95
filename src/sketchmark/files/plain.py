"""Records as plain JSON values: what is written to disk and sent to a browser."""

from __future__ import annotations

from typing import Any

import msgspec


def plain(value: Any) -> Any:
    """Structs and dataclasses become dicts. A number of a scorer's own making (numpy's, say) becomes Python's."""
    return msgspec.to_builtins(value, enc_hook=_builtin)


def _builtin(value: Any) -> Any:
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
