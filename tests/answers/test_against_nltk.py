"""BLEU and METEOR are our own code (answers/text_metrics.py says why) and must agree with nltk 3.9.1."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.bleu_score import sentence_bleu
from nltk.translate.meteor_score import align_words, single_meteor_score

from sketchmark.answers.text_metrics import align, bleu, meteor, stem

# Few different words, so that repeats, crossings and shared stems are common; the empty token is MedEvalKit's.
WORDS = (
    *("", ".", "a", "A", "as", "is", "The", "lung", "lungs", "Lungs", "clear", "clearly", "cleared", "effusion"),
    *("effusions", "opacity", "opacities", "radiology", "radiologic", "dying", "die", "x-rays", "3.5", "肺", "İ"),
)
few_words = st.lists(st.sampled_from(WORDS[:6]), max_size=12)
report_words = st.lists(st.sampled_from(WORDS), max_size=40)
any_words = st.lists(st.text(max_size=6), max_size=8)
texts = few_words | report_words | any_words


class OurStemmer:
    stem = staticmethod(stem)


class NoSynonyms:
    def synsets(self, word: str) -> list[Any]:
        return []


@settings(deadline=None)
@given(texts, texts)
@example([], [])
@example(["a"], [])
@example([], ["a"])
@example(["right", "lobe"], ["right", "lobe"])
@example(["a"] * 7, ["a"] * 3)
@example(["a"] * 3, ["a"] * 7)
@example([f"w{i}" for i in range(900)], ["w0"])
def test_bleu_is_the_very_number_of_nltk(reference: list[str], hypothesis: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = tuple(sentence_bleu([reference], hypothesis, weights=[1 / n] * n) for n in range(1, 5))
    assert bleu(reference, hypothesis) == theirs


@settings(deadline=None)
@given(texts, texts)
@example([], [])
@example(["as"], ["a"])
@example(["a", "b", "a"], ["a", "a", "b"])
def test_meteor_is_the_very_number_of_nltk_with_our_stemmer(reference: list[str], hypothesis: list[str]) -> None:
    ours = {"stemmer": OurStemmer(), "wordnet": NoSynonyms()}
    pairs, _, _ = align_words(hypothesis, reference, **ours)
    assert align(reference, hypothesis) == pairs
    assert meteor(reference, hypothesis, synonyms=False) == single_meteor_score(reference, hypothesis, **ours)


REPORT = (
    "the heart is normal in size and contour . the lungs are clear , without evidence of focal infiltrates or "
    "consolidation . there is no pneumothorax or pleural effusions . degenerative changes of the thoracic spine "
    "are noted . mild bibasilar opacities likely represent atelectasis . no acute abnormalities identified"
)
REPLY = (
    "heart size and contours are normal . lung fields clear without infiltrate or consolidations . no "
    "pneumothoraces or effusion is seen . there are degenerating changes in the spine . mild basilar opacity "
    "represents atelectasis . no acute abnormality identifies as a disease"
)


def test_meteor_of_a_report_is_nltks_with_nltks_own_stemmer() -> None:
    reference, hypothesis = REPORT.split(), REPLY.split()
    assert meteor(reference, hypothesis, synonyms=False) == single_meteor_score(
        reference, hypothesis, wordnet=NoSynonyms()
    )
    unstemmed, _, _ = align_words(hypothesis, reference, stemmer=Unstemmed(), wordnet=NoSynonyms())
    assert len(align(reference, hypothesis)) > len(unstemmed) + 5, "the example has to depend on stems"


class Unstemmed:
    def stem(self, word: str) -> str:
        return word


@settings(deadline=None)
@given(st.text(max_size=2))
def test_one_or_two_letters_are_their_own_stem_as_in_nltk(word: str) -> None:
    assert stem(word) == word == PorterStemmer().stem(word, to_lowercase=False)


@pytest.mark.parametrize("pair", [("dying", "die"), ("radiology", "radiologic"), ("skies", "sky")], ids=" ".join)
def test_the_stems_that_only_nltk_joins(pair: Sequence[str]) -> None:
    theirs = {PorterStemmer().stem(word) for word in pair}
    assert len(theirs) == 1 and len({stem(word) for word in pair}) == 2


def test_reports_are_scored_where_nltk_is_not_installed() -> None:
    program = (
        "import sys; sys.modules['nltk'] = None\n"
        "from sketchmark.benchmarks.medical.radiology import report_scores\n"
        "print(*report_scores('Lungs clear.', 'Lung is clear.'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        *("bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL", "meteor_no_synonyms"),
    ]


def test_with_nltk_and_wordnet_on_disk_meteor_knows_synonyms(tmp_path: Path) -> None:
    program = (
        "from sketchmark.benchmarks.medical.radiology import report_scores\n"
        "print(report_scores('A tumor.', 'A neoplasm.')['meteor'])"
    )
    tiny_wordnet(tmp_path / "corpora" / "wordnet", ("tumor", "neoplasm"))
    home = {**os.environ, "NLTK_DATA": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=home)
    assert float(done.stdout) == pytest.approx(1 - 0.5 * (1 / 3) ** 3)


def tiny_wordnet(folder: Path, synonyms: Sequence[str]) -> None:
    """A WordNet of one noun synset, in the layout of https://wordnet.princeton.edu/documentation/wndb5wn."""
    folder.mkdir(parents=True)
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("")
    for name in ("cntlist.rev", "index.sense"):
        (folder / name).write_text("")
    (folder / "lexnames").write_text("00\tnoun.state\t1\n")
    (folder / "data.adj").write_text("  1 WordNet 3.0 Copyright\n")
    lemmas = " ".join(f"{word} 0" for word in synonyms)
    (folder / "data.noun").write_text(f"00000000 00 n {len(synonyms):02x} {lemmas} 000 | a growth\n")
    (folder / "index.noun").write_text("".join(f"{word} n 1 0 1 0 00000000\n" for word in synonyms))
