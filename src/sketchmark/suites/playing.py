"""A suite, played model by model. One that cannot be played, or that stops, does not keep the others from playing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.api import play as play_run
from sketchmark.errors import BadInput, RunConflict, RunStopped, SketchmarkError
from sketchmark.runs.cost_limit import cut_short
from sketchmark.runs.prepare import PreparedRun, prepare
from sketchmark.runs.store import RunFolder
from sketchmark.suites.reading import read_suite
from sketchmark.suites.suite import Entry, Suite


@dataclass
class Outcome:
    """What became of one model. `runs` are its starts that could be prepared."""

    entry: Entry
    path: Path
    runs: list[PreparedRun] = field(default_factory=list)
    errors: list[SketchmarkError] = field(default_factory=list)
    begun: bool = False
    left_out: bool = False
    """Not played to the end, because the suite's cost limit was reached."""

    @property
    def spent(self) -> float:
        return sum(run.options.budget.spent for run in self.runs)

    @property
    def judge_spent(self) -> float:
        """Of what was spent, the judge's part."""
        return sum(run.options.budget.judge_spent for run in self.runs)

    @property
    def folder(self) -> RunFolder | None:
        """Its run; None where it did not play, or where the folder holds what was played differently: those numbers
        are not of this suite."""
        other = any(isinstance(error, RunConflict) for error in self.errors)
        return RunFolder(self.path) if self.begun and not other and (self.path / "run.json").exists() else None


def prepare_all(suite: Suite, *, quiet: bool = True) -> list[Outcome]:
    """Every start of every model, checked before the first call of any."""
    if (suite.parent / "run.json").exists():
        raise BadInput(
            f"{suite.parent} is a run folder, and no folder for several models' runs",
            "name another one with --output_path",
        )
    outcomes = []
    for entry in suite.entries:
        outcome = Outcome(entry, suite.path(entry))
        for start in entry.starts:
            options = {**start.options, "output_path": outcome.path, "max_cost": suite.max_cost, "quiet": quiet}
            if outcome.runs:  # what the first start of a model throws away is not what that start has played
                options["fresh"] = False
            try:
                outcome.runs.append(prepare(entry.model, start.tasks, **options))
            except SketchmarkError as error:
                outcome.errors.append(error)
        outcomes.append(outcome)
    return outcomes


def play(
    suite: Suite, outcomes: Sequence[Outcome], begin: Callable[[Outcome], None] = lambda outcome: None
) -> Iterator[Outcome]:
    """Each model as it ends. `begin` is told of each that is about to play."""
    for outcome in outcomes:
        for number, run in enumerate(outcome.runs):
            budget = run.options.budget
            if suite.max_cost is not None:
                budget.limit = suite.max_cost - sum(other.spent for other in outcomes)
            try:
                if budget.used_up and (run.options.fresh or _cut_short(run)):
                    outcome.left_out = True
                    break
                if number == 0:
                    begin(outcome)
                outcome.begun = True
                play_run(run)
                outcome.left_out |= _cut_short(run)
            except RunStopped as error:  # its other starts would meet the same
                outcome.errors.append(error)
                break
            except SketchmarkError as error:
                outcome.errors.append(error)
        yield outcome


def _cut_short(run: PreparedRun) -> bool:
    return cut_short(RunFolder(run.path), run.cells, run.options)


def run_suite(
    path: str | Path, output_path: str | Path | None = None, *, quiet: bool = True, **over: Any
) -> list[Outcome]:
    """Play a run file and say what became of each model; `over` goes over what the file says, for all of them."""
    suite = read_suite(Path(path), Path(output_path) if output_path else None, **over)
    return list(play(suite, prepare_all(suite, quiet=quiet)))
