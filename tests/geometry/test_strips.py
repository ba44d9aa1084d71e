"""Strips hold every element once, neighbours share a face, and tiles of a colour share nothing."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

import pliant as pl
from pliant.geometry.strips import LONGEST, colour_tiles, single_strips, tet_strips, tiles_of_elements


def box():
    mesh = pl.shapes.box((1, 1, 1), (7, 6, 5))
    return np.array(mesh.points), np.array(mesh.tets)


def cloud():
    points = np.random.default_rng(3).random((400, 3))
    return points, Delaunay(points).simplices.astype(np.int64)


@pytest.mark.parametrize("mesh", [box, cloud])
def test_strips_cover_a_mesh(mesh):
    points, tets = mesh()
    walk, tile = tiles_of_elements(tets, points, 128)
    strips = tet_strips(tets, walk, tile, len(points))
    np.testing.assert_array_equal(np.sort(strips.element), np.arange(len(tets)))
    lengths = np.diff(strips.start)
    assert lengths.min() >= 1
    assert lengths.max() == LONGEST
    assert len(tets) / len(lengths) > 2.5  # so many tets for four positions and sums: fewer would not be worth it
    for s, (first, last) in enumerate(zip(strips.start[:-1], strips.start[1:], strict=True)):
        assert len(np.unique(tile[strips.element[first:last]])) == 1
        for e in range(first, last):
            window = strips.vertex[e + 3 * s : e + 3 * s + 4]
            np.testing.assert_array_equal(np.sort(window), np.sort(tets[strips.element[e]]))


def test_single_strips_keep_the_corners_in_order():
    _, tets = box()
    walk = np.random.default_rng(0).permutation(len(tets))
    strips = single_strips(tets, walk)
    np.testing.assert_array_equal(strips.vertex.reshape(-1, 4), tets[strips.element])
    np.testing.assert_array_equal(strips.start, np.arange(len(tets) + 1))


@pytest.mark.parametrize("mesh", [box, cloud])
def test_tiles_of_a_colour_share_no_vertex(mesh):
    points, tets = mesh()
    _, tile = tiles_of_elements(tets, points, 64)
    colours = colour_tiles(tets, tile, len(points))
    assert (np.bincount(tile)[:-1] == 64).all()
    for colour in range(colours.max() + 1):
        seen = np.concatenate([np.unique(tets[tile == t]) for t in np.flatnonzero(colours == colour)])
        assert len(np.unique(seen)) == len(seen)


def test_no_elements():
    none = np.empty((0, 4), np.int64)
    walk, tile = tiles_of_elements(none, np.zeros((3, 3)), 64)
    assert len(colour_tiles(none, tile, 3)) == 0
    assert len(tet_strips(none, walk, tile, 3).start) == 1
