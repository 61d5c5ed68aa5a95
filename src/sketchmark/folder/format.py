"""Types of run.json, episode lines and score rows; docs/make_run_folder.py fills docs/run-folder.md from them.

Readers ignore unknown keys, and keys that a newer version added have a default. Contents from a task or a plug-in
(fields, target, groups, notes, raw) are neither checked when written nor when read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType

from sketchmark.episode import Failure
from sketchmark.errors import BadInput
from sketchmark.models.cache import ReplyRecord
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.settings import Settings, split_names

PEOPLE = "human/"
"""Prefix of the model's name in a run of people."""

FORMAT = 3
"""The only format that is read and written."""

Count = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Nth = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=-1e11, le=1e11)]
"""Bounds within which sums and times do not overflow. No run reaches them; a value edited beyond them is refused."""

LARGEST = 1e100
"""Scores beyond this are kept, but no statistic is computed from them: their squares overflow."""


def episode_key(sample: str, repeat: int = 0, branch: int = 0) -> str:
    """Name an episode in its cell: the sample's id, with the repeat and the branch where they are not 0."""
    parts = [f"{what} {number}" for what, number in (("repeat", repeat), ("branch", branch)) if number]
    return f"{sample} ({', '.join(parts)})" if parts else sample


class ModelAbout(Struct, frozen=True):
    """The model as the user named it."""

    name: str = ""
    """As typed: `player/solver`."""
    args: dict[str, Any] = {}
    """`--model_args`, without secrets."""
    retires: dict[str, str] = {}
    """Name → the day on which its provider shuts it down, by the provider's list at the last invocation."""


class ModeRecord(Struct, frozen=True):
    """Everything that shapes the requests of a mode."""

    protocol: str = ""
    """The protocol's name."""
    prompts: dict[str, Any] = {}
    """The prompts, before a sample's fields are filled in."""
    settings: dict[str, Any] = {}
    """The protocol's settings."""
    in_words: bool = False
    """Drawings are replaced by descriptions (text_cot)."""
    saying: dict[str, Any] = {}
    """Generation settings for answers."""
    drawing: dict[str, Any] = {}
    """Generation settings for drawings."""
    blind: bool = False
    """The images of a sample are not shown (blind)."""


class CellRecord(Struct):
    """One task in one mode on one canvas: everything that shapes its episodes. A resumed run must have the same."""

    task: str = ""
    """The task's name."""
    mode: str = ""
    """`direct`, `visual_cot`, `text_cot`, `blind`, or another mode of the task."""
    canvas: str = "own"
    """Images that replace the model's drawings: `own`, `blank`, `other`, `oracle`, `corrupt`, `caption` or
    `source`."""
    draw_with: str = ""
    """`svg`: the model draws by writing code. `native history`: its own turns are sent back as its provider recorded
    them. Empty: it draws pixels, or does not draw, and everything is sent in one plain form."""
    steps: str = "truth"
    """Step count set by: `truth` or `model`."""
    on_draw_failure: str = "fail"
    """`fail` or `continue`."""
    source: dict[str, Any] = {}
    """Source of the samples."""
    play: ModeRecord = ModeRecord()
    """Protocol, prompts and settings."""
    model: dict[str, Any] = {}
    """The model's identity: everything about it that could change a reply."""
    headline: str = ""
    """The headline score, in which the gain is measured."""
    less_is_better: list[str] = []
    """Scores in which less is better: gains are not measured in them."""
    breakdown: list[str] = []
    """Groups by which results are broken down."""


def condition(draw_with: str) -> str:
    """Return the phrase that follows the mode of a cell with another way of drawing; empty for pixels."""
    return f"{'with' if draw_with == NATIVE_HISTORY else 'by'} {draw_with}" if draw_with else ""


DRAWING_MODE = "visual_cot"
_CONDITIONS = {
    "direct": ("Answers directly", "direct"),
    "blind": ("Answers without the images", "blind"),
    "text_input": ("Answers from text instead of the image", "puzzle as text"),
    "text_cot": ("Reasons in text", "text only"),
    "own": ("Draws, sees its own drawing", "own drawing"),
    "blank": ("Draws, sees a blank image", "blank image"),
    "other": ("Draws, sees another sample’s drawing", "another’s drawing"),
    "oracle": ("Sees the ground-truth image", "ground truth"),
    "corrupt": ("Sees a ground-truth image with one error", "truth, one error"),
    "caption": ("Draws, reads a description of the drawing", "description"),
    "source": ("Draws by code, reads the code", "code"),
}
"""Mode, or canvas of visual_cot → label, short label."""


def place(mode: str, canvas: str) -> str:
    """Return the condition: the canvas of visual_cot, or else the mode."""
    return canvas if mode == DRAWING_MODE else mode


