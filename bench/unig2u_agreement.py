"""Agreement of the scoring `official` with UniG2U's published rules, reply by reply, for all thirty subtasks.

    python -m bench.unig2u_agreement

The rules are written out here a second time, from their description (docs/benchmarks/unig2u.md) and independently of
`sketchmark.benchmarks.unig2u`. Every rule gets at least ninety replies: its own forms, near misses, and each of them
inside other text. Where the published program draws lots, both must find nothing. Judged subtasks get a judge that
compares the texts it is sent, so that a difference in a request is a difference in the score.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sketchmark.benchmarks.unig2u import total
from sketchmark.catalog import Catalog
from sketchmark.episode import Grading
from sketchmark.episode.model import Model, Options, Reply
from sketchmark.episode.sample import Context, Sample
from sketchmark.testing import episode

Rule = Callable[[Sample, str], float | None]
"""(sample, reply) -> the published score; None where the program draws lots."""

AROUND = ("{}", "Let me look at it first.\n\n{}", "{}\nThat is all.")
WORDS = ["seven", "eight", "nine", "ten"]
TURNED = {"up": "down", "down": "up", "left": "right", "right": "left"}


@dataclass(frozen=True)
class Family:
    """Subtasks with one rule: the samples that replies are scored for, the replies, the rule."""

    samples: list[Sample]
    replies: list[str]
    rule: Rule


def visual_puzzles(sample: Sample, reply: str) -> float | None:
    text = reply.strip()
    steps = [r"Answer:\s*\(([A-Za-z])\)", r"(?<!Final )Answer:\s*([A-Za-z])", r"Answer:\s*([A-Za-z])"]
    steps += [r"\(([A-Za-z])\)"]
    later = [r"([A-Za-z])\)", r"\{([A-Za-z])\}", r"\$([A-Za-z])\$", r" ([A-Da-d])\."]
    later += [r" ([A-Da-d])"] if len(text) <= 4 else []
    for pattern, where in [*((step, text) for step in steps), *((step, " " + text) for step in later)]:
        letters = [found.upper() for found in re.findall(pattern, where) if found.upper() in "ABCD"]
        if letters:
            return float(letters[-1] == sample.target["answer"])
    options = sample.target["options"]
    if not isinstance(options, list):
        return None
    for letter, words in zip("ABCD", options, strict=True):
        if re.search(f"answer: ?{re.escape(words)}", (" " + text).lower()):
            return float(letter == sample.target["answer"])
    last = max(range(4), key=lambda place: (text.rfind(options[place]), -place))
    return float("ABCD"[last] == sample.target["answer"]) if options[last] in text else None


def illusions(sample: Sample, reply: str) -> float:
    label = sample.target["label"].strip().lower()
    return float(any(form in reply.lower() for form in (label, label.replace("_", " "), label.replace("-", " "))))


def realunify(sample: Sample, reply: str) -> float:
    text = reply.strip()
    for words in (
        "best answer is",
        "correct answer is",
        "answer is",
        "answer",
        "best option is",
        "correct option is",
    ):
        text = text.replace(f"The {words}", "")
    for words in ("Best answer:", "Best option:", "Answer", "Answer is"):
        text = text.replace(words, "")
    capitals = [sign for sign in text if sign in "ABCD"]
    return float(capitals[:1] == [sample.target["answer"]])


def charts(sample: Sample, reply: str) -> float:
    said, true = reply.strip(), str(sample.target["answer"])

    def number(text: str) -> float | None:
        try:
            return float(text.rstrip("%")) / 100 if text[-1:] == "%" else float(text)
        except ValueError:
            return None

    one, other = number(said), number(true)
    if one is None or not other:
        return float(said.lower() == true.lower())
    return float(abs(one - other) / abs(other) <= 0.05)


def routes(sample: Sample, reply: str) -> float:
    at = max(reply.find("Output"), -1)
    at = at if at >= 0 else reply.find("Path")
    text = reply[at + 7 :] if at >= 0 else reply
    sums = {"north": 0, "south": 0, "east": 0, "west": 0}
    for line in text.translate(str.maketrans("", "", "\"'.")).strip().lower().split("\n"):
        for name in sums:
            found = re.search(name + r"[:\s]*(\d+)", line)
            sums[name] += int(found[1]) if found else 0
    said = sums["north"] - sums["south"], sums["east"] - sums["west"]
    return float(said == (sample.target["north"], sample.target["east"]))


def collisions(sample: Sample, reply: str) -> float:
    said = {who.lower(): float(time) for who, time in re.findall(r"(?i)(car|person):\s*([0-9]*\.?[0-9]+)", reply)}
    near = [abs(said.get(who, -999) - float(sample.target[who])) <= 1 for who in ("car", "person")]
    return sum(near) / 2


def boxed(reply: str) -> str | None:
    """The last closed box, from left to right, else the last back-ticks."""
    found, text = [], reply
    while "\\boxed{" in text:
        text = text.partition("\\boxed{")[2]
        depth = 1
        for at, sign in enumerate(text):
            depth += (sign == "{") - (sign == "}")
            if not depth:
                found.append(text[:at])
                text = text[at + 1 :]
                break
    ticked = re.findall(r"`([^`]+)`", reply)
    return found[-1].strip() if found else ticked[-1].strip() if ticked else None


def judged(letters: str) -> Rule:
    """The extracted answer goes to the judge with question and truth as they are filed. `letters`: of options."""

    def rule(sample: Sample, reply: str) -> float:
        answer = boxed(reply.strip())
        if answer is None:
            lone = re.search(rf"\b[{letters}]\b", reply) if "options" in sample.target else None
            answer = lone[0] if lone else reply.strip()[:200]
        filed = sample.target.get("as_filed", {})
        question = filed.get("question", sample.fields["question"])
        return float(same(question, filed.get("answer", sample.target["answer"]), answer))

    return rule


def same(question: str, truth: str, answer: str) -> bool:
    """The verdict of an ideal judge: equal but for blanks, or the words of the right option."""
    if not question or not answer.strip():
        return False
    right = {"A": "2 m/s", "B": "9.8 m/s"}.get(truth.strip(), "")
    return squeezed(answer) in (squeezed(truth), squeezed(right))


def squeezed(text: str) -> str:
    return "".join(text.split()).casefold()


class Comparing(Model):
    """A judge that compares: texts of BabyVision's question, or of a whole solution."""

    async def say(self, context: Context, options: Options) -> Reply:
        asked = context.texts[-1]
        found = re.search(r"Question: (.*)\nGround Truth Answer: (.*)\nModel Output: (.*)\n\Z", asked, re.DOTALL)
        if found:
            return Reply(str(same(*found.groups())))
        assert len(context.texts) == 2 and context.parts[0].by == "system"
        reply = asked.partition("Candidate solution:\n")[2].partition("\n\nEvaluate ")[0]
        right = int("Ground truth answer:\n12\n" in asked and solved(reply))
        return Reply(json.dumps({"answer_correct": right, "text_ok": right, "reason": "{compared}"}))


