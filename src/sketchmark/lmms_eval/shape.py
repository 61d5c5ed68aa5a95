"""The keys of lmms-eval's task files, and the check of task files of either shape, ours or lmms-eval's.

Keys that are not listed here are lmms-eval's own and are ignored. A key that is nearly a listed one is refused,
because its author would not notice that it is not read. docs/benchmarks/lmms-eval-tasks.md explains the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from sketchmark.errors import BadInput
from sketchmark.files.yaml import Glance, checked, nearly
from sketchmark.tasks import for_model
from sketchmark.tasks.files import FILE_MODES, check_own, lineage, load_with_includes, merged
from sketchmark.tasks.schema import GroupFile, Include, Tags, TaskFile

Config = Mapping[str, Any]

FUNCTION = "!function"
"""The key that the YAML reader gives the tag: `!function utils.name` is read as `{"!function": "utils.name"}`."""


class Function(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"function": "!function"}
):  # the YAML reader's form of `!function utils.name`
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


class InlineMember(Struct, frozen=True, kw_only=True):
    """A task or group by name, or a group that is written out in the group around it."""

    task: str | list[str | InlineMember]


class LmmsEvalGroup(Struct, frozen=True, kw_only=True):
    include: Include = []
    group: str
    task: list[str | InlineMember]


_FURTHER = (
    *("task_alias", "group_alias", "doc_to_choice", "doc_to_messages", "process_results_use_image", "use_prompt"),
    *("should_decontaminate", "doc_to_decontamination_query", "score_key", "metadata", "class"),
    *("model_specific_target_kwargs", "reasoning_tags", "auto_strip_thinking"),
)
_OF_A_TASK = (*LmmsEvalFile.__struct_fields__, *_FURTHER)
_OF_A_METRIC = (
    *("metric", "aggregation", "higher_is_better"),
    *("regexes_to_ignore", "ignore_case", "ignore_punctuation", "ignore_numbers"),
)
_OF_A_GROUP = ("include", "group", "group_alias", "task", "tasks", "task_alias", "aggregate_metric_list", "metadata")


def refuse_near_misses(config: Mapping[str, Any], where: str) -> None:
    """Refuse a key of a task that is nearly a known one. lmms-eval itself refuses any unknown key."""
    _refuse_near_misses(config, _OF_A_TASK, where)
    for number, metric in enumerate(config.get("metric_list") or ()):
        if isinstance(metric, Mapping):
            _refuse_near_misses(metric, _OF_A_METRIC, f"{where}: metric_list[{number}]")


def _refuse_near_misses(given: Iterable[object], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if meant := nearly(str(key), known):
            raise BadInput(f"{where}: unknown key {key}", f"did you mean {meant}?")


def members_in(listed: Iterable[Any]) -> Iterator[str]:
    """Yield the names in a group's list, also those of groups inside it."""
    for member in listed:
        inner = member["task"] if isinstance(member, Mapping) else member
        yield from members_in(inner) if isinstance(inner, list) else [str(inner)]


def refuse_settings(group: Mapping[str, Any], where: str) -> None:
    """Refuse settings in a group. lmms-eval applies them to its tasks, which then differ under the same name."""
    inside = group.get("tasks", group.get("task"))
    for key in group:
        if key not in _OF_A_GROUP:
            meant = nearly(str(key), _OF_A_GROUP)
            raise BadInput(
                f"{where} sets {key} for {', '.join(members_in([inside]))[:100]}, which is not done here",
                f"did you mean {meant}?"
                if meant
                else "set it in a task file that includes the task's and has another name under `task:`",
            )
    for member in inside if isinstance(inside, list) else ():
        if isinstance(member, Mapping):
            refuse_settings(member, where)


def wants_a_group_score(group: Mapping[str, Any]) -> bool:
    inside = (one for one in group.get("task") or () if isinstance(one, Mapping))
    return bool(group.get("aggregate_metric_list")) or any(map(wants_a_group_score, inside))


_KEYS = frozenset((*TaskFile.__struct_fields__, *GroupFile.__struct_fields__, *LmmsEvalFile.__struct_fields__))


def may_be_a_task(seen: Glance, name: str) -> bool:
    """Return whether a YAML file in an included folder is meant as a task file: it has at least one key of one, or
    cannot be read. A name that begins with `_` is for includes, except for lmms-eval if it has `task:`."""
    if name.startswith("_"):
        return "task" in seen.keys
    return seen.broken or not _KEYS.isdisjoint(seen.keys)


@cache
def read_config(path: Path) -> dict[str, Any]:
    """Read a task file with its `include:` files merged beneath it, and check it."""
    config, repeated = load_with_includes(path, is_lmms_eval, named_from)
    if repeated and not (is_lmms_eval(config) or _is_lmms_eval_group(config)):  # in lmms-eval the last one counts
        raise BadInput(repeated)
    checked_config(config, f"task file {path}")
    return config


