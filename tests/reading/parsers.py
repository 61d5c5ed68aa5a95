"""Every parser of texts that others wrote, as a function of one text: what tests/reading/test_growth.py goes through.

The part of a name before the colon is the module. A module with a parser in it has to be here, or among `WITHOUT`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile

from PIL import Image

from sketchmark import folder as store
from sketchmark import secrets
from sketchmark import terminal as telling
from sketchmark.answers import (
    choices,
    numbers,
    phrases,
)
from sketchmark.answers import (
    choices as listed,
)
from sketchmark.answers import (
    judge as alignment,
)
from sketchmark.answers import (
    judge as judging,
)
from sketchmark.answers import judge as same_meaning
from sketchmark.answers import (
    phrases as open_answers,
)
from sketchmark.answers import (
    reply as final_answer,
)
from sketchmark.answers import (
    reply as marked,
)
from sketchmark.answers import (
    reply as thinking,
)
from sketchmark.answers import (
    text_metrics as meteor,
)
from sketchmark.answers import text_metrics as metrics
from sketchmark.answers import (
    yes_no as findings,
)
from sketchmark.answers import (
    yes_no as yesno,
)
from sketchmark.benchmarks import mmmu as mmmu_prompts
from sketchmark.benchmarks import mmsi as mmsi_data
from sketchmark.benchmarks import mmsi as mmsi_published
from sketchmark.benchmarks import questions as cells
from sketchmark.benchmarks import questions as columns
from sketchmark.benchmarks import questions as questions_files
from sketchmark.benchmarks import uni_mmmu as verdicts
from sketchmark.benchmarks import unig2u as g2u_published
from sketchmark.benchmarks.medical import medevalkit as judges
from sketchmark.benchmarks.medical import medevalkit as vqa
from sketchmark.benchmarks.medical import scores as open_judge
from sketchmark.benchmarks.medical import sets as choice_sets
from sketchmark.benchmarks.mmmu import official
from sketchmark.benchmarks.mmmu import scores as mmmu_open
from sketchmark.benchmarks.questions import samples as questions_pictures
from sketchmark.benchmarks.questions import samples as truths
from sketchmark.benchmarks.uni_mmmu import (
    code as code_scores,
)
from sketchmark.benchmarks.uni_mmmu import (
    geometry,
    science,
)
from sketchmark.benchmarks.uni_mmmu import (
    geometry as geometry_data,
)
from sketchmark.benchmarks.uni_mmmu import (
    geometry as quantities,
)
from sketchmark.benchmarks.uni_mmmu import puzzles as values
from sketchmark.benchmarks.unig2u import scores as g2u_choices
from sketchmark.benchmarks.unig2u import scores as g2u_planning
from sketchmark.benchmarks.voila import judge, rules
from sketchmark.benchmarks.voila import judge as judge_scores
from sketchmark.doctor import checks as doctor_saying
from sketchmark.episode import Grading
from sketchmark.episode import protocol as combined_prompt
from sketchmark.episode.model import Options, Reply
from sketchmark.episode.protocol import FilledPrompts, says_done
from sketchmark.episode.sample import Sample, of
from sketchmark.files import archives as published_files
from sketchmark.files import yaml as yaml_text
from sketchmark.files.jsonl import well_formed
from sketchmark.files.yaml import checked
from sketchmark.lmms_eval import filters as lmms_filters
from sketchmark.lmms_eval import filters as reasoning
from sketchmark.lmms_eval import scores as lmms_playing
from sketchmark.lmms_eval import stand_ins as provided_metrics
from sketchmark.lmms_eval.functions import filled, is_plain
from sketchmark.media import Picture
from sketchmark.media import svg as checking
from sketchmark.media import svg as showing
from sketchmark.models import (
    code_drawing as svg_in_text,
)
from sketchmark.models import (
    diagnosis as server_words,
)
from sketchmark.models import (
    diagnosis as wrong_address,
)
from sketchmark.models import (
    failures,
)
from sketchmark.models import players as chance
from sketchmark.models.players import Solver, patient
from sketchmark.models.providers import batch_files as batch_lines
from sketchmark.models.providers import openai_wire as openai_replies
from sketchmark.runs import checks as leaks
from sketchmark.runs import estimate
from sketchmark.serve import bodies, chat
from sketchmark.serve import pictures as served_pictures
from sketchmark.serve.chat import ChatRequest
from sketchmark.tasks.schema import TaskFile
from sketchmark.terminal import tables
from sketchmark.worlds import jigsaw as jigsaw_world
from sketchmark.worlds import moves as tagged
from sketchmark.worlds import moves as world_answers
from sketchmark.worlds import play as playing
from sketchmark.worlds.voila import scenes as statement
from sketchmark.worlds.voila import sets as checker
from tests.episodes import episode

Read = Callable[[str], object]

_OPTIONS = ("chest wall", "left lung", "heart", "no finding")
_LETTERED = dict(zip("ABCD", _OPTIONS, strict=True))
_SHOWN = [f"{letter}. {text}" for letter, text in _LETTERED.items()]
_CHOICES = {"choices": list(_OPTIONS), "question": "Where?\n" + "\n".join(_SHOWN)}
_CHAT = ChatRequest(of("x"), Options(), draws=False, beside=False, stream=True, stream_usage=False)
_REPORT = "The heart is normal. No effusion."


_PICTURE = Picture.from_image(Image.new("RGB", (1, 1)))


def _template(text: str) -> str:
    return FilledPrompts(Sample("1"), {"ask": text, "x": "y"}).text("ask")


def _columns(text: str) -> object:
    return is_plain(text) and filled(text, {"x": "y", "a": "b"}, "row")


def _yaml(text: str) -> object:
    with NamedTemporaryFile(suffix=".yaml") as file:
        Path(file.name).write_text(text, "utf-8", errors="surrogatepass")
        return yaml_text.load(Path(file.name))


def _shown(text: str) -> object:
    svg = f"<svg><image id='{text}' href='picture:1'/></svg>"
    return showing.with_pictures(svg, checking.check(svg, 1), [_PICTURE])


PARSERS: Mapping[str, Read] = {
    "scoring.choices: one": lambda text: choices.read_choice(text, _OPTIONS),
    "scoring.final_answer": final_answer.said,
    "files.plain": well_formed,
    "models.secrets": secrets.redact,
    "terminal.telling": telling.shown,
    "terminal.tables": lambda text: tables.wrapped(text, 80),
    "models.server_words": server_words.words_in,
    "models.server_words: a page": lambda text: server_words.words_in(f"<{text}"),
    "models.wrong_address": lambda text: wrong_address.mistake_in_path("http://127.0.0.1/v1/x", text),
    "doctor.saying": lambda text: doctor_saying.NUMBER.findall(text),
    "models.players.patient": lambda text: patient.answer(of(text)),
    "scoring.thinking": thinking.without_thinking,
    "scoring.numbers": numbers.read_number,
    "scoring.numbers: one": numbers.number,
    "scoring.phrases": lambda text: phrases.answers_with(["left lung", "heart"], text),
    "scoring.listed": listed.options_of,
    "scoring.marked: boxed": marked.boxed,
    "scoring.marked: tagged": lambda text: marked.tagged(text, "answer"),
    "scoring.open_answers": open_answers.read_answer,
    "scoring.yesno": yesno.read_yes_no,
    "scoring.findings": lambda text: yesno.read_yes_no(text, "Is there a heart in the left lung?"),
    "scoring.findings: question": lambda text: findings.read_finding("There is no heart. The heart is large.", text),
    "scoring.tagged: moves": lambda text: tagged.tagged_moves(text, "official"),
    "scoring.tagged: moves, lenient": lambda text: tagged.tagged_moves(text, "lenient"),
    "scoring.tagged: choice": lambda text: tagged.tagged_choice(text, "official"),
    "scoring.tagged: choice, lenient": lambda text: tagged.tagged_choice(text, "lenient"),
    "scoring.tagged: echo": tagged.echoes_template,
    "scoring.text_metrics: words": metrics.words,
    "scoring.text_metrics: cider": lambda text: metrics.cider(["a b", "c d"], [text, text]),
    "scoring.text_metrics: rouge": lambda text: metrics.rouge(_REPORT, f"x {text}"),
    "scoring.meteor": lambda text: meteor.meteor(["the", "heart"], text.split(), synonyms=False),
    "tasks.mmmu.official: choice": lambda text: official.parse_choice(text, _LETTERED, None),
    "tasks.mmmu.official: pro": lambda text: official.parse_choice_pro(text, _LETTERED, None),
    "tasks.mmmu.official: medevalkit": lambda text: official.parse_choice_medevalkit(text, _LETTERED, None),
    "tasks.mmmu.official: open": lambda text: official.open_is_right(["5", "no"], official.parse_open(text)),
    "tasks.mmmu.open_answers": lambda text: mmmu_open.open_verdict(["5", "pneumonia"], text),
    "tasks.mmmu.prompts": lambda text: mmmu_prompts.pro_image_order(text, ["x"]),
    "tasks.medical.medevalkit.judges: choice": lambda text: judges.judge_choice(_SHOWN, "A", text),
    "tasks.medical.medevalkit.judges: yes or no": lambda text: judges.judge_yes_no("yes", text),
    "tasks.medical.medevalkit.vqa": lambda text: vqa.grade_vqa("vqa_rad", "left lung", text, code="upstream"),
    "tasks.medical.open_judge": open_judge.read_verdict,
    "tasks.medical.choice_sets: prefix": lambda text: choice_sets._PREFIX.sub("", text, count=1),
    "tasks.medical.choice_sets: question": lambda text: choice_sets._LISTED_OPTIONS.sub("", text),
    "tasks.voila.rules: step 1": rules.read_step1,
    "tasks.voila.rules: step 2": rules.read_step2,
    "tasks.voila.judge": lambda text: judge.read_verdict(1, 1, text),
    "tasks.voila.judge_scores": judge_scores.question_number,
    "tasks.mmsi.data": mmsi_data.category_of,
    "tasks.mmsi.published: official": lambda text: mmsi_published.letter(text, "official"),
    "tasks.mmsi.published: lenient": lambda text: mmsi_published.letter(text, "lenient"),
    "scoring.judging": judging.first_json_object,
    "models.svg_in_text": svg_in_text.svg_in,
    "models.svg_in_text: in a tag": lambda text: svg_in_text.svg_in(f"<svg {text}></svg>"),
    "svg.checking": checking.check,
    "svg.showing": _shown,
    "svg.checking: style": lambda text: checking.check(f"<svg><style>{text}</style></svg>"),
    "svg.checking: size": lambda text: checking._check_canvas({"width": text, "viewBox": text}),
    "tasks.uni_mmmu.geometry": geometry._final,
    "tasks.uni_mmmu.geometry_data": geometry_data._safe,
    "tasks.uni_mmmu.quantities": quantities.quantity,
    "tasks.uni_mmmu.science": lambda text: science.form(Sample("1"), episode(text), Grading()),
    "tasks.uni_mmmu.code_scores": lambda text: (code_scores._summary(text), code_scores._strict_marks(text)),
    "tasks.uni_mmmu.verdicts": verdicts.object_from_the_first_brace,
    "tasks.uni_mmmu.values: moves": lambda text: values.moves_of(text, "row"),
    "tasks.uni_mmmu.values: label": lambda text: values.label_of(text, "row"),
    "tasks.published_files: literal": published_files.literal,
    "tasks.published_files: json": lambda text: published_files.json_value(text, "file"),
    "tasks.lmms_eval.templates: columns": _columns,
    "tasks.lmms_eval.provided.metrics: exact": lambda text: provided_metrics.exact_match_hf_evaluate(
        [text], ["x"], ignore_punctuation=True
    ),
    "tasks.lmms_eval.provided.metrics: anls": lambda text: provided_metrics.anls(["x"], [text]),
    "tasks.lmms_eval.playing: cut": lambda text: lmms_playing._cut({"generation_kwargs": {"until": ["\n\n"]}}, text),
    "tasks.lmms_eval.provided.filters": lambda text: [
        list(lmms_filters.MultiChoiceRegexFilter(r"(\([A-Z]\))", ignore_case=True).apply([[text]], [_CHOICES])),
        list(lmms_filters.SimpleMultiChoiceRegexFilter().apply([[text]], [_CHOICES])),
    ],
    "tasks.lmms_eval.provided.reasoning": lambda text: reasoning.strip_reasoning_tags(text, reasoning.BEFORE_SCORING),
    "tasks.worlds.answers: choice": world_answers.strict_choice,
    "tasks.worlds.answers: moves": world_answers.strict_moves,
    "worlds.playing": lambda text: (playing.wanted(of(text)), playing._MOVE.search(text)),
    "worlds.jigsaw_world": lambda text: jigsaw_world._asked_candidate(of(text)),
    "worlds.voila.statement": statement.read_statement,
    "worlds.voila.words": lambda text: statement._value("action", text),
    "worlds.voila.checker": checker._FILE_TAIL.search,
    "runs.estimate": lambda text: estimate._in_tags("x", [text]),
    "runs.leaks": lambda text: leaks._holds(text, text[: len(text) // 2]),
    "runs.store": store._CELL.fullmatch,
    "task_files.prompts": _template,
    "task_files.checking: code": lambda text: checked({"scorers": [text]}, TaskFile, "file"),
    "task_files.checking: key": lambda text: checked({text: 1}, TaskFile, "file"),
    "task_files.yaml_text": _yaml,
    "models.combined_prompt": combined_prompt.split,
    "models.openai_replies": lambda text: openai_replies.read_chat({"choices": [{"message": {"content": text}}]}),
    "models.failures": lambda text: (failures.retry_after({"retry-after": text}), failures._retry_info(text)),
    "models.batch.lines": lambda text: list(batch_lines.rows(text.encode(errors="surrogatepass"))),
    "models.players.chance": lambda text: chance.guess(of(text), random.Random(1)),
    "protocols": says_done,
    "scoring.alignment": lambda text: alignment.read_score(text, "RA_score"),
    "tasks.unig2u.choices": lambda text: g2u_choices._named(text, _OPTIONS),
    "tasks.unig2u.planning: route": g2u_planning._route,
    "tasks.unig2u.planning: times": g2u_planning._times,
    "tasks.unig2u.published: puzzles": lambda text: g2u_published.visual_puzzles(text, _OPTIONS),
    "tasks.unig2u.published: realunify": g2u_published.realunify,
    "tasks.unig2u.published: relaxed": lambda text: g2u_published.relaxed(text, "5"),
    "tasks.unig2u.published: route": g2u_published.route,
    "tasks.unig2u.published: times": g2u_published.times,
    "tasks.unig2u.published: extracted": lambda text: g2u_published.extracted(text, "ABCD"),
    "tasks.same_meaning": same_meaning.verdict,
    "tasks.questions.cells": lambda text: cells.listed(text, "options"),
    "tasks.questions.columns": lambda text: columns.Columns.of({text: 1}),
    "tasks.questions.files": lambda text: questions_files.task_name(Path(text)),
    "tasks.questions.pictures": lambda text: questions_pictures._path(text),
    "tasks.questions.truths": lambda text: truths.truth_of({"answer": text, "options": text}, text),
    "serve.bodies": lambda text: bodies.json_object(text),
    "serve.chat": lambda text: list(chat._events(Solver(), Reply(text), _CHAT)),
    "serve.pictures": served_pictures._plain,
}

_FILE = "JSON of a whole file, no pattern; a test of its own has it broken"
_OURS = "reads what Sketchmark wrote, or one kind of character at a time"
_READER = "reads for scoring.choices, scoring.numbers and scoring.phrases, which are in the table"
_USERS = "reads what the user typed"

WITHOUT: Mapping[str, str] = {
    "extras": "reads what this package says of itself",
    "models.http_client": "JSON of a whole reply, no pattern; tests/models has it broken",
    "models.openai_chat": "a day, compared whole",
    "models.generation": _USERS,
    "models.registry": _USERS,
    "request": _USERS,
    "scoring.guessing": "one letter at a time",
    "tasks.unig2u.data": "a picture's name, one kind of character at a time",
    "tasks.voila.data": "a file's name, one kind of character at a time",
    "catalog": _USERS,
    "commands._worlds": _USERS,
    "export.inspect_log": _OURS,
    "export.lmms_eval": _OURS,
    "tasks.lmms_eval.task_code": "a copy of JSON that was written a moment ago",
    "files.hub": "a name of bounded length",
    "files.names": _OURS,
    "files.pictures": "a name of bounded length",
    "files.tables": _FILE,
    "models.batch.files": _OURS,
    "models.gemini": _USERS,
    "models.openai": _USERS,
    "models.weights": _USERS,
    "report.charts": _OURS,
    "report.markup": _OURS,
    "runs.replies_file": _FILE,
    "scoring.languages": _READER,
    "scoring.mentions": _READER,
    "scoring.reader": _READER,
    "scoring.spellings": _READER,
    "scoring.statements": _READER,
    "serve.faults": _USERS,
    "tasks.uni_mmmu.folder": _FILE,
    "tasks.voila.results_file": _FILE,
    "view.search": _USERS,
    "worlds.voila.table": _FILE,
}
