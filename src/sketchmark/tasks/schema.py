"""The schema of task files: it checks the files, fills the docs and completes keys in editors.

`python -m sketchmark.tasks` prints the JSON schema that ships as `task.schema.json`; with `table`, the table
of keys in docs/add-a-task.md.
"""

from __future__ import annotations

from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta, Struct

from sketchmark.files.yaml import Count


def _written(pattern: str, as_: str, description: str) -> Meta:
    """Describe a text of a form. Not by `Meta(pattern=…)`: msgspec 0.22 frees a pattern inside a union once too
    often, and the process crashes at the next garbage collection."""
    return Meta(
        description=description,
        extra_json_schema={"pattern": f"^{pattern}$"},
        extra={"pattern": pattern, "written as": as_},
    )


_WORD = r"[A-Za-z_]\w*"
CODE = rf"({_WORD}\.{_WORD}|{_WORD}(\.{_WORD})*:{_WORD})"
Code = Annotated[str, _written(CODE, "module:name", "A Python object as `module:name`, or the alias of one of ours.")]
Made = Annotated[
    str, _written(rf"({_WORD}|{CODE})", "module:name", "The function, as `module:name` or the alias of one of ours.")
]
Name = Annotated[str, _written(r"[A-Za-z0-9_\-]+", "letters, digits, _ and -", "Letters, digits, `_` and `-`.")]


class Use(Struct, frozen=True, kw_only=True):
    """A function and its arguments. Open: every other key is an argument."""

    use: Made


class Generation(Struct, frozen=True, kw_only=True):
    """Settings of a call. Open: other keys are passed to the model as they are."""

    max_new_tokens: Annotated[Count | None, Meta(description="Maximum tokens of a reply.")] = None
    temperature: Annotated[float, Meta(ge=0, description="0: always the likeliest token.")] = 0.0
    seed: Annotated[int | None, Meta(description="For models that can be seeded.")] = None


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a protocol. Open: a protocol of your own reads its settings from `prompts.settings`."""

    plan_tokens: Annotated[Count | None, Meta(description="Maximum tokens of a plan.")] = None
    max_steps: Annotated[Count, Meta(description="Maximum steps under `--steps model`.")] = 20
    num_images: Annotated[int, Meta(ge=0, description="Steps if the sample has no number.")] = 0
    task_type: Annotated[str, Meta(description="The model's name for this kind of task.")] = ""


def _open(shape: type[Struct], description: str) -> Meta:
    """Describe a mapping with some known keys: `shape` checks those, and editors complete them."""
    known = msgspec.json.schema(shape)["$defs"][shape.__name__]["properties"]
    return Meta(description=description, extra_json_schema={"properties": known}, extra={"shape": shape})


Call = Annotated[dict[str, Any], _open(Use, "`use: module:name`, and the function's arguments next to it.")]
Calling = Annotated[dict[str, Any], _open(Generation, "Settings of a call to the model.")]
Counting = Annotated[dict[str, Any], _open(Settings, "Settings of the protocol.")]
PerModel = Annotated[
    dict[str, dict[str, Any]],
    Meta(description="Prompts by model: the block of the model's provider or full name overrides `default`."),
]


class LayoutBlock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Parts of a layout that repeat, or that depend on what the sample has. Exactly one of each, when, unless."""

    each: Annotated[str | None, Meta(description="Repeat for each image of this name: `<it>` and `{i}`.")] = None
    when: Annotated[str | list[str] | None, Meta(description="Only if the sample has one of these.")] = None
    unless: Annotated[str | list[str] | None, Meta(description="Only if the sample has none of these.")] = None
    parts: Annotated[list[str | LayoutBlock], Meta(description="Templates, or `<name>` for an image.")]

    def __post_init__(self) -> None:
        if sum(one is not None for one in (self.each, self.when, self.unless)) != 1:
            raise ValueError("needs exactly one of each, when, unless")
        if self.each is not None and not all(isinstance(part, str) for part in self.parts):
            raise ValueError("repeats plain parts only: no block inside `each`")


Prompts = Annotated[
    dict[str, str | int | float | list[str | LayoutBlock]],
    Meta(description="Prompts by name: a text with `{name}` in it, or a list of parts (a layout, such as `inputs`)."),
]


