"""results.json, as types: the aggregates of a run."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sketchmark.stats.differences import Difference, Verdict
from sketchmark.stats.intervals import Interval
from sketchmark.tasks.published import Published


class Mean(Struct):
    """A mean over samples."""

    mean: float | None
    """The mean; null where there is nothing to average."""

    ci95: tuple[float | None, float | None]
    """Its 95 % interval; nulls where the data say nothing about the spread."""

    n: int
    """Over how many samples."""

    @classmethod
    def of(cls, found: Interval | Difference) -> Mean:
        return Mean(found.mean, (found.low, found.high), found.n)


class Metric(Mean):
    """A score's mean over the samples it applies to."""

    mean: float
    """The mean."""

    method: str = ""
    """How the interval was made: docs/statistics.md."""


class GroupSummary(Struct):
    """The scored samples of one group."""

    n: int
    """How many."""

    metrics: dict[str, Metric]
    """Score → mean."""


class Baseline(Struct):
    """What a score is worth to somebody who replies without having looked."""

    constant: float
    """The mean of always giving the first reply that can be given."""

    random: float
    """The mean of choosing evenly among the replies that each sample offers."""

    majority: float
    """The mean of the constant reply that is best on these very samples."""

    reply: str
    """That reply."""

    replies: int
    """Of how many constant replies it is the best."""

    n: int
    """Over how many samples."""

    @property
    def best(self) -> float:
        return max(self.constant, self.random, self.majority)


class TwoReadings(Struct, omit_defaults=True):
    """One reply that two scorings read differently, or read alike and scored differently."""

    sample: str
    """The sample's id."""

    values: dict[str, float | None]
    """Scoring → the headline score; null where it gives none."""

    readings: dict[str, str | None] = {}
    """Scoring → what it read (the note `answer`, in words), null: nothing. Absent: its scorer does not say."""


class ScoringDifference(Struct, kw_only=True, omit_defaults=True):
    """The cell's own scoring minus the one that this stands under, on the replies that both score."""

    difference: float | None
    """Of the means of the headline score; null where it is no mean of rows."""

    n: int
    """Over how many replies."""

    read_differently: int
    """Replies that the two read differently: the next three together."""

    unparsed: int
    """Of these, read by the cell's own scoring alone."""

    unparsed_own: int
    """Of these, read by the other scoring alone."""

    read_otherwise: int
    """Of these, read by both, as different answers."""

    from_readings: float
    """How much of the difference they make."""

    scored_differently: int
    """Replies that are read alike, as far as can be told, and scored differently; they make the rest."""

    replies: list[TwoReadings] = []
    """All of both kinds, those that make the greatest difference first. With `--json` only: in a run folder they are
    in the lines of scores."""


class CellResult(Struct, kw_only=True, omit_defaults=True):
    """The numbers of one cell. What stands in `scorings` has no `task`, `mode`, `canvas` or `steps` of its own."""

    task: str = ""
    """As in run.json."""

    mode: str = ""
    """As in run.json."""

    canvas: str = ""
    """As in run.json."""

    draw_with: str = ""
    """As in run.json."""

    steps: str = ""
    """As in run.json."""

    headline: str = ""
    """As in run.json."""

    n: int
    """Scored episodes."""

    episodes: int
    """All episodes."""

    metrics: dict[str, Metric]
    """Score → mean."""

    failures: dict[str, int]
    """Kind of trouble → episodes."""

    cut: float | None = None
    """Share of the scored episodes with a reply that the token limit cut (`truncated`); absent: not known."""

    unparsed: float | None = None
    """Share of the scored episodes whose answer could not be read."""

    reasons: dict[str, str] = {}
    """Kind of failure → the first such sample, and why in words; not where it is in the reply itself (`unparsed`)."""

    problem: str = ""
    """Why a number is missing that should be here, in words: no score is shown while a scorer fails on a row."""

    left_out: int
    """Episodes in which a part of the context could not be passed on."""

    calls_left_out: int
    """Such calls."""

    usage: dict[str, int]
    """What all episodes cost."""

    by: dict[str, dict[str, GroupSummary]] = {}
    """For each key of the breakdown: group → its numbers."""

    scoring: str = ""
    """By what rules."""

    aggregate: dict[str, Any] = {}
    """The data set's own summary, for tasks that have one."""

    scorings: dict[str, CellResult] = {}
    """The same episodes by other rules."""

    against: ScoringDifference | None = None
    """In `scorings` only: what the cell's own scoring reads and scores differently."""

    baselines: dict[str, Baseline] = {}
    """Score → what guessing gets; for tasks that offer answers to choose among."""

    published: list[Published] = []
    """What others published for the same, to look at; no number of the run is made of it."""

    unanswered: list[str] | None = None
    """`sketchmark score-file` only: samples without a reply."""

    unknown: list[str] | None = None
    """`sketchmark score-file` only: replies without a sample."""


class Gain(Struct, omit_defaults=True):
    """A mode minus direct, on the samples that both have scored."""

    task: str
    """The task."""

    mode: str
    """The mode that is compared with direct."""

    canvas: str
    """Its canvas."""

    metric: str
    """The task's headline score."""

    gain: float | None
    """The mean difference."""

    ci95: tuple[float | None, float | None]
    """Its 95 % interval."""

    p: float | None
    """Two-sided, uncorrected."""

    helped: int
    """Samples that became better."""

    hurt: int
    """Samples that became worse."""

    same: int
    """Samples that stayed the same."""

    n: int
    """Samples in all."""

    p_holm: float | None = None
    """Holm-corrected over the differences that `sketchmark compare` shows of this run; other canvases over theirs."""

    verdict: Verdict | None = None
    """`better` or `worse` where the corrected p is below 0.05, else `unclear`; not in files of older versions."""


class BenchmarkTotal(Struct, kw_only=True, omit_defaults=True):
    """The score of a benchmark of several tasks in one mode: weighted by constants, of all its tasks or none."""

    benchmark: str
    """Its name."""

    mode: str
    """The mode that all its tasks were played in."""

    canvas: str = "own"
    """As in run.json."""

    scoring: str = ""
    """By what rules."""

    missing: dict[str, str] = {}
    """Task → why it cannot be counted; while there is one, there is no score."""

    overall: Mean | None = None
    """The score."""

    categories: dict[str, Mean] = {}
    """Category → its score."""

    gains: dict[str, Gain] = {}
    """`overall` and category → what this mode changed over direct, sample by sample."""

    published: list[Published] = []
    """What others published for the same, to look at."""


class Results(Struct, kw_only=True, omit_defaults=True):
    """The aggregates of a run."""

    model: str = ""
    """As typed."""

    tasks: dict[str, CellResult]
    """Cell → its numbers."""

    gains: list[Gain]
    """What each mode changed."""

    totals: list[BenchmarkTotal] = []
    """Scores of benchmarks that the run's tasks are a part of."""

    warnings: list[str] = []
    """What the checks before the run found."""

    part: str = ""
    """In words, that these are the numbers of a shard, a part of a run."""
