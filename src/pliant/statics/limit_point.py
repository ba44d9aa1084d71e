"""Load factors at which a shape snaps: the branch of equilibria ends, and the next one is far away.

Between two equilibria of one branch the way gets shorter with the load step; a snap does not. The energy along the
straight line from before a snap to after it has a part that is concave, whatever dead loads act, since these are linear
in the positions. So a load step is looked at more closely only where the energy is concave on its way; then it is
halved, and the longer half again, until either the way has become shorter or the load step is the smallest. A middle
at which no equilibrium is found is taken to be beyond the snap.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant.statics.load_step import LoadStep, Outcome

SHORT = 1e-2  # of the extent: a way that is no snap
SAMPLES = 7  # points on a way at which the slope of the energy is looked at
RISES = 1e-6  # of the largest slope: rounding
SHORTER = 0.7  # of a way: what its longer half is at most, twice in a row, where nothing snaps


@dataclass
class LoadPoint:
    """An equilibrium on the way to the full load."""

    factor: float
    x: np.ndarray  # (n, 3) [m]
    poses: np.ndarray  # (b, 7)
    pressures: np.ndarray  # (k,) [Pa] of prescribed volumes
    outcome: Outcome | None  # None: the start

    def next(self, step: LoadStep, factor: float) -> LoadPoint:
        """What a load step to another factor leads to; its outcome says whether that is an equilibrium."""
        x, poses, pressures = self.x.copy(), self.poses.copy(), self.pressures.copy()
        outcome = step.run(x, poses, pressures, self.factor, factor)
        return LoadPoint(factor, x, poses, pressures, outcome)

    @property
    def is_equilibrium(self) -> bool:
        return self.outcome is None or self.outcome.converged or self.outcome.at_rounding


@dataclass(frozen=True)
class Snap:
    """A limit point: the last equilibrium before it, and how far [m] the next one is."""

    last: LoadPoint
    way: float
    iterations: int  # that it took to find


def find_snap(step: LoadStep, before: LoadPoint, after: LoadPoint, smallest: float, most: int) -> Snap | int:
    """The limit point between two equilibria, or how many iterations it took to see that there is none; most: of them
    where no equilibrium is found.

    What moves far under the smallest part of the load, as a slack sheet or rope, has no branch to leave.
    """
    iterations = 0
    if not _is_concave(before, after):
        return iterations
    if before.factor == 0.0:
        first = before.next(step, min(smallest, after.factor))
        assert first.outcome is not None
        iterations += first.outcome.iterations
        if not first.is_equilibrium or _way(before, first) > 0.5 * _way(before, after):
            return iterations
        before = first
    shorter = 0
    while after.factor - before.factor > smallest:
        way, middle = _way(before, after), before.next(step, 0.5 * (before.factor + after.factor))
        assert middle.outcome is not None
        iterations += middle.outcome.iterations
        if not middle.is_equilibrium:
            after, step = replace(after, factor=middle.factor), replace(step, iterations=most)
            continue
        ways = _way(before, middle), _way(middle, after)
        shorter = shorter + 1 if max(ways) < SHORTER * way else 0
        if shorter == 2:
            return iterations
        before, after = (before, middle) if ways[0] > ways[1] else (middle, after)
    return Snap(before, _way(before, after), iterations)


def _way(one: LoadPoint, other: LoadPoint) -> float:
    """The farthest that a vertex goes [m]."""
    return float(np.linalg.norm(other.x - one.x, axis=1).max())


def _is_concave(before: LoadPoint, after: LoadPoint) -> bool:
    """Whether the energy under the later load is somewhere concave on the straight line between the two."""
    if _way(before, after) <= SHORT * float(np.ptp(before.x, axis=0).max()):
        return False
    assert after.outcome is not None
    d, problem = after.x - before.x, after.outcome.problem
    slopes = np.array([float(np.sum(problem.gradient(before.x + t * d) * d)) for t in np.linspace(0, 1, SAMPLES)])
    return bool((np.diff(slopes) < -RISES * np.abs(slopes).max()).any())
