"""What the material feels in each tet: stored energy and stress, for pictures and result files.

sigma = P F^T / J = (2 psi_I B + 4 psi_II B^2) / J + psi_J 1,    B = F F^T
"""

from __future__ import annotations

import numpy as np

from pliant.kernels.tet_fields import fields_module, pack_tets
from pliant.materials.calculus import law_code
from pliant.model import Solids


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


def in_rows(x: np.ndarray) -> np.ndarray:
    """Positions (n, 3) as rows of four numbers."""
    rows = np.zeros((len(x), 4))
    rows[:, :3] = x
    return rows


def cauchy_stress(solids: Solids, x: np.ndarray) -> np.ndarray:
    """sigma (m, 3, 3) [Pa] at positions x (n, 3) [m]; not finite where a tet is flat."""
    corners = x[solids.tets]
    F = np.einsum("mka,mkb->mab", corners - corners[:, :1], solids.gradients)
    B = F @ F.transpose(0, 2, 1)
    I, II, J = np.einsum("maa->m", B), np.einsum("mab,mab->m", B, B), np.linalg.det(F)
    with np.errstate(invalid="ignore", divide="ignore"):
        first, _ = law_code(solids.law).functions.derivatives(I, II, J, *solids.parameters.T)
        by_I, by_II, by_J = (np.broadcast_to(0.0 if d is None else d, J.shape)[:, None, None] for d in first)
        return (2 * by_I * B + 4 * by_II * B @ B) / J[:, None, None] + by_J * np.eye(3)
