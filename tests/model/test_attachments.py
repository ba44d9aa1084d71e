"""Attachments as pairs, and bad ones: one error that names body, link, value and remedy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.energies.elements import energy_of
from pliant.model.attachments import attachment_pairs

MESH = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))


@pytest.fixture
def scene():
    scene = pl.Scene()
    for name in ("one", "two"):
        scene.add_solid(MESH, pl.StableNeoHookean.from_young(1e5, 0.3), name=name)
    return scene


@settings(deadline=None, derandomize=True, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), p=st.integers(1, 4), q=st.integers(1, 4), same=st.booleans())
def test_pairs_hold_the_energy_of_the_links(seed, p, q, same):
    """k/2 |sum a x - sum b x|^2, for any corners and weights, also of one body with corners in common."""
    rng = np.random.default_rng(seed)
    scene = pl.Scene()
    one, two = (scene.add_solid(MESH, pl.StableNeoHookean.from_young(1e5, 0.3)) for _ in range(2))
    two = one if same else two
    k, n = 5, MESH.n_vertices
    a, b = rng.integers(0, 8, (k, p)), rng.integers(0, 8, (k, q))
    if same:
        b[:, 0] = 8 + np.arange(k)  # else a link might join a point with itself
    wa, wb = rng.uniform(0.1, 1, (k, p)), rng.uniform(0.1, 1, (k, q))
    wa, wb = wa / wa.sum(axis=1, keepdims=True), wb / wb.sum(axis=1, keepdims=True)
    link = scene.attach(one, a, two, b, 70.0, wa, wb)
    x = rng.normal(0, 1, (2 * n, 3))
    first = 0 if same else n
    block = attachment_pairs(link, 0, first)
    ends = np.einsum("kp,kpa->ka", wa, x[a]) - np.einsum("kq,kqa->ka", wb, x[first + b])
    assert energy_of(block).energy(block, x) == pytest.approx(35.0 * np.sum(ends**2), rel=1e-11)
    assert (block.elements[:, 0] != block.elements[:, 1]).all()


def test_a_mask_selects_vertices(scene):
    one, two = scene.bodies
    link = scene.attach(one, MESH.points[:, 0] > 0.149, two, MESH.points[:, 0] < -0.149, 10.0)
    np.testing.assert_array_equal(link.vertices_a[:, 0], np.flatnonzero(MESH.points[:, 0] > 0.149))


FACE, EVEN = [[0, 1, 2]], [[0.5, 0.25, 0.25]]


@pytest.mark.parametrize(
    ("vertices_a", "vertices_b", "stiffness", "options", "parts"),
    [
        ([0, 99], [0, 1], 1.0, {}, ("vertices_a of one", "link 1", "vertex 99", "0 to 35")),
        ([0, 1], [-1, 1], 1.0, {}, ("vertices_b of two", "link 0", "vertex -1")),
        ([0.5], [0], 1.0, {}, ("vertices_a of one", "float64")),
        ([], [], 1.0, {}, ("vertices_a of one", "shape (0,)")),
        ([[0, 1, 2, 3, 4]], [0], 1.0, {}, ("vertices_a of one", "shape (1, 5)")),
        ([0, 1], [0], 1.0, {}, ("2 points of one", "1 of two")),
        ([0], [0], 0.0, {}, ("stiffness is 0.0", "[N/m]")),
        ([0], [0], -3.0, {}, ("stiffness is -3.0", "[N/m]")),
        (FACE, [0], 1.0, {}, ("weights_a of one are missing", "(1, 3)")),
        (FACE, [0], 1.0, {"weights_a": [[0.5, 0.5]]}, ("weights_a of one", "shape (1, 2)", "(1, 3)")),
        (FACE, [0], 1.0, {"weights_a": [[0.5, 0.5, 0.1]]}, ("weights_a of one", "link 0", "sum to 1.1")),
        ([0], FACE, 1.0, {"weights_b": [[0.5, 0.5, np.nan]]}, ("weights_b of two", "finite")),
    ],
)
def test_bad_attachments_are_told(scene, vertices_a, vertices_b, stiffness, options, parts):
    one, two = scene.bodies
    with pytest.raises(pl.SceneError) as error:
        scene.attach(one, vertices_a, two, vertices_b, stiffness, **options)
    for part in ("attach", *parts):
        assert part in str(error.value)
    assert not scene.attachments


def test_a_point_is_not_attached_to_itself(scene):
    one, _ = scene.bodies
    with pytest.raises(pl.SceneError, match="link 1 joins a point of one with itself"):
        scene.attach(one, [3, 4], one, [5, 4], 1.0)


def test_bodies_of_other_scenes_are_told(scene):
    stranger = pl.Scene().add_solid(MESH, pl.StableNeoHookean.from_young(1e5, 0.3), name="stranger")
    with pytest.raises(pl.SceneError, match="'stranger' is not a body of this scene"):
        scene.attach(scene.bodies[0], [0], stranger, [0], 1.0)
