"""One cluster for all tests that leave it as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ray.cluster import two_nodes


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    with two_nodes() as found:
        yield found
