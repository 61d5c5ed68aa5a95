"""What was found, as records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["yes", "in part", "no", "failed", "not asked"]
"""`failed`: a call ended in an error, so nothing is known. `not asked`: the model says that it cannot."""


@dataclass(frozen=True)
class Seen:
    """What came back of one check, in words; `means` is what follows from it for a run, where it is not all well."""

    verdict: Verdict
    seen: str
    means: str = ""


@dataclass(frozen=True)
class Finding(Seen):
    check: str = ""


@dataclass(frozen=True)
class Calls:
    """What one kind of call took."""

    calls: int = 0
    seconds: float = 0.0
    """Of the call in the middle."""
    tokens_in: int = 0
    tokens_out: int = 0
    pictures_out: int = 0


@dataclass(frozen=True)
class Examination:
    model: str
    findings: tuple[Finding, ...]
    modes: dict[str, str]
    """Mode → what to expect of it: `ready`, or why not."""
    says: Calls = field(default_factory=Calls)
    draws: Calls = field(default_factory=Calls)
    cost: float | None = None

    @property
    def is_healthy(self) -> bool:
        return all(finding.verdict in ("yes", "not asked") for finding in self.findings)
