"""What a scene is made of: bodies, how they start and how they are held."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.elements.joint import JointRopes
from pliant.elements.registry import damping_of
from pliant.errors import SceneError
from pliant.model import checks
from pliant.model.blocks import Block
from pliant.model.forces import Force
from pliant.model.moment import Moment, Moments
from pliant.model.motions import ComponentMotion
from pliant.model.obstacles import ContactLoad
from pliant.model.pressure import Inflated, Pressure, checked_pressure, inflated_surfaces
from pliant.model.scene_changes import Changeable
from pliant.model.volume import Volume, checked_volume

FREE, PLANE, LINE, FIXED = 3, 2, 1, 0  # dimension of the space a vertex moves in
CARRIED = 6  # a point that a rigid body carries: it moves by the body's six numbers
STRAIN_RATE, VERTEX_BLOCK = DAMPING_FORMS = ("strain_rate", "vertex_block")  # what damping resists (decision 0026)

Motion = Callable[[float], ArrayLike]

AnyBody = TypeVar("AnyBody", bound="Body")

AXES = "xyz"


class Body(Changeable, ABC):
    """Something in a scene that has vertices. A kind of body adds what it is made of."""

    kind: ClassVar[str]  # in names and files
    element_names: ClassVar[tuple[str, str]] = ("element", "elements")  # what it is made of, one and many
    settings: ClassVar[tuple[str, ...]] = ("gravity", "air_damping", "pressure", "volume")  # that files keep too
    has_inside: ClassVar[bool] = False  # whether only the front of its surface is outside

    def __init__(self, name: str, points: np.ndarray, damping: float = 0.0, damping_form: str = STRAIN_RATE):
        n = len(points)
        self.name = name
        self.damping = checks.number(damping, f"{name}: damping", "s")  # k_d
        self.damping_form = checks.choice(damping_form, DAMPING_FORMS, f"{name}: damping_form")
        self.initial_positions = np.array(points)  # (n, 3) [m]
        self.initial_velocities = np.zeros((n, 3))  # [m/s]
        self.subspace = np.full(n, FREE, np.int8)  # (n,) FREE, PLANE, LINE, FIXED or CARRIED
        self.directions = np.zeros((n, 3))  # unit normal of the plane or direction of the line
        self.motions: list[tuple[np.ndarray, Motion]] = []
        self.releases: list[tuple[np.ndarray, float]] = []  # held vertices that become free at a time [s]
        self.forces: list[Force] = []
        self._colour: tuple[float, ...] | None = None
        self.touches_nothing = np.zeros(n, bool)  # (n,) vertices without contact
        self._friction: float | None = None
        self._gravity: np.ndarray | None = None
        self._air_damping = 0.0
        self._pressure: Pressure = 0.0
        self._volume: Volume | None = None
        self.clamps: list[tuple[np.ndarray, np.ndarray]] = []  # rows of vertices that pin(clamped=True) holds, and next
        self._simulated: Callable[[], np.ndarray] | None = None
        self._elements: Callable[[], np.ndarray] | None = None
        self._contact_load: ContactLoad | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles keep: not the simulation."""
        links = ("_simulated", "_elements", "_contact_load", "_state")
        kept = {name: None if name in links else value for name, value in vars(self).items()}
        kept.pop("_placement", None)
        return kept

    def __repr__(self) -> str:
        parts = f", {self.n_elements} {self.element_names[self.n_elements != 1]}" if self.n_elements else ""
        return f"<{type(self).__name__} {self.name}: {self.n_vertices} vertices{parts}>"

    @abstractmethod
    def blocks(self, first: int) -> list[Block]:
        """Its elements; `first` is the scene's number of its vertex 0."""

    def damping_blocks(self, first: int) -> list[Block]:
        """What resists its elements' strain rates, if that is the form of its damping."""
        if self.damping == 0 or self.damping_form != STRAIN_RATE:
            return []
        return [damping_of(block, self.damping) for block in self.damped_blocks(first)]

    def damped_blocks(self, first: int) -> list[Block]:
        """Elements whose strain rates are damped: not those that are hard."""
        return [block for block in self.blocks(first) if block.is_stored and not isinstance(block, JointRopes)]

    def with_angles(self) -> Body:
        """Itself; of a sheet, one that solvers without quadratic bending can take."""
        return self

    @property
    @abstractmethod
    def masses(self) -> np.ndarray:
        """(n,) [kg]."""

    @abstractmethod
    def ingredients(self) -> dict[str, Any]:
        """What its class takes beside the name, so that a file can keep it: meshes, laws, arrays, numbers and words."""

    @property
    def surface(self) -> np.ndarray:
        """(k, 3) vertex indices of the triangles of its surface, outward where there is an outside."""
        return np.empty((0, 3), np.int64)

    @property
    def n_elements(self) -> int:
        """Triangles, springs or tets at the start."""
        return 0

    @property
    def tears(self) -> bool:
        """Whether its edges can tear or break."""
        return False

    @property
    def n_vertices(self) -> int:
        """Vertices of its mesh; those that tearing adds are not counted."""
        return len(self.subspace)

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) [m]: in the simulation last built from the scene, or as they will be when it starts. Vertices that
        tearing has added come last. A copy: writing into it moves nothing, `set_positions` does before the start.
        """
        return self.initial_positions.copy() if self._simulated is None else self._simulated()

    @property
    def contact_force(self) -> np.ndarray:
        """(3,) [N]: net force of all contacts on it in the last step of the simulation last built from the scene."""
        return np.zeros(3) if self._contact_load is None else self._contact_load()[0].copy()

    @property
    def contact_torque(self) -> np.ndarray:
        """(3,) [N m]: net torque of all contacts on it in the last step, about its centre of mass."""
        return np.zeros(3) if self._contact_load is None else self._contact_load()[1].copy()

    @property
    def colour(self) -> tuple[float, ...] | None:
        """Red, green, blue from 0 to 1 in pictures; None: the next of a palette."""
        return self._colour

    @colour.setter
    def colour(self, value: ArrayLike | None) -> None:
        if value is None:
            self._colour = None
            return
        given = checks.vectors(value, None, f"{self.name}: colour", "0 to 1")
        if given.min() < 0 or given.max() > 1:
            raise SceneError(f"{self.name}: colour is {given.tolist()}: red, green and blue lie between 0 and 1.")
        self._colour = tuple(given.tolist())

    @property
    def gravity(self) -> np.ndarray | None:
        """(3,) [m/s^2] of this body; None: the scene's."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike | None) -> None:
        self._gravity = None if value is None else checks.vectors(value, None, f"{self.name}: gravity", "m/s^2")

    @property
    def air_damping(self) -> float:
        """c [1/s]: the air damps a vertex of mass m by c m v (Wang and Yang, Equation 20), so that a falling body
        reaches the speed g / c.

        Deviation: the paper's coefficient is one number per vertex [kg/s]; in proportion to the mass it does not depend
        on the mesh.
        """
        return self._air_damping

    @air_damping.setter
    def air_damping(self, value: float) -> None:
        self._air_damping = checks.number(value, f"{self.name}: air_damping", "1/s")

    @property
    def friction(self) -> float | None:
        """Coefficient of friction of its contacts, without unit: with another body or obstacle that has one too, the
        geometric mean of both holds; with one that has none, its own. None: the other's, or the scene's where neither
        gives one.
        """
        return self._friction

    @friction.setter
    def friction(self, value: float | None) -> None:
        self._friction = None if value is None else checks.number(value, f"{self.name}: friction", "1")

    def ignore_contact(self, vertices: ArrayLike) -> None:
        """Let vertices (indices or mask), and what holds one of them, touch nothing."""
        self.touches_nothing[checks.selection(vertices, self.n_vertices, f"{self.name}.ignore_contact")] = True
        self._note_change("ignore_contact() was called")

    @property
    def pressure(self) -> Pressure:
        """p [Pa], or a function of the time [s] that gives it: by how much the pressure inside the body's closed
        surface exceeds that outside. Its energy is -p V, V the enclosed volume; a negative p presses from outside.
        """
        return self._pressure

    @pressure.setter
    def pressure(self, value: Pressure) -> None:
        self._pressure = checked_pressure(value, f"{self.name}: pressure")

    @property
    def volume(self) -> Volume | None:
        """V [m^3], or a function of the time [s] that gives it: the volume that the body's closed surface is to
        enclose, whatever pressure that needs (Simulation.pressure_of, Equilibrium.pressure_of). None: not prescribed.
        """
        return self._volume

    @volume.setter
    def volume(self, value: Volume | None) -> None:
        self._volume = checked_volume(value, f"{self.name}: volume")

    def inflated(self) -> list[Inflated]:
        """Its surfaces under pressure or of prescribed volume."""
        return inflated_surfaces(self.name, [("", self.surface, self.pressure, self.volume)])

    def add_force(self, force: Force) -> None:
        """Let force(positions (n, 3) [m], velocities (n, 3) [m/s], time [s]) give forces (n, 3) [N] on its vertices.

        It is called once per step, with the state at its start. Tearing makes n grow.
        """
        if not callable(force):
            raise SceneError(
                f"{self.name}.add_force: the force is {force!r}; give a function of positions, velocities and time "
                "that returns forces [N]."
            )
        self.forces.append(force)
        self._note_change("add_force() was called")

    def add_moment(self, vertices: ArrayLike, moment: Moments) -> None:
        """Turn vertices (indices or mask, not all on one line) by a moment (3,) [N m] in world axes, or a function of
        the time [s] that gives it: forces without resultant that follow the vertices. A force as of `add_force`.
        """
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.add_moment")
        self.forces.append(Moment(f"{self.name}.add_moment", chosen, moment, self.initial_positions))
        self._note_change("add_moment() was called")

    def pin(
        self, vertices: ArrayLike, until: float | None = None, components: str = AXES, clamped: bool = False
    ) -> None:
        """Hold vertices (indices or mask) where they are when the simulation starts; let go at `until` [s] if given.

        components: which coordinates are held, such as "z" or "xy". Pins of one vertex add up: "x" for a face and "z"
        for another hold both on their common edge.
        clamped: hold the slope of a sheet or a rod too, by its neighbours: vertices that share an element with those
        given are held as they are. It then bends from the middle between the two rows on: let it be half a cell
        longer there, or a plate of 20 cells that is clamped all around bends by a fifth too little.
        """
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.pin")
        if checks.flag(clamped, f"{self.name}.pin: clamped"):
            both = np.union1d(chosen, self.neighbours(chosen))
            self.clamps.append((chosen, np.setdiff1d(both, chosen)))
            chosen = both
        asked = self._axes(components, "pin")
        if asked.all():
            self._hold(chosen, FIXED, None, "pin")
        else:
            self._hold_axes(chosen, asked, "pin")
        self._release_at(chosen, until, "pin")

    def neighbours(self, vertices: np.ndarray) -> np.ndarray:
        """Numbers of the vertices that share a thin element with `vertices` (k,), indices; bodies that are not thin
        have none.
        """
        raise SceneError(
            f"{self.name}.pin: clamped is for sheets and rods; a solid whose face is pinned is clamped. Leave it out."
        )

    def move(self, vertices: ArrayLike, motion: Motion, until: float | None = None, components: str = AXES) -> None:
        """Prescribe vertices: motion(t) gives their positions (k, 3) [m] at time t [s]; let go at `until` [s] if given.

        components: which coordinates are prescribed, such as "z" or "xy"; the others of motion(t) are not used, and
        the vertices are free along them, or held there by a pin of these components that was added before.
        The motions of `pliant.motions` (Slide, Turn, Keyframes) can be kept in files; other functions cannot.
        """
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.move")
        if not callable(motion):
            raise SceneError(
                f"{self.name}.move: the motion is {motion!r}; give a function of the time [s] "
                "that returns positions [m]."
            )
        asked = self._axes(components, "move")
        if asked.all():
            self._hold(chosen, FIXED, None, "move")
        else:
            self._hold_axes(chosen, asked, "move")
            motion = ComponentMotion(motion, components)
        self._release_at(chosen, until, "move")
        self.motions.append((chosen, motion))

    def free(self, vertices: ArrayLike) -> None:
        """Undo what holds vertices (indices or a mask): pins, motions, lines, planes."""
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.free")
        for kinematic, _ in self.motions:
            if 0 < np.isin(kinematic, chosen).sum() < len(kinematic):
                raise SceneError(
                    f"{self.name}.free: vertex {int(kinematic[np.isin(kinematic, chosen)][0])} is moved together with "
                    f"{len(kinematic) - 1} others; free all of them."
                )
        self.subspace[chosen], self.directions[chosen] = FREE, 0.0
        self.clamps = [rows for rows in self.clamps if not np.isin(rows[0], chosen).any()]
        self.motions = [
            (kinematic, motion) for kinematic, motion in self.motions if not np.isin(kinematic, chosen).any()
        ]
        kept = [(held[~np.isin(held, chosen)], time) for held, time in self.releases]
        self.releases = [(held, time) for held, time in kept if len(held)]
        self._note_change("free() was called")

    def constrain_to_line(self, vertices: ArrayLike, direction: ArrayLike) -> None:
        """Let vertices move only along a direction, each on the line through its position."""
        unit = checks.unit_vector(direction, f"{self.name}.constrain_to_line: direction")
        self._hold(vertices, LINE, unit, "constrain_to_line")

    def constrain_to_plane(self, vertices: ArrayLike, normal: ArrayLike) -> None:
        """Let vertices move only across a normal, each in the plane through its position."""
        unit = checks.unit_vector(normal, f"{self.name}.constrain_to_plane: normal")
        self._hold(vertices, PLANE, unit, "constrain_to_plane")

    def set_positions(self, positions: ArrayLike) -> None:
        """Start from these positions (n, 3) [m]; the mesh stays the shape at rest."""
        self.initial_positions = checks.vectors(positions, self.n_vertices, f"{self.name}.set_positions", "m")
        self._note_change("set_positions() was called")

    def set_velocities(self, velocities: ArrayLike) -> None:
        """Start with these velocities (n, 3) or one for all (3,) [m/s]."""
        what = f"{self.name}.set_velocities"
        try:
            is_one = np.shape(velocities) == (3,)
        except ValueError:  # ragged: the check below says so
            is_one = False
        one = checks.vectors(velocities, None, what, "m/s") if is_one else None
        each = velocities if one is None else np.tile(one, (self.n_vertices, 1))
        self.initial_velocities = checks.vectors(each, self.n_vertices, what, "m/s")
        self._note_change("set_velocities() was called")

    def _axes(self, components: str, how: str) -> np.ndarray:
        """(3,) bool: which are named."""
        asked = np.array([axis in components for axis in AXES]) if isinstance(components, str) else np.zeros(3, bool)
        if not asked.any() or not set(components) <= set(AXES):
            raise SceneError(f"{self.name}.{how}: components is {components!r}; give one or more of 'x', 'y' and 'z'.")
        return asked

    def _hold_axes(self, chosen: np.ndarray, asked: np.ndarray, how: str) -> None:
        """Hold some of the three axes of vertices, beside those that other pins hold already."""
        moved = np.concatenate([v for v, _ in self.motions]) if self.motions else np.empty(0, np.int64)
        along = np.abs(self.directions[chosen]) == 1.0  # (k, 3) lines along, planes across an axis
        kind = self.subspace[chosen][:, None]
        oblique = ((kind == LINE) | (kind == PLANE))[:, 0] & ~along.any(axis=1)
        before = (kind == FIXED) | ((kind == PLANE) & along) | ((kind == LINE) & ~along)
        refused = oblique | np.isin(chosen, moved) | ((how == "move") & (before & asked).any(axis=1))
        if refused.any():
            also = "held in a component that is to be moved, " if how == "move" else ""
            raise SceneError(
                f"{self.name}.{how}: vertex {int(chosen[refused][0])} is already moved, {also}or held along a line or "
                "in a plane that is not that of the axes; hold a vertex in one way."
            )
        held = asked | before
        free = 3 - held.sum(axis=1)
        self._note_change(f"{how}() was called")
        self.subspace[chosen] = np.array([FIXED, LINE, PLANE])[free]
        self.directions[chosen] = np.where(free[:, None] == 1, ~held, np.where(free[:, None] == 2, held, False))

    def _release_at(self, vertices: np.ndarray, until: float | None, how: str) -> None:
        if until is not None:
            time = checks.number(until, f"{self.name}.{how}: until", "s", positive=True)
            self.releases.append((vertices, time))

    def _hold(self, vertices: ArrayLike, subspace: int, direction: np.ndarray | None, how: str) -> None:
        chosen = checks.selection(vertices, self.n_vertices, f"{self.name}.{how}")
        moved = np.concatenate([v for v, _ in self.motions]) if self.motions else np.empty(0, np.int64)
        held = np.isin(chosen, moved) | (
            (self.subspace[chosen] != FREE) & ((self.subspace[chosen] != FIXED) | (how != "pin"))
        )
        if held.any():
            raise SceneError(
                f"{self.name}.{how}: vertex {int(chosen[held][0])} is already pinned, moved or constrained; "
                "hold a vertex in one way."
            )
        self._note_change(f"{how}() was called")
        self.subspace[chosen] = subspace
        if direction is not None:
            self.directions[chosen] = direction
