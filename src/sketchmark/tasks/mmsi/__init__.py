"""MMSI-Bench (https://arxiv.org/abs/2505.23764): spatial questions about several pictures at once."""

from __future__ import annotations

ALIASES = {
    "questions": "sketchmark.tasks.mmsi.data:questions",
    "accuracy": "sketchmark.tasks.mmsi.scoring:accuracy",
}
"""The names by which task files and run folders know this code. They never change; where the code is, may."""
