"""Results and samples under lmms-eval's file and field names, for its scripts and leaderboards.

Its layout (lmms-eval 0.7) is `MODEL/TIME_results.json` and `MODEL/TIME_samples_TASK.jsonl`. Values without a field
there have keys that start with `sketchmark_`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sketchmark.export import answer_of, asked, how_scored, means, names_of, repeats_in, samples_of, started
from sketchmark.files import file_name, write_json
from sketchmark.files.jsonl import encode, plain
from sketchmark.folder.builders import as_rows
from sketchmark.folder.columns import Rows
from sketchmark.folder.format import EpisodeLine, Score, ScoreRow, episode_key
from sketchmark.folder.index import CellView, RunView
from sketchmark.folder.records import drawn_names, input_names, said, sound_names
from sketchmark.results.repeats import averaged
from sketchmark.terminal import counted

_UNSAFE = re.compile(r"[\"<>:/|\\?*\[\]\x00-\x1f]+")
"""Characters that lmms-eval replaces in model names."""


def write(run: RunView, out: Path) -> list[Path]:
    time = f"{started(run):%Y%m%d_%H%M%S}"
    folder = out / file_name(_UNSAFE.sub("__", run.model) or "model")
    cells = {name: run.cells[cell] for cell, name in names_of(run).items() if run.cells[cell].rows}
    files, hashes = [], {}
    for name, cell in cells.items():
        path = folder / f"{time}_samples_{name}.jsonl"
        hashes[name] = _write_samples(cell, path)
        files.append(path)
    results = folder / f"{time}_results.json"
    write_json(results, _results(run, cells, hashes))
    return [results, *files]


def _results(run: RunView, cells: dict[str, CellView], hashes: dict[str, str]) -> dict[str, Any]:
    arguments = ",".join(f"{key}={value}" for key, value in run.about.model.args.items())
    return {
        "results": {name: _scores(name, cell) for name, cell in cells.items()},
        "group_subtasks": {name: [] for name in cells},
        "configs": {
            name: {
                "task": name,
                "repeats": repeats_in(cell)[0],
                "metadata": {"version": 0},
                "sketchmark_cell": plain(cell.about),
            }
            for name, cell in cells.items()
        },
        "versions": dict.fromkeys(cells, 0),
        "n-shot": dict.fromkeys(cells, 0),
        "higher_is_better": {
            name: {score: score not in cell.about.less_is_better for score in means(cell)}
            for name, cell in cells.items()
        },
        "n-samples": {
            name: {"original": len(samples_of(cell)), "effective": len({row.sample for row in _scored(cell)})}
            for name, cell in cells.items()
        },
        "config": {
            "model": run.model,
            "model_args": arguments,
            "batch_size": 1,
            "limit": None,
            "gen_kwargs": None,
            "random_seed": run.about.seed,
        },
        "git_hash": None,
        "lmms_eval_version": f"sketchmark {run.about.sketchmark}",
        "date": run.about.started,
        "task_hashes": hashes,
        "model_source": run.model.partition("/")[0],
        "model_name": run.model,
        "model_name_sanitized": _UNSAFE.sub("__", run.model),
    }


def _scored(cell: CellView) -> Iterator[Score]:
    return (row for row in cell.rows.values() if row.scored)


def _scores(name: str, cell: CellView) -> dict[str, Any]:
    """Return scores by `metric,filter`; the filter is `none`, as for every task without one."""
    scores: dict[str, Any] = {"alias": name, **how_scored(cell)}
    for metric, (mean, error, _) in means(cell).items():
        scores[f"{metric},none"] = mean
        scores[f"{metric}_stderr,none"] = "N/A" if error is None else error
    return scores


def _write_samples(cell: CellView, path: Path) -> str:
    """Write one line per sample and return a digest of all samples for lmms-eval's `task_hashes`.

    As in lmms-eval, a line with repeats has all replies in `resps`. Its scores are the means over the repeats, and
    `sketchmark_episodes` has the line of each episode."""
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        every = samples_of(cell)
        with counted(every.values(), len(every), cell.name) as samples:
            for keys in samples:
                line = _together([_sample(cell.episode(key), cell.score(key)) for key in keys], cell)
                digest.update(f"sample_{line['doc_id']}{line['doc_hash']}".encode())
                file.write(encode(line))
    return digest.hexdigest()


def _together(lines: list[dict[str, Any]], cell: CellView) -> dict[str, Any]:
    """Return the line of a sample from those of its episodes."""
    if len(lines) == 1:
        return lines[0]
    rows = as_rows(row for line in lines if (row := cell.rows.get(_key(line))))
    means = {
        name: float(averaged(rows, rows.metric(name))[1][0]) for name in rows.names() if not _nowhere(rows, name)
    }
    answers = [line["filtered_resps"][0] for line in lines]
    counts = [one for line in lines for one in line["token_counts"]]
    together = {"filtered_resps": [answers], "resps": [answers], "token_counts": counts, **means}
    return {**lines[0], **together, "sketchmark_episodes": lines}


def _key(line: dict[str, Any]) -> str:
    return episode_key(line["sketchmark_sample"], line.get("sketchmark_repeat", 0), line.get("sketchmark_branch", 0))


def _nowhere(rows: Rows, name: str) -> bool:
    return bool(np.isnan(rows.metric(name)).all())


def _sample(line: EpisodeLine, score: ScoreRow | None) -> dict[str, Any]:
    sample = line.sample
    sounds = list(sound_names(sample))
    usage = score.usage if score else {}
    document = json.dumps([sample.id, sample.fields, sample.target], sort_keys=True, ensure_ascii=False)
    return {
        "doc_id": line.index,
        "target": json.dumps(sample.target, ensure_ascii=False),
        "filtered_resps": [answer_of(line) or ""],
        "resps": [said(line)],
        "token_counts": [{"input_tokens": usage.get("tokens_in", 0), "output_tokens": usage.get("tokens_out", 0)}],
        "doc_hash": hashlib.sha256(document.encode()).hexdigest(),
        **(score.values if score else {}),
        "input": asked(line),
        "sketchmark_sample": sample.id,
        **({"sketchmark_repeat": line.repeat} if line.repeat else {}),
        **({"sketchmark_branch": line.branch} if line.branch else {}),
        "sketchmark_groups": sample.groups,
        "sketchmark_input_pictures": list(input_names(sample)),
        **({"sketchmark_input_sounds": sounds} if sounds else {}),
        "sketchmark_drawings": drawn_names(line),
        "sketchmark_flags": score.flags if score else [],
        "sketchmark_failure": line.failure,
        "sketchmark_seconds": line.seconds,
    }
