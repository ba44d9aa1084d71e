"""Collapsed elements: forces and blocks stay finite, take their limits, and padding with zeros adds nothing."""

import numpy as np
import pytest

from pliant.energies import hinges, joints, springs, triangles
from pliant.lanes.types import DTYPES, PRECISIONS
from pliant.materials import SOLID_LAWS

WIDTH = 8


def run(sheet_kernels, precision: str, name: str, numbers: list[float]) -> np.ndarray:
    """Ten numbers of a compiled loop for one element, the same in every lane."""
    table = np.repeat(np.asarray(numbers, DTYPES[precision]), WIDTH)
    out = np.full(10 * WIDTH, np.nan, DTYPES[precision])
    getattr(sheet_kernels(precision, WIDTH), name)(table, out)
    rows = out.reshape(10, WIDTH)
    np.testing.assert_array_equal(rows, np.repeat(rows[:, :1], WIDTH, axis=1))
    return rows[:, 0].astype(float)


COUNTS = {"spring": 6, "pair": 6, "fibre": 9, "membrane": 15, "hinge_wing": 12, "hinge_edge": 12}
COUNTS |= {"joint_end": 9, "joint_middle": 9}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", COUNTS)
def test_padding_adds_nothing(name: str, precision: str, sheet_kernels) -> None:
    """Neighbours at the vertex itself, all constants zero."""
    np.testing.assert_array_equal(run(sheet_kernels, precision, name, [0.0] * COUNTS[name]), np.zeros(10))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_spring_of_no_length(precision: str, sheet_kernels) -> None:
    """No direction, so no force, and the energy k/2 l0^2; with l0 = 0 it is an isotropic spring."""
    got = run(sheet_kernels, precision, "spring", [0, 0, 0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(got, [6.0, *[0] * 9])
    got = run(sheet_kernels, precision, "spring", [0, 0, 0, 3.0, 0.0, 1.0])
    np.testing.assert_array_equal(got, [0, 0, 0, 0, 3, 0, 0, 3, 0, 3])
    x, edges, one = np.zeros((2, 3)), np.array([[0, 1]]), np.ones(1)
    np.testing.assert_array_equal(springs.gradient(x, edges, 3 * one, 2 * one, one), 0)
    np.testing.assert_array_equal(springs.vertex_blocks(x, edges, 3 * one, 0 * one, one), [[3 * np.eye(3)] * 2])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_collapsed_membrane_equals_numpy(precision: str, sheet_kernels) -> None:
    """A triangle pulled into a line pushes along the line; nothing divides by its area."""
    x = np.array([[0.0, 0, 0], [0.5, 0, 0], [1.5, 0, 0]])
    b, area, mu, lam = np.array([[[-1.0, -1], [1, 0], [0, 1]]]), np.array([0.5]), 1.3, 0.7
    law = SOLID_LAWS["StVenantKirchhoff"]
    arguments = (x, np.array([[0, 1, 2]]), b, area, law, np.array([[mu, lam]]))
    got = run(sheet_kernels, precision, "membrane", [*x[1], *x[2], *b[0, 1], *b[0, 2], 0.5, mu, lam, 0, 0])
    eps = 50 * float(np.finfo(DTYPES[precision]).eps)
    assert got[0] == pytest.approx(triangles.energy(*arguments)[0], rel=eps)
    np.testing.assert_allclose(got[1:4], -triangles.gradient(*arguments)[0, 0], atol=eps)
    block = triangles.vertex_blocks(*arguments)[0, 0]
    np.testing.assert_allclose(got[4:], block[np.triu_indices(3)], atol=eps * np.abs(block).max())


@pytest.mark.parametrize("precision", PRECISIONS)
def test_collapsed_hinge_is_finite_and_equals_numpy(precision: str, sheet_kernels) -> None:
    """A wing on the edge: it has no side to bend to, so it feels nothing; the rest of the hinge stays finite."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0], [0.5, -1, 0.2]])
    hinge, rest, stiffness = np.array([[0, 1, 2, 3]]), np.array([0.3]), np.array([2.0])
    gradient = hinges.gradient(x, hinge, rest, stiffness)[0]
    np.testing.assert_array_equal(gradient[2], 0)
    eps = 50 * float(np.finfo(DTYPES[precision]).eps)
    for name, i, others in (("hinge_edge", 0, [1, 2, 3]), ("hinge_wing", 2, [0, 1, 3])):
        got = run(sheet_kernels, precision, name, [*(x[others] - x[i]).ravel(), 0.3, 2.0, 0])
        np.testing.assert_allclose(got[1:4], -gradient[i], atol=eps)
        assert np.isfinite(got).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("rest", [0.0, 0.4])
@pytest.mark.parametrize("end", [1.7, 0.4], ids=["straight", "folded back"])
def test_joint_without_a_plane(end: float, rest: float, precision: str, sheet_kernels) -> None:
    """Straight or folded back onto itself: no force, and the same blocks as NumPy, positive semidefinite."""
    x = np.outer([0.0, 1.0, end], [0.6, 0.0, 0.8])
    joint, angles, stiffness = np.array([[0, 1, 2]]), np.array([rest]), np.array([2.0])
    eps = 200 * np.finfo(DTYPES[precision]).eps
    np.testing.assert_allclose(joints.gradient(x, joint, angles, stiffness), 0, atol=1e-11)
    blocks = joints.vertex_blocks(x, joint, angles, stiffness)[0]
    assert np.linalg.eigvalsh(blocks).min() > -1e-9
    for name, i, others in (("joint_end", 0, [1, 2]), ("joint_middle", 1, [0, 2]), ("joint_end", 2, [1, 0])):
        got = run(sheet_kernels, precision, name, [*(x[others] - x[i]).ravel(), rest, 2.0, 0])
        np.testing.assert_allclose(got[1:4], 0, atol=eps * 1e4)
        np.testing.assert_allclose(
            got[4:], blocks[i][np.triu_indices(3)], atol=1e4 * eps * max(1, np.abs(blocks).max())
        )
