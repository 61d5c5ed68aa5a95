"""Scores of radiology reports: BLEU, ROUGE, METEOR, CIDEr (docs/benchmarks/medical.md, "Report scoring").

The metrics that need a model of their own are in `radiology_models`.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sketchmark.scoring.bleu import bleu
from sketchmark.scoring.graded import Scoring
from sketchmark.scoring.meteor import meteor, wordnet
from sketchmark.scoring.text_metrics import cider, rouge

METEOR_WITHOUT_WORDNET = "meteor_no_synonyms"
TEXT_METRICS = ("bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL")


def reference_report(findings: str, impression: str) -> str:
    """The reference text. The sections are taken as they are, so a final `..` is common."""
    return f"Findings: {findings} Impression: {impression}."


def meteor_name() -> str:
    """`meteor` where nltk and its WordNet are on disk, otherwise a name that says which stage is missing."""
    return METEOR_WITHOUT_WORDNET if wordnet() is None else "meteor"


def report_scores(reference: str, prediction: Any) -> dict[str, float]:
    """All per-report scores of one prediction; zeros for one without words.

    Tokens are MedEvalKit's: lower case, full stops set apart, split at spaces, newlines kept inside tokens.
    """
    if not has_words(prediction):
        return dict.fromkeys((*TEXT_METRICS, meteor_name()), 0.0)
    wanted, given = _tokens(reference), _tokens(prediction)
    overlap = rouge(reference.lower(), prediction.lower())
    values = (*bleu(wanted, given), overlap.rouge1, overlap.rouge2, overlap.rougel)
    name = meteor_name()
    return {
        **dict(zip(TEXT_METRICS, values, strict=True)),
        name: meteor(wanted, given, synonyms=name == "meteor"),
    }


def report_totals(
    references: Sequence[str], predictions: Sequence[Any], scoring: Scoring = "strict"
) -> dict[str, float]:
    """The means over a set of reports, CIDEr included.

    `strict` and `paper`: one policy, an empty prediction scores 0 in every metric. `code-upstream` counts it as 0 in
    BLEU, ROUGE and METEOR but leaves it out of CIDEr; `code-fork` leaves it out everywhere
    (docs/benchmarks/medical.md, "Empty reports").
    """
    pairs = list(zip(references, predictions, strict=True))
    spoken = [(reference, prediction) for reference, prediction in pairs if has_words(prediction)]
    counted = spoken if scoring == "code-fork" else pairs
    rows = [report_scores(reference, prediction) for reference, prediction in counted]
    totals = {name: _mean([row[name] for row in rows]) for name in (*TEXT_METRICS, meteor_name())}
    if scoring.startswith("code-"):
        totals["cider"] = _mean(cider([r for r, _ in spoken], [p for _, p in spoken]))
    else:
        totals["cider"] = _mean(cider(references, [p if has_words(p) else "" for p in predictions]))
    if scoring == "code-fork":
        totals["num_samples"] = len(spoken)
    return totals


def write_report_files(folder: Path, references: Sequence[str], predictions: Sequence[Any]) -> tuple[Path, Path]:
    """`predictions.csv` and `ground_truth.csv`, as rajpurkarlab/CXR-Report-Metric and its like take them.

    csv quotes what has to be quoted; the reports themselves are not changed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, reports in (("predictions.csv", predictions), ("ground_truth.csv", references)):
        path = folder / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["study_id", "report"])
            for number, report in enumerate(reports, start=1):
                writer.writerow([f"study_{number}", report if isinstance(report, str) else ""])
        written.append(path)
    return written[0], written[1]


def has_words(prediction: Any) -> bool:
    return isinstance(prediction, str) and bool(prediction.strip(" .\n\t\r"))


def _tokens(text: str) -> list[str]:
    return [token for token in text.lower().replace(".", " .").split(" ") if token]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
