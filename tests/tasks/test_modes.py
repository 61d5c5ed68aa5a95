"""A mode as the YAML declares it: which prompts, settings and options win."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from sketchmark import Options, Sample
from sketchmark.benchmarks import mmsi
from sketchmark.episode import Scores
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.tasks import Task, TaskOptions, for_model
from sketchmark.tasks.files import merged
from sketchmark.tasks.names import CodeNames
from tests.core.playing import protocol, task

LEVELS = ("block", "default", "set", "provider", "model", "free")


def _layered(*without: str) -> Task:
    """A prompt `ask` set at every level but some; `of_LEVEL` shows that a level was read at all."""

    def at(level: str) -> dict[str, str]:
        return {"ask": level} if level not in without else {}

    block = {
        "prompts": at("block"),
        "lmms_eval_specific_kwargs": {"default": at("default"), "openai": at("provider"), "openai/gpt": at("model")},
        "free_running": at("free"),
    }
    choices = TaskOptions(prompts="short", model="openai/gpt", steps="model")
    return task({"direct": block}, choices, prompt_sets={"short": {"direct": at("set")}})


@pytest.mark.parametrize("last", range(len(LEVELS)))
def test_block_default_prompt_set_provider_model_and_free_running_go_over_each_other_in_this_order(last: int) -> None:
    chosen = _layered(*LEVELS[last + 1 :]).mode("direct")
    assert chosen.prompts["ask"] == LEVELS[last]


def test_what_a_level_does_not_say_is_kept_from_below() -> None:
    kwargs = {"default": {"b": "default"}, "openai": {"c": "provider"}}
    block = {"prompts": {"a": "block", "b": "block", "c": "block"}, "lmms_eval_specific_kwargs": kwargs}
    mode = task({"direct": block}, TaskOptions(model="openai/gpt")).mode("direct")
    assert mode.prompts == {"a": "block", "b": "default", "c": "provider"}


def test_free_running_wording_is_for_free_running_alone() -> None:
    block = {"prompts": {"plan": "Step {i}."}, "free_running": {"plan": "Step {i}, or DONE."}}
    assert task({"direct": block}, TaskOptions(steps="truth")).mode("direct").prompts["plan"] == "Step {i}."
    assert task({"direct": block}, TaskOptions(steps="model")).mode("direct").prompts["plan"] == "Step {i}, or DONE."


def test_a_prompt_set_is_for_the_modes_it_names_and_only_when_chosen() -> None:
    modes = {name: {"prompts": {"ask": "plain"}} for name in ("direct", "visual_cot")}
    sets = {"short": {"direct": {"ask": "short"}}}
    chosen, not_chosen = task(modes, TaskOptions(prompts="short"), prompt_sets=sets), task(modes, prompt_sets=sets)
    assert [chosen.mode(name).prompts["ask"] for name in modes] == ["short", "plain"]
    assert not_chosen.mode("direct").prompts["ask"] == "plain"


def test_the_default_prompt_set_always_exists_and_an_unknown_one_is_named() -> None:
    assert task({"direct": {}}, TaskOptions(prompts="default")).prompt_sets == {"default"}
    with pytest.raises(UnknownName, match=r"no prompt set 'long' .there are: default, short"):
        task({"direct": {}}, TaskOptions(prompts="long"), prompt_sets={"short": {}})


def test_a_modes_own_arguments_go_over_those_of_the_whole_task() -> None:
    of_task = {"default": {"ask": "task", "pre": "task"}}
    block = {"lmms_eval_specific_kwargs": {"default": {"ask": "mode"}}}
    mode = task({"direct": block}, lmms_eval_specific_kwargs=of_task).mode("direct")
    assert mode.prompts == {"ask": "mode", "pre": "task"}


def test_a_models_block_is_found_by_provider_and_by_full_name_which_wins_and_default_is_no_model() -> None:
    kwargs = {"default": {"a": 0}, "qwen": {"a": 1, "b": 1}, "qwen/vl": {"b": 2}, "other": {"a": 9}}
    assert for_model(kwargs, "qwen/vl") == {"a": 1, "b": 2}
    assert for_model(kwargs, "qwen") == {"a": 1, "b": 1}
    assert for_model(kwargs, "default") == for_model(kwargs, "") == {}


def test_step_counts_among_the_prompts_are_settings_and_no_prompts() -> None:
    block = {
        "prompts": {"ask": "a", "plan_tokens": 64, "max_steps": 5, "num_images": 2},
        "settings": {"max_steps": 9},
    }
    mode = task({"direct": block}).mode("direct")
    assert dict(mode.prompts) == {"ask": "a"}
    assert mode.settings == {"plan_tokens": 64, "max_steps": 5, "num_images": 2}


def test_the_modes_generation_goes_over_the_tasks_and_a_drawing_has_no_token_limit() -> None:
    block = {"generation": {"temperature": 0.5, "top_p": 0.9}, "drawing": {"width": 64, "seed": 7}}
    mode = task({"direct": block}, generation={"max_new_tokens": 100, "temperature": 0, "seed": 1}).mode("direct")
    assert mode.saying == Options(100, 0.5, 1, {"top_p": 0.9})
    assert mode.drawing == Options(None, 0.5, 7, {"top_p": 0.9, "width": 64})


def test_a_drawing_may_be_given_a_token_limit_of_its_own() -> None:
    block = {"generation": {"max_new_tokens": 100}, "drawing": {"max_new_tokens": 8}}
    assert task({"direct": block}).mode("direct").drawing.max_new_tokens == 8


def test_a_mode_like_another_takes_over_all_that_it_does_not_say_itself() -> None:
    modes: dict[str, Any] = {
        "a": {"protocol": "four_steps", "prompts": {"x": "a", "y": "a"}, "generation": {"seed": 1}},
        "b": {"like": "a", "prompts": {"y": "b"}, "in_words": True},
        "c": {"like": "b", "prompts": {"z": "c"}},
    }
    toy = task(modes)
    assert [dict(toy.mode(name).prompts) for name in "abc"] == [
        {"x": "a", "y": "a"},
        {"x": "a", "y": "b"},
        {"x": "a", "y": "b", "z": "c"},
    ]
    assert [toy.mode(name).in_words for name in "abc"] == [False, True, True]
    assert {toy.mode(name).protocol_name for name in "abc"} == {"four_steps"}
    assert toy.mode("c").saying.seed == 1 and modes["b"]["like"] == "a"


def test_a_mode_is_played_directly_unless_it_says_how_and_may_name_a_protocol_of_ones_own() -> None:
    toy = task({"plain": {}, "own": {"protocol": f"{__name__}:OWN"}})
    assert toy.mode("plain").protocol is protocol("direct")
    assert toy.mode("own").protocol is OWN and toy.mode("own").protocol_name == f"{__name__}:OWN"
    assert toy.modes == ["plain", "own"]


OWN = protocol("four_steps")


def test_an_unknown_mode_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no mode 'x' .it has: direct, other"):
        task({"direct": {}, "other": {}}).mode("x")


@pytest.mark.parametrize("config", [{"source": {"use": "a:b"}}, {"modes": {}}])
def test_a_task_needs_a_source_and_modes(config: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="needs `source` and `modes`"):
        Task("toy", config)


def test_a_script_is_made_of_the_modes_prompts_and_settings() -> None:
    mode = task({"direct": {"prompts": {"ask": "{q}"}, "settings": {"max_steps": 4}}}).mode("direct")
    made = mode.fill(Sample("s", fields={"q": "why?"}), "model")
    assert (made.text("ask"), made.steps, made.max_steps) == ("why?", "model", 4)


def test_all_that_shapes_a_modes_requests_is_described() -> None:
    block = {"prompts": {"ask": "a"}, "settings": {"max_steps": 4}, "in_words": True, "generation": {"seed": 2}}
    mode = task({"direct": block}).mode("direct")
    assert mode.describe() == {
        "protocol": "direct",
        "prompts": {"ask": "a"},
        "settings": {"max_steps": 4},
        "in_words": True,
        "saying": {"max_new_tokens": None, "temperature": 0.0, "seed": 2, "extra": {}},
        "drawing": {"max_new_tokens": None, "temperature": 0.0, "seed": 2, "extra": {}},
        "blind": False,
    }


def test_an_endless_source_stops_at_the_limit_and_a_tasks_own_serves_those_who_give_none() -> None:
    toy = task({"direct": {}}, source={"use": f"{__name__}:endless", "prefix": "w"}, default_limit=3)
    assert [sample.id for sample in toy.samples(limit=2, seed=5)] == ["w5.0", "w5.1"]
    assert len(list(toy.samples())) == 3
    assert len(list(toy.samples(limit=0))) == 0
    assert toy.describe_source(5) == {"use": f"{__name__}:endless", "prefix": "w", "seed": 5}


def endless(*, seed: int, data: object, prefix: str) -> Any:
    return (Sample(f"{prefix}{seed}.{i}") for i in itertools.count())


def test_a_scoring_that_could_not_be_made_is_refused_before_the_first_call() -> None:
    listed = {"strict": None, "models": "no_such_package_anywhere", "here": "json"}
    toy = task({"direct": {}}, scorings=listed, judged_scorings=["strict"])
    toy.check_scoring("strict", with_judge=True)
    toy.check_scoring("here", with_judge=False)
    with pytest.raises(BadInput, match="give --judge"):
        toy.check_scoring("strict", with_judge=False)
    with pytest.raises(UnknownName, match=r"no scoring 'loose' .there are: strict, models"):
        toy.check_scoring("loose", with_judge=True)
    with pytest.raises(MissingExtra):
        toy.check_scoring("models", with_judge=True)
    task({"direct": {}}).check_scoring("anything", with_judge=False)


def test_a_scorer_may_be_named_with_settings_of_its_own() -> None:
    toy = task({"direct": {}}, scorers=[f"{__name__}:scored", {"use": f"{__name__}:scored", "factor": 3}])
    plain, tripled = toy.scorers
    assert [scorer(1) for scorer in (plain, tripled)] == [Scores({"x": 1}), Scores({"x": 3})]  # type: ignore[call-arg, arg-type]
    assert toy.aggregate is None
    named: object = task({"direct": {}}, aggregate=f"{__name__}:scored").aggregate
    assert named is scored


def scored(value: float, factor: float = 1) -> Scores:
    return Scores({"x": value * factor})


def test_code_is_found_inside_the_tasks_first_and_then_anywhere_and_otherwise_named() -> None:
    find = CodeNames().find
    assert find("mmsi:accuracy") is find("sketchmark.benchmarks.mmsi:accuracy") is mmsi.accuracy
    assert find("itertools:count") is itertools.count
    for missing in ("itertools:nothing", "no.such.module:name"):
        with pytest.raises(UnknownName, match="cannot find"):
            find(missing)


def test_mappings_are_merged_key_by_key_and_anything_else_is_replaced() -> None:
    base = {"a": {"x": 1, "y": [1]}, "b": 1, "c": {"z": 1}}
    assert merged(base, {"a": {"y": [2]}, "b": {"n": 1}, "c": 5}) == {"a": {"x": 1, "y": [2]}, "b": {"n": 1}, "c": 5}
    assert base == {"a": {"x": 1, "y": [1]}, "b": 1, "c": {"z": 1}}
