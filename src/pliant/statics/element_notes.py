"""What is said of elements whose static answers are far off: linear tets that lock, solids one cell thick."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.materials import Invertible
from pliant.materials.rest_moduli import lame_parameters_at_rest
from pliant.model import Scene
from pliant.model.solid import LINEAR, Solid

LOCKING = 0.45  # Poisson's ratio from which linear tets are said to lock


def element_notes(scene: Scene) -> Iterator[tuple[str, str]]:
    """Notes and their entries in docs/troubleshooting.md."""
    for solid in (body for body in scene.bodies if isinstance(body, Solid)):
        ratio = _largest_poissons_ratio(solid)
        if solid.element == LINEAR and ratio >= LOCKING:
            yield (
                f"equilibrium: {solid.name} has Poisson's ratio {ratio:.4g}, near which linear tets lock: it may "
                'deform far too little. element="patch" does not lock.',
                "locking",
            )
        if len(np.unique(solid.surface)) == len(solid.mesh.points):
            error = "too little, often by more than half" if solid.element == LINEAR else "up to twice too far"
            yield (
                f"equilibrium: {solid.name} has no vertex inside, as a plate or beam one cell thick: it may bend "
                f'{error}. Take two cells across or more, about as long as thick, and element="patch".',
                "one-cell-thick",
            )


def _largest_poissons_ratio(solid: Solid) -> float:
    law = solid.material.law if isinstance(solid.material, Invertible) else solid.material
    lam, mu = lame_parameters_at_rest(type(law), law.of_elements(len(solid.mesh.tets)))
    return float(np.max(lam / (2 * (lam + mu))))
