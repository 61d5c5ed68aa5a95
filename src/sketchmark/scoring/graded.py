"""One graded item: what every scoring mode hands to the totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Scoring = Literal["strict", "code-upstream", "code-fork", "paper"]
"""`strict` is ours; the two `code-` modes are the published programs'; `paper` is rule-based closed + judged open."""


@dataclass(frozen=True)
class Graded:
    """`right` is the rule's verdict, `judged` the LLM judge's (None: not asked, or no verdict).

    `stopped` marks an item at which the published code would have ended its run.
    """

    right: bool
    closed: bool = True
    metrics: Mapping[str, float] = field(default_factory=dict)
    judged: bool | None = None
    unparsed: bool = False
    stopped: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)
    answer: str | list[str] | bool | None = None
    """What was read, for the note `answer`."""
