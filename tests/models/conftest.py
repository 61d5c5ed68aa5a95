from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.fake_server import KEY, FarEnd, running


@pytest.fixture(scope="session")
def _far_end() -> Iterator[FarEnd]:
    with running() as server:
        yield server


@pytest.fixture
def far(_far_end: FarEnd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FarEnd:
    """A fresh view of the validating server, and the planted key in every variable an adapter reads."""
    _far_end.reset()
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("OPENAI_BASE_URL", "GOOGLE_API_KEY", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return _far_end
