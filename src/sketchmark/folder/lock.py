"""Lock of a run folder, and the notes that its holder makes in run.json: how the run ended, and which shard it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sketchmark.errors import RunConflict, SketchmarkError
from sketchmark.files import is_running, own_file, own_folder, write_json
from sketchmark.files.jsonl import LineReader, read_regular
from sketchmark.folder import RunFolder
from sketchmark.folder.format import Ended, RunRecord
from sketchmark.secrets import redact
from sketchmark.settings import Shard
from sketchmark.terminal import one_line


def note_ending(path: Path, error: BaseException | None = None, *, at_cost_limit: bool = False) -> None:
    """Write how a run ended. A killed run writes nothing and stays named as the holder of the lock."""
    with suppress(OSError, SketchmarkError):  # a full disk: the error that ended the run is more important
        folder = RunFolder(path)
        about = folder.about()
        about.ended = _ended(error, at_cost_limit)
        write_json(folder.run_file, about)


def _ended(error: BaseException | None, at_cost_limit: bool) -> Ended:
    if error is None:
        return Ended("stopped", "at the cost limit") if at_cost_limit else Ended("finished")
    if isinstance(error, (asyncio.CancelledError, KeyboardInterrupt)):
        return Ended("stopped", "by a signal or an interrupt")
    return Ended("failed", one_line(redact(str(error) or type(error).__name__)))


class Holder(msgspec.Struct):
    """The process that works in the folder."""

    pid: int
    host: str
    began: str = ""
    """Start of the process, if the system reports it: process ids are reused."""

    @property
    def lives(self) -> bool | None:
        """True if the process is running; None if unknown, on another machine or a system without a safe check."""
        if self.host != socket.gethostname() or os.name != "posix" or not 0 < self.pid < 2**31:
            return None
        return is_running(self.pid) and (not self.began or _began(self.pid) == self.began)


_HOLDER = LineReader(Holder, "the name of a process")


def holder_of(folder: Path) -> Holder | None:
    """Return the process that works in the folder, or was killed there; the lock itself is not touched."""
    try:
        return _HOLDER.one(read_regular(own_file(folder, ".lock-holder")), "")
    except (OSError, SketchmarkError):
        return None


def _began(pid: int) -> str:
    """Return the start of a process in ticks since boot: field 22, after a name that may contain any sign."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, ValueError, IndexError):
        return ""


class RunLock:
    """Lock of a run folder. A second process is refused, with the name of the first.

    The system holds the lock for the process, not the file `.lock`, so a killed run leaves nothing to clean up. The
    holder is named in `.lock-holder`: some systems do not let others read a locked file, and some versions of
    filelock empty it. That file is used in messages, and to find temporary files of a process that was killed.
    """

    def __init__(self, folder: Path) -> None:
        from filelock import FileLock, Timeout

        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(own_file(folder, ".lock"))
        self._holder = own_file(folder, ".lock-holder")
        try:
            self._lock.acquire(blocking=False)
        except Timeout as error:
            found = holder_of(folder)
            who = f": process {found.pid} on {found.host[:80]!r}" if found else ""
            raise RunConflict(
                f"another process is running in {folder}{who}", "wait for it, or use --output_path"
            ) from error
        killed = holder_of(folder)
        for leftover in folder.rglob(f".*.{killed.pid}.*") if killed else ():  # images that it was writing
            leftover.unlink(missing_ok=True)
        with suppress(OSError):  # a full disk: the lock itself holds
            write_json(self._holder, Holder(os.getpid(), socket.gethostname(), _began(os.getpid())))

    def release(self) -> None:
        with suppress(OSError):
            self._holder.unlink()
        self._lock.release()


@contextmanager
def new_folder(out: Path, doing: str) -> Iterator[Path]:
    """Make a folder under a temporary name that no list of runs shows, and give it the name `out` at the end of the
    block. A block that fails, or a kill, leaves nothing under `out`; what a kill left is removed by the next call.

    An empty folder `out` stays the same folder, since it may be a mount: its contents are made inside of it.
    """
    there = out.exists()
    name = f".{doing}" if there else f".{out.name}.{doing}"
    if out.is_symlink() or (there and (not out.is_dir() or any(one.name != name for one in out.iterdir()))):
        raise RunConflict(f"{out} is there already", "name a folder that is not, or remove it")
    made = own_folder(out if there else out.parent, name)
    lock = RunLock(made)
    try:
        for leftover in made.iterdir():
            if not leftover.name.startswith(".lock"):
                _remove(leftover)
        yield made
        os.sync()  # the pictures; all else is on the disk already
        lock.release()
        for file in made.glob(".lock*"):
            file.unlink()
        if there:
            for one in sorted(made.iterdir(), key=lambda path: path.name == "run.json"):  # which makes it a run
                one.replace(out / one.name)
            made.rmdir()
        else:
            made.replace(out)
    except BaseException:
        lock.release()
        shutil.rmtree(made, ignore_errors=True)
        raise


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


_MERGE = "`sketchmark merge` puts shards together"


def refuse_another_shard(folder: RunFolder, about: RunRecord, shard: Shard | None) -> None:
    """Refuse to mix shards in a folder: it could no longer say which samples are missing."""
    now = str(shard) if shard else ""
    if about.shard != now:
        holds = f"shard {about.shard}" if about.shard else "a run without --shard"
        asked = f"shard {now}" if now else "the whole run"
        same = f"give --shard {about.shard}" if about.shard else "leave --shard out"
        raise RunConflict(
            f"{folder.path} holds {holds}, and {asked} is asked for",
            f"{same}, use another --output_path, or --fresh to start over; {_MERGE}",
        )


def note_totals(folder: RunFolder, totals: Mapping[str, int]) -> None:
    """Write the number of samples, known once all were read; a merge uses it to find gaps."""
    about = folder.about()
    if any(about.totals.get(cell) != total for cell, total in totals.items()):
        write_json(folder.run_file, replace(about, totals={**about.totals, **totals}))


def part_in_words(about: RunRecord, played: Mapping[str, int]) -> str:
    """Describe a shard and how much of each cell it holds; empty for a whole run. `played`: cell → samples."""
    if not about.shard:
        return ""
    counts: dict[str, list[str]] = {}
    for cell, count in played.items():
        of = f" of {about.totals[cell]}" if cell in about.totals else ""
        counts.setdefault(f"{count}{of} samples", []).append(cell)
    told = "; ".join(
        count if len(counts) == 1 else f"{count} of {', '.join(cells)}" for count, cells in counts.items()
    )
    return f"shard {about.shard} only, a part of the run: {told or 'no samples'}; {_MERGE}"
