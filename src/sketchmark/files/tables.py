"""Rows of a published dataset: from a file, a folder, or the hub.

The user decides: `--data PATH` (or SKETCHMARK_DATA, which the command line replaces), otherwise the hub. A given path
without the data is an error and never leads to a download.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from sketchmark.errors import (
    BadInput,
    BadPicture,
    DataMissing,
    MissingExtra,
    SketchmarkError,
    install_command,
    is_installed,
)
from sketchmark.files import hub as hubs
from sketchmark.files import own_data
from sketchmark.media import Picture, pixels

Row = dict[str, Any]

_BATCH = 16
"""Rows decoded at once. A row may hold several megabytes of images."""

LONGEST_CELL = 10_000_000
"""Maximum characters in one cell of a table. Python's own limit is shorter than some captions."""

_READABLE = (".parquet", ".jsonl", ".json", ".csv", ".tsv")

_SPLIT = re.compile(r"(train|test|validation|dev)\b")


def data_path(named: Path | str | None) -> Path | None:
    """Return the user's own copy: the given path, otherwise SKETCHMARK_DATA, otherwise None (the hub is used)."""
    found = own_data(str(named or ""))
    return Path(found) if found else None


def rows(
    data: Path | None,
    *,
    hub: str,
    config: str | None = None,
    split: str = "test",
    files: str | None = None,
    limit: int | None = None,
) -> Iterator[Row]:
    """Stream the rows, with undecoded images as `{"bytes": …, "path": …}`.

    `data` is a file or a folder. A folder holds `files` (a path or glob, found at any depth by its name, preferring
    the copy nearest to the top), a hub repository as it is cloned (`config/split-*.parquet`, `data/split-*.parquet`,
    `split.jsonl`…), or a dataset that `datasets` saved. Without `data`, the rows come from the hub id: `files`, or
    those of `config` and `split`. With a `limit`, only the parts that are read are downloaded.
    """
    if data is None:
        return _from_hub(hub, config, split, files, limit)
    if data.is_file():
        return file_rows(data)
    if not data.is_dir():
        raise DataMissing(f"{data} does not exist", ways(hub, files))
    if saved := next((folder for folder in bases(data, hub, config) if is_saved(folder)), None):
        return _from_saved(saved, split)
    found = files_in(data, hub, config, split, files)
    if not found:
        what = files or (f"{config or 'data'}/{split}-*.parquet")
        raise DataMissing(f"{data} holds no {what}", ways(hub, files))
    return (row for path in found for row in file_rows(path))


def as_picture(value: object, where: str, root: Path | None = None) -> Picture:
    """Return an image from any form that a dataset has: HF dict, bytes, PIL image, or a path inside `root`.

    `where` names the row for the error. A path in a data file is followed only inside `root`.
    """
    from PIL.Image import Image

    if isinstance(value, dict):
        value = value.get("bytes") or value.get("path")
    try:
        if isinstance(value, Picture):
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return Picture.from_bytes(bytes(value))
        if isinstance(value, Image):
            plain = value.mode in ("1", "L", "LA", "P", "RGB", "RGBA")
            return Picture.from_image(pixels.upright(value) if plain else pixels.rgb(value))
        if isinstance(value, (str, Path)) and root is not None:
            return Picture.from_file(inside(root, str(value), where))
    except BadPicture as error:
        raise BadPicture(f"{where}: {error}") from error
    found = "nothing" if value is None else f"a {type(value).__name__}"
    raise BadInput(f"{where}: no picture, but {found}", "bytes, an image dict or a PIL image")


def inside(root: Path, name: str, where: str) -> Path:
    """Return the file `name` under `root`. A data file may not lead elsewhere by `..`, an absolute path or a link.
    In the hub's cache all files are links, from `snapshots/COMMIT` to the `blobs` of the same dataset; these are
    allowed."""
    home = root.resolve()
    path = (home / name).resolve()
    snapshot = next((one for one in (home, *home.parents) if one.parent.name == "snapshots"), None)
    homes = [home, *([snapshot.parent.parent / "blobs"] if snapshot else [])]
    if not any(path.is_relative_to(one) for one in homes):
        raise BadInput(f"{where}: the path {name!r} leads out of {root}")
    return path


