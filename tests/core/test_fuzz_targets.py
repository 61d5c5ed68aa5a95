"""The fuzzer's targets on their seeds, and on what is left of them when bytes go missing."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import ClassVar

import pytest
from fuzz.targets import TARGETS, use

from sketchmark.errors import BadInput


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
    assert kinds == {"readers", "parsers", "pictures", "task files", "run folders", "command lines"}


def test_every_public_method_of_what_a_target_makes_is_called() -> None:
    class Made:
        called: ClassVar[list[str]] = []

        @property
        def size(self) -> int:
            self.called.append("size")
            raise BadInput("no size")

        def shown(self) -> Iterator[int]:
            self.called.append("shown")
            yield 1

        def with_default(self, side: int = 3) -> None:
            self.called.append("with_default")

        def needs(self, side: int) -> None:
            raise AssertionError

        @classmethod
        def made(cls) -> None:
            raise AssertionError

    use(Made())
    assert Made.called == ["shown", "size", "with_default"]
