"""When a run ends early because no further episode would fare better."""

from __future__ import annotations

from sketchmark.episode import Episode, Failure
from sketchmark.errors import CallFailed

ALIKE_IN_A_ROW = 20
"""So many episodes in a row that fail alike, none of them the model's own doing, end the run; with more episodes at
once, as many as those. The rest would only cost time and money: a server that is down, memory that is too small, a
plug-in with a bug."""

PATIENCE = 60.0
"""Seconds that the episodes under way have to end once a run stops. What is cut off is played by the next start."""


class Stopping:
    """Looks at how episodes end, and says when it is enough."""

    def __init__(self, concurrency: int) -> None:
        self.why = ""
        self.without_judge = False
        self._most = max(ALIKE_IN_A_ROW, concurrency)
        self._kind = ""
        self._alike = 0

    def ended(self, episode: Episode) -> None:
        failure = episode.failure
        if failure is None or failure.blames_model:  # whoever is asked does answer
            self._kind, self._alike = "", 0
            return
        self._alike = self._alike + 1 if failure.kind == self._kind else 1
        self._kind = failure.kind
        if self.why:
            return
        if episode.stops_run:
            self.why = _told(failure)
        elif self._alike >= self._most:
            self.why = f"{self._alike} episodes in a row failed alike, the last: {_told(failure)}"

    def judge_refused(self, error: CallFailed) -> None:
        self.without_judge = True
        self.why = self.why or f"the judge: {error}"

    def told(self, cell: str, finished: int, total: int | None) -> str:
        """What happened and what to do, in one line."""
        of = f" of {total}" if total is not None else ""
        return (
            f"{cell}: stopped after {finished}{of}: {self.why}; mend it and run the same command: it plays the rest"
        )


def _told(failure: Failure) -> str:
    message = " ".join(failure.message.split())[:400]
    return message if failure.kind in message else f"{failure.kind}: {message}"
