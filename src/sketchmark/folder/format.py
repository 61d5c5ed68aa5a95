"""run.json, episodes and scores, as types: docs/run-folder.md is made from them (docs/make_run_folder.py).

Reading is forgiving where writing is not: keys that are not named here are ignored, and what a newer version added
has a default. What a task or a plug-in puts in (fields, target, groups, notes, raw) is written without looking, so it
is read without looking.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from sketchmark.episode import Failure
from sketchmark.errors import BadInput
from sketchmark.models.cache import ReplyRecord
from sketchmark.models.layout import NATIVE_HISTORY
from sketchmark.settings import Settings

FORMAT = 3
"""The one format that is read and written."""

Count = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Nth = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=-1e11, le=1e11)]
"""What can be added up and made into a time without overflow. Nothing that was played lies beyond, and what was
changed by hand is refused where it is read."""

LARGEST = 1e100
"""A score beyond is kept as it is, but its square is no number."""


def episode_key(sample: str, repeat: int = 0, branch: int = 0) -> str:
    """The name of an episode in its cell: the sample's id, with the repeat and the branch where they are not 0."""
    told = [f"{what} {number}" for what, number in (("repeat", repeat), ("branch", branch)) if number]
    return f"{sample} ({', '.join(told)})" if told else sample


class ModelAbout(Struct, frozen=True):
    """The model as the user named it."""

    name: str = ""
    """As typed: `player/solver`."""

    args: dict[str, Any] = {}
    """`--model_args`, without secrets."""

    retires: dict[str, str] = {}
    """Name → the day on which its provider shuts it down, as its list of models said at the last start."""


class ModeRecord(Struct, frozen=True):
    """All that shapes the requests of a mode."""

    protocol: str = ""
    """The protocol's name."""

    prompts: dict[str, Any] = {}
    """The prompts, before a sample's fields are filled in."""

    settings: dict[str, Any] = {}
    """The protocol's settings."""

    in_words: bool = False
    """Drawings are put into words (text_cot)."""

    saying: dict[str, Any] = {}
    """Generation settings for answers."""

    drawing: dict[str, Any] = {}
    """Generation settings for drawings."""


class CellRecord(Struct):
    """One task in one mode with one canvas: all that shapes its episodes. A resumed run must find the same."""

    task: str = ""
    """The task's name."""

    mode: str = ""
    """`direct`, `visual_cot`, `text_cot`, or another mode of the task."""

    canvas: str = "own"
    """What the model is shown of its drawings: `own`, `blank`, `other`, `oracle`, `corrupt`,
    `caption` or `source`."""

    draw_with: str = ""
    """`svg`: it draws by code that it writes. `native history`: it is sent its own turns back as its provider
    recorded them. Empty: it draws pixels, or nothing, and all is sent in one plain form."""

    steps: str = "truth"
    """Who says how many steps are drawn: `truth` or `model`."""

    on_draw_failure: str = "fail"
    """`fail` or `continue`."""

    source: dict[str, Any] = {}
    """Where the samples come from."""

    play: ModeRecord = ModeRecord()
    """Protocol, prompts and settings."""

    model: dict[str, Any] = {}
    """The model's identity: everything about it that could change an answer."""

    headline: str = ""
    """The score that the gain is measured in."""

    less_is_better: list[str] = []
    """Scores in which less is better: no gain is measured in them."""

    breakdown: list[str] = []
    """The groups that results are split by."""


def condition(draw_with: str) -> str:
    """How a cell that is played otherwise than most says so behind its mode."""
    return f"{'with' if draw_with == NATIVE_HISTORY else 'by'} {draw_with}" if draw_with else ""


class Ended(Struct, frozen=True):
    """How the last start of a run ended."""

    how: str = ""
    """`finished`; `stopped` by a person or at the cost limit; `failed` by an error, or since no call would work."""

    why: str = ""
    """In words, where it did not finish."""


class RunRecord(Struct):
    """What was run."""

    format: int
    """The number of this format."""

    sketchmark: str = ""
    """The version that wrote the folder last."""

    model: ModelAbout = ModelAbout()
    """Who was asked."""

    seed: Count = 0
    """`--seed`."""

    started: str = ""
    """When the run was first started, in UTC."""

    machine: dict[str, Any] = {}
    """`python` and `system`."""

    cells: dict[str, CellRecord] = {}
    """By name, in the order they were asked for."""

    limits: dict[str, int] = {}
    """Cell → `--limit` of its last start: numbers are of that many first samples. Absent: of all in the folder."""

    totals: dict[str, Count] = {}
    """Cell → how many samples it has, within the limit; absent until a start has gone through all of them."""

    shard: str = ""
    """`0/3`: of every three samples the first, a part of a run (`--shard`). Empty: the whole."""

    asked: dict[str, Settings] = {}
    """Cell → the command of its last start, for `sketchmark card`."""

    ended: Ended | None = None
    """How the last start ended; null while it goes on, and where it was killed."""

    def data(self, cell: str) -> Path | None:
        """Where a cell's data lay when it was played; None: nobody said, with `--data` or SKETCHMARK_DATA."""
        asked = self.asked.get(cell)
        return Path(asked.data) if asked and asked.data else None


