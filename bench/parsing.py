"""Measure the strict parsers on the labelled corpus in `tests/answers/corpus/new`, per kind and split.

python -m bench.parsing [--split dev|held|both] [--list wrong|unparsed|credited] [--src PATH] [--corpus PATH]
    [--extractor MODEL [--model-args ARGS] [--sample N]]

Every template has the same weight, whatever the number of replies that it gives. Replies are listed for `dev` unless
`--split held` is given, because authors of a parser should not read the other half. With `--extractor` the replies
that strict leaves unparsed are parsed by the scoring `extracted`. `--extractor labels` quotes as a person who knows
the labels would: what is still unparsed was rejected by the checks, or is not in the reply as strict would write it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice, permutations
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[1] / "tests" / "answers" / "corpus" / "new"
SPLITS = ("dev", "held")
KINDS = ("choice", "number", "yes_no", "phrase")
FILLS = 5
"""Replies per template, at most."""

_TOKENS = 64
"""Tokens of an extractor's reply, at most."""
_SLOT = re.compile(r"\$(?:\{(\w+)\}|([A-Za-z]+)(?![A-Za-z0-9_]))")


@dataclass(frozen=True)
class Template:
    """One line of the corpus; its README has the fields."""

    id: str
    kind: str
    family: str
    lang: str
    reply: str
    answer: str | float | None = None
    credit: bool = False
    truth: str | list[str] = ""
    question: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    sets: tuple[str, ...] = ()

    @property
    def clear(self) -> bool:
        """False: a reply that must not be credited with any answer (a phrase: with the ground truth)."""
        return self.credit if self.kind == "phrase" else self.answer is not None


@dataclass(frozen=True)
class Labelled:
    """A reply with its slots filled. `expected` is None if no answer may be credited."""

    template: Template
    text: str
    expected: str | float | bool | None
    options: Mapping[str, str]
    question: str
    truths: tuple[str, ...]


def templates(split: str | Path, kind: str) -> list[Template]:
    """Read one file of a split, or of a folder elsewhere; none if the folder lacks the kind."""
    path = CORPUS / split / f"{kind}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Template(**{**row, "sets": tuple(row.get("sets", ()))}) for row in map(json.loads, lines)]


def replies(template: Template) -> list[Labelled]:
    """Fill the slots of a template: at most `FILLS` different replies, the same on every machine."""
    found: dict[tuple[str, str], Labelled] = {}
    for slots, options in _fillings(template):
        truth = [template.truth] if isinstance(template.truth, str) else template.truth
        text = _filled(template.reply, slots)
        labelled = Labelled(
            template,
            text,
            _expected(template, slots),
            options,
            _filled(template.question, slots),
            tuple(_filled(one, slots) for one in truth if one),
        )
        found.setdefault((text, labelled.question), labelled)
        if len(found) == FILLS:
            break
    return list(found.values())


