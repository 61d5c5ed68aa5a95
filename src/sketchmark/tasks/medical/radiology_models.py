"""Report metrics that run a model of their own: thin adapters to the real packages, behind the `reports` extra.

Each takes references and predictions of equal length and returns named means. The packages bring torch and download
their weights on first use, so they are imported only when asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from sketchmark.errors import MissingExtra, UnknownName

Adapter = Callable[[list[str], list[str]], dict[str, float]]
EXTRA = "reports"


def rate_score(references: list[str], predictions: list[str]) -> dict[str, float]:
    """RaTEScore (https://arxiv.org/abs/2406.16845)."""
    scorer = _package("RaTEScore", "RaTEScore").RaTEScore(use_gpu=_has_gpu())
    return {"rate": _mean(scorer.compute_score(predictions, references))}


def green(references: list[str], predictions: list[str]) -> dict[str, float]:
    """GREEN (https://arxiv.org/abs/2405.03595), a 7B model: needs a GPU in practice."""
    scorer = _package("green_score", "GREEN").GREEN("StanfordAIMI/GREEN-radllama2-7b", output_dir=".")
    mean, spread, _, _, _ = scorer(references, predictions)
    return {"green_mean": float(mean), "green_std": float(spread)}


def radgraph_f1(references: list[str], predictions: list[str]) -> dict[str, float]:
    """RadGraph F1 (https://arxiv.org/abs/2106.14463): simple, partial and complete, as the package names them."""
    scorer = _package("radgraph", "RadGraph-F1").F1RadGraph(reward_level="all")
    (simple, partial, complete), *_ = scorer(hyps=predictions, refs=references)
    return {
        "radgraph_simple": float(simple),
        "radgraph_partial": float(partial),
        "radgraph_complete": float(complete),
    }


def chexbert_f1(references: list[str], predictions: list[str]) -> dict[str, float]:
    """CheXbert F1 (https://arxiv.org/abs/2004.09167) over 14 and over the 5 usual observations."""
    _, _, all_classes, five_classes = _package("f1chexbert", "CheXbert-F1").F1CheXbert()(
        hyps=predictions, refs=references
    )
    return {
        f"chexbert_{name}_{average}": float(report[f"{average} avg"]["f1-score"])
        for name, report in (("14", all_classes), ("5", five_classes))
        for average in ("micro", "macro")
    }


def bert_score(references: list[str], predictions: list[str]) -> dict[str, float]:
    """BERTScore (https://arxiv.org/abs/1904.09675), English, rescaled with the package's baseline."""
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
    """The metric `name` over a set; a prediction that is not text counts as an empty one."""
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


def _mean(values: Sequence[float]) -> float:
    """An error where a metric gave nothing: no result is not a result of 0."""
    return float(sum(values) / len(values))
