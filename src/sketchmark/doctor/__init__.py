"""What a model and its server really do, seen by a dozen small calls before money is spent on a run."""

from sketchmark.doctor.examining import CHECKS, examine
from sketchmark.doctor.findings import Examination, Finding

__all__ = ["CHECKS", "Examination", "Finding", "examine"]
