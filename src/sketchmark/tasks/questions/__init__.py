"""Questions of your own: a JSONL, CSV or parquet file is a task (docs/your-own-questions.md)."""

from __future__ import annotations

ALIASES = {
    "samples": "sketchmark.tasks.questions.data:questions",
    "right": "sketchmark.tasks.questions.scoring:right",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
