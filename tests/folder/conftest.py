"""The run that tests/runs shares, for tests that only read it."""

from tests.runs.conftest import _played_once, played

__all__ = ["_played_once", "played"]