class ModeBlock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One mode of the task."""

    protocol: Annotated[str, Meta(description="A built-in protocol's name, or your own as `module:name`.")] = "direct"
    like: Annotated[str, Meta(description="Start from that mode: mappings merge, the rest is replaced.")] = ""
    in_words: Annotated[bool, Meta(description="The model describes the drawing in text instead.")] = False
    prompts: Annotated[Prompts, Meta(description="The prompts by name; `inputs` is what is shown first.")] = {}
    free_running: Annotated[Prompts, Meta(description="Prompts that replace those under `--steps model`.")] = {}
    settings: Annotated[Counting, Meta(description="Settings of the protocol, such as `max_steps`.")] = {}
    generation: Annotated[Calling, Meta(description="Overrides the task's `generation`.")] = {}
    drawing: Annotated[
        Calling,
        Meta(description="Overrides `generation` for drawings; a description in text_cot has at least its tokens."),
    ] = {}
    lmms_eval_specific_kwargs: Annotated[PerModel, Meta(description="Prompts by model, for this mode.")] = {}


Include = Annotated[
    str | list[str],
    Meta(description="Files to start from, in this folder or a sibling: mappings merge, the rest is replaced."),
]
Tags = Annotated[str | list[str], Meta(description="Groups that an included task belongs to.")]


class TaskFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task: the source of its samples, its modes and its scorers."""

    include: Include = []
    about: Annotated[str, Meta(description="One sentence for `sketchmark list tasks`, with the paper.")] = ""
    source: Annotated[
        Call,
        Meta(description="The function that yields the samples, and its arguments; `--task_args` override them."),
    ] = {}
    default_limit: Annotated[
        Count | None, Meta(description="Samples of a run that names no `--limit`; for sources without an end.")
    ] = None
    repeats: Annotated[
        Count | None, Meta(description="Independent episodes of each sample in a run that names no `--repeats`.")
    ] = None
    generation: Annotated[Calling, Meta(description="Settings of every call, such as `max_new_tokens`.")] = {}
    modes: Annotated[
        dict[Name, ModeBlock],
        Meta(description="The modes by name; usually direct, visual_cot, text_cot. `blind` follows from direct."),
    ] = {}
    prompt_sets: Annotated[
        dict[str, dict[str, Prompts]],
        Meta(description="Other wordings for `--prompts NAME`: for each mode, the prompts that differ."),
    ] = {}
    default_prompts: Annotated[
        str, Meta(description="The prompt set of a run that names none; `--prompts default` then omits it.")
    ] = ""
    lmms_eval_specific_kwargs: Annotated[PerModel, Meta(description="Prompts by model, for every mode.")] = {}
    scorers: Annotated[
        list[Code | Call], Meta(description="Functions (sample, episode, grading) -> Scores; all are called.")
    ] = []
    scorings: Annotated[
        dict[str, str | None],
        Meta(description="The names that `--scoring` knows, each with the extra it needs, or nothing."),
    ] = {}
    judged_scorings: Annotated[list[str], Meta(description="The scorings that need `--judge`.")] = []
    needs_judge: Annotated[bool, Meta(description="Nothing is scored without `--judge`; the run reports it.")] = False
    aggregate: Annotated[Code | Call | None, Meta(description="(score rows, scoring) -> the task's own summary.")] = (
        None
    )
    settle: Annotated[
        Code | Call | None,
        Meta(description="(score rows, scoring) -> sample -> its values, if other rows decide them too."),
    ] = None
    combine: Annotated[
        Code | Call | None,
        Meta(description="(score rows of all repeats, scoring) -> sample -> Scores, if its repeats have one score."),
    ] = None
    guesses: Annotated[
        Annotated[list[str], Meta(max_length=1000)] | Code | Call | None,
        Meta(
            description="Replies of a guesser: texts ([] for none), or (sample) -> texts; else its options' letters."
        ),
    ] = None
    drawn: Annotated[
        Code | Call | None,
        Meta(description="(sample, episode, grading) -> Scores: what the drawings show, for `--scoring ra-al`."),
    ] = None
    headline: Annotated[str, Meta(description="The score that tables and comparisons show first.")] = ""
    less_is_better: Annotated[
        list[str], Meta(description="Scores for which less is better (an error rate); no gain is measured in them.")
    ] = []
    breakdown: Annotated[list[str], Meta(description="Groups of samples that results are broken down by.")] = []
    submission: Annotated[
        Code | Call | None, Meta(description="(episodes, folder) -> the files of a benchmark that scores elsewhere.")
    ] = None
    replies: Annotated[
        Code | None,
        Meta(description="(row of a replies file) -> the sample that the row itself holds, or None; for score-file."),
    ] = None
    total: Annotated[
        Code | None,
        Meta(
            description="() -> the tasks of a benchmark and their weights; results then have its overall score, too."
        ),
    ] = None
    task: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="The task's name, if it is not the file's.")
    ] = None
    aliases: Annotated[
        list[Name], Meta(description="Other names of the task. A task or group of that name takes precedence.")
    ] = []
    tag: Tags = []
    group: Annotated[str | None, Meta(description="One more tag, as lmms-eval writes it.")] = None


class Member(Struct, frozen=True, kw_only=True):
    """A member of a group as lmms-eval writes it."""

    task: str


Members = Annotated[
    list[str | Member], Meta(min_length=1, description="Tasks, groups, or tasks with a mode's suffix.")
]


class GroupFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name for several tasks."""

    include: Include = []
    group: Annotated[str, Meta(description="Description of the group.")]
    tasks: Members


def json_schema() -> dict[str, Any]:
    """Return the JSON schema for editors. A task requires no key, because any key may come from an included file."""
    _, parts = msgspec.json.schema_components((TaskFile, GroupFile), ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sketchmark task file",
        "anyOf": [{"$ref": "#/$defs/TaskFile"}, {"$ref": "#/$defs/GroupFile"}],
        "$defs": parts,
    }


def table() -> str:
    """Return every key with its description, as Markdown."""
    rows = ["| Key | What it says |", "|---|---|"]
    for start, kind in (("", TaskFile), ("modes.NAME.", ModeBlock), ("", GroupFile)):
        for key, hint in get_type_hints(kind, include_extras=True).items():
            if kind is GroupFile and key == "include":
                continue
            told = next(meta.description for meta in reversed(hint.__metadata__) if meta.description)
            rows.append(f"| `{start}{key}` {'(a group)' if kind is GroupFile else ''}".rstrip() + f" | {told} |")
    return "\n".join(rows) + "\n"


def json_text() -> str:
    return msgspec.json.format(msgspec.json.encode(json_schema()), indent=2).decode() + "\n"
