"""A server that only draws, and only on an image it is shown: vLLM-Omni with Qwen-Image-Edit, as captured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sketchmark import Options
from sketchmark.cli import root
from sketchmark.episode.model import Listing
from sketchmark.episode.sample import Context, Part
from sketchmark.errors import CallFailed
from sketchmark.folder import RunFolder
from sketchmark.models import load_model
from sketchmark.models.providers.openai import OpenAI
from sketchmark.testing import colour
from tests.models.fake_server import DRAWN, Plain, chat_answer, listening, picture_block

NO_IMAGE = (
    "Image generation failed: Missing preprocess images that should have been created by the preprocess function."
)


class Editor(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.listed: dict[str, Any] = {
            "id": "edit", "owned_by": "vllm", "root": "edit", "parent": None, "max_model_len": None
        }  # fmt: skip

    def reply(self, path: str, body: Any) -> tuple[int, Any]:
        if body is None:
            found = path == "/v1/models"
            return 200 if found else 404, {"object": "list", "data": [self.listed] if found else []}
        if "image_url" not in json.dumps(body):
            return 500, {"error": {"message": NO_IMAGE, "type": "BadRequestError", "code": 500}}
        if (images := json.dumps(body).count('"url"')) > 4:
            limit = "At most 4 images are supported by this model."
            words = f"Image generation failed: Received {images} input images. {limit}"
            return 500, {"error": {"message": words, "type": "BadRequestError", "code": 500}}
        return 200, chat_answer({"role": "assistant", "content": [picture_block(DRAWN)]})


@pytest.fixture
def server() -> Iterator[Editor]:
    made = Editor()
    with listening(made.serve) as url:
        made.url = f"{url}/v1"
        yield made


def command(*words: str) -> Result:
    return CliRunner().invoke(root, list(words))


def test_the_doctor_asks_it_for_drawings_only_on_a_page_and_with_a_token_limit(server: Editor) -> None:
    more = ("--gen-kwargs", "num_inference_steps=2,cfg_interval=1")
    found = command("doctor", "-m", "openai/edit", "--model-args", f"base_url={server.url}", *more)
    assert found.stdout.count("not asked ") == 10 and "failed" not in found.stdout, found.stdout
    assert "yes       draws a picture" in found.stdout and "on a white page" in found.stdout
    assert "--drawer    the drawing follows the prompt: no" in found.stdout
    assert "cfg_interval: openai/edit does not receive it" in found.stderr
    assert [body["modalities"] for body in server.asked] == [["image"]] * len(server.asked)
    assert {body["max_tokens"] for body in server.asked} == {4096}
    assert {body["num_inference_steps"] for body in server.asked} == {2}
    assert sum("image_url" not in json.dumps(body) for body in server.asked) == 1, "the refusal is asked for once"


def test_the_doctors_own_settings_are_not_the_users(server: Editor) -> None:
    found = command("doctor", "-m", "openai/edit", "--model-args", f"base_url={server.url}", "--gen-kwargs", "seed=3")
    assert "seed: the doctor's calls have their own" in str(found.exception) and not server.asked


def test_a_run_that_needs_text_of_it_is_refused_before_the_first_call(server: Editor, tmp_path: Path) -> None:
    words = ("--tasks", "maze", "--limit", "1", "--no-cache", "-o", str(tmp_path / "run"))
    found = command("run", "-m", "openai/edit", "--model-args", f"base_url={server.url}", *words)
    assert "only draws, says its server" in str(found.exception) and not server.asked


@pytest.mark.parametrize("engine", ["local", "processes"])
def test_the_plan_reaches_it_as_the_users_text_and_the_episode_says_so(
    server: Editor, tmp_path: Path, engine: str
) -> None:
    words = ("--tasks", "maze", "--mode", "visual_cot", "--limit", "1", "--no-cache", "--engine", engine)
    pair = ("-m", "player/solver", "--drawer", "openai/edit", "--drawer-args", f"base_url={server.url}")
    found = command("run", *pair, *words, "-o", str(tmp_path / "run"))
    assert found.exit_code == 0, found.output
    assert {message["role"] for body in server.asked for message in body["messages"]} == {"user"}
    [line] = RunFolder(tmp_path / "run").episodes("maze.visual_cot")
    drawn = [turn.reply for turn in line.turns if turn.act == "draw" and turn.reply]
    assert drawn and all(
        "which texts are the model's own: the server reads the user's texts only" in reply.left_out
        for reply in drawn[1:]
    )
    said = [turn.reply.text for turn in line.turns if turn.act == "say" and turn.reply]
    sent = json.dumps(server.asked[-1], ensure_ascii=False)
    assert len(drawn) > 1 and said[0].splitlines()[0] in sent, "the drawer does not know what was planned"


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        ({}, False),
        ({"max_model_len": 8192}, None),
        ({"parent": "base"}, None),
        ({"owned_by": "someone"}, None),
        ({"max_model_len": ...}, None),
    ],
)
async def test_only_a_list_of_vllm_omni_says_that_a_model_draws_only(
    server: Editor, listed: dict[str, Any], says: bool | None
) -> None:
    known = server.listed | listed
    server.listed = {name: value for name, value in known.items() if value is not ...}
    model = OpenAI("edit", base_url=server.url)
    assert (await model.listing()).says is says
    await model.close()


async def test_bagel_on_one_stage_is_found_by_the_list_and_gets_its_limits_under_its_own_names(
    server: Editor,
) -> None:
    model = load_model("bagel", {"base_url": server.url})
    assert await model.listing() == Listing(), "BAGEL reads, whatever the list of its server says"
    shown = Context((Part(colour("red")), Part(colour("blue")), Part("Which?")))
    for hot in (0.0, 0.7):
        reply = await model.say(shown, Options(max_new_tokens=12, temperature=hot))
        assert any("1 of 2 pictures" in one for one in reply.left_out)
    await model.close()
    named = ("max_think_tokens", "do_sample", "text_temperature")
    cold, warm = ({name: body.get(name) for name in named} for body in server.asked)
    assert cold == {"max_think_tokens": 12, "do_sample": False, "text_temperature": None}
    assert warm == {"max_think_tokens": 12, "do_sample": True, "text_temperature": 0.7}


async def test_a_drawing_without_an_image_fails_once_and_says_why(server: Editor) -> None:
    model = OpenAI("edit", base_url=server.url)
    with pytest.raises(CallFailed) as caught:
        await model.draw(Context((Part("a dot"),)), Options())
    await model.close()
    assert caught.value.kind == "needs_image" and caught.value.stops_run and len(server.asked) == 1
    assert caught.value.hint and "edits an image" in caught.value.hint


@pytest.mark.parametrize(("args", "who"), [({"stages": "1"}, "the server"), ({}, "edit")])
async def test_a_server_that_takes_fewer_images_gets_the_newest_and_the_reply_says_so(
    server: Editor, args: dict[str, str], who: str
) -> None:
    model = OpenAI("edit", base_url=server.url, **args)
    shown = Context((*[Part(colour("red"))] * 6, Part("draw")))
    for asked in (2, 3):
        reply = await model.draw(shown, Options())
        assert reply.picture and reply.left_out == (f"2 of 6 pictures: {who} takes 4, the newest 4 were sent",)
        assert len(server.asked) == asked, "the limit is learnt once"
    await model.close()
    assert [json.dumps(body).count('"url"') for body in server.asked] == [6, 4, 4]


@pytest.mark.parametrize(("stages", "images"), [("1", 2), ("2", 1)])
async def test_a_drawing_stage_gets_the_users_texts_and_the_images_it_takes(
    server: Editor, stages: str, images: int
) -> None:
    model = OpenAI("edit", base_url=server.url, stages=stages)
    shown = (Part(colour("red")), Part("plan", "model"), Part(colour("blue")), Part("draw"))
    reply = await model.draw(Context(shown), Options())
    await model.close()
    assert str(server.asked[0]["messages"]).count("image_url'}") + json.dumps(server.asked).count('"url"') == images
    assert [message["role"] for message in server.asked[0]["messages"]] == ["user"]
    assert len(reply.left_out) == 4 - images
