"""Types of results.json, the aggregates of a run."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from sketchmark.stats.differences import Difference, Verdict
from sketchmark.stats.intervals import Interval
from sketchmark.tasks.published import Published


class Mean(Struct):
    """A mean over samples."""

    mean: float | None
    """The mean; null without samples."""
    ci95: tuple[float | None, float | None]
    """Its 95% interval; nulls if the data do not determine it."""
    n: int
    """Number of samples."""

    @classmethod
    def of(cls, found: Interval | Difference) -> Mean:
        return Mean(found.mean, (found.low, found.high), found.n)


class Metric(Mean):
    """A score's mean over the samples it applies to."""

    mean: float
    """The mean."""
    method: str = ""
    """Method of the interval: docs/statistics.md."""


class GroupSummary(Struct):
    """The scored samples of one group."""

    n: int
    """Number of samples."""
    metrics: dict[str, Metric]
    """Score → mean."""


class Baseline(Struct):
    """Guessing baselines of one score."""

    constant: float
    """The mean of always giving the first possible reply."""
    random: float
    """The mean of choosing at random among the options of each sample."""
    majority: float
    """The mean of the constant reply that is best on these samples."""
    reply: str
    """That reply."""
    replies: int
    """Number of constant replies among which it is the best."""
    n: int
    """Number of samples."""

    @property
    def best(self) -> float:
        return max(self.constant, self.random, self.majority)


class TwoReadings(Struct, omit_defaults=True):
    """One reply that two scorings parse or score differently."""

    sample: str
    """The sample's id."""
    values: dict[str, float | None]
    """Scoring → the headline score; null if it gives none."""
    readings: dict[str, str | None] = {}
    """Scoring → the parsed answer (the note `answer` as text); null: unparsed. Absent: the scorer has none."""


class ScoringDifference(Struct, kw_only=True, omit_defaults=True):
    """The cell's own scoring minus another scoring, on the replies that both score."""

    difference: float | None
    """Difference of the mean headline scores; null if the score is not a mean of rows."""
    n: int
    """Number of replies."""
    read_differently: int
    """Replies that the two parse differently: the sum of the next three."""
    unparsed: int
    """Replies parsed only by the cell's own scoring."""
    unparsed_own: int
    """Replies parsed only by the other scoring."""
    read_otherwise: int
    """Replies parsed by both, as different answers."""
    from_readings: float
    """Part of the difference that comes from these replies."""
    scored_differently: int
    """Replies with the same answer, as far as known, that are scored differently; the rest of the difference."""
    replies: list[TwoReadings] = []
    """All replies of both kinds, greatest difference first. Only with `--json`: in a run folder they are in the score
    rows."""


class Extraction(Struct, kw_only=True):
    """The extractor's part in the scores of a cell (scoring `extracted`)."""

    model: str
    """The extractor."""

    asked: int
    """Unparsed replies that it was asked about."""

    rests: int
    """Scores that rest on its quotes."""

    without: int
    """Replies in which it found no final answer."""

    rejected: int
    """Quotes that are not in the reply word for word, or are not one answer by the rules of strict."""

    checked: int
    """Replies that strict parses and that it was asked about too, at most 50."""

    compared: int
    """Those of which it gave a usable quote."""

    agreed: int
    """Those in which the quote is the answer that strict parses."""

    failed: int
    """Calls that failed, of both kinds."""

    usage: dict[str, int]
    """Its calls and tokens, without cache hits."""


class Variance(Struct, kw_only=True, omit_defaults=True):
    """Variance of the headline score of a single episode by its source, in squared scores."""

    samples: Mean | None = None
    """Between samples."""
    episodes: Mean | None = None
    """Between episodes of one sample: the sum of the next two, if these can be separated."""
    drawings: Mean | None = None
    """Between drawings of one sample; only with several answers to each."""
    answers: Mean | None = None
    """Between answers to one drawing."""
    sentence: str = ""
    """The proportions in one sentence."""


class Headroom(Struct, kw_only=True, omit_defaults=True):
    """The score if drawings or answers were chosen by the ground truth."""

    random: Mean
    """Drawing and answer chosen at random: the mean score."""
    best_drawing: Mean | None = None
    """Of all drawings of a sample, the one whose answers score best, and a random answer to it."""
    best_answer: Mean | None = None
    """A random drawing, and the best of all answers to it."""
    best: Mean | None = None
    """The best of all answers to all drawings of a sample."""


class Repeats(Struct, kw_only=True, omit_defaults=True):
    """Results of several episodes of each sample, in the headline score. An episode is right if its score is 1."""

    repeats: int
    """Largest number of episodes of a sample."""
    answers: int = 1
    """Largest number of answers to one drawing."""
    pass_at: dict[str, Mean] = {}
    """k → chance that at least one of k episodes is right (unbiased)."""
    pass_all: dict[str, Mean] = {}
    """k → chance that all of k episodes are right (pass^k, unbiased)."""
    majority: Mean | None = None
    """Score of the answer that most episodes of a sample give; unparsed answers have no vote. Absent: there
    are no answers in the notes."""
    ties: int = 0
    """Samples in which several answers have most votes; their score is the mean over these answers."""
    best_of: Mean | None = None
    """Score of the episode whose drawings score best (`best_by`); ties count with their mean."""
    best_by: str = ""
    """The image score."""
    agreement: Mean | None = None
    """Chance that two episodes of a sample give the same answer; unparsed answers are one answer."""
    variance: Variance | None = None
    """Sources of variance."""
    headroom: Headroom | None = None
    """Most that a better choice among drawings and answers could gain."""


