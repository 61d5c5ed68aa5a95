"""No reward without the right image: attacks on the image readers, each tried in every world."""

from __future__ import annotations

import pytest
from bench.hacking import ATTACKS, rewarded

from sketchmark.training import worlds

QUICK = [name for name in ATTACKS if name != "search"]


@pytest.mark.parametrize("world", worlds())
def test_what_is_not_the_right_frame_earns_nothing(world: str) -> None:
    assert [attack for attack in QUICK if rewarded(world, attack, 2)] == []


@pytest.mark.slow
@pytest.mark.parametrize("world", worlds())
def test_a_search_for_images_that_fool_the_reader_finds_none(world: str) -> None:
    assert rewarded(world, "search", 3) == 0
