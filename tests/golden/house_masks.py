"""For `house.py`: masks what changes from run to run, and makes text of every file, for a diff to show."""

from __future__ import annotations

import importlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.golden.house_server import digest

REPO = Path(__file__).resolve().parents[2]
MASKED_KEYS = {
    *(
        "started", "seconds", "crc", "sketchmark", "machine", "created", "date", "eval_id", "uuid", "run_id",
        "task_id",
    ),
    *("start_time", "end_time", "timestamp", "started_at", "completed_at", "total_time", "working_time", "completed"),
    *(
        "total_evaluation_time_seconds", "working_start", "pending", "time", "sketchmark_seconds", "span_id",
        "event_id", "packages",
    ),
}  # fmt: skip
PATTERNS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d[:-]\d\d(?:[:-]\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d[:-]?\d\d| UTC)?)?", "TIME"),
    (r"\b20\d{6}_\d{6}(?!\d)", "TIME"),
    (r"\b\d+\.\d+ s\b", "N s"),
    (r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT"),
    (r'"crc": ?"[0-9a-f]{8}"', '"crc":"MASKED"'),
    (r"\b(Sketchmark|sketchmark, version|python|Python) \d+\.\d+\.\d+\w*", r"\1 VERSION"),
    (r"(?<=[,/])[A-Za-z0-9+/]{200,}={0,2}", lambda found: "base64:" + digest(found[0].encode())),
    (r"(offline-run-TIME|run)-[a-z0-9]{8}\b", r"\1-ID"),
    (r"_[0-9a-f]{20,22}(?=\.(?:table\.)?json)", "_ID"),
    (r'(\\*"(?:seconds|started)\\*": ?)[\d.e-]+', r"\1N"),
    (r"\bchatcmpl-[0-9a-f]+", "chatcmpl-ID"),
    (r"\btoken=[\w-]+", "token=TOKEN"),
    (r"pip install -e '[^'\[]*", "pip install -e 'SOURCE"),
    (r"\bsketchmark(?:\.\w+)+\.([A-Z]\w+)", r"sketchmark…\1"),
    (r" at 0x[0-9a-f]+", " at 0xADDRESS"),
]  # fmt: skip
PASSING = re.compile(r"^(calls: |wandb: )|\d/\d+ episodes, ")
LEFT_OUT = re.compile(r"(^|/)(__pycache__|\.lock(-holder)?$|wandb/.*(\.wandb$|\.log$|\.txt$|metadata))")


def masked(text: str, temporary: Path) -> str:
    for place, name in ((str(temporary), "TMP"), (str(REPO), "REPO")):
        text = text.replace(place, name)
    for pattern, by in PATTERNS:
        text = re.sub(pattern, by, text)
    return text


def masked_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "MASKED" if key in MASKED_KEYS else masked_json(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return f"bytes:{digest(value)}"
    return [masked_json(item) for item in value] if isinstance(value, list) else value


def as_json(value: Any) -> str:
    return json.dumps(masked_json(value), indent=1, ensure_ascii=False, default=str)


def readable(name: str, data: bytes) -> str:
    """The text of a file, whatever it holds, with its lines where a diff needs them."""
    if name.endswith((".zip", ".eval")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "\n".join(
                f"== {member}\n{readable(member, archive.read(member))}" for member in archive.namelist()
            )
    if name.endswith(".parquet"):
        table = importlib.import_module("pyarrow.parquet").read_table(io.BytesIO(data))
        return "\n".join([str(table.schema.remove_metadata()), *map(as_json, table.to_pylist())])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return f"bytes:{digest(data)}"
    try:
        if name.endswith(".json"):
            found = json.loads(text)
            if name.endswith(".table.json"):
                found["data"] = [row[:-1] for row in found["data"]]  # the last column is seconds
            return as_json(found)
        if name.endswith(".jsonl"):
            rows = [json.loads(line) for line in text.splitlines()]
            if all(isinstance(row, dict) and "index" in row for row in rows):  # episodes end in any order
                rows.sort(key=lambda row: str(row["index"]).zfill(9))
            return "\n".join(map(as_json, rows))
    except ValueError:
        return text  # broken on purpose
    return text.replace("><", ">\n<") if name.endswith(".html") else text
