"""Costs of a large run after its episodes: bytes, and CPU and memory of merging, scoring, reporting and viewing.

python bench/large_run.py [N ...]    (only the smallest N is rescored: that takes longest)

A real run of a scripted player (mazes, visual_cot) is multiplied: each line again under new numbers, with the same
images. So sizes and work on lines are real; finding images is faster here than on a disk with millions of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import sketchmark
from sketchmark.files.jsonl import encode, seal
from sketchmark.folder import RunFolder

EPISODES = 40
CELL = "maze.visual_cot"
CODE = """
import resource, sys
from sketchmark.cli import root
sys.argv[1] != "index" and root.main(sys.argv[1:], standalone_mode=False)
if sys.argv[1] == "index":
    from pathlib import Path
    from sketchmark.folder.index import RunView
    from sketchmark.folder import RunFolder
    RunView(RunFolder(Path(sys.argv[2])), "run").refresh()
used = resource.getrusage(resource.RUSAGE_SELF)
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))  # without the parent's
print("USED", used.ru_utime + used.ru_stime, peak)
"""


def used(*arguments: object) -> tuple[float, float]:
    """Return CPU seconds and peak megabytes of a command."""
    command = [sys.executable, "-c", CODE, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "USED" in done.stdout, done.stderr
    seconds, kilobytes = done.stdout.split("USED")[1].split()
    return float(seconds), int(kilobytes) / 1024


def multiplied(run: RunFolder, path: Path, count: int, shard: int, of: int) -> RunFolder:
    """Make a shard of a run of `count` episodes."""
    path.mkdir()
    (path / "pictures").mkdir()
    for folder in (run.path / "pictures").iterdir():
        (path / "pictures" / folder.name).mkdir()
        for picture in folder.iterdir():
            (path / "pictures" / folder.name / picture.name).hardlink_to(picture)
    about = json.loads(run.run_file.read_text())
    about |= {"shard": f"{shard}/{of}", "totals": {CELL: count}, "limits": {CELL: count}}
    (path / "run.json").write_text(json.dumps(about))
    for name, of_line in (("episodes", _renamed_episode), ("scores", _renamed_score)):
        (path / name).mkdir()
        lines = [json.loads(line) for line in (run.path / name / f"{CELL}.jsonl").read_text().splitlines()]
        with (path / name / f"{CELL}.jsonl").open("wb") as file:
            for number in range(shard, count, of):
                line = lines[number % len(lines)]
                line.pop("crc", None)
                of_line(line, number)
                file.write(seal(encode(line)))
    return RunFolder(path)


def _renamed_episode(line: dict[str, dict[str, object]], number: int) -> None:
    line["index"] = number  # type: ignore[assignment]
    line["sample"] |= {"id": f"maze-{number:07}", "fingerprint": f"{number:064}"}


def _renamed_score(line: dict[str, object], number: int) -> None:
    line |= {"index": number, "sample": f"maze-{number:07}", "fingerprint": f"{number:064}"}


def main() -> None:
    counts = [int(word) for word in sys.argv[1:]] or [2000, 20000]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        sketchmark.run(
            "player/solver", "maze", mode="visual_cot", limit=EPISODES, no_cache=True, output_path=root / "run"
        )
        run = RunFolder(root / "run")
        print_sizes(run)
        for count in counts:
            parts = [multiplied(run, root / f"{count}-{shard}", count, shard, 2) for shard in range(2)]
            whole = root / f"{count}"
            costs = {
                "merge": used("merge", *(part.path for part in parts), "--out", whole, "--quiet"),
                "score": used("score", whole) if count == min(counts) else None,
                "report": used("report", whole),
                "viewer index": used("index", whole),
            }
            print(f"{count} episodes")
            for what, (seconds, megabytes) in ((what, cost) for what, cost in costs.items() if cost):
                each = 1000 * seconds / count
                print(f"  {what:<14} {seconds:8.1f} s CPU  {each:7.2f} ms each  {megabytes:7.0f} MB peak")
            sizes = {path.name: path.stat().st_size for path in (whole / "report.html", whole / "results.json")}
            print("  " + ", ".join(f"{file} {size:,} bytes" for file, size in sizes.items()))


def print_sizes(run: RunFolder) -> None:
    pictures = [path.stat() for path in (run.path / "pictures").glob("*/*")]
    episodes, scores = (run.path / folder / f"{CELL}.jsonl" for folder in ("episodes", "scores"))
    print(f"{EPISODES} episodes of {CELL}")
    each, score = (path.stat().st_size / EPISODES for path in (episodes, scores))
    print(f"  {each:,.0f} bytes per episode, {score:,.0f} per score")
    bytes_each, disk_each = (
        sum(sizes) / len(pictures) for sizes in ([p.st_size for p in pictures], [512 * p.st_blocks for p in pictures])
    )
    print(
        f"  {len(pictures) / EPISODES:.1f} images per episode, {bytes_each:,.0f} bytes each, {disk_each:,.0f} on disk"
    )


if __name__ == "__main__":
    main()
