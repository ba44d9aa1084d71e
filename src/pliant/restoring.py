"""Going back: the state of a simulation as a dictionary, in place, without building or compiling anything again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from pliant.divergence import Watch
from pliant.errors import SimulationError
from pliant.io.arrays import Expected, check_arrays
from pliant.io.saved_arrays import check_state, expected_of_contact
from pliant.model.joint_rows import without_joints
from pliant.model.known_names import KnownNames
from pliant.model.placement import ROW
from pliant.model.topology import topology_arrays, with_topology_arrays
from pliant.state import HISTORY, State
from pliant.stepping import Stepping

_ARRAYS = ("x", "v", "v_previous", "internal_state", "poses", "twists", "spins", "inflation", *HISTORY)
_OWN = ("step", "h", "topology", "contact", "is_untracked", "solver", "stiffness_ratios", "iterations_needed")
_KEYS = (*_ARRAYS, *_OWN, "broken_joints")
SETTINGS = tuple(signature(Stepping.__init__).parameters)[1:]


class Restoring(Stepping, KnownNames):
    """A step that can be gone back to, of settings that stay."""

    _fixed = dict.fromkeys(
        ("scene", "frame_rate", "substeps", "h", "execution"),
        "build another simulation, which goes on from sim.state_dict() by its load_state_dict().",
    )

    def __init__(self, *arguments: Any, **options: Any):
        for name in options:
            if name not in SETTINGS:
                known = ", ".join(SETTINGS)
                hint = f"it takes {known}; a step is 1 / (frame_rate * substeps) seconds long."
                raise TypeError(f"Simulation() got an unexpected keyword argument {name!r}: {hint}")
        super().__init__(*arguments, **options)
        self._first_model = self.model
        self._start = self.state_dict()
        self._is_built = True

    @property
    def x(self) -> np.ndarray:
        """(n, 3) positions [m] in the scene's vertex order: a read-only view of the state, no copy. The next steps
        write into the same memory: copy what is to last (`positions` does). NumPy, and by DLPack others, share it.
        """
        return _view(self.state.x)

    @property
    def v(self) -> np.ndarray:
        """(n, 3) velocities [m/s]: a read-only view, as `x`."""
        return _view(self.state.v)

    def state_dict(self) -> dict[str, Any]:
        """All that a later step depends on beside the scene and the settings, as arrays and plain values of its own.

        `load_state_dict` and `reset` go on from it with the same bits.
        """
        state, detector = self.state, self._detector
        return {
            **{name: getattr(state, name).copy() for name in _ARRAYS},
            "step": state.step,
            "h": self.h,
            "topology": {name: array.copy() for name, array in topology_arrays(self.model).items()},
            "contact": {name: array.copy() for name, array in self._contact_state().items()},
            "is_untracked": detector is None or detector.seen is None,  # sides are found when the step begins
            "solver": self._work.state_dict(),
            "stiffness_ratios": self._meter.stiffness_ratios,
            "iterations_needed": self._meter.looks.needed,
            "broken_joints": [rows.joint.is_broken for rows in self.model.joints],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave, of this simulation or another one of the same scene and solver. Where its
        steps had another length, the run goes on at the same time, which must be a multiple of the new length [s].
        """
        missing = [name for name in _KEYS if not isinstance(state, Mapping) or name not in state]
        if missing:
            raise SimulationError(f"load_state_dict: {missing[0]!r} is missing; give what sim.state_dict() returned.")
        topology = state["topology"]
        model = self._first_model
        check_state("load_state_dict", model, self.scene.bodies, {name: state[name] for name in _ARRAYS}, topology)
        own = State(**{name: np.array(state[name]) for name in _ARRAYS}, step=self._step_of(state))
        if state["h"] != self.h:
            own.forget_history()
        # vertices that were released, or torn apart, since or before: the model of that moment has other tables
        changed = topology_differs(topology, topology_arrays(self.model)) or self.model is not model
        broken = [rows for rows, is_broken in zip(model.joints, state["broken_joints"], strict=True) if is_broken]
        changed |= state["broken_joints"] != [rows.joint.is_broken for rows in model.joints]
        for rows, is_broken in zip(model.joints, state["broken_joints"], strict=True):
            rows.joint.is_broken = is_broken
        self.state, self._solved, self._solution, self._measured = own, None, None, None
        if changed:
            self.model = with_topology_arrays(model, self.scene.bodies, topology) if topology else model
            self.model = replace(self.model, blocks=without_joints(self.model.blocks, broken)) if broken else self.model
            self._allocate()
            self._prepare()
        self._watch = Watch(self.model, own.x.copy(), own.v.copy())
        if state["solver"]:
            self._work.load_state_dict(state["solver"])
        self._meter.stiffness_ratios, self._meter.looks.needed = state["stiffness_ratios"], state["iterations_needed"]
        self._load_contact_state("load_state_dict", state["contact"])
        if self._detector is not None and state["is_untracked"]:
            self._detector.seen = None

    def _step_of(self, state: Mapping[str, Any]) -> int:
        """Number of the step at which a state is, in steps of this simulation."""
        if state["h"] == self.h:
            return int(state["step"])
        time = state["step"] * state["h"]
        if abs(round(time / self.h) * self.h - time) > 1e-6 * self.h:
            raise SimulationError(
                f"load_state_dict: the state is of t = {time:.6g} s, between two steps of this simulation, which are "
                f"{self.h:.6g} s long; take the state at the end of a frame."
            )
        return round(time / self.h)

    def reset(self, state: Mapping[str, Any] | None = None) -> None:
        """Back to the start, or to what `state_dict` gave, in place: nothing is compiled, and unless vertices were
        released or elements tore or were deleted since, nothing is built. Recorders and observers stay. Obstacles are
        moved as the scene says again; gravity, friction and materials stay as they were last set.
        """
        if state is None:
            self._placements.restart()
        self.load_state_dict(self._start if state is None else state)
        if state is None:
            self._placements.restart()

    def _contact_state(self) -> dict[str, np.ndarray]:
        """What the detector of contacts keeps, and where obstacles and held rigid bodies are."""
        detected = {} if self._detector is None else self._detector.state_dict()
        return {**detected, "obstacles": self._placements.numbers()}

    def _load_contact_state(self, source: Any, arrays: dict[str, np.ndarray]) -> None:
        """source: names the file in messages."""
        rows = len(self._placements.numbers())
        expected = {"contact.obstacles": Expected((rows, ROW), np.float64)}
        if self._detector is not None:
            surface, rules = self._detector.colliders.surface, self._detector.colliders.rules
            counts = (len(rules.body), len(surface.triangles), len(surface.edges), len(rules.allowed))
            expected = expected_of_contact(*counts, rows, arrays)
        check_arrays(source, {f"contact.{name}": array for name, array in arrays.items()}, expected)
        if self._detector is not None:
            spheres = self._detector.spheres
            before = None if spheres is None else spheres.neighbours
            self._detector.load_state_dict({name: array.copy() for name, array in arrays.items()}, self.state.x)
            if spheres is not None and before is not None and not np.array_equal(before, spheres.neighbours):
                self._prepare()
        self._placements.load(arrays["obstacles"])

    def __reduce__(self) -> tuple[Any, ...]:
        """How `pickle` and `copy.deepcopy` see it: scene, settings and state. Observers and recorders stay behind."""
        execution = self.execution
        steps = (self.frame_rate, self.substeps, execution.precision)
        settings = (*steps, execution.threads or None, self.integrator, execution.device or "cpu")
        return _made_again, (type(self), self.scene, self.solver, settings, self.state_dict(), self.notes)


def _made_again(
    kind: type[Restoring], scene: Any, solver: Any, settings: tuple[Any, ...], state: dict[str, Any], notes: Any
) -> Restoring:
    simulation = kind(scene, solver, *settings)
    simulation.load_state_dict(state)
    simulation.notes = notes
    return simulation


def topology_differs(one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray]) -> bool:
    """Whether two models were torn, or lost elements, in different ways."""
    return one.keys() != other.keys() or any(not np.array_equal(one[name], other[name]) for name in one)


def _view(array: np.ndarray) -> np.ndarray:
    seen = array.view()
    seen.flags.writeable = False
    return seen


# what help() and the reference show
Restoring.__init__.__wrapped__ = Stepping.__init__  # type: ignore[attr-defined]
