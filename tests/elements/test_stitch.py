"""Stitches and bands: energies against formulas, forces and Hessians against finite differences, invariance."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.elements.band import BAND, Bands
from pliant.elements.reference import differentiated_hessians, energies, gradients, hessians, vertex_blocks
from pliant.elements.registry import ELEMENTS
from pliant.elements.stitch import STITCH, Stitches

RNG = np.random.default_rng(3)
M = 6
X = RNG.normal(0, 0.1, (4 * M, 3))
W = RNG.uniform(0, 1, (2, M))
SHARES = np.column_stack([W[0] - 1, -W[0], 1 - W[1], W[1]])
STITCHES = Stitches(
    np.arange(4 * M).reshape(M, 4), SHARES, RNG.uniform(1, 5, M), np.zeros(M), np.full(M, 0.04), np.full(M, 2.0)
)
EDGES = np.arange(2 * M).reshape(M, 2)
LAST = RNG.uniform(0.02, 0.05, M)
BANDS = Bands(EDGES, LAST, RNG.uniform(1, 5, M), np.zeros(M), LAST, np.full(M, 0.05), np.full(M, 2.0))
CASES = [(STITCH, STITCHES), (BAND, BANDS)]


def test_a_stitch_is_a_rope_between_points_of_two_edges():
    block = STITCHES.at(0.5)
    a, b, c, d = (X[block.elements[:, k]] for k in range(4))
    gap = np.linalg.norm(
        (1 - W[1])[:, None] * c + W[1][:, None] * d - (1 - W[0])[:, None] * a - W[0][:, None] * b, axis=1
    )
    expected = 0.5 * block.stiffness * np.maximum(gap - 0.03, 0) ** 2
    np.testing.assert_allclose(energies(STITCH, block, X), expected, rtol=1e-12)


@pytest.mark.parametrize(("time", "left"), [(0.0, 1.0), (0.5, 0.75), (2.0, 0.0), (9.0, 0.0)])
def test_lengths_shrink_at_constant_speed(time, left):
    np.testing.assert_allclose(STITCHES.at(time).lengths, 0.04 * left, rtol=1e-12)
    np.testing.assert_allclose(BANDS.at(time).lengths, LAST + 0.05 * left, rtol=1e-12)


@pytest.mark.parametrize(("element", "block"), CASES)
@pytest.mark.parametrize("time", [0.0, 0.5, 2.0])
def test_forces_and_hessians_are_derivatives(element, block, time):
    block, step = block.at(time), 1e-6
    flat, size = block.elements.ravel(), block.elements.shape[1]
    force, H = gradients(element, block, X), hessians(element, block, X)
    np.testing.assert_allclose(H, differentiated_hessians(element, block, X), atol=1e-11)
    for k in range(3 * size):
        moved = np.zeros_like(X)
        moved[flat.reshape(-1, size)[:, k // 3], k % 3] = step
        ahead, behind = X + moved, X - moved
        slope = (energies(element, block, ahead) - energies(element, block, behind)) / (2 * step)
        np.testing.assert_allclose(force.reshape(M, -1)[:, k], slope, atol=1e-8)
        change = (gradients(element, block, ahead) - gradients(element, block, behind)) / (2 * step)
        np.testing.assert_allclose(H[:, :, k], change.reshape(M, -1), atol=1e-6)


@pytest.mark.parametrize(("element", "block"), CASES)
def test_blocks_of_vertices_are_those_of_the_hessian_without_negative_parts(element, block):
    """Pulled elements have the exact block; the others none."""
    blocks, H = vertex_blocks(element, block, X), hessians(element, block, X)
    for k in range(block.elements.shape[1]):
        np.testing.assert_allclose(blocks[:, k], H[:, 3 * k : 3 * k + 3, 3 * k : 3 * k + 3], atol=1e-11)


@pytest.mark.parametrize(("element", "block"), CASES)
def test_rigid_motion_changes_nothing(element, block):
    block = block.at(1.0)
    turned = X @ Rotation.random(random_state=1).as_matrix().T + [3.0, -2.0, 5.0]
    np.testing.assert_allclose(energies(element, block, turned), energies(element, block, X), rtol=1e-11)
    np.testing.assert_allclose(gradients(element, block, X).sum(axis=1), 0, atol=1e-14)


def test_both_are_registered():
    assert ELEMENTS[Stitches] is STITCH
    assert ELEMENTS[Bands] is BAND
