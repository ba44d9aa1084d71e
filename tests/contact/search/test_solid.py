"""The least width of tets: what moves less in a step cannot pass a solid."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.detector import Detector
from pliant.contact.response.scale import scale_of
from pliant.contact.search.solid import distances_of_edges, heights, least_width
from pliant.geometry import shapes
from pliant.kernels.threads import Team


@pytest.mark.parametrize("threads", [1, 3])
def test_the_least_width_of_random_tets(threads: int) -> None:
    """As the seven directions give it in NumPy; 30,000 tets are shared by threads."""
    rng = np.random.default_rng(0)
    x, tets = rng.normal(size=(400, 3)), rng.integers(0, 400, (30_000, 4))
    tets = tets[[len(set(t)) == 4 for t in tets.tolist()]]
    expected = np.minimum(heights(x[tets]), distances_of_edges(x[tets])).min()
    assert least_width(Team(threads), tets, x) == pytest.approx(expected, rel=1e-9)
    assert least_width(Team(threads), tets[:0], x) == np.inf


def test_it_changes_by_at_most_the_motion(team: Team) -> None:
    """Random motions of a mesh; the bound is reached when a box is squashed along an axis."""
    mesh, rng = shapes.box((1, 1, 1), (3, 3, 3)), np.random.default_rng(1)
    before = least_width(team, mesh.tets, mesh.points)
    for size in (1e-3, 1e-2, 0.05):
        d = rng.uniform(-size, size, mesh.points.shape)
        spread = np.linalg.norm(np.ptp(d, axis=0))
        assert abs(least_width(team, mesh.tets, mesh.points + d) - before) <= spread


def detector(team: Team) -> Detector:
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e4)
    for z in (0.0, 3.0):
        mesh = shapes.box((1, 1, 1), (2, 2, 2)).transformed(translation=(0, 0, z))
        scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    model = pl.Simulation(scene, pl.VBD(iterations=1)).model
    assert model.contact is not None
    return Detector(model.contact, 0.01, team, scale_of(model, 0.01, np.ones(model.n_vertices)))


def may_pass(own: Detector, start: np.ndarray, end: np.ndarray, width: float | None = None) -> tuple[bool, float]:
    return own._tracked.may_pass_solids(own.team, start, end, own.least_width if width is None else width)


def test_a_squashed_solid_can_be_passed_by_less_motion(team: Team) -> None:
    """A motion of a fifth of the least width passes no tet as it starts, but does once the box is a tenth as high."""
    own = detector(team)
    start = own.model.positions
    step = 0.2 * own.least_width
    upper = own.model.body == 1
    moved = start - np.where(upper[:, None], (0.0, 0.0, step), 0.0)
    assert not may_pass(own, start, moved)[0]
    squashed = detector(team)
    flat = start * np.where(upper[:, None], 1.0, (1.0, 1.0, 0.1))
    squashed._begin_at(flat, squashed.side_history)
    assert squashed.least_width < 0.2 * own.least_width / 0.2
    assert may_pass(squashed, flat, flat - np.where(upper[:, None], (0.0, 0.0, step), 0.0))[0]


def test_a_solid_that_is_squashed_within_the_step_counts_as_it_ends(team: Team) -> None:
    """The width at the end is what decides; it is measured only if the motion may have changed it enough."""
    own = detector(team)
    start, width = own.model.positions, own.least_width
    slow = start + np.where(own.model.body[:, None] == 1, (0.0, 0.0, 1e-3 * width), 0.0)
    passes, after = may_pass(own, start, slow)
    assert not passes
    assert after == pytest.approx(0.999 * width, rel=1e-9)  # a bound, not measured again
    assert may_pass(own, slow, slow * (1.0, 1.0, 0.05), after)[0]
