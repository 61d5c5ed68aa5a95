"""The doctor finds a healthy server healthy, and each silent fault by its checks."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from sketchmark import Context, Model, Options, Reply
from sketchmark.cli import root
from sketchmark.commands.models import in_lines
from sketchmark.doctor import CHECKS, examine
from sketchmark.doctor.checks import Examination
from sketchmark.episode.sample import of
from sketchmark.errors import BadInput, CallFailed
from sketchmark.media import Picture
from sketchmark.models.players.patient import Patient
from sketchmark.models.providers.openai import OpenAI
from sketchmark.models.wrappers import Price
from sketchmark.serve import serving
from sketchmark.serve.faults import FAULTS, Silent, parse_silent
from sketchmark.worlds import cards
from sketchmark.worlds.cards import COLOURS, KINDS, Shape

SIGNS = {
    "ignores_prompt": {
        "the drawing follows the prompt",
        "the drawing follows the plan",
        "an edit keeps the rest",
        "several pictures shape a drawing",
    },
    "ignores_history": {"the drawing follows the plan"},
    "first_picture": {
        "sees four pictures, in order",
        "sees the second of two",
        "text between pictures",
        "several pictures shape a drawing",
    },
    "drops_settings": {"keeps to max_new_tokens", "keeps to the size", "keeps to the seed"},
    "wrong_size": {"keeps to the size"},
    "stretches": {"sees both ends of a strip", "keeps proportions", "reads small print"},
}


def examined(served: Model, **arguments: str) -> Examination:
    """Examine a served model through the adapter for any server."""

    async def look(url: str) -> Examination:
        model = OpenAI("served", base_url=url, **arguments)
        try:
            return await examine(model, Price(output=1_000_000))
        finally:
            await model.close()

    with serving(served) as url:
        return asyncio.run(look(url))


def amiss(found: Examination) -> set[str]:
    return {finding.check for finding in found.findings if finding.verdict != "yes"}


def test_a_healthy_server_is_found_healthy_and_ready_for_every_mode() -> None:
    found = examined(Patient())
    assert amiss(found) == set() and found.is_healthy
    assert found.modes == dict.fromkeys(("blind", "direct", "text_cot", "visual_cot"), "ready")
    assert found.says.calls == 14 and found.draws.calls == 10
    assert found.cost == found.says.tokens_out > 0


@pytest.mark.parametrize("fault", FAULTS)
def test_each_silent_fault_fails_exactly_its_checks(fault: str) -> None:
    found = examined(Silent(Patient(), frozenset({fault})))
    assert amiss(found) == SIGNS[fault]
    assert all(finding.means for finding in found.findings if finding.check in SIGNS[fault])
    assert not found.is_healthy


def test_the_image_endpoints_are_checked_too() -> None:
    assert amiss(examined(Patient(), draw_with="edit", draw_model="served")) == set()
    openais = examined(Patient(), draw_with="edit", draw_model="gpt-image-2")
    assert amiss(openais) == {"keeps to the seed"}, "OpenAI's image models have no seed"
    first = examined(Silent(Patient(), frozenset({"first_picture"})), draw_with="edit", draw_model="served")
    assert "several pictures shape a drawing" in amiss(first)


class Talker(Model):
    """A model that sees nothing, does not draw, and replies with another sentence each time."""

    def __init__(self) -> None:
        super().__init__("talker")
        self.said = 0

    async def say(self, context: Context, options: Options) -> Reply:
        self.said += 1
        return Reply(f"Well, as I said {self.said} times, I am ready")


def test_a_model_that_does_not_draw_gets_no_drawing_calls() -> None:
    found = asyncio.run(examine(Talker()))
    verdicts = {finding.check: finding.verdict for finding in found.findings}
    assert {verdicts[check.name] for check in CHECKS if check.act == "draw"} == {"not asked"}
    assert verdicts["says something"] == "in part" and verdicts["reads a picture"] == "no"
    assert verdicts["same request, same reply"] == "no" and verdicts["keeps to max_new_tokens"] == "in part"
    assert (
        "reads a picture: no" in found.modes["direct"] and "draws a picture: not asked" in found.modes["visual_cot"]
    )
    assert found.draws.calls == 0


class Moody(Patient):
    """A model that draws nothing, on a server that fails with four images."""

    async def say(self, context: Context, options: Options) -> Reply:
        if len(context.pictures) == 4:
            raise CallFailed("server", "HTTP 500: too many pictures")
        return await super().say(context, options)

    async def draw(self, context: Context, options: Options) -> Reply:
        return Reply("I would rather not.", finish="no_picture")


def test_a_failed_call_is_reported_and_the_other_checks_continue() -> None:
    found = {finding.check: finding for finding in asyncio.run(examine(Moody())).findings}
    assert found["sees four pictures, in order"].verdict == "failed"
    assert "too many pictures" in found["sees four pictures, in order"].seen
    assert found["draws a picture"].verdict == "no" and "I would rather not" in found["draws a picture"].seen
    assert found["text between pictures"].verdict == "yes"


def _doctor(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["doctor", *arguments], standalone_mode=False)


def test_the_command_prints_the_findings_and_returns_their_exit_code() -> None:
    healthy = _doctor("--model", "player/patient")
    assert healthy.return_value == 0 and "all well" in healthy.stdout
    ill = _doctor("--model", "player/random")
    assert ill.return_value == 1 and "→" in ill.stdout


def test_no_line_is_wider_than_the_terminal() -> None:
    for fault in FAULTS:
        found = asyncio.run(examine(Silent(Patient(), frozenset({fault}))))
        for width in (80, 100, 120):
            text = "\n".join(in_lines(found, width))
            assert max(map(len, text.splitlines())) <= width
            assert all(word in text for finding in found.findings for word in finding.seen.split())


def test_json_contains_all_findings_and_the_cost(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("player/patient: {output: 2, picture: 0.01}")
    found = json.loads(_doctor("--model", "player/patient", "--prices", str(prices), "--json").stdout)
    assert found["healthy"] and len(found["findings"]) == len(CHECKS)
    assert found["cost"] == pytest.approx(0.1 + found["says"]["tokens_out"] * 2e-6)


def test_a_refused_key_ends_the_examination_with_exit_code_2() -> None:
    with serving(Patient(), key="right") as url:
        result = CliRunner().invoke(
            root, ["doctor", "--model", "openai/x", "--model-args", f"base_url={url}"], standalone_mode=False
        )
    assert isinstance(result.exception, CallFailed) and result.exception.exit_code == 2


def test_an_untrusted_client_cannot_make_the_patient_count_without_end() -> None:
    reply = asyncio.run(Patient().say(of("Count from 1 to 999999999999"), Options()))
    assert len(reply.text) < 100


def test_an_unknown_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="first_picture"):
        parse_silent("frist_picture")
    assert parse_silent("first-picture, wrong_size") == {"first_picture", "wrong_size"}
    assert parse_silent("") == frozenset()


# The doctor's cards are read from resized and recompressed images.


def treated(picture: Picture, side: int, quality: int) -> Picture:
    """Resize an image and compress it as JPEG."""
    buffer = io.BytesIO()
    picture.image().convert("RGB").resize((side, side), Image.Resampling.BICUBIC).save(
        buffer, "JPEG", quality=quality
    )
    return Picture.from_bytes(buffer.getvalue())


@pytest.mark.parametrize(("side", "quality"), [(384, 95), (256, 80), (1024, 60), (137, 90)])
def test_numbers_are_read_at_any_size_and_from_jpeg(side: int, quality: int) -> None:
    rng = Random(1)
    for number in ["1111", "0", "7", *(str(rng.randrange(10, 10_000)) for _ in range(40))]:
        assert cards.read_number(treated(cards.number_card(number), side, quality)) == number


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("colour", COLOURS)
def test_shapes_are_recognised_by_colour_and_form(colour: str, kind: str) -> None:
    card = cards.shape_card(Shape(colour, kind))
    for side, quality in ((384, 95), (200, 75), (1000, 60)):
        assert cards.read_shape(treated(card, side, quality)) == Shape(colour, kind)


def test_blank_paper_has_neither_number_nor_shape() -> None:
    paper = Picture.from_image(Image.new("RGB", (300, 200), "white"))
    assert cards.read_number(paper) == ""
    assert cards.read_shape(paper) is None
    assert cards.main_colour(paper) == ""


def test_an_edited_image_is_distinguished_from_a_redrawn_one() -> None:
    before = cards.number_card("2749")
    image = before.image().convert("RGB")
    cards.paint(image, Shape("blue", "square"), (240, 270, 330, 360))
    assert cards.kept(before, Picture.from_image(image)) == 1
    assert cards.kept(before, treated(Picture.from_image(image), 1024, 80)) > 0.97
    assert cards.kept(before, cards.number_card("18")) < 0.93
