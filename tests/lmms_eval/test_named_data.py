"""A task file from elsewhere names its data, and reaches nothing else: no key, no host, no file of the user's."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import datasets  # type: ignore[import-untyped]
import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from starlette.requests import Request
from starlette.responses import Response

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput, DataMissing, SketchmarkError
from sketchmark.files import tables
from sketchmark.lmms_eval.shape import read_config
from sketchmark.media import Picture
from tests.core.helpers import colour
from tests.models.fake_server import listening
from tests.tabled import tabled

PLAIN = "doc_to_text: question\ndoc_to_target: answer\ntest_split: test\nmetric_list: [{metric: exact_match}]\n"
ROWS = '{"question": "dark or light?", "answer": "dark"}\n'


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """A host, and what was asked of it."""
    seen: list[str] = []

    async def answer(request: Request) -> Response:
        seen.append(request.url.path)
        return Response(ROWS)

    with listening(answer) as host:
        yield host, seen


def _played(
    tmp_path: Path, lines: str, data: Path | None = None, *, trusted: bool = False
) -> list[sketchmark.Sample]:
    file = tmp_path / "theirs" / "theirs.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{lines}\n{PLAIN}", "utf-8")
    read_config.cache_clear()
    return list(Catalog((file,), trust_code=trusted).task("theirs").samples(data=data))


@tabled
def test_no_address_in_a_task_file_is_asked_for_anything(
    tmp_path: Path, lines: str, asked: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, seen = asked
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    (tmp_path / "theirs" / "folder").mkdir(parents=True)
    card = f"---\nconfigs: [{{config_name: default, data_files: '{host}/x.json'}}]\n---\n"
    (tmp_path / "theirs" / "folder" / "README.md").write_text(card)
    (tmp_path / "theirs" / "x.jsonl").write_text(ROWS)
    with pytest.raises(SketchmarkError) as refused:
        _played(tmp_path, lines.replace("{host}", host))
    assert seen == [] and "sk-planted" not in str(refused.value) and "\n" not in str(refused.value)
    assert "cannot load" not in str(refused.value), "refused here, before the library sees it"


_IMAGE = {"question": {"dtype": "string", "_type": "Value"}, "answer": {"dtype": "string", "_type": "Value"}}
_IMAGE |= {"image": {"_type": "Image"}}


def _with_images(folder: Path, images: list[dict[str, object]], *, saved: bool) -> None:
    """Rows whose column `image` the library takes for pictures, in a parquet file or as it saves a set itself."""
    folder.mkdir(parents=True)
    kind = pyarrow.struct({"bytes": pyarrow.binary(), "path": pyarrow.string()})
    texts = ["?"] * len(images)
    table = pyarrow.table({"question": texts, "answer": texts, "image": pyarrow.array(images, kind)})
    if saved:
        datasets.Dataset(table).save_to_disk(folder)
        info = json.loads((folder / "dataset_info.json").read_bytes())
        (folder / "dataset_info.json").write_text(json.dumps({**info, "features": _IMAGE}))
    else:
        known = json.dumps({"info": {"features": _IMAGE}})
        pyarrow.parquet.write_table(table.replace_schema_metadata({"huggingface": known}), folder / "test-0.parquet")


@pytest.mark.parametrize("saved", [True, False])
def test_no_picture_is_fetched_from_where_a_row_says_it_is(
    tmp_path: Path, saved: bool, asked: tuple[str, list[str]]
) -> None:
    host, seen = asked
    _with_images(tmp_path / "theirs" / "rows", [{"bytes": None, "path": f"{host}/x.png"}], saved=saved)
    with pytest.raises(BadInput, match=r"document 0 of .*: there is no file"):
        _played(tmp_path, "dataset_path: rows\ndoc_to_visual: image")
    [row] = tables.rows(tmp_path / "theirs" / "rows", hub="o/n")
    assert row["image"] == {"bytes": None, "path": f"{host}/x.png"}, "nor for a set of our own"
    assert seen == []


class _Runs:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (os.environ["RAN"],)


def test_a_loader_that_runs_what_it_loads_is_no_loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "x.pkl").write_bytes(pickle.dumps(_Runs()))
    for lines in ("dataset_path: pandas\ndataset_kwargs: {data_files: x.pkl}", "dataset_path: x.pkl"):
        with pytest.raises(BadInput, match=r"is not there|holds no test"):
            _played(tmp_path, lines)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name", ["../mine.jsonl", "{mine}", "linked.jsonl", "$MINE", "~/mine.jsonl", "owner/../mine"]
)
def test_no_file_of_the_users_is_read_but_beside_the_task_file_or_under_data(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.jsonl"
    mine.write_text(ROWS)
    monkeypatch.setenv("MINE", str(mine))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "linked.jsonl").symlink_to(mine)
    name = name.replace("{mine}", str(mine))
    for lines in (f"dataset_path: '{name}'", f"dataset_path: json\ndataset_kwargs: {{data_files: '{name}'}}"):
        with pytest.raises(BadInput, match=r"is not there|is outside the task's folder"):
            _played(tmp_path, lines)


def test_data_lies_beside_the_task_file_or_under_data(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "else/very/deep").mkdir(parents=True)
    for place in ("theirs", "else/very/deep"):
        (tmp_path / place / "rows.jsonl").write_text(ROWS)
    assert len(_played(tmp_path, "dataset_path: rows.jsonl")) == 1
    for lines in (
        "dataset_path: very/deep/rows.jsonl",
        f"dataset_path: {tmp_path}/else/very/deep/rows.jsonl",
        "dataset_path: json\ndataset_kwargs: {data_files: [very/deep/rows.jsonl], token: true, trust_remote_code: 1}",
    ):
        assert len(_played(tmp_path, lines, data=tmp_path / "else")) == 1
        with pytest.raises(BadInput, match=r"is not there|is outside the task's folder"):
            _played(tmp_path, lines)


HUB = "dataset_path: owner/name\ndataset_name: main"


@pytest.mark.parametrize(
    "place", ["x.jsonl", "test.jsonl", "main/test.jsonl", "owner/name/main/test.jsonl", "name/main-test.jsonl"]
)
def test_data_is_a_file_or_a_folder_as_for_every_other_task(tmp_path: Path, place: str) -> None:
    file = tmp_path / "data" / place
    file.parent.mkdir(parents=True)
    file.write_text(ROWS)
    data = file if place == "x.jsonl" else tmp_path / "data"
    lines = "dataset_path: owner/name" if place == "test.jsonl" else HUB
    assert len(_played(tmp_path, lines, data=data)) == 1


def test_data_may_be_what_datasets_saved(tmp_path: Path) -> None:
    made = datasets.Dataset.from_list([json.loads(ROWS)])
    datasets.DatasetDict({"test": made}).save_to_disk(tmp_path / "data" / "owner" / "name")
    assert len(_played(tmp_path, HUB, data=tmp_path / "data")) == 1


def test_a_file_that_the_task_names_is_found_anywhere_below_data(tmp_path: Path) -> None:
    (tmp_path / "data/very/deep").mkdir(parents=True)
    (tmp_path / "data/very/deep/rows.jsonl").write_text(ROWS)
    lines = "dataset_path: json\ndataset_kwargs: {data_files: {test: some/rows.jsonl}}"
    assert len(_played(tmp_path, lines, data=tmp_path / "data")) == 1


def test_data_that_was_named_and_does_not_hold_it_is_no_reason_to_ask_the_hub(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(DataMissing, match=r"data holds no main/test-\*\.parquet \(give --data"):
        _played(tmp_path, HUB, data=tmp_path / "data")
    with pytest.raises(DataMissing, match="nowhere does not exist"):
        _played(tmp_path, HUB, data=tmp_path / "nowhere")


@pytest.mark.parametrize(
    "lines",
    [
        "dataset_path: rows.jsonl",
        "dataset_path: json\ndataset_kwargs: {data_files: rows.jsonl}",
        "dataset_path: json\ndataset_kwargs: {data_files: {test: [rows.jsonl]}}",
    ],
)
@pytest.mark.parametrize("data", ["empty", "renamed", "/dev/null"])
def test_data_that_was_named_and_does_not_hold_it_is_not_taken_from_beside_the_task(
    tmp_path: Path, lines: str, data: str
) -> None:
    for place in ("theirs", "empty", "renamed"):
        (tmp_path / place).mkdir()
    (tmp_path / "theirs" / "rows.jsonl").write_text(ROWS)
    (tmp_path / "renamed" / "others.jsonl").write_text(ROWS)
    assert len(_played(tmp_path, lines)) == 1
    with pytest.raises(DataMissing, match=rf"{data} (holds no rows\.jsonl|is neither) .*next to the task file"):
        _played(tmp_path, lines, data=tmp_path / data)


def test_of_several_files_none_is_left_out_and_none_is_read_twice(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.jsonl").write_text(ROWS)
    lines = "dataset_path: json\ndataset_kwargs: {data_files: {test: [one.jsonl, two.jsonl]}}"
    with pytest.raises(DataMissing, match=r"data holds no two\.jsonl"):
        _played(tmp_path, lines, data=tmp_path / "data")
    (tmp_path / "data" / "one.jsonl").rename(tmp_path / "data" / "test.jsonl")
    assert len(_played(tmp_path, lines, data=tmp_path / "data")) == 1


def test_pictures_of_rows_come_undecoded_from_the_file_or_by_a_path_beside_it(tmp_path: Path) -> None:
    red = colour("red")
    _with_images(
        tmp_path / "theirs" / "rows",
        [{"bytes": red.data, "path": None}, {"bytes": None, "path": "red.png"}],
        saved=False,
    )
    (tmp_path / "theirs" / "red.png").write_bytes(red.data)
    samples = _played(tmp_path, "dataset_path: rows\ndoc_to_visual: image")
    assert [sample.pictures["visuals"] for sample in samples] == [[red], [red]]


def test_an_option_of_the_loader_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="dataset_kwargs: 'streaming' is not known"):
        _played(tmp_path, "dataset_path: owner/name\ndataset_kwargs: {streaming: true}")


TYPED = "dataset_path: rows.jsonl\ndataset_kwargs: {features: !function types_.%s}"


def test_columns_are_of_the_types_that_the_file_gives_them(tmp_path: Path) -> None:
    """As lmms-eval's egoplan2 does it: what would be a text is a picture."""
    red = colour("red")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "red.png").write_bytes(red.data)
    (tmp_path / "theirs" / "types_.py").write_text(
        "from datasets import Features, Image, Value\n"
        "columns = Features({'question': Value('string'), 'answer': Value('string'), 'frame': Image()})\n"
        "def frame(doc):\n    return [doc['frame'].convert('RGB')]\n"
    )
    row = {"question": "?", "answer": "red", "frame": str(tmp_path / "theirs" / "red.png")}
    (tmp_path / "theirs" / "rows.jsonl").write_text(json.dumps(row))
    lines = TYPED % "columns" + "\ndoc_to_visual: !function types_.frame"
    [sample] = _played(tmp_path, lines, trusted=True)
    assert sample.pictures["visuals"] == [Picture.from_image(red.image())]
    with pytest.raises(BadInput, match=r"runs its own Python \(types_\.frame, types_\.columns"):
        _played(tmp_path, lines)
    with pytest.raises(BadInput, match=r"types_\.frame is not a datasets\.Features"):
        _played(tmp_path, TYPED % "frame", trusted=True)
    with pytest.raises(BadInput, match=r"types_\.columns is not a function"):
        _played(tmp_path, "dataset_path: rows.jsonl\nprocess_docs: !function types_.columns", trusted=True)
    with pytest.raises(BadInput, match="features must be a !function"):
        _played(tmp_path, "dataset_path: rows.jsonl\ndataset_kwargs: {features: {question: string}}")


@pytest.mark.parametrize(
    "origin", ["{hub: pandas, files: x.pkl}", "{hub: 'o/n', files: '{host}/x.json'}", "{hub: '{host}/x'}"]
)
def test_a_file_of_our_own_shape_reaches_no_host_either(
    tmp_path: Path, origin: str, asked: tuple[str, list[str]]
) -> None:
    host, seen = asked
    file = tmp_path / "theirs.yaml"
    file.write_text(
        f"source: {{use: 'mmsi.questions', origin: {origin.replace('{host}', host)}}}\n"
        "modes: {direct: {prompts: {inputs: [x]}}}\n"
    )
    with pytest.raises(BadInput, match=r"is not a hub id|is not a file of a hub repository"):
        list(Catalog((file,)).task("theirs").samples())
    assert seen == []
