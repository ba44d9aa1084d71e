"""Which contacts press where a step of Newton's method leads, rather than where it starts.

The energy k/2 d^2 of a contact has no stiffness where it does not press. A step that is chosen with the contacts of its
start runs into those that close on the way and is held by those that open, as a beam that is pushed down and not yet
held by its supports. So the contacts that would press at its end are taken to press, and those that would not to let
go, and the step is chosen again, until both agree (Hintermueller, Ito and Kunisch 2002). What closes pulls towards
where it touches: with the gap c > 0 its force is -k c.

Normals are held within an iteration, so that nothing in the Hessian resists what slides without friction, and the least
force out of balance leads far, where the normals are others. A contact of the force f over edges of length l is taken
to resist it by g f / l, which is what normals that turn within an edge make of its force, with a part g that falls as
long as the energy does what it should.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from pliant.contact.contact_set import ContactSet, gaps
from pliant.contact.response.potential import ContactPotential

WORTH = 1e-2  # of what a step's energy falls by: what contacts that close or open on the way must take to be looked at
BARELY = 1e-9  # of a gap: how deep what closes is taken to be


@dataclass
class GrippedContacts(ContactPotential):
    """Contacts in whose Hessian sliding has a stiffness."""

    grip: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (k,) [N/m]

    def copied(self) -> GrippedContacts:
        """One with contacts of its own."""
        return replace(self, contacts=ContactSet(*(array.copy() for array in self.contacts)))

    def blocks(self, x: np.ndarray, is_exact: bool = False) -> np.ndarray:
        n = self.contacts.normals
        across = np.eye(3) - n[:, :, None] * n[:, None, :]
        return super().blocks(x, is_exact) + self.grip[:, None, None] * across


def gripped(contacts: ContactPotential, x: np.ndarray, edge: np.ndarray, part: float) -> GrippedContacts:
    """Contacts that resist sliding at x (n, 3); edge (n,) [m] of vertices."""
    own = contacts.contacts
    length = np.where(contacts.weights > 0, edge[contacts.vertices], np.inf).min(axis=1)
    grip = part * own.stiffness * contacts.depths(x) / length
    return GrippedContacts(**{f.name: getattr(contacts, f.name) for f in fields(ContactPotential)}, grip=grip)


def pressing(contacts: ContactPotential, x: np.ndarray) -> np.ndarray:
    """(k,) bool at positions x (n, 3)."""
    return gaps(contacts.contacts, x) < 0


def is_surprised(contacts: ContactPotential, presses: np.ndarray, trial: np.ndarray, fall: float) -> bool:
    """Whether a step to `trial` (n, 3) that was chosen with some contacts pressing, (k,) bool, closes or opens others
    whose energy counts compared with its fall [J].
    """
    gap = gaps(contacts.contacts, trial)
    differs = presses != (gap < 0)
    return 0.5 * float(contacts.contacts.stiffness[differs] @ gap[differs] ** 2) > WORTH * fall


def foreseen(
    contacts: ContactPotential, x: np.ndarray, presses: np.ndarray
) -> tuple[ContactPotential, np.ndarray]:  # fmt: skip
    """Contacts that press at x (n, 3) where `presses` (k,) has it, with next to no force where they do not touch yet;
    and the forces (k, 3) [N] with which these pull.
    """
    twin, gap = contacts.copied(), gaps(contacts.contacts, x)
    own = twin.contacts
    closes, opens = presses & (gap >= 0), ~presses & (gap < 0)
    own.thickness[closes] += (1 + BARELY) * gap[closes] + np.finfo(float).eps
    own.thickness[opens] += (1 + BARELY) * gap[opens] - np.finfo(float).eps
    own.friction_limit[opens] = 0.0
    return twin, -np.where(closes, own.stiffness * gap, 0.0)[:, None] * own.normals
