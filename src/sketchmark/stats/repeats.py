"""Repeated episodes: pass@k, votes, sources of variance, headroom, and how to divide a budget.

Scores are nested: samples hold drawings (repeats), and drawings hold answers. Every number is a mean over samples of
one value per sample, so its interval is that of a mean and treats a sample as a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sketchmark.stats.differences import difference_interval
from sketchmark.stats.intervals import (
    UPPER,
    Clusters,
    Floats,
    Interval,
    Labels,
    Whole,
    interval,
    normal_quantile,
    numbered,
    studentised,
    t_quantile,
)


class Groups:
    """Values by group. The groups have the numbers 0, 1, 2…, and none is empty."""

    def __init__(self, of: Whole) -> None:
        self.of = of
        self._order = np.argsort(of, kind="stable")
        ordered = of[self._order]
        self._starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(of) else ordered

    @property
    def first(self) -> Whole:
        """The place of the first value of each group."""
        return self._order[self._starts]

    @cached_property
    def sizes(self) -> Whole:
        return np.bincount(self.of, minlength=len(self._starts))

    def sum(self, values: Floats) -> Floats:
        """Return the sums, added with more digits: groups with the same values in another order have equal sums."""
        exact = np.add.reduceat(values[self._order].astype(np.longdouble), self._starts) if len(values) else values
        return exact.astype(float)

    def mean(self, values: Floats) -> Floats:
        return self.sum(values) / self.sizes

    def max(self, values: Floats) -> Floats:
        return np.maximum.reduceat(values[self._order], self._starts) if len(values) else values

    def min(self, values: Floats) -> Floats:
        return np.minimum.reduceat(values[self._order], self._starts) if len(values) else values

    def squares(self, values: Floats) -> Floats:
        """Return the sums of squared deviations from the mean of the group."""
        return self.sum((values - self.mean(values)[self.of]) ** 2)

    def variance(self, values: Floats) -> Floats:
        """Return the unbiased variances; 0 for a group of one."""
        return self.squares(values) / np.maximum(1, self.sizes - 1)


@dataclass(frozen=True, eq=False)
class Nested:
    """Scores of answers, each to a drawing (`drawing` has its number), and each drawing of a sample (`sample`)."""

    scores: Floats
    drawing: Groups
    sample: Groups

    @classmethod
    def by(cls, sample: Whole, repeat: Whole, scores: Floats) -> Nested:
        """Make it from the sample and the repeat of each score."""
        drawing = numbered(sample.astype(np.int64) * (int(repeat.max(initial=0)) + 1) + repeat)
        drawings = Groups(drawing)
        return cls(scores, drawings, Groups(numbered(sample[drawings.first])))

    @classmethod
    def of(cls, samples: Sequence[Sequence[Sequence[float]]]) -> Nested:
        """Make it from lists: samples of drawings of answers."""
        rows = [
            (number, repeat, score)
            for number, drawings in enumerate(samples)
            for repeat, answers in enumerate(drawings)
            for score in answers
        ]
        sample, repeat, scores = (np.array(column) for column in zip(*rows, strict=True))
        return cls.by(sample, repeat, scores.astype(float))

    @cached_property
    def of_drawing(self) -> Floats:
        """The mean over the answers to each drawing."""
        return self.drawing.mean(self.scores)

    @cached_property
    def means(self) -> Floats:
        """The mean of each sample: over its drawings, of the means over their answers."""
        return self.sample.mean(self.of_drawing)

    @property
    def noise(self) -> Floats:
        """The variance of each sample's mean."""
        return self.sample.variance(self.of_drawing) / self.sample.sizes

    @property
    def between_drawings(self) -> Floats:
        """Half the mean squared difference of two episodes of a sample with different drawings."""
        inside = self.drawing.squares(self.scores) / self.drawing.sizes
        return self.sample.variance(self.of_drawing) + self.sample.mean(inside)

    @property
    def between_answers(self) -> Floats:
        """The variance between answers to one drawing, by sample; NaN without a drawing with two answers."""
        several = self.drawing.sizes > 1
        variances = np.where(several, self.drawing.variance(self.scores), 0.0)
        counts = self.sample.sum(several.astype(float))
        return np.where(counts > 0, self.sample.sum(variances) / np.maximum(counts, 1), np.nan)

    def take(self, samples: Whole) -> Nested:
        """Return some of the samples, in this order."""
        number = np.full(len(self.sample.sizes), -1)
        number[samples] = np.arange(len(samples))
        of = number[self.sample.of]
        kept = of >= 0
        answers = kept[self.drawing.of]
        drawing = (np.cumsum(kept) - 1)[self.drawing.of[answers]]
        return Nested(self.scores[answers], Groups(drawing), Groups(of[kept]))


