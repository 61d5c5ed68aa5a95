"""What `sketchmark compare` finds within one run, as the report shows it: the same numbers in both places."""

from __future__ import annotations

from sketchmark.comparison import Comparison, compare
from sketchmark.errors import BadInput
from sketchmark.runs.store import RunFolder


def compared(folder: RunFolder) -> Comparison:
    """Nothing to compare (one mode, or nothing scored yet) is no error in a report."""
    try:
        return compare([folder.path], anyway=True, published=True)
    except BadInput:
        return Comparison((), (), ())
