"""Small run folders in the public format (docs/run-folder.md), written directly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from sketchmark.cli import main


def row(index: int, value: float | None, **changes: Any) -> dict[str, Any]:
    """One score line; `values`, `groups`, `notes`, `scored`, `sample` and `fingerprint` can be given."""
    return {
        "index": index,
        "sample": f"s{index}",
        "fingerprint": f"f{index}",
        "groups": {},
        "scored": True,
        "notes": {},
        "flags": [],
        "usage": {},
        "started": 0.0,
        "seconds": 0.1,
        **changes,
        "values": {"acc": value, **changes.get("values", {})},
    }


def rows(scores: Sequence[float | None], **changes: Any) -> list[dict[str, Any]]:
    return [row(index, score, **changes) for index, score in enumerate(scores)]


def write_run(
    path: Path,
    cells: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    model: str = "player/one",
    play: Mapping[str, Any] | None = None,
    **about: Any,
) -> Path:
    """`cells`: `task.mode` or `task.mode.canvas` -> score rows."""
    described = {}
    for name, lines in cells.items():
        task, mode, canvas = (*name.split("."), "own")[:3]
        described[name] = {
            "task": task,
            "mode": mode,
            "canvas": canvas,
            "steps": "truth",
            "headline": "acc",
            "breakdown": [],
            "model": {"name": model},
            "play": {"protocol": mode, "prompts": {"ask": "What?"}, "saying": {"temperature": 0}, **(play or {})},
            **about,
        }
        file = path / "scores" / f"{name}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (path / "run.json").write_text(json.dumps({"format": 3, "model": {"name": model}, "cells": described}))
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """Exit code and output of `sketchmark compare`."""
    with pytest.raises(SystemExit) as ended:
        main(["compare", *map(str, words)])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err