Chance = Callable[[int, int, int], float]


def pass_at(n: int, right: int, k: int) -> float:
    """Return the chance that one of k episodes is right, without bias: drawn without replacement from n episodes."""
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def pass_all(n: int, right: int, k: int) -> float:
    """Return the chance that all of k episodes are right, without bias."""
    return math.comb(right, k) / math.comb(n, k)


def chances(chance: Chance, n: Whole, right: Whole, k: int) -> Floats:
    """Return `pass_at` or `pass_all` of many samples."""
    pairs, inverse = np.unique(np.stack([n, right]), axis=1, return_inverse=True)
    found: Floats = np.array([chance(int(a), int(b), k) for a, b in pairs.T])[inverse.reshape(-1)]
    return found


def votes(samples: Groups, answers: Whole, scores: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the score of the most frequent answer of each sample, and whether several are. Then it is the mean over
    them. Equal answers have equal numbers; those below 0 have no vote, and a sample without one scores 0."""
    voting = np.flatnonzero(answers >= 0)
    found, tied = np.zeros(len(samples.sizes)), np.zeros(len(samples.sizes), bool)
    if len(voting):
        choices = Groups(numbered(samples.of[voting] * (int(answers.max()) + 1) + answers[voting]))
        sample = samples.of[voting][choices.first]
        among = Groups(numbered(sample))
        top = choices.sizes == among.max(choices.sizes.astype(float))[among.of]
        score = choices.mean(scores[voting])
        places = sample[among.first]
        found[places] = among.sum(np.where(top, score, 0.0)) / among.sum(top.astype(float))
        tied[places] = among.sum(top.astype(float)) > 1
    return found, tied


def best_by(samples: Groups, guides: Floats, scores: Floats) -> Floats:
    """Return the score of the episode of each sample with the highest guide; the mean if several have it."""
    top = guides == samples.max(guides)[samples.of]
    return samples.sum(np.where(top, scores, 0.0)) / samples.sum(top.astype(float))


def agreements(samples: Groups, answers: Whole) -> Floats:
    """Return the chance that two episodes of a sample give the same answer; needs two episodes of each."""
    choices = Groups(numbered(samples.of * (int(answers.max()) + 2) + answers + 1))
    among, n = Groups(numbered(samples.of[choices.first])), samples.sizes
    return among.sum((choices.sizes * (choices.sizes - 1)).astype(float)) / (n * (n - 1))


@dataclass(frozen=True)
class Components:
    """Variance of the score of a single episode by its source. None: the design does not show it. `episodes` is the
    sum of `drawings` and `answers`, or of what happens within a sample if nothing is drawn."""

    samples: Interval | None
    episodes: Interval | None
    drawings: Interval | None = None
    answers: Interval | None = None

    @property
    def total(self) -> float:
        """The variance of a single episode of a random sample."""
        return sum(max(0.0, one.mean or 0.0) for one in (self.samples, self.episodes) if one)

    def share(self, source: Interval | None) -> float | None:
        """Return the part of the total that comes from a source."""
        found = source.mean if source else None
        return None if found is None or not self.total else max(0.0, found) / self.total


def components(scores: Nested, clusters: Labels | None = None) -> Components:
    """Estimate the components of variance, each without bias and with its interval.

    Twice the variance between two answers is their mean squared difference. For right/wrong scores that is the chance
    that they differ. So answers to one drawing, and episodes with different drawings, have intervals of proportions,
    and `drawings` is the paired difference of the two. The variance between samples is that of their means, without
    the part that comes from the episodes.
    """
    keep = np.flatnonzero(scores.sample.sizes > 1)
    if len(keep) < 2:
        return Components(None, None)
    labels = None if clusters is None else np.asarray(clusters)[keep]
    several = scores.take(keep)
    bounded = bool(np.all((several.scores >= 0) & (several.scores <= 1)))
    within, means, n = several.between_drawings, several.means, len(several.means)
    spread = (means - means.mean()) ** 2 * n / (n - 1) - several.noise
    samples = _floored(_widened(_of_difference(spread, labels, bounded), means, labels))
    episodes = _of_proportion(within, labels, bounded)
    reading = several.between_answers
    if np.isnan(reading).any():
        return Components(samples, episodes)
    drawings = _floored(_of_difference(2 * (within - reading), labels, bounded), 0.5)
    return Components(samples, episodes, drawings, _of_proportion(reading, labels, bounded))


def _widened(found: Interval, means: Floats, labels: Labels | None) -> Interval:
    """Widen the interval of a variance by the error of the mean that it is about. It matters where all deviations
    have nearly one size, as those of right/wrong scores around a half: then they seem to be known exactly."""
    groups = Clusters.of(means, labels)
    if found.mean is None or found.low is None or found.high is None or len(groups.sizes) < 2:
        return found
    more = normal_quantile(UPPER) ** 2 * groups.variance_of_mean()[0]
    low, high = math.hypot(found.mean - found.low, more), math.hypot(found.high - found.mean, more)
    return Interval(found.mean, found.mean - low, found.mean + high, found.n, found.method)


def _of_proportion(values: Floats, labels: Labels | None, bounded: bool) -> Interval:
    """Return the interval of a mean of variances. Those of scores from 0 to 1 are at most a half."""
    found = interval(2 * values if bounded else values, labels)
    return _scaled(found, 0.5) if bounded else _floored(found)


def _of_difference(values: Floats, labels: Labels | None, bounded: bool) -> Interval:
    groups = Clusters.of(values, labels)
    if bounded and float(np.abs(values).max()) <= 1:
        low, high, method = difference_interval(values, groups, binary=False)
    else:
        low, high, method = studentised(groups, 0)
    return Interval(float(values.mean()), low, high, len(values), method)


def _scaled(found: Interval, factor: float) -> Interval:
    low, high = (None if end is None else factor * end for end in (found.low, found.high))
    return Interval(None if found.mean is None else factor * found.mean, low, high, found.n, found.method)


def _floored(found: Interval, factor: float = 1.0) -> Interval:
    """A variance is not negative. Its estimate may be: cut off, it would be biased, so only the interval is."""
    made = _scaled(found, factor)
    low, high = (None if end is None else max(0.0, end) for end in (made.low, made.high))
    return replace(made, low=low, high=high)


_MOST_DF = 10_000
"""Degrees of freedom beyond which t is normal to four digits."""


@dataclass(frozen=True)
class Spread:
    """Variance of a paired gain, by source: true values of samples, one direct episode, one drawing, one answer to
    a drawing."""

    between: float
    direct: float
    drawing: float
    answer: float

    def variance(self, samples: int, repeats: int, answers: int = 1) -> float:
        """Return the variance of the mean gain of such a run."""
        within = self.direct + self.drawing + self.answer / answers
        return (self.between + within / repeats) / samples

    def half_width(self, samples: int, repeats: int, answers: int = 1) -> float:
        """Return half the width of the 95% interval of the mean gain, by t: samples are what it is a mean of."""
        return t_quantile(UPPER, min(samples - 1, _MOST_DF)) * math.sqrt(self.variance(samples, repeats, answers))

    def repeats_for_half(self, repeats: int, answers: int = 1) -> int | None:
        """Return the repeats that halve the interval of the same samples; None if no number does."""
        within = self.direct + self.drawing + self.answer / answers
        left = (self.between + within / repeats) / 4 - self.between
        return math.ceil(within / left - 1e-9) if left > 0 and within > 0 else None


def spread_of(direct: Nested, drawn: Nested, clusters: Labels | None = None) -> Spread | None:
    """Measure the spread of a gain in a run with repeats, sample by sample; None without two repeats on both sides. A
    part that is negative by chance counts as 0. Without several answers, answers count as part of the drawing.
    Clusters add to the variance between samples: further samples are supposed to be clustered alike."""
    both = np.flatnonzero((direct.sample.sizes > 1) & (drawn.sample.sizes > 1))
    if len(both) < 2:
        return None
    one, other = direct.take(both), drawn.take(both)
    read = other.between_answers
    answer = 0.0 if np.isnan(read).all() else float(np.nanmean(read))
    noise = float(one.noise.mean() + other.noise.mean())
    gains = Clusters.of(other.means - one.means, None if clusters is None else np.asarray(clusters)[both])
    if len(gains.sizes) < 2:
        return None
    return Spread(
        between=max(0.0, gains.variance_of_mean()[0] * len(both) - noise),
        direct=float(one.between_drawings.mean()),
        drawing=max(0.0, float(other.between_drawings.mean()) - answer),
        answer=answer,
    )


@dataclass(frozen=True)
class Prices:
    """Cost of one direct episode, of one drawing (everything before the answer) and of one answer to it."""

    direct: float
    drawing: float
    answer: float

    def of(self, samples: int, repeats: int, answers: int) -> float:
        return samples * repeats * (self.direct + self.drawing + answers * self.answer)


@dataclass(frozen=True)
class Division:
    """Division of a budget, its cost, and half the width of the gain's 95% interval."""

    samples: int
    repeats: int
    answers: int
    cost: float
    half_width: float


MOST_ANSWERS = 100
_NEXT = 200
"""Numbers of repeats, and of samples, to try: whole numbers rarely use up a budget."""


def divide(budget: float, spread: Spread, prices: Prices, most_samples: int | None = None) -> Division | None:
    """Return the run with the narrowest interval of the gain that the budget pays for, at least two samples; None if
    it pays for none. `most_samples` is the size of the dataset.

    While there are new samples, one repeat of each is best: a repeat costs as much as a sample and removes less
    variance. Repeats begin where the samples end. Whole numbers leave a part of the budget, so the next numbers of
    repeats and samples are tried too, and all numbers of answers.
    """
    found = [
        (
            spread.half_width(samples, repeats, answers),
            prices.of(samples, repeats, answers),
            samples,
            repeats,
            answers,
        )
        for answers in range(1, (MOST_ANSWERS if spread.answer else 1) + 1)
        for samples, repeats in _affordable(budget / prices.of(1, 1, answers), most_samples)
    ]
    if not found:
        return None
    half_width, cost, samples, repeats, answers = min(found)
    return Division(samples, repeats, answers, cost, half_width)


def _affordable(episodes: float, most_samples: int | None) -> Iterator[tuple[int, int]]:
    """Yield (samples, repeats) worth trying with so many episodes."""
    whole = int(episodes + 1e-9)
    if most_samples is None or whole <= most_samples:
        found = [(whole, 1)]
    else:
        first = whole // most_samples
        found = [(min(most_samples, whole // repeats), repeats) for repeats in range(first, first + _NEXT)]
        fewest = max(2, most_samples - _NEXT)
        found += [(samples, whole // samples) for samples in range(fewest, most_samples + 1)]
    yield from ((samples, repeats) for samples, repeats in found if samples > 1)
