"""Which spheres are in contact in a step, against all pairs looked at one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.constraints.rows import empty_rows
from pliant.grains.cells import FOLLOWING
from pliant.grains.detection import GrainDetector
from pliant.grains.record import Motion
from pliant.grains.touching import no_points, no_triangles
from pliant.kernels.threads import Team
from pliant.model import build_model

TOLERANCE = 0.1  # of the smallest radius
TIMES = np.linspace(0.0, 1.0, 33)


def found_pairs(x, way, radius, threads=1):
    """Rows of contacts as detection finds them, and how many there are."""
    scene = pl.Scene()
    scene.add_particles(x, radius=radius)
    model = build_model(scene)
    detector = GrainDetector(model, TOLERANCE, Team(threads), no_points(), no_triangles())
    motion = Motion(x, x + way, np.ones(len(x)), 0.01)
    rows, count = detector.detect(motion, 0.0, empty_rows(64, np.float32), 0)
    return rows, count


def as_set(rows, count):
    pairs = [tuple(pair) for pair in rows.vertices[:count, :2].tolist()]
    assert len(set(pairs)) == len(pairs)  # none twice
    return set(pairs)


def way_distances(x, way, i, j):
    """Distances of two on their ways, (33 parts of the way of i, 33 of that of j)."""
    a, b = (x[k] + TIMES[:, None] * way[k] for k in (i, j))
    return np.linalg.norm(a[:, None] - b[None], axis=2)


def cloud(seed, count, spread, speed, mixes):
    """Spheres of unlike radii at random, those of one kind with a common motion, some at rest, some very fast."""
    random = np.random.default_rng(seed)
    radius = random.uniform(0.5, 1.0, count) if mixes else np.full(count, 1.0)
    x = random.uniform(0.0, spread, (count, 3)) + random.normal(0, 1000.0, 3)
    way = speed * random.normal(0.0, 1.0, 3) + random.normal(0.0, 0.3 * speed, (count, 3))
    way[random.random(count) < 0.3] = 0.0
    way[random.random(count) < 0.05] *= 10.0
    if mixes:
        radius[0] = 8.0
    return x, way, radius


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000), spread=st.sampled_from([6.0, 20.0, 300.0]),
    speed=st.sampled_from([0.0, 0.3, 3.0, 30.0]), mixes=st.booleans(),
)  # fmt: skip
def test_none_who_meet_within_the_step_is_missed(seed, spread, speed, mixes):
    """Whoever overlap at one of 33 times on their straight ways, or with one of them, or both, stopped at such a time,
    are in contact; and those in contact do come within the tolerance on their ways.
    """
    x, way, radius = cloud(seed, 30, spread, speed, mixes)
    pairs = as_set(*found_pairs(x, way, radius))
    slack, following = TOLERANCE * radius.min(), FOLLOWING * radius.max()
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            rest = radius[i] + radius[j]
            distances = way_distances(x, way, i, j)
            follows = distances[0, 0] - rest - slack < following
            if (distances.min() if follows else np.diag(distances).min()) < rest:
                assert (i, j) in pairs
            elif (i, j) in pairs:
                step = max(np.linalg.norm(way[i]), np.linalg.norm(way[j])) / 32
                assert distances.min() <= rest + slack + step + 1e-9


def test_contacts_depend_on_no_cell_and_no_thread():
    """One more sphere, far away, from where cells are counted then, changes no contact; nor do two threads, nor their
    order.
    """
    x, way, radius = cloud(3, 300, 14.0, 1.0, True)
    rows, count = found_pairs(x, way, radius)
    for shift in (0.37, 1.9):
        corner = x.min(axis=0) - 100.0 - shift
        more = found_pairs(np.vstack([x, corner]), np.vstack([way, np.zeros(3)]), np.append(radius, 1.0))
        assert as_set(*more) == as_set(rows, count)
    again, number = found_pairs(x, way, radius, threads=2)
    assert number == count > 500
    np.testing.assert_array_equal(again.vertices[:count], rows.vertices[:count])
    np.testing.assert_array_equal(again.normal[:count], rows.normal[:count])


def test_who_falls_side_by_side_is_no_contact():
    """A cubic packing with gaps of half a radius that moves on by five radii as one: each meets those of its row within
    eight radii, if they are stopped, and nobody else.
    """
    x = 2.5 * np.stack(np.meshgrid(*[np.arange(6.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    way = np.tile([0.0, 0.0, -5.0], (len(x), 1))
    rows, count = found_pairs(x, way, np.ones(len(x)))
    own, other = x[rows.vertices[:count, 0]], x[rows.vertices[:count, 1]]
    np.testing.assert_array_equal(own[:, :2], other[:, :2])
    # gaps to the next but one and to the third are 3 and 5.5 radii, of which the first and not the second is gone
    assert count == 36 * (5 + 4)


def test_the_normal_is_that_of_the_impact():
    """A sphere passes another at rest by 1.2 radii to the side: at the impact sin of the angle to its way is 0.6."""
    x, way = np.array([[0.0, 0.0, 0.0], [1.2, 0.0, 30.0]]), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -40.0]])
    rows, count = found_pairs(x, way, np.ones(2))
    assert count == 1
    np.testing.assert_allclose(rows.normal[0], [-0.6, 0.0, -0.8], atol=1e-6)
    assert rows.normal[0] @ rows.separation[0] - rows.rest[0] == pytest.approx(0.6 * 1.2 + 0.8 * 30 - 2.0, rel=1e-6)


def test_no_contact_is_lost_to_rounding_in_a_wide_scene():
    """Pairs that are farther from the first cell than single precision can tell neighbours apart: those with a gap just
    below the tolerance are in contact, those with one just above it are not.
    """
    random = np.random.default_rng(5)
    gaps = np.where(np.arange(500) % 2 == 0, 0.999, 1.001) * TOLERANCE
    first, side = random.uniform(0.0, 1e8, (500, 3)), random.normal(size=(500, 3))
    second = first + (2.0 + gaps[:, None]) * side / np.linalg.norm(side, axis=1, keepdims=True)
    x = np.concatenate([first, second])
    pairs = as_set(*found_pairs(x, np.zeros_like(x), np.ones(1000)))
    assert pairs == {(k, k + 500) for k in range(0, 500, 2)}
