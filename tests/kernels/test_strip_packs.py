"""Packs of strips hold every element once, in the order of its strip, and nothing of another tile."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry.strips import colour_tiles, single_strips, tet_strips, tiles_of_elements
from pliant.kernels.strip_packs import pack_strips


def packed(elements, points, width, are_tets, tile_size=96):
    walk, tile = tiles_of_elements(elements, points, tile_size)
    colours = colour_tiles(elements, tile, len(points))
    strips = tet_strips(elements, walk, tile, len(points)) if are_tets else single_strips(elements, walk)
    return pack_strips(strips, elements.shape[1], tile, colours, width), tile, colours


@pytest.mark.parametrize("width", [1, 4, 16])
@pytest.mark.parametrize("count", [540, 37, 1])
def test_every_tet_is_in_one_lane(width, count):
    mesh = pl.shapes.box((1, 1, 1), (6, 5, 3), "kuhn")
    tets = np.array(mesh.tets)[:count]
    packs, tile, colours = packed(tets, mesh.points, width, True)
    np.testing.assert_array_equal(np.sort(packs.element[packs.is_first]), np.arange(count))
    np.testing.assert_array_equal(np.sort(packs.corners(), axis=2), np.sort(tets[packs.element], axis=2))
    assert (~packs.is_first).sum() < width * len(colours)
    rank = np.repeat(np.argsort(colours, kind="stable"), np.diff(packs.strip_start[packs.tile_start]))
    np.testing.assert_array_equal(tile[packs.element], np.repeat(rank[:, None], width, axis=1))
    np.testing.assert_array_equal(np.diff(packs.colour_start), np.bincount(colours))


def test_lengths_of_strips_are_halved_until_they_fill_a_pack():
    """All lanes of a pack go on for 4, 2 or 1 elements, long ones first in each tile."""
    mesh = pl.shapes.box((1, 1, 1), (6, 6, 6))
    packs, _, _ = packed(np.array(mesh.tets), mesh.points, 8, True)
    lengths = np.diff(packs.strip_start)
    assert set(lengths) == {4, 2, 1}
    for first, last in zip(packs.tile_start[:-1], packs.tile_start[1:], strict=True):
        assert (np.diff(lengths[first:last]) <= 0).all()
    assert len(packs.vertex) < 2.5 * len(packs.element)  # rows read a tet, four without strips


def test_elements_alone_keep_their_corners():
    mesh = pl.shapes.cloth((1, 1), (9, 7))
    triangles = np.array(mesh.triangles)
    packs, _, _ = packed(triangles, mesh.points, 4, False)
    np.testing.assert_array_equal(packs.corners(), triangles[packs.element])


def test_no_elements():
    packs, _, _ = packed(np.empty((0, 4), np.int64), np.zeros((3, 3)), 8, True)
    assert packs.element.shape == (0, 8)
    assert packs.corners().shape[0] == 0
    np.testing.assert_array_equal(packs.colour_start, [0])