def solved(reply: str) -> bool:
    return reply.rstrip(" .\n").endswith("12")


def solutions(sample: Sample, reply: str) -> float:
    return float(bool(reply) and solved(reply if len(reply) <= 50_000 else reply[-50_000:]))


def mmsi(sample: Sample, reply: str) -> float:
    text = reply
    for pattern in (r"``([^`]*)``", r"`([^`]*)`", r"\{([^}]*)\}"):
        found = re.search(pattern, text)
        text = found[1] if found else text
    letter = re.search(r"\b[A-D]\b(?!\s[a-zA-Z])", text)
    return float(letter is not None and letter[0] == sample.target["answer"])


def unwrapped(reply: str) -> str:
    try:
        body = json.loads(reply)
    except ValueError:
        return reply
    return str(body["text"]) if isinstance(body, dict) and "text" in body else reply


def moves(turned: bool) -> Rule:
    def rule(sample: Sample, reply: str) -> float:
        blocks = re.findall(r"(?is)<ANSWER_JSON>\s*(\[.*?\])\s*</ANSWER_JSON>", unwrapped(reply))
        try:
            said = [str(one).strip().lower() for one in json.loads(blocks[-1])] if blocks else []
        except ValueError:
            said = []
        truth = [TURNED[move] if turned else move for move in sample.target["moves"]]
        return sum(one == other for one, other in zip(said, truth, strict=False)) / len(truth)

    return rule


def jigsaws(sample: Sample, reply: str) -> float:
    text, choice = unwrapped(reply), None
    for tag in ("FINAL_ANSWER_JSON", r"FINAL_ANSWER\s+JSON"):
        if block := re.search(rf"(?is)<{tag}>\s*(\{{.*?\}})\s*</{tag}>", text):
            with suppress(ValueError):
                choice = json.JSONDecoder().raw_decode(block[1])[0].get("choice")
            break
    if choice is None and (bare := re.search(r'"choice"\s*:\s*(\d)', text)):
        choice = bare[1]
    try:
        return float(choice is not None and int(choice) == sample.target["label"])
    except (TypeError, ValueError):
        return 0.0