def checked_config(config: Mapping[str, Any], where: str) -> Struct:
    """Check a file as a task, a group, or either of lmms-eval's shape."""
    if not is_lmms_eval(config) and not is_group(config):
        return check_own(config, where)
    kind: type[Struct] = LmmsEvalFile
    if is_group(config):
        kind = LmmsEvalGroup if _is_lmms_eval_group(config) else GroupFile
    found = checked(config, kind, where, known=("tasks",))
    (refuse_near_misses if kind is LmmsEvalFile else refuse_settings)(config, where)
    return found


def is_lmms_eval(config: Mapping[str, Any]) -> bool:
    return "dataset_path" in config or "doc_to_text" in config


def is_group(config: Mapping[str, Any]) -> bool:
    """Return whether a file is a group. lmms-eval also writes `group:` into single tasks, as a label."""
    return "tasks" in config or _is_lmms_eval_group(config)


def _is_lmms_eval_group(config: Mapping[str, Any]) -> bool:
    return "tasks" not in config and "group" in config and isinstance(config.get("task"), list)


def members_of(config: Mapping[str, Any]) -> list[str]:
    return list(members_in(config.get("tasks") or config["task"]))


def name_of(path: Path) -> str:
    named = read_config(path).get("task")
    return named if isinstance(named, str) else path.stem


def mode_in(name: str, config: Mapping[str, Any]) -> str | None:
    if config.get("output_type") == "generate_visual_cot":
        return "visual_cot"
    return next((mode for mode in FILE_MODES if name.lower().endswith(f"_{mode}")), None)


def functions_in(config: object) -> list[str]:
    """Return every function that a config names, in order."""
    if isinstance(config, Mapping):
        if set(config) == {FUNCTION}:
            return [str(config[FUNCTION])]
        return [name for value in config.values() for name in functions_in(value)]
    if isinstance(config, list):
        return [name for value in config for name in functions_in(value)]
    return []


def named_from(config: Any, there: str, folder: Path) -> Any:
    """Rewrite the functions of a config from another folder: `../utils.name`."""
    if isinstance(config, Mapping):
        if set(config) == {FUNCTION}:
            name = str(config[FUNCTION])
            return {FUNCTION: f"{there}/{name}" if function_file(folder, name.rpartition(".")[0]).is_file() else name}
        return {key: named_from(value, there, folder) for key, value in config.items()}
    return [named_from(value, there, folder) for value in config] if isinstance(config, list) else config


def function_file(folder: Path, module: str) -> Path:
    """Return the file of a module: `utils` is `utils.py`, `sub.utils` is `sub/utils.py`. A part before a slash is
    another folder."""
    there, _, name = module.rpartition("/")
    return folder / there / f"{name.replace('.', '/')}.py"


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def metrics(config: Config) -> list[Config]:
    return [
        metric for metric in config.get("metric_list") or () if isinstance(metric, Mapping) and "metric" in metric
    ]


def reduced_by_function(config: Config) -> list[Config]:
    """Return the metrics that are aggregated by a function of the file."""
    return [metric for metric in metrics(config) if FUNCTION in mapping(metric.get("aggregation"))]


def functions(config: Config) -> list[str]:
    """Return the functions of the file that a run calls. Others, such as `doc_to_messages`, are not called."""
    used = [config.get(key) for key in ("process_docs", "doc_to_visual", "doc_to_text", "doc_to_target")]
    used += [config.get("process_results"), list(pipelines(config).values()), features(config)]
    used += [worded_otherwise(config)]
    return functions_in([*used, [metric.get("aggregation") for metric in metrics(config)]])


def features(config: Config) -> Any:
    """Return the types of the data's columns, if the file sets them."""
    return mapping(config.get("dataset_kwargs")).get("features")


FIRST, ANY = "first_n", "default"
"""The ways to choose few-shot examples, by lmms-eval's names."""


def examples_wanted(config: Config) -> int:
    return max(0, int(config.get("num_fewshot") or 0))


def worded_otherwise(config: Config) -> Config:
    """Return the `doc_to_text` and `doc_to_target` that few-shot examples use instead of the questions'."""
    own = mapping(config.get("fewshot_config")) if examples_wanted(config) else {}
    return {key: own[key] for key in ("doc_to_text", "doc_to_target") if own.get(key) is not None}


def examples_given(config: Config) -> list[Config] | None:
    """Return the documents that the file itself gives as few-shot examples."""
    return mapping(config.get("fewshot_config")).get("samples")


def examples_split(config: Config) -> str | None:
    """Return the split of few-shot examples; None if they are drawn from the questions."""
    keys = ("fewshot_split", "training_split", "validation_split")
    return next((str(config[key]) for key in keys if config.get(key) is not None), None)