def label_of(mode: str, canvas: str, draw_with: str = "", *, short: bool = False) -> str:
    """Name a condition for readers who do not know the names of cells."""
    where = place(mode, canvas)
    told = _CONDITIONS.get(where, (where, where))[short]
    if mode not in (DRAWING_MODE, *_CONDITIONS) and canvas != "own":
        told += f", {canvas} canvas"
    return f"{told} {condition(draw_with)}" if draw_with else told


class Ended(Struct, frozen=True):
    """Ending of a run's last invocation."""

    how: str = ""
    """`finished`, `stopped` (by a person or at the cost limit) or `failed` (with an error, or because no call would
    succeed)."""
    why: str = ""
    """The reason, if it did not finish."""


class RunRecord(Struct):
    """Description of a run."""

    format: int
    """The number of this format."""
    sketchmark: str = ""
    """The version that wrote the folder last."""
    model: ModelAbout = ModelAbout()
    """The model."""
    seed: Count = 0
    """`--seed`."""
    started: str = ""
    """Time of the first invocation, in UTC."""
    machine: dict[str, Any] = {}
    """`python` and `system`."""
    cells: dict[str, CellRecord] = {}
    """Cells by name, in the requested order."""
    limits: dict[str, int] = {}
    """Cell → `--limit` of its last invocation: results cover that many first samples. Absent: all in the folder."""
    totals: dict[str, Count] = {}
    """Cell → number of samples within the limit; absent until an invocation has gone through all of them."""
    shard: str = ""
    """`0/3`: the first of every three samples (`--shard`). Empty: the whole run."""
    asked: dict[str, Settings] = {}
    """Cell → the command of its last invocation, for `sketchmark card`."""
    ended: Ended | None = None
    """Ending of the last invocation; null while it runs, and if it was killed."""

    @property
    def tags(self) -> list[str]:
        """The labels of the run (`--tag`), from all its cells."""
        return list(dict.fromkeys(tag for asked in self.asked.values() for tag in split_names(asked.tag)))

    @property
    def people(self) -> int:
        """The number of people whose run this is; 0 for a model's."""
        if not self.model.name.startswith(PEOPLE):
            return 0
        found = self.model.args.get("people", 1)
        return found if isinstance(found, int) and found > 0 else 1

    def data(self, cell: str) -> Path | None:
        """Return the folder of a cell's data; None if neither `--data` nor SKETCHMARK_DATA named one."""
        asked = self.asked.get(cell)
        return Path(asked.data) if asked and asked.data else None


class PartLine(Struct, omit_defaults=True):
    """A text, an image or a sound in the context."""

    by: str
    """Its author: `task` or `model`."""
    text: str | None = None
    """The text, or absent."""
    picture: str | None = None
    """The image's name, or absent."""
    sound: str | None = None
    """The sound's name, or absent."""
    native: bool = False
    """true if the reply's `native` record accompanied it in later calls."""


class TurnLine(Struct, omit_defaults=True):
    """One step of an episode. The exact context of a call is everything that earlier turns `added`, plus its own
    `suffix`."""

    act: str
    """`show`, `say`, `draw`, `describe` or `skip`."""
    added: list[PartLine]
    """Parts that remain in the context. After a drawing, what the model was shown in its place (the canvas)."""
    suffix: str = ""
    """Sent with this call only."""
    note: str = ""
    """The reason for a skipped step."""
    reply: ReplyRecord | None = None
    """The reply, for a call."""
    seconds: Seconds | None = None
    """Duration of the call."""


class SampleLine(Struct):
    """The sample with its ground truth, so that a run can be rescored without the dataset."""

    id: str
    """Unique in its task."""
    fingerprint: str
    """Digest of the question and the ground truth; shows that a sample has changed."""
    fields: dict[str, Any] = {}
    """Texts that fill the prompts."""
    pictures: dict[str, str | list[str]] = {}
    """Name → the name of an image, or a list of them."""
    sounds: dict[str, list[str]] | UnsetType = UNSET
    """Name → the names of sounds; absent if there are none."""
    target: dict[str, Any] = {}
    """Ground truth, for the scorers."""
    groups: dict[str, Any] = {}
    """Groups for tables: category, difficulty…; samples of one `cluster` are not independent."""
    steps: int | None = None
    """Number of steps of the ground-truth solution."""
    frames: list[str] | None = None
    """Ground-truth images, one per drawing; null if there are none or nothing was drawn."""


