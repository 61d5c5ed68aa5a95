"""Datasets on the Hugging Face hub: listings, whole files, and files that are read in parts.

A run of all samples downloads whole files before the first call, into the hub's own cache. A run with a limit reads
only the parts that it needs of large files; parts are kept next to the hub's cache. Both need the network once and
then work offline.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import escape
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies

from sketchmark.errors import DataMissing, SketchmarkError
from sketchmark.files import write_atomic, write_json
from sketchmark.terminal import one_line, progress_log

_ATTEMPTS = 3
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Listing:
    """The files of a repository at one commit with their sizes, and the configurations of its card."""

    repo: str
    commit: str
    sizes: dict[str, int]
    configs: list[dict[str, Any]]

    def matching(self, pattern: str) -> list[str]:
        """Return the sorted names that match a glob. `*` stays within one folder, `**` does not."""
        fitting = [name for name in sorted(self.sizes) if fnmatchcase(name, pattern)]
        return [name for name in fitting if "**" in pattern or name.count("/") == pattern.count("/")]

    def declared(self, config: str | None, split: str) -> list[str] | None:
        """Return the files that the card names for a split; None if it names no files."""
        fitting = [one for one in self.configs if one.get("config_name", "default") == (config or "default")]
        if config is None and not fitting:
            fitting = [one for one in self.configs if one.get("default")] or self.configs[:1]
        fitting = [one for one in fitting if one.get("data_files")]
        if not fitting:
            return None
        folder = f"{fitting[0]['data_dir'].strip('/')}/" if fitting[0].get("data_dir") else ""
        patterns = _paths(fitting[0]["data_files"], split)
        return [name for pattern in patterns for name in self.matching(folder + pattern)]


def _paths(data_files: Any, split: str) -> list[str]:
    """Return a split's patterns from a card: a list of `{split, path}`, a mapping by split, or (train) neither."""
    if isinstance(data_files, dict):
        data_files = [{"split": key, "path": value} for key, value in data_files.items()]
    if isinstance(data_files, list) and data_files and isinstance(data_files[0], dict):
        return [path for one in data_files if one.get("split") == split for path in _listed(one.get("path"))]
    return _listed(data_files) if split == "train" else []


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(one) for one in value or ()]


def home() -> Path:
    """Return our folder next to the hub's own cache, so that both are moved or shared together."""
    return Path(library().constants.HF_HOME) / "sketchmark"


@lru_cache
def listing(repo: str) -> Listing:
    """Return what the repository holds, kept next to the hub's cache: the next run works without the hub."""
    client = library()
    kept = home() / f"{repo.replace('/', '--')}.json"

    def ask() -> Listing:
        info = client.HfApi().dataset_info(repo, files_metadata=True)
        card = info.card_data.to_dict() if info.card_data else {}
        sizes = {one.rfilename: one.size or 0 for one in info.siblings or ()}
        return Listing(repo, info.sha, sizes, card.get("configs") or [])

    try:
        found = _asking(repo, ask)
    except _Unreachable:
        if not kept.is_file():
            raise
        return Listing(**json.loads(kept.read_text("utf-8")))
    write_json(kept, asdict(found))
    return found


def fetched(of: Listing, names: Sequence[str]) -> Path:
    """Return the folder with these files, all of them complete: downloaded now, or from the cache."""
    client = library()
    missing = [name for name in names if cached(of, name) is None]
    if missing and not offline():
        size = sum(of.sizes.get(name, 0) for name in missing) / 1_000_000
        files = "1 file" if len(missing) == 1 else f"{len(missing):,} files"
        progress_log().info(one_line(f"downloading {of.repo}: {files}, {size:,.1f} MB; what has come is kept"))
    patterns = [escape(name) for name in names]
    return _asking(
        of.repo,
        lambda: Path(
            client.snapshot_download(of.repo, repo_type="dataset", revision=of.commit, allow_patterns=patterns)
        ),
    )


def cached(of: Listing, name: str) -> Path | None:
    """Return the file if an earlier run downloaded it completely."""
    found = library().try_to_load_from_cache(of.repo, name, revision=of.commit, repo_type="dataset")
    return Path(found) if isinstance(found, str) else None


def part(of: Listing, name: str, start: int, end: int) -> bytes:
    """Fetch bytes `start` to `end` of a file."""
    client = library()
    url = client.hf_hub_url(of.repo, name, repo_type="dataset", revision=of.commit)
    headers = {**client.utils.build_hf_headers(), "Range": f"bytes={start}-{end - 1}"}

    def ask() -> bytes:
        answer = client.utils.get_session().get(url, headers=headers, timeout=60)
        client.utils.hf_raise_for_status(answer)
        body: bytes = answer.content
        if len(body) != end - start:
            raise ConnectionError(f"{len(body)} bytes instead of {end - start}")
        return body

    return _asking(of.repo, ask)


class _Unreachable(DataMissing):
    """No network, or the hub does not respond. A cached copy may do."""


