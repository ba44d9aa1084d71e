"""Energy of tets, and of patches of tets, whose law is converted to projective dynamics' where they are crushed or
inverted (Wang and Yang 2016, Equations 17 to 19): two plain blocks, weighted by 1 - l and l.
"""

from __future__ import annotations

import numpy as np

from pliant.elements.invertible_patch import InvertiblePatchTets
from pliant.energies import elastic
from pliant.energies.scatter import sum_blocks_at_vertices
from pliant.materials import ARAP
from pliant.materials.stretch import smallest_stretch
from pliant.model import InvertibleSolids, Solids
from pliant.model.blocks import InvertiblePatches, Patches

Invertibles = InvertibleSolids | InvertiblePatches | InvertiblePatchTets


def update_internal_state(block: Invertibles, x: np.ndarray) -> None:
    """Bring the interpolants up to date at x, in place (Equation 17)."""
    lower, upper, release, _ = block.conversion.T
    s = smallest_stretch(*elastic.invariants(elastic.deformation_gradients(block, x)))
    wanted = np.maximum((upper - s) / (upper - lower), block.interpolants - release)
    block.interpolants[:] = np.clip(wanted, 0.0, 1.0)


def energy(block: Invertibles, x: np.ndarray) -> float:
    """[J] (Equation 18)."""
    return float(np.sum(energies(block, x)))


def energies(block: Invertibles, x: np.ndarray) -> np.ndarray:
    """(m,) [J] of each element."""
    total = np.zeros(len(block.elements))
    for solids, which in _parts(block):
        total[which] += elastic.energies(solids, x)
    return total


def gradient(block: Invertibles, x: np.ndarray) -> np.ndarray:
    """dE/dx (n, 3) [N]."""
    return sum((elastic.gradient(part, x) for part, _ in _parts(block)), np.zeros_like(x))


def element_hessians(block: Invertibles, x: np.ndarray, part: slice) -> np.ndarray:
    """d2E/dx_i dx_j of some elements (k, corners, 3, corners, 3) [N/m]."""
    chosen = np.arange(len(block.elements))[part]
    corners = block.elements.shape[1]
    hessians = np.zeros((len(chosen), corners, 3, corners, 3))
    for solids, which in _parts(block, chosen):
        hessians[which] += elastic.element_hessians(solids, x, slice(None))
    return hessians


def vertex_blocks(block: Invertibles, x: np.ndarray) -> np.ndarray:
    """(n, 3, 3) [N/m]: of the law d2E/dx_i^2, of the projective part the constant 2 k V |b_i|^2 (Equation 19)."""
    (law, _), (projective, _) = _parts(block)
    own = 2 * (projective.parameters * projective.volumes[:, None]) * np.sum(projective.gradients**2, axis=2)
    constant = sum_blocks_at_vertices(projective.elements, own[:, :, None, None] * np.eye(3), len(x))
    return elastic.vertex_blocks(law, x) + constant


def _parts(block: Invertibles, chosen: np.ndarray | None = None) -> list[tuple[Solids | Patches, np.ndarray]]:
    """Elements of the law with volumes (1 - l) V where l < 1, those of the projective energy with l V where l > 0, and
    which of the chosen ones they are.
    """
    chosen = np.arange(len(block.elements)) if chosen is None else chosen
    l = block.interpolants[chosen]
    kind = Patches if isinstance(block, InvertiblePatches) else Solids
    parts: list[tuple[Solids | Patches, np.ndarray]] = []
    for law, weights, parameters in (
        (block.law, 1 - l, block.parameters[chosen]),
        (ARAP, l, block.conversion[chosen, 3:]),
    ):
        which = np.flatnonzero(weights > 0)
        own = chosen[which]
        volumes = weights[which] * block.volumes[own]
        parts.append((kind(block.elements[own], law, block.gradients[own], volumes, parameters[which]), which))
    return parts
