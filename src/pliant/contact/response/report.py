"""What contact did in a step, in numbers, and the sentences that warn of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.contact.contact_set import FACE_THICKNESS, gaps
from pliant.contact.response.potential import ContactPotential
from pliant.contact.search.edge_depths import DeepEdge
from pliant.elements.closest import FACE_OBSTACLE
from pliant.lanes.compiled import cached, compiled

TOO_STIFF = 10.0  # times the chosen stiffness: beyond it iterations take long, and what is missed is thrown out
FLAT = 1e-9  # of an edge: a thickness that counts as none
TOLERATED = 0.1  # of an edge: how deep a contact without thickness may be, for the geometry says no more than that
UNBALANCED = 0.05  # of a step's forces: beyond it a depth is that of a motion between two iterations
LISTED = 4  # pairs that a message names


@dataclass(frozen=True)
class ContactReport:
    """Contacts of one step; depths [m] beyond the distance to be kept.

    energy_gain: [J] the work of contact on bodies, and what it stores at the end beyond what it stored at the end of
    the step before; positive: contact has added energy. Implicit steps lose some, so that it is mostly negative.
    energy_rise: [J] by which the solved step raised the energy of bodies that touch, kinetic, of elements and of
    contacts, above what gravity, forces and what is prescribed put in; energy_removed: how much of it was taken out of
    their motion again (decision 0040). Solvers with multipliers, and integrators other than "euler", are not watched:
    both 0.
    """

    listed: int  # contacts that the solver was given last
    touching: int  # of which so many press at the end of the step
    deepest: float  # the deepest of them, or of edges inside other bodies
    missed: int  # contacts that press at the start of the step, although the step before knew nothing of them
    deepest_missed: float
    crossed: int  # vertices on the wrong side of a sheet at the end of the step, tracked and pushed back
    without_straight_path: int  # vertices inside solids at the start that no straight way leads out of: nearest face
    without_surface_point: int  # vertices inside solids at the start without any surface point: nothing pushes them
    energy_gain: float
    friction_work: float  # [J] of friction on bodies, seen from moving obstacles: never positive
    stored: float  # k/2 d^2 of all contacts at the end of the step [J]
    energy_rise: float
    energy_removed: float
    softest: SoftContact | None  # the contact deepest against its bound, of those pressed deeper; None: all are within
    edge_inside: EdgeInside | None = None  # the edge deepest inside another body, if any is
    held_back: int = 0  # vertices that guarantee=True has kept from where the solver would have had them
    furthest_held_back: float = 0.0  # [m] that one of them is away from there


@dataclass(frozen=True)
class SoftContact:
    """A contact that is pressed deeper than it should be."""

    vertex: int
    depth: float  # [m] with which it presses
    bound: float  # [m]: the thickness, or TOLERATED of a mean edge where there is none
    approach: float  # [m] by which it would have come nearer in the step if nothing had held it
    stiffness: float  # [N/m] that it has
    chosen: float  # [N/m] that it would have if none was given
    is_given: bool

    @property
    def needed_stiffness(self) -> float:
        """[N/m] that would keep it within half its bound under the same force, rounded up to two digits: a stiffer
        contact may be hit harder.
        """
        needed = 2.0 * self.stiffness * self.depth / self.bound
        unit = 10.0 ** (math.floor(math.log10(needed)) - 1)
        return math.ceil(needed / unit) * unit


@dataclass(frozen=True)
class EdgeInside:
    """An edge that lies inside another body, where neither of its vertices need be."""

    vertices: tuple[int, int]
    body: int
    depth: float  # [m]
    bound: float  # [m]: the thickness, or TOLERATED of a mean edge where there is none
    has_sunk: bool  # in the step

    @property
    def is_too_deep(self) -> bool:
        """Whether it has got deeper than it should be; an overlap that is being resolved has not."""
        return self.has_sunk and self.depth > self.bound


def edge_inside(found: DeepEdge, edge: float, before: float | None) -> EdgeInside:
    """For a mean edge [m], and the depth [m] of the deepest edge before the step; None: that is not known."""
    bound = found.kept if found.kept > 0 else TOLERATED * edge
    has_sunk = before is not None and found.depth > before
    return EdgeInside(found.vertices, found.body, found.depth, bound, has_sunk)


def softest_contact(
    potential: ContactPotential,
    guess: np.ndarray,
    d: np.ndarray,
    most: float,
    edge: float,
    chosen: np.ndarray,
    is_given: bool,
    clearance: np.ndarray,
) -> SoftContact | None:
    """Of contacts that press with depths d (k,) [m], at most `most`, at the end of a step, for a mean edge [m]; guess
    (n, 3): where the step would lead without contact.

    A contact counts if it got deeper in the step, so an overlap that is being resolved does not. chosen (k,) [N/m]: the
    stiffnesses that they have if none is given. clearance (n,) [m]: part of the thickness, as of Colliders.
    """
    contacts = potential.contacts
    if most <= FLAT * edge:  # less than any bound
        return None
    k, bound = cached(find_softest)(contacts, d, potential.start_depths, clearance, FLAT * edge, TOLERATED * edge)
    if k < 0:
        return None
    approach = gaps(contacts, potential.x_prev)[k] - gaps(contacts, guess)[k]
    stiffnesses = float(contacts.stiffness[k]), float(chosen[k])
    return SoftContact(int(contacts.vertices[k, 0]), float(d[k]), bound, float(approach), *stiffnesses, is_given)


@compiled
def find_softest(contacts, d, start_depths, clearance, flat, tolerated):
    """The contact that has got deepest, compared with how deep it may be [m], and that; -1 if all are less deep."""
    softest, bound_of_it, most = -1, 0.0, 1.0
    for c in range(len(d)):
        if not d[c] > start_depths[c]:
            continue
        clear = 0.0
        if contacts.obstacle[c] < 0:
            clear = clearance[contacts.vertices[c, 0]] + clearance[contacts.vertices[c, 2]]
        kept = contacts.thickness[c] + contacts.offset[c] - clear
        if contacts.kind[c] == FACE_OBSTACLE:
            kept /= FACE_THICKNESS
        bound = (kept if kept > flat else tolerated) + clear
        excess = d[c] / max(bound, 1e-300)
        if excess > most:
            softest, bound_of_it, most = c, bound, excess
    return softest, bound_of_it


def words_of_softness(soft: SoftContact, where: str, error: float) -> str:
    """The warning that a contact is too deep at a vertex, and what helps; error: what the step left unbalanced,
    compared with its forces, not a number if that is not known.
    """
    said = (
        f"contact: {where} is {1e3 * soft.depth:.3g} mm deep in a contact that should be at most "
        f"{1e3 * soft.bound:.3g} mm deep: "
    )
    if soft.is_given and soft.stiffness > TOO_STIFF * soft.chosen:
        return said + (
            f"stiffness={soft.stiffness:.3g} N/m is more than its mass and material can take in such steps. Leave "
            f"stiffness out: about {soft.chosen:.2g} N/m is chosen there."
        )
    if soft.approach > soft.bound and soft.stiffness > 0.5 * soft.chosen:
        times = int(np.ceil(soft.approach / soft.bound)) + 1
        return said + (
            f"it comes {1e3 * soft.approach:.3g} mm nearer in a step. Take {times} times as many substeps"
            f"{' and leave stiffness out' if soft.is_given else ''}."
        )
    too_low = f"stiffness={soft.stiffness:.3g} N/m" if soft.is_given else f"the stiffness of {soft.stiffness:.3g} N/m"
    said += f"{too_low} is too low for the load, {soft.needed_stiffness:.2g} N/m would hold it"
    if error > UNBALANCED:
        said += (
            f" once steps converge: this one ended with {100 * error:.2g} % of its forces unbalanced, so give the "
            "solver more iterations or smaller steps too"
        )
    if soft.is_given and soft.chosen > soft.stiffness:
        said += f". Left out, about {soft.chosen:.2g} N/m is chosen there, and more where a load asks for it"
    return said + "."


def words_of_edge(edge: EdgeInside, ends: tuple[str, str], body: str) -> str:
    """The warning that an edge is inside another body, and what helps."""
    return (
        f"contact: the edge between {ends[0]} and {ends[1]} is {1e3 * edge.depth:.3g} mm inside {body}, and should be "
        f"at most {1e3 * edge.bound:.3g} mm deep. Contact(guarantee=True) lets no edge in; leaving stiffness out, more "
        "substeps and more iterations let it in less deep."
    )


def words_of_touching(
    describe: Callable[[int], str], pairs: np.ndarray, at_shapes: list[np.ndarray], shapes: list[str]
) -> str:
    """The refusal to guarantee anything from a start with intersections: pairs (k, 5) of an edge and a triangle, and
    (k, 3) triangles or springs at each of the shapes; empty if there are none.
    """
    count = len(pairs) + sum(len(found) for found in at_shapes)
    if not count:
        return ""
    listed = [
        f"the edge of {describe(int(v[0]))} and {describe(int(v[1]))} and the triangle at {describe(int(v[2]))}"
        for v in pairs[:LISTED]
    ]
    for found, name in zip(at_shapes, shapes, strict=True):
        listed += [f"{describe(int(v[0]))} and the obstacle {name}" for v in found[:LISTED]]
    more = f", and {count - LISTED} more" if count > LISTED else ""
    return (
        f"contact: guarantee=True needs a start without intersections, but {count} pairs touch or intersect: "
        f"{'; '.join(listed[:LISTED])}{more}. Leave a gap between them, let scene.untangle() make one, or use "
        "scene.ignore_contact where bodies belong together."
    )
