"""reasoning-gym: every world as the dataset `sketchmark_NAME`, with the puzzle as text (mode text_input).

    import reasoning_gym, sketchmark.training.text_gym
    data = reasoning_gym.create_dataset("sketchmark_gears", seed=1, size=100, level=3)
    data.score_answer(reply, data[0])

Importing this module registers the worlds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sketchmark.errors import MissingExtra
from sketchmark.training import Course, Game, worlds
from sketchmark.worlds import LEVELS, installed_worlds

try:
    from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
    from reasoning_gym.factory import DATASETS, ProceduralDataset, register_dataset
except ModuleNotFoundError as error:
    raise MissingExtra("datasets of reasoning-gym", "reasoning-gym") from error


@dataclass
class Config:
    """The settings of a dataset: one level, or 0 for all in turn."""

    level: int = 0
    seed: int | None = None
    size: int = 500

    def validate(self) -> None:
        assert self.level in (0, *LEVELS), "levels are 1 to 5; 0: all in turn"
        assert self.size > 0, "size must be positive"


class Dataset(ProceduralDataset):  # type: ignore[misc]
    """The samples of one world. Entry n of seed s is training sample s + n."""

    world = ""

    def __init__(self, config: Config) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._course = Course(self.world, "text_input", (config.level,) if config.level else LEVELS)
        self._play = installed_worlds()[self.world].play

    def __getitem__(self, idx: int) -> dict[str, Any]:
        seed = int(self.seed) + idx
        context = Game(self._course, seed).begin().context
        level = self._course.level_of(seed)
        return {
            "question": "\n\n".join(context.texts),
            "answer": self._play.answer(context) or "",
            "metadata": {
                "source_dataset": f"sketchmark_{self.world}",
                "source_index": idx,
                "sample_seed": seed,
                "difficulty": {"level": level},
            },
        }

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        about = entry["metadata"]
        sample = self._course.sample(int(about["sample_seed"]), int(about["difficulty"]["level"]))
        return self._course.judge(sample, (), answer or "").answer


class Curriculum(BaseCurriculum):  # type: ignore[misc]
    """Levels 1 to 5."""

    def __init__(self) -> None:
        super().__init__(Curriculum.__name__, Config)
        self._define_attributes(
            ScalarAttributeDefinition(
                name="level", levels=list(LEVELS), description="least number of steps", field_name="level"
            )
        )


def register(names: tuple[str, ...] = ()) -> None:
    """Register worlds; without names, all with levels."""
    for name in names or worlds():
        if f"sketchmark_{name}" not in DATASETS:
            kind = type(f"{name.title().replace('_', '')}Dataset", (Dataset,), {"world": name})
            register_dataset(f"sketchmark_{name}", kind, Config, Curriculum)


register()
