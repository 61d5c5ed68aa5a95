"""What a run file may say. The keys are the options of `sketchmark run`, and mean the same.

What belongs to one start and not to the suite (`--fresh`, `--cache`, `--trust-code`, where results go…) is said on
the command line: a file that somebody sent must not delete, write elsewhere or run code.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from sketchmark.task_files.checking import Count

Names = str | list[str]
"""One name, several with commas, or a list."""

OF_THE_COMMAND = frozenset(
    (
        *("draw", "output_path", "retry_failed", "fresh", "cache", "no_cache", "trust_code", "strict_leaks"),
        *("engine", "ray_address", "replicas", "num_gpus", "shard", "quiet"),
    )
)
"""Options of `sketchmark run` that are no keys: they are for the person who starts it."""

Arguments = dict[str, Any]
FolderName = Annotated[
    str, Meta(extra={"pattern": r"[A-Za-z0-9_\-][A-Za-z0-9_.\-]{0,99}", "written as": "letters, digits, _ . and -"})
]


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be said for all tasks, or for some of them."""

    mode: Names | None = None
    canvas: Names | None = None
    steps: str | None = None
    prompts: str | None = None
    limit: int | float | None = None
    task_args: Arguments = {}
    gen_kwargs: Arguments = {}
    data: str | None = None
    scoring: Names | None = None
    on_draw_failure: str | None = None
    time_limit: float | None = None


class TaskEntry(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tasks with settings of their own, over those of the file."""

    task: Names


class ModelEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model with settings of its own, over those of its tasks and of the file."""

    model: str
    name: FolderName | None = None
    """Of its run folder."""
    model_args: Arguments = {}
    gen_kwargs: Arguments = {}
    mode: Names | None = None
    canvas: Names | None = None
    concurrency: Count | None = None
    batch_size: int | str | None = None
    max_requests_per_minute: Count | None = None
    time_limit: float | None = None


class RunFile(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Models and the tasks that each of them plays."""

    models: Annotated[list[str | ModelEntry], Meta(min_length=1)]
    tasks: str | Annotated[list[str | TaskEntry], Meta(min_length=1)]
    seed: int = 0
    judge: str | None = None
    judge_args: Arguments = {}
    concurrency: Count | None = None
    include: Names = []
    prices: str | dict[str, dict[str, float]] | None = None
    max_cost: Annotated[float, Meta(ge=0)] | None = None
