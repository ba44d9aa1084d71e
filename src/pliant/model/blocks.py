"""Elements of all bodies frozen into flat arrays: one block for each kind and law."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

import numpy as np

from pliant.materials import SolidLaw


@dataclass(frozen=True)
class Block:
    """Elements of one kind. Every array has one entry an element first."""

    energy_name: ClassVar[str] = "elastic"  # under which energies are reported
    is_viscous: ClassVar[bool] = False  # whether it sees displacements since the start of the step, not positions

    elements: np.ndarray  # (m, k) vertices

    @property
    def key(self) -> tuple[type, ...]:
        """Blocks of the same key are one block."""
        return (type(self),)

    @property
    def internal_state_size(self) -> int:
        """How many numbers its elements remember from iteration to iteration."""
        return 0

    def taken(self, rows: np.ndarray) -> Self:
        """Some of its elements."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: array[rows] for name, array in arrays.items() if isinstance(array, np.ndarray)})

    def with_internal_state(self, internal_state: np.ndarray) -> Block:
        """The same block, whose internal_state (internal_state_size,) is this array and changes with it."""
        return self


@dataclass(frozen=True)
class Solids(Block):
    """Tets of one law."""

    law: type[SolidLaw]
    gradients: np.ndarray  # (m, 4, 3) shape-function gradients b [1/m]
    volumes: np.ndarray  # (m,) [m^3]
    parameters: np.ndarray  # (m, p) of the law, in its order

    @property
    def tets(self) -> np.ndarray:
        return self.elements

    @property
    def key(self) -> tuple[type, ...]:
        return type(self), self.law


@dataclass(frozen=True)
class InvertibleSolids(Solids):
    """Tets of one law that is converted where they are crushed or inverted (see materials.Invertible)."""

    conversion: np.ndarray  # (m, 4) lower, upper, release and the projective stiffness [Pa]
    interpolants: np.ndarray  # (m,) l of Equation 17, in [0, 1]: the only array that changes

    @property
    def internal_state_size(self) -> int:
        return len(self.interpolants)

    def with_internal_state(self, internal_state: np.ndarray) -> InvertibleSolids:
        return replace(self, interpolants=internal_state)


@dataclass(frozen=True)
class Sheets(Block):
    """Triangles of one law, stretched and sheared in their plane."""

    law: type[SolidLaw]
    gradients: np.ndarray  # (m, 3, 2) shape-function gradients b [1/m] in a rest basis of each triangle
    areas: np.ndarray  # (m,) [m^2]
    parameters: np.ndarray  # (m, p) of the law, in its order; moduli in N/m

    @property
    def key(self) -> tuple[type, ...]:
        return type(self), self.law


@dataclass(frozen=True)
class Fibres(Block):
    """Triangles that resist stretch along one direction of their rest state."""

    slopes: np.ndarray  # (m, 3) derivatives of the shape functions along it [1/m]
    stiffness: np.ndarray  # (m,) stiffness [N/m] times area: [J]


@dataclass(frozen=True)
class Springs(Block):
    """Edges with a rest length."""

    lengths: np.ndarray  # (m,) at rest [m]
    stiffness: np.ndarray  # (m,) [N/m]
    compression: np.ndarray  # (m,) part of the stiffness when shorter than at rest: 1 a spring, 0 a rope


@dataclass(frozen=True)
class Hinges(Block):
    """Pairs of triangles bent about their common edge: its start and end, then the two wings."""

    angles: np.ndarray  # (m,) at rest [rad]
    stiffness: np.ndarray  # (m,) bending stiffness times the hinge's weight [J]


@dataclass(frozen=True)
class Joints(Block):
    """Pairs of rod edges bent about their common vertex, the middle one of three."""

    angles: np.ndarray  # (m,) at rest [rad]
    stiffness: np.ndarray  # (m,) bending stiffness over the length it stands for [J]


@dataclass(frozen=True)
class Pairs(Block):
    """Pairs of vertices with a quadratic energy 1/2 w |x_i - x_j|^2: flat bending, attachments.

    A weight alone may be negative; what a body or a link adds is positive semidefinite as a whole.
    """

    weights: np.ndarray  # (m,) w [N/m]


@dataclass(frozen=True)
class Attachments(Pairs):
    """Links between points of bodies, taken apart into pairs (see model.attachments)."""

    energy_name = "attachment"


@dataclass(frozen=True)
class Dampers(Pairs):
    """Pairs that resist relative velocity: 1/(2h) c |u_i - u_j|^2 of the displacements u in a step (Wang and Yang,
    after Equation 20). Weights are c [N s/m] in a model and c / h [N/m] in a step.
    """

    energy_name = "viscosity"
    is_viscous = True

    def over(self, h: float) -> Self:
        """As a step of length h [s] sees them."""
        return replace(self, weights=self.weights / h)


@dataclass(frozen=True)
class Bounds(Block):
    """Vertices (m, 1) that are pushed back into a box: k/2 d^2 for each axis along which they are d outside."""

    energy_name = "bounds"

    lower: np.ndarray  # (m, 3) [m], minus infinity where there is no bound
    upper: np.ndarray  # (m, 3) [m]
    stiffness: np.ndarray  # (m,) k [N/m]


@dataclass(frozen=True)
class Pressures(Block):
    """Triangles (m, 3) of closed surfaces, outward oriented, with energy -p V."""

    energy_name = "pressure"

    pressures: np.ndarray  # (m,) p, the same on all triangles of a surface [Pa]


def merge(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """One block a key, in the order of their first appearance; elements keep their order."""
    groups: dict[tuple[type, ...], list[Block]] = {}
    for block in blocks:
        groups.setdefault(block.key, []).append(block)
    return tuple(_joined(members) for members in groups.values())


def _joined(members: list[Block]) -> Block:
    first = members[0]
    values = {
        field.name: np.concatenate([getattr(block, field.name) for block in members])
        if isinstance(getattr(first, field.name), np.ndarray)
        else getattr(first, field.name)
        for field in fields(first)
    }
    return type(first)(**values)
