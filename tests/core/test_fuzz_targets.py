"""The fuzzer's targets on their seeds, and on what is left of them when bytes go missing."""

from __future__ import annotations

from random import Random

import pytest
from fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_refuses_its_seeds_and_their_ruins_only_in_our_words(name: str) -> None:
    target, dice = TARGETS[name], Random(name)
    for seed in target.seeds:
        target(seed)
        for _ in range(20):
            ruin = bytearray(seed)
            for _ in range(dice.randint(1, 4)):
                ruin[dice.randrange(len(ruin))] = dice.randrange(256)
            target(bytes(ruin[: dice.randint(1, len(ruin))]))


def test_every_kind_of_text_from_others_has_a_target() -> None:
    kinds = {target.kind for target in TARGETS.values()}
    assert kinds == {"readers", "parsers", "pictures", "task files", "run folders"}
