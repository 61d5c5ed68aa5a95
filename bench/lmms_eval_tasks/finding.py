"""How far a task came."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

NO_MODULE = "a module that is not installed"
PLAYS, LOADS, FAILS = "plays", "loads", "does not load"


@dataclass(frozen=True)
class Finding:
    """How far a task came, by what it was stopped, and in whose words."""

    state: str
    kind: str
    reason: str
    task: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(self.as_dict()))

    @classmethod
    def read(cls, file: Path) -> Finding:
        return cls(**json.loads(file.read_text()))
