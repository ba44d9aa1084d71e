"""A word about spheres that start in each other."""

from __future__ import annotations

import logging

import numpy as np

from pliant.constraints.numbering import Numbering
from pliant.constraints.rows import Rows
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


def report_rows(model: Model, rows: Rows, numbering: Numbering, base: int, count: int) -> None:
    """Warn of spheres that start in each other, by their contacts in rows from `base` to `count`."""
    particles = model.particles
    if particles is None:
        return
    distance = np.einsum("ma,ma->m", rows.normal[base:count], rows.separation[base:count])
    vertices, _ = numbering.in_scene(rows, base, count)
    first, second = vertices[:, 0], vertices[:, 1]
    radii = np.zeros(model.n_vertices)
    radii[particles.vertices] = particles.radius
    report_overlaps(model, first, radii[first] + np.where(second >= 0, radii[second], 0.0) - distance)
