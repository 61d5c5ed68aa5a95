from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sketchmark.models import call as calling
from tests.models.broken_server import make_certificate
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


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("certificates")
    return {
        "trusted": make_certificate(folder / "trusted.pem"),
        "expired": make_certificate(folder / "expired.pem", expired=True),
        "unknown": make_certificate(folder / "unknown.pem"),
    }


@pytest.fixture
def authorities(certificates: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A world with two authorities: one whose certificate has expired, and few to read for the many clients. The
    planted key is in every variable, waits are short, and so is the search for a name that is not there."""
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    trusted = tmp_path / "authorities.pem"
    trusted.write_bytes(certificates["trusted"].read_bytes() + certificates["expired"].read_bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    monkeypatch.setenv("RES_OPTIONS", "timeout:1 attempts:1")
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.001)
    monkeypatch.chdir(tmp_path)