def ways(hub: str, files: str | None = None) -> str:
    """Return the three ways to provide a task's data, as a hint."""
    at_hub = f"{hub} ({files})" if files else hub
    given = "give --data PATH, or set SKETCHMARK_DATA=PATH"
    if is_installed("data"):
        return f"{given}; without them the hub's {at_hub} is loaded"
    return f"{given}, or {install_command('data')} to load {at_hub}"


def without_hub(hub: str, files: str | None = None) -> SketchmarkError:
    """Return the error for an ImportError of the hub's client: not installed, or installed and broken."""
    if is_installed("data"):
        return MissingExtra(f"loading {hub}", "data")
    return DataMissing(f"there is no data for {hub} here", ways(hub, files))


def bases(data: Path, hub: str, config: str | None) -> list[Path]:
    """Return the folders that may hold a repository: itself, `Owner/Name` or `Name`, each with its config."""
    bases = [data, data / hub, data / hub.rpartition("/")[2]]
    if config:
        bases = [base / config for base in bases] + bases
    return [base for base in bases if base.is_dir()]


def files_in(data: Path, hub: str, config: str | None, split: str, files: str | None) -> list[Path]:
    """Return the files of a folder that hold the rows, as `rows` describes."""
    if files:
        name = files.rpartition("/")[2]
        if found := sorted(data.glob(files)) or sorted(data.rglob(name), key=lambda path: (len(path.parts), path)):
            return found if "*" in name else found[:1]
    for base in bases(data, hub, config):
        for pattern in _layouts(None if base.name == config else config, split):
            if found := [path for path in sorted(base.glob(pattern)) if not _other_split(path.name, split)]:
                return found
    return []


def _layouts(config: str | None, split: str) -> list[str]:
    """Return the patterns by which repositories store a split, the surest first: in a folder of the configuration,
    or with its name. Without a configuration, tables of any name are accepted."""
    stems = [split, f"{split}-*", f"data/{split}-*"]
    if config:
        stems = [config, f"{config}-{split}*", f"data/{config}-*"]
    rest = [] if config else ["*.parquet", "data/*.parquet"]
    return [stem + suffix for stem in stems for suffix in _READABLE] + rest


def _other_split(name: str, split: str) -> bool:
    """Return whether a file's name is that of another split: `validation-00000-of-00001.parquet` for test."""
    said = _SPLIT.match(name)
    return said is not None and said[1] != split


def file_rows(path: Path) -> Iterator[Row]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet(path)
    if suffix in (".json", ".jsonl"):
        return _json(path)
    if suffix in (".csv", ".tsv"):
        return _csv(path)
    raise BadInput(f"{path}: cannot read rows from a {path.suffix or 'nameless'} file", ", ".join(_READABLE))


def _parquet(source: Path | BinaryIO) -> Iterator[Row]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra("reading parquet files", "data") from error
    name = source if isinstance(source, Path) else getattr(source, "name", source)
    try:
        with parquet.ParquetFile(source) as file:
            shared, about = _shared_values(file, name), file.metadata
        with parquet.ParquetFile(source, metadata=about, read_dictionary=shared) as file:
            for group in range(file.num_row_groups):  # one by one: otherwise the next group would fill a batch
                size = 1 if _row_bytes(file.metadata.row_group(group)) > _LARGE_ROW else _BATCH
                for batch in file.iter_batches(batch_size=size, row_groups=[group]):
                    if (unpacked := sum(map(_unpacked, batch.columns))) > _MOST_AT_ONCE:
                        raise _too_large(name, f"{size} of its rows unpack to {unpacked:,} bytes")
                    yield from batch.to_pylist()
    except SketchmarkError:
        raise
    except Exception as error:  # besides Arrow's own errors, dates out of range raise those of datetime
        raise BadInput(f"{name} cannot be read as parquet: {' '.join(str(error).split())[:300]}") from error


