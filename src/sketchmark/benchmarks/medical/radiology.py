"""Radiology reports: datasets, metrics, and files for external metric suites.

IU X-Ray, MIMIC-CXR and CheXpert Plus (docs/benchmarks/medical.md, "Report sets") are read from `test.json`, a list of
`{"image": [names] or name, "findings": …, "impression": …}`, next to a folder `images/`. BLEU, ROUGE, METEOR and
CIDEr follow docs/benchmarks/medical.md, "Report scoring". Metrics that need a model are adapters to their packages,
behind the `reports` extra. Each takes references and predictions and returns named means. The packages need torch and
download weights on first use, so they are imported only when needed.
"""

from __future__ import annotations

import csv
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sketchmark.answers.text_metrics import bleu, cider, meteor, rouge, wordnet
from sketchmark.benchmarks import Scoring, build_all
from sketchmark.benchmarks.medical import Protocol, Style, report_prompt
from sketchmark.benchmarks.medical.medevalkit import fork_key
from sketchmark.episode import Episode
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, MissingExtra, UnknownName
from sketchmark.files.archives import json_list, open_files

METEOR_WITHOUT_WORDNET = "meteor_no_synonyms"
TEXT_METRICS = ("bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL")


def reference_report(findings: str, impression: str) -> str:
    """Build the reference text. The sections are unchanged, so a final `..` is common."""
    return f"Findings: {findings} Impression: {impression}."


def meteor_name() -> str:
    """Return `meteor` if nltk and its WordNet are on disk, else a name for the missing stage."""
    return METEOR_WITHOUT_WORDNET if wordnet() is None else "meteor"


def report_scores(reference: str, prediction: Any) -> dict[str, float]:
    """Compute the scores of one report; zeros for one without words.

    Tokens are MedEvalKit's: lower case, full stops separate, split at spaces, newlines kept inside tokens.
    """
    if not has_words(prediction):
        return dict.fromkeys((*TEXT_METRICS, meteor_name()), 0.0)
    wanted, given = _tokens(reference), _tokens(prediction)
    overlap = rouge(reference.lower(), prediction.lower())
    values = (*bleu(wanted, given), overlap.rouge1, overlap.rouge2, overlap.rougel)
    name = meteor_name()
    return dict(zip(TEXT_METRICS, values, strict=True)) | {name: meteor(wanted, given, synonyms=name == "meteor")}


