"""The benchmarks. A benchmark is a folder; what several of them share is beside the folders.

Right answers counted into the small tables that published programs print.

One graded item: what every scoring mode hands to the totals.

The common protocols, for sets with rows that cannot be used: such a row is counted by name, never asked.

The image-index sentence: telling a model, in words, how many pictures it was given and how they are numbered.

Follows the protocol of the MedEvalKit fork (docs/benchmarks/medical.md, "The image-index sentence"). It is
English for every language.

The last line of a question: what form the answer is to have, letter for letter as MedEvalKit asks for it
(docs/benchmarks/medical.md, "Prompt templates"). MMMU's prompts there end in the same lines.

From the rows of a published set of questions to samples: what the loaders of several benchmarks share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase
from typing import Any, Literal

from sketchmark.episode.desk import Desk
from sketchmark.episode.protocol import PROTOCOLS, FilledPrompts, Protocol
from sketchmark.episode.sample import Sample
from sketchmark.errors import BadInput, CallFailed, DataMissing, SketchmarkError

ALIASES = {
    "guarded.direct": "sketchmark.benchmarks:direct",
    "guarded.draw_then_answer": "sketchmark.benchmarks:draw_then_answer",
    "strict_answers:choice": "sketchmark.answers.phrases:choice",
    "strict_answers:yes_no": "sketchmark.answers.phrases:yes_no",
    "strict_answers:number": "sketchmark.answers.phrases:number",
    "strict_answers:phrase": "sketchmark.answers.phrases:phrase",
    "say_then_draw": "sketchmark.benchmarks.uni_mmmu.science:say_then_draw",
    "four_steps": "sketchmark.benchmarks.voila:four_steps",
}
"""What several benchmarks share, and the scorers that are ready for users' task files (docs/add-a-task.md)."""


Table = dict[str, float]


def share(right: int, total: int) -> float:
    return right / total if total else 0.0


def table(right: int, total: int) -> Table:
    return {"total": total, "right": right, "acc": share(right, total)}


Scoring = Literal["strict", "code-upstream", "code-fork", "paper"]
"""`strict` is ours; the two `code-` modes are the published programs'; `paper` is rule-based closed + judged open."""


@dataclass(frozen=True)
class Graded:
    """`right` is the rule's verdict, `judged` the LLM judge's (None: not asked, or no verdict).

    `stopped` marks an item at which the published code would have ended its run.
    """

    right: bool
    closed: bool = True
    metrics: Mapping[str, float] = field(default_factory=dict)
    judged: bool | None = None
    unparsed: bool = False
    stopped: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)
    answer: str | list[str] | bool | None = None
    """What was read, for the note `answer`."""


def _guarded(name: str) -> Protocol:
    inner = PROTOCOLS[name]

    async def play(desk: Desk, prompts: FilledPrompts) -> None:
        if reason := prompts.sample.fields.get("broken"):
            raise CallFailed("broken_row", reason)
        await inner.play(desk, prompts)

    return replace(inner, play=play)


direct = _guarded("direct")
draw_then_answer = _guarded("draw_then_answer")


def get_image_index_info(num_images: int) -> str:
    """The sentence for `num_images` pictures, ending in a newline; empty when there are none."""
    if num_images <= 0:
        return ""
    if num_images == 1:
        return "The index of the given image is 1.\n"
    indices = ", ".join(str(i) for i in range(1, num_images + 1))
    return f"The indices of the given images are {indices}.\n"


def add_image_index_to_prompt(prompt: str, info: str) -> str:
    """Put the sentence right before the prompt's last line, which is where these prompts hold the answer instruction.

    A prompt of one line has no instruction line of its own, so the sentence follows it.
    """
    if not info:
        return prompt
    head, newline, instruction = prompt.rpartition("\n")
    return f"{head}\n{info}{instruction}" if newline else f"{prompt}\n{info}"


