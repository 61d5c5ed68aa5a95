"""The golden record of the whole house: what every command says, writes and sends, kept as plain files.

    python tests/golden/house.py record FOLDER     runs the cases and keeps what they gave in FOLDER/record
    python tests/golden/house.py compare FOLDER    runs them again; prints a diff and exits 1 where something differs

    --only PATTERN   only cases whose name holds this text or fits it as a pattern
    --renames FILE   lines `old => new`, regular expressions: names that were changed on purpose
    --jobs N         processes, two without it

FOLDER/data holds the data of benchmarks; a case that needs it is left out where there is none. The cases stand in
`house_cases.txt`. Modules of Sketchmark move, so nothing here names one but the command line: the rest is `__all__`,
files and HTTP. Times, durations, temporary paths, ports, versions and checksums of lines are masked.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import contextlib
import difflib
import fnmatch
import importlib
import inspect
import json
import os
import pkgutil
import re
import runpy
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[2]))

from tests.golden.house_masks import LEFT_OUT, PASSING, REPO, as_json, masked, readable  # noqa: E402
from tests.golden.house_server import far_end  # noqa: E402

KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY")
PATIENCE = 120.0

# ------------------------------------------------------------------------------------------------- the cases


def forked(act: Callable[[], Any], out: Path, cwd: Path) -> int:
    """Runs `act` in a process of its own, what it says to out.stdout and out.stderr; its exit code."""
    child = start(act, out, cwd)
    end = time.monotonic() + PATIENCE
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -9
        time.sleep(0.003)
    return os.waitstatus_to_exitcode(ended[1])


def start(act: Callable[[], Any], out: Path, cwd: Path) -> int:
    if child := os.fork():
        return child
    code: Any = 0
    try:
        os.chdir(cwd)
        for number, ending in ((0, None), (1, "stdout"), (2, "stderr")):
            file = os.open(
                f"{out}.{ending}" if ending else os.devnull,
                os.O_RDWR | os.O_CREAT | os.O_TRUNC if ending else os.O_RDONLY,
            )
            os.dup2(file, number)
        act()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 255)


def command(arguments: list[str]) -> None:
    sys.argv = ["sketchmark", *arguments]
    importlib.import_module("sketchmark.cli").main(arguments)


class Case:
    """A named list of lines, played in order in a folder of its own. A line is a command line of sketchmark, or:

    write FILE TEXT · cut FILE BYTES · copy FROM TO · env NAME=VALUE · without MODULE · python FILE
    get 'PATH PATH={JSON}…' COMMAND…   starts a server (view, serve) and asks it for these pages
    """

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name, self.lines = name, lines

    def play(self, temporary: Path, record: Path) -> None:
        cwd, log = temporary / "c" / self.name, temporary / "wire" / f"{self.name.replace('/', '-')}.jsonl"
        for folder in (cwd, log.parent, record):
            folder.mkdir(parents=True, exist_ok=True)
        url, server = far_end(log) if any("{url}" in line for line in self.lines) else ("", 0)
        os.environ["XDG_CACHE_HOME"] = str(temporary / "cache" / self.name)
        told: list[str] = []
        try:
            for line in self.lines:
                full = (
                    line.replace("{url}", url).replace("{data}", str(temporary / "data")).replace("{repo}", str(REPO))
                )
                told.append(f"$ {line}\n{self._line(shlex.split(full), cwd, temporary)}")
        finally:
            if server:
                os.kill(server, signal.SIGKILL)
                os.waitpid(server, 0)
        keep(record / "said.txt", masked("\n".join(told), temporary))
        if log.exists():
            rows = sorted(log.read_text("utf-8").splitlines())
            keep(record / "wire.txt", masked("\n".join(as_json(json.loads(row)) for row in rows), temporary))
        for path in sorted(cwd.rglob("*")):
            name = path.relative_to(cwd).as_posix()
            if path.is_file() and not LEFT_OUT.search(name):
                kept = masked(name, temporary)
                text = masked(readable(name, path.read_bytes()), temporary)
                if text.startswith("bytes:") or "/pictures/" in name:
                    with (record / "binary.txt").open("a", encoding="utf-8") as file:
                        file.write(f"{kept} {text[:40]}\n")
                else:
                    keep(record / "files" / f"{kept}.txt", text)

    def _line(self, words: list[str], cwd: Path, temporary: Path) -> str:
        first, rest = words[0], words[1:]
        if first == "write":
            (cwd / rest[0]).write_text(rest[1].replace("\\n", "\n"), "utf-8")
        elif first == "cut":
            data = (cwd / rest[0]).read_bytes()
            (cwd / rest[0]).write_bytes(data[: -int(rest[1])])
        elif first == "copy":
            copy = shutil.copytree if (cwd / rest[0]).is_dir() else shutil.copy
            copy(cwd / rest[0], cwd / rest[1])
        elif first == "env":
            os.environ[rest[0].partition("=")[0]] = rest[0].partition("=")[2]
        elif first == "without":
            sys.modules[rest[0]] = None  # type: ignore[assignment]
        elif first == "get":
            return _get(rest[0].split(), rest[1:], cwd, temporary)
        else:
            if (
                first in ("run", "audit")
                and "--model" in words
                and not {"-c", "--concurrency", "--engine"} & {*words}
            ):
                words += ["-c", "1"]  # cells share answered calls: which of them asks is then always the same
            act = (
                (lambda: runpy.run_path(rest[0], run_name="__main__"))
                if first == "python"
                else (lambda: command(words))
            )
            code = forked(act, temporary / "out", cwd)
            return f"exit {code}\n{_told(temporary / 'out')}"
        return ""


def _told(out: Path) -> str:
    told = {ending: Path(f"{out}.{ending}").read_text("utf-8", "replace") for ending in ("stdout", "stderr")}
    lines = [line for line in told["stderr"].splitlines() if not PASSING.search(line)]
    lines.sort(key=lambda line: line if " episodes, " in line else "")  # cells end in any order
    told["stderr"] = "\n".join(lines)
    return "".join(f"--- {ending}\n{text}\n" for ending, text in told.items() if text.strip())


def _get(paths: list[str], words: list[str], cwd: Path, temporary: Path) -> str:
    out = temporary / "out"
    child = start(lambda: command(words), out, cwd)
    try:
        for _ in range(200):
            time.sleep(0.05)
            if found := re.search(r"(http://[\d.:]+)(/\?token=\S+)?", _told(out)):
                break
        else:
            return "no address\n" + _told(out)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        pages = []
        for path in [found[2] or "/", *paths]:
            where, _, body = path.partition("={")
            data = b"{" + body.encode() if body else None
            request = urllib.request.Request(found[1] + where, data, {"Content-Type": "application/json"})
            try:
                reply = opener.open(request, timeout=20)
            except urllib.error.HTTPError as error:
                reply = error
            kind = str(reply.headers["content-type"])
            pages.append(
                f"== {where} {reply.status} {kind}\n{readable('a.' + kind.partition(';')[0][-4:], reply.read())}"
            )
        return "\n".join([*pages, _told(out)])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def keep(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n", "utf-8")


def cases(data: Path) -> Iterator[Case]:
    """`[name] key=a|b` opens a case, one for each value of the keys."""
    blocks = re.split(r"^\[", HERE.with_name("house_cases.txt").read_text("utf-8"), flags=re.M)[1:]
    for block in blocks:
        head, *lines = [line for line in block.splitlines() if line.strip() and not line.startswith("#")]
        name, _, keys = head.partition("]")
        bound: list[dict[str, str]] = [{}]
        for pair in keys.split():
            key, _, values = pair.partition("=")
            bound = [{**one, key: value} for one in bound for value in values.split("|")]
        for one in bound:
            filled = "\n".join([name, *lines])
            for key, value in one.items():
                filled = filled.replace(f"<{key}>", value)
            title, *rest = filled.splitlines()
            if "{data}" not in filled or data.is_dir():
                yield Case(title, rest)


def helps(temporary: Path, record: Path) -> None:
    """`--help` of every command there is, found in the help above it."""
    waiting: list[list[str]] = [[]]
    while waiting:
        words = waiting.pop()
        forked(lambda words=words: command([*words, "--help"]), temporary / "out", temporary)  # type: ignore[misc]
        text = _told(temporary / "out")
        keep(record / f"{'-'.join(['sketchmark', *words])}.txt", masked(text, temporary))
        if len(words) < 2 and "\nCommands:\n" in text:
            waiting += [
                [*words, name] for name in re.findall(r"^  ([\w-]+)", text.partition("\nCommands:\n")[2], re.M)
            ]


def api(temporary: Path, record: Path) -> None:
    """`sketchmark.__all__`: signatures, and those of public members."""
    sketchmark = importlib.import_module("sketchmark")
    lines = []
    for name in sketchmark.__all__:
        thing = getattr(sketchmark, name)
        lines.append(f"{name}{_signature(thing)}")
        if inspect.isclass(thing):
            members = sorted(member for member in dir(thing) if not member.startswith("_"))
            lines += [f"    {member}{_signature(inspect.getattr_static(thing, member))}" for member in members]
    keep(record / "all.txt", masked("\n".join(lines), temporary))


def _signature(thing: Any) -> str:
    thing = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return f": {type(thing).__name__}"


# ------------------------------------------------------------------------------------------------- record, compare


def make(data: Path, record: Path, only: str, jobs: int) -> list[str]:
    """Plays every case that `only` names, in so many processes, and returns their names."""
    temporary = Path(
        tempfile.mkdtemp(prefix="house-", dir=next(path for path in ("/dev/shm", "/tmp") if Path(path).is_dir()))
    )
    _preload()
    acts: dict[str, Callable[[Path, Path], None]] = {"help": helps, "api": api}
    acts |= {case.name: case.play for case in cases(data)}
    names = [name for name in acts if only in name or fnmatch.fnmatch(name, only)]
    children = []
    for worker in range(jobs):
        if child := os.fork():
            children.append(child)
            continue
        mine = temporary / f"w{worker}"
        (mine / "home").mkdir(parents=True)
        os.environ["HOME"] = str(mine / "home")
        if data.is_dir():
            shutil.copytree(data, mine / "data")
        for name in names[worker::jobs]:
            began = time.monotonic()
            if not (playing := os.fork()):  # what a case sets holds for that case
                try:
                    acts[name](mine, record / name)
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            failed = os.waitpid(playing, 0)[1]
            print(f"{time.monotonic() - began:6.1f} s  {name}{': broken' if failed else ''}", file=sys.stderr)
        os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    shutil.rmtree(temporary)
    return names


def _preload() -> None:
    """Imports once what all the processes that come from this one need."""
    package = importlib.import_module("sketchmark")
    found = [module.name for module in pkgutil.walk_packages(package.__path__, "sketchmark.")]
    for name in [*found, "pyarrow.parquet", "google.genai", "anthropic", "resvg_py", "jinja2", "datasets"]:
        if not name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def texts(folder: Path, names: list[str]) -> dict[str, str]:
    """Path → text, of the files that these cases gave."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.txt"))}
    mine = tuple(f"{name}/" for name in names)
    return {name: path.read_text("utf-8") for name, path in found.items() if name.startswith(mine)}


