"""The benchmarks, one folder each, and the code that several of them share.

The image-index sentence gives the number of images and their indices. It follows the protocol of the MedEvalKit fork
(docs/benchmarks/medical.md, "The image-index sentence") and is English for every language. The answer instructions
are MedEvalKit's, also for MMMU (docs/benchmarks/medical.md, "Prompt templates").
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
from sketchmark.media import Picture

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
"""Code shared by several benchmarks, and ready-made scorers for users' task files (docs/add-a-task.md)."""

Table = dict[str, float]


def share(right: int, total: int) -> float:
    """Return the proportion of right answers; 0 of none."""
    return right / total if total else 0.0


def table(right: int, total: int) -> Table:
    """Build the small table that published programs print."""
    return {"total": total, "right": right, "acc": share(right, total)}


Scoring = Literal["strict", "code-upstream", "code-fork", "paper"]
"""`strict` is ours, the `code-` scorings are published programs. `paper`: closed answers by rule, open by judge."""


@dataclass(frozen=True)
class Graded:
    """A scored sample for the totals. `right` is by rule, `judged` by the judge (None: not asked, or no verdict).

    `stopped` marks a sample at which the published code would have ended its run.
    """

    right: bool
    closed: bool = True
    metrics: Mapping[str, float] = field(default_factory=dict)
    judged: bool | None = None
    unparsed: bool = False
    stopped: bool = False
    groups: Mapping[str, str] = field(default_factory=dict)
    answer: str | list[str] | bool | None = None
    """The parsed answer, for the note `answer`."""


def _guarded(name: str) -> Protocol:
    """Return a common protocol that makes no call for a broken row: the row is counted by name."""
    inner = PROTOCOLS[name]

    async def play(desk: Desk, prompts: FilledPrompts) -> None:
        if reason := prompts.sample.fields.get("broken"):
            raise CallFailed("broken_row", reason)
        if prompts.blind:
            prompts = replace(prompts, sample=without_image_index(prompts.sample))
        await inner.play(desk, prompts)

    return replace(inner, play=play)


direct = _guarded("direct")
draw_then_answer = _guarded("draw_then_answer")


def get_image_index_info(num_images: int) -> str:
    """Return the sentence for `num_images` images, with a newline; empty for none."""
    if num_images <= 0:
        return ""
    if num_images == 1:
        return "The index of the given image is 1.\n"
    indices = ", ".join(str(i) for i in range(1, num_images + 1))
    return f"The indices of the given images are {indices}.\n"


def add_image_index_to_prompt(prompt: str, info: str) -> str:
    """Put the sentence before the prompt's last line, the answer instruction; after a prompt of one line."""
    if not info:
        return prompt
    head, newline, instruction = prompt.rpartition("\n")
    return f"{head}\n{info}{instruction}" if newline else f"{prompt}\n{info}"


def add_image_index_to_report_prompt(prompt: str, info: str) -> str:
    """Put the sentence after the prompt's first sentence, with the published spaces before and after it."""
    if not info:
        return prompt
    first, stop, rest = prompt.partition(". ")
    return f"{first}. {info} {rest}" if stop else add_image_index_to_prompt(prompt, info)


def without_image_index(sample: Sample) -> Sample:
    """Return the sample without the sentence that numbers its images, which are not shown in mode `blind`."""
    shown = ([one] if isinstance(one, Picture) else one for one in sample.pictures.values())
    info = get_image_index_info(sum(len(images) for images in shown))
    if not info:
        return sample
    fields = {name: text.replace(f"{info} ", "").replace(info, "") for name, text in sample.fields.items()}
    return replace(sample, fields=fields)


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
    """Return the last line of a prompt, the form of the answer, exactly as MedEvalKit has it."""
    return (_BOXED if reasoning else _PLAIN)[kind, language]


def build_all(name: str, rows: Iterable[Any], build: Callable[[int, Any], Sample | None]) -> Iterator[Sample]:
    """Yield a sample for every row.

    A broken row becomes a sample that gives the reason; the run counts it as `broken_row` and continues. `build`
    returns None for a row that the benchmark leaves out.
    """
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        try:
            sample = build(number, row)
        except DataMissing:  # the data are missing, not one row
            raise
        except (SketchmarkError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
            sample = Sample(id=f"{name}-{number:06d}", fields={"broken": f"row {number}: {reason}"})
        if sample is None:
            continue
        seen[sample.id] = seen.get(sample.id, 0) + 1
        if seen[sample.id] > 1:
            sample = replace(sample, id=f"{sample.id}#{seen[sample.id]}")
        yield sample


def text(row: Mapping[str, Any], name: str) -> str:
    """Return a field that must be a non-empty text."""
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
