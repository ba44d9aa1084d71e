"""The multipliers of hard contacts after an iteration (decision 0028).

With the shifts that multipliers are (contact.response.hardness), the force of a contact at the end of an iteration is
its multiplier, and its new shift is what it presses with and rubs along:

    lambda = k max(0, d),     lambda_T = -k w  with  |lambda_T| <= mu lambda

d is the depth and w the motion along the surface, both with their shifts.
"""

from __future__ import annotations

from pliant.elements.closest import closest_separation, row
from pliant.elements.contact import tangential
from pliant.kernels.contacts import PREV, THICKNESS, _at, _four, _placed
from pliant.kernels.threads import share
from pliant.lanes.vectors import add, dot, physics, subtract


@physics
def update_contact_multipliers(thread, threads, x, table, width):
    """Bring the multipliers of all contacts up to date at x (rows, 4), and the shifts that lanes read."""
    contacts, rows, place = table.contacts, table.rows, table.place
    first, last = share(0, len(rows), thread, threads)
    for c in range(first, last):
        n, k = row(contacts.normals, c), contacts.stiffness[c]
        s = closest_separation(c, _placed(_four(x, rows, c), table.origin), contacts)
        d = max(0.0, contacts.thickness[c] - dot(s, n))
        part = max(0.0, 1.0 - k * table.compliance[0])  # k / rho
        change = part * (d - contacts.normal_multiplier[c] / k)
        contacts.normal_multiplier[c] = k * d
        contacts.thickness[c] += change
        contacts.offset[c] -= change
        is_alone = place[c] >= 0
        if is_alone:
            table.vertex_obstacle[_at(place[c], THICKNESS, width)] = contacts.thickness[c]
        else:
            table.prev_rows[c, 3] = contacts.thickness[c]
        if contacts.friction[c] > 0.0 and table.slip[0] == 0.0:
            before = closest_separation(c, _placed(_four(table.x_prev, rows, c), table.origin), contacts)
            moved = subtract(subtract(s, before), row(contacts.motions, c))
            w = tangential(add(moved, row(contacts.tangential_shift, c)), n)
            length, limit = dot(w, w) ** 0.5, contacts.friction[c] * d
            held = 1.0 if length <= limit else limit / length
            for axis in range(3):
                # the shift without lambda_T / k is what has drifted
                grown = held * w[axis] + contacts.tangential_multiplier[c, axis] / k
                contacts.tangential_multiplier[c, axis] = -k * held * w[axis]
                contacts.tangential_shift[c, axis] += grown
                if is_alone:
                    table.vertex_obstacle[_at(place[c], PREV + axis, width)] -= grown
                else:
                    table.prev_rows[c, axis] -= grown
