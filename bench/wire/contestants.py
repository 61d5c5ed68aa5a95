"""Who is compared, and how each is told to put the same samples to the same server."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Errand:
    url: str
    samples: Path
    count: int
    at_once: int
    work: Path
    """An empty folder, in which it runs; whatever is written goes there."""


@dataclass(frozen=True)
class Contestant:
    """`command` is what follows `.venv-peers/ENVIRONMENT/bin/`."""

    name: str
    environment: str
    command: Callable[[Errand], list[str]]
    variables: Callable[[Errand], dict[str, str]] = lambda errand: {}


def _script(module: str, *more: str) -> Callable[[Errand], list[str]]:
    return lambda e: ["python", "-m", module, e.url, str(e.samples), str(e.count), str(e.at_once), *more]


def _sketchmark(errand: Errand) -> list[str]:
    return [
        *("sketchmark", "run", "--include", str(HERE / "task"), "--trust-code", "--tasks", "textures"),
        *("--model", "openai/bench", "--model-args", f"base_url={errand.url}", "--data", str(errand.samples)),
        *("--limit", str(errand.count), "--concurrency", str(errand.at_once)),
        *("--output-path", str(errand.work / "run"), "--cache", str(errand.work / "cache"), "--quiet"),
    ]


def _inspect(errand: Errand) -> list[str]:
    """It finds task files below its working folder alone."""
    shutil.copy(HERE / "inspect_task.py", errand.work)
    at_once = str(errand.at_once)
    return [
        *(
            "inspect",
            "eval",
            "inspect_task.py",
            "--model",
            "openai/bench",
            "--model-base-url",
            errand.url,
        ),
        *("-T", f"folder={errand.samples}", "-T", f"count={errand.count}", "--log-dir", str(errand.work / "logs")),
        *("-M", "responses_api=false", "--max-connections", at_once, "--max-samples", at_once, "--display", "none"),
    ]


def _lmms_eval(errand: Errand) -> list[str]:
    """Its task files name their data by a path, so that a copy of ours is made for each errand."""
    task = errand.work / "task"
    shutil.copytree(HERE / "lmms_task", task)
    file = task / "textures.yaml"
    file.write_text(file.read_text().replace("QUESTIONS", str(errand.samples / "questions.jsonl")))
    args = f"model_version=bench,base_url={errand.url},api_key=none,num_cpus={errand.at_once},timeout=60"
    return [
        *("python", "-m", "lmms_eval", "--model", "async_openai", "--model_args", args, "--batch_size", "1"),
        *("--include_path", str(task), "--tasks", "textures", "--limit", str(errand.count)),
        *("--output_path", str(errand.work / "logs"), "--log_samples"),
    ]


BARE = Contestant("bare aiohttp", "bare", _script("bench.wire.bare"))
OURS = Contestant("Sketchmark", "sketchmark", _sketchmark)
SPLICED = Contestant("bare, spliced", "bare", _script("bench.wire.bare", "spliced"))
STORING = Contestant("bare, spliced, storing", "bare", _script("bench.wire.bare", "storing"))
SDK = Contestant("openai SDK", "openai", _script("bench.wire.sdk"))
INSPECT = Contestant("Inspect AI", "inspect", _inspect)
LMMS_EVAL = Contestant("lmms-eval", "lmms", _lmms_eval, lambda errand: {"BENCH_SAMPLES": str(errand.samples)})

USUAL = (BARE, SPLICED, STORING, OURS)
ALL = (*USUAL, SDK, INSPECT, LMMS_EVAL)
