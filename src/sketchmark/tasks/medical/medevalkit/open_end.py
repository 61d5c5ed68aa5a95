"""MedEvalKit's open-answer metrics (docs/benchmarks/medical.md, "Open-answer metrics")."""

from __future__ import annotations

from sketchmark.errors import BadInput
from sketchmark.scoring.bleu import bleu
from sketchmark.scoring.text_metrics import Rouge, rouge, token_overlap
from sketchmark.tasks.medical.medevalkit import Code
from sketchmark.tasks.medical.medevalkit.extract import parse_response

METRICS = (
    "em",
    "bleu1",
    "bleu2",
    "bleu3",
    "bleu4",
    "rouge1",
    "rouge2",
    "rougel",
    "precision",
    "recall",
    "f1",
)

_FORK_ROUGE_WORDS = 500


class UpstreamStops(BadInput):
    """The published code raises here and ends its whole run; there is no number to reproduce for this item."""


def open_metrics(gold: str, response: str, *, code: Code = "upstream") -> dict[str, float]:
    """The metrics of one open answer, by the names the original gives them.

    The names of the last three are rotated: `precision` holds F1, `recall` precision, `f1` recall
    (docs/benchmarks/medical.md, "Rotated names").
    """
    wanted, reply = gold.lower(), parse_response(response)
    rouges = _rouge(wanted, reply, code)
    overlap = token_overlap(wanted.split(), reply.split())
    return dict(
        zip(
            METRICS,
            (
                float(reply == wanted),
                *bleu(_bleu_tokens(wanted), _bleu_tokens(reply)),
                rouges.rouge1,
                rouges.rouge2,
                rouges.rougel,
                overlap.f1,
                overlap.precision,
                overlap.recall,
            ),
            strict=True,
        )
    )


def _bleu_tokens(text: str) -> list[str]:
    """Split at single spaces, so empty tokens are kept and count."""
    return text.lower().replace(".", " .").split(" ")


def _rouge(wanted: str, reply: str, code: Code) -> Rouge:
    """The fork gives 0 for white space, which stops the main branch (in its ROUGE, or, where SLAKE leaves the spaces
    on, in its overlap), and reads 500 words at most. Full stops alone stop both
    (docs/benchmarks/medical.md, "Answers without words")."""
    blank = not (wanted.strip() and reply.strip())
    if blank and code == "upstream":
        raise UpstreamStops("MedEvalKit stops at this item: an answer without words")
    if blank:
        return Rouge()
    if code == "fork":
        wanted, reply = _first_words(wanted), _first_words(reply)
    try:
        return rouge(wanted, reply)
    except ValueError as error:
        raise UpstreamStops(f"MedEvalKit stops at this item: {error}") from error


def _first_words(text: str) -> str:
    words = text.split()
    return " ".join(words[:_FORK_ROUGE_WORDS]) if len(words) > _FORK_ROUGE_WORDS else text