class PartLine(Struct, omit_defaults=True):
    """A text, a picture or a sound in the context."""

    by: str
    """Who put it there: `task` or `model`."""

    text: str | None = None
    """The text, or absent."""

    picture: str | None = None
    """The picture's name, or absent."""

    sound: str | None = None
    """The sound's name, or absent."""

    native: bool = False
    """Whether the reply's `native` record went along with it in later calls."""


class TurnLine(Struct, omit_defaults=True):
    """One thing that happened. The exact context of a call is everything that earlier turns `added`, plus its own
    `suffix`."""

    act: str
    """`show`, `say`, `draw`, `describe` or `skip`."""

    added: list[PartLine]
    """What stays in the context. After a drawing it is what the model was shown of it (the canvas)."""

    suffix: str = ""
    """Sent with this call only."""

    note: str = ""
    """Why something was skipped."""

    reply: ReplyRecord | None = None
    """What came back, for a call."""

    seconds: Seconds | None = None
    """How long the call took."""


class SampleLine(Struct):
    """The sample, with what is true of it: a run can be scored again without the data set."""

    id: str
    """Unique in its task."""

    fingerprint: str
    """Of all that is asked and true: a sample that changed is noticed."""

    fields: dict[str, Any] = {}
    """Texts that prompts are filled from."""

    pictures: dict[str, str | list[str]] = {}
    """Name → the name of a picture, or a list of them."""

    sounds: dict[str, list[str]] | UnsetType = UNSET
    """Name → the names of sounds, where there are any."""

    target: dict[str, Any] = {}
    """What is true, for the scorers."""

    groups: dict[str, Any] = {}
    """How it is grouped in tables: category, difficulty…; samples of one `cluster` are not independent."""

    steps: int | None = None
    """How many steps the true solution has."""

    frames: list[str] | None = None
    """The true pictures, one per drawing; null where there are none or nothing was drawn."""


class EpisodeLine(Struct, kw_only=True, omit_defaults=True):
    """One episode."""

    index: Count
    """Position of the sample in its task."""

    sample: SampleLine
    """What was asked."""

    mode: str = ""
    """The mode it was played in."""

    canvas: str = ""
    """What the model was shown of its drawings."""

    steps: str = ""
    """Who said how many steps are drawn: `truth` or `model`."""

    turns: list[TurnLine]
    """What happened, in order."""

    failure: Failure | None
    """null, or why it ended early: `kind`, `message`, `blames_model`."""

    started: Seconds
    """Unix time; with sample, repeat and branch it names this try."""

    seconds: Seconds
    """Wall time."""

    repeat: Nth = 0
    """Which of several episodes of the sample it is; absent for the first. The newest line of a sample, repeat and
    branch counts."""

    branch: Nth = 0
    """Which of several answers on the same drawings it is; absent for the first."""

    @property
    def key(self) -> str:
        return episode_key(self.sample.id, self.repeat, self.branch)

    @property
    def place(self) -> tuple[int, int, int]:
        """By which the episodes of a cell are ordered."""
        return self.index, self.repeat, self.branch


class ScoreNumbers(Struct, kw_only=True):
    """A score line but for its notes: what lists, tables and statistics need."""

    index: Count
    """Position of the sample in its task."""

    sample: str
    """The sample's id."""

    fingerprint: str = ""
    """The sample's fingerprint."""

    groups: dict[str, Any] = {}
    """The sample's groups."""

    scored: bool
    """false: a failure that says nothing about the model, a judge without whom there is no score, or a scorer that
    broke."""

    values: dict[str, bool | int | float | None]
    """Score → number, or null where it does not apply."""

    flags: list[str] = []
    """Kinds of trouble: `unparsed`, `truncated`, `refused`, `empty`, `no_picture`, `left_out`, `judge_failed`,
    `scorer_failed`, or the failure's kind."""

    calls_left_out: Count = 0
    """Calls that could not carry the whole context."""

    scoring: str = ""
    """By what rules."""

    judge: str | None = None
    """By which model, if one judged."""

    usage: dict[str, Count] = {}
    """What the episode cost, without what the cache answered."""

    started: Seconds = 0.0
    """The episode's: a retried episode is scored anew."""

    seconds: Seconds = 0.0
    """The episode's wall time."""

    repeat: Nth | UnsetType = UNSET
    """The episode's; absent for the first."""

    branch: Nth | UnsetType = UNSET
    """The episode's; absent for the first."""

    @property
    def key(self) -> str:
        return episode_key(self.sample, self.repeat or 0, self.branch or 0)

    @property
    def place(self) -> tuple[int, int, int]:
        """By which the rows of a cell are ordered."""
        return self.index, self.repeat or 0, self.branch or 0

    @property
    def cluster(self) -> str | int | float | None:
        """Samples that share one are not independent; None: it stands alone. A data set may say it in any form."""
        found = self.groups.get("cluster")
        return found if isinstance(found, (str, int, float)) or found is None else str(found)

    def value(self, metric: str) -> float | None:
        """None where the score does not apply or the episode was not scored."""
        found = self.values.get(metric) if self.scored else None
        if found is not None and abs(found) > LARGEST:
            raise BadInput(f"the score {metric} of {self.sample} is too large to compute with", "score the run again")
        return None if found is None else float(found)


class ScoreRow(ScoreNumbers, kw_only=True):
    """The scores of one episode."""

    notes: dict[str, Any] = {}
    """What the scorers say beside the numbers: `answer`, what was read as the answer, and anything else."""