_MOST_AT_ONCE = 512_000_000
"""Bytes of the rows that are decoded together."""
_LARGE_ROW = 4_000_000
_FREE, _RATIO = 64_000_000, 200
"""Bytes that a column may always unpack to, and how many times its packed bytes beyond that."""


def _too_large(name: object, why: str) -> BadInput:
    return BadInput(f"{name} is not read: {why}", "a file of a few bytes that unpacks to gigabytes fills the memory")


def _shared_values(file: Any, name: object) -> list[str]:
    """Check a parquet file by its footer: a few kilobytes can unpack to gigabytes. Return the columns whose values
    are stored once and repeated by number. They are read in that form, so that their size is known beforehand."""
    found: set[str] = set()
    about, packed = file.metadata, 0
    for group in map(about.row_group, range(about.num_row_groups)):
        for number in range(group.num_columns):
            column, kind = group.column(number), file.schema.column(number)
            packed += column.total_compressed_size
            repeated = kind.max_repetition_level > 0
            width = kind.length if kind.physical_type == "FIXED_LEN_BYTE_ARRAY" else 8
            size = max(column.total_uncompressed_size, column.num_values * width if repeated else 0)
            if size > max(_FREE, _RATIO * column.total_compressed_size):
                raise _too_large(name, f"{kind.path} has {column.total_compressed_size:,} bytes for {size:,}")
            at_once = column.num_values if repeated else min(_BATCH, column.num_values)
            texts = kind.physical_type == "BYTE_ARRAY" and any("DICT" in name for name in column.encodings)
            if texts and size * at_once > max(_FREE, _RATIO * column.total_compressed_size):
                found.add(kind.path)
    if about.num_rows > 10_000 + 100 * packed:
        raise _too_large(name, f"it has {about.num_rows:,} rows in {packed:,} bytes")
    return sorted(found)


def _row_bytes(group: Any) -> int:
    return int(group.total_byte_size // max(1, group.num_rows))


def _unpacked(array: Any) -> int:
    """Return the bytes of an Arrow array when every value is written out."""
    kinds = import_module("pyarrow.types")
    if kinds.is_dictionary(array.type):
        compute = import_module("pyarrow.compute")
        lengths = compute.binary_length(array.dictionary).take(array.indices)
        return int(compute.sum(lengths).as_py() or 0)
    if kinds.is_list(array.type) or kinds.is_large_list(array.type):
        return _unpacked(array.flatten()) + 8 * len(array)
    if kinds.is_struct(array.type):
        return sum(map(_unpacked, array.flatten()))
    return int(array.nbytes)


def _json(path: Path) -> Iterator[Row]:
    """Yield a list of objects, or one object per line."""
    try:
        text = path.read_text("utf-8")
        found = json_lines(text) if path.suffix.lower() == ".jsonl" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not valid JSON: {error}") from error
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise BadInput(f"{path} is not a list of objects")
    yield from found


def json_lines(text: str) -> list[Any]:
    """Return the values of a JSONL text. Only a line feed ends a line: a reply may hold any other separator."""
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _csv(path: Path) -> Iterator[Row]:
    """Yield the rows of a table. Quotes are parsed strictly: an unclosed one would swallow all rows behind it."""
    import csv

    csv.field_size_limit(LONGEST_CELL)
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file, delimiter=delimiter(path), strict=True):
                number += 1
                yield row
    except (csv.Error, ValueError) as error:
        raise not_a_table(path, f"row {number + 1}", error) from error


def not_a_table(path: Path, where: str, error: Exception) -> BadInput:
    quotes = 'a quote that opens a cell is closed at its end; one inside a quoted cell is written twice: ""'
    hint = "save it as UTF-8" if isinstance(error, UnicodeError) else quotes
    return BadInput(f"{path} cannot be read as a table: {where}: {error}", hint)