def _filled(text: str, slots: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return slots.get(match[1] or match[2], match[0])

    return _SLOT.sub(value, text)


def _expected(template: Template, slots: Mapping[str, str]) -> str | float | bool | None:
    answer = template.answer
    if template.kind == "phrase":
        return template.credit or None
    if template.kind == "yes_no":
        return None if answer is None else answer == "yes"
    if isinstance(answer, str):
        answer = _filled(answer, slots)
        return float(answer) if template.kind == "number" else answer
    return answer


def _fillings(template: Template) -> Iterator[tuple[dict[str, str], Mapping[str, str]]]:
    """Yield slots and options. More are given than are needed, since some slots are not in the template."""
    values = json.loads((CORPUS / "slots.json").read_text(encoding="utf-8"))[template.kind]
    if template.kind == "number":
        yield from ((_number_slots(row), {}) for row in values)
        return
    values = values.get(template.lang, values["en"])
    if template.kind == "yes_no":
        yield from (({"thing": thing}, {}) for thing in values)
        return
    chosen = [values[name] for name in template.sets] if template.sets else list(values.values())
    draw = random.Random(template.id)
    if template.kind == "phrase":
        rows = [row for group in chosen for row in group]
        draw.shuffle(rows)
        yield from ((_phrase_slots(row), {}) for row in rows)
    elif template.options:
        yield {}, template.options
    else:
        for texts in islice(_shuffled(draw, chosen), 4 * FILLS):
            options = dict(zip("ABCD", texts, strict=True))
            yield _choice_slots(draw.choice(list(permutations(options))), options), options


def _shuffled(draw: random.Random, groups: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    while True:
        for group in draw.sample(groups, len(groups)):
            yield draw.sample(group, len(group))


def _choice_slots(labels: Sequence[str], options: Mapping[str, str]) -> dict[str, str]:
    """`$R` is the label that the reply answers with and `$r` its text; W, V and U are the other three."""
    slots: dict[str, str] = {}
    for name, label in zip("RWVU", labels, strict=True):
        slots |= {name: label, name.lower(): options[label], f"l{name}": label.lower()}
        slots[f"f{name}"] = chr(ord(label) + 0xFEE0)  # full width, as Chinese and Japanese keyboards write it
    return slots


def _number_slots(row: Mapping[str, Any]) -> dict[str, str]:
    n, m, big = row["n"], row["m"], f"{row['big']:,}"
    return {
        **{name: str(value) for name, value in row.items()},
        "Word": row["word"].capitalize(),
        "s": str(n + m),
        "t": str(n + row["k"]),
        "x": str(n * m),
        "fc": row["f"].replace(".", ","),
        "gc": row["g"].replace(".", ","),
        "bigc": big,
        **{name: big.replace(",", mark) for name, mark in _SEPARATORS.items()},
    }


_SEPARATORS = {"bigd": ".", "bigs": " ", "bign": "\u202f", "bigt": "'", "bigl": "{,}"}


def _phrase_slots(row: Sequence[str]) -> dict[str, str]:
    slots = dict(zip("txy", row, strict=True))
    slots |= {f"T{name}": text[:1].upper() + text[1:] for name, text in slots.items()}
    return slots | {"X": slots["Tx"], "Ut": row[0].upper()}


def read(labelled: Labelled) -> object:
    """Return what the strict parser reads: a label, a number, yes or no, or if the ground truth was given."""
    return _READERS[labelled.template.kind](labelled)


def _quote(labelled: Labelled) -> str | None:
    """Quote the labelled answer, if it is in the reply."""
    from sketchmark.answers.extractor import occurrences

    expected = labelled.expected
    if expected is None:
        return None
    match labelled.template.kind:
        case "choice":
            forms = [str(expected), str(expected).lower(), labelled.options[str(expected)]]
        case "number":
            forms = [f"{expected:g}", f"{expected:,}", f"{expected:g}".replace(".", ",")]
        case "yes_no":
            forms = ["yes", "Yes", "YES", "true"] if expected else ["no", "No", "NO", "false", "not"]
        case _:
            forms = list(labelled.truths)
    return next((form for form in forms if occurrences(form, labelled.text)), None)


def extracting(name: str, args: Mapping[str, str], outcomes: Counter[str]) -> Callable[[Labelled], object]:
    """Return a reader by the scoring `extracted` with this extractor. It counts what became of the quotes."""
    from sketchmark import Context, Episode, Model, Options, Reply, Sample
    from sketchmark.answers.extractor import can_be_asked, opinion
    from sketchmark.catalog import Catalog
    from sketchmark.episode import Scores, Turn
    from sketchmark.episode.sample import Part
    from sketchmark.errors import ExtractorFailed

    class Knowing(Model):
        quote: str | None = None

        async def say(self, context: Context, options: Options) -> Reply:
            return Reply(json.dumps({"quote": self.quote}))

    class Short(Model):
        """A model whose replies are short, so that a small machine finishes."""

        async def say(self, context: Context, options: Options) -> Reply:
            return await asked.say(context, replace(options, max_new_tokens=_TOKENS))

    knowing, loop = Knowing(name), asyncio.Runner()
    asked = knowing if name == "labels" else Catalog().model(name, dict(args))
    model = Short(name)

    def extracted(labelled: Labelled) -> object:
        async def score(episode: Episode) -> Scores:
            value = read(replace(labelled, text=episode.answer))
            return Scores({}, {"answer": value}, unparsed=value is None)

        options = "\n".join(f"{label}. {text}" for label, text in labelled.options.items())
        shown = Turn("show", (Part(f"{labelled.question}\n{options}", "task"),))
        said = Turn("say", reply=Reply(labelled.text))
        episode = Episode(Sample(id=labelled.template.id, pictures={}), (shown, said))
        strict, knowing.quote = read(labelled), _quote(labelled)
        if strict is not None or not can_be_asked(episode):
            return strict
        try:
            found = loop.run(opinion(model, episode, score))
        except ExtractorFailed:
            outcomes["failed"] += 1
            return None
        outcomes["accepted" if found.scores else found.rejected or "no quote"] += 1
        return found.scores.notes["answer"] if found.scores else None

    return extracted


def _answers(name: str) -> Any:
    return import_module(f"sketchmark.answers.{name}")  # late: --src says which parser is measured


_READERS: dict[str, Callable[[Labelled], object]] = {
    "choice": lambda one: _answers("choices").read_choice(one.text, one.options, one.question).value,
    "number": lambda one: _answers("numbers").read_number(one.text, one.question).value,
    "yes_no": lambda one: _answers("yes_no").read_yes_no(one.text, one.question).value,
    "phrase": lambda one: _answers("phrases").answers_with(one.truths, one.text, question=one.question).value,
}


def outcome(labelled: Labelled, reader: Callable[[Labelled], object] = read) -> str:
    """Classify the parser's reading: right, wrong or unparsed; credited or left for a reply without an answer."""
    got, expected = reader(labelled), labelled.expected
    if expected is None:
        credited = got is True if labelled.template.kind == "phrase" else got is not None
        return "credited" if credited else "left"
    if got is None:
        return "unparsed"
    if isinstance(got, float) and isinstance(expected, int | float):
        return "right" if abs(got - expected) <= 1e-6 * max(1e-9, abs(expected)) else "wrong"
    return "right" if got == expected else "wrong"


@dataclass
class Figures:
    """Counts of one kind in one split. Shares are means over templates."""

    templates: int = 0
    clear: int = 0
    unclear: int = 0
    credited: int = 0
    shares: dict[str, float] = field(default_factory=lambda: {"wrong": 0.0, "unparsed": 0.0})
    listed: list[tuple[str, Labelled]] = field(default_factory=list)


def measure(split: str, kind: str, reader: Callable[[Labelled], object] = read) -> Figures:
    figures = Figures()
    clear_templates = 0
    for template in templates(split, kind):
        figures.templates += 1
        outcomes = [(outcome(one, reader), one) for one in replies(template)]
        figures.listed += outcomes
        if not template.clear:
            figures.unclear += len(outcomes)
            figures.credited += sum(name == "credited" for name, _ in outcomes)
            continue
        clear_templates += 1
        figures.clear += len(outcomes)
        for name in figures.shares:
            figures.shares[name] += sum(found == name for found, _ in outcomes) / len(outcomes)
    figures.shares = {name: total / max(1, clear_templates) for name, total in figures.shares.items()}
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="Figures of the strict parsers on the labelled corpus.")
    parser.add_argument("--split", choices=(*SPLITS, "both"), default="both")
    parser.add_argument("--list", choices=("wrong", "unparsed", "credited"), dest="listed")
    parser.add_argument("--src", help="folder that holds the package sketchmark, to measure another version")
    parser.add_argument("--corpus", help="folder with templates of the same format, instead of the splits")
    parser.add_argument("--model-args", default="", help="arguments of the extractor: name=value,name=value")
    parser.add_argument(
        "--sample", type=int, help="with --extractor: ask about this many unparsed replies, drawn once"
    )
    parser.add_argument("--extractor", help="model that quotes the answer of unparsed replies, e.g. player/quoter")
    options = parser.parse_args()
    if options.src:
        sys.path.insert(0, options.src)
    outcomes: Counter[str] = Counter()
    args = dict(pair.split("=", 1) for pair in options.model_args.split(",") if pair)
    reader = extracting(options.extractor, args, outcomes) if options.extractor else read
    splits = (options.corpus,) if options.corpus else SPLITS if options.split == "both" else (options.split,)
    if options.extractor and options.sample:
        _sampled(splits, options.sample, reader, outcomes)
        return
    print("split  kind    templates  clear replies   wrong  unparsed  unclear credited")
    for split in splits:
        for kind in KINDS:
            found = measure(split, kind, reader)
            wrong, unparsed = found.shares["wrong"], found.shares["unparsed"]
            print(
                f"{Path(split).name:5}  {kind:6}  {found.templates:9}  {found.clear:13}  {wrong:6.2%}"
                f"  {unparsed:8.2%}  {found.credited} of {found.unclear}"
            )
            if options.listed and (split != "held" or options.split == "held"):
                _list(found, options.listed, reader)
    if options.extractor:
        print("quotes:", ", ".join(f"{name} {count}" for name, count in outcomes.most_common()))


def _sampled(splits: Sequence[str], size: int, reader: Callable[[Labelled], object], outcomes: Counter[str]) -> None:
    """Print what an extractor makes of a fixed sample of the replies that strict leaves unparsed."""
    unparsed = [
        one
        for split in splits
        for kind in KINDS
        for template in templates(split, kind)
        for one in replies(template)[:1]
        if read(one) is None
    ]
    verdicts: Counter[str] = Counter()
    random.Random(26).shuffle(unparsed)
    clear = [one for one in unparsed if one.template.clear][: 2 * size // 3]
    unclear = [one for one in unparsed if not one.template.clear][: size - len(clear)]
    for place, one in enumerate((*clear, *unclear)):
        verdict = outcome(one, reader)
        verdicts[verdict] += 1
        print(f"{place + 1} {verdict}: {one.text[:60]!r}", file=sys.stderr, flush=True)
    print(f"{len(clear)} clear and {len(unclear)} unclear replies of {len(unparsed)} unparsed ones")
    print("quotes:", ", ".join(f"{name} {count}" for name, count in outcomes.most_common()))
    print("scored:", ", ".join(f"{name} {count}" for name, count in verdicts.most_common()))


def _list(figures: Figures, wanted: str, reader: Callable[[Labelled], object]) -> None:
    for name, labelled in figures.listed:
        if name == wanted:
            template = labelled.template
            truths = f" truth {labelled.truths}" if labelled.truths else ""
            print(
                f"    {template.id} {template.family} {template.lang}: {labelled.text!r}{truths}"
                f" expected {labelled.expected!r}, read {reader(labelled)!r}"
            )


if __name__ == "__main__":
    main()
