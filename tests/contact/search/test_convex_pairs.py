"""Planes between convex rigid bodies: axes against all fifteen in NumPy, and contacts that do not get lost."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import pliant as pl
from pliant.contact.search.box_axes import BOX, pairs_of_boxes, write_box_axes
from pliant.contact.search.convex_pairs import PlaneSearch, bounds_of
from pliant.elements.closest import EDGE_EDGE
from pliant.geometry import rotations
from pliant.lanes.compiled import cached

SIGNS = np.array(list(product((-1, 1), repeat=3)))


def least_overlap(one: np.ndarray, other: np.ndarray) -> tuple[float, np.ndarray]:
    """[m] of two boxes (12,), three directions and halves, then the middle, by their corners along fifteen axes."""
    (A, p, middle), (B, q, other_middle) = ((box[:9].reshape(3, 3), box[9:12], box[12:]) for box in (one, other))
    corners = [m + (SIGNS * h) @ axes for axes, h, m in ((A, p, middle), (B, q, other_middle))]
    axes = [*A, *B, *(np.cross(a, b) for a in A for b in B)]
    found = []
    for axis in (axis / np.linalg.norm(axis) for axis in axes if np.linalg.norm(axis) > 1e-3):
        for n in (axis, -axis):
            found.append(((corners[1] @ n).max() - (corners[0] @ n).min(), n))
    return min(found, key=lambda pair: pair[0])


def test_boxes_overlap_along_the_axis_that_their_corners_say() -> None:
    """Of pairs in all lanes of several packs: the overlap is that of the best of fifteen axes to rounding, and the axis
    leads from the second box to the first.
    """
    rng = np.random.default_rng(4)
    count = 37
    boxes = np.zeros((2 * count, 15))
    for box in boxes:
        box[:9] = rotations.matrices(rotations.normalised(rng.normal(size=(1, 4))))[0].ravel()
        box[9:12], box[12:] = rng.uniform(0.3, 1.5, 3), rng.uniform(-1, 1, 3)
    boxes[::4, :3] *= -1  # a left-handed frame is one of a box too
    pairs = pairs_of_boxes(2 * count, count)
    for k, box in enumerate(boxes):
        rows = np.zeros((4, 4))
        rows[:3, :3], rows[:3, 3], rows[3, :3] = box[:9].reshape(3, 3), box[9:12], box[12:]
        pairs.boxes[k] = rows.ravel()
    pairs.first[:count], pairs.second[:count] = BOX * np.arange(count), BOX * (count + np.arange(count))
    cached(write_box_axes)(count, pairs)
    for k in range(count):
        overlap, n = least_overlap(boxes[k], boxes[count + k])
        assert pairs.axes[k, 3] == pytest.approx(overlap, abs=1e-12)
        np.testing.assert_allclose(pairs.axes[k, :3], n, atol=1e-9)


def heap(count: int, size: float) -> tuple[pl.Simulation, PlaneSearch]:
    """Cubes of 0.2 m turned at random, so near each other that they overlap."""
    rng = np.random.default_rng(2)
    scene = pl.Scene(contact=pl.Contact(friction=0.5))
    for place, turn in zip(rng.uniform(0, size, (count, 3)), rng.normal(size=(count, 4)), strict=True):
        scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=place, orientation=turn / np.linalg.norm(turn))
    sim = pl.Simulation(scene, threads=1)
    assert sim._detector is not None
    return sim, PlaneSearch(sim._detector.convex)


def test_boxes_have_the_contacts_that_they_have_as_meshes() -> None:
    """Two ways to the axis of least overlap: the same contacts, with normals and weights equal to rounding."""
    sim, search = heap(60, 0.7)
    assert sim._detector is not None
    assert search.convex.is_box.all()
    x, model = sim.state.x, sim._detector.model
    bounds = bounds_of(search.convex, x, x, model.edge)
    found, pairs = search.contacts(x, x, bounds, model.allowed)
    as_meshes = PlaneSearch(search.convex._replace(is_box=np.zeros_like(search.convex.is_box)))
    expected, expected_pairs = as_meshes.contacts(x, x, bounds, model.allowed)
    assert found.size > 300
    np.testing.assert_array_equal(found.vertices, expected.vertices)
    np.testing.assert_array_equal(pairs, expected_pairs)
    np.testing.assert_allclose(found.normals, expected.normals, atol=1e-9)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-9)


def crossed_cubes(depth: float) -> pl.Simulation:
    """A cube of 0.2 m with an edge up, and another with an edge down across it, that deep in it."""
    c, s = np.cos(np.pi / 8), np.sin(np.pi / 8)
    scene = pl.Scene(contact=pl.Contact(friction=0.5), gravity=(0, 0, 0))
    for place, turn in ((0.0, (c, s, 0, 0)), (0.2 * 2**0.5 - depth, (c, 0, s, 0))):
        scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=(0, 0, place), orientation=turn)
    return pl.Simulation(scene, frame_rate=300, substeps=1, threads=1)


@pytest.mark.parametrize("depth", [0.002, 0.03])
def test_edges_that_are_deep_in_each_other_keep_their_contact(depth: float) -> None:
    """However deep it is: cubes once passed through each other where edges were deeper than a few per cent of one."""
    sim = crossed_cubes(depth)
    assert sim._detector is not None
    search, model, x = PlaneSearch(sim._detector.convex), sim._detector.model, sim.state.x
    found, pairs = search.contacts(x, x, bounds_of(search.convex, x, x, model.edge), model.allowed)
    assert len(pairs) == 1
    assert found.kind.tolist() == [EDGE_EDGE]
    gap = np.einsum("i,ia,a->", found.weights[0], x[found.vertices[0]], found.normals[0])
    assert gap == pytest.approx(-depth, rel=1e-9)
