from __future__ import annotations

import math

import pytest
from pytest import approx

from sketchmark.answers.text_metrics import Overlap, bleu, cider, meteor, rouge, token_overlap, wordnet, words
from sketchmark.benchmarks.medical.medevalkit import METRICS, Code, UpstreamStops, open_metrics

SPEC_TABLE = [
    ("right lobe", "right lobe", 1, 1, 1, 1, 1, 1, 1, 1, 1),
    ("right lobe", "the right lobe", 0, 0.666667, 0.57735, 0.8, 0.666667, 0.8, 0.8, 0.666667, 1.0),
    ("pneumothorax", "right pneumothorax", 0, 0.5, 0, 0.666667, 0, 0.666667, 0.666667, 0.5, 1.0),
    ("Lung cancer", "lung cancer.", 0, 0.666667, 0.57735, 1, 1, 1, 0.5, 0.5, 0.5),
    ("liver, heart", "liver heart", 0, 0.5, 0, 0.5, 0, 0.5, 0.5, 0.5, 0.5),
    ("CT", "computed tomography (ct)", 0, 0, 0, 0, 0, 0, 0, 0, 0),
    ("肺", "肺部", 0, 0, 0, 0, 0, 0, 0, 0, 0),
]
SPEC_KEYS = ("em", "bleu1", "bleu2", "rouge1", "rouge2", "rougel", "precision", "recall", "f1")


@pytest.mark.parametrize("row", SPEC_TABLE, ids=lambda row: row[1])
def test_open_metrics_of_the_spec_with_their_rotated_names(row: tuple[str, str, *tuple[float, ...]]) -> None:
    gold, response, *expected = row
    for code in ("upstream", "fork"):
        metrics = open_metrics(gold, response, code=code)
        assert tuple(metrics) == METRICS
        assert [metrics[key] for key in SPEC_KEYS] == approx(expected, abs=1e-6)


@pytest.mark.parametrize("response", ["", " ", "\n \n"])
def test_an_empty_open_answer_stops_the_main_branch_and_scores_zero_in_the_fork(response: str) -> None:
    with pytest.raises(UpstreamStops, match="stops at this item"):
        open_metrics("x", response)
    assert all(value < 1e-100 for value in open_metrics("x", response, code="fork").values())


@pytest.mark.parametrize("code", ["upstream", "fork"])
def test_full_stops_alone_stop_both_codes(code: Code) -> None:
    with pytest.raises(UpstreamStops, match="Hypothesis is empty"):
        open_metrics("x", "..", code=code)


def test_the_fork_reads_500_words_for_rouge() -> None:
    assert open_metrics("mass", "  ".join(["lung"] * 300) + " mass", code="fork")["rouge1"] > 0, "words, not spaces"
    long = "lung " * 600 + "mass"
    assert open_metrics("mass", long, code="fork")["rouge1"] == 0
    assert open_metrics("mass", long, code="upstream")["rouge1"] > 0


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("the right lobe", "right lobe", Overlap(precision=2 / 3, recall=1, f1=0.8)),
        ("a a b", "a b", Overlap(1, 1, 1)),
        ("", "a", Overlap(0, 0, 0)),
        ("a", "", Overlap(0, 0, 0)),
    ],
)
def test_token_overlap_has_the_right_labels(hypothesis: str, reference: str, expected: Overlap) -> None:
    assert token_overlap(reference.split(), hypothesis.split()) == approx_overlap(expected)


def approx_overlap(overlap: Overlap) -> object:
    return Overlap(*(approx(value) for value in (overlap.precision, overlap.recall, overlap.f1)))  # type: ignore[arg-type]


def test_bleu_of_a_right_two_word_answer_has_no_higher_orders() -> None:
    one, two, three, four = bleu(["right", "lobe"], ["right", "lobe"])
    assert (one, two) == (1, 1)
    assert 0 <= three < 1e-50 and 0 <= four < 1e-50
    assert bleu([], ["x"]) == bleu(["x"], []) == (0, 0, 0, 0)


def test_rouge_reads_sentences_longer_than_the_library_can() -> None:
    text = " ".join(f"word{i}" for i in range(1100))
    assert rouge(text, text).rougel == approx(1.0)


def test_rouge_reads_the_first_5000_words_of_a_text() -> None:
    filler = "lung " * 4_998
    assert rouge("clear", f"{filler}heart clear mass").rouge1 == rouge("clear", f"{filler}heart clear").rouge1 > 0
    assert rouge("mass", f"{filler}heart clear mass").rouge1 == 0


def test_words_are_lowercase_without_punctuation_and_chinese_characters_stand_alone() -> None:
    assert words("The X-ray: 3.5 cm, left (lung).") == ["the", "x-ray", "3.5", "cm", "left", "lung"]
    assert words("肺部CT") == ["肺", "部", "ct"]


def test_meteor_matches_stems_without_any_corpus() -> None:
    plain = meteor(["the", "lungs", "are", "clear"], ["the", "lung", "is", "clear"], synonyms=False)
    assert 0.5 < plain < 1
    assert meteor(["a", "b", "c"], ["x"], synonyms=False) == 0
    assert meteor(["a"], [], synonyms=False) == 0


def test_meteor_of_equal_texts_is_one_minus_the_chunk_penalty() -> None:
    tokens = ["no", "acute", "disease", "."]
    assert meteor(tokens, tokens, synonyms=False) == approx(1 - 0.5 * (1 / 4) ** 3)


def test_meteor_with_synonyms_needs_wordnet_on_disk() -> None:
    if wordnet() is None:
        with pytest.raises(LookupError):
            meteor(["car"], ["automobile"], synonyms=True)
    else:
        assert meteor(["car"], ["automobile"], synonyms=True) > 0


def test_cider_of_the_references_themselves_is_ten() -> None:
    texts = ["the heart is normal in size", "there is a large left pleural effusion"]
    assert cider(texts, texts) == approx([10.0, 10.0])


def test_cider_worked_by_hand() -> None:
    """Two references `a b` and `a c`: only b, c, `a b` and `a c` carry weight ln 2. The reply `b` shares the unigram
    direction with `a b` exactly (cosine 1) and no longer n-gram, so it scores 10 x 1/4."""
    assert cider(["a b", "a c"], ["b", "a"]) == approx([2.5, 0.0])


def test_cider_of_a_single_text_is_zero_because_every_idf_is() -> None:
    assert cider(["a b c d"], ["a b c d"]) == [0.0]
    assert cider([], []) == []
    assert math.isfinite(sum(cider(["a b", "c"], ["", "c"])))
