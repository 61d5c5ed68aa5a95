"""Repeated episodes: pass@k, votes, sources of variance, headroom, and how to divide a budget.

Scores are nested: samples hold drawings (repeats), and drawings hold answers. Every number is a mean over samples of
one value per sample, so its interval is that of a mean and treats a sample as a cluster.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, pvariance, variance

import numpy as np

from sketchmark.stats.differences import difference_interval
from sketchmark.stats.intervals import (
    UPPER,
    Clusters,
    Floats,
    Interval,
    Labels,
    interval,
    normal_quantile,
    numbers,
    studentised,
)

Drawings = Sequence[Sequence[float]]
"""Scores of one sample: a list of answers for each drawing."""
Nested = Sequence[Drawings]


def pass_at(n: int, right: int, k: int) -> float:
    """Return the chance that one of k episodes is right, without bias: drawn without replacement from n episodes."""
    return 1 - math.comb(n - right, k) / math.comb(n, k)


def pass_all(n: int, right: int, k: int) -> float:
    """Return the chance that all of k episodes are right, without bias."""
    return math.comb(right, k) / math.comb(n, k)


def vote(answers: Sequence[Hashable], scores: Sequence[float]) -> tuple[float, bool]:
    """Return the score of the most frequent answer, and whether several are. Then it is the mean over them."""
    counts = Counter(answers)
    most = max(counts.values())
    first = {answer: fmean(s for a, s in zip(answers, scores, strict=True) if a == answer) for answer in counts}
    tied = [first[answer] for answer, count in counts.items() if count == most]
    return fmean(tied), len(tied) > 1


def best_by(guides: Sequence[float], scores: Sequence[float]) -> float:
    """Return the score of the episode with the highest guide; the mean if several have it."""
    top = max(guides)
    return fmean(score for guide, score in zip(guides, scores, strict=True) if guide == top)


def agreement(answers: Sequence[Hashable]) -> float:
    """Return the chance that two of the episodes give the same answer."""
    n = len(answers)
    return sum(count * (count - 1) for count in Counter(answers).values()) / (n * (n - 1))


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
    keep = [place for place, drawings in enumerate(scores) if len(drawings) > 1]
    labels = None if clusters is None else [clusters[place] for place in keep]
    several = [scores[place] for place in keep]
    bounded = all(0 <= answer <= 1 for drawings in several for answers in drawings for answer in answers)
    if len(several) < 2:
        return Components(None, None)
    within = numbers([_between_drawings(drawings) for drawings in several])
    means = numbers([fmean(map(fmean, drawings)) for drawings in several])
    noise = numbers([variance(list(map(fmean, drawings))) / len(drawings) for drawings in several])
    n = len(means)
    spread = (means - means.mean()) ** 2 * n / (n - 1) - noise
    samples = _floored(_widened(_of_difference(spread, labels, bounded), means, labels))
    episodes = _of_proportion(within, labels, bounded)
    read = [_between_answers(drawings) for drawings in several]
    if any(one is None for one in read):
        return Components(samples, episodes)
    reading = numbers([one or 0.0 for one in read])
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


def _between_drawings(drawings: Drawings) -> float:
    """Half the mean squared difference of two episodes with different drawings."""
    return variance(list(map(fmean, drawings))) + fmean(map(pvariance, drawings))


def _between_answers(drawings: Drawings) -> float | None:
    found = [variance(answers) for answers in drawings if len(answers) > 1]
    return fmean(found) if found else None


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
    return Interval(made.mean, low, high, made.n, made.method)


@dataclass(frozen=True)
class Spread:
    """Variance of a paired gain: of its true value between samples, and of one direct episode, one drawing and one
    answer to a drawing."""

    between: float
    direct: float
    drawing: float
    answer: float

    def variance(self, samples: int, repeats: int, answers: int = 1) -> float:
        """Return the variance of the mean gain of such a run."""
        within = self.direct + self.drawing + self.answer / answers
        return (self.between + within / repeats) / samples

    def half_width(self, samples: int, repeats: int, answers: int = 1) -> float:
        return normal_quantile(UPPER) * math.sqrt(self.variance(samples, repeats, answers))

    def repeats_for_half(self, repeats: int, answers: int = 1) -> int | None:
        """Return the repeats that halve the interval of the same samples; None if no number does."""
        within = self.direct + self.drawing + self.answer / answers
        left = (self.between + within / repeats) / 4 - self.between
        return math.ceil(within / left - 1e-9) if left > 0 and within > 0 else None


def spread_of(direct: Nested, drawn: Nested) -> Spread | None:
    """Measure the spread of a gain in a run with repeats, sample by sample; None without two repeats on both sides. A
    part that is negative by chance counts as 0. Without several answers, answers count as part of the drawing."""
    pairs = [(a, b) for a, b in zip(direct, drawn, strict=True) if len(a) > 1 and len(b) > 1]
    if len(pairs) < 2:
        return None
    gains = [fmean(map(fmean, b)) - fmean(map(fmean, a)) for a, b in pairs]
    noise = [variance(list(map(fmean, one))) / len(one) for pair in pairs for one in pair]
    read = [found for _, b in pairs if (found := _between_answers(b)) is not None]
    answer = fmean(read) if read else 0.0
    return Spread(
        between=max(0.0, variance(gains) - 2 * fmean(noise)),
        direct=fmean(_between_drawings(a) for a, _ in pairs),
        drawing=max(0.0, fmean(_between_drawings(b) for _, b in pairs) - answer),
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
    """How to divide a budget, its cost, and half the width of the gain's 95% interval."""

    samples: int
    repeats: int
    answers: int
    cost: float
    half_width: float


MOST_ANSWERS = 100
_NEXT = 200
"""Repeats beyond the first to try: whole numbers of samples and repeats rarely use up a budget."""


def divide(budget: float, spread: Spread, prices: Prices, most_samples: int | None = None) -> Division | None:
    """Return the run with the narrowest interval of the gain that the budget pays for, at least two samples; None if
    it pays for none. `most_samples` is the size of the dataset.

    While there are new samples, one repeat of each is best: a repeat costs as much as a sample and removes less
    variance. Repeats begin where the samples end. Whole numbers leave a part of the budget, so the next numbers of
    repeats are tried too.
    """
    found = [
        (spread.variance(samples, repeats, answers), prices.of(samples, repeats, answers), samples, repeats, answers)
        for answers in range(1, _most_answers(spread, prices) + 1)
        for samples, repeats in _affordable(budget / prices.of(1, 1, answers), most_samples)
    ]
    if not found:
        return None
    _, cost, samples, repeats, answers = min(found)
    return Division(samples, repeats, answers, cost, spread.half_width(samples, repeats, answers))


def _affordable(episodes: float, most_samples: int | None) -> Iterator[tuple[int, int]]:
    """Yield (samples, repeats) worth trying with so many episodes."""
    first = max(1, int(episodes / most_samples + 1e-9)) if most_samples else 1
    for repeats in range(first, first + _NEXT):
        samples = int(episodes / repeats + 1e-9)
        samples = min(samples, most_samples) if most_samples else samples
        if samples > 1:
            yield samples, repeats


def _most_answers(spread: Spread, prices: Prices) -> int:
    """Return a number of answers beyond which more cannot help, even if a sample is the only source of variance."""
    rest = spread.direct + spread.drawing
    if not spread.answer:
        return 1
    if not prices.answer or not rest:
        return MOST_ANSWERS
    best = math.sqrt(spread.answer * (prices.direct + prices.drawing) / (rest * prices.answer))
    return min(MOST_ANSWERS, math.ceil(best) + 1)
