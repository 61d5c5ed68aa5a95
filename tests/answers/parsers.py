"""Every parser of texts that others wrote, as a function of one text: what tests/answers/test_growth.py goes through.

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
    "answers.choices: one": lambda text: choices.read_choice(text, _OPTIONS),
    "answers.reply: final_answer": final_answer.said,
    "files.jsonl: plain": well_formed,
    "secrets": secrets.redact,
    "terminal: telling": telling.shown,
    "terminal.tables": lambda text: tables.wrapped(text, 80),
    "models.diagnosis: server_words": server_words.words_in,
    "models.diagnosis: server_words, a page": lambda text: server_words.words_in(f"<{text}"),
    "models.diagnosis: wrong_address": lambda text: wrong_address.mistake_in_path("http://127.0.0.1/v1/x", text),
    "doctor.checks: saying": lambda text: doctor_saying.NUMBER.findall(text),
    "models.players.patient": lambda text: patient.answer(of(text)),
    "answers.reply: thinking": thinking.without_thinking,
    "answers.numbers": numbers.read_number,
    "answers.numbers: one": numbers.number,
    "answers.phrases": lambda text: phrases.answers_with(["left lung", "heart"], text),
    "answers.choices: listed": listed.options_of,
    "answers.reply: marked, boxed": marked.boxed,
    "answers.reply: marked, tagged": lambda text: marked.tagged(text, "answer"),
    "answers.phrases: open_answers": open_answers.read_answer,
    "answers.yes_no: yesno": yesno.read_yes_no,
    "answers.yes_no: findings": lambda text: yesno.read_yes_no(text, "Is there a heart in the left lung?"),
    "answers.yes_no: findings, question": lambda text: findings.read_finding(
        "There is no heart. The heart is large.", text
    ),
    "worlds.moves: tagged, moves": lambda text: tagged.tagged_moves(text, "official"),
    "worlds.moves: tagged, moves, lenient": lambda text: tagged.tagged_moves(text, "lenient"),
    "worlds.moves: tagged, choice": lambda text: tagged.tagged_choice(text, "official"),
    "worlds.moves: tagged, choice, lenient": lambda text: tagged.tagged_choice(text, "lenient"),
    "worlds.moves: tagged, echo": tagged.echoes_template,
    "answers.text_metrics: words": metrics.words,
    "answers.text_metrics: cider": lambda text: metrics.cider(["a b", "c d"], [text, text]),
    "answers.text_metrics: rouge": lambda text: metrics.rouge(_REPORT, f"x {text}"),
    "answers.text_metrics: meteor": lambda text: meteor.meteor(["the", "heart"], text.split(), synonyms=False),
    "benchmarks.mmmu.official: choice": lambda text: official.parse_choice(text, _LETTERED, None),
    "benchmarks.mmmu.official: pro": lambda text: official.parse_choice_pro(text, _LETTERED, None),
    "benchmarks.mmmu.official: medevalkit": lambda text: official.parse_choice_medevalkit(text, _LETTERED, None),
    "benchmarks.mmmu.official: open": lambda text: official.open_is_right(["5", "no"], official.parse_open(text)),
    "benchmarks.mmmu.scores: open_answers": lambda text: mmmu_open.open_verdict(["5", "pneumonia"], text),
    "benchmarks.mmmu: prompts": lambda text: mmmu_prompts.pro_image_order(text, ["x"]),
    "benchmarks.medical.medevalkit: judges, choice": lambda text: judges.judge_choice(_SHOWN, "A", text),
    "benchmarks.medical.medevalkit: judges, yes or no": lambda text: judges.judge_yes_no("yes", text),
    "benchmarks.medical.medevalkit: vqa": lambda text: vqa.grade_vqa("vqa_rad", "left lung", text, code="upstream"),
    "benchmarks.medical.scores: open_judge": open_judge.read_verdict,
    "benchmarks.medical.sets: choice_sets, prefix": lambda text: choice_sets._PREFIX.sub("", text, count=1),
    "benchmarks.medical.sets: choice_sets, question": lambda text: choice_sets._LISTED_OPTIONS.sub("", text),
    "benchmarks.voila.rules: step 1": rules.read_step1,
    "benchmarks.voila.rules: step 2": rules.read_step2,
    "benchmarks.voila.judge": lambda text: judge.read_verdict(1, 1, text),
    "benchmarks.voila.judge: judge_scores": judge_scores.question_number,
    "benchmarks.mmsi: data": mmsi_data.category_of,
    "benchmarks.mmsi: published, official": lambda text: mmsi_published.letter(text, "official"),
    "benchmarks.mmsi: published, lenient": lambda text: mmsi_published.letter(text, "lenient"),
    "answers.judge: judging": judging.first_json_object,
    "models.code_drawing: svg_in_text": svg_in_text.svg_in,
    "models.code_drawing: svg_in_text, in a tag": lambda text: svg_in_text.svg_in(f"<svg {text}></svg>"),
    "media.svg: checking": checking.check,
    "media.svg: showing": _shown,
    "media.svg: checking, style": lambda text: checking.check(f"<svg><style>{text}</style></svg>"),
    "media.svg: checking, size": lambda text: checking._check_canvas({"width": text, "viewBox": text}),
    "benchmarks.uni_mmmu.geometry": geometry._final,
    "benchmarks.uni_mmmu.geometry: geometry_data": geometry_data._safe,
    "benchmarks.uni_mmmu.geometry: quantities": quantities.quantity,
    "benchmarks.uni_mmmu.science": lambda text: science.form(Sample("1"), episode(text), Grading()),
    "benchmarks.uni_mmmu.code: code_scores": lambda text: (
        code_scores._summary(text),
        code_scores._strict_marks(text),
    ),
    "benchmarks.uni_mmmu: verdicts": verdicts.object_from_the_first_brace,
    "benchmarks.uni_mmmu: values, moves": lambda text: values.moves_of(text, "row"),
    "benchmarks.uni_mmmu: values, label": lambda text: values.label_of(text, "row"),
    "files.archives: published_files, literal": published_files.literal,
    "files.archives: published_files, json": lambda text: published_files.json_value(text, "file"),
    "lmms_eval.functions: templates, columns": _columns,
    "lmms_eval.stand_ins: metrics, exact": lambda text: provided_metrics.exact_match_hf_evaluate(
        [text], ["x"], ignore_punctuation=True
    ),
    "lmms_eval.stand_ins: metrics, anls": lambda text: provided_metrics.anls(["x"], [text]),
    "lmms_eval.scores: playing, cut": lambda text: lmms_playing._cut(
        {"generation_kwargs": {"until": ["\n\n"]}}, text
    ),
    "lmms_eval.filters": lambda text: [
        list(lmms_filters.MultiChoiceRegexFilter(r"(\([A-Z]\))", ignore_case=True).apply([[text]], [_CHOICES])),
        list(lmms_filters.SimpleMultiChoiceRegexFilter().apply([[text]], [_CHOICES])),
    ],
    "lmms_eval.filters: reasoning": lambda text: reasoning.strip_reasoning_tags(text, reasoning.BEFORE_SCORING),
    "worlds.moves: answers, choice": world_answers.strict_choice,
    "worlds.moves: answers, moves": world_answers.strict_moves,
    "worlds.play: playing": lambda text: (playing.wanted(of(text)), playing._MOVE.search(text)),
    "worlds.jigsaw: jigsaw_world": lambda text: jigsaw_world._asked_candidate(of(text)),
    "worlds.voila.scenes: statement": statement.read_statement,
    "worlds.voila.scenes: words": lambda text: statement._value("action", text),
    "worlds.voila.sets: checker": checker._FILE_TAIL.search,
    "runs.estimate": lambda text: estimate._in_tags("x", [text]),
    "runs.checks: leaks": lambda text: leaks._holds(text, text[: len(text) // 2]),
    "folder: store": store._CELL.fullmatch,
    "episode.protocol: prompts": _template,
    "files.yaml: checking, code": lambda text: checked({"scorers": [text]}, TaskFile, "file"),
    "files.yaml: checking, key": lambda text: checked({text: 1}, TaskFile, "file"),
    "files.yaml: yaml_text": _yaml,
    "episode.protocol: combined_prompt": combined_prompt.split,
    "models.providers.openai_wire: openai_replies": lambda text: openai_replies.read_chat(
        {"choices": [{"message": {"content": text}}]}
    ),
    "models.failures": lambda text: (failures.retry_after({"retry-after": text}), failures._retry_info(text)),
    "models.providers.batch_files: lines": lambda text: list(batch_lines.rows(text.encode(errors="surrogatepass"))),
    "models.players: chance": lambda text: chance.guess(of(text), random.Random(1)),
    "episode.protocol: protocols": says_done,
    "answers.judge: alignment": lambda text: alignment.read_score(text, "RA_score"),
    "tasks.unig2u.choices": lambda text: g2u_choices._named(text, _OPTIONS),
    "tasks.unig2u.planning: route": g2u_planning._route,
    "tasks.unig2u.planning: times": g2u_planning._times,
    "tasks.unig2u.published: puzzles": lambda text: g2u_published.visual_puzzles(text, _OPTIONS),
    "tasks.unig2u.published: realunify": g2u_published.realunify,
    "tasks.unig2u.published: relaxed": lambda text: g2u_published.relaxed(text, "5"),
    "tasks.unig2u.published: route": g2u_published.route,
    "tasks.unig2u.published: times": g2u_published.times,
    "tasks.unig2u.published: extracted": lambda text: g2u_published.extracted(text, "ABCD"),
    "answers.judge: same_meaning": same_meaning.verdict,
    "benchmarks.questions: cells": lambda text: cells.listed(text, "options"),
    "benchmarks.questions: columns": lambda text: columns.Columns.of({text: 1}),
    "benchmarks.questions: files": lambda text: questions_files.task_name(Path(text)),
    "benchmarks.questions.samples: pictures": lambda text: questions_pictures._path(text),
    "benchmarks.questions.samples: truths": lambda text: truths.truth_of({"answer": text, "options": text}, text),
    "serve.bodies": lambda text: bodies.json_object(text),
    "serve.chat": lambda text: list(chat._events(Solver(), Reply(text), _CHAT)),
    "serve.pictures": served_pictures._plain,
}

_FILE = "JSON of a whole file, no pattern; a test of its own has it broken"
_OURS = "reads what Sketchmark wrote, or one kind of character at a time"
_READER = "reads for scoring.choices, scoring.numbers and scoring.phrases, which are in the table"
_USERS = "reads what the user typed"

WITHOUT: Mapping[str, str] = {
    "errors: extras": "reads what this package says of itself",
    "models.http: http_client": "JSON of a whole reply, no pattern; tests/models has it broken",
    "models.providers.openai_chat": "a day, compared whole",
    "models.arguments: generation": _USERS,
    "models: registry": _USERS,
    "settings: request": _USERS,
    "answers.choices: guessing": "one letter at a time",
    "tasks.unig2u.data": "a picture's name, one kind of character at a time",
    "benchmarks.voila: data": "a file's name, one kind of character at a time",
    "catalog": _USERS,
    "commands.worlds: _worlds": _USERS,
    "export.inspect_log": _OURS,
    "export.lmms_eval": _OURS,
    "lmms_eval.functions: task_code": "a copy of JSON that was written a moment ago",
    "files.hub": "a name of bounded length",
    "files: names": _OURS,
    "files.media_store: pictures": "a name of bounded length",
    "files.tables": _FILE,
    "models.providers.batch_files: files": _OURS,
    "models.providers.gemini": _USERS,
    "models.providers.openai": _USERS,
    "models.providers.weights": _USERS,
    "plots: charts": _OURS,
    "markup": _OURS,
    "results.score_file: replies_file": _FILE,
    "answers.statements: languages": _READER,
    "answers.mentions": _READER,
    "answers.reader": _READER,
    "answers.mentions: spellings": _READER,
    "answers.statements": _READER,
    "serve.faults": _USERS,
    "benchmarks.uni_mmmu: folder": _FILE,
    "benchmarks.voila.results_file": _FILE,
    "view.query: search": _USERS,
    "worlds.voila.table": _FILE,
}
