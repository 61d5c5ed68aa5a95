"""Several models in one command: the models of a run file, one after another.

A model that cannot run, or that stops, does not stop the others.

for outcome in run_suite("suite.yaml", limit=20):
    print(outcome.entry.name, outcome.folder and outcome.folder.results())
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sketchmark.errors import BadInput, RunConflict, RunStopped, SketchmarkError
from sketchmark.folder import RunFolder
from sketchmark.models import own_variables
from sketchmark.report import report_run
from sketchmark.runs import PreparedRun, prepare
from sketchmark.settings.run_file import Suite, SuiteModel, read_suite


@dataclass
class ModelOutcome:
    """Outcome of one model. `runs` holds each of its task sets that could be prepared."""

    entry: SuiteModel
    path: Path
    runs: list[PreparedRun] = field(default_factory=list)
    errors: list[SketchmarkError] = field(default_factory=list)
    begun: bool = False
    left_out: bool = False
    """Unfinished, because the cost limit was reached."""

    @property
    def spent(self) -> float:
        return sum(run.budget.spent for run in self.runs)

    @property
    def calls(self) -> int:
        """Calls to the model that this invocation paid for."""
        return sum(run.budget.calls for run in self.runs)

    @property
    def judge_spent(self) -> float:
        """The judge's part of the cost."""
        return sum(run.budget.judge_spent for run in self.runs)

    @property
    def extractor_spent(self) -> float:
        """The extractor's part of the cost."""
        return sum(run.budget.extractor_spent for run in self.runs)

    @property
    def folder(self) -> RunFolder | None:
        """Its run. None if it did not run, or if the folder holds a run with other settings: those numbers belong to
        another suite."""
        other = any(isinstance(error, RunConflict) for error in self.errors)
        return RunFolder(self.path) if self.begun and not other and (self.path / "run.json").exists() else None


def prepare_all(suite: Suite, *, quiet: bool = True) -> list[ModelOutcome]:
    """Check every task set of every model before the first call."""
    if (suite.parent / "run.json").exists():
        raise BadInput(
            f"{suite.parent} is a run folder, and no folder for several models' runs",
            "name another one with --output_path",
        )
    _refuse_foreign_variables(suite)
    outcomes = []
    for entry in suite.entries:
        outcome = ModelOutcome(entry, suite.path(entry))
        for start in entry.starts:
            options = {**start.options, "output_path": outcome.path, "max_cost": suite.max_cost, "quiet": quiet}
            if outcome.runs:  # only the first task set of a model empties the folder
                options["fresh"] = False
            try:
                outcome.runs.append(prepare(entry.model, start.tasks, **options))
            except SketchmarkError as error:
                outcome.errors.append(error)
        outcomes.append(outcome)
    return outcomes


def _refuse_foreign_variables(suite: Suite) -> None:
    """Refuse a run file that would send a variable of another service to the address that it names."""
    for named in suite.variables:
        own = own_variables(named.model)
        if named.name not in (*own, *suite.allowed):
            reads = f"it reads {' or '.join(own)}; " if own else ""
            raise BadInput(
                f"{named.where} names the variable {named.name}, which is not for {named.model or 'a judge'}",
                f"{reads}if you trust this file with it, give --allow-env {named.name} on the command line",
            )


def play_suite(
    suite: Suite, outcomes: Sequence[ModelOutcome], begin: Callable[[ModelOutcome], None] = lambda outcome: None
) -> Iterator[ModelOutcome]:
    """Yield each model when it ends. `begin` is called before each one starts."""
    for outcome in outcomes:
        for number, run in enumerate(outcome.runs):
            budget = run.budget
            if suite.max_cost is not None:
                budget.limit = suite.max_cost - sum(other.spent for other in outcomes)
            try:
                if budget.used_up and (run.settings.fresh or run.is_stopped_by_cost()):
                    outcome.left_out = True
                    break
                if number == 0:
                    begin(outcome)
                outcome.begun = True
                run.play(report_run)
                outcome.left_out |= run.is_stopped_by_cost()
            except RunStopped as error:  # its other task sets would fail alike
                outcome.errors.append(error)
                break
            except SketchmarkError as error:
                outcome.errors.append(error)
        yield outcome


def run_suite(
    path: str | Path, output_path: str | Path | None = None, *, quiet: bool = True, **over: Any
) -> list[ModelOutcome]:
    """Run a run file and return the outcome of each model. `over` overrides the file for all of them."""
    suite = read_suite(Path(path), Path(output_path) if output_path else None, **over)
    return list(play_suite(suite, prepare_all(suite, quiet=quiet)))
