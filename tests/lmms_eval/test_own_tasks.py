"""People bring their own lmms-eval tasks: the folder `shades` is one, with Python of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sketchmark
from sketchmark import Context, Model, Options, Reply
from sketchmark.catalog import Catalog
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.runs import prepare
from sketchmark.tasks import TaskOptions
from tests.command_line import sketchmark as say
from tests.tabled import tabled


class Eye(Model):
    """Says whether the first picture is dark or light, and draws what it sees; keeps every request."""

    def __init__(self, name: str = "eye") -> None:
        super().__init__(name)
        self.asked: list[tuple[str, list[object], Options]] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.asked.append(("say", [part.content for part in context], options))
        level = context.pictures[0].image().getpixel((0, 0))
        assert isinstance(level, tuple)
        return Reply(text="Dark\n\nnot Light" if level[0] < 128 else "Light")

    async def draw(self, context: Context, options: Options) -> Reply:
        self.asked.append(("draw", [part.content for part in context], options))
        return Reply(picture=context.pictures[0])


def run(folder: Path, tasks: str, model: Model, out: Path) -> RunFolder:
    return sketchmark.run(model, tasks, include=(folder,), trust_code=True, output_path=out).folder


def added(folder: Path, name: str, lines: str, code: str = "") -> str:
    """Add a task file that includes `shades_plain.yaml`, and code to `utils.py`. Return the name of the task."""
    (folder / f"{name}.yaml").write_text(f"include: shades_plain.yaml\ntask: {name}\n{lines}\n", "utf-8")
    with (folder / "utils.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\n{code}\n")
    return name


def test_a_folder_with_functions_runs_with_the_models_prompts_and_the_files_settings(
    folder: Path, tmp_path: Path
) -> None:
    eye, terse = Eye(), Eye("terse/small")
    cell = run(folder, "shades", eye, tmp_path / "out").results().tasks["shades.direct"]
    assert (cell.n, cell.metrics["right"].mean, cell.aggregate) == (4, 1.0, {"by_shade": 1.0})
    run(folder, "shades", terse, tmp_path / "two")
    assert eye.asked[0][1][1] == "Look. Is it dark or light?\nAnswer with one word."
    assert terse.asked[0][1][1] == "Look. Is it dark or light?\nOne word."
    assert (eye.asked[0][2].max_new_tokens, eye.asked[0][2].temperature) == (16, 0.0)


def test_it_is_refused_without_trust_and_its_code_does_not_run(folder: Path, tmp_path: Path) -> None:
    (folder / "utils.py").write_text("raise SystemExit('the code ran')", "utf-8")
    with pytest.raises(BadInput, match=r"runs its own Python \(utils\.doc_to_visual.*--trust-code"):
        sketchmark.run(Eye(), "shades", include=(folder,), output_path=tmp_path / "out")


def test_a_file_of_our_own_shape_cannot_borrow_untrusted_code(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "sly.yaml").write_text(
        f"source: {{use: 'lmms_eval.documents', task_file: '{folder / 'shades_direct.yaml'}'}}\n"
        "modes: {direct: {prompts: {inputs: ['{question}']}}}\n",
        "utf-8",
    )
    with pytest.raises(BadInput, match=r"cannot find 'lmms_eval\.documents'"):
        sketchmark.run(Eye(), "sly", include=(tmp_path / "sly.yaml",), output_path=tmp_path / "out")


@pytest.mark.parametrize(
    ("said", "temperature"), [("do_sample: false, ", 0.0), ("", 0.7), ("do_sample: true, ", 0.7)]
)
def test_a_temperature_counts_unless_the_file_says_that_it_does_not_sample(
    folder: Path, tmp_path: Path, said: str, temperature: float
) -> None:
    eye = Eye()
    run(folder, added(folder, "warm", f"generation_kwargs: {{{said}temperature: 0.7}}"), eye, tmp_path / "out")
    assert eye.asked[0][2].temperature == temperature


def test_all_settings_of_a_file_are_passed_on_or_named(folder: Path, tmp_path: Path) -> None:
    said = "{num_beams: 1, repetition_penalty: 1.0, seed: 7, stop_sequences: [x], num_beams_: null}"
    eye = Eye()
    run(folder, added(folder, "own", f"generation_kwargs: {said}"), eye, tmp_path / "out")
    assert (eye.asked[0][2].seed, eye.asked[0][2].extra) == (7, {"stop_sequences": ["x"]})
    told = prepare("player/random", "own", include=(folder,), trust_code=True).warnings
    assert told == ("the task's stop_sequences: player/random does not receive it in answers (own.direct)",)


def test_a_combined_prompt_is_split_into_its_two_stages(folder: Path, tmp_path: Path) -> None:
    eye = Eye()
    results = run(folder, "shades_visual_cot", eye, tmp_path / "out").results()
    assert list(results.tasks) == ["shades_visual_cot.visual_cot"]
    drawing = next(contents for act, contents, _ in eye.asked if act == "draw")
    answering = next(contents for act, contents, _ in eye.asked if act == "say")
    assert drawing[1:] == ["Draw the shade."]
    assert answering[2:] == ["Look. Is it dark or light?\nAnswer with one word."]
    assert answering[0] == answering[1] == drawing[0]


def test_columns_templates_and_exact_match_need_no_process_results(folder: Path, tmp_path: Path) -> None:
    eye = Eye()
    cell = run(folder, "shades_plain", eye, tmp_path / "out").results().tasks["shades_plain.direct"]
    assert eye.asked[0][1][1] == "Image 0: Is it dark or light?"
    assert cell.metrics["exact_match"].mean == 0.5, "`until` is not set here, so `Dark…not Light` stays whole"


def test_a_task_file_that_includes_itself_or_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("include: b.yaml\n")
    (tmp_path / "b.yaml").write_text("include: a.yaml\n")
    with pytest.raises(BadInput, match="includes itself"):
        Catalog((tmp_path / "a.yaml",))
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match=r"cannot read task file .*c\.yaml"):
        Catalog((tmp_path / "c.yaml",))


def test_groups_are_known_by_their_file_and_by_the_label_in_their_tasks(folder: Path) -> None:
    catalog = Catalog((folder,), trust_code=True)
    assert [pick.task for pick in catalog.pick("shades_both")] == ["shades", "shades_plain"]
    assert [(pick.task, pick.mode) for pick in catalog.pick("shades_all")] == [
        ("shades", None),
        ("shades_visual_cot", "visual_cot"),
    ]


@tabled
def test_what_is_not_understood_is_refused(folder: Path, tmp_path: Path, line: str, message: str) -> None:
    key = line.partition(":")[0]
    plain = (folder / "shades_plain.yaml").read_text("utf-8").splitlines()
    kept = [one for one in plain if not one.startswith((key, "task:", "  - "))]
    rest = [] if key == "metric_list" else ["  - {metric: exact_match}"]
    (folder / "odd.yaml").write_text("\n".join([*kept, *rest, line, "task: odd", ""]), "utf-8")
    with pytest.raises(BadInput, match=message):
        run(folder, "odd", Eye(), tmp_path / "out")


def test_the_command_line_includes_a_folder_and_says_plainly_when_trust_is_missing(
    folder: Path, tmp_path: Path
) -> None:
    arguments = ["run", "--model", "player/random", "--tasks", "shades_all", "--include", str(folder), "--no-cache"]
    arguments += ["--quiet", "--output_path", str(tmp_path / "out")]
    refused = say(*arguments)
    assert refused.returncode == 2
    assert "--trust-code if you trust it" in refused.stderr
    assert "Traceback" not in refused.stderr
    played = say(*arguments, "--trust-code")
    assert played.returncode == 0, played.stderr
    assert set(RunFolder(tmp_path / "out").results().tasks) == {"shades.direct", "shades_visual_cot.visual_cot"}


def test_answers_go_through_the_files_filters(folder: Path, tmp_path: Path) -> None:
    filters = (
        "filter_list:\n"
        "  - {name: first, filter: [{function: regex, regex_pattern: '(Dark|Light)'}, {function: take_first}]}\n"
        "  - {name: own, filter: [{function: !function utils.Never, word: never}]}"
    )
    code = (
        "from lmms_eval.filters.extraction import RegexFilter\n"
        "class Never(RegexFilter):\n"
        "    def __init__(self, word):\n        self.word = word\n"
        "    def apply(self, resps, docs):\n        return [self.word + str(docs[0]['number']) for _ in resps]"
    )
    task = added(folder, "filtered", filters, code)
    cell = run(folder, task, Eye(), tmp_path / "out").results().tasks["filtered.direct"]
    means = {name: metric.mean for name, metric in cell.metrics.items()}
    assert means == {"exact_match": 1.0, "exact_match,own": 0.0}


def test_functions_of_an_included_file_lie_beside_that_file(folder: Path, tmp_path: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "harder.yaml").write_text("include: ../shades_direct.yaml\ntask: harder\n", "utf-8")
    shutil.copy(folder / "shades.jsonl", folder / "more")
    assert (
        run(folder, "harder", Eye(), tmp_path / "out").results().tasks["harder.direct"].metrics["right"].mean == 1.0
    )


def test_a_template_that_is_more_than_columns_is_code(folder: Path, tmp_path: Path) -> None:
    plain = (
        (folder / "shades_plain.yaml").read_text("utf-8").replace("doc_to_visual: !function utils.doc_to_visual", "")
    )
    text = plain.replace('"Image {{number}}: {{question}}"', "'{{question|upper}} {% if number > 1 %}!{% endif %}'")
    (folder / "shaped.yaml").write_text(text.replace("shades_plain", "shaped"), "utf-8")
    with pytest.raises(BadInput, match=r"runs its own Python \(doc_to_text\)"):
        Catalog((folder,)).task("shaped")
    (folder / "noted.yaml").write_text(
        plain.replace("Image", "{# aside #}").replace("shades_plain", "noted"), "utf-8"
    )
    with pytest.raises(BadInput, match=r"runs its own Python \(doc_to_text\)"):
        Catalog((folder,)).task("noted")
    asked = [sample.fields["question"] for sample in Catalog((folder,), trust_code=True).task("shaped").samples()]
    assert asked == ["IS IT DARK OR LIGHT? "] * 2 + ["IS IT DARK OR LIGHT? !"] * 2


@pytest.mark.parametrize(
    "line",
    [
        "filter_list: [{filter: [{function: regex, regex_pattern: '(a+)+b'}]}]",
        "metric_list: [{metric: exact_match, regexes_to_ignore: ['(a+)+b']}]",
    ],
)
def test_a_pattern_of_a_strangers_file_is_code_too(tmp_path: Path, line: str) -> None:
    (tmp_path / "sly.yaml").write_text(
        "dataset_path: x.jsonl\ntest_split: test\ndoc_to_text: question\n"
        f"{line if 'metric_list' in line else line + chr(10) + 'metric_list: [{metric: exact_match}]'}\n"
    )
    with pytest.raises(BadInput, match=r"runs its own Python \(regex"):
        Catalog((tmp_path,)).task("sly")
    Catalog((tmp_path,), trust_code=True).task("sly")


def test_a_target_may_depend_on_the_model(folder: Path) -> None:
    lines = "doc_to_target: !function utils.worded\nmodel_specific_target_kwargs: {default: plain, terse: short}"
    task = added(folder, "worded", lines, "def worded(doc, how):\n    return f'{how} {doc[\"shade\"]}'")
    for name, answer in (("eye", "plain dark"), ("terse/small", "short dark")):
        found = Catalog((folder,), trust_code=True).task(task, TaskOptions(model=name))
        assert next(found.samples()).target["answer"] == answer
