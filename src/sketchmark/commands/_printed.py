"""What `run`, `score` and `score-file` print of their results, in one order."""

from __future__ import annotations

from sketchmark.commands._alignment_table import print_alignment
from sketchmark.commands._readings_table import print_readings
from sketchmark.commands._results_table import print_results
from sketchmark.commands._scorings_table import print_scorings
from sketchmark.commands._totals_table import print_totals
from sketchmark.runs.results_format import Results


def print_all(results: Results, all_readings: str) -> None:
    """`all_readings` says where every reply is found that scorings read differently."""
    print_results(results)
    print_totals(results)
    print_alignment(results)
    print_scorings(results)
    print_readings(results, all_readings)


def print_json(results: Results) -> None:
    import json

    from sketchmark.files.plain import plain
    from sketchmark.terminal import tell_all

    tell_all(json.dumps(plain(results), indent=1, ensure_ascii=False))
