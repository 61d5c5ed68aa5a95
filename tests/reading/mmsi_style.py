"""Replies to MMSI-Bench's questions that a person reads without doubt: a letter within back-ticks is asked for, and
models give it within them, beside them, after a page of reasoning, or not at all.

Written from how models reply, before any of the three readings was tried on them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.reading.cases import Case
from tests.reading.filling import Family, filled

OPTION_SETS: tuple[tuple[str, ...], ...] = (
    ("Left, while moving backward", "Forward to the left", "To the right", "Straight on"),
    ("North", "South-east", "West", "North-west"),
    ("Rotated about 90 degrees clockwise", "Rotated about 90 degrees counterclockwise", "Moved up", "Moved down"),
    ("1.2 m", "2.4 m", "3.6 m", "4.8 m"),
    ("3", "4", "5", "6"),
    ("The red chair", "The blue chair", "The table", "They are the same"),
)

FAMILIES: Family = {
    "in back-ticks": (
        "``@L``",
        "`@L`",
        "The answer is ``@L``.",
        "Answer: `@L`",
        "```\n@L\n```",
        "``@L. @W``",
        "`@L: @W`",
        "**`@L`**",
        "``(@L)``",
        "The correct option is `@L`, because the camera turns.",
        "``@l``",
    ),
    "ticks around other things": (
        "The object in `image 1` is the one in `image 2`.\n\nAnswer: ``@L``",
        "I compare `image_1` with `image_2`. The answer is @L.",
        "Looking at `Image 2`, the wall is on the other side, so the answer is **@L**.",
        "The vector `(0, 1)` becomes `(1, 0)`.\n\n``@L``",
        "Let `x` be the distance to the door. It comes to what option @L says.\n\nThe answer is `@L`.",
    ),
    "plain letters": (
        "@L",
        "@L.",
        "(@L)",
        "@L: @W",
        "@L. @W",
        "@l",
        "Option @L",
        "**@L**",
        "**@L: @W**",
        "Answer: @L",
        "Final answer: @L",
        "\\boxed{@L}",
        "$\\boxed{\\text{@L}}$",
        "<answer>@L</answer>",
        '{"answer": "@L"}',
        "@L because the camera moved between the two pictures.",
    ),
    "after reasoning": (
        "A person standing at the door sees the sofa on the other side. The answer is @L.",
        "A chair is visible in both images, so the camera turned. Answer: @L",
        "In the first image the lamp is near the window. In the second it is far. Therefore the answer is @L.",
        "Step 1: find the sofa in both images.\nStep 2: compare its place.\n\n**Answer: @L**",
        "The first image was taken from point A, the second from point B. So the correct option is @L.",
        "Moving from A to B means turning around. Hence, the answer is (@L).",
        "I first thought of @X, but the shadow falls on the other side. The answer is @L.",
        "Option @X does not fit, since the door is closed. Option @Y is wrong as well. The answer is @L.",
        "The camera is at {x: 2, y: 1} and looks at the wall.\n\nAnswer: @L",
        "So it is not @X. The answer is @L: @W.",
        "Both pictures show the same room, e.g. the same plant is in the corner. The answer is @L.",
        "Answer: @X would need a mirror.\n\nFinal answer: @L",
    ),
    "with the list before": (
        "The options are:\n@LIST\n\nThe answer is @L.",
        "Options: @INLINE\n\nAnswer: @L",
        "@X: ruled out, the wall is in the way.\n@Y: ruled out, too far.\n\nThe answer is ``@L``.",
        "- @X: incorrect\n- @Y: incorrect\n- @L: correct\n\nAnswer: **@L**",
    ),
    "after thinking": (
        "<think>Perhaps @X? The sofa is on the left. No, it is @Y.</think>``@L``",
        "<think>`@X` or `@L`. The camera moved, so `@L`.</think>\n\nThe answer is @L.",
        "It could be @X or @Y at first sight.</think>@L",
    ),
    "in words": (
        "@W",
        "The answer is: @W",
        "**@W**",
        "The correct answer is @W.",
    ),
    "in other languages": (
        "答案是@L",
        "答案：@L",
        "根据图片，相机向左移动。因此答案是 `@L`。",
        "正确答案是@L。",
        "La respuesta es @L.",
        "Die Antwort ist @L.",
        "La réponse est **@L**.",
    ),
}


def cases(each: int = 10, seed: int = 12) -> Iterator[Case]:
    """`each` different replies per template, where it has as many."""
    rng = random.Random(seed)
    for family, templates in FAMILIES.items():
        for template in templates:
            made: set[tuple[str, tuple[str, ...]]] = set()
            for _ in range(each * 4):
                options = rng.choice(OPTION_SETS)
                text, letter = filled(template, options, rng)
                if len(made) < each and (text, options) not in made:
                    made.add((text, options))
                    yield Case("choice", text, options, letter, family, template)
