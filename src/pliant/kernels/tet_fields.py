"""Energy density and von Mises stress of tets of one law, in lanes: tets after each other, nothing is shared.

    sigma = P F^T / J = (2 psi_I B + 4 psi_II B^2) / J + psi_J 1,    B = F F^T
    von Mises: sqrt(3/2 s : s) with the deviator s of sigma, in which the pressure-like psi_J has no share

In double precision: at small strains psi is a difference of numbers near 3.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import NamedTuple

import numpy as np

from pliant.elements.tet import deformation_gradient, invariants, left_cauchy_green
from pliant.lanes import gather3, load, number, sqrt
from pliant.lanes.cache import load_module
from pliant.lanes.host import default_width
from pliant.lanes.vectors import add_symmetric, physics, subtract, unless_zero

GRADIENTS = 9  # numbers per tet: shape-function gradients of its last three corners


class TetPacks(NamedTuple):
    """Tets in packs of `width`, the last filled up with its last tet."""

    corners: np.ndarray  # flat (packs, 4, width) vertices
    gradients: np.ndarray  # flat (packs, 9, width) [1/m]
    parameters: np.ndarray  # flat (packs, parameters, width) of the law


def pack_tets(tets: np.ndarray, gradients: np.ndarray, parameters: np.ndarray, width: int) -> TetPacks:
    """Of tets (m, 4) with shape-function gradients (m, 4, 3) and parameters (m, p), in their order."""
    chosen = np.minimum(np.arange(-(-len(tets) // width) * width), len(tets) - 1).reshape(-1, width)

    def spread(values: np.ndarray, kind: type) -> np.ndarray:
        return np.ascontiguousarray(values[chosen].transpose(0, 2, 1), kind).reshape(-1)

    last_three = gradients[:, 1:].reshape(-1, GRADIENTS)
    return TetPacks(spread(tets, np.uint32), spread(last_three, np.float64), spread(parameters, np.float64))


@physics
def strain(p, x, corners, gradients, width, like):
    """F of the tets of pack p, from differences of positions, so that nothing cancels far from the origin."""
    first = gather3(x, corners, 4 * p * width, like)
    a = subtract(gather3(x, corners, (4 * p + 1) * width, like), first)
    b = subtract(gather3(x, corners, (4 * p + 2) * width, like), first)
    c = subtract(gather3(x, corners, (4 * p + 3) * width, like), first)
    return deformation_gradient(
        a,
        b,
        c,
        _shape_gradient(p, 0, gradients, width, like),
        _shape_gradient(p, 1, gradients, width, like),
        _shape_gradient(p, 2, gradients, width, like),
    )


@physics
def _shape_gradient(p, corner, gradients, width, like):
    at = (9 * p + 3 * corner) * width
    return load(gradients, at, like), load(gradients, at + width, like), load(gradients, at + 2 * width, like)


@physics
def strain_and_invariants(p, x, corners, gradients, width, like):
    """B = F F^T and (I, II, J)."""
    F = strain(p, x, corners, gradients, width, like)
    B = left_cauchy_green(F)
    return B, invariants(F, B)


@physics
def von_mises(B, J, psi_I, psi_II):
    """sqrt(3/2 s : s) from the derivatives of psi, None where they vanish."""
    zero = number(0.0, J)
    stress = unless_zero(_add_first, (zero, zero, zero, zero, zero, zero), psi_I, B, J)
    stress = unless_zero(_add_second, stress, psi_II, B, J)
    third = (stress[0] + stress[3] + stress[5]) / 3.0
    xx, yy, zz = stress[0] - third, stress[3] - third, stress[5] - third
    off = stress[1] * stress[1] + stress[2] * stress[2] + stress[4] * stress[4]
    return sqrt(1.5 * (xx * xx + yy * yy + zz * zz) + 3.0 * off)


@physics
def _add_first(stress, psi_I, B, J):
    return add_symmetric(stress, 2.0 * psi_I / J, B)


@physics
def _add_second(stress, psi_II, B, J):
    return add_symmetric(stress, 4.0 * psi_II / J, _square(B))


@physics
def _square(B):
    xx, xy, xz, yy, yz, zz = B
    return (
        xx * xx + xy * xy + xz * xz,
        xx * xy + xy * yy + xz * yz,
        xx * xz + xy * yz + xz * zz,
        xy * xy + yy * yy + yz * yz,
        xy * xz + yy * yz + yz * zz,
        xz * xz + yz * yz + zz * zz,
    )


def fields_module(law_name: str, law_text: str, parameter_count: int, has_barrier: bool) -> tuple[ModuleType, int]:
    """The compiled module of a law, with a function `measure`, and its lane width."""
    width = default_width("double")
    loads = [f"load(parameters, (p * {parameter_count} + {i}) * WIDTH, zero())" for i in range(parameter_count)]
    text = _SOURCE.format(
        name=law_name,
        width=width,
        law=re.sub(r"^def ", "@physics\ndef ", law_text, flags=re.MULTILINE),
        parameters=", ".join(loads),
        psi="select(J > zero(), psi, number(np.inf, J))" if has_barrier else "psi",
    )
    return load_module("fields", text.lstrip("\n"), f"stresses of {law_name} ({width} lanes)"), width


_SOURCE = '''
"""Energy density and von Mises stress of {name}. Written by pliant.kernels.tet_fields: change that, not this."""
import numpy as np
from pliant.lanes.entry import entry

from pliant.kernels.tet_fields import strain_and_invariants, von_mises
from pliant.lanes import exp, inverse_cube_root, load, log, make_zero, number, select, sqrt, store
from pliant.lanes.vectors import physics

WIDTH = {width}
zero = make_zero("double", WIDTH)


{law}

@entry(nogil=True, error_model="numpy")
def measure(x, corners, gradients, parameters, densities, stresses):
    """Fill in both for all packs; x (n, 4) are positions, the last number of a row unused."""
    for p in range(len(corners) // (4 * WIDTH)):
        B, (I, II, J) = strain_and_invariants(p, x, corners, gradients, WIDTH, zero())
        law = ({parameters},)
        psi = energy_density(I, II, J, *law)
        store(densities, p * WIDTH, {psi})
        first, _ = derivatives(I, II, J, *law)
        store(stresses, p * WIDTH, von_mises(B, J, first[0], first[1]))
'''
