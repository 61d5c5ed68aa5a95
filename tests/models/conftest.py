from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sketchmark.models import call as calling
from tests.models.broken_server import make_certificate
from tests.models.fake_server import KEY, FarEnd, running


@pytest.fixture(scope="session")
def _servers() -> Iterator[tuple[FarEnd, FarEnd]]:
    with running() as one, running() as other:
        yield one, other


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "FIRST_WAIT", 0.001)


@pytest.fixture
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The planted key in every variable that an adapter reads, and no other server than the test's."""
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("OPENAI_BASE_URL", "GOOGLE_API_KEY", "ANTHROPIC_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def far(_servers: tuple[FarEnd, FarEnd], _keys: None) -> FarEnd:
    """A fresh view of the validating server."""
    _servers[0].reset()
    return _servers[0]


@pytest.fixture
def other(_servers: tuple[FarEnd, FarEnd]) -> FarEnd:
    """A second server, at another port."""
    _servers[1].reset()
    return _servers[1]


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("certificates")
    names = ("trusted", "expired", "unknown")
    return {name: make_certificate(folder / f"{name}.pem", expired=name == "expired") for name in names}


@pytest.fixture
def authorities(certificates: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, _keys: None) -> None:
    """Two authorities, one whose certificate has expired: few to read for the many clients. The search for a name
    that does not exist is short."""
    trusted = tmp_path / "authorities.pem"
    trusted.write_bytes(certificates["trusted"].read_bytes() + certificates["expired"].read_bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    monkeypatch.setenv("RES_OPTIONS", "timeout:1 attempts:1")
