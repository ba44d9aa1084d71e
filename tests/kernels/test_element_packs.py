"""Packs hold every element once, and no two of a colour share a vertex."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry.colouring import colour_elements
from pliant.kernels.element_packs import corner_starts, pack_elements, spread_over_packs


@pytest.mark.parametrize("width", [1, 4, 16])
def test_packs_of_a_box(width):
    mesh = pl.shapes.box((1, 1, 1), (4, 3, 3))
    colours = colour_elements(mesh.tets, mesh.n_vertices)
    packs = pack_elements(colours, np.arange(mesh.n_tets)[::-1], width)
    np.testing.assert_array_equal(np.sort(packs.element[packs.is_first]), np.arange(mesh.n_tets))
    for first, last in zip(packs.colour_start[:-1], packs.colour_start[1:], strict=True):
        used = np.unique(packs.element[first:last])
        vertices = mesh.tets[used].ravel()
        assert len(np.unique(vertices)) == len(vertices)
        own = packs.element[first:last].ravel()
        assert (np.diff(own) <= 0).all()  # along the curve; a lane that fills up repeats the last element
    starts = corner_starts(packs, mesh.tets, np.arange(mesh.n_vertices)).reshape(-1, 4, width)
    np.testing.assert_array_equal(starts.transpose(0, 2, 1) // 4, mesh.tets[packs.element])


def test_numbers_come_back_as_they_went(from_packs):
    values = np.random.default_rng(0).normal(size=(37, 3))
    packs = pack_elements(np.arange(37) % 3, np.arange(37), 8)
    np.testing.assert_array_equal(from_packs(packs, spread_over_packs(packs, values, float), 3), values)
