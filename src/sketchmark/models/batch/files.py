"""What a batch job leaves on disk: its requests, what came back, and enough to find the job again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Set
from dataclasses import asdict, dataclass
from pathlib import Path

from sketchmark.errors import BadInput
from sketchmark.files.atomic import write_json
from sketchmark.models.batch.lines import Result, lasting_failure, read_result, rows
from sketchmark.models.failures import FailedTry


@dataclass(frozen=True)
class State:
    """Where a job stands. `requests` is the digest of all that is asked: a state never serves other requests.

    Between jobs (none sent yet, or the last one expired) there is neither file nor batch.
    """

    requests: str
    server: str
    file_id: str | None = None
    batch_id: str | None = None
    completed: bool = False


@dataclass(frozen=True)
class JobFiles:
    sent: Path
    output: Path
    errors: Path

    @classmethod
    def named(cls, sent: Path, output: Path) -> JobFiles:
        """`batch_step1`, `results_step1` -> `.jsonl` files of these names."""
        return cls(
            sent.with_name(f"{sent.name}.jsonl"),
            output.with_name(f"{output.name}.jsonl"),
            output.with_name(f"{output.name}.errors.jsonl"),
        )

    @property
    def state(self) -> Path:
        return self.sent.with_name(f"{self.sent.name}.state.json")

    def load_state(self) -> State | None:
        try:
            return State(**json.loads(self.state.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(
                f"cannot read the state of the batch in {self.state}: {error}", "delete it to start over"
            ) from error

    def save_state(self, state: State) -> None:
        write_json(self.state, asdict(state))

    def answered(self) -> set[str]:
        return {custom_id for custom_id, _, _ in rows(_bytes(self.output))}

    def add_output(self, data: bytes) -> None:
        """Beside what an earlier job of the same requests brought before it expired: it is paid for."""
        known = self.answered()
        new = [line for custom_id, _, line in rows(data) if custom_id not in known]
        kept = [line for _, _, line in rows(_bytes(self.output))]
        write_bytes(self.output, b"".join(line + b"\n" for line in [*kept, *new]))

    def keep(self, names: Set[str]) -> None:
        """Nothing but the rows of these: the others are asked for again, and would come twice."""
        if self.output.exists():
            kept = [line for custom_id, _, line in rows(_bytes(self.output)) if custom_id in names]
            write_bytes(self.output, b"".join(line + b"\n" for line in kept))

    def lasting_failure(self) -> FailedTry | None:
        """Why requests have no answer yet, where all others would fail too (an empty account): they are not done, but
        to be sent again when that is mended."""
        answered = self.answered()
        failed = (row for custom_id, row, _ in rows(_bytes(self.errors)) if custom_id not in answered)
        return next((found for row in failed if (found := lasting_failure(row))), None)

    def results(self, wanted: Iterable[str]) -> dict[str, Result]:
        """By custom id, whatever order they came in. What the server never spoke of is a problem of its own."""
        found = {custom_id: read_result(row) for custom_id, row, _ in rows(_bytes(self.errors))}
        answers: dict[str, Result] = {}
        for custom_id, row, _ in rows(_bytes(self.output)):
            answers[custom_id] = Result(problem="answered twice") if custom_id in answers else read_result(row)
        found |= answers
        return {custom_id: found.get(custom_id, Result(problem="missing from the results")) for custom_id in wanted}


def write_bytes(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    temporary.replace(path)


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""
