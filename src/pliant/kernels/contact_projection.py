"""Contacts of constraint solvers: corrected one after another, in the order of detection, after the elements.

A contact with signed weights w_i, normal n and thickness g (VBD, Equation 12) is the constraint C = n . s - g of
compliance 1 / k_c and multiplier lambda >= 0, the normal force [N].  Friction has a multiplier lambda_T across n that
takes back the motion since the start of the step, as far as |lambda_T| <= mu lambda allows: what sticks does not
creep.

Elements are corrected by all threads; contacts join vertices that no colouring knows of, so one thread corrects them
and the others wait: the result does not depend on their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.elements.closest import closest_separation, row
from pliant.kernels.contact_refresh import refresh_contact
from pliant.lanes.entry import entry
from pliant.lanes.vectors import add_scaled, dot, physics, subtract


class ContactConstraints(NamedTuple):
    """A ContactSet as the kernel sees it; it reads and writes the multipliers in it."""

    contacts: Any  # the ContactSet
    rows: np.ndarray  # (k, 4) rows of the vertices; missing ones repeat the first: their weight is zero
    x_prev: np.ndarray  # (n, 3) rows at the start of the step [m]
    damping: np.ndarray  # (1,) k_d / h


@physics
def correct_contacts(x, held, table):
    """Correct all contacts. x (n, 4): positions and h^2 / m; held (n, 4): lines and planes, no rows if there are
    none.
    """
    contacts, rows, x_prev, damping = table.contacts, table.rows, table.x_prev, table.damping[0]
    for c in range(len(rows)):
        refresh_contact(c, _four(x, rows, c), contacts)
        _push(c, x, held, contacts, rows, x_prev, damping)
        _rub(c, x, held, contacts, rows, x_prev)


@entry(nogil=True)
def correct_contacts_of(x, held, table):
    """The same from Python, for a solver whose elements are corrected elsewhere."""
    correct_contacts(x, held, table)


@physics
def _point(x, i):
    return (np.float64(x[i, 0]), np.float64(x[i, 1]), np.float64(x[i, 2]))


@physics
def _four(x, rows, c):
    return (_point(x, rows[c, 0]), _point(x, rows[c, 1]), _point(x, rows[c, 2]), _point(x, rows[c, 3]))


@physics
def _push(c, x, held, contacts, rows, x_prev, damping):
    """The multiplier of C (XPBD, Equations 18 and 26, written with the stiffness), kept from pulling."""
    n, weights = row(contacts.normals, c), contacts.weights
    depth = contacts.thickness[c] - dot(closest_separation(c, _four(x, rows, c), contacts), n)
    inner = 0.0
    for i in range(4):
        r, w = rows[c, i], weights[c, i]
        g = _kept(n, r, held)
        inner += x[r, 3] * w * w * dot(g, g)
    k, rate = contacts.stiffness[c], damping if depth > 0.0 else 0.0
    approach = -dot(_motion(c, x, contacts, rows, x_prev), n)
    multiplier = contacts.normal_multiplier[c]
    new = max(0.0, multiplier + (k * (depth + rate * approach) - multiplier) / (1.0 + k * (1.0 + rate) * inner))
    contacts.normal_multiplier[c] = new
    s = new - multiplier
    _apply(c, (s * n[0], s * n[1], s * n[2]), x, held, weights, rows)


@physics
def _rub(c, x, held, contacts, rows, x_prev):
    """The multiplier of friction: as much as stops the motion across n, at most mu lambda."""
    old, weights = row(contacts.tangential_multiplier, c), contacts.weights
    limit = contacts.friction[c] * contacts.normal_multiplier[c]
    inner = 0.0
    for i in range(4):
        inner += x[rows[c, i], 3] * weights[c, i] ** 2
    if inner == 0.0:
        return
    n = row(contacts.normals, c)
    f = add_scaled(old, -1.0 / inner, _motion(c, x, contacts, rows, x_prev))
    f = add_scaled(f, -dot(f, n), n)
    size = dot(f, f) ** 0.5
    part = limit / size if size > limit else 1.0
    f = (part * f[0], part * f[1], part * f[2])
    for axis in range(3):
        contacts.tangential_multiplier[c, axis] = f[axis]
    _apply(c, subtract(f, old), x, held, weights, rows)


@physics
def _motion(c, x, contacts, rows, x_prev):
    """Motion of one side against the other since the start of the step."""
    u = (0.0, 0.0, 0.0)
    for i in range(4):
        u = add_scaled(u, contacts.weights[c, i], subtract(_point(x, rows[c, i]), _point(x_prev, rows[c, i])))
    return subtract(u, row(contacts.motions, c))


@physics
def _apply(c, impulse, x, held, weights, rows):
    """Move the vertices by h^2 / m w_i times the change of the force."""
    for i in range(4):
        r, w = rows[c, i], weights[c, i]
        if w != 0.0:
            d = _kept(impulse, r, held)
            for axis in range(3):
                x[r, axis] += x[r, 3] * w * d[axis]


@physics
def _kept(v, r, held):
    """The part of v along which the vertex may move."""
    if len(held) == 0 or held[r, 3] < 1.0 or held[r, 3] > 2.0:
        return v
    d = _point(held, r)
    along = dot(v, d)
    if held[r, 3] == 1.0:
        return (along * d[0], along * d[1], along * d[2])
    return add_scaled(v, -along, d)
