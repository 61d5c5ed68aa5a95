"""Files of lmms-eval's shape: the keys that are read here, and their types. Any other key is theirs and is let be.

What they mean: docs/benchmarks/lmms-eval-tasks.md.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sketchmark.task_files.schema import Include, Member, Tags


class Function(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"function": "!function"}
):  # how the reader keeps `!function utils.name`
    function: str


class Filter(Struct, frozen=True, kw_only=True):
    function: str | Function | None = None


class Filters(Struct, frozen=True, kw_only=True):
    name: str | None = None
    filter: list[Filter] = []


class Sampling(Struct, frozen=True, kw_only=True):
    max_new_tokens: int | None = None
    temperature: float | None = None
    do_sample: bool | None = None
    top_p: float | None = None
    top_k: int | None = None
    until: str | list[str] | None = None


class LmmsEvalFile(Struct, frozen=True, kw_only=True):
    include: Include = []
    task: str | None = None
    tag: Tags | None = []
    group: str | list[str] | None = None
    output_type: str = "generate_until"
    dataset_path: str | None = None
    dataset_name: str | None = None
    dataset_kwargs: dict[Any, Any] | None = None
    test_split: str | None = None
    validation_split: str | None = None
    training_split: str | None = None
    doc_to_text: str | Function | None = None
    doc_to_visual: str | Function | None = None
    doc_to_target: str | int | Function | None = None
    process_docs: Function | None = None
    process_results: Function | None = None
    description: str | None = None
    cluster_key: str | None = None
    repeats: int | None = None
    num_fewshot: int | None = None
    fewshot_split: str | None = None
    fewshot_config: dict[str, Any] | None = None
    fewshot_delimiter: str = "\n\n"
    target_delimiter: str = " "
    full_docs: bool | None = None
    metric_list: list[Any] | None = None
    filter_list: list[Filters] | None = None
    generation_kwargs: Sampling | None = None
    model_specific_generation_kwargs: dict[str, Sampling] | None = None
    lmms_eval_specific_kwargs: dict[Any, Any] | None = None


class LmmsEvalGroup(Struct, frozen=True, kw_only=True):
    include: Include = []
    group: str
    task: list[str | Member]
