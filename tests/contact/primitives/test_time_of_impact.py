"""Continuous detection misses nothing that ipctk's exact method finds, and has hardly a false alarm."""

import numpy as np
import pytest

from contact_arrays import closest_points, impact_times
from pliant.contact.primitives.time_of_impact import MAX_STEPS, TOLERANCE
from pliant.elements.closest import EDGE_EDGE, VERTEX_TRIANGLE

KINDS = [VERTEX_TRIANGLE, EDGE_EDGE]


def random_queries(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in a cube of edge 2, moving by 0.7 in each direction (standard deviation)."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(-1, 1, (n, 4, 3))
    return start, start + rng.normal(0, 0.7, start.shape)


def degenerate_queries(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """On a grid of 3 or 5 points a side: flat triangles, parallel and zero-length edges, coincident points, no motion,
    rigid motion; every third query squeezed flat, so that all four points stay coplanar.
    """
    rng = np.random.default_rng(seed)
    start = rng.integers(-1, 2, (n, 4, 3)).astype(float)
    end = start + rng.integers(-2, 3, (n, 4, 3))
    rigid = rng.random(n) < 0.15
    end[rigid] = start[rigid] + rng.integers(-2, 3, (rigid.sum(), 1, 3))
    halves = rng.random(n) < 0.3  # the first point or edge moves rigidly past the rest
    end[halves, 1:] = start[halves, 1:]
    start[::3, :, 2], end[::3, :, 2] = 0.0, 0.0
    return start, end


def ipctk_times(kind: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Tight inclusion without the artificial distance that conservative_rescaling below 1 adds.

    Coplanar motion makes it subdivide without end: then it stops after max_iterations and says hit.
    """
    ipctk = pytest.importorskip("ipctk")
    ipctk.set_logger_level(ipctk.LoggerLevel.off)
    ccd = ipctk.TightInclusionCCD(conservative_rescaling=1.0, max_iterations=20_000)
    query = ccd.point_triangle_ccd if kind == VERTEX_TRIANGLE else ccd.edge_edge_ccd
    answers = [query(*a, *b) for a, b in zip(start, end, strict=True)]
    return np.array([time if hit else np.inf for hit, time in answers])


def are_proved_apart(kind: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(k,) where no contact can be, by bisection: the distance changes by at most twice the largest speed times
    time.
    """
    proved = np.ones(len(start), bool)
    way = end - start
    speed = 2 * np.linalg.norm(way - way.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    query, middle, half = np.arange(len(start)), np.full(len(start), 0.5), 0.5
    while len(query) and half > 1e-9:
        distance = closest_points(kind, start[query] + middle[:, None, None] * way[query])[1]
        is_open = distance <= speed[query] * half
        query, middle = query[is_open], middle[is_open]
        half /= 2
        query, middle = np.concatenate([query, query]), np.concatenate([middle - half, middle + half])
        assert len(query) < 5_000_000
    proved[query] = False
    return proved


def compare(kind: int, start: np.ndarray, end: np.ndarray) -> tuple[float, int]:
    """Nothing missed: whatever is said not to hit is proved apart, also where ipctk says hit; nothing is late.

    Returns the part of false alarms, all of which come nearer than the tolerance, and the number of ipctk's hits that
    are not ours.
    """
    ours, reference = impact_times(kind, start, end), ipctk_times(kind, start, end)
    hit, expected = np.isfinite(ours), np.isfinite(reference)
    assert are_proved_apart(kind, start[~hit], end[~hit]).all()
    before = start + np.where(hit, ours, 0.0)[:, None, None] * (end - start)
    early = hit & (ours > 0)
    assert are_proved_apart(kind, start[early], before[early]).all()  # nothing touches before the time of impact
    alarm = hit & ~expected
    size = np.maximum(np.abs(start - start[:, :1]).max(axis=(1, 2)), 2 * np.abs(end - start).max(axis=(1, 2)))
    assert (closest_points(kind, before)[1] <= TOLERANCE * size)[alarm].all()
    return float(alarm.mean()), int((expected & ~hit).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_ipctk(kind: int) -> None:
    """1500 random queries: the same answers but for near misses; degenerate ones: nothing is missed."""
    false_alarms, missed = compare(kind, *random_queries(1500, 3))
    assert missed == 0
    assert false_alarms < 0.01
    compare(kind, *degenerate_queries(100, 4))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_ipctk_on_many(kind: int) -> None:
    """25,000 random queries."""
    false_alarms, missed = compare(kind, *random_queries(25_000, 5))
    assert missed == 0
    assert false_alarms < 0.01


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [random_queries, degenerate_queries])
def test_misses_nothing(kind: int, make) -> None:
    """25,000 queries: whatever is not hit is proved apart, and nothing touches before the time of impact."""
    start, end = make(25_000, 8)
    times = impact_times(kind, start, end)
    hit = np.isfinite(times)
    assert 0.02 < hit.mean() < 0.98
    assert are_proved_apart(kind, start[~hit], end[~hit]).all()
    early = hit & (times > 0)
    before = start + np.where(hit, times, 0.0)[:, None, None] * (end - start)
    assert are_proved_apart(kind, start[early], before[early]).all()


TRIANGLE = np.array([[-1.0, -1, 0], [2, -1, 0], [-1, 2, 0]])


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("separation", [0.0, 0.25])
def test_falling_vertex(offset: float, separation: float) -> None:
    """From height 1 to -1 over a triangle: at (1 - separation) / 2, never later."""
    start = np.vstack([[0.1, 0.2, 1.0], TRIANGLE])[None] + offset
    end = start.copy()
    end[0, 0, 2] -= 2.0
    time = impact_times(VERTEX_TRIANGLE, start, end, separation)[0]
    exact = (1 - separation) / 2
    assert exact - 1e-5 < time <= exact


def test_rest_touching_and_sliding() -> None:
    """No motion: a hit only if they touch. Sliding at a small distance is no hit, however fast."""
    start = np.vstack([[0.1, 0.2, 1e-3], TRIANGLE])[None].repeat(3, axis=0)
    start[1, 0, 2] = 0.0
    end = start.copy()
    end[2, 0, :2] += 100.0
    start[2, 0, :2] -= 100.0
    np.testing.assert_array_equal(impact_times(VERTEX_TRIANGLE, start, end), [np.inf, 0.0, np.inf])


@pytest.mark.parametrize("thickness", [0.0, 1e-3])
def test_fast_edges_do_not_tunnel(thickness: float) -> None:
    """Two edges meet at 100 m/s in a step of 1/60 s, parallel and crossed, 1 m apart."""
    a = np.array([[-0.01, 0, 1], [0.01, 0, 1]])
    for b in ([[-0.01, 0, 0], [0.01, 0, 0]], [[0, -0.01, 0], [0, 0.01, 0]]):
        start = np.concatenate([a, b])[None]
        end = start.copy()
        end[0, :2, 2] -= 100 / 60
        time = impact_times(EDGE_EDGE, start, end, thickness)[0]
        exact = (1 - thickness) * 60 / 100
        assert exact - 1e-5 < time <= exact


def test_spinning_near_misses_end() -> None:
    """Edges that whirl past each other a hair apart: bounded steps and never a time after a real contact."""
    rng = np.random.default_rng(7)
    start = rng.normal(size=(2000, 4, 3))
    start[:, :, 2] = np.array([1e-4, 1e-4, 0, 0])
    end = start.copy()
    end[:, :2, :2] *= -1
    times = impact_times(EDGE_EDGE, start, end)
    assert np.isinf(times).mean() > 0.99
    assert MAX_STEPS < 1000