def report_totals(
    references: Sequence[str], predictions: Sequence[Any], scoring: Scoring = "strict"
) -> dict[str, float]:
    """Compute the means over all reports, and CIDEr.

    In `strict` and `paper` an empty report scores 0 in every metric. `code-upstream` counts it as 0 in BLEU, ROUGE
    and METEOR but leaves it out of CIDEr; `code-fork` leaves it out everywhere
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
    """Write `predictions.csv` and `ground_truth.csv` for rajpurkarlab/CXR-Report-Metric and similar suites."""
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


def write(episodes: Iterable[Episode], folder: Path) -> list[Path]:
    """Write the report files of a run (docs/benchmarks/medical.md, "Report scoring")."""
    pairs = [(episode.sample.target["reference"], episode.answer) for episode in episodes if episode.sample.target]
    return list(write_report_files(folder, [reference for reference, _ in pairs], [reply for _, reply in pairs]))


Adapter = Callable[[list[str], list[str]], dict[str, float]]
EXTRA = "reports"


def rate_score(references: list[str], predictions: list[str]) -> dict[str, float]:
    """Compute RaTEScore (https://arxiv.org/abs/2406.16845)."""
    scorer = _package("RaTEScore", "RaTEScore").RaTEScore(use_gpu=_has_gpu())
    return {"rate": _mean_of_results(scorer.compute_score(predictions, references))}


def green(references: list[str], predictions: list[str]) -> dict[str, float]:
    """Compute GREEN (https://arxiv.org/abs/2405.03595) with a 7B model, which needs a GPU in practice."""
    scorer = _package("green_score", "GREEN").GREEN("StanfordAIMI/GREEN-radllama2-7b", output_dir=".")
    mean, spread, _, _, _ = scorer(references, predictions)
    return {"green_mean": float(mean), "green_std": float(spread)}


def radgraph_f1(references: list[str], predictions: list[str]) -> dict[str, float]:
    """Compute RadGraph F1 (https://arxiv.org/abs/2106.14463): simple, partial and complete."""
    scorer = _package("radgraph", "RadGraph-F1").F1RadGraph(reward_level="all")
    (simple, partial, complete), *_ = scorer(hyps=predictions, refs=references)
    levels = {"simple": simple, "partial": partial, "complete": complete}
    return {f"radgraph_{level}": float(value) for level, value in levels.items()}


def chexbert_f1(references: list[str], predictions: list[str]) -> dict[str, float]:
    """Compute CheXbert F1 (https://arxiv.org/abs/2004.09167) over 14 and over the 5 usual observations."""
    _, _, all_classes, five_classes = _package("f1chexbert", "CheXbert-F1").F1CheXbert()(
        hyps=predictions, refs=references
    )
    return {
        f"chexbert_{name}_{average}": float(report[f"{average} avg"]["f1-score"])
        for name, report in (("14", all_classes), ("5", five_classes))
        for average in ("micro", "macro")
    }


def bert_score(references: list[str], predictions: list[str]) -> dict[str, float]:
    """Compute BERTScore (https://arxiv.org/abs/1904.09675), English, rescaled with the package's baseline."""
    scorer = _package("bert_score", "BERTScore").BERTScorer(lang="en", rescale_with_baseline=True)
    values = scorer.score(predictions, references)
    return {f"bertscore_{name}": float(value.mean()) for name, value in zip(("p", "r", "f1"), values, strict=True)}


ADAPTERS: dict[str, Adapter] = {
    "rate": rate_score,
    "green": green,
    "radgraph": radgraph_f1,
    "chexbert": chexbert_f1,
    "bertscore": bert_score,
}


def model_scores(name: str, references: Sequence[str], predictions: Sequence[Any]) -> dict[str, float]:
    """Compute the metric `name` over all reports; a prediction that is not text counts as empty."""
    if name not in ADAPTERS:
        raise UnknownName(f"no report metric {name!r}", f"there are: {', '.join(ADAPTERS)}")
    return ADAPTERS[name](list(references), [text if isinstance(text, str) else "" for text in predictions])


def _package(module: str, feature: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(feature, EXTRA) from error


def _has_gpu() -> bool:
    return bool(importlib.import_module("torch").cuda.is_available())


def _mean_of_results(values: Sequence[float]) -> float:
    """Return the mean; raise an error without results, because that is not a result of 0."""
    return float(sum(values) / len(values))


_LAYOUT = (
    "expected: FOLDER/test.json, a list of {{image, findings, impression}}, and FOLDER/images/; "
    "then --data FOLDER. Get it from {}"
)
SOURCES = {
    "iu_xray": _LAYOUT.format("MedEvalKit (datas/IU_XRAY/test.json) and Open-i (NLMCXR_png.tgz)"),
    "mimic_cxr": _LAYOUT.format("PhysioNet (MIMIC-CXR-JPG: credentialed access, CITI training, signed agreement)"),
    "chexpert_plus": _LAYOUT.format("Stanford AIMI (CheXpert Plus: registration and agreement)"),
}
_FOLDERS = {
    "iu_xray": ("IU_XRAY", "iu_xray"),
    "mimic_cxr": ("MIMIC_CXR", "mimic_cxr"),
    "chexpert_plus": ("CheXpert_Plus", "chexpert_plus"),
}


def reports(
    *, seed: int, data: Path | None, name: str, protocol: Protocol = "indexed", reasoning: bool = False
) -> Iterator[Sample]:
    """Yield the reports of one dataset. `reasoning` has no effect: the report prompt has no such variant."""
    if name not in SOURCES:
        raise BadInput(f"no report set {name!r}", f"there are: {', '.join(SOURCES)}")
    style = Style(protocol, reasoning)
    files = open_files(data, _FOLDERS[name], how=SOURCES[name])

    def build(number: int, row: dict[str, Any]) -> Sample | None:
        findings, impression = str(row.get("findings") or ""), str(row.get("impression") or "")
        if not findings.strip() and not impression.strip():
            return None
        names = [row["image"]] if isinstance(row["image"], str) else list(row["image"])
        pictures = [files.picture(f"images/{image}") for image in names]
        if not pictures:
            raise BadInput("no image")
        bare = style.protocol == "upstream" and name == "chexpert_plus"
        return Sample(
            id=str(row.get("id") or f"{name}-{number:06d}"),
            pictures={"image" if bare else "images": pictures},
            fields={
                "prompt": report_prompt(images=len(pictures), protocol=style.protocol, mimic=name == "mimic_cxr"),
                "question": "",
            },
            target={
                "kind": "report",
                "reference": reference_report(findings, impression),
                "key": fork_key("", "", row.get("id", number)),
            },
            groups={"images": str(len(pictures))},
        )

    return build_all(name, json_list(files.table("test.json", SOURCES[name]), "test.json"), build)
