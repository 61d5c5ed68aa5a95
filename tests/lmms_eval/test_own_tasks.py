"""People bring their own lmms-eval tasks: the folder `shades` is one, with Python of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sketchmark
from sketchmark.catalog import Catalog
from sketchmark.commands.tables import print_results
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context
from sketchmark.errors import BadInput
from sketchmark.folder import RunFolder
from sketchmark.tasks import TaskOptions


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


def test_a_folder_with_functions_runs_end_to_end(folder: Path, tmp_path: Path) -> None:
    cell = run(folder, "shades", Eye(), tmp_path / "out").results().tasks["shades.direct"]
    assert cell.n == 4
    assert cell.metrics["right"].mean == 1.0
    assert cell.aggregate == {"by_shade": 1.0}


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


def test_prompts_of_a_model_are_merged_over_the_default(folder: Path, tmp_path: Path) -> None:
    eye, terse = Eye(), Eye("terse/small")
    run(folder, "shades", eye, tmp_path / "one")
    run(folder, "shades", terse, tmp_path / "two")
    assert eye.asked[0][1][1] == "Look. Is it dark or light?\nAnswer with one word."
    assert terse.asked[0][1][1] == "Look. Is it dark or light?\nOne word."


def test_generation_settings_reach_the_model(folder: Path, tmp_path: Path) -> None:
    eye = Eye()
    run(folder, "shades", eye, tmp_path / "out")
    assert (eye.asked[0][2].max_new_tokens, eye.asked[0][2].temperature) == (16, 0.0)


@pytest.mark.parametrize(
    ("said", "temperature"), [("do_sample: false, ", 0.0), ("", 0.7), ("do_sample: true, ", 0.7)]
)
def test_a_temperature_counts_unless_the_file_says_that_it_does_not_sample(
    folder: Path, tmp_path: Path, said: str, temperature: float
) -> None:
    (folder / "warm.yaml").write_text(
        f"include: shades_plain.yaml\ntask: warm\ngeneration_kwargs: {{{said}temperature: 0.7}}\n", "utf-8"
    )
    eye = Eye()
    run(folder, "warm", eye, tmp_path / "out")
    assert eye.asked[0][2].temperature == temperature


def test_settings_that_no_model_is_told_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "{num_beams: 1, repetition_penalty: 1.0, seed: 7, stop_sequences: [x], num_beams_: null}"
    (folder / "own.yaml").write_text(f"include: shades_plain.yaml\ntask: own\ngeneration_kwargs: {said}\n", "utf-8")
    eye = Eye()
    run(folder, "own", eye, tmp_path / "out")
    assert eye.asked[0][2].seed == 7
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == "own: these generation_kwargs are not sent to the model: stop_sequences: ['x']"


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


def test_a_score_that_only_its_own_aggregation_makes_is_in_the_table(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "worst.yaml").write_text(
        "include: _template.yaml\n"
        "metric_list: [{metric: by_shade, aggregation: !function utils.worst_shade}]\n"
        "process_results: !function utils.only_dicts\n",
        "utf-8",
    )
    with (folder / "utils.py").open("a", encoding="utf-8") as code:
        code.write(
            "\n\ndef only_dicts(doc, results):\n    return {'by_shade': {'shade': doc['shade'], 'right': True}}\n"
        )
    print_results(run(folder, "worst", Eye(), tmp_path / "out").results())
    [line] = [line for line in capsys.readouterr().out.splitlines() if "by_shade" in line]
    assert "1.000" in line


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


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("output_type: loglikelihood", "is of type loglikelihood"),
        ("num_fewshot: 5", "few-shot"),
        ("filter_list: [{name: x, filter: [{function: guess}]}]", "filters answers by 'guess'"),
        ("repeats: 3\nfilter_list: [{filter: [{function: majority_vote}]}]", "scores 3 replies"),
        ("metric_list: [{metric: exact_match, aggregation: median}]", "aggregates by 'median'"),
        ("metric_list: [{metric: bleu}]", "needs process_results"),
        ("doc_to_text: '{% if x %}{{number}}'", "template"),
        ("doc_to_text: '{{nowhere}}'", "has no column 'nowhere'"),
        ("dataset_path: gone/away", "cannot load gone/away"),
    ],
)
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
    refused = subprocess.run([sys.executable, "-m", "sketchmark", *arguments], capture_output=True, text=True)
    assert refused.returncode == 2
    assert "--trust-code if you trust it" in refused.stderr
    assert "Traceback" not in refused.stderr
    played = subprocess.run([sys.executable, "-m", "sketchmark", *arguments, "--trust-code"], capture_output=True)
    assert played.returncode == 0, played.stderr
    assert set(RunFolder(tmp_path / "out").results().tasks) == {"shades.direct", "shades_visual_cot.visual_cot"}


def test_answers_go_through_the_files_filters(folder: Path, tmp_path: Path) -> None:
    (folder / "filtered.yaml").write_text(
        "include: shades_plain.yaml\ntask: filtered\n"
        "filter_list:\n"
        "  - {name: first, filter: [{function: regex, regex_pattern: '(Dark|Light)'}, {function: take_first}]}\n"
        "  - {name: own, filter: [{function: !function utils.Never, word: never}]}\n",
        "utf-8",
    )
    with (folder / "utils.py").open("a", encoding="utf-8") as code:
        code.write(
            "\n\nfrom lmms_eval.filters.extraction import RegexFilter\n"
            "class Never(RegexFilter):\n"
            "    def __init__(self, word):\n        self.word = word\n"
            "    def apply(self, resps, docs):\n        return [self.word + str(docs[0]['number']) for _ in resps]\n"
        )
    cell = run(folder, "filtered", Eye(), tmp_path / "out").results().tasks["filtered.direct"]
    assert {name: metric.mean for name, metric in cell.metrics.items()} == {
        "exact_match": 1.0,
        "exact_match,own": 0.0,
    }


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


def test_a_target_may_depend_on_the_model(folder: Path, tmp_path: Path) -> None:
    (folder / "worded.yaml").write_text(
        "include: shades_plain.yaml\ntask: worded\ndoc_to_target: !function utils.worded\n"
        "model_specific_target_kwargs: {default: plain, terse: short}\n",
        "utf-8",
    )
    with (folder / "utils.py").open("a", encoding="utf-8") as code:
        code.write("\n\ndef worded(doc, how):\n    return f'{how} {doc[\"shade\"]}'\n")
    for name, answer in (("eye", "plain dark"), ("terse/small", "short dark")):
        task = Catalog((folder,), trust_code=True).task("worded", TaskOptions(model=name))
        assert next(task.samples()).target["answer"] == answer
