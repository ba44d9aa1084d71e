"""A damped motion that brings a scene with contact near to where it comes to rest.

What falls, slides and folds a long way, as cloth that drapes over a ball, crawls under Newton's method: sheets hardly
stretch, so that each straight step goes a fraction of an element far. And where it ends under friction depends on the
way. So the scene is let go from where the load step begins, under its full load, with the clock standing still:
vertex block descent, friction measured from step to step, and damping of the air by the scene's own time scale

    c = DAMPING / t,    t = sqrt(L / a)

with the extent L of the largest body and the acceleration a by the loads. What swings at 1 / t has
DAMPING / 2 of critical damping.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.convergence import ConvergenceWatch, SoftnessWatch
from pliant.errors import PliantError, SimulationError
from pliant.model import Scene
from pliant.solvers import VBD
from pliant.statics.held_round_bodies import with_obstacles
from pliant.statics.load_step import Watch
from pliant.statics.loads import LoadCase
from pliant.stepping import Stepping

logger = logging.getLogger("pliant")

LONGEST_STEP = 1 / 300  # [s] of the motion: that of the slip of friction in load steps
PER_STEP = 0.135  # of a mean edge: how far what moves at sqrt(L a) goes at most, so that folds do not pass themselves
ITERATIONS, LEAST = 30_000.0, 30  # of a second of motion; of a step
DAMPING = 0.75
ROUND = 4.0  # t: a part of the motion, after which Newton's method is tried
ROUNDS = 12
SHORTEST, LONGEST = 60, 6000  # steps of a part
AT_REST = 1e-4  # of sqrt(L a): the mean speed of what rests
GOES = 0.02  # the same, of the middle of a body that is on its way
AWAY = 3.0  # extents of the whole scene: what goes so far finds nothing


class _NoConvergenceWatch(ConvergenceWatch):
    def watch(self, *step: Any) -> None:
        """Nothing is reported of steps that only lead to where Newton's method begins."""


class _NoSoftnessWatch(SoftnessWatch):
    def watch(self, *step: Any) -> None:
        """The same for contacts, whose stiffness in load steps is another."""


class _Motion(Stepping):
    """Steps whose clock stands still, and of which the scene's bodies are told nothing."""

    def __init__(self, scene: Scene, case: LoadCase, threads: int | None, damping: float, h: float):
        self._held = case.held
        super().__init__(scene, VBD(iterations=max(round(ITERATIONS * h), LEAST)), 1.0 / h, 1, threads=threads)
        self._convergence = _NoConvergenceWatch(len(self.model.body_names))
        self._softness = _NoSoftnessWatch()
        self.model = replace(self.model, air_damping=self.model.air_damping + damping)
        self._clock = self.state.step = max(round(case.time / self.h), 1)
        self._prepare()

    def _announce(self) -> None:
        pass

    def _place_obstacles(self) -> None:
        super()._place_obstacles()
        self.model = with_obstacles(self.model, self.scene.bodies, self._held)

    def _break_joints(self) -> None:
        pass

    def advance(self, steps: int, before: float, watch: Watch) -> None:
        """Take so many, after `before` [s] of the motion."""
        for k in range(steps):
            if watch.is_stopped:
                return
            watch.tell(f"equilibrium: letting the scene come to rest, {before + k * self.h:.2f} s of motion")
            self.step()
            self.state.step = self._clock


