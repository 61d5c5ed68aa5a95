"""Every parser of untrusted text, as a function of one text, for tests/answers/test_growth.py.

The part of a name before the colon is the module. A module with a parser must be in `PARSERS` or in `WITHOUT`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile

from bench.worlds import step_worlds
from PIL import Image

from sketchmark import FilledPrompts, Options, Reply, Sample, answers, folder, secrets, terminal
from sketchmark.answers import (
    choices,
    cleanup,
    equality,
    findings,
    numbers,
    phrases,
    text_metrics,
    vocabulary,
    yes_no,
)
from sketchmark.answers import judge as answer_judge
from sketchmark.benchmarks import mmmu, mmsi, questions, uni_mmmu, unig2u
from sketchmark.benchmarks.medical import medevalkit
from sketchmark.benchmarks.medical import scores as medical_scores
from sketchmark.benchmarks.medical import sets as medical_sets
from sketchmark.benchmarks.mmmu import official
from sketchmark.benchmarks.mmmu import scores as mmmu_scores
from sketchmark.benchmarks.questions import samples as question_samples
from sketchmark.benchmarks.uni_mmmu import code, geometry, puzzles, science
from sketchmark.benchmarks.unig2u import scores as unig2u_scores
from sketchmark.benchmarks.voila import judge as voila_judge
from sketchmark.benchmarks.voila import rules
from sketchmark.doctor import checks as doctor_checks
from sketchmark.episode import Grading, protocol
from sketchmark.episode.protocol import says_done
from sketchmark.episode.sample import of
from sketchmark.files import archives, yaml
from sketchmark.files.jsonl import well_formed
from sketchmark.files.yaml import checked
from sketchmark.lmms_eval import filters, stand_ins
from sketchmark.lmms_eval import scores as lmms_scores
from sketchmark.lmms_eval.functions import filled, is_plain
from sketchmark.media import Picture, svg
from sketchmark.models import code_drawing, diagnosis, failures, players
from sketchmark.models.players import Solver, patient
from sketchmark.models.providers import batch_files, openai_wire
from sketchmark.runs import checks as run_checks
from sketchmark.serve import bodies, chat
from sketchmark.serve import pictures as served_pictures
from sketchmark.serve.chat import ChatRequest
from sketchmark.tasks.schema import TaskFile
from sketchmark.terminal import tables
from sketchmark.worlds import installed_worlds, jigsaw, moves, steps
from sketchmark.worlds import play as world_play
from sketchmark.worlds.maze import board as maze_board
from sketchmark.worlds.voila import scenes
from sketchmark.worlds.voila import sets as voila_sets
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
        return yaml.load(Path(file.name))


def _shown(text: str) -> object:
    source = f"<svg><image id='{text}' href='picture:1'/></svg>"
    return svg.with_pictures(source, svg.check(source, 1), [_PICTURE])


def _chat(text: str) -> object:
    return openai_wire.read_chat({"choices": [{"message": {"content": text}}]})


PARSERS: Mapping[str, Read] = {
    "answers.choices: one": lambda text: choices.read_choice(text, _OPTIONS),
    "answers.cleanup: final_answer": cleanup.said,
    "files.jsonl": well_formed,
    "secrets": secrets.redact,
    "terminal": terminal.shown,
    "terminal.tables": lambda text: tables.wrapped(text, 80),
    "models.diagnosis: server_words": diagnosis.words_in,
    "models.diagnosis: a page": lambda text: diagnosis.words_in(f"<{text}"),
    "models.diagnosis: wrong_address": lambda text: diagnosis.mistake_in_path("http://127.0.0.1/v1/x", text),
    "doctor.checks": lambda text: doctor_checks.NUMBER.findall(text),
    "models.players.patient": lambda text: patient.answer(of(text)),
    "answers: thinking": answers.without_thinking,
    "answers.numbers": numbers.read_number,
    "answers.vocabulary: number": vocabulary.number,
    "answers.phrases": lambda text: phrases.answers_with(["left lung", "heart"], text),
    "answers.choices: listed": choices.options_of,
    "answers: boxed": answers.boxed,
    "answers: marked, tagged": lambda text: answers.tagged(text, "answer"),
    "answers.phrases: open_answers": phrases.read_answer,
    "answers.yes_no: yesno": yes_no.read_yes_no,
    "answers.findings": lambda text: yes_no.read_yes_no(text, "Is there a heart in the left lung?"),
    "answers.questions": lambda text: yes_no.read_yes_no("There is no heart.", text),
    "answers.equality: records": lambda text: equality.about(
        equality.chosen(text, "What is the heart?"), frozenset({"heart"})
    ),
    "answers.yes_no: foreign": lambda text: yes_no.read_yes_no(text, "¿Hay un corazón en el pulmón izquierdo?"),
    "answers.yes_no: foreign question": lambda text: yes_no.read_yes_no("No hay corazón. Es grande.", text),
    "answers.findings: question": lambda text: findings.read_finding("There is no heart. It is large.", text),
    "worlds.moves: moves": lambda text: moves.tagged_moves(text, "official"),
    "worlds.moves: moves, lenient": lambda text: moves.tagged_moves(text, "lenient"),
    "worlds.moves: choice": lambda text: moves.tagged_choice(text, "official"),
    "worlds.moves: choice, lenient": lambda text: moves.tagged_choice(text, "lenient"),
    "worlds.moves: echo": moves.echoes_template,
    "answers.text_metrics: words": text_metrics.words,
    "answers.text_metrics: cider": lambda text: text_metrics.cider(["a b", "c d"], [text, text]),
    "answers.text_metrics: rouge": lambda text: text_metrics.rouge(_REPORT, f"x {text}"),
    "answers.text_metrics: meteor": lambda text: text_metrics.meteor(["the", "heart"], text.split(), synonyms=False),
    "benchmarks.mmmu.official: choice": lambda text: official.parse_choice(text, _LETTERED, None),
    "benchmarks.mmmu.official: pro": lambda text: official.parse_choice_pro(text, _LETTERED, None),
    "benchmarks.mmmu.official: medevalkit": lambda text: official.parse_choice_medevalkit(text, _LETTERED, None),
    "benchmarks.mmmu.official: open": lambda text: official.open_is_right(["5", "no"], official.parse_open(text)),
    "benchmarks.mmmu.scores": lambda text: mmmu_scores.open_verdict(["5", "pneumonia"], text),
    "benchmarks.mmmu": lambda text: mmmu.pro_image_order(text, ["x"]),
    "benchmarks.medical.medevalkit: choice": lambda text: medevalkit.judge_choice(_SHOWN, "A", text),
    "benchmarks.medical.medevalkit: yes or no": lambda text: medevalkit.judge_yes_no("yes", text),
    "benchmarks.medical.medevalkit: vqa": lambda text: medevalkit.grade_vqa(
        "vqa_rad", "left lung", text, code="upstream"
    ),
    "benchmarks.medical.scores": medical_scores.read_verdict,
    "benchmarks.medical.sets: prefix": lambda text: medical_sets._PREFIX.sub("", text, count=1),
    "benchmarks.medical.sets: question": lambda text: medical_sets._LISTED_OPTIONS.sub("", text),
    "benchmarks.voila.rules: step 1": rules.read_step1,
    "benchmarks.voila.rules: step 2": rules.read_step2,
    "benchmarks.voila.rules: step 3": rules.read_step3,
    "benchmarks.voila.judge": lambda text: voila_judge.read_verdict(1, 1, text),
    "benchmarks.voila.judge: judge_scores": voila_judge.question_number,
    "benchmarks.mmsi: data": mmsi.category_of,
    "benchmarks.mmsi: official": lambda text: mmsi.letter(text, "official"),
    "benchmarks.mmsi: lenient": lambda text: mmsi.letter(text, "lenient"),
    "answers.judge: judging": answer_judge.first_json_object,
    "models.code_drawing: svg_in_text": code_drawing.svg_in,
    "models.code_drawing: in a tag": lambda text: code_drawing.svg_in(f"<svg {text}></svg>"),
    "media.svg: checking": svg.check,
    "media.svg: showing": _shown,
    "media.svg: style": lambda text: svg.check(f"<svg><style>{text}</style></svg>"),
    "media.svg: size": lambda text: svg._check_canvas({"width": text, "viewBox": text}),
    "benchmarks.uni_mmmu.geometry": geometry._final,
    "benchmarks.uni_mmmu.geometry: geometry_data": geometry._safe,
    "benchmarks.uni_mmmu.geometry: quantities": geometry.quantity,
    "benchmarks.uni_mmmu.science": lambda text: science.form(Sample("1"), episode(text), Grading()),
    "benchmarks.uni_mmmu.code": lambda text: (code._summary(text), code._strict_marks(text)),
    "benchmarks.uni_mmmu: verdicts": uni_mmmu.object_from_the_first_brace,
    "benchmarks.uni_mmmu.puzzles: moves": lambda text: puzzles.moves_of(text, "row"),
    "benchmarks.uni_mmmu.puzzles: label": lambda text: puzzles.label_of(text, "row"),
    "files.archives: literal": archives.literal,
    "files.archives: json": lambda text: archives.json_value(text, "file"),
    "lmms_eval.functions": _columns,
    "lmms_eval.stand_ins: exact": lambda text: stand_ins.exact_match_hf_evaluate(
        [text], ["x"], ignore_punctuation=True
    ),
    "lmms_eval.stand_ins: anls": lambda text: stand_ins.anls(["x"], [text]),
    "lmms_eval.scores": lambda text: lmms_scores._cut({"generation_kwargs": {"until": ["\n\n"]}}, text),
    "lmms_eval.filters": lambda text: [
        list(filters.MultiChoiceRegexFilter(r"(\([A-Z]\))", ignore_case=True).apply([[text]], [_CHOICES])),
        list(filters.SimpleMultiChoiceRegexFilter().apply([[text]], [_CHOICES])),
    ],
    "lmms_eval.filters: reasoning": lambda text: filters.strip_reasoning_tags(text, filters.BEFORE_SCORING),
    "worlds.moves: answers, choice": moves.strict_choice,
    "worlds.moves: answers, moves": moves.strict_moves,
    "worlds.play": lambda text: (world_play.wanted(of(text)), world_play._MOVE.search(text)),
    "worlds.steps": lambda text: (steps._PLAN.search(text), steps._BETWEEN_WORDS.sub(" ", text)),
    **{f"worlds.{name}": world.parse for name, world in step_worlds().items()},
    "worlds.maze.board": maze_board.from_text,
    "worlds.jigsaw": jigsaw.better_in_text,
    "worlds.jigsaw: candidate": lambda text: jigsaw._asked_candidate(of(text)),
    "worlds.voila.scenes: statement": scenes.read_statement,
    "worlds.voila.scenes: words": lambda text: scenes._value("action", text),
    "worlds.voila.sets": voila_sets._FILE_TAIL.search,
    "runs.checks: estimate": lambda text: run_checks._in_tags("x", [text]),
    "runs.checks": lambda text: run_checks._holds(text, text[: len(text) // 2]),
    "folder": folder._CELL.fullmatch,
    "episode.protocol: prompts": _template,
    "files.yaml: code": lambda text: checked({"scorers": [text]}, TaskFile, "file"),
    "files.yaml: key": lambda text: checked({text: 1}, TaskFile, "file"),
    "files.yaml: yaml_text": _yaml,
    "episode.protocol: combined_prompt": protocol.split,
    "models.providers.openai_wire": lambda text: _chat(text),
    "models.failures": lambda text: (failures.retry_after({"retry-after": text}), failures._retry_info(text)),
    "models.providers.batch_files": lambda text: list(batch_files.rows(text.encode(errors="surrogatepass"))),
    "models.players": lambda text: players.guess(of(text), random.Random(1), installed_worlds()),
    "episode.protocol: protocols": says_done,
    "answers.judge: alignment": lambda text: answer_judge.read_score(text, "RA_score"),
    "benchmarks.unig2u.scores: choices": lambda text: unig2u_scores._named(text, _OPTIONS),
    "benchmarks.unig2u.scores: route": unig2u_scores._route,
    "benchmarks.unig2u.scores: times": unig2u_scores._times,
    "benchmarks.unig2u: puzzles": lambda text: unig2u.visual_puzzles(text, _OPTIONS),
    "benchmarks.unig2u: realunify": unig2u.realunify,
    "benchmarks.unig2u: relaxed": lambda text: unig2u.relaxed(text, "5"),
    "benchmarks.unig2u: route": unig2u.route,
    "benchmarks.unig2u: times": unig2u.times,
    "benchmarks.unig2u: jigsaw": unig2u.jigsaw,
    "benchmarks.unig2u: extracted": lambda text: unig2u.extracted(text, "ABCD"),
    "answers.judge: same_meaning": answer_judge.verdict,
    "benchmarks.questions: cells": lambda text: questions.listed(text, "options"),
    "benchmarks.questions: columns": lambda text: questions.Columns.of({text: 1}),
    "benchmarks.questions: files": lambda text: questions.task_name(Path(text)),
    "benchmarks.questions.samples: pictures": lambda text: question_samples._path(text),
    "benchmarks.questions.samples: truths": lambda text: question_samples.truth_of(
        {"answer": text, "options": text}, text
    ),
    "serve.bodies": lambda text: bodies.json_object(text),
    "serve.chat": lambda text: list(chat._events(Solver(), Reply(text), _CHAT)),
    "serve.pictures": served_pictures._plain,
}

_FILE = "JSON of a whole file, no pattern; its own tests break it"
_OURS = "reads what Sketchmark wrote, or one kind of character at a time"
_READER = "used by answers.choices, answers.numbers and answers.phrases, which are in the table"
_USERS = "reads what the user typed"

WITHOUT: Mapping[str, str] = {
    "errors": "reads what this package says of itself",
    "models.http": "JSON of a whole reply, no pattern; tests/models breaks it",
    "models.providers.openai_chat": "a day, compared whole",
    "models.arguments": _USERS,
    "models": _USERS,
    "settings": _USERS,
    "benchmarks.unig2u.data": "a picture's name, one kind of character at a time",
    "benchmarks.voila": "a file's name, one kind of character at a time",
    "catalog": _USERS,
    "commands.worlds": _USERS,
    "commands.play": _USERS,
    "doctor": "the end of a message of bounded length",
    "human.server": "JSON of a body of bounded length",
    "human.study": "a name, compared whole",
    "export.inspect_log": _OURS,
    "export.lmms_eval": _OURS,
    "files.hub": "a name of bounded length",
    "files": _OURS,
    "files.tables": _FILE,
    "models.providers.diffusers": _FILE,
    "models.providers.gemini": _USERS,
    "models.providers.openai": _USERS,
    "models.providers.weights": _USERS,
    "markup": _OURS,
    "results.score_file": _FILE,
    "answers.candidates": _READER,
    "answers.decision": _READER,
    "answers.roles": _READER,
    "answers.extractor": "JSON of a reply of bounded length; strict reads the quote",
    "cli": _USERS,
    "commands.check": _OURS,
    "commands.options": _USERS,
    "comparison.formats": _OURS,
    "episode.model": "a count of bounded length",
    "view": _USERS,
    "serve.faults": _USERS,
    "benchmarks.voila.results_file": _FILE,
    "view.query": _USERS,
    "worlds.voila.table": _FILE,
}
