"""The refresh of a contact before an iteration, the same for every solver and for the NumPy reference (VBD 3.5)."""

from __future__ import annotations

from pliant.elements.closest import closest_point_and_normal, closest_point_to_centre, closest_separation, row
from pliant.lanes.vectors import dot, physics


@physics
def refresh_contact(c, y, contacts):
    """Bring contact c of a ContactSet, whose vertices are at y, up to date: the closest point and the normal where they
    change with the positions, and the friction limit mu k d. Side 0 with a triangle: the vertex is a sphere's centre.
    """
    if contacts.updates_closest_point[c]:
        n = row(contacts.normals, c)
        w = (contacts.weights[c, 0], contacts.weights[c, 1], contacts.weights[c, 2], contacts.weights[c, 3])
        if contacts.side[c] == 0:
            w, n = closest_point_to_centre(y, w, n)
        else:
            w, n = closest_point_and_normal(y, n, float(contacts.side[c]))
        for i in range(4):
            contacts.weights[c, i] = w[i]
        for axis in range(3):
            contacts.normals[c, axis] = n[axis]
    if contacts.friction[c] > 0.0:
        d = contacts.thickness[c] - dot(closest_separation(c, y, contacts), row(contacts.normals, c))
        contacts.friction_limit[c] = contacts.friction[c] * contacts.stiffness[c] * max(0.0, d)