class EpisodeLine(Struct, kw_only=True, omit_defaults=True):
    """One episode."""

    index: Count
    """Position of the sample in its task."""
    sample: SampleLine
    """The sample."""
    mode: str = ""
    """Its mode."""
    canvas: str = ""
    """Its canvas."""
    steps: str = ""
    """Step count set by: `truth` or `model`."""
    turns: list[TurnLine]
    """Its steps, in order."""
    failure: Failure | None
    """null, or the reason for an early end: `kind`, `message`, `blames_model`, and `traceback` of an exception in
    your own code."""

    started: Seconds
    """Unix time; identifies this attempt, with sample, repeat and branch."""
    seconds: Seconds
    """Wall time."""
    repeat: Nth = 0
    """Number among several episodes of the sample; absent for the first. The newest line of a sample, repeat and
    branch counts."""
    branch: Nth = 0
    """Number among several answers on the same drawings; absent for the first."""
    seeds: dict[str, int] = {}
    """`say` and `draw` → the seed of a further repeat or branch, where one was given. Those of the first are in
    run.json."""

    @property
    def key(self) -> str:
        return episode_key(self.sample.id, self.repeat, self.branch)

    @property
    def place(self) -> tuple[int, int, int]:
        """Sort key of the episodes of a cell."""
        return self.index, self.repeat, self.branch


class DrawingNotes(TypedDict, total=False):
    """The only note that results are computed from."""

    frames_right: Any


class Score(Struct, kw_only=True):
    """A score row for lists, tables and statistics: without its notes, which can be long."""

    index: Count
    """Position of the sample in its task."""
    sample: str
    """The sample's id."""
    fingerprint: str = ""
    """The sample's fingerprint."""
    groups: dict[str, Any] = {}
    """The sample's groups."""
    scored: bool
    """false: the episode failed through no fault of the model, or its judge or scorer failed."""
    values: dict[str, bool | int | float | None]
    """Score → number, or null if it does not apply."""
    flags: list[str] = []
    """Kinds of failure: `unparsed`, `truncated`, `refused`, `empty`, `no_picture`, `left_out`, `animated`,
    `judge_failed`, `extractor_failed`, `scorer_failed`, or the failure's kind. `extracted`: the score rests
    on the extractor."""

    calls_left_out: Count = 0
    """Calls that could not carry the whole context."""
    scoring: str = ""
    """The scoring."""
    judge: str | None = None
    """The judge's model, if there was a judge."""

    extractor: str | UnsetType = UNSET
    """The extractor's model; only with the scoring `extracted`."""

    usage: dict[str, Count] = {}
    """Usage of the episode, also of replies from the cache."""

    paid: dict[str, Count] | UnsetType = UNSET
    """The part of `usage` that was paid for when the episode ran; absent: all of it."""

    started: Seconds = 0.0
    """The episode's `started`: an episode that was run again is scored again."""
    seconds: Seconds = 0.0
    """The episode's wall time."""
    repeat: Nth | UnsetType = UNSET
    """The episode's `repeat`; absent for the first."""
    branch: Nth | UnsetType = UNSET
    """The episode's `branch`; absent for the first."""
    notes: DrawingNotes = {}
    """Notes of the scorers, next to the numbers: `answer` is the parsed answer; further notes depend on the task."""

    @property
    def key(self) -> str:
        return episode_key(self.sample, self.repeat or 0, self.branch or 0)

    @property
    def spent(self) -> dict[str, int]:
        """Return the part of the usage that did not come from the cache."""
        return self.usage if self.paid is UNSET else self.paid

    @property
    def place(self) -> tuple[int, int, int]:
        """Sort key of the rows of a cell."""
        return self.index, self.repeat or 0, self.branch or 0

    @property
    def cluster(self) -> str | int | float | None:
        """The sample's cluster, in the dataset's form; None if it is independent of all others."""
        found = self.groups.get("cluster")
        return found if isinstance(found, (str, int, float)) or found is None else str(found)

    def value(self, metric: str) -> float | None:
        """Return the score; None if it does not apply or the episode was not scored."""
        found = self.values.get(metric) if self.scored else None
        if found is not None and abs(found) > LARGEST:
            raise BadInput(f"the score {metric} of {self.sample} is too large to compute with", "score the run again")
        return None if found is None else float(found)

    @property
    def drawing_right(self) -> bool | None:
        """True if every drawing of the episode is right; None if there is none or it cannot be checked.

        A whole-sequence score (`…_img_exact`) also requires that no frame is missing, so it takes precedence.
        """
        for name, value in self.values.items():
            if name.endswith("_img_exact") and value is not None:
                return value == 1
        frames = self.notes.get("frames_right")
        return all(frames) if frames else None


class ScoreRow(Score, kw_only=True):
    """The scores of one episode."""

    notes: dict[str, Any] = {}  # type: ignore[assignment]  # a row has all notes, a Score one
    """Notes of the scorers, next to the numbers: `answer` is the parsed answer; further notes depend on the task."""
