"""Does it draw, and does the drawing follow from all that it was shown and told?"""

from __future__ import annotations

from sketchmark.doctor.bedside import ABOUT, Bedside
from sketchmark.doctor.findings import Seen
from sketchmark.models.base import Reply
from sketchmark.parts import Part
from sketchmark.worlds import cards
from sketchmark.worlds.cards import Shape

_ASKED = (Shape("red", "circle"), Shape("blue", "triangle"))
_SIZE = (1536, 1024)
"""A size that OpenAI's image models know, too, and none draws unasked."""
_KEPT = 0.95


def _no_picture(reply: Reply) -> Seen:
    said = f", said “{' '.join(reply.text.split())[:60]}”" if reply.text.strip() else ""
    return Seen("no", f"no picture ({reply.finish}{said})", "visual_cot cannot be played")


def _prompt(shape: Shape) -> str:
    return f"{ABOUT} Draw one solid {shape.colour} {shape.kind} in the middle of plain white paper, and nothing else."


async def draws(bed: Bedside) -> Seen:
    reply = await bed.draw(_prompt(_ASKED[0]))
    if reply.picture is None:
        return _no_picture(reply)
    return Seen("yes", "{}×{} {}".format(*reply.picture.size, reply.picture.format))


async def follows_the_prompt(bed: Bedside) -> Seen:
    found = []
    for shape in _ASKED:
        reply = await bed.draw(_prompt(shape))
        if reply.picture is None:
            return _no_picture(reply)
        found.append(cards.read_shape(reply.picture))
    if found == list(_ASKED):
        return Seen("yes", "a red circle and a blue triangle, as asked")
    shown = ", ".join(f"{one.colour} {one.kind or 'something'}" if one else "no colour" for one in found)
    if [one and one.colour for one in found] == [shape.colour for shape in _ASKED]:
        return Seen("in part", f"the colours are right: {shown}", "it draws roughly; shapes may be lost")
    means = "drawings do not show what was planned: no gain can come from them"
    return Seen("no", f"asked for a red circle and a blue triangle, drew {shown}", means)


async def hears_what_was_said(bed: Bedside) -> Seen:
    plan = Part("I choose green.", "model")
    reply = await bed.draw(
        f"{ABOUT} Choose a colour.",
        plan,
        "Now draw one solid circle in the colour that you chose, in the middle of plain white paper.",
    )
    if reply.picture is None:
        return _no_picture(reply)
    shape = cards.read_shape(reply.picture)
    if shape and shape.colour == "green":
        return Seen("yes", "drew in the colour that it had said")
    means = "what the model says before it draws is not seen by its drawing: visual_cot's plans are lost"
    return Seen("no", f"had said green, drew {shape.colour if shape else 'no colour'}", means)


async def edits(bed: Bedside) -> Seen:
    before = cards.number_card("2749")
    reply = await bed.draw(
        before,
        f"{ABOUT} Keep this picture just as it is, and add one small solid blue square near its lower right corner.",
    )
    if reply.picture is None:
        return _no_picture(reply)
    share, added = cards.kept(before, reply.picture), cards.main_colour(reply.picture, left=0.5)
    if added != "blue":
        means = "it cannot change a picture it was shown: step by step drawings do not build on each other"
        return Seen("no", "the blue square is not there", means)
    if share >= _KEPT:
        return Seen("yes", f"{share:.0%} of the rest as it was, and the square added")
    means = "it draws anew instead of editing: earlier steps may be lost in each drawing"
    return Seen("no", f"{share:.0%} of the rest as it was", means)


async def sees_several(bed: Bedside) -> Seen:
    colours = ("yellow", "blue")
    reply = await bed.draw(
        *(cards.shape_card(Shape(colour, "square")) for colour in colours),
        f"{ABOUT} Two pictures. Draw one whose left half has the colour of the first one's square, and whose right "
        "half has the colour of the second's.",
    )
    if reply.picture is None:
        return _no_picture(reply)
    found = cards.main_colour(reply.picture, right=0.4), cards.main_colour(reply.picture, left=0.6)
    if found == colours:
        return Seen("yes", "yellow from the first and blue from the second")
    means = "drawings are made from one picture or none: of several inputs or earlier drawings the rest is not seen"
    shown = " and ".join(colour or "no colour" for colour in found)
    return Seen("no", f"asked for yellow and blue, drew {shown}", means)


async def has_the_size(bed: Bedside) -> Seen:
    width, height = _SIZE
    extra = {"size": f"{width}x{height}", "width": width, "height": height}
    reply = await bed.draw(_prompt(_ASKED[0]), extra=extra)
    if reply.picture is None:
        return _no_picture(reply)
    found = "{}×{}".format(*reply.picture.size)
    if reply.picture.size == _SIZE:
        return Seen("yes", found)
    means = "width, height and size are dropped without a word: pictures come as the server likes"
    return Seen("no", f"asked for {width}×{height}, got {found}", means)


async def has_a_seed(bed: Bedside) -> Seen:
    asked = f"{ABOUT} Draw any colourful pattern you like."
    replies = [await bed.draw(asked, seed=seed) for seed in (1, 1, 2)]
    pictures = [reply.picture for reply in replies if reply.picture]
    if len(pictures) < len(replies):
        return _no_picture(next(reply for reply in replies if reply.picture is None))
    one, same, other = (picture.pixel_digest for picture in pictures)
    if one != same:
        means = "a drawing cannot be repeated: without the cache a run gives other numbers"
        return Seen("no", "two drawings with one seed differ", means)
    if one == other:
        return Seen("in part", "another seed, the same drawing", "the seed has no effect on drawings")
    return Seen("yes", "one seed, one drawing; another seed, another")