class CellResult(Struct, kw_only=True, omit_defaults=True):
    """The results of one cell. Entries of `scorings` have no `task`, `mode`, `canvas` or `steps`."""

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
    samples: int | None = None
    """Samples with a scored episode; absent: `n`, since each sample has one."""
    episodes: int
    """All episodes."""
    metrics: dict[str, Metric]
    """Score → mean."""
    failures: dict[str, int]
    """Kind of failure → number of episodes."""
    cut: float | None = None
    """Proportion of scored episodes with a reply truncated at the token limit; absent: unknown."""
    unparsed: float | None = None
    """Proportion of scored episodes whose answer is unparsed."""
    reasons: dict[str, str] = {}
    """Kind of failure → the first such sample and the reason; not for failures of the reply itself (`unparsed`)."""
    problem: str = ""
    """The reason for a missing number: no score is shown while a scorer fails on a row."""
    left_out: int
    """Episodes in which part of the context could not be sent."""
    calls_left_out: int
    """Calls in which part of the context could not be sent."""
    usage: dict[str, int]
    """Usage of all episodes, also of replies from the cache."""

    paid: dict[str, int] | None = None
    """The part of `usage` that was paid for when the episodes ran; absent: all of it."""

    by: dict[str, dict[str, GroupSummary]] = {}
    """Key of the breakdown → group → its results."""
    scoring: str = ""
    """The scoring."""

    counts: dict[str, int] = {}
    """Number of the task's own summary → the samples that it is of, if not all."""

    remarks: list[str] = []
    """Remarks on the numbers, such as why one has no interval."""

    aggregate: dict[str, Any] = {}
    """The dataset's own summary, for tasks that have one."""
    scorings: dict[str, CellResult] = {}
    """Further scoring → results of the same episodes."""
    against: ScoringDifference | None = None
    """Only in `scorings`: differences from the cell's own scoring."""
    baselines: dict[str, Baseline] = {}
    """Score → guessing baselines, for tasks with options."""
    published: list[Published] = []
    """Published scores, for display; they enter no result of the run."""

    extraction: Extraction | None = None
    """Only by the scoring `extracted`: the extractor's part."""

    repeats: Repeats | None = None
    """Only with several episodes of a sample."""

    unanswered: list[str] | None = None
    """Only of `sketchmark score-file`: samples without a reply."""
    unknown: list[str] | None = None
    """Only of `sketchmark score-file`: replies without a sample."""

    @property
    def spent(self) -> dict[str, int]:
        """Return the part of the usage that did not come from the cache."""
        return self.usage if self.paid is None else self.paid

    def samples_of(self, name: str) -> int:
        """Return the number of samples that a number of the task's own summary is of."""
        return self.counts.get(name, self.n if self.samples is None else self.samples)


class Gain(Struct, omit_defaults=True):
    """A mode minus direct, or direct minus blind, on the samples that both have scored."""

    task: str
    """The task."""
    mode: str
    """The mode, compared with `over`."""
    canvas: str
    """Its canvas."""
    metric: str
    """The task's headline score."""
    gain: float | None
    """The mean difference."""
    ci95: tuple[float | None, float | None]
    """Its 95% interval."""
    p: float | None
    """Two-sided, uncorrected."""
    helped: int
    """Samples that became better."""
    hurt: int
    """Samples that became worse."""
    same: int
    """Samples that stayed the same."""
    n: int
    """All paired samples."""
    p_holm: float | None = None
    """p corrected by Holm over the `family`."""

    family: str = ""
    """The differences over which `p_holm` is corrected. An audit or a comparison with other rows has other families,
    so the same difference has another `p_holm` there."""

    verdict: Verdict | None = None
    """`better` or `worse` if the corrected p is below 0.05, else `unclear`; absent in files of older versions."""

    over: str = "direct"
    """The mode that it is compared with: `direct`, or `blind` for the gain of direct by seeing."""


class BenchmarkTotal(Struct, kw_only=True, omit_defaults=True):
    """The overall score of a benchmark of several tasks in one mode, with constant weights, of all its tasks."""

    benchmark: str
    """Its name."""
    mode: str
    """The mode of all its tasks."""
    canvas: str = "own"
    """As in run.json."""
    scoring: str = ""
    """The scoring."""
    missing: dict[str, str] = {}
    """Task → why it cannot count; while there is one, there is no score."""
    overall: Mean | None = None
    """The score."""
    categories: dict[str, Mean] = {}
    """Category → its score."""
    gains: dict[str, Gain] = {}
    """`overall` and category → this mode's gain over direct."""
    published: list[Published] = []
    """Published scores, for display."""


class Results(Struct, kw_only=True, omit_defaults=True):
    """The aggregates of a run."""

    model: str = ""
    """As typed."""
    tasks: dict[str, CellResult]
    """Cell → its results."""
    gains: list[Gain]
    """Gains of each mode over direct, and of direct over blind."""
    totals: list[BenchmarkTotal] = []
    """Overall scores of benchmarks to which the run's tasks belong."""
    warnings: list[str] = []
    """Warnings of the checks before the run."""
    part: str = ""
    """Description of the shard, if these are the results of one."""
