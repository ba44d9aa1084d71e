"""The energy of all contacts of a step, for the potential that solvers minimise.

The formulas are those of elements.contact, on floats; compiled loops here put contacts in and sum up what comes out.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.contact.contact_set import ContactSet, depths, penetrations
from pliant.elements.closest import closest_separation, positions_of, row
from pliant.elements.contact import add_contact, add_friction_curvature, contact_energy
from pliant.energies.scatter import sum_at_vertices, sum_blocks_at_vertices
from pliant.kernels.contact_refresh import refresh_contact
from pliant.lanes.compiled import cached, compiled, inlined
from pliant.lanes.vectors import add, dot, subtract
from pliant.sparse import sp

_FULL = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])  # where the entries of a 3x3 matrix are in its six numbers


class StepEnd(NamedTuple):
    """Of all contacts at the end of a step."""

    deepest: float  # [m] pressing or not
    stored: float  # [J]
    touching: int  # how many press
    most: float  # [m] that one presses deep
    work: float  # [J] by forces on bodies along their way in the step, seen from moving obstacles: across the surfaces
    friction_work: float  # [J] and along them


@dataclass
class ContactPotential:
    """Contacts with their weights, normals and friction limits held between two refreshes."""

    contacts: ContactSet
    slip: float  # friction_speed h [m]; 0: friction sticks, up to its limit
    damping: float  # k_d / h
    x_prev: np.ndarray  # (n, 3) positions at the start of the step [m]
    has_multipliers: bool = False  # whether a solver accumulates the forces in the multipliers
    compliance: float = 0.0  # 1 / K [m/N] of hard contacts
    neighbours: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int32))  # spheres that may meet soon
    start_depths: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (k,) at the start of the step [m]

    def __post_init__(self) -> None:
        if len(self.start_depths) != self.count:  # they are not known yet
            self.start_depths = np.empty(self.count)
            cached(start_friction)(self.contacts, np.ascontiguousarray(self.x_prev, dtype=float), self.start_depths)

    def copied(self) -> ContactPotential:
        """One with contacts of its own; positions at the start and neighbours, which no refresh changes, are shared."""
        twin = copy(self)
        twin.contacts = ContactSet(*(array.copy() for array in self.contacts))
        return twin

    @property
    def count(self) -> int:
        """How many contacts there are."""
        return self.contacts.size

    @property
    def friction_limits(self) -> np.ndarray:
        """mu k d (k,) [N] of the last refresh; who changes them changes the potential."""
        return self.contacts.friction_limit

    @property
    def corners(self) -> np.ndarray:
        """(k, 4) vertices, -1 where there are fewer."""
        return self.contacts.vertices

    @property
    def vertices(self) -> np.ndarray:
        """(k, 4); the first repeated where there are fewer: its weight there is zero."""
        v = self.contacts.vertices
        return np.where(v >= 0, v, v[:, :1])

    @property
    def weights(self) -> np.ndarray:
        """(k, 4) signed weights of the vertices."""
        return self.contacts.weights

    @property
    def is_between_vertices(self) -> np.ndarray:
        """(k,) bool: no obstacle takes part, so that the forces on its vertices sum to zero."""
        return self.contacts.obstacle < 0

    def refresh(self, x: np.ndarray) -> None:
        """Update closest points and friction limits at x (n, 3) [m]; when, is up to a solver."""
        cached(refresh_all)(self.contacts, np.ascontiguousarray(x, dtype=float))

    def depths(self, x: np.ndarray) -> np.ndarray:
        """d (k,) [m] with which contacts press."""
        return depths(self.contacts, np.ascontiguousarray(x, dtype=float))

    def stored(self, x: np.ndarray) -> float:
        """k/2 d^2 of all contacts [J], without friction and damping; what multipliers hold is not stored."""
        return 0.5 * float(np.sum(self.contacts.stiffness * self.own_depths(x) ** 2))

    def own_depths(self, x: np.ndarray) -> np.ndarray:
        """(k,) [m] the same as `depths`, without what multipliers add to it."""
        return np.minimum(self.depths(x), penetrations(self.contacts, np.ascontiguousarray(x, dtype=float)))

    def depths_at_end(self, x: np.ndarray) -> tuple[np.ndarray, float, float]:
        """`own_depths` (k,) [m], the deepest of all contacts [m] and what is `stored` [J], in one look."""
        own = np.empty(self.count)
        deepest, stored = cached(write_own_depths)(self.contacts, np.ascontiguousarray(x, dtype=float), own)
        return own, deepest, stored

    def at_end(self, x: np.ndarray) -> tuple[np.ndarray, StepEnd]:
        """What `depths_at_end` and `work` give of a step that ends at x (n, 3) [m], in one look."""
        own, x = np.empty(self.count), np.ascontiguousarray(x, dtype=float)
        forces = np.zeros((0, 3)) if self.has_multipliers else self._forces_and_blocks(x)[0]
        return own, StepEnd(*cached(write_end)(self.contacts, x, self.x_prev, forces, own))

    def energy(self, x: np.ndarray) -> float:
        """[J], friction's potential included."""
        energies = np.empty(self.count)
        cached(write_energies)(*self._arguments(x), energies)
        return float(np.sum(energies))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """(n, 3) [N]."""
        force, _ = self._forces_and_blocks(x)
        return self.at_vertices(-force, len(x))

    def forces_and_blocks(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (k, 3) [N] of the energy at x (n, 3) and exact blocks (k, 6) [N/m], on a vertex of weight 1."""
        return self._forces_and_blocks(x, is_exact=True)

    def forces(self, x: np.ndarray) -> np.ndarray:
        """(k, 3) [N] on the first side of each contact, friction included; minus that on the second.

        The multipliers, if a solver accumulates them; otherwise those of the energy at x (n, 3).
        """
        c = self.contacts
        if self.has_multipliers:
            return c.normal_multiplier[:, None] * c.normals + c.tangential_multiplier
        return self._forces_and_blocks(x)[0]

    def vertex_forces(self, x: np.ndarray) -> np.ndarray:
        """(n, 3) [N] of all contacts on the vertices, as `forces`."""
        return self.at_vertices(self.forces(x), len(x))

    def deepest(self, x: np.ndarray) -> float:
        """[m] of all contacts, pressing or not."""
        return float(penetrations(self.contacts, np.ascontiguousarray(x, dtype=float)).max(initial=0.0))

    def penetrations(self, x: np.ndarray) -> np.ndarray:
        """(n,) [m] of vertices: the deepest contact that each takes part in."""
        deepest, takes_part = np.zeros(len(x)), self.contacts.weights != 0
        d = np.broadcast_to(
            penetrations(self.contacts, np.ascontiguousarray(x, dtype=float))[:, None], takes_part.shape
        )
        np.maximum.at(deepest, self.vertices[takes_part], d[takes_part])
        return deepest

    def hessian(self, x: np.ndarray) -> sp.csr_matrix:
        """(3n, 3n) [N/m], exact while weights, normals and friction limits are held: positive semidefinite."""
        w, size = self.contacts.weights, 3 * len(x)
        own = self.blocks(x, is_exact=True)
        blocks = np.einsum("ki,kj,kab->kiajb", w, w, own, optimize=True)
        index = (3 * self.vertices[:, :, None].astype(np.int64) + np.arange(3)).reshape(-1, 12)
        rows, columns = np.repeat(index, 12, axis=1).ravel(), np.tile(index, (1, 12)).ravel()
        return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(size, size))

    def blocks(self, x: np.ndarray, is_exact: bool = False) -> np.ndarray:
        """(k, 3, 3) [N/m] of each contact, by the separation of its sides, with |u| held constant as in Equation 16
        unless they are to be exact.
        """
        return self._forces_and_blocks(x, is_exact)[1][:, _FULL]

    def forces_and_upper_blocks(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces (k, 3) [N] of the energy at x (n, 3) and `blocks` (k, 3, 3) [N/m], on a vertex of weight 1."""
        forces, blocks = self._forces_and_blocks(x)
        return forces, blocks[:, _FULL]

    def vertex_blocks(self, x: np.ndarray) -> np.ndarray:
        """(n, 3, 3) [N/m], with |u| held constant as in Equation 16: no step of a vertex raises friction's energy."""
        own = self.blocks(x)
        return sum_blocks_at_vertices(
            self.vertices, self.contacts.weights[:, :, None, None] ** 2 * own[:, None], len(x)
        )

    def vertex_stiffness(self, x: np.ndarray) -> np.ndarray:
        """(n,) [N/m], a third of the trace of `vertex_blocks`."""
        stiffness = np.zeros(len(x))
        cached(sum_stiffness)(self.contacts, self._forces_and_blocks(x)[1], stiffness)
        return stiffness

    def at_vertices(self, forces: np.ndarray, n: int) -> np.ndarray:
        """Sum of forces (k, 3) on first sides at the n vertices."""
        return sum_at_vertices(self.vertices, self.contacts.weights[:, :, None] * forces[:, None, :], n)

    def _forces_and_blocks(self, x: np.ndarray, is_exact: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Forces (k, 3) [N] and blocks (k, 6) [N/m] on a vertex of weight 1; is_exact: |u| is not held in the block."""
        forces, blocks = np.empty((self.count, 3)), np.empty((self.count, 6))
        cached(write_forces_and_blocks)(*self._arguments(x), is_exact, forces, blocks)
        return forces, blocks

    def _arguments(self, x: np.ndarray) -> tuple[ContactSet, np.ndarray, np.ndarray, float, float]:
        return self.contacts, np.ascontiguousarray(x, dtype=float), self.x_prev, self.slip, self.damping


@compiled
def start_friction(contacts, x, depths):
    """Depths (k,) [m] at the start of the step, and friction limits by them."""
    for place in range(len(depths)):
        c = np.uint64(place)
        s = closest_separation(c, positions_of(c, contacts, x), contacts)
        depths[c] = max(contacts.thickness[c] - dot(s, row(contacts.normals, c)), 0.0)
        contacts.friction_limit[c] = contacts.friction[c] * contacts.stiffness[c] * depths[c]


@compiled
def refresh_all(contacts, x):
    for place in range(len(contacts.kind)):
        c = np.uint64(place)
        refresh_contact(c, positions_of(c, contacts, x), contacts)


@compiled
def write_energies(contacts, x, x_prev, slip, damping, energies):
    for place in range(len(energies)):
        c = np.uint64(place)
        s, u, n = separation_and_motion(c, contacts, x, x_prev)
        g, k, limit = contacts.thickness[c], contacts.stiffness[c], contacts.friction_limit[c]
        energies[c] = contact_energy(s, u, n, g, k, limit, slip, damping)


@compiled
def write_forces_and_blocks(contacts, x, x_prev, slip, damping, is_exact, forces, blocks):
    zero, nothing = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for place in range(len(forces)):
        c = np.uint64(place)
        s, u, n = separation_and_motion(c, contacts, x, x_prev)
        g, k, limit = contacts.thickness[c], contacts.stiffness[c], contacts.friction_limit[c]
        f, H = add_contact(zero, nothing, 1.0, s, u, n, g, k, limit, slip, damping, 1.0, zero)
        if is_exact:
            H = add_friction_curvature(H, u, n, k, limit, slip)
        for axis in range(3):
            forces[c, axis] = f[axis]
        for i in range(6):
            blocks[c, i] = H[i]


@compiled
def sum_stiffness(contacts, blocks, stiffness):
    """Add a third of the trace of blocks (k, 6) to the vertices (n,)."""
    for place in range(len(blocks)):
        c = np.uint64(place)
        own = (blocks[c, 0] + blocks[c, 3] + blocks[c, 5]) / 3.0
        for i in range(4):
            v = contacts.vertices[c, i]
            if v >= 0:
                stiffness[v] += contacts.weights[c, i] ** 2 * own


@compiled
def write_own_depths(contacts, x, own):
    """`own_depths` (k,); the deepest of all and what is stored."""
    deepest, stored = 0.0, 0.0
    for place in range(len(own)):
        c = np.uint64(place)
        own[c], deep = depth_of(c, contacts, closest_separation(c, positions_of(c, contacts, x), contacts))
        deepest, stored = max(deepest, deep), stored + 0.5 * contacts.stiffness[c] * own[c] ** 2
    return deepest, stored


@inlined
def depth_of(c, contacts, s):
    """How deep a contact presses, without what multipliers add, and how much nearer it is than it should be [m]."""
    beyond = dot(s, row(contacts.normals, c)) - contacts.thickness[c]
    deep = max(contacts.offset[c] - beyond, 0.0)
    return min(max(-beyond, 0.0), deep), deep


@compiled
def write_end(contacts, x, x_prev, forces, own):
    """`own_depths` (k,), and a StepEnd; forces (k, 3) [N], (0, 3) where multipliers are these."""
    total = (0.0, 0.0, 0, 0.0, 0.0, 0.0)
    for place in range(len(own)):
        c = np.uint64(place)
        s, u, _ = separation_and_motion(c, contacts, x, x_prev)
        f = row(forces, c) if len(forces) > 0 else multiplier_force(c, contacts)
        own[c], total = add_end(c, contacts, s, subtract(u, row(contacts.tangential_shift, c)), f, total)
    return total


@inlined
def add_end(c, contacts, s, way, f, total):
    """`own_depths` of contact c with the separation s, and the numbers of a StepEnd with it added; way [m]: the motion
    of one side against the other in the step; f [N]: the force.
    """
    deepest, stored, touching, most, work, rubbed = total
    n = row(contacts.normals, c)
    own, deep = depth_of(c, contacts, s)
    across = dot(f, n) * dot(way, n)
    deepest, stored = max(deepest, deep), stored + 0.5 * contacts.stiffness[c] * own**2
    ends = (deepest, stored, touching + (own > 0.0), max(most, own), work + across, rubbed + (dot(f, way) - across))
    return own, ends


@inlined
def multiplier_force(c, contacts):
    """[N] that a contact with multipliers is felt with."""
    n, t, pressed = row(contacts.normals, c), row(contacts.tangential_multiplier, c), contacts.normal_multiplier[c]
    return (pressed * n[0] + t[0], pressed * n[1] + t[1], pressed * n[2] + t[2])


@inlined
def separation_and_motion(c, contacts, x, x_prev):
    """s, its change u in the step, and the normal of a contact."""
    s = closest_separation(c, positions_of(c, contacts, x), contacts)
    before = closest_separation(c, positions_of(c, contacts, x_prev), contacts)
    u = add(subtract(subtract(s, before), row(contacts.motions, c)), row(contacts.tangential_shift, c))
    return s, u, row(contacts.normals, c)
