"""Our few distribution functions against SciPy's."""

import pytest
import scipy.stats

from sketchmark.stats.intervals import beta_cdf, binomial_cdf, normal_quantile, t_quantile


@pytest.mark.parametrize("a", [0.5, 1.0, 3.5, 40.0, 5000.0])
@pytest.mark.parametrize("b", [0.5, 2.0, 17.0, 8000.0])
def test_the_beta_distribution_agrees_with_scipy(a: float, b: float) -> None:
    middle = a / (a + b)
    for x in (0.0, middle / 3, middle, (1 + middle) / 2, 1.0):
        assert beta_cdf(x, a, b) == pytest.approx(scipy.stats.beta.cdf(x, a, b), rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (0, 1), (0, 40), (3, 10), (10, 10), (480, 1000), (9_700, 20_000)])
def test_the_binomial_distribution_agrees_with_scipy(k: int, n: int) -> None:
    for p in (0.1, 0.5, 0.93):
        assert binomial_cdf(k, n, p) == pytest.approx(scipy.stats.binom.cdf(k, n, p), rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("df", [1.0, 1.7, 3.0, 9.0, 29.0, 123.4, 20_000.0])
def test_t_quantiles_agree_with_scipy_also_for_broken_degrees_of_freedom(df: float) -> None:
    for p in (0.8, 0.975, 0.999):
        assert t_quantile(p, df) == pytest.approx(scipy.stats.t.ppf(p, df), rel=1e-8)


def test_t_approaches_the_normal_distribution() -> None:
    assert t_quantile(0.975, 1e7) == pytest.approx(normal_quantile(0.975), rel=1e-6)
