"""`diffusers/`: pipelines of several families draw from texts and images, and say what they were not shown."""

from __future__ import annotations

import asyncio
import functools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

import sketchmark
from sketchmark import Context, Options, Reply
from sketchmark.episode.desk import CANVASES
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed, DataMissing, RunStopped, SketchmarkError
from sketchmark.media import Picture
from sketchmark.models import load_model
from sketchmark.models.providers import diffusers
from sketchmark.models.providers.diffusers import Diffusers
from sketchmark.testing import serving
from tests.local import tiny_pipelines as tiny
from tests.local.tiny import painted

pytestmark = pytest.mark.local

RED, GREEN, BLUE = (painted(colour, (64, 64)) for colour in ("red", "green", "blue"))
FAMILIES: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "stable_diffusion": (tiny.make_stable_diffusion, {"size": 32}),
    "instruct_pix2pix": (lambda path: tiny.make_stable_diffusion(path, edits=True), {}),
    "flux": (tiny.make_flux, {"size": 32}),
    "kontext": (
        lambda path: tiny.make_flux(path, edits=True),
        {"size": 32, "max_area": 1024, "_auto_resize": False},
    ),
    "flux2": (tiny.make_flux2, {"size": 32}),
    "omnigen": (tiny.make_omnigen, {"size": 32, "max_input_image_size": 32}),
    "qwen_image_edit": (tiny.make_qwen_image_edit, {"size": 32}),
    "longcat": (tiny.make_longcat, {}),
    "glm_image": (tiny.make_glm_image, {}),
    "chrono_edit": (tiny.make_chrono_edit, {}),
    "z_image_omni": (tiny.make_z_image_omni, {"size": 32}),
}
EDITS = tuple(family for family in FAMILIES if family not in ("stable_diffusion", "flux"))
SEVERAL = ("flux2", "omnigen", "qwen_image_edit", "glm_image", "z_image_omni")
WITH_TORCHVISION = ("omnigen", "qwen_image_edit", "longcat", "glm_image", "chrono_edit", "z_image_omni")


@pytest.fixture(scope="session", autouse=True)
def _small() -> Any:
    """Qwen-Image-Edit and LongCat enlarge every image to a million pixels, which takes minutes on the CPU. ChronoEdit
    cleans its prompt with a package that may not be there, and these prompts need no cleaning."""
    from diffusers.pipelines.chronoedit import pipeline_chronoedit as chrono
    from diffusers.pipelines.longcat_image import pipeline_longcat_image_edit as longcat
    from diffusers.pipelines.qwenimage import pipeline_qwenimage_edit_plus as qwen

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qwen, "VAE_IMAGE_SIZE", 64 * 64)
        patch.setattr(qwen, "CONDITION_IMAGE_SIZE", 56 * 56)
        patch.setattr(longcat, "calculate_dimensions", lambda area, ratio: (32, 32))
        patch.setattr(chrono, "ftfy", SimpleNamespace(fix_text=str), raising=False)
        yield


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def find(family: str) -> Path:
        if family in WITH_TORCHVISION:
            pytest.importorskip("torchvision", reason="its processor needs torchvision", exc_type=ImportError)
        if family not in made:
            made[family] = FAMILIES[family][0](tmp_path_factory.mktemp(family) / "weights")
        return made[family]

    return find


def draws(path: Path, *contexts: Context, seeds: Any = (), repeat: Any = 0, **arguments: Any) -> list[Reply]:
    """Make the drawings of all contexts at once."""

    async def go() -> list[Reply]:
        model = Diffusers(str(path), **{"steps": 2, **arguments})
        numbered = enumerate(contexts)
        try:
            calls = (model.draw(one, Options(seed=seeds[i] if seeds else 1).nth(repeat)) for i, one in numbered)
            return await asyncio.gather(*calls)
        finally:
            await model.close()

    return asyncio.run(go())


