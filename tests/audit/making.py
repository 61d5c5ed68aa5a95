"""Runs to audit: small mazes, real players."""

from __future__ import annotations

from pathlib import Path

import sketchmark
from sketchmark.audit import audit
from sketchmark.audit.contrasts import Finding, TaskAudit

SMALL = "rows=4,cols=4,min_steps=2,max_steps=5"


def played(folder: Path, limit: int, task: str = "maze", task_args: str = SMALL, **faults: float) -> Path:
    """Every mode on every canvas."""
    return sketchmark.run(
        "player/flawed",
        task,
        mode="direct,text_cot,visual_cot",
        canvas="all",
        limit=limit,
        task_args=task_args,
        model_args=faults,
        output_path=folder,
        no_cache=True,
        engine="local",
    ).path


def only_task(run: Path) -> TaskAudit:
    (task,) = audit(run).tasks
    return task


def finding(task: TaskAudit, name: str) -> Finding:
    return next(one for one in task.findings if one.name == name)
