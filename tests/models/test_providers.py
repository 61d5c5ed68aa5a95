"""Providers: what they declare reaches general code, from inside the package and from outside."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from sketchmark import Model
from sketchmark.errors import MissingExtra
from sketchmark.models import MODELS, Registry, about, address_arguments, hearing, load_model, takes_batches
from sketchmark.models.providers import Provider

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