def pixels(reply: Reply) -> Any:
    assert reply.picture is not None, reply.trouble
    return np.asarray(reply.picture.image(), dtype=int)


def differ(one: Reply, other: Reply, by: int = 2) -> bool:
    return bool(np.abs(pixels(one) - pixels(other)).max() > by)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_draws_from_its_seed_prompt_and_images(folder: Callable[[str], Path], family: str) -> None:
    arguments = FAMILIES[family][1]
    asked = of("Draw a line.", RED)
    together = (asked, asked, of("A box!", RED))
    first, other_seed, other_prompt = draws(folder(family), *together, seeds=(1, 2, 1), **arguments)
    alone, other_image = (draws(folder(family), one, **arguments)[0] for one in (asked, of("Draw a line.", BLUE)))
    assert not differ(first, alone), "a batch gives the same drawing"
    # A prompt changes little in these weights of Qwen-Image-Edit, which draws one image at a time: equal is equal.
    least = 0 if family == "qwen_image_edit" else 2
    assert differ(first, other_seed) and differ(first, other_prompt, least)
    assert (alone.picture != other_image.picture) == (family in EDITS)
    lost = [one for one in first.left_out if "picture" in one and "stood" not in one]
    assert (lost == []) == (family in EDITS) and first.usage.pictures_out == 1
    if family not in EDITS:
        assert "1 of 1 pictures" in lost[0] and "takes none" in lost[0]


def test_a_repeat_draws_from_the_seed_that_its_line_has_or_from_the_models_and_its_number(
    folder: Callable[[str], Path],
) -> None:
    family = next(iter(FAMILIES))
    path, arguments, asked = folder(family), FAMILIES[family][1], of("Draw a line.", RED)
    (repeated,), (given,) = draws(path, asked, repeat=2, **arguments), draws(path, asked, seeds=[2001], **arguments)
    assert repeated.picture == given.picture
    (unseeded,) = draws(path, asked, seeds=[None], repeat=2, seed=5, **arguments)
    assert unseeded.picture == draws(path, asked, seeds=[7], **arguments)[0].picture != given.picture


@pytest.mark.parametrize("family", SEVERAL)
def test_several_images_shape_a_drawing_and_the_rest_is_left_out(folder: Callable[[str], Path], family: str) -> None:
    arguments = {**FAMILIES[family][1], "pictures": 2}
    asked = (of("Go.", RED, BLUE), of("Go.", GREEN, BLUE), of("Go.", BLUE, RED), of("Go.", GREEN, RED, BLUE))
    first, other, swapped, more = (draws(folder(family), one, **arguments)[0] for one in asked)
    assert first.picture != other.picture and first.picture == more.picture
    # Only GLM-Image's first model knows the order, and makes four tokens here
    assert first.picture != swapped.picture or family == "glm_image"
    assert any("1 of 3 pictures" in one and "the newest 2 were sent" in one for one in more.left_out)


def watch(reader: Any, kinds: list[Any]) -> None:
    """Keep the kinds of tokens (text or image) from which a reader computes their places."""
    index = reader.get_rope_index

    def watched(*args: Any, **more: Any) -> Any:
        kinds.append(more["mm_token_type_ids"])
        return index(*args, **more)

    reader.get_rope_index = watched


def test_a_reader_of_images_places_their_tokens_as_transformers_does(folder: Callable[[str], Path]) -> None:
    """Without `mm_token_type_ids`, which these pipelines do not pass on, images are read in the places of text."""
    for family, calls in (("qwen_image_edit", 2), ("longcat", 2)):
        model = Diffusers(str(folder(family)))
        model._load()
        reader: Any = model._pipeline.text_encoder
        kinds: list[Any] = []
        watch(reader.model, kinds)
        images = RED.image() if family == "longcat" else [RED.image()]
        model._pipeline(image=images, prompt="Draw.", negative_prompt=" ", num_inference_steps=1)
        assert len(kinds) == calls and all(0 < kind.sum() < kind.numel() for kind in kinds)


