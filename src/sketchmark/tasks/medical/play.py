"""The protocols of the medical sets and MMMU, under the name that their run folders know them by."""

from __future__ import annotations

from sketchmark.tasks.guarded_play import direct, draw_then_answer

__all__ = ["direct", "draw_then_answer"]