def delimiter(path: Path) -> str:
    """Return the separator of the columns: that of the suffix, or the one that the header has instead."""
    usual = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open("rb") as file:
        header = file.readline(LONGEST_CELL).decode("utf-8", "replace")
    outside = re.sub(r'"[^"]*"', "", header)
    return usual if usual in outside else max(";\t,", key=outside.count) if any(map(outside.count, ";\t,")) else usual


def is_saved(folder: Path) -> bool:
    return (folder / "dataset_dict.json").exists() or (folder / "state.json").exists()


def _from_saved(folder: Path, split: str) -> Iterator[Row]:
    datasets = datasets_library(f"{folder}, which `datasets` saved,")
    loaded = datasets.load_from_disk(str(folder))
    if isinstance(loaded, dict):
        if split not in loaded and len(loaded) > 1:
            raise DataMissing(f"{folder} has no split {split!r}", f"it has: {', '.join(loaded)}")
        loaded = loaded[split] if split in loaded else next(iter(loaded.values()))
    return arrow_rows(loaded, embed=False)


def _from_hub(hub: str, config: str | None, split: str, files: str | None, limit: int | None) -> Iterator[Row]:
    if not is_hub_id(hub):
        raise BadInput(f"{hub!r} is not a hub id", "a hub id is Owner/Name")
    if files:
        check_in_repository(files)
    try:
        listing = hubs.listing(hub)
    except ImportError as error:
        raise without_hub(hub, files) from error
    names = listing.matching(files) if files else _published(listing, config, split)
    if not names:
        what = files or " ".join(filter(None, (config, f"split {split!r}")))
        raise DataMissing(
            f"{hub} on the hub holds no {what}", f"look at {hubs.page(hub)} for what it holds, or give --data PATH"
        )
    if limit is None:
        root = hubs.fetched(listing, names)
        return (row for name in names for row in file_rows(root / name))
    return (row for name in names for row in _from_afar(listing, name))


def _published(listing: hubs.Listing, config: str | None, split: str) -> list[str]:
    """Return the files of a split: those that the card names, otherwise those with its name."""
    if (found := listing.declared(config, split)) is not None:
        return found
    inside_config = [f"{config}/{pattern}" for pattern in _layouts(None, split)] if config else []
    for pattern in [*inside_config, *_layouts(config, split)]:
        if found := [name for name in listing.matching(pattern) if not _other_split(Path(name).name, split)]:
            return found
    return []


def _from_afar(listing: hubs.Listing, name: str) -> Iterator[Row]:
    """Yield the rows of one file and fetch only what is read; a table of text is fetched complete."""
    if name.endswith(".parquet"):
        return _parquet(hubs.opened(listing, name))
    return file_rows(hubs.fetched(listing, [name]) / name)


def arrow_rows(dataset: Any, *, embed: bool) -> Iterator[Row]:
    """Yield rows as the files hold them: an image is never decoded and encoded again on its way to a model.

    `embed` makes `datasets` read images that are given by path or address. Only for the hub's own datasets.
    """
    with_pictures = import_module("datasets.table").embed_table_storage if embed else lambda table: table
    tables: Iterable[Any] = dataset.with_format("arrow").iter(batch_size=_BATCH)
    for table in tables:
        try:
            yield from with_pictures(table).to_pylist()
        except (ValueError, OverflowError) as error:  # a date out of range
            raise BadInput(f"a row of the dataset cannot be read: {error}") from error


def is_hub_id(name: str) -> bool:
    """Return whether a name is `Owner/Name`. A single word may be a loader of the library, which runs code."""
    return re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name) is not None


def check_in_repository(name: str) -> None:
    """Refuse a name that is not a file in a hub repository: the library would follow an address or a local path."""
    if "://" in name or name.startswith(("/", "~")) or ".." in name.split("/"):
        raise BadInput(f"{name!r} is not a file of a hub repository", "name it by its path in the repository")


def datasets_library(what: str) -> Any:
    """Return the `datasets` library, which is an extra."""
    try:
        hubs.library()
        datasets = import_module("datasets")
    except ImportError as error:
        raise MissingExtra(what, "data") from error
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    return datasets