def add_image_index_to_report_prompt(prompt: str, info: str) -> str:
    """Put the sentence after the prompt's first sentence, with the spaces of the published form:
    one before it, and one that opens the line after it."""
    if not info:
        return prompt
    first, stop, rest = prompt.partition(". ")
    return f"{first}. {info} {rest}" if stop else add_image_index_to_prompt(prompt, info)


Language = Literal["en", "zh"]
Kind = Literal["choice", "judgement", "closed", "open"]

_PLAIN: dict[tuple[Kind, Language], str] = {
    ("choice", "en"): "Answer with the option's letter from the given choices directly.",
    ("choice", "zh"): "请直接使用给定选项中的选项字母来回答该问题。",
    ("judgement", "en"): "Please output 'yes' or 'no'(no extra output).",
    ("judgement", "zh"): "请输出'是'或'否'(不要有任何其它输出)。",
    ("closed", "en"): "Answer the question using a single word or phrase.",
    ("closed", "zh"): "请用一个单词或者短语回答该问题。",
    ("open", "en"): "Please answer the question concisely.",
    ("open", "zh"): "请简要回答该问题。",
}

_BOXED: dict[tuple[Kind, Language], str] = {
    ("choice", "en"): (
        'Answer with the option\'s letter from the given choices and put the letter in one "\\boxed{}".'
    ),
    ("choice", "zh"): '请直接使用给定选项中的选项字母来回答该问题,并将答案包裹在"\\boxed{}"里',
    ("judgement", "en"): 'Please output "yes" or "no" and put the answer in one "\\boxed{}".',
    ("judgement", "zh"): "请输出'是'或'否'，并将答案放在一个'\\boxed{}'中。",
    ("closed", "en"): ('Answer the question using a single word or phrase and put the answer in one "\\boxed{}".'),
    ("closed", "zh"): "请用一个单词或者短语回答该问题，并将答案放在一个'\\boxed{}'中。",
    ("open", "en"): 'Please answer the question concisely and put the answer in one "\\boxed{}".',
    ("open", "zh"): "请简要回答该问题，并将答案放在一个'\\boxed{}'中。",
}


def instruction(kind: Kind, language: Language = "en", *, reasoning: bool = False) -> str:
    """The last line of a prompt: what form the answer is to have."""
    return (_BOXED if reasoning else _PLAIN)[kind, language]


def build_all(name: str, rows: Iterable[Any], build: Callable[[int, Any], Sample | None]) -> Iterator[Sample]:
    """A sample for every row. A row that cannot be used becomes a sample that says why, under its own name:
    the run counts it as `broken_row` and continues. `build` returns None for a row the benchmark leaves out."""
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        try:
            sample = build(number, row)
        except DataMissing:  # the network is gone, not a row broken
            raise
        except (SketchmarkError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
            sample = Sample(id=f"{name}-{number:06d}", fields={"broken": f"row {number}: {reason}"})
        if sample is None:
            continue
        seen[sample.id] = seen.get(sample.id, 0) + 1
        if seen[sample.id] > 1:
            sample = _renamed(sample, f"{sample.id}#{seen[sample.id]}")
        yield sample


def _renamed(sample: Sample, name: str) -> Sample:
    return Sample(name, sample.pictures, sample.fields, sample.target, sample.groups, sample.steps, sample.frames)


def text(row: Mapping[str, Any], name: str) -> str:
    """A field that has to be text, with something in it."""
    value = row[name]
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"field {name!r} is {'empty' if value in ('', None) else type(value).__name__}")
    return value


def checked_options(options: Sequence[Any]) -> list[str]:
    if not 1 <= len(options) <= len(ascii_uppercase):
        raise BadInput(f"{len(options)} options")
    return [str(option) for option in options]


def checked_letter(letter: Any, options: Sequence[str]) -> str:
    gold = str(letter).strip().upper()
    if len(gold) != 1 or gold not in ascii_uppercase[: len(options)]:
        raise BadInput(f"answer {str(letter)[:40]!r} is not a letter of {len(options)} options")
    return gold
