"""The 728 scenes of VOILA, 4 numbers x 14 subjects x 13 actions, in words (docs/benchmarks/voila.md, "Scenes")."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

ANY = "any"

NUMBERS = ("one", "two", "three", "four")


class Subject(NamedTuple):
    """A kind of figure; the order of SUBJECTS is the published one and must not change."""

    singular: str
    plural: str


SUBJECTS = (
    Subject("female child", "female children"),
    Subject("man", "men"),
    Subject("woman", "women"),
    Subject("senior man", "senior men"),
    Subject("senior woman", "senior women"),
    Subject("cat", "cats"),
    Subject("dog", "dogs"),
    Subject("fox", "foxes"),
    Subject("hamster", "hamsters"),
    Subject("monkey", "monkeys"),
    Subject("wolf", "wolves"),
    Subject("male child", "male children"),
    Subject("bear", "bears"),
    Subject("rabbit", "rabbits"),
)

ACTIONS = (
    "playing soccer",
    "driving a car",
    "ice-skating",
    "walking",
    "swimming",
    "jumping",
    "typing",
    "writing",
    "digging a hole",
    "carrying something",
    "reading",
    "running",
    "eating food",
)


class Scene(NamedTuple):
    """What one picture shows; None stands for `any`.

    `number` is the count itself (1 to 4); `subject` and `action` are positions in SUBJECTS and ACTIONS.
    """

    number: int | None
    subject: int | None
    action: int | None

    @property
    def number_word(self) -> str:
        return ANY if self.number is None else NUMBERS[self.number - 1]

    @property
    def subject_word(self) -> str:
        """Singular exactly when the number is one. A number left open is never one, hence plural
        (docs/benchmarks/voila.md, "Rules")."""
        if self.subject is None:
            return ANY
        forms = SUBJECTS[self.subject]
        return forms.singular if self.number == 1 else forms.plural

    @property
    def action_word(self) -> str:
        return ANY if self.action is None else ACTIONS[self.action]

    def describe(self) -> str:
        return f"{self.number_word} {self.subject_word} {self.action_word}"

    @property
    def is_concrete(self) -> bool:
        return None not in self


SCENES = tuple(
    Scene(number, subject, action)
    for number in range(1, len(NUMBERS) + 1)
    for subject in range(len(SUBJECTS))
    for action in range(len(ACTIONS))
)


SCENE = {
    (number, subject, action): Scene(number, subject, action)
    for number in (None, *range(1, len(NUMBERS) + 1))
    for subject in (None, *range(len(SUBJECTS)))
    for action in (None, *range(len(ACTIONS)))
}
"""Every scene there is, with and without `any`: questions share these instead of making their own."""

_BY_TEXT = {scene.describe(): scene for scene in SCENE.values()}


def parse_description(text: str) -> Scene | None:
    """The scene a description names, or None. Case and spacing are forgiven; a wrong singular or plural is not."""
    return _BY_TEXT.get(" ".join(text.lower().split()))


@cache
def file_prefix(scene: Scene) -> str:
    """How a picture file of this scene starts (docs/benchmarks/voila.md, "Picture files"); what follows is opaque."""
    return f"{scene.number_word}_{scene.subject_word}_{scene.action_word}_"


def scene_of_file(name: str) -> Scene | None:
    """The scene a published-style file name announces, or None. Letter case is ignored, as the original does."""
    parts = name.lower().split("_")
    if len(parts) < 4:
        return None
    scene = parse_description(" ".join(parts[:3]))
    if scene is None or not scene.is_concrete or file_prefix(scene) != "_".join(parts[:3]) + "_":
        return None
    return scene
