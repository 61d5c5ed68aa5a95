"""Episodes of a run, read from disk when they are looked at: a run may hold more pictures than memory does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

from sketchmark.episode import Episode
from sketchmark.picture import Picture
from sketchmark.report.gallery import Frames, film_strip
from sketchmark.report.markup import tag
from sketchmark.runs.format import ScoreRow, episode_key
from sketchmark.runs.index import CellIndex, RunIndex
from sketchmark.runs.record import unpack_episode
from sketchmark.terminal import one_line

_IN_A_ROW = (
    ".sketchmark ol { display: flex; gap: 1em; overflow-x: auto; list-style: none; padding: 0 } "
    ".sketchmark li { min-width: 8em } .sketchmark .mark { margin-left: 1em }"
)


@dataclass(frozen=True)
class PlayedEpisode:
    """One episode and its scores. `score` is None while it waits to be scored."""

    cell: str
    """`task.mode`, or `task.mode.canvas`."""

    episode: Episode
    score: ScoreRow | None
    _place: tuple[RunIndex, CellIndex] = field(repr=False, compare=False)

    @property
    def sample(self) -> str:
        """The sample's id."""
        return self.episode.sample.id

    @property
    def _key(self) -> str:
        return episode_key(self.sample, self.episode.repeat, self.episode.branch)

    @property
    def answer(self) -> str:
        """The last thing said; empty when the episode did not get that far."""
        return self.episode.answer

    @property
    def drawings(self) -> list[Picture]:
        """What the model drew, in order."""
        return self.episode.drawings

    @property
    def values(self) -> dict[str, float | None]:
        """Score → number; None where it does not apply or was not given."""
        return {name: self.score.value(name) for name in self.score.values} if self.score else {}

    def __repr__(self) -> str:
        scores = ", ".join(f"{name} {value:g}" for name, value in self.values.items() if value is not None)
        failed = f"failed: {self.episode.failure.kind}" if self.episode.failure else ""
        told = ", ".join(filter(None, (scores, failed))) or "not scored"
        return one_line(f"PlayedEpisode({self.cell}, {self._key}: {told})")

    def _repr_html_(self) -> str | None:
        run, cell = self._place
        if self.score is None:
            return None
        strip = film_strip(run, cell, self._key, Frames(run.folder))
        return tag("div", tag("style", _IN_A_ROW), strip, class_="sketchmark")


class Episodes(Sequence[PlayedEpisode]):
    """In the order of the samples, one cell after the other."""

    def __init__(self, run: RunIndex, places: Sequence[tuple[CellIndex, str]]) -> None:
        self._run, self._places = run, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> PlayedEpisode: ...

    @overload
    def __getitem__(self, at: slice) -> Episodes: ...

    def __getitem__(self, at: int | slice) -> PlayedEpisode | Episodes:
        if isinstance(at, slice):
            return Episodes(self._run, self._places[at])
        cell, sample = self._places[at]
        episode = unpack_episode(cell.episode(sample), self._run.folder.pictures)
        return PlayedEpisode(cell.name, episode, cell.score(sample), (self._run, cell))

    def __repr__(self) -> str:
        return f"Episodes({len(self)} in {self._run.folder.path})"
