"""What tasks most often import of lmms-eval, which would otherwise bring 2.4 GB along. Written from what it does, and
held against the real package where that is installed (tests/lmms_eval/test_provided.py); there it is never used."""

_HERE = __name__

MODULES = {
    "loguru": f"{_HERE}.log",
    "lmms_eval.utils": f"{_HERE}.log",
    "lmms_eval.api.filter": f"{_HERE}.filters",
    "lmms_eval.filters": f"{_HERE}.filters",
    "lmms_eval.filters.extraction": f"{_HERE}.filters",
    "lmms_eval.filters.selection": f"{_HERE}.filters",
    "lmms_eval.filters.transformation": f"{_HERE}.filters",
    "lmms_eval.api.metrics": f"{_HERE}.metrics",
    "lmms_eval.api.reasoning": f"{_HERE}.reasoning",
    "lmms_eval.tasks._task_utils.file_utils": f"{_HERE}.files",
}
"""A module that a task imports -> ours, where the package is not installed: `sketchmark.task_files.importing`."""
