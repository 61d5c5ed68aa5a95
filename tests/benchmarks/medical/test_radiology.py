"""Report scoring (docs/benchmarks/medical.md, "Report scoring"), with examples the original code gave."""

from __future__ import annotations

import csv
import importlib.util
import json
from math import nan
from pathlib import Path

import pytest
from click.testing import CliRunner
from pytest import approx

from sketchmark import Context, Model, Options, Reply
from sketchmark.api import run
from sketchmark.benchmarks.medical.radiology import (
    ADAPTERS,
    TEXT_METRICS,
    meteor_name,
    model_scores,
    reference_report,
    report_scores,
    report_totals,
    write_report_files,
)
from sketchmark.cli import root as cli
from sketchmark.errors import MissingExtra, UnknownName
from tests.benchmarks.medical import fixtures
from tests.tabled import tabled

REFERENCE = reference_report(
    "The heart is normal in size and contour. The lungs are clear, without evidence of infiltrate. "
    "There is no pneumothorax or effusion.",
    "No acute cardiopulmonary disease.",
)
CLOSE = (
    "Findings: The heart is normal in size. The lungs are clear. No pneumothorax or effusion. "
    "Impression: No acute cardiopulmonary disease."
)


def test_the_reference_keeps_its_double_full_stop() -> None:
    assert REFERENCE.startswith("Findings: The heart") and REFERENCE.endswith("disease..")


@tabled
def test_worked_examples_of_the_spec(prediction: str, expected: tuple[float, ...]) -> None:
    scores = report_scores(REFERENCE, prediction)
    assert [scores[name] for name in TEXT_METRICS] == approx(expected, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("prediction", ["", "  \n", "...", None, {"error": "timeout"}])
def test_an_empty_report_scores_zero_in_everything(prediction: object) -> None:
    assert set(report_scores(REFERENCE, prediction).values()) == {0.0}


def test_the_three_policies_on_an_empty_report() -> None:
    references, predictions = [REFERENCE, "Findings: a b. Impression: c."], [REFERENCE, ""]
    strict = report_totals(references, predictions)
    upstream = report_totals(references, predictions, "code-upstream")
    fork = report_totals(references, predictions, "code-fork")
    assert (strict["bleu1"], upstream["bleu1"], fork["bleu1"]) == approx((0.5, 0.5, 1.0))
    assert strict["cider"] == approx(5.0)
    assert upstream["cider"] == fork["cider"] == 0.0, "one report left: every document frequency is 1 of 1"
    assert fork["num_samples"] == 1 and "num_samples" not in upstream


def test_meteor_is_named_for_what_it_is() -> None:
    assert meteor_name() in report_totals([REFERENCE], [CLOSE])
    assert report_scores(REFERENCE, REFERENCE)[meteor_name()] > 0.99


def test_totals_of_no_reports_are_zero() -> None:
    assert report_totals([], [])["bleu1"] == 0.0


def test_the_files_for_the_external_suites_hold_the_reports_unchanged(tmp_path: Path) -> None:
    odd = 'Findings: "clear", yes\nImpression: 無'
    predictions, truth = write_report_files(tmp_path / "out", [REFERENCE, odd], [odd, None])
    with predictions.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["study_id", "report"], ["study_1", odd], ["study_2", ""]]
    with truth.open(newline="", encoding="utf-8") as file:
        assert [row["report"] for row in csv.DictReader(file)] == [REFERENCE, odd]


PACKAGES = {
    "rate": "RaTEScore",
    "green": "green_score",
    "radgraph": "radgraph",
    "chexbert": "f1chexbert",
    "bertscore": "bert_score",
}


@pytest.mark.parametrize("name", [n for n in ADAPTERS if importlib.util.find_spec(PACKAGES[n]) is None])
def test_a_metric_without_its_package_names_the_extra_to_install(name: str) -> None:
    with pytest.raises(MissingExtra, match=r"sketchmark\[reports\]"):
        model_scores(name, ["a"], ["b"])


def test_an_unknown_metric_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="radgraph"):
        model_scores("radcliq", ["a"], ["b"])


def test_the_command_names_the_extra_the_missing_reports_or_the_metric_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Says(Model):
        name = "says"

        async def say(self, context: Context, options: Options) -> Reply:
            return Reply("Findings: Clear. Impression: Normal.")

    reports = run(
        Says(), "iu_xray", data=fixtures.reports(tmp_path / "d", "IU_XRAY"), output_path=tmp_path / "reports"
    ).folder
    asked = ["report-metrics", str(reports.path), "--metric"]
    assert isinstance(CliRunner().invoke(cli, [*asked, "radcliq"]).exception, UnknownName)
    if importlib.util.find_spec("radgraph") is None:
        assert isinstance(CliRunner().invoke(cli, [*asked, "radgraph"]).exception, MissingExtra)
    for name, adapter in {"rate": lambda *_: {"rate": nan}, "green": lambda *_: {"green_mean": 1 / 0}}.items():
        monkeypatch.setitem(ADAPTERS, name, adapter)
    monkeypatch.setitem(ADAPTERS, "bertscore", lambda *_: {"bertscore_f1": 0.5})
    done = CliRunner().invoke(cli, [*asked, "rate", "-m", "green", "-m", "bertscore"], standalone_mode=False)
    assert done.return_value == 1 and json.loads(done.stdout) == {"iu_xray.direct": {"bertscore_f1": 0.5}}
    assert "iu_xray.direct: rate failed: ValueError: rate is nan" in done.stderr
    assert "iu_xray.direct: green failed: ZeroDivisionError: division by zero" in done.stderr
    other = run(Says(), "slake", data=fixtures.slake(tmp_path / "d"), output_path=tmp_path / "other").folder
    refused = CliRunner().invoke(cli, ["report-metrics", str(other.path), "--metric", "rate"])
    assert "holds no reports" in str(refused.exception)
