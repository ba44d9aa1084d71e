"""Points joined by springs: ropes, nets, wheels, rods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.elements import rod_bend, spring
from pliant.elements.joint import Rods, StrainLimits, edge_limits
from pliant.errors import SceneError
from pliant.geometry import rod_bends
from pliant.model import checks
from pliant.model.blocks import Block, RodBends, Springs
from pliant.model.body import STRAIN_RATE, Body


class SpringNet(Body):
    """Springs in a scene. Vertices are numbered as its points, springs as its edges."""

    kind = "springs"
    element_names = ("spring", "springs")

    def __init__(
        self,
        name: str,
        points: ArrayLike,
        edges: ArrayLike,
        stiffness: ArrayLike,
        mass: ArrayLike,
        damping: float,
        lengths: ArrayLike | None,
        one_sided: bool,
        bending: float,
        tear_at: float | None = None,
        damping_form: str = STRAIN_RATE,
        strain_limit: float | None = None,
    ):
        self.points = checks.points(points, f"{name}: points")
        n = len(self.points)
        super().__init__(name, self.points, damping, damping_form)
        self.edges = checks.edges(edges, n, f"{name}: edges")
        m = len(self.edges)
        self.stiffness = checks.stiffness(stiffness, m, f"{name}: stiffness", "spring")
        self.mass = checks.numbers(mass, n, f"{name}: mass", "vertex", "kg", positive=True)
        at_rest = spring.rest_data(self.points, self.edges) if lengths is None else lengths
        self.lengths = checks.numbers(at_rest, m, f"{name}: lengths", "spring", "m")
        self.one_sided = checks.flag(one_sided, f"{name}: one_sided")
        self.bending = checks.number(bending, f"{name}: bending", "N m^2")
        self.tear_at = checks.tear_limit(tear_at, f"{name}: tear_at")
        self.strain_limit = checks.strain_limit(strain_limit, self.tear_at, f"{name}: strain_limit")
        self._check_used()

    def _check_used(self) -> None:
        alone = np.setdiff1d(np.arange(self.n_vertices), self.edges)
        if len(alone):
            raise SceneError(
                f"{self.name}: {len(alone)} of {self.n_vertices} points have no spring, first point {int(alone[0])}. "
                "Join them or leave them out."
            )

        if self.tears and np.isinf(self.stiffness).any():
            raise SceneError(
                f"{self.name}: tear_at is {self.tear_at:g}, but springs of infinite stiffness do not stretch."
            )
        if self.tears and not self.lengths.all():
            raise SceneError(
                f"{self.name}: tear_at is {self.tear_at:g}, but spring {int(np.argmin(self.lengths))} has the length 0 "
                "at rest and no stretch. Give it a length."
            )

    def blocks(self, first: int) -> list[Block]:
        sides = 0.0 if self.one_sided else 1.0
        soft, hard = np.flatnonzero(np.isfinite(self.stiffness)), np.flatnonzero(np.isinf(self.stiffness))
        compression = np.full(len(soft), sides)
        blocks: list[Block] = []
        if len(soft):
            blocks.append(Springs(self.edges[soft] + first, self.lengths[soft], self.stiffness[soft], compression))
        if len(hard):
            rods = edge_limits(Rods, self.edges[hard], self.lengths[hard], self.mass, sides)
            blocks.append(replace(rods, elements=rods.elements + first))
        if self.strain_limit is not None:
            longest = (1 + self.strain_limit) * self.lengths
            limits = edge_limits(StrainLimits, self.edges, longest, self.mass, 0.0)
            blocks.append(replace(limits, elements=limits.elements + first))
        if self.bending > 0:
            turns = rod_bends(self.edges, self.n_vertices)
            angles, lengths = rod_bend.rest_data(self.points, turns)
            blocks.append(RodBends(turns + first, angles, self.bending / lengths))
        return blocks

    def neighbours(self, vertices: np.ndarray) -> np.ndarray:
        """Numbers of the vertices that share a spring with `vertices` (k,), indices."""
        return np.unique(self.edges[np.isin(self.edges, vertices).any(axis=1)])

    @property
    def masses(self) -> np.ndarray:
        return self.mass.copy()

    @property
    def n_elements(self) -> int:
        return len(self.edges)

    def ingredients(self) -> dict[str, Any]:
        names = ("points", "edges", "stiffness", "mass", "damping", "lengths", "one_sided", "bending", "tear_at")
        return {name: getattr(self, name) for name in (*names, "damping_form", "strain_limit")}

    @property
    def tears(self) -> bool:
        return self.tear_at is not None

    @property
    def springs(self) -> np.ndarray:
        """(k, 2) springs that are left, as indices of rows of `positions`: in the simulation last built from the scene,
        or as they will be when it starts.
        """
        return self.edges.copy() if self._elements is None else self._elements()
