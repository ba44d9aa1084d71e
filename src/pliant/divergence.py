"""When a run has broken down, and what to say: positions that are not finite, or motion beyond all that was put in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pliant.energies.elements import energy_of
from pliant.energies.potential import ContactEnergy
from pliant.kernels.motion import most_stretched, sums_of_state, way_of_step
from pliant.model import Model, Pressures, Sheets, Solids, Springs, YarnTriangles
from pliant.model.blocks import Converted

LARGEST_ENERGY = 100.0  # times all energy that was put in: kinetic energy beyond it is not physical
LARGEST_WAY = 10.0  # times the size of the scene, in one step, against each other
SAMPLE = 2000  # elements whose edges are measured
LARGEST_STRETCH = 100.0  # times an edge as it starts, or the mean edge


@dataclass
class Watch:
    """Looks after each step whether the run has blown up.

    A step in which no two vertices move by an edge against each other is beyond suspicion. Other steps are compared
    with the scene as it was at the start: its size, its edges, and its kinetic and stored energy with the work of
    gravity and other forces since; the energy only where nothing else puts any in, such as motion that is prescribed.
    Positions or velocities that are changed by hand between steps are another start.
    """

    model: Model
    x: np.ndarray  # (n, 3) at the start [m]
    v: np.ndarray  # (n, 3) [m/s]
    work: float = field(default=0.0, init=False)  # [J] since then
    is_driven: bool = field(init=False)  # whether pressure, prescribed motion or inverted tets do unknown work
    _left: tuple[int, float, float] | None = field(default=None, init=False)  # sums that show changes by hand

    def __post_init__(self) -> None:
        self.is_driven = any(isinstance(block, Pressures) for block in self.model.blocks)

    def goes_on_from(self, model: Model, x: np.ndarray, v: np.ndarray) -> bool:
        """Whether the step before has led to x and v (n, 3): nobody has changed them since."""
        return self._left is None or self._left[0] != len(x) or self._left == _sums(model, x, v)

    def after_step(
        self,
        model: Model,
        start: tuple[np.ndarray, np.ndarray],
        end: tuple[np.ndarray, np.ndarray],
        acceleration: np.ndarray,
        obstacles_move: bool,
    ) -> tuple[int, str] | None:
        """The first vertex that is beyond all scales and why, or None, after a step under an acceleration (n, 3)
        [m/s^2] by gravity and other forces; start and end: positions and velocities (n, 3).
        """
        (x_prev, _), (x, v) = start, end
        held_moves, work, spread = way_of_step(x_prev, x, acceleration, model.mass, model.is_free)
        self.is_driven |= obstacles_move or held_moves or _remembers(model)
        self.work += max(0.0, work)
        beyond = None
        if spread > self.edge:
            if spread > LARGEST_WAY * self.size:  # none is farther from the mean way
                beyond = self._too_far(x - x_prev, model.is_free)
            beyond = beyond or self._too_long(model, x) or self._too_fast(model, v)
        if beyond is None:
            self._left = _sums(model, x, v)
        return beyond

    def _too_far(self, way: np.ndarray, free: np.ndarray) -> tuple[int, str] | None:
        own = np.where(free[:, None], way - way[free].mean(axis=0), 0.0)
        lengths = np.linalg.norm(own, axis=1)
        k = int(np.argmax(lengths))
        if lengths[k] <= LARGEST_WAY * self.size:
            return None
        return k, f"moved by {lengths[k]:.3g} m in one step, in a scene that was {self.size:.3g} m large"

    def _too_long(self, model: Model, x: np.ndarray) -> tuple[int, str] | None:
        for block in _bodies(model):
            a, b = most_stretched(block.elements, x, model.positions, self.edge)
            now, start = (float(np.linalg.norm(at[a] - at[b])) for at in (x, model.positions))
            if now > LARGEST_STRETCH * max(start, self.edge):
                return int(a), f"is {now:.3g} m from a neighbour that was {start:.3g} m away at the start"
        return None

    def _too_fast(self, model: Model, v: np.ndarray) -> tuple[int, str] | None:
        kinetic, put_in = _kinetic(model, v), self.energy + self.work
        if self.is_driven or not kinetic > LARGEST_ENERGY * put_in:
            return None
        k = int(np.argmax(np.linalg.norm(v, axis=1) * model.is_free))
        speed = np.linalg.norm(v[k])
        return k, f"has {speed:.3g} m/s: there are {kinetic:.3g} J of motion, and {put_in:.3g} J were ever put in"

    @cached_property
    def edge(self) -> float:
        """Mean edge at the start [m], of some thousand elements of each kind."""
        blocks = _bodies(self.model)
        ends = [self.x[block.elements[:: max(1, len(block.elements) // SAMPLE), :2]] for block in blocks]
        lengths = [np.linalg.norm(pair[:, 1] - pair[:, 0], axis=1) for pair in ends if len(pair)]
        return float(np.concatenate(lengths).mean()) if lengths else self.size

    @cached_property
    def size(self) -> float:
        """Of the scene at the start [m], with the radii of spheres; infinite of a scene whose emitters say nothing of
        its size.
        """
        particles = self.model.particles
        if particles is not None and particles.is_emitted:
            return np.inf
        largest = 0.0 if particles is None else float(particles.radius.max(initial=0.0))
        return float(np.linalg.norm(np.ptp(self.x, axis=0) + 2 * largest))

    @cached_property
    def energy(self) -> float:
        """Kinetic and stored at the start [J]."""
        stored = [energy_of(b).energy(b, self.x) for b in self.model.blocks if b.is_stored]
        return _kinetic(self.model, self.v) + sum(max(0.0, energy) for energy in stored)


def _remembers(model: Model) -> bool:
    """Whether an element remembers anything, as one that is inverted does."""
    return any(block.interpolants.any() for block in model.blocks if isinstance(block, Converted))


def _bodies(model: Model) -> list:
    return [block for block in model.blocks if isinstance(block, Sheets | Springs | Solids | YarnTriangles)]


def _sums(model: Model, x: np.ndarray, v: np.ndarray) -> tuple[int, float, float]:
    return (len(x), *sums_of_state(model.mass, x, v))


def _kinetic(model: Model, v: np.ndarray) -> float:
    return 0.5 * float(np.sum(model.mass[:, None] * v**2))


def diagnose_divergence(model: Model, x: np.ndarray, v: np.ndarray, time: float) -> str:
    """A sentence on the step that began at a time [s] and led to positions x and velocities v (n, 3)."""
    broken = np.flatnonzero(~(np.abs(v) < 1e300).all(axis=1))
    first = int(broken[0])
    return (
        f"the step from t = {time:g} s gave no finite position for {len(broken)} of {model.n_vertices} "
        f"vertices, first {model.describe_vertex(first)}: {x[first].tolist()}. The state before it "
        "is kept. Try more substeps, line_search=True, or a softer or StableNeoHookean material."
    )


def diagnose_explosion(
    model: Model, vertex: int, what: str, time: float, contacts: ContactEnergy | None, stiffness: float | None
) -> str:
    """A sentence on a vertex that is beyond all scales after the step that began at a time [s]; what: how, as of
    Watch.after_step; stiffness: of contacts [N/m], if it was given.
    """
    touches = contacts is not None and bool(np.any(contacts.vertices == vertex))
    cause, remedy = "the solver has not come near the minimum of its steps", "or line_search=True"
    if touches:
        cause, remedy = "more was pressed together there than the solver could take apart", "or more iterations"
    if touches and stiffness is not None:
        remedy = f"and leave the contact's stiffness={stiffness:g} N/m out: it is then chosen from masses and materials"
    return (
        f"the run has blown up in the step from t = {time:g} s: {model.describe_vertex(vertex)} {what}. The state "
        f"before the step is kept. Probably {cause}: try more substeps {remedy}."
    )