def test_calls_are_batched_only_where_a_list_of_images_is_a_batch(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    together = Diffusers._draw_together

    def counted(self: Diffusers, jobs: list[Any]) -> list[Reply]:
        sizes.append(len(jobs))
        return together(self, jobs)

    monkeypatch.setattr(Diffusers, "_draw_together", counted)
    for family, expected in (("kontext", [3]), ("flux", [3]), ("flux2", [1, 1, 1])):
        sizes.clear()
        draws(folder(family), *[of(f"Draw {i}", RED) for i in range(3)], **FAMILIES[family][1])
        assert sizes == expected, family
    sizes.clear()
    draws(folder("flux"), *[of(f"Draw {i}") for i in range(3)], batch_size=2, **FAMILIES["flux"][1])
    assert sizes == [2, 1]


def test_what_a_safety_checker_withholds_and_a_black_image_are_refusals(tmp_path: Path) -> None:
    for make, why in (({"checker": True}, "safety checker"), ({"black": True}, "all black")):
        (reply,) = draws(tiny.make_stable_diffusion(tmp_path / why, **make), of("Draw."), size=32)
        assert reply.picture is None and reply.finish == "refused" and why in reply.trouble


def answering(monkeypatch: pytest.MonkeyPatch, result: Any) -> None:
    """Let FLUX return this, or raise it."""
    from diffusers import FluxPipeline

    @functools.wraps(FluxPipeline.__call__)
    def call(*args: Any, **more: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(FluxPipeline, "__call__", call)


def test_outputs_of_other_forms_are_drawings_or_refusals(
    folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last, clear = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (9, 9), "blue"), Image.new("RGBA", (7, 7))
    clear.putpixel((3, 3), (0, 0, 255, 255))
    forms = (({"images": [[first, last]]}, (9, 9)), ({"image": [first]}, (8, 8)), ({"images": [clear]}, (7, 7)))
    for made, size in forms:
        answering(monkeypatch, SimpleNamespace(**made))
        (reply,) = draws(folder("flux"), of("Draw."))
        assert reply.picture is not None and reply.picture.size == size
    assert reply.picture and reply.picture.image().getpixel((0, 0)) == (255, 255, 255), "transparent is white"
    nothing: list[Any] = [[None], [[]]]
    for images in nothing:
        answering(monkeypatch, SimpleNamespace(images=images, nsfw_content_detected=[None]))
        (reply,) = draws(folder("flux"), of("Draw."))
        assert (reply.finish, reply.picture) == ("refused", None) and "returned no image" in reply.trouble
    answering(monkeypatch, SimpleNamespace(images=[]))
    with pytest.raises(CallFailed, match="returned no image"):
        draws(folder("flux"), of("Draw."))
    answering(monkeypatch, NameError("name 'ftfy' is not defined", name="ftfy"))
    with pytest.raises(CallFailed, match="a package that is missing: ftfy") as missing:
        draws(folder("flux"), of("Draw."))
    assert missing.value.stops_run and missing.value.hint == "pip install ftfy"


def test_a_drawing_without_the_image_that_a_pipeline_needs_says_so(folder: Callable[[str], Path]) -> None:
    with pytest.raises(CallFailed, match="draws from images, and this drawing was asked for without one") as failed:
        draws(folder("instruct_pix2pix"), of("Draw."))
    assert (failed.value.kind, failed.value.stops_run) == ("needs_image", True)
    with pytest.raises(BadInput, match="ChronoEditPipeline, which needs an image"):
        Diffusers(str(folder("chrono_edit")), pictures=0)
    (reply,) = draws(folder("kontext"), of("Draw.", RED), pictures=0, **FAMILIES["kontext"][1])
    assert reply.left_out == ("1 of 1 pictures: FluxKontextPipeline takes none",) and reply.picture


def test_a_drawing_has_the_size_of_the_newest_image_where_a_pipeline_needs_one(folder: Callable[[str], Path]) -> None:
    for family, size in (("glm_image", (96, 64)), ("chrono_edit", (80, 64))):
        (reply,) = draws(folder(family), of("Draw.", RED, painted("blue", (82, 59))), steps=1)
        assert reply.picture is not None and reply.picture.size == size


def test_the_end_of_a_prompt_that_is_cut_off_is_left_out(folder: Callable[[str], Path]) -> None:
    long = of("x" * 100, "Draw!")
    cut, kept = (draws(folder("stable_diffusion"), long, size=32, **more)[0] for more in ({}, {"texts": 1}))
    assert any("tokens of the prompt: StableDiffusionPipeline reads 77" in one for one in cut.left_out)
    assert kept.left_out == ("1 of 2 texts: texts=1",)


def test_counting_the_tokens_of_a_prompt_leaves_the_pipelines_tokenizer_alone(
    folder: Callable[[str], Path],
) -> None:
    """Another thread may be drawing with it, and a tokenizer's truncation is set for all threads."""
    model = Diffusers(str(folder("flux")))
    model._load()
    words = model._pipeline.tokenizer_2
    words("Draw.", truncation=True, max_length=8)
    assert "tokens of the prompt" in diffusers._cut(type(model._pipeline), model._counter, "x" * 600, {})[0]
    assert words._tokenizer.truncation["max_length"] == 8


def test_settings_reach_the_pipeline_and_are_part_of_the_identity(folder: Callable[[str], Path]) -> None:
    path = folder("instruct_pix2pix")
    asked = of("Draw a line.", RED)
    (plain,) = draws(path, asked)
    for more in ({"guidance": 1.5}, {"steps": 3}, {"image_guidance_scale": 4.0}, {"negative_prompt": "a box"}):
        assert differ(plain, draws(path, asked, **more)[0]), more
        assert Diffusers(str(path), **more).identity() != Diffusers(str(path)).identity()
    assert draws(path, asked, dtype="bfloat16")[0].picture is not None
    (wide,) = draws(folder("flux"), of("Draw."), size="48x32")
    assert wide.picture is not None and wide.picture.size == (48, 32)

    async def by_task() -> Reply:
        model = Diffusers(str(folder("flux")), steps=1)
        task = {"width": 48, "height": 32, "num_inference_steps": 9, "cfg_text_scale": 4}
        try:
            return await model.draw(of("Draw."), Options(extra=task))
        finally:
            await model.close()

    picture = asyncio.run(by_task()).picture
    assert picture is not None and picture.size == (48, 32)
    flux, edits = ({*Diffusers(str(folder(kind))).receives("draw")} for kind in ("flux", "instruct_pix2pix"))
    assert "height" in flux - edits and "negative_prompt" in edits and "cfg_text_scale" not in flux | edits


def test_a_lora_changes_drawings_by_its_scale(folder: Callable[[str], Path], tmp_path: Path) -> None:
    import torch
    from diffusers import StableDiffusionInstructPix2PixPipeline
    from peft import LoraConfig
    from peft.utils import get_peft_model_state_dict

    path = folder("instruct_pix2pix")
    pipeline = StableDiffusionInstructPix2PixPipeline.from_pretrained(path)
    pipeline.unet.add_adapter(
        LoraConfig(r=4, lora_alpha=40, init_lora_weights=False, target_modules=["to_q", "to_v"])
    )
    torch.manual_seed(5)
    layers = {name: torch.randn_like(one) for name, one in get_peft_model_state_dict(pipeline.unet).items()}
    StableDiffusionInstructPix2PixPipeline.save_lora_weights(tmp_path / "lora", unet_lora_layers=layers)
    asked = of("Draw a line.", RED)
    (without,) = draws(path, asked)
    (full,), (none,) = (draws(path, asked, lora=str(tmp_path / "lora"), **more) for more in ({}, {"lora_scale": 0.0}))
    assert differ(without, full) and not differ(without, none)
    identity = Diffusers(str(path), lora=str(tmp_path / "lora")).identity()
    assert identity["lora_weights"] and identity["weights"] != identity["lora_weights"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"stepz": 3}, "FluxPipeline, which takes no stepz"),
        ({"image": "x.png"}, "which takes no image"),
        ({"pictures": 2}, "which takes no images"),
        ({"size": "big"}, "size=big is not a size"),
        ({"steps": "many"}, "steps=many is not a number"),
        ({"dtype": "int3"}, "dtype=int3 is not"),
        ({"offload": "disk"}, "offload=disk is not model or sequential"),
        ({"lora_scale": 1.0}, "lora_scale= without lora="),
        ({"offload": "model", "device_map": "balanced"}, "leave out one"),
        ({"pipeline": "FluxFillPipeline"}, "it takes mask_image"),
        ({"pipeline": "WanPipeline"}, "it takes num_frames"),
        ({"pipeline": "SanaVideoPipeline"}, "which is not for drawing"),
        ({"pipeline": "WanVideoToVideoPipeline"}, "it takes video"),
        ({"pipeline": "QwenImageLayeredPipeline"}, "it takes layers"),
        ({"pipeline": "FluxPriorReduxPipeline"}, "it makes no image"),
        ({"pipeline": "KandinskyPipeline"}, "needs image_embeds, negative_image_embeds, too"),
        ({"pipeline": "BlipDiffusionPipeline"}, "needs source_subject_category, target_subject_category, too"),
        ({"pipeline": "SpectrogramDiffusionPipeline"}, "needs a package that is missing"),
        ({"pipeline": "DDPMPipeline"}, "which takes no prompt"),
        ({"pipeline": "FluxNextPipeline"}, "has no pipeline FluxNextPipeline"),
        ({"pipeline": "FluxTransformer2DModel"}, "has no pipeline FluxTransformer2DModel"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be_used_are_refused_in_one_line(
    folder: Callable[[str], Path], arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadInput) as refused:
        Diffusers(str(folder("flux")), **arguments)
    assert told in str(refused.value) and "\n" not in str(refused.value)


def test_weights_that_are_missing_are_named(folder: Callable[[str], Path], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "file.safetensors").write_bytes(b"")
    chat = tmp_path / "chat"
    chat.mkdir()
    (chat / "config.json").write_text("{}")
    for path, told in (
        (empty, "model_index.json"),
        (tmp_path / "none", "there is no folder"),
        (tmp_path / "file.safetensors", "is a file"),
        (chat, "hf/ loads models of transformers"),
    ):
        with pytest.raises((BadInput, DataMissing), match=told):
            load_model(f"diffusers/{path}")
    broken = shutil.copytree(folder("flux"), tmp_path / "broken")
    for file in (broken / "transformer").glob("*.safetensors"):
        file.unlink()
    with pytest.raises(CallFailed, match="cannot load") as failed:
        draws(broken, of("Draw."))
    assert failed.value.stops_run and failed.value.kind == "weights" and "\n" not in str(failed.value)
    newer = shutil.copytree(folder("flux"), tmp_path / "newer")
    index = json.loads((newer / "model_index.json").read_text())
    (newer / "model_index.json").write_text(json.dumps({**index, "_class_name": "Flux9Pipeline"}))
    with pytest.raises(BadInput, match="a newer diffusers may have it"):
        load_model(f"diffusers/{newer}")


def test_a_lora_that_cannot_be_used_is_named(folder: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"lora=.*none: there is no such file"):
        Diffusers(str(folder("flux")), lora=str(tmp_path / "none"))
    for family, told in (("flux", "cannot load lora="), ("glm_image", "GlmImagePipeline takes no LoRA")):
        with pytest.raises(CallFailed, match=told) as failed:
            draws(folder(family), of("Draw.", RED), lora=str(tmp_path))
        assert failed.value.stops_run and str(tmp_path) in str(failed.value)


def test_offloaded_weights_give_the_same_drawing(folder: Callable[[str], Path]) -> None:
    asked = of("Draw a line.")
    (plain,), (offloaded,) = (draws(folder("flux"), asked, size=32, **more) for more in ({}, {"offload": "model"}))
    assert not differ(plain, offloaded)


def test_a_served_thinker_and_a_pipeline_run_every_canvas(
    folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    drawer = f"diffusers/{folder('flux')}"
    arguments = {"steps": 1, "texts": 1, **FAMILIES["flux"][1]}
    with serving(load_model("player/sketcher")) as url:
        run = sketchmark.run(
            "openai/thinker", "maze", mode="direct,visual_cot", canvas="all", limit=2, output_path=tmp_path / "run",
            task_args="rows=3,cols=3,min_steps=2,max_steps=2", model_args={"base_url": url}, drawer=drawer,
            drawer_args=arguments,
        )  # fmt: skip
    folder_ = run.folder
    assert folder_.about().model.name == f"openai/thinker + {drawer}"
    shown = {name.rpartition(".")[2] for name in folder_.cells} - {"direct", "visual_cot"}
    assert shown == set(CANVASES) - {"own", "source"}
    cells = folder_.results().tasks.values()
    assert all(cell.n == 2 and not cell.failures for cell in cells)
    later = [turn.reply for line in folder_.episodes("maze.visual_cot") for turn in line.turns if turn.act == "draw"]
    assert [reply.left_out[-1] for reply in later if reply][:2] == [
        "1 of 1 pictures: FluxPipeline takes none", "2 of 2 pictures: FluxPipeline takes none"
    ]  # fmt: skip


def test_worker_processes_load_a_pipeline_each(
    folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # as here: other sums round differently
    asked: dict[str, Any] = {
        "mode": "visual_cot", "limit": 2, "task_args": "rows=3,cols=3,min_steps=2,max_steps=2",
        "drawer": f"diffusers/{folder('flux')}", "drawer_args": {"steps": 1, "size": 32, "batch_size": 1, "texts": 1},
        "no_cache": True,
    }  # fmt: skip
    found = []
    for engine in ("local", "processes"):
        run = sketchmark.run(
            "player/solver", "maze", output_path=tmp_path / engine, engine=engine, replicas=2, **asked
        )  # fmt: skip
        lines = sorted(run.folder.episodes("maze.visual_cot"), key=lambda line: line.index)
        found.append(
            [turn.reply.picture for line in lines for turn in line.turns if turn.act == "draw" and turn.reply]
        )
    assert found[0] == found[1] and len(set(found[0])) > 1


def test_a_pipeline_alone_is_refused_as_a_thinker(folder: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(SketchmarkError, match="only draws"):
        sketchmark.run(f"diffusers/{folder('flux')}", "maze", output_path=tmp_path / "x")
    with pytest.raises(SketchmarkError, match="only draws"):
        sketchmark.run(f"diffusers/{folder('flux')}", "maze", drawer="player/solver", output_path=tmp_path / "x")


def test_weights_that_cannot_be_loaded_stop_the_run(folder: Callable[[str], Path], tmp_path: Path) -> None:
    broken = shutil.copytree(folder("flux"), tmp_path / "broken")
    shutil.rmtree(broken / "vae")
    with pytest.raises(RunStopped, match="cannot load"):
        sketchmark.run(
            "player/solver",
            "maze",
            mode="visual_cot",
            limit=3,
            drawer=f"diffusers/{broken}",
            output_path=tmp_path / "x",
        )


def test_a_picture_keeps_its_size_where_the_pipeline_follows_it(folder: Callable[[str], Path]) -> None:
    (reply,) = draws(folder("instruct_pix2pix"), of("Draw.", painted("red", (48, 32))))
    assert isinstance(reply.picture, Picture) and reply.picture.size == (48, 32)