def renamed(before: dict[str, str], renames: Path | None) -> dict[str, str]:
    for line in renames.read_text("utf-8").splitlines() if renames else []:
        if "=>" in line and not line.startswith("#"):
            old, new = (part.strip() for part in line.split("=>"))
            before = {re.sub(old, new, name): re.sub(old, new, text) for name, text in before.items()}
    return before


def compare(before: dict[str, str], now: dict[str, str]) -> int:
    different = 0
    for name in sorted(before.keys() | now.keys()):
        one, two = (side.get(name, "").splitlines() for side in (before, now))
        if one != two or (name in before) != (name in now):
            different += 1
            lines = list(difflib.unified_diff(one, two, f"recorded/{name}", f"now/{name}", "", "", 2, ""))
            print("\n".join(line[:400] for line in lines[:60] or [f"only on one side: {name}"]))
            print(f"… {len(lines) - 60} more lines" if len(lines) > 60 else "")
    print(f"{len(before)} files recorded, {different} differ")
    return int(different > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--renames", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    if "HOUSE" not in os.environ:  # nothing of the caller's environment counts
        clean = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC", "HOUSE": "1", "HF_HUB_OFFLINE": "1"}
        clean |= {"WANDB_MODE": "offline", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(REPO / "src")}
        clean |= dict.fromkeys(KEYS, "sk-planted-7f3a9c1e5b2d8046")
        os.execve(sys.executable, [sys.executable, *sys.argv], clean)
    if asked.what == "record":
        if not asked.only:
            shutil.rmtree(folder / "record", ignore_errors=True)
        names = make(folder / "data", folder / "record", asked.only, asked.jobs)
        print(f"{len(names)} cases, {len(texts(folder / 'record', names))} files in {folder / 'record'}")
        return 0
    with tempfile.TemporaryDirectory(prefix="house-now-") as now:
        names = make(folder / "data", Path(now), asked.only, asked.jobs)
        return compare(renamed(texts(folder / "record", names), asked.renames), texts(Path(now), names))


if __name__ == "__main__":
    sys.exit(main())