REPLIES: dict[str, list[str]] = json.loads(Path(__file__).with_name("unig2u_replies.json").read_text("utf-8"))
REPLIES["solved"].append("x" * 60_000 + "12")


def _samples(**targets: Any) -> list[Sample]:
    """One sample for every value of the one target that is a list."""
    name, values = next((key, value) for key, value in targets.items() if key == "answer" or isinstance(value, list))
    return [
        Sample(
            str(number),
            fields={"question": "Where?", "problem": "Find AD."},
            target={**targets, name: value},
            groups={"type": "human_test"},
        )
        for number, value in enumerate(values)
    ]


FAMILIES: dict[str, Family] = {
    "VisualPuzzles": Family(
        [*_samples(answer="ABCD", options=WORDS), *_samples(answer="ABCD", options=dict.fromkeys("ABCD", ""))],
        REPLIES["lettered"],
        visual_puzzles,
    ),
    "illusionbench": Family(
        [
            Sample("i", target={"answer": label, "label": label, "options": [label]})
            for label in ("City", "cat", "Medieval_Village", "paper_clip", "mercedes-benz", "face_emoji-x")
        ],
        REPLIES["places"],
        illusions,
    ),
    "realunify": Family(_samples(answer="ABCD", options=dict.fromkeys("ABCD", "")), REPLIES["lettered"], realunify),
    "chartqa100": Family(
        _samples(answer=["25", "25.9", "25%", "Yes", "Blue", "0", "12000"]), REPLIES["numbers"], charts
    ),
    "vsp_google_map": Family(
        [Sample("m", target={"north": n, "east": e}) for n, e in ((1, 4), (0, 0), (-1, -3))], REPLIES["ways"], routes
    ),
    "vsp_collision": Family([Sample("c", target={"car": 3.0, "person": 6.0})], REPLIES["times"], collisions),
    "phyx": Family(_samples(answer="AB", options={"A": "2 m/s", "B": "9.8 m/s"}), REPLIES["boxes"], judged("A-Z")),
    "babyvision": Family(
        [
            *_samples(answer=["(4,7)", "B"]),
            *_samples(answer="ABC", options=["left", "right", "top"]),
            Sample(
                "x",
                fields={"question": "Where?"},
                target={"answer": "B", "as_filed": {"question": " Where?\n", "answer": "B "}},
            ),
        ],
        REPLIES["boxes"],
        judged("A-D"),
    ),
    "geometry3k": Family(_samples(answer=["12"]), REPLIES["solved"], solutions),
    "auxsolidmath_easy": Family(_samples(answer=["12"]), REPLIES["solved"], solutions),
    "mmsi": Family(_samples(answer="ABCD"), REPLIES["lettered"], mmsi),
    "uni_mmmu_maze100": Family(
        [Sample("m", target={"moves": ["up", "right"]})], REPLIES["tagged"], moves(turned=False)
    ),
    "uni_mmmu_sliding54": Family(
        [Sample("s", target={"moves": ["down", "left"]})], REPLIES["tagged"], moves(turned=True)
    ),
    "uni_mmmu_jigsaw100": Family(
        [Sample("j", target={"label": label}) for label in (0, 1)], REPLIES["chosen"], jigsaws
    ),
}
"""By the beginning of the task's name."""


def family(task: str) -> Family:
    name = task.removeprefix("unig2u_")
    return next(found for begin, found in FAMILIES.items() if name.startswith(begin))


def compared(task: str) -> Iterator[tuple[str, float | None, float | None]]:
    """(reply, ours, published) for every reply to every sample of a subtask."""
    found, judge = family(task), Comparing("comparing")
    score = next(one.scores.get("official", "") for one in total().shares if one.task == task)
    scorers = Catalog().task(task).scorers
    scorer, name = scorers[-1], score or Catalog().task(task).headline
    for sample in found.samples:
        for reply in (form.replace("{}", one) for one in found.replies for form in AROUND):
            scored: Any = scorer(sample, episode(reply), Grading("official", judge))
            if inspect.iscoroutine(scored):
                scored = asyncio.run(scored)
            ours = None if "by_lot" in scored.notes else scored.values[name]
            yield reply, ours, found.rule(sample, reply)


def main() -> None:
    print("| subtask | replies | agree |\n|---|---|---|")
    for share in total().shares:
        rows = list(compared(share.task))
        print(f"| `{share.task}` | {len(rows)} | {sum(ours == theirs for _, ours, theirs in rows)} |")


if __name__ == "__main__":
    main()
