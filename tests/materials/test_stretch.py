"""The trace of the stretch from the invariants alone, against the sum of the principal stretches, at any stretch."""

import numpy as np
import pytest

from pliant.materials import stretch

N = 20000
trace_of_stretch = stretch.trace_of_stretch
every_precision = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])


def stretches(kind: str) -> np.ndarray:
    """(N, 3) principal stretches s_1 >= s_2 >= |s_3|, s_3 negative where the element is inverted."""
    rng = np.random.default_rng(3)
    s = {
        "strained": lambda: np.abs(1 + 0.5 * rng.normal(size=(N, 3))),
        "extreme": lambda: 10 ** rng.uniform(-4, 4, (N, 3)),
        "inverted": lambda: np.abs(1 + 0.5 * rng.normal(size=(N, 3))),
        "extreme-inverted": lambda: 10 ** rng.uniform(-4, 4, (N, 3)),
        "mirrored": lambda: 1 + 0.05 * rng.normal(size=(N, 3)),
    }[kind]()
    s = np.sort(s, axis=1)[:, ::-1]
    return s * (1, 1, 1 if kind in ("strained", "extreme") else -1)


def traces(s: np.ndarray, dtype) -> tuple[np.ndarray, np.ndarray]:
    """tr S by Pliant from invariants rounded to the precision, and exact."""
    wide = s.astype(np.longdouble)
    given = [np.array(a, dtype) for a in ((wide**2).sum(1), (wide**4).sum(1), wide.prod(1))]
    got = trace_of_stretch(*given)
    assert got.dtype == dtype
    return got.astype(float), wide.sum(1).astype(float)


@every_precision
@pytest.mark.parametrize("kind", ["strained", "extreme", "inverted", "extreme-inverted", "mirrored"])
def test_it_is_the_sum_of_the_stretches(kind: str, dtype) -> None:
    """As exact as the invariants allow.

    Rounding e of the invariants moves the root by e over the slope (s_1 + s_2)(s_1 + s_3)(s_2 + s_3) / t^3, and where
    that vanishes, by the root of e; near (s, s, -s) the curvature vanishes too, and less is known.
    """
    s = stretches(kind)
    got, exact = traces(s, dtype)
    epsilon = np.finfo(dtype).eps
    slope = (s[:, 0] + s[:, 1]) * (s[:, 0] + s[:, 2]) * (s[:, 1] + s[:, 2]) / exact**3
    error = np.abs(got - exact) / exact
    assert error.max() < epsilon**0.25
    known = slope > 30 * epsilon**0.5
    assert known.mean() > {"strained": 0.9, "inverted": 0.9}.get(kind, 0.2)
    assert (error[known] * slope[known]).max() < 20 * epsilon


@every_precision
@pytest.mark.parametrize(
    ("s", "trace"),
    [
        ((1, 1, 1), 3),
        ((1e4, 1e4, 1e4), 3e4),
        ((1e-4, 1e-4, 1e-4), 3e-4),
        ((1, 1, 0), 2),
        ((1, 0, 0), 1),
        ((0, 0, 0), 0),
        ((2, 1, -1), 2),
        ((1, 1, -0.5), 1.5),
        ((1, 1, -1), 1),
        ((1e-4, 1e-4, -1e-4), 1e-4),
        ((1e4, 1e4, -1e4), 1e4),
    ],
)
def test_degenerate_elements(s: tuple[float, ...], trace: float, dtype) -> None:
    """Flat, needle-like, vanished and mirrored elements have their trace, and no NaN."""
    got, _ = traces(np.array([s], float), dtype)
    tolerance = np.finfo(dtype).eps ** 0.25 if s[1] == -s[2] else 4 * np.finfo(dtype).eps  # slope and curvature vanish
    assert got[0] == pytest.approx(trace, rel=float(tolerance), abs=0)


def test_slope_is_bounded_where_the_rotation_is_not_unique() -> None:
    """p' = 8 (s_1 + s_2)(s_1 + s_3)(s_2 + s_3), but at least 1e-4 of t^3."""
    for s, slope in (((2.0, 1.0, 0.5), 8 * 3 * 2.5 * 1.5), ((2.0, 1.0, -1.0), 1e-4 * 8)):
        a = np.array(s)
        inverse = stretch.inverse_slope((a**2).sum(), (a**4).sum(), a.prod(), a.sum())
        assert 1 / inverse == pytest.approx(slope, rel=1e-12)
