"""When a run ends early because no further episode would fare better."""

from __future__ import annotations

from sketchmark.episode import Episode, Failure
from sketchmark.errors import CallFailed

ALIKE_IN_A_ROW = 20
"""So many episodes in a row that fail alike, none of them the model's own doing, end the run; with more episodes at
once, as many as those. The rest would only cost time and money: a server that is down, memory that is too small, a
plug-in with a bug."""

REFUSED_FROM_THE_FIRST = 3
"""So many requests that the server refuses (`bad_request`), and none that it took, are no accident: the same again
would be refused again. With more episodes at once, as many as those: a refusal comes sooner than an answer."""

PATIENCE = 60.0
"""Seconds that the episodes under way have to end once a run stops. What is cut off is played by the next start."""


class Stopping:
    """Looks at how episodes end, and says when it is enough."""

    def __init__(self, concurrency: int) -> None:
        self.why = ""
        self.without_judge = False
        self._most = max(ALIKE_IN_A_ROW, concurrency)
        self._most_refused = max(REFUSED_FROM_THE_FIRST, concurrency)
        self._answered = False
        self._kind = ""
        self._alike = 0
        self._last = Failure("", "")

    def ended(self, episode: Episode, *, worked_before: bool = False) -> None:
        """`worked_before`: an earlier start brought answers to the same questions' neighbours."""
        failure = episode.failure
        self._answered = self._answered or worked_before
        if failure is None or failure.blames_model:  # whoever is asked does answer
            self._kind, self._alike, self._answered = "", 0, True
            return
        self._alike = self._alike + 1 if failure.kind == self._kind else 1
        self._kind = failure.kind
        if self.why:
            return
        if episode.stops_run:
            self.why = _told(failure)
        elif self._alike >= (self._most_refused if self._only_refused else self._most):
            self.why = f"{self._alike} episodes in a row failed alike, the last: {_told(failure)}"
        self._last = failure

    def over(self) -> None:
        """All episodes ended: there may have been fewer than run at once."""
        if not self.why and self._only_refused and self._alike >= REFUSED_FROM_THE_FIRST:
            self.why = f"all {self._alike} episodes failed alike, the last: {_told(self._last)}"

    @property
    def _only_refused(self) -> bool:
        return self._kind == "bad_request" and not self._answered

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
