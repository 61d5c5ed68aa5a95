"""What packages that tasks use read besides rows: words of nltk, lexicons, pipelines of spaCy, weights.

All are made up, tiny, and of the form that the package reads, so that it computes with them as with the real ones;
what it computes says nothing. A model of the hub lies where its name leads from the folder that the task runs in:
every library takes such a path for a model, and asks nobody.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

_WORDS = ("thing", "cat", "dog", "car", "person")
"""The first is what the others are."""


def lay_out(home: Path, models: Mapping[str, str]) -> None:
    """`models` is name -> kind. Where the package that reads it is not installed, nothing does."""
    _words_of_nltk(home / "nltk_data")
    os.environ["NLTK_DATA"] = str(home / "nltk_data")
    if nltk := sys.modules.get("nltk"):
        nltk.data.path.insert(0, str(home / "nltk_data"))
    for name, kind in models.items():
        with suppress(ImportError):
            _KINDS[kind](home / name)


def _words_of_nltk(folder: Path) -> None:
    punkt = folder / "tokenizers/punkt_tab/english"
    tagger = folder / "taggers/averaged_perceptron_tagger_eng"
    for place in (punkt, tagger, folder / "corpora/wordnet"):
        place.mkdir(parents=True)
    for name in ("collocations.tab", "sent_starters.txt", "abbrev_types.txt", "ortho_context.tab"):
        (punkt / name).write_text("")
    for part, holds in (("weights", {}), ("tagdict", dict.fromkeys(_WORDS, "NN")), ("classes", ["NN", "VB"])):
        (tagger / f"averaged_perceptron_tagger_eng.{part}.json").write_text(json.dumps(holds))
    for name, text in _wordnet().items():
        (folder / "corpora/wordnet" / name).write_text(text)


def _wordnet() -> dict[str, str]:
    """Its files, by name: one sense for each word, and where in the file each stands."""
    files = {f"{kind}.{part}": "" for kind in ("index", "data") for part in ("adj", "adv", "verb")}
    files |= {f"{part}.exc": "" for part in ("adj", "adv", "noun", "verb")}
    files["data.adj"] = "  1 WordNet 3.0 Copyright\n"
    files |= {"cntlist.rev": "", "lexnames": "00\tnoun.all\t1\n"}
    data = index = senses = ""
    for word in _WORDS:
        place, is_a = f"{len(data):08}", " 001 @ 00000000 n 0000" if data else " 000"
        data += f"{place} 00 n 01 {word} 0{is_a} | what is called {word}\n"
        index += f"{word} n 1 0 1 0 {place}\n"
        senses += f"{word}%1:00:00:: {place} 1 0\n"
    return files | {"data.noun": data, "index.noun": index, "index.sense": senses}


def _lexicon(place: Path) -> None:
    """For the package `wn`: `oewn:2024` is the name of the one that pywsd opens."""
    wn: Any = import_module("wn")
    lexicon, _, version = place.name.partition(":")
    entries = "".join(
        f'<LexicalEntry id="{lexicon}-{word}-n"><Lemma writtenForm="{word}" partOfSpeech="n"/>'
        f'<Sense id="{lexicon}-{word}-n-1" synset="{lexicon}-{number}-n"/></LexicalEntry>'
        for number, word in enumerate(_WORDS)
    )
    senses = "".join(
        f'<Synset id="{lexicon}-{number}-n" ili="" partOfSpeech="n"><Definition>{word}</Definition></Synset>'
        for number, word in enumerate(_WORDS)
    )
    file = place.with_name("lexicon.xml")
    file.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.0.dtd">\n'
        f'<LexicalResource><Lexicon id="{lexicon}" label="made up" language="en" email="nobody@example.com"'
        f' license="none" version="{version}">{entries}{senses}</Lexicon></LexicalResource>\n'
    )
    wn.config.data_directory = place.with_name("wn_data")
    wn.add(file, progress_handler=None)


def _pipeline(place: Path) -> None:
    import_module("spacy").blank("en").to_disk(place)


_SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def _sentences(place: Path) -> None:
    """A model for sentence-transformers."""
    transformers: Any = import_module("transformers")
    modules: Any = import_module("sentence_transformers.models")
    inside = _model(place / "inside", transformers.BertModel(transformers.BertConfig(vocab_size=64, **_SIZES)))
    _word_pieces(inside)
    transformer = modules.Transformer(str(inside))
    pooling = modules.Pooling(transformer.get_word_embedding_dimension())
    import_module("sentence_transformers").SentenceTransformer(modules=[transformer, pooling]).save(str(place))


def _bleurt(place: Path) -> None:
    bleurt: Any = import_module("bleurt_pytorch")
    config = bleurt.BleurtConfig(vocab_size=64, embedding_size=16, num_labels=1, **_SIZES)
    _word_pieces(_model(place, bleurt.BleurtForSequenceClassification(config)))


def _bge_m3(place: Path) -> None:
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    _model(place, transformers.XLMRobertaModel(transformers.XLMRobertaConfig(vocab_size=64, **_SIZES)))
    _word_pieces(place)
    torch.save(torch.nn.Linear(16, 16).state_dict(), place / "colbert_linear.pt")
    torch.save(torch.nn.Linear(16, 1).state_dict(), place / "sparse_linear.pt")


def _model(place: Path, model: Any) -> Path:
    model.save_pretrained(str(place))
    return place


def _word_pieces(place: Path) -> None:
    letters = [*"abcdefghijklmnopqrstuvwxyz", *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    (place / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]))
    import_module("transformers").BertTokenizerFast(str(place / "vocab.txt")).save_pretrained(str(place))


_KINDS = {
    "lexicon": _lexicon,
    "pipeline": _pipeline,
    "sentences": _sentences,
    "bleurt": _bleurt,
    "bge_m3": _bge_m3,
}
