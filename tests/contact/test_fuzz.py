"""Whatever the triangles: no crash, no hang, finite contacts that name what they should."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contact_arrays import open_rules
from pliant.contact.contact_set import ContactSet, depths
from pliant.contact.detection import continuous_contacts, find_penetrations, track_sides
from pliant.contact.response.potential import ContactPotential
from pliant.contact.search.colliders import make_colliders
from pliant.contact.tracking.side_history import no_side_history
from pliant.kernels.threads import Team

soups = settings(deadline=None, max_examples=60)


def check(contacts: ContactSet, x: np.ndarray) -> None:
    """Finite, balanced, unit normals; no vertex on both sides."""
    assert all(np.isfinite(array).all() for array in contacts)
    assert np.abs(contacts.weights.sum(axis=1)).max(initial=0.0) < 1e-9
    np.testing.assert_allclose(np.linalg.norm(contacts.normals, axis=1), 1, atol=1e-9)
    assert np.isfinite(depths(contacts, x)).all()
    ours = np.where(contacts.kind[:, None] == 0, [True, False, False, False], [True, True, False, False])
    for corners, first in zip(contacts.vertices, ours, strict=True):
        assert not set(corners[first]) & set(corners[~first])


@soups
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(3, 30),
    m=st.integers(0, 40),
    grid=st.sampled_from([0, 2, 4]),
    motion=st.sampled_from([0.0, 1e-12, 0.3, 1e3]),
    radius=st.sampled_from([0.0, 0.05]),
    offset=st.sampled_from([0.0, 1e7]),
)
def test_triangle_soups(
    team: Team, seed: int, n: int, m: int, grid: int, motion: float, radius: float, offset: float
) -> None:
    """Random triangles, some without area, some that name a vertex twice; on a grid, vertices coincide."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 3)) if grid == 0 else rng.integers(0, grid, (n, 3)) / grid
    x = x + offset
    x1 = x + motion * (rng.normal(size=x.shape) if grid == 0 else rng.integers(-1, 2, x.shape))
    colliders = make_colliders(rng.integers(0, n, (m, 3)), np.zeros((0, 4), int), open_rules(n), np.full(n, radius))
    now = find_penetrations(team, colliders, x).contacts
    check(now, x)
    check(continuous_contacts(team, colliders, x, x1), x1)
    history = track_sides(team, colliders, track_sides(team, colliders, no_side_history(), x, x), x, x1)
    check(find_penetrations(team, colliders, x1, history).contacts, x1)
    check(continuous_contacts(team, colliders, x1, x, history), x)
    ContactPotential(now, 1.0, 0.0, x).refresh(x1)
    check(now, x1)


@soups
@given(seed=st.integers(0, 2**32 - 1), m=st.integers(1, 12), squash=st.sampled_from([1.0, 0.0, -1.0]))
def test_tet_soups(team: Team, seed: int, m: int, squash: float) -> None:
    """Separate random tets that overlap, then flattened or turned inside out."""
    rng = np.random.default_rng(seed)
    x = rng.random((4 * m, 3))
    tets = np.arange(4 * m).reshape(m, 4)
    colliders = make_colliders(np.zeros((0, 3), int), tets, open_rules(4 * m, np.repeat(np.arange(m), 4)))
    check(find_penetrations(team, colliders, x).contacts, x)
    x1 = x.copy()
    x1[: 2 * m, 2] *= squash
    check(continuous_contacts(team, colliders, x, x1), x1)
    check(find_penetrations(team, colliders, x1).contacts, x1)
