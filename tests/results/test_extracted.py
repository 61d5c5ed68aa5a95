"""The scoring `extracted`: a text model quotes the answer of replies that strict leaves unparsed, and is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import sketchmark
from sketchmark import Context, Model, Options, Reply, Usage
from sketchmark.cli import root
from sketchmark.episode import Grading
from sketchmark.errors import BadInput, CallFailed
from sketchmark.folder import RunFolder
from sketchmark.folder.format import ScoreRow
from sketchmark.results import CHECK
from sketchmark.results.aggregate import aggregate
from sketchmark.results.rescore import fill_scores
from sketchmark.runs import prepare
from sketchmark.runs.checks import estimate
from tests.episodes import flat
from tests.results.test_aggregating import strictly
from tests.runs.making import Speaker, make_cell, make_samples, make_task, run

SHAPES = ["circle", "square", "star"]
ODD = "Zounds, what a riddle. Verily: the gods favour B over all"
"""A reply without any claim that strict could parse, for a person B."""


DENIED = "the reply denies it or gives another answer"


class Says(Model):
    """Answers each question, by a word in it, with a given reply."""

    def __init__(self, replies: Mapping[str, str]) -> None:
        super().__init__("says")
        self._replies = replies

    async def say(self, context: Context, options: Options) -> Reply:
        text = "\n".join(context.texts)
        return Reply(next(reply for word, reply in self._replies.items() if word in text))


class Quotes(Model):
    """An extractor that quotes by script: the first word of `quotes` that is in the reply it was shown."""

    def __init__(self, quotes: Mapping[str, str | Exception | None], name: str = "quotes") -> None:
        super().__init__(name)
        self._quotes = quotes
        self.shown: list[Context] = []

    async def say(self, context: Context, options: Options) -> Reply:
        self.shown.append(context)
        reply = re.split(r"^=+\w+=+ reply\n", context.texts[-1], flags=re.MULTILINE)[-1]
        quote = next((quote for word, quote in self._quotes.items() if word in reply), None)
        if isinstance(quote, Exception):
            raise quote
        return Reply(json.dumps({"quote": quote}), usage=Usage(tokens_in=3, tokens_out=1))


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    (tmp_path / "one.png").write_bytes(flat(1).data)
    rows = [
        {
            "id": name,
            "question": f"Which shape, {name}?",
            "pictures": "one.png",
            "options": SHAPES,
            "answer": "square",
        }
        for name in ("alpha", "beta", "gamma")
    ]
    path = tmp_path / "shapes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _run(questions: Path, replies: Mapping[str, str], extractor: Model, **more: Any) -> RunFolder:
    settings = {"scoring": "extracted,strict", "output_path": questions.parent / "run", **more}
    return sketchmark.run(Says(replies), str(questions), extractor=extractor, **settings).folder


def _rows(folder: RunFolder, scoring: str = "") -> dict[str, ScoreRow]:
    return {row.sample: row for row in folder.scores("shapes.direct", scoring)}


def _one(questions: Path, reply: str, quote: str | None, **more: Any) -> ScoreRow:
    folder = _run(questions, {"alpha": reply, "beta": "B", "gamma": "B"}, Quotes({reply[-20:]: quote}), **more)
    assert _rows(folder, "strict")["alpha"].flags == ["unparsed"], "strict must leave it to the extractor"
    return _rows(folder)["alpha"]


def test_a_quote_that_passes_the_checks_gives_the_score_and_is_counted(questions: Path) -> None:
    extractor = Quotes({"gods": "B", "A": "A", "B": "B"})
    folder = _run(questions, {"alpha": ODD, "beta": "The answer is A.", "gamma": "B"}, extractor)
    row = _rows(folder)["alpha"]
    assert (row.values, row.flags, row.extractor) == ({"right": 1.0}, ["extracted"], "quotes")
    assert row.notes["extractor"] == {"quote": "B", "usage": {"tokens_in": 3, "tokens_out": 1, "calls": 1}}
    cell = folder.results().tasks["shapes.direct"]
    assert cell.scorings["strict"].failures == {"unparsed": 1} and cell.failures == {}
    assert (cell.metrics["right"].mean, cell.scorings["strict"].metrics["right"].mean) == (2 / 3, 1 / 3)
    found = cell.extraction
    assert found is not None and cell.scorings["strict"].extraction is None
    assert (found.model, found.asked, found.rests, found.without, found.rejected) == ("quotes", 1, 1, 0, 0)
    assert (found.checked, found.compared, found.agreed, found.failed) == (2, 2, 2, 0)
    assert found.usage == {"calls": 3, "tokens_in": 9, "tokens_out": 3}


def test_disagreement_with_strict_is_counted_and_changes_no_score(questions: Path) -> None:
    replies = {"alpha": "The answer is A, not B.", "beta": "The answer is A.", "gamma": "B"}
    folder = _run(questions, replies, Quotes({"not B": "B", "is A": "A", "B": "B"}))
    assert [row.values["right"] for row in _rows(folder).values()] == [0.0, 0.0, 1.0]
    found = folder.results().tasks["shapes.direct"].extraction
    assert found is not None and (found.checked, found.compared, found.agreed) == (3, 3, 2)
    quiet = _run(questions, replies, Quotes({"not B": None, "A": "Q", "B": "B"}, "other"))
    found = quiet.results().tasks["shapes.direct"].extraction
    assert found is not None and (found.checked, found.compared, found.agreed) == (3, 1, 1)
    assert "rejected" in _rows(quiet)["beta"].notes[CHECK]


@pytest.mark.parametrize(
    ("reply", "quote", "why"),
    [
        (ODD, None, None),
        (ODD, "C", "not in the reply word for word"),
        (ODD, "the gods favour", "not one answer"),
        (f"{ODD}. Still, the answer is not B.", "B", DENIED),
        ("Either A or B.", "A", DENIED),
        ("A or B.", "B", DENIED),
        ("If it were mirrored, the answer would be B.", "B", DENIED),
        ("<think>B is right.</think>Who knows what C means here?", "B", "not in the reply word for word"),
    ],
)
def test_other_quotes_leave_the_reply_unparsed(
    questions: Path, reply: str, quote: str | None, why: str | None
) -> None:
    row = _one(questions, reply, quote)
    assert (row.values, row.flags) == ({"right": 0.0}, ["unparsed"])
    assert row.notes["extractor"].get("rejected") == why and row.notes["extractor"]["quote"] == quote


def test_the_extractor_sees_the_question_and_the_reply_between_marks_and_no_image(questions: Path) -> None:
    extractor = Quotes({"gods": "B"})
    _run(questions, {"alpha": f"<think>secret</think>{ODD}", "beta": "B", "gamma": "B"}, extractor)
    context = next(context for context in extractor.shown if "gods" in context.texts[-1])
    assert not context.pictures and len(context.texts) == 1
    [text] = context.texts
    assert ODD in text and "Which shape, alpha?" in text and "star" in text and "secret" not in text
    mark = re.search(r"^(=+\w+=+) reply$", text, re.MULTILINE)
    assert mark and text.endswith(mark[1]) and text.count(mark[1]) == 4, "named in the text above, then three times"
    assert mark[1] not in ODD
    other = next(context.texts[-1] for context in extractor.shown if "gods" not in context.texts[-1])
    assert mark[1] not in other, "every pair of question and reply has another mark"


def test_an_empty_reply_is_not_asked_about(questions: Path) -> None:
    extractor = Quotes({})
    folder = _run(questions, {"alpha": "<think>B", "beta": "B", "gamma": "B"}, extractor)
    assert len(extractor.shown) == 2 and _rows(folder)["alpha"].flags == ["unparsed"]


def test_a_failed_call_is_counted_not_scored_and_asked_again(questions: Path) -> None:
    replies = {"alpha": ODD, "beta": "B", "gamma": "B"}
    folder = _run(questions, replies, Quotes({"gods": CallFailed("timeout", "too slow"), "B": "B"}))
    row = _rows(folder)["alpha"]
    assert (row.scored, row.values) == (False, {}) and row.flags == ["extractor_failed", "unparsed"]
    cell = folder.results().tasks["shapes.direct"]
    assert cell.n == 2 and cell.extraction is not None and cell.extraction.failed == 1
    assert "too slow" in cell.reasons["extractor_failed"]
    again = Quotes({"gods": "B", "B": "B"})
    cell = _run(questions, replies, again).results().tasks["shapes.direct"]
    assert cell.failures == {} and cell.metrics["right"].n == 3
    assert [("gods" in context.texts[-1]) for context in again.shown] == [True], "only the missing one"


def test_a_refused_key_of_the_extractor_ends_the_run(questions: Path) -> None:
    refused = CallFailed("auth", "the key is refused", stops_run=True)
    with pytest.raises(sketchmark.SketchmarkError, match="extractor: the key is refused"):
        _run(questions, {"alpha": ODD, "beta": "B", "gamma": "B"}, Quotes({"gods": refused}))


def test_another_extractor_scores_again(questions: Path) -> None:
    replies = {"alpha": ODD, "beta": "B", "gamma": "B"}
    _run(questions, replies, Quotes({"gods": "B"}, "one"))
    folder = _run(questions, replies, Quotes({"gods": None}, "two"))
    rows = _rows(folder)
    assert rows["alpha"].flags == ["unparsed"] and {row.extractor for row in rows.values()} == {"two"}


def test_no_more_than_fifty_replies_of_a_cell_are_checked_and_always_the_same(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    rows = [{"id": f"q{n}", "question": f"Number {n}?", "answer": n} for n in range(70)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def asked(folder: str) -> list[str]:
        extractor = Quotes({"": "7"})
        sketchmark.run(
            Says({"": "7"}), str(path), extractor=extractor, scoring="extracted", output_path=tmp_path / folder
        )
        return sorted(context.texts[-1] for context in extractor.shown)

    first = asked("one")
    assert len(first) == 50 and asked("two") == first
    assert any("Number 69?" in text or "Number 68?" in text or "Number 67?" in text for text in first), (
        "not the first"
    )


def test_scoring_and_extractor_need_each_other(questions: Path) -> None:
    with pytest.raises(BadInput, match="add --extractor"):
        prepare("player/random", str(questions), scoring="extracted")
    found = prepare("player/random", str(questions), extractor="player/quoter")
    assert found.resources.extractor is None
    assert "the extractor is not asked: add --scoring extracted" in found.warnings
    path = questions.parent / "run"
    sketchmark.run("player/random", str(questions), output_path=path)
    done = CliRunner().invoke(root, ["score", str(path), "--extractor", "player/quoter"], standalone_mode=False)
    assert "add --scoring extracted" in str(done.exception)


def test_the_extractors_calls_are_charged_and_limited(questions: Path) -> None:
    prices = {"says": {"input": 0}, "quotes": {"input": 1_000_000, "output": 1_000_000}}
    replies = {"alpha": ODD, "beta": f"{ODD} ", "gamma": f"{ODD}  "}
    settings: dict[str, Any] = {"scoring": "extracted", "prices": prices, "concurrency": 1}
    settings["output_path"] = questions.parent / "run"
    run = prepare(Says(replies), str(questions), extractor=Quotes({"gods": "B"}), max_cost=8, **settings)
    cell = run.play().results().tasks["shapes.direct"]
    assert (run.budget.spent, run.budget.extractor_spent) == (8.0, 8.0) and run.is_stopped_by_cost()
    assert cell.n < 3
    more = prepare(Says(replies), str(questions), extractor=Quotes({"gods": "B"}), max_cost=100, **settings)
    assert more.play().results().tasks["shapes.direct"].metrics["right"].n == 3
    found = estimate(more.cells, extracts=True)["shapes.direct"]
    assert found.extractor["calls"] == 3 and found.judge == {}


def test_the_cost_limit_leaves_quotes_for_the_next_invocation(questions: Path) -> None:
    replies = {"alpha": ODD, "beta": f"{ODD} ", "gamma": f"{ODD}  "}
    settings: dict[str, Any] = {"output_path": questions.parent / "run", "concurrency": 1}
    sketchmark.run(Says(replies), str(questions), **settings)
    prices = {"says": {"input": 0}, "quotes": {"input": 1_000_000, "output": 1_000_000}}
    settings |= {"scoring": "extracted", "prices": prices, "max_cost": 8, "extractor": Quotes({"gods": "B"})}
    run = prepare(Says(replies), str(questions), **settings)
    cell = run.play().results().tasks["shapes.direct"]
    assert cell.failures == {"extractor_failed": 1, "unparsed": 1} and run.is_stopped_by_cost()
    rest = prepare(Says(replies), str(questions), **settings)
    assert rest.play().results().tasks["shapes.direct"].failures == {} and not rest.is_stopped_by_cost()


async def test_a_task_scores_sums_up_and_guesses_by_the_rules_of_strict(tmp_path: Path) -> None:
    own = "tests.results.test_aggregating:counted"
    task = make_task(make_samples(2), scorer=strictly, aggregate=own, guesses=["A", "B"])
    folder = await run(tmp_path, [make_cell(task)], Speaker())
    await fill_scores(folder, {"shades.direct": task}, Grading("extracted", extractor=Quotes({})))
    aggregate(folder, {"shades.direct": task}, 0, ["extracted"])
    cell = folder.results().tasks["shades.direct"]
    assert (cell.scoring, cell.aggregate["scoring"]) == ("extracted", "strict")
    assert (cell.metrics["right"].mean, cell.baselines["right"].constant) == (1.0, 1.0)


def test_a_run_folder_is_scored_by_the_command_and_the_scripted_extractor(questions: Path) -> None:
    path = questions.parent / "run"
    sketchmark.run(Says({"alpha": ODD, "beta": "The answer is A.", "gamma": "B"}), str(questions), output_path=path)
    command = ["score", str(path), "--scoring", "extracted,strict", "--extractor", "player/quoter"]
    done = CliRunner().invoke(root, command, standalone_mode=False, env={"COLUMNS": "200"})
    assert (done.exception, done.return_value) == (None, 0)
    told = " ".join(done.output.split())
    assert "1 of 3 scores rest on quotes of player/quoter" in told
    assert "agrees with strict on 2 of 2 replies that both parse" in told
    cell = RunFolder.open(path).results().tasks["shapes.direct"]
    assert cell.scoring == "extracted" and cell.extraction is not None and cell.extraction.rests == 1


def test_a_file_of_replies_is_scored_by_an_extractor(questions: Path) -> None:
    replies = questions.parent / "replies.jsonl"
    said = {"alpha": ODD, "beta": "The answer is A.", "gamma": "B"}
    replies.write_text("".join(json.dumps({"id": name, "response": text}) + "\n" for name, text in said.items()))
    command = ["score-file", "-t", str(questions), "-p", str(replies), "--scoring", "extracted", "--json"]
    done = CliRunner().invoke(root, [*command, "--extractor", "player/quoter"], standalone_mode=False)
    assert (done.exception, done.return_value) == (None, 0)
    [cell] = json.loads(done.output)["tasks"].values()
    assert (cell["extraction"]["rests"], cell["extraction"]["agreed"]) == (1, 2)
