"""A word about spheres that start in each other."""

from __future__ import annotations

import logging

import numpy as np

from pliant.model import Model

logger = logging.getLogger("pliant")

OVERLAP = 1e-3  # of the radius: less is rounding


def report_overlaps(model: Model, first: np.ndarray, depth: np.ndarray) -> None:
    """Warn of contacts of spheres, by their vertices first (k,), that start with overlaps (k,) [m]."""
    assert model.particles is not None
    radii = np.zeros(model.n_vertices)
    radii[model.particles.vertices] = model.particles.radius
    deep = depth > OVERLAP * radii[first]
    if deep.any():
        worst = int(np.argmax(depth))
        logger.warning(
            "%d contacts start with an overlap; the deepest, of %s, is %.3g m. They are pushed apart, by a tenth of "
            "the radius per step at most.", int(deep.sum()), model.describe_vertex(int(first[worst])), depth[worst],
            extra={"entry": "particles-overlap"},
        )  # fmt: skip
