from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.local import tiny
from tests.servers.weights import make_qwen25vl


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Threads that wait for each other cost more than these models take."""
    import torch

    torch.set_num_threads(1)


def _made_once(make: Callable[[Path], Path]) -> Any:
    name = make.__name__.removeprefix("make_")

    @pytest.fixture(scope="session", name=name)
    def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
        return make(tmp_path_factory.mktemp(name))

    return made


llava, idefics3, janus, emu3 = map(_made_once, (tiny.make_llava, tiny.make_idefics3, tiny.make_janus, tiny.make_emu3))
text, chameleon = _made_once(tiny.make_text), _made_once(tiny.make_chameleon)


@pytest.fixture(scope="session")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qwen2.5-VL, whose positions run apart from its tokens."""
    return make_qwen25vl(tmp_path_factory.mktemp("qwen"), ends=2.0)
