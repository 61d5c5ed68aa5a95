"""What a task file of lmms-eval's shape says, in few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sketchmark.task import for_model
from sketchmark.task_files.functions import FUNCTION, functions_in

Config = Mapping[str, Any]


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def metrics(config: Config) -> list[Config]:
    return [
        metric for metric in config.get("metric_list") or () if isinstance(metric, Mapping) and "metric" in metric
    ]


def reduced_by_function(config: Config) -> list[Config]:
    """The metrics with an aggregation of the file's own."""
    return [metric for metric in metrics(config) if FUNCTION in mapping(metric.get("aggregation"))]


def functions(config: Config) -> list[str]:
    """The functions of the file that a run asks for; others, such as `doc_to_messages`, are not ours to call."""
    used = [config.get(key) for key in ("process_docs", "doc_to_visual", "doc_to_text", "doc_to_target")]
    used += [config.get("process_results"), list(pipelines(config).values()), features(config)]
    used += [worded_otherwise(config)]
    return functions_in([*used, [metric.get("aggregation") for metric in metrics(config)]])


def features(config: Config) -> Any:
    """The types of the data's columns, where the file has its own."""
    return mapping(config.get("dataset_kwargs")).get("features")


def examples_wanted(config: Config) -> int:
    return max(0, int(config.get("num_fewshot") or 0))


def worded_otherwise(config: Config) -> Config:
    """What few-shot examples have instead of the `doc_to_text` and `doc_to_target` of questions."""
    own = mapping(config.get("fewshot_config")) if examples_wanted(config) else {}
    return {key: own[key] for key in ("doc_to_text", "doc_to_target") if own.get(key) is not None}


def examples_given(config: Config) -> list[Config] | None:
    """The documents that the file itself brings as few-shot examples."""
    return mapping(config.get("fewshot_config")).get("samples")


def examples_split(config: Config) -> str | None:
    """Where few-shot examples are drawn from, None for the questions themselves."""
    keys = ("fewshot_split", "training_split", "validation_split")
    return next((str(config[key]) for key in keys if config.get(key) is not None), None)


def pipelines(config: Config) -> dict[str, list[Config]]:
    """What replies go through before they are scored: how a score's name ends -> filters. The first has the plain
    name, further ones are told apart as lmms-eval does it: `exact_match,flexible`."""
    listed = config.get("filter_list") or [{"filter": [{"function": "take_first"}]}]
    return {
        f",{one.get('name', number)}" if number else "": list(one.get("filter") or ())
        for number, one in enumerate(listed)
    }


def specific(config: Config, model: str) -> dict[str, Any] | None:
    """The prompt settings for a model, None where the file has none. A file may give them flat, without any model's
    name; a block of the model is laid over `default` (or `dataset`), which is laid over those."""
    if config.get("lmms_eval_specific_kwargs") is None:
        return None
    given = mapping(config["lmms_eval_specific_kwargs"])
    blocks = {name: block for name, block in given.items() if isinstance(block, Mapping)}
    base = blocks.get("default", blocks.get("dataset", {}))
    return {**given, **base, **for_model(blocks, model)}


def target_setting(config: Config, model: str) -> Any:
    """What `doc_to_target` is told beside the document: the model's entry, else `default`; a word as a rule."""
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
    return settings | {key: given[key] for key in ("top_p", "top_k") if sampling and given.get(key)}


_SENT = ("max_new_tokens", "temperature", "do_sample", "top_p", "top_k", "seed", "until")
_AS_USUAL = {"num_beams": 1, "repetition_penalty": 1, "num_return_sequences": 1}


def not_sent(config: Config) -> Config:
    """The file's settings that no model here is told, but for those that say what every server does anyway."""
    given = mapping(config.get("generation_kwargs")).items()
    return {key: value for key, value in given if key not in _SENT and value not in (None, _AS_USUAL.get(key))}
