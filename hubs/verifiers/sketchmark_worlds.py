"""Sketchmark's generated worlds for verifiers: the taskset and the harness that it finds by this package's name."""

from sketchmark.training.verifiers import DrawingHarness, WorldTaskset

__all__ = ["DrawingHarness", "WorldTaskset"]