@dataclass
class Settling:
    """The motion of a scene from where it starts, part by part."""

    motion: _Motion
    case: LoadCase
    size: float  # L [m]
    acceleration: float  # a [m/s^2]
    parts: int = 0  # done
    way: float = np.inf  # [m] the farthest that a vertex went in the last part
    failure: str = ""  # why it cannot go on

    @classmethod
    def of(cls, scene: Scene, case: LoadCase, threads: int | None) -> Settling | None:
        """None where something is moved, or what keeps it from moving freely is not known to vertex block descent."""
        model = case.model
        if model.contact is None or case.is_path:
            return None
        size = max(float(np.ptp(model.positions[model.vertices_of(k)], axis=0).max()) for k in range(len(scene.bodies)))
        loads = model.project(case.loads(model.positions, 1.0))
        loads[~model.is_free] = 0.0
        mass = model.mass[model.is_free]
        acceleration = float(np.linalg.norm(loads)) / max(float(np.linalg.norm(mass)), 1e-300)
        damping = DAMPING * (acceleration / max(size, 1e-300)) ** 0.5
        edge = float(model.contact.edge[model.is_free].min(initial=np.inf))
        h = min(LONGEST_STEP, PER_STEP * edge / max(size * acceleration, 1e-300) ** 0.5)
        try:
            motion = _Motion(scene, case, threads, damping, h)
        except PliantError as error:
            logger.info("equilibrium: the scene cannot be let go to come to rest: %s", error)
            return None
        return cls(motion, case, size, acceleration)

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m]."""
        return self.motion.state.x

    @property
    def poses(self) -> np.ndarray:
        """(b, 7) of rigid bodies."""
        return self.motion.state.poses

    def contact_state(self) -> dict[str, np.ndarray]:
        """Sides, and who presses whom, for another detector."""
        assert self.motion._detector is not None
        return self.motion._detector.state_dict()

    def advance(self, watch: Watch) -> bool:
        """Go on by a part; False if it has come to an end already, or blows up."""
        if self.parts == ROUNDS or self.failure or self._is_away() or (self.parts and self._rests()):
            return False
        before = self.positions.copy()
        try:
            self.motion.advance(self.steps, self.seconds, watch)
        except SimulationError as error:
            self.failure = str(error)
            return False
        self.parts += 1
        self.way = float(np.abs(self.positions - before).max(initial=0.0))
        return True

    @property
    def leads_away(self) -> bool:
        """Whether it ends with a body that goes on, or blows up."""
        return bool(self.failure) or self.going() is not None

    @property
    def seconds(self) -> float:
        """[s] of motion up to now."""
        return self.parts * self.steps * self.motion.h

    @property
    def steps(self) -> int:
        """Of a part."""
        t = (self.size / max(self.acceleration, 1e-300)) ** 0.5
        return min(max(round(ROUND * t / self.motion.h), SHORTEST), LONGEST)

    def words(self) -> str:
        """How the motion ended."""
        if self.failure:
            return f"the motion in which the scene was let go ended: {self.failure}"
        going = self.going()
        if not going:
            how = "has come to rest" if self._rests() else "still moves"
            return f"the scene {how} after {self.seconds:.3g} s of damped motion, and its forces stay out of balance"
        name, speed, way = going
        return (
            f"{name} slides or falls away: after {self.seconds:.3g} s of damped motion its middle is {way:.3g} m from "
            f"where it started and moves at {speed:.3g} m/s. Nothing holds it: pin it, or give contact friction"
        )

    def going(self) -> tuple[str, float, float] | None:
        """The body whose middle moves fastest, its speed [m/s] and way [m], if it is on its way."""
        model, state = self.motion.model, self.motion.state
        fastest: tuple[str, float, float] | None = None
        for k, name in enumerate(model.body_names):
            own = model.vertices_of(k)
            own = own[model.is_free[own]]
            if not len(own):
                continue
            speed = float(np.linalg.norm(state.v[own].mean(axis=0)))
            way = float(np.linalg.norm((state.x[own] - model.positions[own]).mean(axis=0)))
            if speed > GOES * self._speed and (fastest is None or speed > fastest[1]):
                fastest = name, speed, way
        return fastest

    @property
    def _speed(self) -> float:
        """sqrt(L a) [m/s]."""
        return (self.size * self.acceleration) ** 0.5

    def _rests(self) -> bool:
        """By the way of a whole part: a single step may be held back altogether."""
        return self.way <= AT_REST * self._speed * self.steps * self.motion.h

    def _is_away(self) -> bool:
        """Whether something has gone farther than all that is in the scene could be."""
        model, going = self.motion.model, self.going()
        if going is None or model.contact is None:
            return False
        places = [model.positions, *(shape.row(self.case.time)[None, :3] for shape in model.contact.shapes)]
        return going[2] > AWAY * float(np.ptp(np.concatenate(places), axis=0).max())
