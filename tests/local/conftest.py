from __future__ import annotations

from pathlib import Path

import pytest

from tests.local import tiny


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Threads that wait for each other cost more than these models take."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make_llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="session")
def idefics3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make_idefics3(tmp_path_factory.mktemp("idefics3"))


@pytest.fixture(scope="session")
def janus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make_janus(tmp_path_factory.mktemp("janus"))


@pytest.fixture(scope="session")
def emu3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.make_emu3(tmp_path_factory.mktemp("emu3"))
