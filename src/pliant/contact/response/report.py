"""What contact did in a step, in numbers, and the sentences that warn of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.contact.contact_set import ContactSet, depths
from pliant.contact.response.potential import ContactPotential
from pliant.elements.closest import VERTEX_TRIANGLE
from pliant.lanes.compiled import cached, compiled, inlined, lower_bound

TOLERATED = 0.1  # of an edge: how deep a contact without thickness may be, for the geometry says no more than that


@dataclass(frozen=True)
class ContactReport:
    """Contacts of one step; depths [m] beyond the distance to be kept."""

    listed: int  # contacts that the solver was given last
    touching: int  # of which so many press at the end of the step
    deepest: float  # the deepest of them
    missed: int  # contacts that press at the start of the step, although the step before knew nothing of them
    deepest_missed: float
    crossed: int  # vertices on the wrong side of a sheet at the end of the step, tracked and pushed back
    without_straight_path: int  # vertices inside solids at the start that no straight way leads out of: nearest face
    without_surface_point: int  # vertices inside solids at the start without any surface point: nothing pushes them
    softest: int  # vertex of the contact deepest against its bound, of those pressed deeper; -1: all are within
    bound: float  # of that contact [m]: the thickness, or TOLERATED of a mean edge where there is none
    needed_stiffness: float  # [N/m] that would keep it within its bound under the same force; 0 if all are within


def touched_bodies(contacts: ContactSet, body: np.ndarray) -> np.ndarray:
    """Sorted numbers, each once, that name a vertex of contacts together with the body that it meets (`pair_key`);
    corners of weight 0 do not meet it.
    """
    numbers = np.empty(contacts.vertices.shape, np.int64)
    cached(write_pair_keys)(contacts.kind, contacts.vertices, body, int(body.max(initial=0)) + 1, numbers)
    numbers = np.sort(numbers[contacts.weights != 0])
    return numbers[np.r_[True, numbers[1:] != numbers[:-1]][: len(numbers)]]


def missed_depths(contacts: ContactSet, x: np.ndarray, body: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Depths (m,) [m] at x of contacts of which no one knew: a vertex that had no contact with that body, edges of
    which no end had. known: numbers of `touched_bodies`.
    """
    d = depths(contacts, x)
    is_known = np.empty(len(d), bool)
    cached(mark_known)(contacts, body, int(body.max(initial=0)) + 1, known, is_known)
    return d[(d > 0) & ~is_known]


@inlined
def pair_key(kind, vertices, i, body, bodies):
    """A number for corner i of a contact and the body on the other side."""
    is_first = i == 0 or (i == 1 and kind != VERTEX_TRIANGLE)
    return vertices[i] * np.int64(bodies) + body[vertices[2] if is_first else vertices[0]]


@compiled
def write_pair_keys(kind, vertices, body, bodies, numbers):
    for k in range(len(kind)):
        for i in range(4):
            numbers[k, i] = pair_key(kind[k], vertices[k], i, body, bodies)


@compiled
def mark_known(contacts, body, bodies, known, is_known):
    for k in range(len(is_known)):
        kind = contacts.kind[k]
        is_known[k] = False
        for i in range(1 if kind == VERTEX_TRIANGLE else 4):
            number = pair_key(kind, contacts.vertices[k], i, body, bodies)
            place = lower_bound(known, number)
            is_there = place < len(known) and known[place] == number
            is_known[k] |= is_there and contacts.weights[k, i] != 0.0


def softest_contact(potential: ContactPotential, d: np.ndarray, edge: float) -> tuple[int, float, float]:
    """The last three of a ContactReport, for depths d (k,) [m] and a mean edge [m].

    A contact counts if it got deeper in the step, so an overlap that is being resolved does not.
    """
    contacts = potential.contacts
    bounds = np.where(contacts.thickness > 0, contacts.thickness, TOLERATED * edge)
    excess = np.where(d > potential.start_depths, d / np.maximum(bounds, 1e-300), 0.0)
    if not len(excess) or excess.max() <= 1:
        return -1, 0.0, 0.0
    k = int(np.argmax(excess))
    return int(contacts.vertices[k, 0]), float(bounds[k]), float(contacts.stiffness[k] * excess[k])


def words_of_softness(report: ContactReport, stiffness: float, where: str) -> str:
    """The warning that contact is too soft at a vertex."""
    depth = report.bound * report.needed_stiffness / stiffness
    return (
        f"contact: {where} is {1e3 * depth:.3g} mm deep in a contact that should be at most {1e3 * report.bound:.3g} mm"
        f" deep: stiffness={stiffness:.3g} N/m is too low for the load, {report.needed_stiffness:.2g} N/m would hold it"
        " (if the solver has converged; else give it more iterations or smaller steps)."
    )


def words_of_start(inside: int, near: int, pierced: int, deepest: float) -> str:
    """The note that a scene starts in intersection."""
    counts = (
        (inside, "vertices are inside solids"),
        (near, "pairs are nearer than the thickness of sheets"),
        (pierced, "edges go through triangles"),
    )
    said = ", ".join(f"{count} {what}" for count, what in counts if count)
    return (
        f"contact: the scene starts in intersection: {said}, the deepest by {1e3 * deepest:.3g} mm. Solids are pushed "
        "out; sheets keep the side on which each vertex is now."
    )