def _asking(repo: str, ask: Callable[[], _Found]) -> _Found:
    """Send a request to the hub, retry temporary errors, and turn any other error into one line with a next step."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return ask()
        except Exception as error:  # the client raises many types, its own and its transport's
            if isinstance(error, SketchmarkError) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                raise
            failure = _explained(error, repo)
            if attempt == _ATTEMPTS or not isinstance(failure, _Unreachable) or offline():
                raise failure from error
            time.sleep(attempt / 2)
    raise AssertionError


def _explained(error: Exception, repo: str) -> DataMissing:
    """Turn an error of the client into one line with a next step."""
    if refusal := refused(error, repo):
        return refusal
    status = _status(error)
    if status and status < 500 and status not in (408, 429):
        return DataMissing(f"the hub answers {status} for {repo}", f"look at {page(repo)}, or give --data PATH")
    if offline():
        return _Unreachable(
            f"{repo} is not in the hub's cache here, and there is no network (or HF_HUB_OFFLINE is set)",
            "run it once with a network, or give --data PATH",
        )
    reason = f"it answers {status}" if status else (str(error).splitlines() or [type(error).__name__])[0][:200]
    return _Unreachable(
        f"cannot load {repo} from the hub: {reason}", "run it again: what was downloaded is kept; or give --data PATH"
    )


def refused(error: BaseException, repo: str) -> DataMissing | None:
    """Return the error if the hub denies this user the dataset, or has none of the name."""
    client = library()
    if _caused_by(error, client.errors.GatedRepoError) or "is a gated dataset" in str(error):
        who = "the account of your token is not let in" if client.get_token() else "it is for those who were let in"
        return DataMissing(
            f"{repo} is gated: {who}",
            f"accept its terms at {page(repo)}, then set HF_TOKEN to a token of that account",
        )
    if _caused_by(error, client.errors.RepositoryNotFoundError):
        return DataMissing(
            f"there is no dataset {repo} at {client.constants.ENDPOINT}, or it is private",
            "if it is private, set HF_TOKEN to a token that may read it; or give --data PATH",
        )
    if _status(error) == 401:
        return DataMissing(f"the hub refuses the token for {repo}", "set HF_TOKEN to a valid token, or unset it")
    return None


def _caused_by(error: BaseException | None, kind: type[BaseException]) -> bool:
    return error is not None and (isinstance(error, kind) or _caused_by(error.__cause__ or error.__context__, kind))


def _status(error: BaseException | None) -> int:
    """Return the HTTP status behind an error; 0 if there was no response."""
    if error is None:
        return 0
    found = getattr(getattr(error, "response", None), "status_code", None)
    return found if isinstance(found, int) else _status(error.__cause__ or error.__context__)


def page(repo: str) -> str:
    """Return the address where people see the dataset and request access."""
    return f"{library().constants.ENDPOINT}/datasets/{repo}"


def offline() -> bool:
    return bool(library().constants.HF_HUB_OFFLINE)


def _without_a_network() -> None:
    """Set the clients to offline mode if the hub has no address: they would retry for half a minute, loudly."""
    host = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co").hostname
    if "huggingface_hub" not in sys.modules and not getproxies():
        try:
            socket.getaddrinfo(host, 443)
        except (OSError, UnicodeError):
            os.environ.setdefault("HF_HUB_OFFLINE", "1")


def library() -> Any:
    """Return the client of the extra `data`. It shows progress only on a terminal, and leaves errors to us."""
    _without_a_network()
    client = import_module("huggingface_hub")
    for part_of_it in ("constants", "errors", "utils"):
        import_module(f"huggingface_hub.{part_of_it}")
    if not sys.stderr.isatty():
        client.utils.disable_progress_bars()
    if "HF_HUB_VERBOSITY" not in os.environ:
        client.utils.logging.set_verbosity_error()
    return client


BLOCK = 4 * 1024 * 1024
"""Small enough to waste few bytes, large enough that the time per request does not matter."""


class _Parts(io.RawIOBase):
    def __init__(self, of: Listing, name: str) -> None:
        self.of, self.name, self.size = of, name, of.sizes[name]
        key = hashlib.sha256(f"{of.repo}\n{of.commit}\n{name}".encode()).hexdigest()[:32]
        self._folder = home() / "parts" / key
        self._at = 0
        self._told = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence])
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        end = min(self.size, self._at + len(buffer))
        if end <= self._at:
            return 0
        first, last = self._at // BLOCK, (end - 1) // BLOCK
        self._fetch(first, last)
        data = b"".join(self._place(number).read_bytes() for number in range(first, last + 1))
        start = self._at - first * BLOCK
        buffer[: end - self._at] = data[start : start + end - self._at]
        count, self._at = end - self._at, end
        return count

    def _place(self, number: int) -> Path:
        return self._folder / f"{number:06d}"

    def _fetch(self, first: int, last: int) -> None:
        """Fetch the missing blocks; adjacent ones in one request."""
        for start, stop in _runs(n for n in range(first, last + 1) if not self._place(n).exists()):
            self._tell()
            data = part(self.of, self.name, start * BLOCK, min(self.size, stop * BLOCK))
            for number in range(start, stop):
                block = data[(number - start) * BLOCK : (number - start + 1) * BLOCK]
                write_atomic(self._place(number), block, durable=False)

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            whole = f"{self.size / 1_000_000:,.1f} MB"
            progress_log().info(
                one_line(f"downloading what is needed of {self.of.repo}, {self.name} ({whole} in all)")
            )


def _runs(numbers: Iterator[int]) -> list[tuple[int, int]]:
    """Group numbers into spans (first, last + 1)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def opened(of: Listing, name: str) -> Path | BinaryIO:
    """Return the file for random access: the whole one in the cache, otherwise one that is fetched in parts."""
    return cached(of, name) or io.BufferedReader(_Parts(of, name))
