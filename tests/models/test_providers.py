"""Providers: what they declare reaches general code, from inside the package and from outside."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from sketchmark import Model
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.models import (
    MODELS,
    Registry,
    about,
    address_arguments,
    hearing,
    load_model,
    takes_batches,
    understood,
)
from sketchmark.models.providers import Provider
from sketchmark.settings import parse_arguments
from tests.tabled import tabled

PACKAGE = """
from sketchmark import Model, Reply
from sketchmark.models.providers import Provider

class Far(Model):
    def __init__(self, name="", where="", batch_size=1, max_retries=6):
        super().__init__(name)

    async def say(self, context, options):
        return Reply(text="far")

PROVIDER = Provider(Far, "far/NAME: a server far away", addresses=("where",), batches=True)
"""


@pytest.mark.parametrize("name", MODELS)
def test_a_built_in_module_declares_its_provider(name: str) -> None:
    module, _, variable = MODELS[name].partition(":")
    assert isinstance(getattr(import_module(module), variable or "PROVIDER"), Provider)


def test_a_declaration_decides_batches_addresses_and_sounds() -> None:
    assert [name for name in MODELS if takes_batches(f"{name}/x")] == ["hf", "janus", "diffusers"]
    assert address_arguments("azure/x") == ("azure_endpoint", "base_url") and address_arguments("player/x") == ()
    assert address_arguments("unknown/x") == ("base_url",)
    assert hearing() == ["openai", "azure", "gemini"]


def test_a_provider_of_an_installed_package_is_declared_as_a_built_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far_package.py").write_text(PACKAGE)
    info = tmp_path / "far-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: far\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sketchmark.models]\nfar = far_package:PROVIDER\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert about(["far", "qwen2_vl", "mine"]) == {
        "far": "far/NAME: a server far away",
        "qwen2_vl": "the same as hf",
        "mine": "a plug-in",
    }
    assert "far" in Registry().names()
    assert takes_batches("far/x") and address_arguments("far/x") == ("where",)
    assert isinstance(load_model("far/x", {"where": "http://a"}), Model)
    several = load_model("far/x", {"where": "http://a|http://b"})
    assert type(several).__name__ == "Several" and several.arguments == {"where": "http://a|http://b"}


def test_a_pipeline_without_its_package_says_what_to_install() -> None:
    with pytest.raises(MissingExtra, match=r"sketchmark\[diffusers\]"):
        load_model("diffusers/some/pipeline")


@tabled
def test_names_of_lmms_eval_say_how_they_are_understood(name: str, arguments: str, told: str) -> None:
    found = understood(name, parse_arguments(arguments))
    assert found.told == f"{name} is understood as {told}"
    assert found.model == name and not found.drawer
    assert understood("player/solver", {}).told == ""


@tabled
def test_a_pair_of_lmms_eval_becomes_a_thinker_and_a_drawer(
    arguments: str, pair: tuple[str, str], own: dict[str, object], drawers: dict[str, object]
) -> None:
    for name in ("qwen_image_edit", "qwen_image_edit_visual_cot"):
        found = understood(name, parse_arguments(arguments))
        assert (found.model, found.drawer) == pair and (found.model_args, found.drawer_args) == (own, drawers)
        assert found.told == f"{name} is understood as --model {pair[0]} --drawer {pair[1]}"
    other = understood("qwen_image_edit", {}, "player/solver", {"seed": 1})
    assert other.drawer == "player/solver" and other.drawer_args == {"seed": 1}


@pytest.mark.parametrize("name", ["ovis_u1", "showo2_visual_cot", "mmada", "omnigen2_visual_cot"])
def test_a_model_of_lmms_eval_without_an_adapter_is_refused_with_a_way_out(name: str) -> None:
    with pytest.raises(UnknownName, match=f"{name} has no adapter here") as refused:
        load_model(name, {"pretrained": "x"})
    assert "base_url" in refused.value.hint


def test_a_name_that_means_a_server_says_how_to_serve_the_weights() -> None:
    with pytest.raises(UnknownName, match="vllm is a server here") as refused:
        load_model("vllm", {"pretrained": "a/b"})
    assert refused.value.hint == "vllm serve a/b, then --model openai/a/b --model-args base_url=URL"


def test_bagel_says_that_its_weights_are_understood_and_what_is_missing() -> None:
    with pytest.raises(BadInput, match="the weights /w/BAGEL are understood") as refused:
        load_model("bagel", {"pretrained": "/w/BAGEL", "mode": "generation"})
    assert "code=" in refused.value.hint and "base_url=" in refused.value.hint
    with pytest.raises(BadInput, match="needs to know how to run"):
        load_model("bagel")