def pipelines(config: Config) -> dict[str, list[Config]]:
    """Return suffix of a score's name -> filters of the reply. The first has no suffix; the others are named as
    lmms-eval does it: `exact_match,flexible`."""
    listed = config.get("filter_list") or [{"filter": [{"function": "take_first"}]}]
    return {
        f",{one.get('name', number)}" if number else "": list(one.get("filter") or ())
        for number, one in enumerate(listed)
    }


def together(config: Config) -> frozenset[str]:
    """Return the pipelines that make one score of several replies to a document, by suffix: a vote, the first k, or
    all replies of a file with `repeats`. The others score each reply."""
    several = int(config.get("repeats") or 1) > 1
    return frozenset(suffix for suffix, steps in pipelines(config).items() if _combines(steps, several))


def _combines(steps: Sequence[Config], several: bool) -> bool:
    for step in steps:
        if step.get("function") == "take_first" or (step.get("function"), step.get("k")) == ("take_first_k", 1):
            return False
        if step.get("function") in ("majority_vote", "take_first_k"):
            return True
    return several


def specific(config: Config, model: str) -> dict[str, Any] | None:
    """Return the prompt settings of a model; None if the file has none. A file may give them without a model's
    name. A model's block overrides `default` (or `dataset`), which overrides those."""
    if config.get("lmms_eval_specific_kwargs") is None:
        return None
    given = mapping(config["lmms_eval_specific_kwargs"])
    blocks = {name: block for name, block in given.items() if isinstance(block, Mapping)}
    base = blocks.get("default", blocks.get("dataset", {}))
    return {**given, **base, **for_model(blocks, model)}


def target_setting(config: Config, model: str) -> Any:
    """Return what `doc_to_target` gets in addition to the document: the model's entry, otherwise `default`;
    usually a word."""
    given = mapping(config.get("model_specific_target_kwargs"))
    names = (model, model.partition("/")[0], "default")
    return next((given[name] for name in names if name in given), None)


def generation(config: Config, model: str) -> dict[str, Any]:
    """The file's settings in our words. Sampling settings count only where it samples: where it says so, or says
    nothing and has a temperature."""
    given = {
        **(config.get("generation_kwargs") or {}),
        **for_model(config.get("model_specific_generation_kwargs") or {}, model),
    }
    temperature = float(given.get("temperature") or 0)
    sampling = bool(temperature if given.get("do_sample") is None else given["do_sample"])
    settings = {"temperature": temperature if sampling else 0.0}
    if given.get("max_new_tokens"):
        settings["max_new_tokens"] = int(given["max_new_tokens"])
    if given.get("seed") is not None:
        settings["seed"] = int(given["seed"])
    further = {
        key: value for key, value in given.items() if key not in _READ and value not in (None, _AS_USUAL.get(key))
    }
    return settings | further | {key: given[key] for key in ("top_p", "top_k") if sampling and given.get(key)}


_READ = ("max_new_tokens", "temperature", "do_sample", "top_p", "top_k", "seed", "until")
"""Settings with a meaning here. `until` truncates replies when they are scored. All others are passed on as they are:
a run names those that a model does not receive."""

_AS_USUAL = {"num_beams": 1, "repetition_penalty": 1, "num_return_sequences": 1}
"""Values that every server uses anyway."""


_KWARGS, _BLOCK = "lmms_eval_specific_kwargs", "bagel_interleaved"
_COUNTS = ("task_type", "num_images")
"""Settings of the protocol in that block. The drawing calls get all but the first."""


def our_config(path: Path) -> Mapping[str, Any]:
    """Return the config of a task file of our shape. A block `bagel_interleaved`, as lmms-eval's tasks have it,
    becomes `settings` and `drawing` of the modes. Values that a mode sets itself take precedence."""
    config = read_config(path)
    if not any(_KWARGS in place for place in (config, *config.get("modes", {}).values())):
        return config
    where = f"task file {path}"
    declared = checked(config, TaskFile, where)
    return {**config, "modes": {name: _mode(config, lineage(declared.modes, name, where)) for name in declared.modes}}


def _mode(config: Mapping[str, Any], names: list[str]) -> Mapping[str, Any]:
    own: Mapping[str, Any] = config["modes"][names[0]]
    whole: dict[str, Any] = {_KWARGS: config.get(_KWARGS, {})}
    for name in reversed(names):
        whole = merged(whole, config["modes"][name])
    given: Mapping[str, Any] = whole[_KWARGS].get(_BLOCK, {})
    if not given:
        return own
    settings = {key: given[key] for key in given if key in _COUNTS} | whole.get("settings", {})
    drawing = {key: given[key] for key in given if key != _COUNTS[0]} | whole.get("drawing", {})
    return {**own, "settings": settings, "drawing": drawing}
