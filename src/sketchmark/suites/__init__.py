"""Several models, one command: run files, and their models played one after another.

for outcome in run_suite("suite.yaml", limit=20):
    print(outcome.entry.name, outcome.folder and outcome.folder.results())
"""

from sketchmark.suites.playing import Outcome, play, prepare_all, run_suite
from sketchmark.suites.reading import read_suite
from sketchmark.suites.suite import Entry, Start, Suite, of_models

__all__ = ["Entry", "Outcome", "Start", "Suite", "of_models", "play", "prepare_all", "read_suite", "run_suite"]
