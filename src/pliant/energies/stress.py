"""What the material feels in each tet: stored energy, stress and strain, for pictures and result files.

sigma = P F^T / J = (2 psi_I B + 4 psi_II B^2) / J + psi_J 1,    B = F F^T
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pliant.energies.elastic import deformation_gradients, law_densities
from pliant.energies.recovery import at_vertices, energy_error
from pliant.errors import SceneError
from pliant.kernels.tet_fields import fields_module, pack_tets
from pliant.materials.calculus import law_code
from pliant.model import Model, Solids, checks
from pliant.model.blocks import PatchTets


class TetFields:
    """Energy density and von Mises stress of the tets of one law, ready for many frames: compiled, in lanes."""

    def __init__(self, solids: Solids):
        self._count = len(solids.tets)
        code = law_code(solids.law)
        self._module, width = fields_module(code.name, code.text, solids.parameters.shape[1], code.has_barrier)
        self._packs = pack_tets(solids.tets, solids.gradients, solids.parameters, width)

    def measure(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """psi (m,) [J/m^3], infinite where a law with a barrier meets an inverted tet, and von Mises stress (m,) [Pa].

        rows (n, 4): positions [m] and a number that is not used.
        """
        psi, stress = np.empty((2, len(self._packs.corners) // 4))
        self._module.measure(rows, *self._packs, psi, stress)
        return psi[: self._count], stress[: self._count]


class PatchFields:
    """The same of the tets of one body's patches: what their patch has."""

    def __init__(self, solids: PatchTets):
        self._solids = solids

    def measure(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As TetFields.measure."""
        x = rows[:, :3]
        F, parameters = _strained(self._solids, x)
        B = F @ F.transpose(0, 2, 1)
        invariants = np.einsum("maa->m", B), np.einsum("mab,mab->m", B, B), np.linalg.det(F)
        psi = law_densities(self._solids.law, invariants, parameters)
        return psi, von_mises_stress(cauchy_stress(self._solids, x))


def fields_of(solids: Solids) -> TetFields | PatchFields:
    """What measures energy density and von Mises stress of these tets."""
    return PatchFields(solids) if isinstance(solids, PatchTets) else TetFields(solids)


def in_rows(x: np.ndarray) -> np.ndarray:
    """Positions (n, 3) as rows of four numbers."""
    rows = np.zeros((len(x), 4))
    rows[:, :3] = x
    return rows


def cauchy_stress(solids: Solids, x: np.ndarray) -> np.ndarray:
    """sigma (m, 3, 3) [Pa] at positions x (n, 3) [m]; not finite where a tet is flat. Tets of a patch have its mean."""
    F, parameters = _strained(solids, x)
    B = F @ F.transpose(0, 2, 1)
    I, II, J = np.einsum("maa->m", B), np.einsum("mab,mab->m", B, B), np.linalg.det(F)
    with np.errstate(invalid="ignore", divide="ignore"):
        first, _ = law_code(solids.law).functions.derivatives(I, II, J, *parameters.T)
        by_I, by_II, by_J = (np.broadcast_to(0.0 if d is None else d, J.shape)[:, None, None] for d in first)
        return (2 * by_I * B + 4 * by_II * B @ B) / J[:, None, None] + by_J * np.eye(3)


def green_strain(solids: Solids, x: np.ndarray) -> np.ndarray:
    """E = (F^T F - 1) / 2 (m, 3, 3), Green and Lagrange's strain at positions x (n, 3) [m]."""
    F, _ = _strained(solids, x)
    return 0.5 * (np.einsum("mac,mad->mcd", F, F) - np.eye(3))


def _strained(solids: Solids, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F (m, 3, 3) that stress and strain are measured of, and the parameters of the law (m, p)."""
    F = deformation_gradients(solids, x)
    if not isinstance(solids, PatchTets):
        return F, solids.parameters
    weights = np.bincount(solids.patch, solids.volumes)
    sums = np.zeros((len(weights), 3, 3))
    np.add.at(sums, solids.patch, solids.volumes[:, None, None] * F)
    return (sums / np.where(weights > 0, weights, 1.0)[:, None, None])[solids.patch], solids.given


def principal_values(tensors: np.ndarray) -> np.ndarray:
    """(m, 3), the greatest first, of symmetric tensors (m, 3, 3); not a number where a tensor is not finite."""
    finite = np.isfinite(tensors).all(axis=(1, 2))
    values = np.full(tensors.shape[:2], np.nan)
    values[finite] = np.linalg.eigvalsh(tensors[finite])[:, ::-1]
    return values


def von_mises_stress(sigma: np.ndarray) -> np.ndarray:
    """sqrt(3/2 s : s) (m,) [Pa] of stresses (m, 3, 3), s their deviators."""
    deviator = sigma - np.einsum("maa->m", sigma)[:, None, None] / 3 * np.eye(3)
    return np.sqrt(1.5 * np.einsum("mab,mab->m", deviator, deviator))


def of_solid(
    model: Model, body: int, x: np.ndarray, measure: Callable[[Solids, np.ndarray], np.ndarray], smooth: bool
) -> np.ndarray:
    """What `measure` gives of the tets of a body (its number), in their order, at positions x (n, 3) [m] of all
    vertices; smooth: at its vertices.
    """
    checks.flag(smooth, "smooth")
    mine, values, points = measured(model, body, x, measure)
    return at_vertices(mine, values, points) if smooth else values


def error_of_solid(model: Model, body: int, x: np.ndarray) -> float:
    """The part of a body's strain energy that its mesh lacks, estimated by its stress (energies.recovery)."""
    return energy_error(*measured(model, body, x, cauchy_stress))


def measured(
    model: Model, body: int, x: np.ndarray, measure: Callable[[Solids, np.ndarray], np.ndarray]
) -> tuple[Solids, np.ndarray, np.ndarray]:
    """The tets of a body, at vertices of its own, their values, and the points (n, 3) [m] that it starts from."""
    first, last = model.body_start[body : body + 2]
    for solids in model.solids:
        own = (solids.tets[:, 0] >= first) & (solids.tets[:, 0] < last)
        if own.any():
            mine = solids.taken(np.flatnonzero(own))
            values = measure(mine, x)
            return replace(mine, elements=mine.elements - first), values, model.positions[first:last]
    raise SceneError(f"{model.body_names[body]} is not a solid: stress and strain are those of tets.")
