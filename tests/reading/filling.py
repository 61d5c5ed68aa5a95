"""How a template becomes a reply: marks for the option meant, for others, and for the list, filled in from a set.

`@L` the letter meant, `@l` in lower case, `@W` its words, `@w` in lower case; `@X @Y @Z` other letters, `@U @V` the
words of X and Y; `@LIST` all options, one per line, `@INLINE` in one line. Nothing here knows of the reader.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Family = Mapping[str, Sequence[str]]
"""Templates by what they have in common."""

LETTERS = "ABCDEFGHIJ"
OPTION_SETS: tuple[tuple[str, ...], ...] = (
    ("Left atrium", "Right atrium", "Left ventricle", "Right ventricle"),
    ("North", "South-east", "West", "North-west"),
    ("The camera moved forward and turned left", "The camera stayed where it was", "It moved back", "It rose"),
    ("12", "14", "16", "18"),
    ("3.5 cm", "4.2 cm", "0.35 cm", "42 cm"),
    ("Increases", "Decreases"),
    ("Pneumonia", "Bacterial pneumonia", "Tuberculosis", "Pleural effusion", "Lung cancer"),
    ("perfect fifth", "major third", "diminished triad", "augmented chord", "minor seventh", "tritone"),
    ("red", "blue", "green", "yellow", "black", "white", "orange", "purple"),
    ("Monet", "Renoir", "Degas", "Cézanne", "Manet", "Pissarro", "Sisley", "Morisot", "Cassatt", "Seurat"),
    ("$1,200", "$2,400", "$3,600", "$4,800", "$6,000", "$7,200", "$8,400", "$9,600", "$10,800", "$12,000"),
    ("肺炎", "肺结核", "胸腔积液", "气胸"),
)
_MARK = re.compile(r"@(LIST|INLINE|[LlWwXYZUV])")


@dataclass(frozen=True)
class Reply:
    """One generated reply, its options, the letter it means (or the one named last in vain), and where it is from."""

    text: str
    options: tuple[str, ...]
    letter: str
    family: str
    template: str


def filled(template: str, options: Sequence[str], rng: random.Random) -> tuple[str, str]:
    """The reply, and the letter that `@L` became."""
    places = rng.sample(range(len(options)), len(options))
    meant, x, y, z = (
        places[i % len(places)] if i == 0 else places[1 + (i - 1) % (len(places) - 1)] for i in range(4)
    )
    values = {
        "L": LETTERS[meant],
        "l": LETTERS[meant].lower(),
        "W": options[meant],
        "w": options[meant].lower(),
        "X": LETTERS[x],
        "Y": LETTERS[y],
        "Z": LETTERS[z],
        "U": options[x],
        "V": options[y],
        "LIST": "\n".join(f"{LETTERS[i]}. {words}" for i, words in enumerate(options)),
        "INLINE": " ".join(f"({LETTERS[i]}) {words}" for i, words in enumerate(options)),
    }
    return _MARK.sub(lambda mark: values[mark[1]], template), LETTERS[meant]


def replies(families: Family, each: int, seed: int, before: Sequence[str] = ("",)) -> Iterator[Reply]:
    """`each` different replies per template; option sets, letters and what stands `before` are drawn by `seed`."""
    rng = random.Random(seed)
    for family, templates in families.items():
        for template in templates:
            made: set[str] = set()
            for turn in range(each * 4):
                whole = before[turn % len(before)] + template
                need = 4 if re.search("@[YZV]", whole) else 2
                options = rng.choice([options for options in OPTION_SETS if len(options) >= need])
                text, letter = filled(whole, options, rng)
                if text in made:
                    continue
                made.add(text)
                yield Reply(text, options, letter, family, template)
                if len(made) == each:
                    break
