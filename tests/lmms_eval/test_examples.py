"""Few-shot examples stand before a question as lmms-eval puts them there; where that is installed, it is asked."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-untyped]
import pytest
import yaml

from sketchmark import Context, Options, Reply
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput, DataMissing
from sketchmark.lmms_eval.shape import read_config
from tests.lmms_eval.test_own_tasks import Eye, run
from tests.tabled import rows as tabled_rows
from tests.tabled import tabled

SUMS: dict[str, Any] = {
    "task": "sums",
    "output_type": "generate_until",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"train": "train.jsonl", "test": "test.jsonl"}},
    "test_split": "test",
    "fewshot_split": "train",
    "fewshot_config": {},
    "num_fewshot": 3,
    "doc_to_text": "Q: {{question}}\nA:",
    "doc_to_target": "{{answer}}",
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
FIRST = {"sampler": "first_n"}
OTHER: list[dict[str, Any]] = tabled_rows(__file__, "other")


def rows(split: str, count: int) -> list[dict[str, Any]]:
    return [
        {"question": f"{split} {n}?", "answer": str(n), "number": n, "others": [str(n), f"+{n}"], "nothing": []}
        for n in range(count)
    ]


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    """A folder with nine rows to learn from and five to be asked."""
    folder = tmp_path / "sums"
    folder.mkdir()
    for split, count in (("train", 9), ("test", 5)):
        (folder / f"{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows(split, count)), "utf-8")
    return folder


def asked(folder: Path, config: dict[str, Any], data: Path | None = None) -> list[str]:
    said = {key: value for key, value in (SUMS | config).items() if value is not None}
    (folder / "sums.yaml").write_text(yaml.safe_dump(said), "utf-8")
    read_config.cache_clear()
    task = Catalog((folder / "sums.yaml",)).task("sums")
    return [str(sample.fields["question"]) for sample in task.samples(data=data)]


def numbers(text: str) -> list[tuple[str, str]]:
    """Of each example, what it asks and answers."""
    *examples, _ = text.split("\n\n")
    return [(one.split("\n")[0], one.split("A: ")[1]) for one in examples]


def test_examples_are_drawn_anew_for_every_question_with_lmms_evals_seed(sums: Path) -> None:
    first, second, *_ = asked(sums, {})
    assert first == "Q: train 7?\nA: 7\n\nQ: train 1?\nA: 1\n\nQ: train 0?\nA: 0\n\nQ: test 0?\nA:"
    assert second == "Q: train 1?\nA: 1\n\nQ: train 0?\nA: 0\n\nQ: train 5?\nA: 5\n\nQ: test 1?\nA:"
    assert asked(sums, {"fewshot_config": {"sampler": "default"}})[:2] == [first, second]
    assert asked(sums, {"fewshot_config": None})[:2] == [first, second], "lmms-eval stops here, with an error"


def test_there_may_be_as_many_as_there_are_rows_or_none(sums: Path) -> None:
    assert len(numbers(asked(sums, {"num_fewshot": 9})[0])) == 9
    assert asked(sums, {"num_fewshot": 0})[0] == "Q: test 0?\nA:"


def test_or_they_are_the_first_rows_in_their_order(sums: Path) -> None:
    texts = asked(
        sums, {"fewshot_config": FIRST, "num_fewshot": 2, "fewshot_delimiter": "|", "target_delimiter": "="}
    )
    assert texts[3] == "Q: train 0?\nA:=0|Q: train 1?\nA:=1|Q: test 3?\nA:"


def test_a_question_is_no_example_of_itself(sums: Path) -> None:
    texts = asked(sums, {"fewshot_config": FIRST, "fewshot_split": "test"})
    assert numbers(texts[1]) == [("Q: test 0?", "0"), ("Q: test 2?", "2"), ("Q: test 3?", "3")]
    assert all(
        f"Q: test {n}?" not in dict(numbers(text)) for n, text in enumerate(asked(sums, {"fewshot_split": "test"}))
    )


def test_a_description_stands_before_them_and_one_of_several_answers_behind(sums: Path) -> None:
    [text, *_] = asked(
        sums, {"fewshot_config": FIRST, "num_fewshot": 1, "description": "Add.\n\n", "doc_to_target": "others"}
    )
    assert text == "Add.\nQ: train 0?\nA: 0\n\nQ: test 0?\nA:", "a template ends before its last new line"


def test_a_template_that_comes_out_as_a_list_gives_several_answers(sums: Path) -> None:
    asked(sums, {"num_fewshot": 0, "doc_to_target": "{{others}}"})
    targets = [sample.target["answer"] for sample in Catalog((sums / "sums.yaml",)).task("sums").samples()]
    assert targets[1] == ["1", "+1"]


def test_functions_make_examples_of_rows_as_they_make_questions(sums: Path) -> None:
    (sums / "utils.py").write_text(
        "def even(docs):\n    return docs.filter(lambda doc: doc['number'] % 2 == 0)\n"
        "def asked(doc, prompts):\n    return doc['question'] + prompts['post']\n"
        "def answer(doc):\n    return [doc['number'], 'or so']\n"
    )
    (sums / "coded.yaml").write_text(
        "dataset_path: json\ndataset_kwargs: {data_files: {train: train.jsonl, test: test.jsonl}}\n"
        "test_split: test\nfewshot_split: train\nfewshot_config: {sampler: first_n}\nnum_fewshot: 2\n"
        "process_docs: !function utils.even\ndoc_to_text: !function utils.asked\n"
        "doc_to_target: !function utils.answer\nmetric_list: [{metric: exact_match}]\n"
        "lmms_eval_specific_kwargs: {default: {post: ' ='}}\n"
    )
    samples = Catalog((sums / "coded.yaml",), trust_code=True).task("coded").samples()
    assert [sample.fields["question"] for sample in samples] == [
        f"train 0? = 0\n\ntrain 2? = 2\n\ntest {number}? =" for number in (0, 2, 4)
    ]


class Reader(Eye):
    """Says a number and keeps what it was asked."""

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(("say", [part.content for part in context], options))
        return Reply(text="3")


def test_the_model_is_given_them_and_the_run_keeps_them(sums: Path, tmp_path: Path) -> None:
    texts, reader = asked(sums, {}), Reader()
    folder = run(sums, "sums", reader, tmp_path / "out")
    assert sorted(str(contents[0]) for _, contents, _ in reader.asked) == sorted(texts)
    assert folder.results().tasks["sums.direct"].metrics["exact_match"].mean == 0.2
    kept = [json.loads(line) for path in folder.path.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert all(any(json.dumps(text)[1:-1] in json.dumps(one) for one in kept) for text in texts)


@pytest.mark.parametrize("place", ["one.jsonl", "saved", "saved_dict", "parquet"])
def test_rows_to_be_asked_are_never_taken_for_those_to_learn_from(sums: Path, tmp_path: Path, place: str) -> None:
    data, made = tmp_path / place, datasets.Dataset.from_list(rows("test", 5))
    if place == "one.jsonl":
        shutil.copy(sums / "test.jsonl", data)
    elif place == "parquet":
        made.to_parquet(data / "rows.parquet")
    else:
        (made if place == "saved" else datasets.DatasetDict({"test": made})).save_to_disk(data)
    with pytest.raises(DataMissing, match=r"is 'test', and 'train' is not there"):
        asked(sums, {"dataset_path": "o/n", "dataset_kwargs": None}, data=data)
    assert len(asked(sums, {"dataset_path": "o/n", "dataset_kwargs": None, "num_fewshot": 0}, data=data)) == 5


def test_they_come_from_the_data_that_the_user_names(sums: Path, tmp_path: Path) -> None:
    made = {"train": rows("learn", 4), "test": rows("test", 2)}
    datasets.DatasetDict({k: datasets.Dataset.from_list(v) for k, v in made.items()}).save_to_disk(tmp_path / "data")
    texts = asked(
        sums, {"dataset_path": "o/n", "dataset_kwargs": None, "fewshot_config": FIRST}, data=tmp_path / "data"
    )
    assert numbers(texts[0]) == [("Q: learn 0?", "0"), ("Q: learn 1?", "1"), ("Q: learn 2?", "2")]


@tabled
def test_what_cannot_be_played_as_it_is_written_is_refused(sums: Path, config: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        asked(sums, config)


@tabled
def test_the_file_may_give_its_examples_and_their_wording(
    sums: Path, own: dict[str, Any], count: int, text: str
) -> None:
    assert asked(sums, {"fewshot_config": FIRST | own, "num_fewshot": count})[0] == text


def test_code_that_words_examples_needs_trust_and_is_run(sums: Path) -> None:
    (sums / "utils.py").write_text("def shown(doc):\n    return doc['question'].upper()\n")
    said = yaml.safe_dump({**SUMS, "task": "coded", "num_fewshot": 1, "fewshot_config": None})
    said = said.replace(
        "fewshot_config: null", "fewshot_config: {sampler: first_n, doc_to_text: !function utils.shown}"
    )
    (sums / "coded.yaml").write_text(said, "utf-8")
    with pytest.raises(BadInput, match="runs its own Python"):
        Catalog((sums / "coded.yaml",)).task("coded")
    first = next(iter(Catalog((sums / "coded.yaml",), trust_code=True).task("coded").samples()))
    assert first.fields["question"] == "TRAIN 0? 0\n\nQ: test 0?\nA:"


def test_an_including_file_says_a_setting_again_as_a_whole(sums: Path) -> None:
    asked(sums, {"fewshot_config": FIRST | {"samples": None}})
    (sums / "mine.yaml").write_text("include: sums.yaml\ntask: mine\nfewshot_config: {}\n", "utf-8")
    assert read_config(sums / "mine.yaml")["fewshot_config"] == {}


real = pytest.mark.skipif(find_spec("lmms_eval") is None, reason="lmms-eval is not installed: make lmms-eval-tasks")


def built_by_lmms_eval(config: dict[str, Any], folder: Path) -> list[str]:
    """What it would ask of the rows of a folder."""
    import_module("lmms_eval.api.metrics")
    files = {file.stem: str(file) for file in folder.glob("*.jsonl")}
    given = {**config, "dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": files}}
    task = import_module("lmms_eval.api.task").ConfigurableTask(config=given)
    task.set_fewshot_seed(1234)
    task.build_all_requests()
    return [instance.arguments[0] for instance in task.instances]


@real
@pytest.mark.parametrize("config", OTHER)
def test_lmms_eval_asks_the_same(sums: Path, config: dict[str, Any]) -> None:
    assert asked(sums, config) == built_by_lmms_eval(SUMS | config, sums)


OWN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("mmlu_pro/mmlu_pro_law.yaml", {"fewshot_config": FIRST}, {"options": ["a", "b"], "category": "law"}),
    ("gsm8k/gsm8k.yaml", {"fewshot_config": {}}, {}),
    ("mmlu/generative/mmlu_anatomy.yaml", {"num_fewshot": 4}, {"choices": ["a", "b", "c", "d"], "answer": 2}),
]


@real
@pytest.mark.parametrize(("file", "config", "columns"), OWN, ids=[file for file, _, _ in OWN])
def test_lmms_eval_asks_the_same_of_tasks_of_its_own(
    tmp_path: Path, file: str, config: dict[str, Any], columns: dict[str, Any]
) -> None:
    spec = find_spec("lmms_eval.tasks")
    assert spec is not None and spec.origin is not None
    theirs, folder = Path(spec.origin).parent / file, tmp_path / "own"
    shutil.copytree(theirs.parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    given = {"include": theirs.name, "task": "own", **config}
    (folder / "own.yaml").write_text(yaml.safe_dump(given), "utf-8")
    read = {**import_module("lmms_eval.utils").load_yaml_config(str(folder / "own.yaml")), "task": "own", **config}
    for split in (read["test_split"], read["fewshot_split"]):
        made = [row | columns for row in rows(split, 7)]
        datasets.Dataset.from_list(made).to_json(folder / "data" / f"{split}.jsonl")
    by_lmms_eval = built_by_lmms_eval(read, folder / "data")
    saved = {split.stem: datasets.Dataset.from_json(str(split)) for split in (folder / "data").glob("*.jsonl")}
    datasets.DatasetDict(saved).save_to_disk(tmp_path / "data")
    samples = Catalog((folder / "own.yaml",), trust_code=True).task("own").samples(data=tmp_path / "data")
    assert [sample.fields["question"] for sample in samples] == by_lmms_eval
    assert len(by_lmms_eval) == 7 and by_lmms_eval[0].count(" 0?") == 2
