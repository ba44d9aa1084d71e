"""Whose sides have to be tracked from step to step: not those of pairs that are known from where they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.contact.search.colliders import Colliders
from pliant.contact.search.motion import spread_of_motion
from pliant.contact.search.solid import least_width
from pliant.contact.search.solids_at_convex import SolidsAtConvex
from pliant.kernels.threads import Team
from pliant.model import ContactModel


class Tracked(NamedTuple):
    """Of a model."""

    has_thin: bool  # whether a surface that has no inside may touch anything whose side is not known
    movers: np.ndarray  # (m,) vertices of solids, and of all that may come out behind a tet of them
    tets: np.ndarray  # (t, 4)

    def may_pass_solids(self, team: Team, x_prev: np.ndarray, x: np.ndarray, width: float) -> tuple[bool, float]:
        """Whether anything may have come out behind a tet in the step from x_prev to x (n, 3) [m]: not what moves less
        than the least width of all tets at the start, at least `width` [m], and at the end; and the width at the end,
        measured only if it decides.
        """
        spread = spread_of_motion(x_prev, x, self.movers)
        after = width - spread
        if spread > after:
            after = least_width(team, self.tets, x)
        return spread > min(width, after), after


def tracked_of(model: ContactModel, colliders: Colliders, at_convex: SolidsAtConvex | None) -> Tracked:
    """at_convex: pairs that are known; None: all are tracked."""
    body, surface = model.body, colliders.surface.vertices[:, 0]
    thin = np.unique(body[np.concatenate([model.triangles.ravel(), model.springs.ravel()])])
    if at_convex is None:
        has_thin, touching = len(thin) > 0, surface
    else:
        one, other = (side.ravel() for side in np.meshgrid(thin, np.unique(body[surface])))
        has_thin = bool((model.allowed[one, other] & ~at_convex.are_known(one, other)).any())
        touching = surface[~at_convex.is_convex[body[surface]]]
    return Tracked(has_thin, np.union1d(model.tets, touching).astype(np.int64), model.tets)
